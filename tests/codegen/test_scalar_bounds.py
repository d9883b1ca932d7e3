"""tests/codegen/test_scalar_bounds.py - decisions by the range of a counter. The bits of
SHARDAX_CODEGEN=0."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.machines import MACHINES, instructions
from tests.codegen.test_scalar_loops import same


def until(end, step=1):
    """A while_loop over a counter and a state."""

    def run(body, state, start):
        return lax.while_loop(
            lambda c: c[0] < end, lambda c: (c[0] + step, body(c[0], c[1])), (start, state)
        )

    return run


LOOPS = {
    "inside": lambda x: lax.fori_loop(0, 40, lambda i, x: x.at[i].add(x[i] + 1), x),
    "beyond": lambda x: lax.fori_loop(0, 60, lambda i, x: x.at[i].add(1.0), x),
    "read beyond": lambda x: lax.fori_loop(30, 60, lambda i, x: x.at[3].add(x[i]), x),
    "from the end": lambda x: lax.fori_loop(-20, 20, lambda i, x: x.at[i].add(i * 1.0), x),
    "remainders": lambda x: lax.fori_loop(0, 99, lambda i, x: x.at[i % 7].add(x[i % 40]), x),
    "negative remainders": lambda x: lax.fori_loop(-50, 50, lambda i, x: x.at[i % -7].add(1.0), x),
    "lax.rem": lambda x: lax.fori_loop(-50, 50, lambda i, x: x.at[lax.rem(i, 9)].add(1.0), x),
    "quotients": lambda x: lax.fori_loop(-20, 99, lambda i, x: x.at[i // 3].add(1.0), x),
    "products": lambda x: lax.fori_loop(0, 9, lambda i, x: x.at[i * i - 3].add(x[39 - i]), x),
    "chosen": lambda x: lax.fori_loop(
        0, 40, lambda i, x: x.at[jnp.where(i < 20, i, 39 - i)].add(jnp.where(i < 40, 1.0, x[0])), x
    ),
    "both": lambda x: lax.fori_loop(
        0, 40, lambda i, x: jnp.where((i >= 0) & (x[i] > 0) | (i > 50), x.at[i].add(1.0), x), x
    ),
    "nested": lambda x: lax.fori_loop(
        0, 6, lambda i, x: lax.fori_loop(i, 8, lambda j, x: x.at[i * 7 + j].add(x[j - i]), x), x
    ),
    "while": lambda x: until(40)(lambda i, x: x.at[i].add(x[i - 1]), x, 0),
    "while by threes": lambda x: until(38, 3)(lambda i, x: x.at[i].add(x[i - 1]), x, 2),
    "while after the end": lambda x: until(3)(lambda i, x: x.at[i].add(1.0), x, 7),
    "two counters": lambda x: lax.while_loop(
        lambda c: c[0] < 13, lambda c: (c[0] + 1, c[1] + 3, c[2].at[c[1]].add(c[0] * 1.0)),
        (0, 0, x),
    ),
    "changed counter": lambda x: lax.while_loop(
        lambda c: c[0] < 30, lambda c: (jnp.where(c[1][3] > 5, c[0] + 7, c[0] + 1),
                                        c[1].at[c[0]].add(1.0).at[3].add(1.0)), (-5, x)
    ),
    "far": lambda x: until(2**30, 2**29)(lambda i, x: x.at[i % 40].add(1.0), x, 5),
    "scan": lambda x: lax.scan(
        lambda c, y: ((c[0] + 1, c[1].at[c[0]].set(y)), c[1][c[0] - 1]), (0, x), x, reverse=True
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_ranges_change_no_result(name):
    x = jnp.asarray(np.random.default_rng(0).normal(size=40).astype("float32"))
    same(LOOPS[name], x)
    same(jax.vmap(LOOPS[name]), jnp.stack([x, x + 1]))


def test_ends_that_are_not_known():
    x = jnp.asarray(np.random.default_rng(0).normal(size=40).astype("float32"))
    for start, end in ((0, 40), (0, 60), (-7, 5), (39, 40), (5, 2), (2**31 - 3, 2**31 - 1)):
        f = lambda x, n, m: until(n)(lambda i, x: x.at[i].add(x[i % 5]), x, m)  # noqa: E731
        same(f, x, jnp.int32(end), jnp.int32(start))


CHOICES = {"avx2": ("vpcmpgtd", "vblendv"), "neon": ("cmgt", "bsl", "bit", "bif", "csel")}


@pytest.mark.parametrize("machine", MACHINES)
def test_known_comparisons_are_not_computed(dump_of, machine):
    program = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "f = lambda x: jax.lax.fori_loop(0, 999, lambda i, x: x.at[i % 100].add(1.0), x)\n"
        "jax.jit(f)(jnp.arange(100.0))\n"
    )
    code = dump_of(program, "asm", SHARDAX_CODEGEN=machine).split("of: scan\n")[1].split("--")[0]
    names = instructions(code)
    assert names and not [name for name in names if name.startswith(CHOICES[machine])], code


def test_an_element_of_a_constant_array_is_where_a_loop_starts():
    starts = np.array([3.0, 5.0, 7.0], np.float32)
    counts = np.array([4, 9], np.int32)

    @jax.jit
    def f(x):
        first = lax.while_loop(lambda c: c < 40, lambda c: c * x, jnp.asarray(starts)[0])
        last = lax.fori_loop(jnp.asarray(counts)[1], 12, lambda i, s: s + i, 0)
        return first, last, lax.fori_loop(0, jnp.asarray(counts)[0], lambda i, s: s + i, 0)

    assert f(2.0) == (48.0, 9 + 10 + 11, 6)
