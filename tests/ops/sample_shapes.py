"""tests/ops/sample_shapes.py - samples of ops that rearrange arrays, and reductions."""

import numpy as np
import references as ref
from sample_kinds import ANY, BOOL, FLOAT, INT, NUMBER, Arg, Sample, reduction, unary

SAMPLES = {
    # layout
    "broadcast_in_dim": Sample(
        lambda x, **_: np.broadcast_to(x[:, None], (3, 2, 4)),
        (Arg(),),
        {"shape": (3, 2, 4), "broadcast_dimensions": (0, 2)},
        ANY,
    ),
    "reshape": Sample(
        lambda x, new_sizes: x.reshape(new_sizes), (Arg(),), {"new_sizes": (2, 6)}, ANY
    ),
    "transpose": Sample(
        lambda x, permutation: x.transpose(permutation),
        (Arg((2, 3, 4)),),
        {"permutation": (2, 0, 1)},
        ANY,
    ),
    "squeeze": Sample(
        lambda x, dimensions: x.squeeze(dimensions), (Arg((1, 3, 1)),), {"dimensions": (0, 2)}, ANY
    ),
    "slice": Sample(
        lambda x, **_: x[1:5:2, 2:4],
        (Arg((6, 4)),),
        {"start_indices": (1, 2), "limit_indices": (5, 4), "strides": (2, 1)},
        ANY,
    ),
    "rev": Sample(
        lambda x, dimensions: np.flip(x, dimensions), (Arg(),), {"dimensions": (0, 1)}, ANY
    ),
    "concatenate": Sample(
        lambda *parts, dimension: np.concatenate(parts, dimension),
        (Arg(), Arg((3, 2)), Arg((3, 1))),
        {"dimension": 1},
        ANY,
    ),
    "stack": Sample(
        lambda *parts, axis: np.stack(parts, axis), (Arg(), Arg(), Arg()), {"axis": 1}, ANY
    ),
    "unstack": Sample(
        lambda x, axis: tuple(np.moveaxis(x, axis, 0)), (Arg((4, 3)),), {"axis": 1}, ANY
    ),
    "pad": Sample(
        ref.pad,
        (Arg(), Arg(())),
        {"low": (1, 0), "high": (2, -1), "interior": (0, 1)},
        NUMBER,
        exact=False,
    ),
    "iota": Sample(
        lambda dtype, shape, dimension: np.broadcast_to(np.arange(3)[:, None], shape).astype(dtype),
        (),
        {"dtype": "int32", "shape": (3, 4), "dimension": 0},
        ("int32",),
    ),
    "name": Sample(lambda x, name: x, params={"name": "a"}, dtypes=FLOAT),
    "stop_gradient": unary(lambda x: x, dtypes=FLOAT, grad=()),
    # reductions
    "reduce_sum": reduction(np.sum, tolerance=8),
    "reduce_prod": reduction(np.prod, INT + FLOAT, tolerance=32),
    "reduce_max": reduction(np.max, INT + FLOAT),
    "reduce_min": reduction(np.min, INT + FLOAT),
    "reduce_and": reduction(np.all, BOOL, grad=()),
    "reduce_or": reduction(np.any, BOOL, grad=()),
}
