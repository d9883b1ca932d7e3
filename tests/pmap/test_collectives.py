"""tests/pmap/test_collectives.py - collectives against NumPy, their axes, groups, derivatives."""

import itertools
import pathlib
import sys

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from collective_references import (  # noqa: E402
    CASES,
    EXACT,
    GROUPS,
    MAPS,
    M,
    N,
    check,
    check_derivatives,
    operand,
    ring,
)

ONE_AXIS = [
    pytest.param(name, groups, id=f"{name}, {groups}")
    for name, (_, _, allowed) in CASES.items()
    for groups in allowed
]


@pytest.mark.parametrize("outer", MAPS)
@pytest.mark.parametrize("name, groups", ONE_AXIS)
def test_one_axis(name, groups, outer):
    collective, reference, _ = CASES[name]
    options = {} if groups == "all" else {"axis_index_groups": GROUPS[groups]}
    x = operand(M, 4, 8)
    f = MAPS[outer](lambda v: collective(v, "i", **options), "i")
    check(f(x), reference(x, GROUPS[groups]))
    if outer in ("pmap", "vmap"):
        check_derivatives(f, x)


@pytest.mark.parametrize("outer", ["pmap", "vmap"])
@pytest.mark.parametrize("name", EXACT)
def test_dimension_of_the_axis_size(name, outer):
    collective, reference = EXACT[name]
    x = operand(M, 4, 4)
    f = MAPS[outer](lambda v: collective(v, "i"), "i")
    check(f(x), reference(x, None))
    check_derivatives(f, x)


PAIRS = list(itertools.product(("pmap", "vmap"), repeat=2))


