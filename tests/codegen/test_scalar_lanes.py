"""tests/codegen/test_scalar_lanes.py - layout, reductions and products of arrays that loops of
machine code hold in registers. The bits of SHARDAX_CODEGEN=0."""

import functools
import itertools
import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.machines import runs_loops
from tests.codegen.test_scalar_loops import same


def looped(step):
    """Six turns, so that a turn reads what the one before has written."""
    return lambda x: lax.fori_loop(0, 6, lambda i, x: step(x), x)


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype.startswith("float"):
        x = rng.standard_normal(shape).astype(dtype)
        x.flat[:: max(1, x.size // 3)] = 0.25  # equal ones
        return jnp.asarray(x)
    return jnp.asarray(rng.integers(-40, 40, shape).astype(dtype))


LAYOUTS = {
    "roll": lambda x: jnp.roll(x, 1) * 3 + x,
    "rolled rows": lambda x: jnp.roll(x, 1, 1) + jnp.roll(x, -2, 0),
    "reversed": lambda x: x[::-1, ::-1] + 1,
    "transposed": lambda x: x.T.reshape(x.shape) * 2,
    "rows": lambda x: x + x[:1],
    "columns": lambda x: x + x[:, -1:],
    "every other": lambda x: jnp.repeat(x[::2], 2, 0)[: x.shape[0]] + x,
    "shifted": lambda x: jnp.concatenate([x[1:], x[:1] * 2]),
    "padded": lambda x: (lambda p: p[2:, 1:-1] + p[:-2, 1:-1] - x)(jnp.pad(x, 1)),
    "padded by edges": lambda x: jnp.pad(x[1:-1], ((1, 1), (0, 0)), mode="edge") * 2,
    "set": lambda x: x.at[1:-1].set(x[2:] + x[:-2] - x[1:-1]),
    "outer": lambda x: x + x[:, :1] * x[:1],
    "flat": lambda x: (x.reshape(-1)[3:].sum() + x.reshape(-1)).reshape(x.shape),
    "constants": lambda x: x + jnp.arange(x.size).reshape(x.shape).astype(x.dtype),
    "chosen": lambda x: x[np.arange(x.shape[0])[::-1]] + x,
    "triangles": lambda x: jnp.tril(x) + jnp.triu(x, 1) * 2,
}
SHAPES = [(3, 6), (8, 4), (4, 8), (5, 7), (8, 8), (16, 8), (3, 17), (4, 9)]


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layout_of_registers(name, dtype):
    with jax.enable_x64(dtype == "float64"):
        for shape in SHAPES:
            same(looped(LAYOUTS[name]), numbers(shape, dtype))


REDUCTIONS = {
    "sum of columns": lambda x: x - x.sum(0),
    "sum of rows": lambda x: x - x.sum(1, keepdims=True),
    "sum": lambda x: x - x.sum(),
    "greatest of columns": lambda x: x - x.max(0),
    "least of rows": lambda x: x - x.min(1, keepdims=True),
    "product": lambda x: x + x.prod(0),
    "first and last axis": lambda x: (lambda y: y - y.sum((0, 2), keepdims=True))(x[:, None])[:, 0],
    "any": lambda x: jnp.where((x > 1).any(), x - 1, x + 1),
    "all": lambda x: jnp.where((x > -30).all(), x - 1, x + 1),
    "any of columns": lambda x: jnp.where((x > 1).any(0), x - 1, x + 1),
    "greatest place": lambda x: x + x.argmax().astype(x.dtype),
    "greatest places of columns": lambda x: x - x.argmax(0).astype(x.dtype),
    "least places of rows": lambda x: x + x.argmin(1)[:, None].astype(x.dtype),
    "softmax": lambda x: jax.nn.softmax(x.astype(jnp.float32)).astype(x.dtype) + x,
    "cumulative": lambda x: jnp.cumsum(x, 0) - x,
    "distances": lambda x: x + (x[:, None] - x[None]).sum(1)[:, :1],
}


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_registers(name, dtype):
    with jax.enable_x64(dtype == "float64"):
        for shape in SHAPES:
            same(looped(REDUCTIONS[name]), numbers(shape, dtype))


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64", "int64", "uint32"])
def test_reductions_of_middle_axes(dtype):
    with jax.enable_x64(True):
        for shape in [(4, 8, 8), (2, 3, 16), (3, 5, 8), (2, 4, 4), (3, 5, 3), (1, 9, 8), (5, 3, 4)]:
            x = numbers(shape, dtype)
            for name in ("max", "min", "sum", "argmax", "argmin", "prod"):
                for axis in (0, 1, 2):
                    same(functools.partial(reduced_in_turns, name, axis), x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reductions_of_nan_and_zeros(dtype):
    """NaN, its place, and zeros of both signs."""
    with jax.enable_x64(True):
        for k in range(6):
            x = np.random.default_rng(k).choice([0.0, -0.0, 1.0, np.nan, np.inf], (8, 8))
            x = jnp.asarray(x.astype(dtype))
            for name, axis in itertools.product(("max", "min", "sum", "argmax", "argmin"), (0, 1)):
                f = functools.partial(reduced_in_turns, name, axis)
                same(f, x)
                same(lambda x, f=f: f(x.reshape(1, -1)), x)


def reduced_in_turns(name, axis, x):
    def reduced(x):
        return getattr(x, name)(axis, keepdims=True).astype(x.dtype)

    return lax.fori_loop(0, 3, lambda i, c: (c[0] * -1 + c[1] * 0, reduced(c[0])), (x, reduced(x)))


PRODUCTS = {
    "inner": lambda x: x * 0.5 + jnp.einsum("bi,bi->b", x, x)[:, None] * 0.01,
    "gram": lambda x: x + (x @ x.T)[:, :1] * 0.01,
    "row by matrix": lambda x: x + (x[0] @ x.T)[:, None] * 0.01,
    "distances": lambda x: x + ((x[:, None] - x[None]) ** 2).sum(-1)[:, :1] * 0.01,
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_registers(name):
    for shape in SHAPES:
        same(looped(PRODUCTS[name]), numbers(shape, "float32"))


def permutation(n):
    return np.random.default_rng(0).permutation(n)


UPDATES = {
    "inner": lambda x: x.at[1:-1, 1:-1].set(x[1:-1, 1:-1] * 2),
    "added inner": lambda x: x.at[1:, 1:].add(x[:-1, :-1]),
    "multiplied inner": lambda x: x.at[:-1, 1:].multiply(x[1:, :-1] * 2),
    "rows": lambda x: x.at[1:3].set(x[:2] - 1),
    "a row": lambda x: x.at[x.shape[0] - 1].add(x[0]),
    "many": lambda x: x.at[np.arange(x.size) % 3, np.arange(x.size) % 2].add(x.reshape(-1)),
    "permuted": lambda x: x.reshape(-1)[permutation(x.size)].reshape(x.shape) * 2,
    "computed": lambda x: x.reshape(-1)[(x.reshape(-1) * 3).astype(int) % 7].reshape(x.shape) + 1,
}


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("name", UPDATES)
def test_updates_and_places(name, dtype):
    for shape in SHAPES:
        same(looped(UPDATES[name]), numbers(shape, dtype))


@pytest.mark.parametrize("shape", [(8, 32), (5, 27), (16, 16), (4, 8, 8)])
def test_longer_lists_of_registers(shape):
    """Up to 256 numbers of 4 bytes."""
    x = numbers(shape, "float32")
    for step in (*LAYOUTS.values(), *REDUCTIONS.values(), *UPDATES.values()):
        if len(shape) == 2:
            same(looped(step), x)
    same(looped(lambda x: jnp.roll(x, 1, -1) - x.max(-2, keepdims=True)), x)
    same(looped(lambda x: jnp.roll(jnp.roll(x, 1, -1), -1, -2)[..., ::-1] + x), x)
    same(looped(lambda x: x.argmax(-2, keepdims=True).astype(x.dtype) - x[..., ::-1]), x)


def test_what_is_moved_in_branches_and_loops():
    """Moved arrays that several regions take, each in its own way."""

    def turn(i, x):
        y = jnp.roll(jnp.roll(x, 1, 1), 1, 0)  # not put together before the branch
        z = lax.cond(i % 2 == 0, lambda x, y: y + jnp.roll(x, 1, 0), lambda x, y: x[::-1] - y, x, y)
        w = lax.cond(i % 3 == 0, lambda x: jnp.roll(y, 1, 1), lambda x: jnp.roll(x, 2, 1), x)
        v = lax.fori_loop(0, i, lambda k, c: (c[0] + jnp.roll(y, 1, 1), c[1][::-1]), (z, w))
        return v[0] * 0.5 + jnp.roll(v[1], 1, 0) + x.T.reshape(x.shape)

    for shape in SHAPES:
        same(lambda x: lax.fori_loop(0, 7, turn, x), numbers(shape, "float32"))


def test_registers_in_branches_and_inner_loops():
    def turn(i, x):
        y = jnp.roll(x, 1, 1)
        z = lax.cond(i % 2 == 0, lambda y: jnp.roll(y, 1, 0) + x, lambda y: y - x[:1], y)
        w = lax.fori_loop(0, 3, lambda k, z: jnp.roll(z, 1, 1) * 0.5 + y, z)
        return w + y.max(0) - jnp.roll(y, 2, 1)

    for shape in SHAPES:
        same(lambda x: lax.fori_loop(0, 7, turn, x), numbers(shape, "float32"))


EDGES = """
import shardax as jax
import shardax._core as core
import shardax.numpy as jnp

def step(i, u):
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return u.at[1:-1, 1:-1].add(0.1 * (around - 4 * u[1:-1, 1:-1]))

rows = 8 if core.target_info()["loops"] == "NEON" else 16  # of up to 32 registers
for shape in ((rows, 16), (4, 16, 16)):
    f = step if len(shape) == 2 else jax.vmap(step, (None, 0))
    jax.jit(lambda u: jax.lax.fori_loop(0, 6, f, u))(jnp.ones(shape))
"""


@runs_loops
def test_long_lists_where_steps_take_longer(dump_of):
    """Three steps over 16 x 16 elements take longer than 1000 instructions; 1024 are steps."""
    plan = dump_of(EDGES, SHARDAX_CODEGEN="1")
    assert re.findall(r"^  (native )?scan of 6", plan, re.MULTILINE) == ["native ", ""]
