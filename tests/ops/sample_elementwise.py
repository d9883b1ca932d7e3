"""tests/ops/sample_elementwise.py - samples of ops on numbers: arithmetic, functions, bits."""

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
    binary,
    bitwise,
    compare,
    complement,
    unary,
)

SAMPLES = {
    # arithmetic
    "add": binary(np.add),
    "add_any": binary(np.add),
    "sub": binary(np.subtract),
    "mul": binary(np.multiply),
    "div": binary(ref.divide, second=(1, 3)),
    "rem": binary(np.fmod, dtypes=INT + FLOAT, second=(1, 3), specials=False),
    "max": binary(np.maximum, dtypes=INT + FLOAT),
    "min": binary(np.minimum, dtypes=INT + FLOAT),
    "neg": unary(np.negative, dtypes=NUMBER),
    "sign": unary(ref.sign, dtypes=INT + INEXACT, specials=False),
    "abs": unary(np.abs, dtypes=("int8", "int32") + INEXACT),
    "square": unary(np.square, dtypes=NUMBER, tolerance=2),
    "integer_pow": (
        unary(lambda x, y: x**y, params={"y": 3}, dtypes=NUMBER, tolerance=4),
        unary(lambda x, y: x ** float(y), (0.5, 2), params={"y": -2}, dtypes=INEXACT, tolerance=4),
    ),
    # transcendental
    "exp": unary(np.exp, tolerance=2),
    "exp2": unary(np.exp2, tolerance=2),
    "expm1": unary(np.expm1, tolerance=2),
    "log": unary(np.log, (0.05, 4), tolerance=2),
    "log1p": unary(np.log1p, (-0.9, 4), tolerance=2),
    "logistic": unary(ref.logistic, tolerance=2),
    "sin": unary(np.sin, tolerance=2),
    "cos": unary(np.cos, tolerance=2),
    "tan": unary(np.tan, (-1, 1), tolerance=4, specials=False),
    "asin": unary(np.arcsin, (-0.9, 0.9), tolerance=2),
    "acos": unary(np.arccos, (-0.9, 0.9), tolerance=2),
    "atan": unary(np.arctan, tolerance=2, specials=False),
    "atan2": binary(np.arctan2, dtypes=FLOAT, tolerance=2),
    "sinh": unary(np.sinh, tolerance=4),
    "cosh": unary(np.cosh, tolerance=4),
    "tanh": unary(np.tanh, tolerance=4, specials=False),
    "asinh": unary(np.arcsinh, tolerance=4, specials=False),
    "acosh": unary(np.arccosh, (1.1, 4), tolerance=4, specials=False),
    "atanh": unary(np.arctanh, (-0.9, 0.9), tolerance=4, specials=False),
    "sqrt": unary(np.sqrt, (0.05, 4), tolerance=2),
    "rsqrt": unary(lambda x: 1 / np.sqrt(x), (0.05, 4), tolerance=2),
    "cbrt": unary(np.cbrt, (0.1, 3), FLOAT, tolerance=2),
    "pow": (
        binary(np.power, (0.1, 3), INEXACT, (-2, 2), tolerance=8),
        Sample(
            lambda x, y: x ** y.astype(float),
            (Arg(domain=(-3, 3)), Arg(dtype="int32", domain=(-2, 3))),
            dtypes=INEXACT,
            elementwise=True,
            specials=False,
            tolerance=8,
        ),
    ),
    "erf": unary(ref.erf, dtypes=FLOAT, tolerance=4),
    "erfc": unary(ref.erfc, dtypes=FLOAT, tolerance=8),
    "erf_inv": unary(ref.erf_inv, (-0.95, 0.95), FLOAT, tolerance=8),
    "lgamma": unary(ref.lgamma, (0.2, 5), FLOAT, tolerance=16),
    "digamma": unary(ref.digamma, (0.2, 5), FLOAT, tolerance=32),
    "polygamma": Sample(
        ref.polygamma,
        (Arg(values=((0, 1, 2, 3),) * 3), Arg(domain=(0.5, 5))),
        dtypes=FLOAT,
        elementwise=True,
        specials=False,
        grad=(1,),
        tolerance=32,
    ),
    "random_gamma_grad": binary(
        ref.gamma_slope,
        (0.6, 3),
        FLOAT,
        (0.3, 3),
        specials=False,
        tolerance=512,
        twice=(1,),
    ),
    "random_gamma_grad_a": binary(
        ref.gamma_slope_by_a,
        (0.6, 3),
        FLOAT,
        (0.3, 3),
        grad=(),
        specials=False,
        tolerance=1 << 24,  # of the differences
        refuses_jvp="not implemented",
    ),
    "igamma": binary(
        ref.gamma_share, (0.6, 3), FLOAT, (0.3, 3), specials=False, tolerance=64, twice=(1,)
    ),
    "igammac": binary(
        ref.gamma_rest, (0.6, 3), FLOAT, (0.3, 3), specials=False, tolerance=64, twice=(1,)
    ),
    "igamma_grad_a": binary(
        ref.gamma_share_by_a, (0.6, 3), FLOAT, (0.3, 3), grad=(1,), specials=False, tolerance=512
    ),
    "regularized_incomplete_beta": Sample(
        ref.beta_share,
        (Arg(domain=(0.6, 3)), Arg(domain=(0.6, 3)), Arg(domain=(0.1, 0.7))),
        dtypes=FLOAT,
        grad=(2,),
        elementwise=True,
        specials=False,
        tolerance=64,
    ),
    "bessel_i0e": unary(ref.bessel(0), (-4, 4), FLOAT, specials=False, tolerance=16),
    "bessel_i1e": unary(ref.bessel(1), (-4, 4), FLOAT, specials=False, tolerance=16),
    "gamma_variate": tuple(
        Sample(
            lambda a, x, log_space: x + 0 * a,
            (Arg(domain=(0.3, 5)), Arg(domain=(0.2, 6))),
            params={"log_space": log_space},
            elementwise=True,
            specials=False,
            grad=(1,),
        )
        for log_space in (False, True)
    ),
    "zeta": binary(ref.zeta, (1.5, 4), FLOAT, (0.5, 4), specials=False, tolerance=16),
    # rounding and parts
    "floor": unary(np.floor, dtypes=FLOAT, grad=()),
    "ceil": unary(np.ceil, dtypes=FLOAT, grad=()),
    "round": tuple(
        unary(ref.round_away, (-9, 9), FLOAT, params={"rounding_method": m}, grad=())
        for m in (0, 1)
    ),
    "is_finite": unary(np.isfinite, dtypes=FLOAT, grad=()),
    "nextafter": binary(np.nextafter, dtypes=("float64",), grad=(), refuses_jvp="not implemented"),
    "real": unary(np.real, dtypes=COMPLEX, specials=False),
    "imag": unary(np.imag, dtypes=COMPLEX, specials=False),
    "conj": unary(np.conj, dtypes=COMPLEX, specials=False),
    "complex": binary(lambda x, y: x + 1j * y, dtypes=("float32", "float64"), specials=False),
    # comparison, logic, selection, conversion
    "eq": compare(np.equal, ANY),
    "ne": compare(np.not_equal, ANY),
    "lt": compare(np.less),
    "le": compare(np.less_equal),
    "gt": compare(np.greater),
    "ge": compare(np.greater_equal),
    "and": bitwise(np.bitwise_and),
    "or": bitwise(np.bitwise_or),
    "xor": bitwise(np.bitwise_xor),
    "not": unary(complement, (-9, 9), BOOL + INT, grad=()),
    "select_n": Sample(
        lambda w, x, y: np.where(w, y, x),
        (Arg(dtype="bool"), Arg(), Arg()),
        dtypes=ANY,
        elementwise=True,
    ),
    "clamp": Sample(
        lambda low, x, high: np.minimum(np.maximum(x, low), high),
        (Arg(domain=(-2, -1)), Arg(), Arg(domain=(1, 2))),
        dtypes=INT + FLOAT,
        elementwise=True,
    ),
    "convert_element_type": (
        unary(lambda x, **_: x, dtypes=FLOAT, params={"new_dtype": "float64", "weak_type": False}),
        unary(
            lambda x, **_: x.astype(np.int32),
            dtypes=FLOAT,
            params={"new_dtype": "int32", "weak_type": False},
            specials=False,
            grad=(),
        ),
    ),
    # bits
    "shift_left": binary(ref.shift("left"), (-3, 40), INT, grad=()),
    "shift_right_logical": binary(ref.shift("logical"), (-90, 40), INT, (0, 40), grad=()),
    "shift_right_arithmetic": binary(ref.shift("arithmetic"), (-90, 40), INT, (0, 40), grad=()),
    "mulhi": binary(ref.mulhi, (-90, 90), INT, grad=()),
    "population_count": unary(ref.population_count, (-90, 90), INT, grad=()),
    "clz": unary(ref.clz, (-90, 90), INT, grad=()),
    "bitcast_convert_type": (
        Sample(
            lambda x, **_: x.view(np.int32),
            (Arg(dtype="float32"),),
            {"new_dtype": "int32"},
            ("float32",),
            (),
            native=True,
        ),
        Sample(
            lambda x, **_: x.reshape(3, 4, 1).view(np.uint8),
            (Arg(dtype="float32"),),
            {"new_dtype": "uint8"},
            ("float32",),
            (),
            native=True,
        ),
        Sample(
            lambda x, **_: x.view(np.uint32)[:, 0],
            (Arg(dtype="uint8", domain=(0, 255)),),
            {"new_dtype": "uint32"},
            ("uint8",),
            (),
        ),
    ),
    "reduce_precision": unary(
        ref.reduce_precision,
        params={"exponent_bits": 8, "mantissa_bits": 4},
        dtypes=("float32", "float64"),
        grad=(),
        specials=False,
    ),
}
