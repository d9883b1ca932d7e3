"""tests/bench/instructions.py - instructions of AArch64, of machine code beside those without it.

    tests/emulated aarch64 tests/test_tiny.py      # compiles the module for AArch64
    python tests/bench/instructions.py

Programs run under QEMU (qemu-aarch64, 6.0 to 8.2) on one thread, and a plug-in counts all
instructions of the process (count_instructions.c, which the path's `cc` compiles). A figure is a
difference between calls of many elements, or turns, and of few: the cost of a call is left out. It
is a count, since an emulator has no processor's time.
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
EMULATED = HERE.parents[2] / "build" / "aarch64"
FEW, MANY, CALLS = 4096, 12288, 4

# Of arrays x, y, z, w of float32, unless another dtype stands before it.
ELEMENTS = {
    "`x * 2 + 1`": "x * 2 + 1",
    "polynomial of degree 15": "jnp.polyval(jnp.arange(16.0, dtype=x.dtype), x)",
    "`where(x > y, x, z)`": "jnp.where(x > y, x, z)",
    "`exp(x) * y`": "jnp.exp(x) * y",
    "`sin(x) + y`": "jnp.sin(x) + y",
    "`log1p(exp(x)) * y`": "jnp.log1p(jnp.exp(x)) * y",
    "sigmoid": "jax.nn.sigmoid(x)",
    "gelu, by tanh": "jax.nn.gelu(x)",
    "gelu, by erf": "jax.nn.gelu(x, approximate=False)",
    "softmax of rows of 256": "jax.nn.softmax(x.reshape(-1, 256))",
    "layer norm of rows of 256": "layer_norm(x.reshape(-1, 256), y[:256], z[:256])",
    "a step of Adam": "adam(x, y, z, w)",
    "bfloat16: `x * y + z`": "x * y + z",
    "int32: `(x * 5 + y) % 7`": "(x * 5 + y) % 7",
    "float64: `exp(x) * y`": "jnp.exp(x) * y",
}
# Of a number c in turn i.
TURNS = {
    "Newton's step: `c - (c * c - 2) / (2 * c)`": "c - (c * c - 2) / (2 * c)",
    "`sin(c) + i`": "jnp.sin(c) + i",
    "int32: `where(c % 2 == 0, c // 2, 3 * c + 1)`": "jnp.where(c % 2 == 0, c // 2, 3 * c + 1)",
}


def layer_norm(x, scale, shift):
    from shardax import lax

    centred = x - x.mean(1, keepdims=True)
    variance = (centred**2).mean(1, keepdims=True)
    return centred * lax.rsqrt(variance + 1e-5) * scale + shift


def adam(p, g, m, v):
    import shardax.numpy as jnp

    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * (m / 0.9) / (jnp.sqrt(v / 0.99) + 1e-8), m, v


def calls():
    """The calls that are counted: one of few elements, or turns, and one of many."""
    import numpy as np
    import shardax as jax
    import shardax.numpy as jnp
    from shardax import lax

    jax.config.update("jax_enable_x64", True)
    names = {"jax": jax, "jnp": jnp, "layer_norm": layer_norm, "adam": adam}
    rng = np.random.default_rng(0)

    def dtype_of(title):
        found = re.match(r"(\w+\d): ", title)
        return found.group(1) if found else "float32"

    for title, text in ELEMENTS.items():
        f = jax.jit(eval(f"lambda x, y, z, w: {text}", names))
        for size in (FEW, MANY):
            given = [jnp.asarray(rng.uniform(0.1, 9, size)) for _ in range(4)]
            yield f, [x.astype(dtype_of(title)) for x in given]
    for title, text in TURNS.items():
        turn = eval(f"lambda i, c: {text}", names)
        loop = jax.jit(lambda n, c, turn=turn: lax.fori_loop(0, n, turn, c))
        start = jnp.asarray(27, dtype_of(title))
        for turns in (FEW, MANY):
            yield loop, [jnp.int32(turns), start]


def run():
    """Under the plug-in, which prints what it counted at each os.getppid()."""
    import shardax as jax

    for f, given in calls():
        for _ in range(2):
            jax.block_until_ready(f(*given))
        os.getppid()
        for _ in range(CALLS):
            jax.block_until_ready(f(*given))
        os.getppid()


def counts(codegen):
    """Instructions for an element, or turn, of each program."""
    plugin = EMULATED / "count_instructions.so"
    source = HERE.with_name("count_instructions.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", source, "-o", plugin], check=True)
    done = subprocess.run(
        [EMULATED / "python", HERE, "run"],
        env={
            **os.environ,
            "PYTHONPATH": f"{EMULATED}/module/package:{EMULATED}/site",
            "LD_LIBRARY_PATH": "",
            "QEMU_PLUGIN": str(plugin),
            "SHARDAX_CODEGEN": codegen,
            "SHARDAX_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    marks = [int(n) for n in re.findall(r"^instructions (\d+)$", done.stderr, re.MULTILINE)]
    counted = [end - start for start, end in zip(marks[::2], marks[1::2], strict=True)]
    pairs = zip(counted[::2], counted[1::2], strict=True)
    return [(many - few) / (CALLS * (MANY - FEW)) for few, many in pairs]


def main():
    print("These are counts under emulation. Nothing was timed, and no AArch64 processor ran it.\n")
    with_code, without = counts("1"), counts("0")
    rows = [*(f"{title}, an element" for title in ELEMENTS), *(f"{t}, a turn" for t in TURNS)]
    print("| instructions; float32 where nothing is said | machine code | without | times |")
    print("| --- | ---: | ---: | ---: |")
    for title, code, tiles in zip(rows, with_code, without, strict=True):
        print(f"| {title} | {code:.1f} | {tiles:.1f} | {tiles / code:.1f} |")


if __name__ == "__main__":
    run() if sys.argv[1:] == ["run"] else main()
