"""tests/ops/test_short_rows.py - rows of few elements are reduced and spread side by side.

Many rows give what each gives alone, in machine code of all kinds and in tile kernels, on any
number of threads.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

LENGTHS = (1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 31, 32, 47, 48, 49, 100, 127, 128, 129, 255, 256)


def numbers(rows, n, dtype="float32"):
    x = np.random.default_rng(n).standard_normal((rows, n)) * 50
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("n", LENGTHS)
def test_rows_are_reduced_as_numpy_does(n, dtype):
    x = numbers(13, n, dtype)
    eps = 1e-14 if dtype == "float64" else 1e-5
    with jax.enable_x64(True):
        given = jnp.asarray(x)
        got = jax.jit(lambda x: (x.sum(-1), x.max(-1), x.min(-1)))(given)
        for result, f in zip(got, (np.sum, np.max, np.min), strict=True):
            np.testing.assert_allclose(result, f(x, -1), rtol=eps, atol=eps * 50 * n)
        np.testing.assert_array_equal(jnp.argmax(given, -1), x.argmax(-1))
        np.testing.assert_array_equal(jnp.argmin(given, -1), x.argmin(-1))


@pytest.mark.parametrize("n", [1, 2, 7, 10, 16, 33, 100, 127, 128, 161, 500, 1003])
def test_ties_infinities_and_nan(n):
    rng = np.random.default_rng(n)
    pool = np.array([0.0, -0.0, 1.0, np.inf, -np.inf], np.float32)
    x = pool[rng.integers(0, len(pool), (400, n))]
    x[::5] = -np.inf
    x[1::5] = 0.0
    x[2::5][rng.random((80, n)) < 0.2] = np.nan
    given = jnp.asarray(x)
    np.testing.assert_array_equal(given.max(-1), x.max(-1))
    np.testing.assert_array_equal(given.min(-1), x.min(-1))
    np.testing.assert_array_equal(jnp.argmax(given, -1), x.argmax(-1))
    np.testing.assert_array_equal(jnp.argmin(given, -1), x.argmin(-1))
    zeros = jnp.full((9, n), -0.0)
    # As in JAX, a number that is alone is not added to 0.
    assert np.signbit(zeros.sum(-1)).all() == (n == 1)
    assert np.asarray(jnp.argmax(given.astype("float16"), -1)).tolist() == x.argmax(-1).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16", "uint8"])
@pytest.mark.parametrize("columns", [1, 2, 7, 8, 9, 15, 16, 31, 33, 64, 70, 300])
def test_places_in_columns(columns, dtype):
    """Ties, infinities and NaN; one matrix, and several."""
    rng = np.random.default_rng(columns)
    pool = [0.0, -0.0, 1.0, 2.0] if dtype[0] in "iu" else [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]
    for rows in (1, 2, 5, 8, 130):
        x = rng.choice(pool, (3, rows, columns)).astype(dtype)
        x[0] = rng.integers(0, 50, (rows, columns)).astype(dtype)
        with jax.enable_x64(True):
            given = jnp.asarray(x)
            for name in ("argmax", "argmin"):
                places = getattr(np, name)
                np.testing.assert_array_equal(getattr(jnp, name)(given, 1), places(x, 1))
                np.testing.assert_array_equal(getattr(jnp, name)(given[0], 0), places(x[0], 0))


@pytest.mark.parametrize("n", LENGTHS)
def test_a_row_alone_has_the_same_bits(n):
    x = jnp.asarray(numbers(23, n))
    f = jax.jit(lambda x: (x.sum(-1), x.max(-1), x.argmax(-1), jax.nn.softmax(x)))
    whole = f(x)
    for r in (0, 7, 8, 15, 21, 22):
        for all_rows, alone in zip(whole, f(x[r : r + 1]), strict=True):
            np.testing.assert_array_equal(np.asarray(all_rows)[r], np.asarray(alone)[0])


@pytest.mark.parametrize("n", [3, 10, 15])
def test_a_loop_of_few_numbers_adds_up_as_arrays_do(n):
    """A row in registers has the bits of a row in memory."""
    x = jnp.asarray(numbers(1, n)[0])
    many = jnp.broadcast_to(x, (64, n)) * 1.0

    def turns(x):
        return jax.lax.fori_loop(0, 3, lambda _, x: x - x.sum(-1, keepdims=True) / 7, x)

    step = jax.jit(lambda x: x - x.sum(-1, keepdims=True) / 7)
    np.testing.assert_array_equal(jax.jit(turns)(x), step(step(step(many)))[5])


PROGRAM = """
import hashlib
import numpy as np
import shardax as jax
import shardax.numpy as jnp

def norm(x, scale, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift

digest = hashlib.sha256()
for rows, n in ((40000, 10), (7001, 16), (5003, 48), (4001, 100), (3, 100), (2, 5)):
    x = np.random.default_rng(n).standard_normal((rows, n), dtype="float32")
    x = jnp.asarray(x)
    results = [jax.nn.softmax(x), jax.nn.log_softmax(x), x.argmax(-1), x.astype("float16").sum(-1)]
    results += jax.jit(lambda x: (x.sum(-1), x.max(-1), x.var(-1), x[:, ::2].sum(-1)))(x)
    cubes = lambda *a: (norm(*a) ** 3).sum()
    results += jax.jit(jax.grad(cubes, argnums=(0, 1, 2)))(x, x[0], x[1])
    for result in results:
        digest.update(np.asarray(result).tobytes())
print(digest.hexdigest())
"""


def test_bits_are_the_same_in_every_way_and_on_any_number_of_threads():
    digests = set()
    for threads, codegen in (("1", "1"), ("2", "1"), ("4", "avx2"), ("1", "0")):
        env = {**os.environ, "SHARDAX_NUM_THREADS": threads, "SHARDAX_CODEGEN": codegen}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=120
        )
        assert run.returncode == 0, run.stderr
        digests.add(run.stdout)
    assert len(digests) == 1


@pytest.mark.parametrize("n", [5, 10, 48, 64, 100, 200])
def test_what_repeats_along_rows_or_over_them(n):
    """In tiles that start and end within rows."""
    rows = 20011 // n
    x = numbers(rows, n)
    scale, shift, column = x[0], x[1], np.arange(rows, dtype=np.float32)[:, None]
    f = jax.jit(lambda x, scale, shift, column: (x - column) * scale + shift)
    want = (x - column) * scale + shift
    np.testing.assert_array_equal(f(*map(jnp.asarray, (x, scale, shift, column))), want)
    wide = jnp.asarray(np.concatenate([x, x], 1))
    got = f(wide[:, 1 : n + 1], *map(jnp.asarray, (scale, shift, column)))
    part = np.asarray(wide)[:, 1 : n + 1]
    np.testing.assert_array_equal(got, (part - column) * scale + shift)
    cube = jnp.asarray(x[: rows // 6 * 6]).reshape(2, 3, -1, n)
    lines = jnp.arange(6.0).reshape(2, 3, 1, 1)
    turned = jnp.asarray(column[: cube.shape[2]])
    got = jax.jit(lambda c, a, b: (c - a) * b)(cube, lines, turned)
    want = (np.asarray(cube) - np.asarray(lines)) * np.asarray(turned)
    np.testing.assert_array_equal(got, want)
