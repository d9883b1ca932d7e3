"""tests/pmap/test_collectives.py - collectives against NumPy: axes, groups, nesting, derivatives.

The reference of a collective maps an array of all devices' values, [devices, ...], to the same of
results. Axes lie at the front of the operands, in the order ("i", "j").
"""

import functools
import itertools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

M, N = 4, 2
GROUPS = {
    "all": None,
    "runs": [[0, 1], [2, 3]],
    "strided": [[0, 2], [1, 3]],
    "mixed": [[3, 0], [1, 2]],
    "alone": [[1], [0], [3], [2]],
    "one": [[2, 0, 3, 1]],
    "uneven": [[2], [3, 0, 1]],
}


def rows(n, groups):
    return groups or [list(range(n))]


def grouped(whole):
    """`whole` maps [members, ...] to the same; applied to each group."""

    def reference(x, groups):
        out = None
        for group in rows(len(x), groups):
            part = whole(x[group])
            if out is None:
                out = np.zeros((len(x), *part.shape[1:]), part.dtype)
            out[group] = part
        return out

    return reference


def everywhere(reduce):
    return grouped(lambda x: np.broadcast_to(reduce(x), x.shape))


def gather(x, axis, tiled):
    one = np.concatenate(x, axis) if tiled else np.stack(x, axis)
    return np.broadcast_to(one, (len(x), *one.shape))


def scatter(x, axis, tiled):
    n, total = len(x), x.sum(0)
    if tiled:
        return np.stack(np.split(total, n, axis))
    return np.moveaxis(total, axis, 0)


def exchange(x, split, concat, tiled):
    n = len(x)
    parts = [np.split(v, n, split) for v in x]  # [source][destination]
    if not tiled:
        parts = [[np.squeeze(p, split) for p in source] for source in parts]
    join = np.concatenate if tiled else np.stack
    return np.stack([join([parts[s][d] for s in range(n)], concat) for d in range(n)])


def permuted(pairs):
    def reference(x, groups):
        out = np.zeros_like(x)
        for source, destination in pairs(len(x)):
            out[destination] = x[source]
        return out

    return reference


def ring(n):
    return [(k, (k + 1) % n) for k in range(n)]


def partial_ring(n):
    return [(k, n - 1 - k) for k in range(0, n, 2)]


EVEN = {k: v for k, v in GROUPS.items() if k != "uneven"}
NONE = {"all": None}
# name: (collective, reference, groups that it takes). Operands have the shape [8, 8] per device.
CASES = {
    "psum": (lambda x, a, **k: lax.psum(x, a, **k), everywhere(lambda x: x.sum(0)), GROUPS),
    "pmean": (lambda x, a, **k: lax.pmean(x, a, **k), everywhere(lambda x: x.mean(0)), GROUPS),
    "pmax": (lambda x, a, **k: lax.pmax(x, a, **k), everywhere(lambda x: x.max(0)), GROUPS),
    "pmin": (lambda x, a, **k: lax.pmin(x, a, **k), everywhere(lambda x: x.min(0)), GROUPS),
    "pbroadcast": (lambda x, a: lax.pbroadcast(x, a, 1), everywhere(lambda x: x[1]), NONE),
    "ppermute": (
        lambda x, a: lax.ppermute(x, a, ring(lax.axis_size(a))),
        permuted(ring),
        NONE,
    ),
    "ppermute of some": (
        lambda x, a: lax.ppermute(x, a, partial_ring(lax.axis_size(a))),
        permuted(partial_ring),
        NONE,
    ),
    "pshuffle": (
        lambda x, a: lax.pshuffle(x, a, range(lax.axis_size(a))[::-1]),
        lambda x, g: x[::-1],
        NONE,
    ),
    **{
        f"all_gather {axis} {tiled}": (
            functools.partial(lax.all_gather, axis=axis, tiled=tiled),
            grouped(lambda x, a=axis, t=tiled: gather(x, a, t)),
            EVEN,
        )
        for axis in (0, 1, -1)
        for tiled in (False, True)
    },
    **{
        f"psum_scatter {axis} tiled": (
            functools.partial(lax.psum_scatter, scatter_dimension=axis, tiled=True),
            grouped(lambda x, a=axis: scatter(x, a, True)),
            EVEN,
        )
        for axis in (0, -1)
    },
    **{
        f"all_to_all {split} {concat} tiled": (
            functools.partial(lax.all_to_all, split_axis=split, concat_axis=concat, tiled=True),
            grouped(lambda x, s=split, c=concat: exchange(x, s, c, True)),
            EVEN,
        )
        for split, concat in ((0, 0), (0, 1), (1, 0), (-1, -2))
    },
}
# Here a dimension has exactly the size of the axis, or of its groups: 4 of 'i' alone.
EXACT = {
    "psum_scatter": (
        functools.partial(lax.psum_scatter, scatter_dimension=1),
        lambda x, g: scatter(x, 1, False),
    ),
    **{
        f"all_to_all {split} {concat}": (
            functools.partial(lax.all_to_all, split_axis=split, concat_axis=concat),
            lambda x, g, s=split, c=concat: exchange(x, s, c, False),
        )
        for split, concat in ((0, 0), (0, 1), (1, 0), (1, 1))
    },
    "pswapaxes": (
        functools.partial(lax.pswapaxes, axis=1),
        lambda x, g: exchange(x, 1, 1, False),
    ),
}

