"""tests/codegen/test_scalar_arrays.py - arrays that loops of machine code carry: numbers,
registers, or memory that is written in place. The bits of SHARDAX_CODEGEN=0."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.machines import MACHINES, instructions, runs_loops
from tests.codegen.test_scalar_loops import same


def test_large_arrays_are_written_in_place():
    """Reads of what a turn writes, branches that write, loops in loops, and sieves."""

    def chain(x, n):
        return lax.fori_loop(1, n, lambda i, x: x.at[i].set(x[i - 1] * 0.5 + x[i]), x)

    def sieve(n):
        def strike(i, s):
            def each(c):
                return c[0] + i, c[1].at[c[0]].set(False)

            return lax.cond(
                s[i],
                lambda s: lax.while_loop(lambda c: c[0] < 60, each, (i * i, s))[1],
                lambda s: s,
                s,
            )

        return lax.fori_loop(2, 8, strike, jnp.arange(60) >= n)

    def table(a, b):
        def cell(k, d):
            i, j = k // 20 + 1, k % 20 + 1
            best = jnp.minimum(jnp.minimum(d[i - 1, j], d[i, j - 1]) + 1,
                               d[i - 1, j - 1] + (a[i - 1] != b[j - 1]))  # fmt: skip
            return d.at[i, j].set(best)

        edges = jnp.arange(21)
        start = jnp.zeros((21, 21), int).at[0].set(edges).at[:, 0].set(edges)
        return lax.fori_loop(0, 400, cell, start)

    def count(xs):
        return lax.scan(lambda h, x: (h.at[x].add(1), h[x]), jnp.zeros(40), xs)

    def keeps_the_old(x):
        def swap(i, x):
            y = x.at[i].set(0.0)
            return y.at[i + 1].set(x[i])

        return lax.fori_loop(0, 20, swap, x)

    def drops(x):
        return lax.fori_loop(0, 60, lambda i, x: x.at[i * 3].multiply(2.0).at[-i].add(1), x)

    x = jnp.linspace(0, 1, 50)
    rng = np.random.default_rng(0)
    native = same(chain, x, 50)[0]
    np.testing.assert_allclose(native[1], x[1] + 0.5 * x[0])
    primes = same(sieve, 2)[0]
    assert np.flatnonzero(primes).tolist() == [
        p for p in range(2, 60) if all(p % k for k in range(2, p))
    ]
    same(table, *(jnp.asarray(rng.integers(0, 3, 20)) for _ in range(2)))
    same(count, jnp.asarray(rng.integers(-45, 45, 100)))
    same(keeps_the_old, x)
    same(drops, x)
    same(jax.vmap(drops), jnp.stack([x, x + 1]))


def test_small_arrays_are_numbers():
    def lorenz(s):
        def turn(i, s):
            x, y, z = s
            return s + 0.01 * jnp.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

        return lax.fori_loop(0, 200, turn, s)

    def power(a):
        def turn(i, v):
            w = a @ v
            return w / jnp.sqrt(w @ w), jnp.max(w)

        return lax.scan(lambda v, _: turn(0, v), jnp.ones(4), None, length=20)

    def mixed(x):
        def turn(i, c):
            x, order = c
            x = jnp.concatenate([x[1:], x[:1] + i])
            x = x.at[i % 5].add(0.5).at[-1].set(jnp.cumsum(x)[2] / 10)
            return lax.dynamic_update_slice(
                x, jnp.pad(x[:1], (0, 1)), (i % 7,)
            ), order + jnp.argsort(x)

        return lax.fori_loop(0, 30, turn, (x, jnp.zeros(5, int)))

    same(lorenz, jnp.array([1.0, 1.0, 1.0]))
    same(power, jnp.asarray(np.random.default_rng(0).normal(size=(4, 4)).astype("float32")))
    same(mixed, jnp.linspace(0, 1, 5))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint32"])
@pytest.mark.parametrize("n", [17, 24, 50, 128])
def test_arrays_in_registers(dtype, n):
    def chain(x, y):
        def turn(i, c):
            x, y, k = c
            keep = (x < y) | (x == i.astype(dtype))
            return jnp.where(keep, x * 3 + i.astype(dtype), y - x), jnp.maximum(x, -y), k + 1

        return lax.fori_loop(0, 9, turn, (x, y, 0))

    def rows(xs, h):
        def step(h, x):
            h = (h + x) * 2
            return h, (h, h.sum(), h[3], x[1:] - x[:-1])

        return lax.scan(step, h, xs, reverse=True)

    def halves(x):
        return lax.fori_loop(0, 9, lambda i, x: x // 2 + lax.rem(x, i.astype(dtype) + 1), x)

    def reduces(x):
        return lax.while_loop(lambda x: x.max() < 100, lambda x: x * 2 + x[::-1], x)

    with jax.enable_x64(True):
        rng = np.random.default_rng(n)
        x, y, *xs = (jnp.asarray(rng.integers(1, 50, n).astype(dtype)) for _ in range(7))
        same(chain, x, y)
        same(rows, jnp.stack(xs), y)
        same(halves, x)
        same(reduces, x)
        same(jax.vmap(lambda x: lax.while_loop(lambda x: x < 90, lambda x: x * 2 + 1, x)), x)


MATRICES = {
    "matrix vector": ((8, 8), (8,), lambda a, x: a @ x),
    "turned": ((8, 8), (8,), lambda a, x: a.T @ x),
    "vector matrix": ((5, 11), (5,), lambda a, x: (x @ a)[:5]),
    "wide": ((2, 100), (2,), lambda a, x: a @ (a.T[:2] @ x @ a[:, :100])),
    "batched": ((2, 4, 4), (2, 4), lambda a, x: jnp.einsum("bij,bj->bi", a, x)),
    "all": ((3, 4), (3, 4), lambda a, x: x * jnp.tensordot(a, x)),
    "empty": ((3, 0), (3,), lambda a, x: x + a @ jnp.zeros(0, x.dtype)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MATRICES)
def test_products_with_matrices_in_memory(name, dtype):
    shape, of_vector, product = MATRICES[name]
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        a = jnp.asarray(rng.normal(size=shape).astype(dtype))
        x = jnp.asarray(rng.normal(size=of_vector).astype(dtype))
        same(
            lambda a, x: lax.fori_loop(0, 5, lambda i, x: product(a, x) + i.astype(dtype), x), a, x
        )
        same(lambda a, x: lax.scan(lambda x, a: (product(a, x), x), x, jnp.stack([a, a + 1])), a, x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "bool"])
def test_reductions_of_few(dtype):
    def all_of(x):
        def turn(i, c):
            x, _ = c
            parts = [f(x, axis) for f in reductions for axis in (-1, None, 0)]
            return x * 2 if "float" in dtype else x ^ (x[::-1] & x), parts

        parts = [f(x, axis) for f in reductions for axis in (-1, None, 0)]
        return lax.fori_loop(0, 3, turn, (x, parts))

    reductions = [jnp.any, jnp.all] if dtype == "bool" else [jnp.sum, jnp.max, jnp.min]
    with jax.enable_x64(True):
        rng = np.random.default_rng(0)
        for shape in ((3, 5), (4, 4), (15,), (1, 9)):
            x = rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
            same(all_of, jnp.asarray(x))
            if "float" in dtype:
                x.flat[2] = np.nan
                x.flat[3:5] = -0.0
                same(all_of, jnp.asarray(x))


@runs_loops
def test_small_matrices_need_no_calls(dump_of):
    program = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "def turn(i, x):\n"
        "    y = a @ x\n"
        "    return jax.nn.softmax(y / jnp.sqrt(y @ y))\n"
        "a = jnp.arange(64.).reshape(8, 8)\n"
        "jax.jit(lambda x: jax.lax.fori_loop(0, 5, turn, x))(jnp.arange(8.))\n"
    )
    plan = dump_of(program, SHARDAX_CODEGEN="1")
    assert "native scan of 5 steps" in plan, plan
    assert "calls" not in plan, plan


INT32 = np.iinfo(np.int32)
SMALL = [0, 1, 6, 7, 8, 3, 2, 3, 5, 100]
INDICES = {
    "int8": [*SMALL, -1, -7, -8, -100],
    "int32": [*SMALL, -1, -7, -8, INT32.max, INT32.min, INT32.max - 6, INT32.min + 7, -INT32.max],
    "int64": [*SMALL, -1, -7, -8, 2**40, -(2**40), 2**32, 2**32 + 1],
    "uint32": SMALL,
}


@pytest.mark.parametrize("mode", [None, "clip", "drop"])
@pytest.mark.parametrize("dtype", INDICES)
def test_indices_that_are_data(dtype, mode):
    """Of every sign and size, into arrays of one and of two dimensions."""

    def turn(at, i, carry):
        x, y, total = carry
        total = total + x.at[at[i]].get(mode=mode, fill_value=-1) * (i + 1)
        y = y.at[at[i], at[i - 1]].set(total, mode=mode)
        return x.at[at[i]].add(i + 1.0, mode=mode), y, total

    with jax.enable_x64():
        at = jnp.asarray(INDICES[dtype], dtype)
        start = jnp.arange(7.0), jnp.zeros((7, 5)), 0.0
        count = at.shape[0]
        found = same(lambda at, *c: lax.fori_loop(0, count, lambda i, c: turn(at, i, c), c),
                     at, *start)  # fmt: skip
        for i in range(count):
            start = turn(at, i, start)
        for one, other in zip(found, start):
            np.testing.assert_array_equal(one, other)


LARGER = {
    "avx2": ({"vpmaxsd", "vpminsd"}, {"vpcmpgtd"}),
    "neon": ({"smax", "smin"}, {"cmgt"}),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_larger_of_integers_is_one_instruction(dump_of, machine):
    program = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "jax.jit(lambda x: jnp.clip(x * 3, -7, 9))(jnp.arange(4096))\n"
    )
    names = set(instructions(dump_of(program, "asm", SHARDAX_CODEGEN=machine)))
    there, not_there = LARGER[machine]
    assert there <= names and not names & not_there
