"""tests/ops/sample_products.py - samples of products, triangular systems, Fourier transforms."""

import numpy as np
import references as ref
from sample_kinds import COMPLEX, Arg, Sample

SAMPLES = {
    "triangular_solve": tuple(
        Sample(
            ref.triangular_solve,
            (Arg((2, 3, 3), (0.5, 2)), Arg((2, *shape))),
            {
                "left_side": left,
                "lower": lower,
                "transpose_a": transpose,
                "conjugate_a": conjugate,
                "unit_diagonal": unit,
            },
            ("float32", "float64", *COMPLEX),
            tolerance=256,
        )
        for left, lower, transpose, conjugate, unit, shape in (
            (True, True, False, False, False, (3, 2)),
            (True, False, True, True, False, (3, 4)),
            (False, True, True, False, True, (2, 3)),
            (False, False, False, True, False, (4, 3)),
        )
    ),
    "cholesky": Sample(
        lambda a: np.linalg.cholesky(ref.definite(a)),
        (Arg((2, 3, 3), (-1, 1)),),
        dtypes=("float32", "float64", *COMPLEX),
        call=lambda sx, a: sx.lax.linalg.cholesky(ref.definite(a)),
        tolerance=64,
    ),
    "fft": tuple(
        Sample(
            ref.fourier,
            (Arg((2, *(lengths[:-1] + (last,) if kind == 3 else lengths))),),
            {"fft_type": kind, "fft_lengths": lengths},
            ("float32", "float64") if kind == 2 else COMPLEX,
            tolerance=16,
        )
        for kind in range(4)
        for lengths, last in (((6,), 4), ((3, 5), 3), ((37,), 19))
    ),
    "dot_general": (
        Sample(
            lambda x, y, **_: x @ y,
            (Arg((3, 4)), Arg((4, 5))),
            {"lhs_contract": (1,), "rhs_contract": (0,), "lhs_batch": (), "rhs_batch": ()},
            ("float32", "float64", "complex64", "int32"),
            tolerance=8,
            exact=False,
        ),
        Sample(
            lambda x, y, **_: np.einsum("bik,kbj->bij", x, y),
            (Arg((2, 3, 4)), Arg((4, 2, 5))),
            {"lhs_contract": (2,), "rhs_contract": (0,), "lhs_batch": (0,), "rhs_batch": (1,)},
            ("float32", "float64"),
            tolerance=8,
            exact=False,
        ),
    ),
}