MAPS = {
    "pmap": lambda f, name, **k: shardax.pmap(f, axis_name=name, **k),
    "vmap": lambda f, name, **k: shardax.vmap(f, axis_name=name, **k),
    "jit of pmap": lambda f, name, **k: shardax.jit(shardax.pmap(f, axis_name=name, **k)),
    "pmap of jit": lambda f, name, **k: shardax.pmap(shardax.jit(f), axis_name=name, **k),
}


def operand(*shape, seed=0):
    """Distinct values, at least 0.02 apart, so that extrema stay where they are in differences."""
    size = int(np.prod(shape))
    values = np.random.default_rng(seed).permutation(size) - (size - 1) / 2
    return (values * max(0.02, 2 / size)).reshape(shape).astype(np.float32)


def check(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=2e-5, atol=2e-6)


def check_derivatives(f, x):
    """jvp against a difference, and vjp against jvp."""
    t = operand(*x.shape, seed=7)
    y, out_t = shardax.jvp(f, (x,), (t,))
    h = 1e-3
    slope = (np.asarray(f(x + h * t)) - np.asarray(f(x - h * t))) / (2 * h)
    np.testing.assert_allclose(np.asarray(out_t), slope, rtol=2e-2, atol=2e-2)
    ct = operand(*y.shape, seed=8)
    (back,) = shardax.vjp(f, x)[1](jnp.asarray(ct))
    left, right = np.vdot(ct, np.asarray(out_t)), np.vdot(np.asarray(back), t)
    assert left == pytest.approx(right, rel=1e-4, abs=1e-4)


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


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda v: lax.psum(v, "i", axis_index_groups=[[0, 1], [1, 2, 3]]),
            ValueError,
            r"psum: axis_index_groups must cover all indices exactly once, got "
            r"\[\[0, 1\], \[1, 2, 3\]\]; expected each of 0 to 3 in one group",
        ),
        (
            lambda v: lax.all_gather(v, "i", axis_index_groups=[[0], [1, 2, 3]]),
            ValueError,
            "all_gather: axis_index_groups must all have the same size",
        ),
        (
            lambda v: lax.psum(v, (0, "i"), axis_index_groups=[[0, 1], [2, 3]]),
            ValueError,
            "psum: axis_index_groups is only supported for sums over just named axes",
        ),
        (lambda v: lax.psum(v, ("i", "i")), ValueError, "psum: the axis 'i' is named twice"),
        (
            lambda v: lax.ppermute(v, "i", [(0, 1), (2, 1)]),
            ValueError,
            r"ppermute sources and destinations must be unique, got \(\(0, 1\), \(2, 1\)\)",
        ),
        (
            lambda v: lax.ppermute(v, "i", [(0, 9)]),
            ValueError,
            r"ppermute: index 9 of perm \(\(0, 9\),\) is outside of the axis of size 4; "
            "sources and destinations run from 0 to 3",
        ),
        (
            lambda v: lax.ppermute(v, "i", [(0, 1, 2)]),
            ValueError,
            r"ppermute: perm must consist of \(source, destination\) pairs, got \(0, 1, 2\)",
        ),
        (
            lambda v: lax.pshuffle(v, "i", [0, 0, 1, 2]),
            ValueError,
            r"pshuffle: `perm` does not represent a permutation: \[0, 0, 1, 2\]",
        ),
        (
            lambda v: lax.pbroadcast(v, "i", 4),
            ValueError,
            "pbroadcast: source 4 is outside of the axis of size 4; sources run from 0 to 3",
        ),
        (
            lambda v: lax.all_gather(v, "i", axis=3),
            ValueError,
            "all_gather: axis 3 is out of bounds for array of dimension 2; expected -2 to 1",
        ),
        (
            lambda v: lax.psum_scatter(v, "i"),
            ValueError,
            r"psum_scatter: reduce_scatter operand scatter dimension size 3 must match shard count "
            r"4; dimension 0 of shape \(3,\)",
        ),
        (
            lambda v: lax.psum_scatter(v, "i", tiled=True),
            ValueError,
            "psum_scatter: tiled reduce_scatter operand scatter dimension size 3 must be divisible "
            "by shard_count 4",
        ),
        (
            lambda v: lax.psum_scatter(v > 0, "i"),
            TypeError,
            "reduce_scatter does not accept dtype bool",
        ),
        (
            lambda v: lax.psum_scatter(v, "i", scatter_dimension=2),
            ValueError,
            "psum_scatter: scatter_dimension 2 is out of bounds for array of dimension 1",
        ),
        (
            lambda v: lax.all_to_all(v, "i", 0, 0),
            ValueError,
            r"all_to_all requires the size of the mapped axis axis_name to equal "
            r"x.shape\[split_axis\], but they are 4 and 3 respectively",
        ),
        (
            lambda v: lax.all_to_all(v, "i", 0, 0, tiled=True),
            ValueError,
            "all_to_all: the size of split_axis 0 must be divisible by the size of the mapped axis "
            "when tiled, but they are 3 and 4",
        ),
        (
            lambda v: lax.all_to_all(v, "i", 1, 0),
            ValueError,
            "all_to_all: split_axis 1 is out of bounds for array of dimension 1",
        ),
        (lambda v: lax.pcast(v, "i", to="bad"), ValueError, "unexpected `to` value 'bad'"),
        (lambda v: lax.psum("a", "i"), TypeError, "'a'"),
        (
            lambda v: lax.all_gather(v, 0),
            NameError,
            "all_gather: unbound axis name: 0; expected the name of a mapped axis",
        ),
    ],
)
def test_errors(call, error, text):
    for make in (MAPS["pmap"], MAPS["vmap"]):
        with pytest.raises(error, match=text):
            make(call, "i")(np.ones((4, 3), np.float32))


