"""tests/codegen/test_scalar_integers.py - integers of loops, which live in general registers.

The bits of SHARDAX_CODEGEN=0, or NumPy's numbers.
"""

import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen import test_scalar_loops as loops
from tests.codegen.machines import MACHINES, instructions
from tests.codegen.test_division import numbers
from tests.codegen.test_scalar_loops import same

INTEGERS = ["int32", "int64", "uint32", "uint64", "bool"]


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_random_loops_of_integers(monkeypatch, start):
    """Of the expressions of test_random_loops those without floats, deeper."""
    monkeypatch.setattr(loops, "DTYPES", INTEGERS)
    with jax.enable_x64(True):
        for seed in range(start, start + 20):
            n = [1, 5, 33][seed % 3]
            rng = np.random.default_rng(seed)
            xs = jnp.asarray(rng.integers(-9, 9, n)), jnp.asarray(rng.integers(-(2**40), 2**40, n))

            def program(*xs):
                writer = loops.Writer(seed)  # noqa: B023
                carry = tuple(writer.constant(writer.random.choice(INTEGERS)) for _ in range(6))

                def step(c, x):
                    return loops.Writer(seed).body(c, x, 5), (c[0], c[5])  # noqa: B023

                return lax.scan(step, carry, xs)

            same(program, *xs)


def mixed(n):
    """Integers and floats of all widths, more than there are registers."""
    kinds = ["int32", "uint32", "float32", "int64", "uint64", "float64", "bool"]
    return [jnp.asarray(k * 5 + 3).astype(kinds[k % len(kinds)]) for k in range(n)]


@pytest.mark.parametrize("count", [5, 12, 40])
def test_numbers_change_places(count):
    """A turn moves each to the place of another, of its own kind or not."""

    def f(*xs):
        def step(i, c):
            turned = [*c[7:], *c[:7]] if count > 7 else c[::-1]
            moved = [t.astype(x.dtype) for t, x in zip(turned, c)]
            return [m + i.astype(m.dtype) if k % 3 == 0 else m for k, m in enumerate(moved)]

        return lax.fori_loop(0, 23, step, list(xs))

    with jax.enable_x64(True):
        same(f, *mixed(count))


def test_registers_survive_what_is_called_meanwhile():
    """A long loop asks for interrupts about once a millisecond; sorts are calls."""

    def f(*xs):
        def step(i, c):
            new = [a * 3 + b + i for a, b in zip(c, [*c[1:], c[0]])]
            return [*new[:-1], new[-1] ^ 5]

        return lax.fori_loop(0, 200_000, step, list(xs))

    def g(*xs):
        def step(i, c):
            least = jnp.sort(jnp.stack(c))[0]
            return [c[k] * 3 + least + i if k else c[1] - least for k in range(len(c))]

        return lax.fori_loop(0, 30, step, list(xs))

    for h in (f, g):
        same(h, *(jnp.int32(k * 7 - 20) for k in range(13)))


DIVISORS = [1, 2, 3, 7, 8, 10, 1024, 1000003, 2**30, 2**31 - 1, -1, -2, -7, -8, -(2**31)]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
@pytest.mark.parametrize("divisor", DIVISORS)
def test_rounded_down_by_constants(dtype, divisor):
    """Of single numbers and, where there are more, in vectors."""
    with jax.enable_x64(True):
        d = np.array(divisor % 2**32 if dtype == "uint32" else divisor, dtype)
        a = numbers(dtype)[:4000]
        q, r = jax.jit(
            lambda a: lax.scan(lambda c, x: (c + 1, (x // d, jnp.remainder(x, d))), 0, a)[1]
        )(a)
        with np.errstate(over="ignore"):
            expected = a // d, a % d
        np.testing.assert_array_equal(q, expected[0])
        np.testing.assert_array_equal(r, expected[1])
        for f, e in zip((jnp.floor_divide, jnp.remainder), expected):
            np.testing.assert_array_equal(jax.jit(f)(a, d), e)
            np.testing.assert_array_equal(jax.jit(lambda a, f=f: f(a, d))(a), e)


def test_signs_decide_what_they_seem_to():
    """Code that looks like a division that rounds down, but is none."""

    def f(xs, ys):
        def step(c, both):
            x, y = both
            r, q = lax.rem(x, jnp.int32(8)), lax.div(x, jnp.int32(8))
            s = lax.rem(y, jnp.int32(8))
            return c, (
                jnp.where(r < 0, r + 7, r),
                jnp.where(r < 0, s + 8, s),
                jnp.where(s < 0, r + 8, r),
                jnp.where(r <= 0, r + 8, r),
                jnp.where(s < 0, q - 1, q),
                jnp.where(r < 0, q + 1, q),
                (r != 0) & ~(y > 0),
                (r != 0) & ~(x > 0),
                (r != 0) & (x < 0),
                jnp.where(x > 3, 2, jnp.where(y > 3, 5, 2)) == 2,
                jnp.where(x > 3, 2, y) == 2,
                jnp.where(x > 3, y > 2, False) | jnp.where(y > 1, True, x > 2),
            )

        return lax.scan(step, 0, (xs, ys))[1]

    xs = jnp.arange(-20, 21)
    ys = jnp.asarray(np.random.default_rng(0).integers(-20, 20, 41).astype("int32"))
    found = same(f, xs, ys)
    x, y = np.asarray(xs), np.asarray(ys)
    r, s, q = np.fmod(x, 8), np.fmod(y, 8), (x / 8).astype(int)
    expected = (
        np.where(r < 0, r + 7, r), np.where(r < 0, s + 8, s), np.where(s < 0, r + 8, r),
        np.where(r <= 0, r + 8, r), np.where(s < 0, q - 1, q), np.where(r < 0, q + 1, q),
        (r != 0) & ~(y > 0), (r != 0) & ~(x > 0), (r != 0) & (x < 0),
        np.where(x > 3, 2, np.where(y > 3, 5, 2)) == 2, np.where(x > 3, 2, y) == 2,
        np.where(x > 3, y > 2, False) | np.where(y > 1, True, x > 2),
    )  # fmt: skip
    for a, e in zip(found, expected):
        np.testing.assert_array_equal(a, e)


# The first and the last jump of a loop, and what its turns have once.
TURNS = {
    "avx2": ("jge", "call", "and sar imul cmove"),
    "neon": ("b.ge", "bl ", "and asr mul csel"),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_integers_need_no_vectors(dump_of, machine):
    """A loop of integers alone has no instruction of vectors, and floor division by a power of two
    is a shift, its remainder a mask."""
    listing = dump_of(
        "import shardax as jax, shardax.numpy as jnp\n"
        "step = lambda i, x: jnp.where(x % 8 == 3, x // 16, x * 5 + i)\n"
        "jax.jit(lambda n: jax.lax.fori_loop(0, n, step, n))(9)",
        "asm",
        SHARDAX_CODEGEN=machine,
    )
    first, last, once = TURNS[machine]
    turn = listing[listing.index(first) : listing.index(last)]
    assert not re.search(r"[xy]mm\d|\bv\d", turn)
    assert [instructions(turn).count(name) for name in once.split()] == [1, 1, 1, 1]
