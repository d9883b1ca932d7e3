"""tests/ops/test_dim_factors.py - records' descriptions of their dimensions (ir/dim_factors.h).

A parallel factor is tested by changing operands at all but one of its indices: the result there
keeps its bits.
"""

import math
import pathlib
import sys

import numpy as np
import pytest
import shardax
from shardax._core import api as _core

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from running import CASES, call, leaves, main_dtype, operands  # noqa: E402


def described(name, sample):
    """Programs of one equation whose record describes dimensions."""
    args = operands(sample, main_dtype(sample))
    if not args:
        return None
    program = shardax.make_jaxpr(lambda *xs: call(name, sample, xs))(*args)
    found = _core.dim_factors(program)
    if len(found) != 1 or found[0] is None or len(found[0][1]) != len(args):
        return None
    return args, program, found[0]


def indices(shape, dims, sizes, factor):
    """For each element of an array its index along a factor, which one of its dimensions has."""
    for d, own in enumerate(dims):
        if factor not in own:
            continue
        behind = math.prod(sizes[f] for f in own[own.index(factor) + 1 :])
        along = np.arange(shape[d]) // behind % sizes[factor]
        return np.broadcast_to(
            along.reshape([-1 if k == d else 1 for k in range(len(shape))]), shape
        )
    return None


@pytest.mark.parametrize("name, sample", CASES)
def test_dimensions_are_products_of_factors(name, sample):
    with shardax.enable_x64():
        found = described(name, sample)
    if not found:
        return
    args, program, (factors, given, result) = found
    out = leaves(shardax.core.jaxpr_as_fun(program)(*args))[0]
    for array, dims in [*zip(args, given, strict=True), (out, result)]:
        assert len(dims) == np.ndim(array)
        for n, own in zip(np.shape(array), dims, strict=True):
            if any(factors[f][0] == "windowed" for f in own):
                assert len(own) == 1
            else:
                assert n == math.prod(factors[f][1] for f in own)
    for f, (use, _) in enumerate(factors):
        kept = any(f in own for own in result)
        if use == "reduced":
            assert not kept
        if use == "parallel" and kept:
            assert sum(f in own for own in result) == 1


@pytest.mark.parametrize("name, sample", CASES)
def test_results_depend_on_parallel_factors_index_by_index(name, sample):
    with shardax.enable_x64():
        found = described(name, sample)
        if not found:
            return
        args, program, (factors, given, result) = found
        run = shardax.core.jaxpr_as_fun(program)
        others = operands(sample, main_dtype(sample), seed=1)
        base = leaves(run(*args))
        sizes = [n for _, n in factors]
        for f, (use, n) in enumerate(factors):
            if use != "parallel" or n < 2 or not any(f in own for own in result):
                continue
            changed = []
            for x, y, dims in zip(args, others, given, strict=True):
                at = indices(np.shape(x), dims, sizes, f)
                changed.append(x if at is None else np.where(at == n - 1, x, y))
            for before, after in zip(base, leaves(run(*changed)), strict=True):
                same = indices(before.shape, result, sizes, f) == n - 1
                np.testing.assert_array_equal(after[same], before[same])


def factors(fun, *args):
    """Of an op of operands, or of arrays of shapes."""
    zeros = (np.zeros(a, np.float32) if isinstance(a, tuple) else a for a in args)
    return _core.dim_factors(shardax.make_jaxpr(fun)(*zeros))[0]


def test_factors_of_some_ops():
    uses, (left, right), out = factors(
        lambda a, b: shardax.lax.dot_general(a, b, (((2,), (1,)), ((0,), (0,)))),
        (3, 4, 5),
        (3, 5, 6),
    )
    assert (left, right, out) == (
        ((0,), (2,), (1,)),
        ((0,), (1,), (3,)),
        ((0,), (2,), (3,)),
    )
    assert uses == (("parallel", 3), ("reduced", 5), ("parallel", 4), ("parallel", 6))

    def reshaped(before, after):
        uses, (own,), out = factors(lambda a: shardax.lax.reshape(a, after), before)
        return uses, own, out

    parallel = [("parallel", n) for n in (2, 3, 4)]
    assert reshaped((6, 4), (2, 3, 4)) == (tuple(parallel), ((0, 1), (2,)), ((0,), (1,), (2,)))
    assert reshaped((2, 1, 3), (6,)) == (tuple(parallel[:2]), ((0,), (), (1,)), ((0, 1),))
    assert reshaped((4, 6), (8, 3)) == (
        (("parallel", 4), ("parallel", 2), ("parallel", 3)),
        ((0,), (1, 2)),
        ((0, 1), (2,)),
    )
    uses, own, out = reshaped((6, 4), (4, 6))
    assert uses[0] == ("parallel", 2) and {use for use, _ in uses[1:]} == {"whole"}
    assert own[0][0] == out[0][0] == 0

    uses, _, _ = factors(lambda a: shardax.lax.slice(a, (0, 1), (3, 4)), (3, 5))
    assert uses == (("parallel", 3), ("windowed", 3))


