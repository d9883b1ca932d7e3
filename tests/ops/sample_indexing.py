"""tests/ops/sample_indexing.py - samples of gather, scatter, slices, sorts and cumulative ops."""

import numpy as np
import references as ref
from sample_kinds import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    INEXACT,
    INT,
    NUMBER,
    Arg,
    Sample,
    gather,
    scan_like,
    scatter,
)

SCALARS = (Arg((), dtype="int32", values=1), Arg((), dtype="int32", values=9))

SAMPLES = {
    # indexing
    "gather": (
        gather("clip", (1, 4, 1, 9, -2), lambda x, i: x[np.clip(i, 0, 4)]),
        gather("fill", (1, 4, 1, 0), lambda x, i: x[i]),
        gather("promise_in_bounds", (3, 3, 0), lambda x, i: x[i]),
    ),
    "scatter": scatter(lambda old, new: new, ANY[:-2]),
    "scatter-add": scatter(np.add, NUMBER[:-1], tolerance=2),
    "scatter-sub": scatter(np.subtract, tolerance=2),
    "scatter-mul": scatter(np.multiply, rows=((1,), (4,)), unique=True, tolerance=2),
    "scatter-min": scatter(np.minimum),
    "scatter-max": scatter(np.maximum),
    "dynamic_slice": Sample(
        ref.dynamic_slice, (Arg((5, 6)), *SCALARS), {"slice_sizes": (2, 3)}, ANY
    ),
    "dynamic_update_slice": Sample(
        ref.dynamic_update_slice, (Arg((5, 6)), Arg((2, 3)), *SCALARS), {}, ANY
    ),
    # order
    "sort": (
        Sample(
            lambda x, **p: ref.stable_sort(x, **p)[0],
            (Arg((5, 7)),),
            {"dimension": 0, "num_keys": 1, "is_stable": True},
            BOOL + INT + FLOAT,
        ),
        Sample(
            ref.stable_sort,
            (Arg((2, 50), (0, 3), "int32"), Arg((2, 50)), Arg((2, 50))),
            {"dimension": 1, "num_keys": 2, "is_stable": True},
            FLOAT + ("int8",),
        ),
        Sample(
            lambda x, **p: ref.stable_sort(x, **p)[0],
            (Arg((2, 3000)),),
            {"dimension": 1, "num_keys": 1, "is_stable": True},
            ("float32", "float64", "int8"),
            grad=(),
        ),
    ),
    "isin": (
        Sample(
            np.isin,
            (Arg((3, 40)), Arg((21,), values=tuple(range(-10, 11)))),
            dtypes=BOOL + INT + INEXACT,
            grad=(),
        ),
        Sample(np.isin, (Arg((0,)), Arg((20,))), grad=()),
    ),
    "nonzero": tuple(
        Sample(ref.nonzero, (Arg((3, 40)),), {"size": size}, BOOL, grad=()) for size in (0, 7, 45)
    ),
    "top_k": Sample(
        ref.top_k, (Arg((3, 70)),), {"k": 4, "axis": 1}, ("float32", "float64", "int32")
    ),
    "argmax": tuple(
        Sample(
            lambda x, axes, **_: np.argmax(x, axes[0]),
            (Arg((3, 70)),),
            {"axes": (a,), "index_dtype": "int32"},
            BOOL + INT + FLOAT,
            (),
        )
        for a in (0, 1)
    ),
    "argmin": tuple(
        Sample(
            lambda x, axes, **_: np.argmin(x, axes[0]),
            (Arg((3, 70)),),
            {"axes": (a,), "index_dtype": "int32"},
            BOOL + INT + FLOAT,
            (),
        )
        for a in (0, 1)
    ),
    "cumsum": scan_like(np.add, tolerance=8),
    "cumprod": scan_like(np.multiply, INT + FLOAT, tolerance=16),
    "cummax": scan_like(np.maximum, INT + FLOAT),
    "cummin": scan_like(np.minimum, INT + FLOAT),
    "cumlogsumexp": (
        *scan_like(np.logaddexp, FLOAT, tolerance=8),
        Sample(
            ref.running_logsumexp,
            (Arg((2, 5, 3), (-2, 2)),),
            {"axis": 1, "reverse": True},
            COMPLEX,
            tolerance=16,
        ),
    ),
}
