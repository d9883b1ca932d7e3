"""tests/bench/fourier.py - Fourier transforms against SciPy's.

    python tests/bench/fourier.py [--threads 1]

Milliseconds, here and in SciPy, and their ratio, for complex64, complex128, float32 and float64;
the best of seven runs each, of both in turn.
"""

import argparse
import time

import numpy as np
import scipy.fft
import shardax
import shardax.numpy as jnp

# Shape, and how many of its last dimensions are transformed.
CASES = [
    ((1024,), 1),
    ((4096,), 1),
    ((65536,), 1),
    ((1 << 20,), 1),
    ((3**12,), 1),
    ((5**8,), 1),
    ((10007,), 1),
    ((1000003,), 1),
    ((1000, 1000), 2),
    ((1024, 1024), 2),
    ((128, 128, 64), 3),
    ((100000, 16), 1),
    ((100000, 7), 1),
    ((4096, 256), 1),
    ((1024, 1000), 1),
    ((2000, 997), 1),
    ((2000, 999), 1),
]
DTYPES = ("complex64", "complex128", "float32", "float64")


def best_of(runs):
    """The least seconds of each function, run in turn."""
    times = [[] for _ in runs]
    for run in runs:
        run()
    for _ in range(7):
        for run, found in zip(runs, times):
            start = time.perf_counter()
            run()
            found.append(time.perf_counter() - start)
    return [min(found) for found in times]


def measure(shape, count, dtype, threads):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape)
    x = (x + 1j * rng.normal(size=shape) if dtype[0] == "c" else x).astype(dtype)
    axes = tuple(range(-count, 0))
    name = "fftn" if dtype[0] == "c" else "rfftn"
    own = shardax.jit(lambda v: getattr(jnp.fft, name)(v, axes=axes))
    theirs, array = getattr(scipy.fft, name), jnp.asarray(x)
    return best_of(
        [lambda: own(array).block_until_ready(), lambda: theirs(x, axes=axes, workers=threads)]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    threads = parser.parse_args().threads
    shardax._core.set_thread_count(threads)
    with shardax.enable_x64(True):
        for shape, count in CASES:
            cells = []
            for dtype in DTYPES:
                own, theirs = measure(shape, count, dtype, threads)
                cells.append(f"{1e3 * own:8.2f} {1e3 * theirs:8.2f} {own / theirs:5.2f}")
            print(f"{shape!s:16} {count}  " + "  |".join(cells), flush=True)


if __name__ == "__main__":
    main()