@pytest.mark.parametrize("outer, inner", PAIRS)
@pytest.mark.parametrize("axes", [("i", "j"), ("j", "i"), "i", "j"], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_two_axes(name, axes, outer, inner):
    collective, reference, _ = CASES[name]
    x = operand(M, N, 8, 8)
    f = MAPS[outer](MAPS[inner](lambda v: collective(v, axes), "j"), "i")
    order = {"i": (0,), "j": (1,)}.get(axes) or tuple("ij".index(a) for a in axes)
    check(f(x), over_axes(reference, x, order))
    if outer != inner or axes == ("j", "i"):
        check_derivatives(f, x)


def over_axes(reference, x, order):
    """The reference on the axes `order` of x [M, N, ...] seen as one; the others are a batch."""
    rest = [a for a in (0, 1) if a not in order]
    front = np.transpose(x, [*rest, *order, *range(2, x.ndim)])
    batch, sizes = front.shape[: len(rest)], front.shape[len(rest) : 2]
    flat = front.reshape(-1, int(np.prod(sizes)), *x.shape[2:])
    out = np.stack([reference(v, None) for v in flat])
    out = out.reshape(*batch, *sizes, *out.shape[2:])
    back = np.argsort([*rest, *order])
    return np.transpose(out, [*back, *range(2, out.ndim)])


@pytest.mark.parametrize("outer, inner", PAIRS)
@pytest.mark.parametrize("groups", [[[0, 1, 2, 3], [4, 5, 6, 7]], [[0, 7, 3, 4], [5, 1, 2, 6]]])
@pytest.mark.parametrize("name", ["psum", "pmax", "all_gather 0 False", "all_to_all 0 1 tiled"])
def test_groups_of_two_axes(name, groups, outer, inner):
    collective, reference, _ = CASES[name]
    x = operand(M, N, 4, 4)
    f = lambda v: collective(v, ("i", "j"), axis_index_groups=groups)  # noqa: E731
    mapped = MAPS[outer](MAPS[inner](f, "j"), "i")
    want = reference(x.reshape(M * N, 4, 4), groups)
    check(mapped(x), want.reshape(M, N, *want.shape[1:]))
    check_derivatives(mapped, x)


@pytest.mark.parametrize("outer", ["pmap", "vmap"])
@pytest.mark.parametrize("name, groups", ONE_AXIS)
def test_what_all_devices_share(name, groups, outer):
    """Operands that do not vary over the axis, by in_axes and by equal slices."""
    collective, reference, _ = CASES[name]
    options = {} if groups == "all" else {"axis_index_groups": GROUPS[groups]}
    x = operand(4, 8)
    stacked = np.stack([x] * M)
    want = reference(stacked, GROUPS[groups])
    call = lambda v, _: collective(v, "i", **options)  # noqa: E731
    unmapped = MAPS[outer](call, "i", in_axes=(None, 0))
    check(unmapped(x, np.arange(M)), want)
    check(MAPS[outer](call, "i")(stacked, np.arange(M)), want)
    check_derivatives(lambda v: unmapped(v, np.arange(M)), x) if "pm" not in name else None


@pytest.mark.parametrize("axes", [("i", "j"), ("j", "i")])
@pytest.mark.parametrize("name", CASES)
def test_what_varies_over_one_of_two_axes(name, axes):
    collective, reference, _ = CASES[name]
    x = operand(N, 8, 8)
    inner = shardax.vmap(lambda v, _: collective(v, axes), axis_name="j")
    f = shardax.pmap(inner, "i", in_axes=(None, 0))
    full = np.broadcast_to(x, (M, *x.shape)).copy()
    order = tuple("ij".index(a) for a in axes)
    check(f(x, np.zeros((M, N))), over_axes(reference, full, order))


def test_positions():
    x = np.float32([[3, 1, 0], [5, 1, 2], [5, 0, 7], [1, 0, 7]])
    for make in (MAPS["pmap"], MAPS["vmap"]):
        for name, want in (("pargmax", x.argmax(0)), ("pargmin", x.argmin(0))):
            out = make(lambda v, name=name: getattr(lax, name)(v, "i"), "i")(x)
            assert out.dtype == np.int32
            np.testing.assert_array_equal(out, np.broadcast_to(want, x.shape))
    two = shardax.pmap(
        shardax.vmap(lambda v: lax.pargmax(v, ("i", "j")), axis_name="j"), axis_name="i"
    )
    assert np.asarray(two(np.float32([[1, 9], [3, 4]]))).tolist() == [[1, 1], [1, 1]]


def test_many_devices_and_irregular_permutations():
    with shardax_devices(64):
        order = np.random.default_rng(0).permutation(64)
        x = operand(64, 3)
        shuffle = shardax.pmap(lambda v: lax.pshuffle(v, "i", order.tolist()), "i")
        check(shuffle(x), x[order])
        check_derivatives(shuffle, x)
        pairs = [(int(s), d) for d, s in enumerate(order) if d % 3]
        some = shardax.pmap(lambda v: lax.ppermute(v, "i", pairs), "i")
        want = np.where((np.arange(64) % 3)[:, None], x[order], 0)
        check(some(x), want)
        check_derivatives(some, x)
        keys = shardax.pmap(lambda v: lax.ppermute(v, "i", pairs), "i")(x > 0)
        np.testing.assert_array_equal(keys, want > 0)
        groups = [g.tolist() for g in np.split(order, [1, 5, 20, 21])]
        check(
            shardax.pmap(lambda v: lax.psum(v, "i", axis_index_groups=groups), "i")(x),
            CASES["psum"][1](x, groups),
        )


class shardax_devices:
    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.before = shardax.device_count()
        shardax.config.update("jax_num_cpu_devices", self.count)

    def __exit__(self, *_):
        shardax.config.update("jax_num_cpu_devices", self.before)


def test_collectives_in_loops_and_branches():
    def body(c, v):
        c = lax.ppermute(c, ("i", "j"), ring(M * N)) + lax.psum(
            v, "i", axis_index_groups=[[0, 2], [1, 3]]
        )
        return c, lax.cond(True, lambda u: lax.pmax(u, ("j", "i")), lambda u: u, c)

    def f(x):
        return lax.scan(body, x[0], x)

    x = operand(M, N, 3, 2)
    for outer, inner in PAIRS:
        carry, out = MAPS[outer](MAPS[inner](f, "j"), "i")(x)
        c = x[:, :, 0]
        for step in range(3):
            v = x[:, :, step]
            total = np.stack([v[i] + v[(i + 2) % 4] for i in range(M)])
            c = np.roll(c.reshape(8, 2), 1, 0).reshape(c.shape) + total
            check(out[:, :, step], np.broadcast_to(c.max((0, 1)), c.shape))
        check(carry, c)


@pytest.mark.parametrize("dtype", ["int8", "uint32", "bool", "float16", "bfloat16", "complex64"])
def test_dtypes(dtype):
    x = jnp.asarray(np.random.default_rng(0).integers(0, 3, (4, 4)), dtype=dtype)
    wide = np.asarray(x.astype("complex64" if dtype == "complex64" else "float32"))
    for groups in (None, [[0, 3], [1, 2]]):
        options = {"axis_index_groups": groups}
        total = shardax.pmap(lambda v, o=options: lax.psum(v, "i", **o), "i")(x)
        assert str(total.dtype) == ("int32" if dtype == "bool" else dtype)
        check(total.astype(wide.dtype), CASES["psum"][1](wide, groups))
        mean = shardax.pmap(lambda v, o=options: lax.pmean(v, "i", **o), "i")(x)
        assert str(mean.dtype) == ("float32" if x.dtype.kind in "biu" else dtype)
        every = shardax.pmap(lambda v, o=options: lax.all_gather(v, "i", **o), "i")(x)
        assert str(every.dtype) == dtype
        if dtype != "complex64":
            top = shardax.pmap(lambda v, o=options: lax.pmax(v, "i", **o), "i")(x)
            assert str(top.dtype) == dtype
            check(top.astype(wide.dtype), CASES["pmax"][1](wide, groups))


def test_empty_arrays_trees_and_nothing():
    x = {"a": np.zeros((4, 0, 3), np.float32), "b": [np.arange(4), None], "c": ()}
    for f in (
        lambda t: lax.psum(t, "i"),
        lambda t: lax.pmean(t, "i"),
        lambda t: lax.ppermute(t, "i", ring(4)),
        lambda t: lax.all_gather(t, "i"),
        lambda t: lax.psum(t, "i", axis_index_groups=[[0, 1], [2, 3]]),
    ):
        for make in (MAPS["pmap"], MAPS["vmap"]):
            out = make(f, "i")(x)
            assert out["a"].size == 0 and out["b"][1] is None and out["c"] == ()


def test_groups_of_constants_and_of_sizes():
    seen = []

    def f(x):
        seen.append(lax.psum(1, "i", axis_index_groups=[[0, 1], [2, 3]]))
        return lax.psum(1, "i", axis_index_groups=[[0], [1, 2, 3]]) + 0 * x

    assert np.asarray(shardax.pmap(f, "i")(np.arange(4))).tolist() == [1, 3, 3, 3]
    assert seen == [2] and type(seen[0]) is int


def test_a_mean_every_few_steps():
    """A step counter is stacked, and equal everywhere: all devices take the same branch."""

    def step(count, x):
        return count + 1, lax.cond(count % 3 == 0, lambda v: lax.pmean(v, "i"), lambda v: v, x)

    f = shardax.pmap(step, axis_name="i")
    count, x = jnp.full(4, 1), jnp.arange(4.0)
    seen = []
    for _ in range(3):
        count, x = f(count, x)
        seen.append(x.tolist())
    assert seen == [[0.0, 1.0, 2.0, 3.0]] * 2 + [[1.5] * 4]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_extrema_over_devices_leave_nan_aside(dtype):
    """As JAX's devices do; an ordinary vmap has a NaN."""
    x = jnp.array([np.nan, 1.0, 2.0], dtype)
    nothing = jnp.full(3, np.nan, dtype)
    for op, best, none in ((lax.pmax, 2, -np.inf), (lax.pmin, 1, np.inf)):
        mapped = shardax.pmap(lambda v, op=op: op(v, "i"), "i")
        assert mapped(x).tolist() == [best] * 3
        assert mapped(nothing).tolist() == [none] * 3
        assert np.isnan(np.asarray(mapped(nothing[:1]), "float32")).all()
        assert np.isnan(shardax.vmap(lambda v, op=op: op(v, "i"), axis_name="i")(x)).all()
    groups = shardax.pmap(lambda v: lax.pmax(v, "i", axis_index_groups=[[0, 1], [2, 3]]), "i")
    assert groups(jnp.array([np.nan, 1, 2, 3], dtype)).tolist() == [1, 1, 3, 3]
