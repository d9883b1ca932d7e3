"""tests/ops/test_parts.py - every op on a device that has parts of its operands (ir/op.h, Parts).

The program of parts (analysis/partition.h), run over a mesh, gives what the op gives.
"""

import pathlib
import sys

import numpy as np
import pytest
import shardax
from shardax._core import api as _core
from shardax.sharding import AxisType, NamedSharding
from shardax.sharding import PartitionSpec as P

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from running import CASES, assert_same, call, leaves, main_dtype, operands  # noqa: E402

MESH = shardax.make_mesh((2, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)


def even(array):
    """The dimensions that two devices can have halves of."""
    return [d for d, n in enumerate(np.shape(array)) if n and n % 2 == 0]


def spec(array, *splits):
    entries = [None] * np.ndim(array)
    for dim, axis in splits:
        entries[dim] = axis
    return P(*entries)


def ways(args):
    """Specs of all operands: each split once, in its first dimension; the first one in its last;
    the first two along different dimensions."""
    first = [even(a)[:1] for a in args]
    yield [spec(a, *((d, "a") for d in dims)) for a, dims in zip(args, first)]
    last = even(args[0])[-1:]
    yield [spec(args[0], *((d, "b") for d in last)), *(spec(a) for a in args[1:])]
    if len(args) > 1:
        other = [(d, "b") for d in even(args[1])[-1:]]
        yield [
            spec(args[0], *((d, "b") for d in first[0])),
            spec(args[1], *other),
            *(spec(a) for a in args[2:]),
        ]


@pytest.mark.parametrize("name, sample", CASES)
def test_parts_give_the_whole(name, sample):
    args = operands(sample, main_dtype(sample))
    if not args:
        return
    with shardax.enable_x64():
        program = shardax.make_jaxpr(lambda *xs: call(name, sample, xs))(*args)
        want = leaves(shardax.core.jaxpr_as_fun(program)(*args))
        for specs in ways(args):
            if not any(axis for s in specs for axis in s):
                continue
            known = [NamedSharding(MESH, s)._description(np.ndim(a)) for s, a in zip(specs, args)]
            made = _core.partitioned(program, known)
            if made is not None:  # None: ops that map over devices themselves have parts already
                assert_same(leaves(shardax.core.jaxpr_as_fun(made)(*args)), want, exact=False)


def test_shifted_elements_are_not_padded_part_by_part():
    """A result of the operand's size, whose elements have moved from part to part."""
    x = np.arange(8, dtype=np.float32)
    program = shardax.make_jaxpr(lambda x: shardax.lax.pad(x, np.float32(0), [(1, -1, 0)]))(x)
    known = [NamedSharding(MESH, P("a"))._description(1)]
    made = _core.partitioned(program, known)
    out = shardax.core.jaxpr_as_fun(made)(x)[0]
    np.testing.assert_array_equal(out, np.concatenate([[0], x[:-1]]).astype(np.float32))