def ragged(sizes, rows, width=2):
    """Operands, offsets and sizes for `sizes[source][slice]`, and what each device then has."""
    n = len(sizes)
    each = len(sizes[0]) // n
    operand = np.arange(n * rows * width, dtype=np.float32).reshape(n, rows, width) + 1
    starts = np.cumsum(sizes, axis=1) - sizes
    arriving = np.swapaxes(np.reshape(sizes, (n, n, each)), 0, 1).reshape(n, n * each)
    places = np.cumsum(arriving, axis=1) - arriving  # by receiver, then source
    sent = np.swapaxes(places.reshape(n, n, each), 0, 1).reshape(n, n * each)
    want = np.full((n, rows * n, width), -1, np.float32)
    for source in range(n):
        for i, size in enumerate(sizes[source]):
            at, to = starts[source, i], sent[source, i]
            want[i // each, to : to + size] = operand[source, at : at + size]
    return (operand, np.full_like(want, -1), starts, np.array(sizes), sent, arriving), want


@pytest.mark.parametrize("outer", ["pmap", "vmap"])
@pytest.mark.parametrize(
    "sizes", [[[1, 2], [3, 0]], [[1, 0, 2, 1], [0, 0, 1, 3]], [[1, 2, 0], [0, 1, 1], [2, 1, 1]]]
)
def test_ragged_all_to_all(sizes, outer):
    arguments, want = ragged(sizes, 5)
    f = functools.partial(lax.ragged_all_to_all, axis_name="i")
    mapped = {
        "pmap": lambda g: shardax.pmap(g, axis_name="i"),
        "vmap": lambda g: shardax.vmap(g, axis_name="i"),
    }[outer]
    np.testing.assert_array_equal(mapped(f)(*arguments), want)
    operand, output, *rest = arguments
    weights = np.cos(np.arange(want.size)).reshape(want.shape).astype(np.float32)

    def loss(operand, output):
        return (mapped(f)(operand, output, *rest) * weights).sum()

    to_operand, to_output = shardax.grad(loss, (0, 1))(operand, output)
    sent = np.arange(operand.shape[1]) < np.sum(sizes, axis=1)[:, None]
    np.testing.assert_allclose(to_operand[~sent], 0)
    np.testing.assert_allclose(to_output, np.where(want == -1, weights, 0))
    np.testing.assert_allclose(
        (to_operand * operand).sum() + (to_output * output).sum(),
        (want * weights).sum(),
        rtol=1e-5,
    )


def test_ragged_all_to_all_in_groups():
    arguments, want = ragged([[1, 2], [3, 0]], 4)
    doubled = [np.concatenate([a, a + 0]) for a in arguments]
    f = shardax.pmap(
        lambda *a: lax.ragged_all_to_all(*a, axis_name="i", axis_index_groups=[[0, 1], [2, 3]]),
        axis_name="i",
    )
    np.testing.assert_array_equal(f(*doubled), np.concatenate([want, want]))


RAGGED = [
    ({"send_sizes": np.ones(2)}, "send_sizes must be integer type, got float32"),
    (
        {"output_offsets": np.ones((2, 1), int)},
        r"output_offsets must be rank 1 with positive dimension size, but got shape \(2, 1\)",
    ),
    (
        {"recv_sizes": np.ones(4, int)},
        "offsets and sizes must have one length, got .*'recv_sizes': 4",
    ),
    (
        {"output": np.ones((3, 2), np.float32)},
        r"must differ in their leading size only, got float32\[3\] and float32\[3, 2\]",
    ),
]


@pytest.mark.parametrize("wrong, text", RAGGED)
def test_errors_of_ragged_all_to_all(wrong, text):
    ones = np.ones(2, int)
    right = {"operand": np.ones(3, np.float32), "output": np.ones(3, np.float32)}
    names = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")
    right |= dict.fromkeys(names, ones)
    with pytest.raises(ValueError, match=text):
        shardax.vmap(
            lambda _: lax.ragged_all_to_all(**{**right, **wrong}, axis_name="i"), axis_name="i"
        )(np.zeros(2))


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
