"""shardax/_stablehlo/names.py - StableHLO names of ops and text of their parameters."""

import re

import numpy as np

from shardax._core import api as _core

# Names of CHLO, StableHLO's companion of functions, start with its name.
ELEMENTWISE = {
    "abs": "abs",
    "acos": "chlo.acos",
    "acosh": "chlo.acosh",
    "add": "add",
    "add_any": "add",
    "and": "and",
    "asin": "chlo.asin",
    "asinh": "chlo.asinh",
    "atan": "chlo.atan",
    "atan2": "atan2",
    "atanh": "chlo.atanh",
    "bessel_i1e": "chlo.bessel_i1e",
    "cbrt": "cbrt",
    "ceil": "ceil",
    "clamp": "clamp",
    "clz": "count_leading_zeros",
    "complex": "complex",
    "conj": "chlo.conj",
    "cos": "cosine",
    "cosh": "chlo.cosh",
    "digamma": "chlo.digamma",
    "div": "divide",
    "erf": "chlo.erf",
    "erf_inv": "chlo.erf_inv",
    "erfc": "chlo.erfc",
    "exp": "exponential",
    "expm1": "exponential_minus_one",
    "floor": "floor",
    "imag": "imag",
    "is_finite": "is_finite",
    "lgamma": "chlo.lgamma",
    "log": "log",
    "log1p": "log_plus_one",
    "logistic": "logistic",
    "max": "maximum",
    "min": "minimum",
    "mul": "multiply",
    "neg": "negate",
    "nextafter": "chlo.next_after",
    "not": "not",
    "or": "or",
    "polygamma": "chlo.polygamma",
    "population_count": "popcnt",
    "pow": "power",
    "real": "real",
    "rem": "remainder",
    "round": "round_nearest_afz",
    "rsqrt": "rsqrt",
    "shift_left": "shift_left",
    "shift_right_arithmetic": "shift_right_arithmetic",
    "shift_right_logical": "shift_right_logical",
    "sign": "sign",
    "sin": "sine",
    "sinh": "chlo.sinh",
    "sqrt": "sqrt",
    "sub": "subtract",
    "tan": "tan",
    "tanh": "tanh",
    "xor": "xor",
    "zeta": "chlo.zeta",
}
COMPARISONS = {"eq": "EQ", "ne": "NE", "lt": "LT", "le": "LE", "gt": "GT", "ge": "GE"}
# Their results are their operands, for the compiler.
IDENTITIES = ["name", "pbroadcast", "pvary", "stop_gradient"]


def _lowest(dtype):
    kind = np.dtype(dtype).kind
    if kind in "iu":
        return np.asarray(np.iinfo(dtype).min, dtype)
    return np.asarray(False) if kind == "b" else np.asarray(-np.inf, _known(dtype))


def _highest(dtype):
    kind = np.dtype(dtype).kind
    if kind in "iu":
        return np.asarray(np.iinfo(dtype).max, dtype)
    return np.asarray(True) if kind == "b" else np.asarray(np.inf, _known(dtype))


def _known(dtype):
    return _core.ShapedArray((), dtype).dtype


# (the op that joins two elements, the value that changes nothing)
REDUCTIONS = {
    "reduce_sum": ("add", lambda dtype: np.zeros((), _known(dtype))),
    "reduce_prod": ("multiply", lambda dtype: np.ones((), _known(dtype))),
    "reduce_max": ("maximum", _lowest),
    "reduce_min": ("minimum", _highest),
    "reduce_and": ("and", _highest),
    "reduce_or": ("or", lambda dtype: np.zeros((), _known(dtype))),
    "reduce_xor": ("xor", lambda dtype: np.zeros((), _known(dtype))),
}


def precisions(params):
    """The names of the precisions of both operands of a product."""
    names = re.findall(r"Precision\.([A-Z]+)", str(params.get("precision")))
    return {"precision": names if len(names) == 2 else ["DEFAULT"] * 2}


def conv_labels(spec, first):
    """The dimensions of the batch, the features, the first of space ..., in their order."""
    named = dict(zip(spec, [*first, *range(len(spec) - 2)]))
    return [str(named[i]) for i in range(len(spec))]


def index_dims(params):
    """The lists of dimensions among an op's parameters."""
    return {k: v for k, v in params["dimension_numbers"]._asdict().items() if v}
