"""tests/kernels/test_math_accuracy.py - errors of elementwise functions, in last places.

float32 against NumPy's float64, float64 against its longdouble, on bit patterns spread over all
finite numbers and on a dense part of the domain. A bound is the error measured, rounded up.
"""

import math

import numpy as np
import pytest
import shardax
from shardax import lax

erf, erfc = (np.vectorize(f, otypes=[float]) for f in (math.erf, math.erfc))
# name: (function, reference, dense range, bound for float32, for float64 or None: no reference)
CASES = {
    "exp": (lax.exp, np.exp, (-104, 89), 1, 1),
    "exp2": (lax.exp2, np.exp2, (-150, 128), 0.9, 0.9),
    "expm1": (lax.expm1, np.expm1, (-18, 89), 1.4, 1.5),
    "log": (lax.log, np.log, (0, 4), 0.8, 0.9),
    "log1p": (lax.log1p, np.log1p, (-1, 4), 1.4, 0.8),
    "logistic": (lax.logistic, lambda x: 1 / (1 + np.exp(-x)), (-90, 20), 2, 2.2),
    "sin": (lax.sin, np.sin, (-30, 30), 1.5, 0.8),
    "cos": (lax.cos, np.cos, (-30, 30), 1.5, 0.8),
    "tan": (lax.tan, np.tan, (-30, 30), 0.6, 2.2),
    "asin": (lax.asin, np.arcsin, (-1, 1), 1.9, 0.6),
    "acos": (lax.acos, np.arccos, (-1, 1), 1.1, 0.6),
    "atan": (lax.atan, np.arctan, (-9, 9), 1.2, 0.6),
    "sinh": (lax.sinh, np.sinh, (-89, 89), 1.4, 1.7),
    "cosh": (lax.cosh, np.cosh, (-89, 89), 1.4, 1.4),
    "tanh": (lax.tanh, np.tanh, (-10, 10), 2.2, 2.3),
    "asinh": (lax.asinh, np.arcsinh, (-9, 9), 0.51, 1.7),
    "acosh": (lax.acosh, np.arccosh, (1, 9), 0.51, 2.1),
    "atanh": (lax.atanh, np.arctanh, (-1, 1), 0.51, 1.7),
    "sqrt": (lax.sqrt, np.sqrt, (0, 9), 0.5, 0.5),
    "rsqrt": (lax.rsqrt, lambda x: 1 / np.sqrt(x), (0, 9), 1.5, 1.5),
    "cbrt": (lax.cbrt, np.cbrt, (-9, 9), 0.5, 0.5),
    "erf": (lax.erf, erf, (-5, 5), 0.8, None),
    "erfc": (lax.erfc, erfc, (-5, 11), 1.7, None),
}


def error(name, dtype):
    function, reference, (low, high), _, _ = CASES[name]
    bits, step = ("uint32", 16411) if dtype == np.float32 else ("uint64", 16411 * 2**34)
    spread = np.arange(0, 2 ** np.iinfo(bits).bits, step, dtype=bits).view(dtype)
    spread = spread[np.isfinite(spread)]
    x = np.concatenate([spread, np.linspace(low, high, 200_003).astype(dtype)])
    wide = np.float64 if dtype == np.float32 else np.longdouble
    with np.errstate(all="ignore"):
        want = reference(x.astype(wide))
        rounded = want.astype(dtype)
    with shardax.enable_x64(True):
        got = np.asarray(function(x))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
    finite = np.isfinite(rounded)
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    unit = np.maximum(np.spacing(np.abs(rounded[finite])), np.finfo(dtype).smallest_subnormal)
    off = np.abs(got[finite].astype(wide) - want[finite]) / unit
    return float(off.max()), x[finite][off.argmax()]


@pytest.mark.parametrize("name", CASES)
def test_error(name):
    *_, single, double = CASES[name]
    for dtype, bound in ((np.float32, single), (np.float64, double)):
        if bound is not None:
            largest, at = error(name, dtype)
            assert largest <= bound, f"{largest:.2f} at {at!r} ({dtype.__name__})"