def test_factors_of_windows():
    lax = shardax.lax

    def windows(window, stride, padding, n=12):
        return factors(
            lambda x: lax.reduce_window(x, 0.0, lax.add, (1, window), (1, stride), padding), (5, n)
        )

    kept = ("parallel", 5)
    apart = (kept, ("parallel", 4), ("whole", 3)), (((0,), (1, 2)),), ((0,), (1,))
    assert windows(3, 3, "VALID") == windows(2, 3, "VALID") == apart
    overlapping = (kept, ("windowed", 12)), (((0,), (1,)),), ((0,), (1,))
    assert windows(3, 1, "SAME") == windows(1, 1, ((0, 0), (1, -1))) == overlapping
    assert windows(1, 1, "VALID")[0] == (kept, ("parallel", 12))

    uses, (lhs, rhs), out = factors(
        lambda x, w: lax.conv(x, w, (1, 2), "SAME"), (2, 3, 8, 8), (6, 3, 3, 1)
    )
    names = ["parallel", "windowed", "parallel", "whole", "parallel", "reduced", "whole", "whole"]
    assert uses == tuple(zip(names, (2, 8, 4, 2, 6, 3, 3, 1), strict=True))
    assert (lhs, rhs, out) == (
        ((0,), (5,), (1,), (2, 3)),
        ((4,), (5,), (6,), (7,)),
        ((0,), (4,), (1,), (2,)),
    )


def test_factors_of_windows_picked_by_indices():
    lax = shardax.lax
    x, rows = np.zeros((4, 6, 3), np.float32), np.zeros((4, 5, 1), np.int32)
    numbers = lax.GatherDimensionNumbers((2,), (1,), (1,), (0,), (0,))
    uses, (own, listed), out = factors(
        lambda x, i: lax.gather(x, i, numbers, (1, 1, 3), mode="clip"), x, rows
    )
    assert uses[:3] == (("parallel", 4), ("parallel", 5), ("parallel", 3))
    assert (own, listed, out) == (((0,), (3,), (2,)), ((0,), (1,), (4,)), ((0,), (1,), (2,)))

    numbers = lax.ScatterDimensionNumbers((2,), (1,), (1,), (0,), (0,))
    for put, use in ((lax.scatter_add, "reduced"), (lax.scatter, "whole")):
        uses, (own, listed, updates), out = factors(
            lambda x, i, u, put=put: put(x, i, u, numbers, mode="clip"), x, rows, (4, 5, 3)
        )
        assert uses[:4] == (("parallel", 4), (use, 5), ("parallel", 3), ("whole", 6))
        assert own == out == ((0,), (3,), (2,))
        assert (listed, updates) == (((0,), (1,), (4,)), ((0,), (1,), (2,)))


def test_keys_that_draw_together_are_not_parallel():
    def drawn(impl):
        keys = shardax.random.split(shardax.random.key(0, impl=impl), 4)
        params = {"bit_width": 32, "shape": (3,)}
        return factors(lambda k: shardax._core.bind("random_bits", (k,), **params), keys)

    assert drawn("threefry2x32")[0][0] == ("parallel", 4)
    assert drawn("rbg")[0][0] == drawn("unsafe_rbg")[0][0] == ("whole", 4)


def test_samples_of_ops_that_move_elements_are_described():
    with shardax.enable_x64():
        found = {case.values[0] for case in CASES if described(*case.values)}
    moving = {
        "broadcast_in_dim", "concatenate", "conv_general_dilated", "cumsum", "dot_general",
        "gather", "pad", "qr", "random_split", "reduce_sum", "reduce_window_max", "reshape", "rev",
        "scatter", "scatter-add", "select_and_scatter_add", "select_n", "slice", "squeeze", "stack",
        "top_k", "transpose", "unstack",
    }  # fmt: skip
    assert moving <= found
    assert len(found) > 100
