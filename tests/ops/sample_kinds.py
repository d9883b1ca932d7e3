"""tests/ops/sample_kinds.py - samples, and the kinds of them that many ops share."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import references as ref

FLOAT = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
INT = ("int8", "int32", "int64", "uint8", "uint32")
BOOL = ("bool",)
INEXACT = FLOAT + COMPLEX
NUMBER = INT + INEXACT
ANY = BOOL + NUMBER


@dataclasses.dataclass(frozen=True)
class Arg:
    """An operand: its shape, the range of its values, and its dtype (None: the one under test)."""

    shape: tuple = (3, 4)
    domain: tuple = (-3, 3)
    dtype: str | None = None
    values: tuple | None = None  # instead of random ones


@dataclasses.dataclass(frozen=True)
class Sample:
    """An op on operands. `reference` takes NumPy arrays, floats in float64, and the parameters."""

    reference: Callable
    args: tuple = (Arg(),)
    params: dict = dataclasses.field(default_factory=dict)
    dtypes: tuple = FLOAT
    grad: tuple | None = (
        None  # positions of operands with a derivative; None: all of the dtype under test
    )
    twice: tuple | None = None  # those with a second derivative; None: all with a derivative
    elementwise: bool = False  # operands may have any shape
    specials: bool = True  # elementwise: NaN, infinities and zeros too
    tolerance: float = 1  # times that of the dtype
    batched: tuple | None = None  # positions that vmap may batch; None: all
    call: Callable | None = None  # f(shardax, *operands) instead of binding the op by name
    exact: bool = True  # jit and layouts give the same bits
    refuses_jvp: str = ""  # the error of forward-mode differentiation
    native: bool = False  # the reference takes floats as they are


def positive(low=0.05):
    return (Arg(domain=(low, 4)),)


def unary(reference, domain=(-3, 3), dtypes=INEXACT, **rest):
    return Sample(reference, (Arg(domain=domain),), dtypes=dtypes, elementwise=True, **rest)


def binary(reference, domain=(-3, 3), dtypes=NUMBER, second=None, **rest):
    args = (Arg(domain=domain), Arg(domain=second or domain))
    return Sample(reference, args, dtypes=dtypes, elementwise=True, **rest)


def compare(reference, dtypes=BOOL + INT + FLOAT):
    return binary(reference, dtypes=dtypes, grad=())


def bitwise(reference, dtypes=BOOL + INT):
    return binary(reference, domain=(-9, 9), dtypes=dtypes, grad=())


def reduction(reference, dtypes=NUMBER, **rest):
    return tuple(
        Sample(
            lambda x, axes: reference(x, axis=tuple(axes)),
            (Arg((2, 3, 4), (-2, 2)),),
            {"axes": axes},
            dtypes,
            **rest,
        )
        for axes in ((1,), (0, 2), (0, 1, 2))
    )


def scan_like(function, dtypes=NUMBER, domain=(-2, 2), **rest):
    return tuple(
        Sample(
            ref.running(function),
            (Arg((2, 5, 3), domain),),
            {"axis": axis, "reverse": reverse},
            dtypes,
            **rest,
        )
        for axis, reverse in ((1, False), (2, True))
    )


ROWS = {
    "update_window_dims": (1,),
    "inserted_window_dims": (0,),
    "scatter_dims_to_operand_dims": (0,),
    "operand_batching_dims": (),
    "scatter_indices_batching_dims": (),
    "mode": "fill",
    "indices_are_sorted": False,
    "unique_indices": False,
}
GATHER_ROWS = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
    "operand_batching_dims": (),
    "start_indices_batching_dims": (),
    "slice_sizes": (1, 4),
    "fill_value": None,
    "indices_are_sorted": False,
    "unique_indices": False,
}


def scatter(function, dtypes=INT + FLOAT, rows=((1,), (4,), (1,), (9,)), unique=False, **rest):
    index = Arg((len(rows), 1), dtype="int32", values=rows)
    args = (Arg((5, 4)), index, Arg((len(rows), 4)))
    params = {**ROWS, "unique_indices": unique}
    return Sample(ref.scatter_rows(function), args, params, dtypes, **rest)


def gather(mode, rows, reference):
    index = Arg((len(rows), 1), dtype="int32", values=tuple((r,) for r in rows))
    return Sample(
        lambda x, i, **_: reference(x, i[:, 0]),
        (Arg((5, 4)), index),
        {**GATHER_ROWS, "mode": mode},
        ANY[:-2],
    )


def mapped(reference, call, **rest):
    """A collective over the axis 'i' of four devices; operands and references are stacked."""

    def run(shardax, *operands):
        return shardax.pmap(lambda *v: call(shardax, *v), axis_name="i")(*operands)

    return Sample(
        reference, (Arg((4, 4)),), dtypes=("float32", "float64", "int32"), call=run, **rest
    )


def sharded(reference, call, out=(), reduced=(), kinds="Auto", **rest):
    """A collective over the axis 'i' of a mesh of four devices, each of which has a row. `out` are
    the axes that split the result, `reduced` those over which it is reduced."""

    def run(shardax, *operands):
        spec = shardax.sharding.PartitionSpec
        mesh = shardax.make_mesh((4,), ("i",), (getattr(shardax.sharding.AxisType, kinds),))
        if kinds == "Explicit":  # operands are split as in_specs say
            split = shardax.sharding.NamedSharding(mesh, spec("i"))
            operands = [shardax.sharding.reshard(operand, split) for operand in operands]
        f = shardax.shard_map(
            lambda v: call(shardax, v[0]),
            mesh=mesh,
            in_specs=spec("i"),
            out_specs=spec(*out, reduced=set(reduced)),
        )
        return f(*operands)

    return Sample(
        reference, (Arg((4, 4)),), dtypes=("float32", "float64", "int32"), call=run, **rest
    )


def same_everywhere(reference):
    return lambda x: np.broadcast_to(reference(x), x.shape)


def control(reference, call, args=(Arg((3, 4)),), **rest):
    return Sample(reference, args, dtypes=("float32", "float64"), call=call, exact=False, **rest)


def complement(x):
    return ~x
