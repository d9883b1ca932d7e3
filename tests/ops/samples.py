"""tests/ops/samples.py - for each op a NumPy reference, operands and parameters.

Adding an op means one line here.
"""

import numpy as np
import references as ref
import sample_convolutions
import sample_programs as programs
import sample_special
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
    control,
    gather,
    mapped,
    reduction,
    same_everywhere,
    scan_like,
    scatter,
    sharded,
    unary,
)
from sample_matrices import MATRICES

KEY = Arg((2,), dtype="uint32", values=(7, 11))
SCALARS = (Arg((), dtype="int32", values=1), Arg((), dtype="int32", values=9))

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
    # random
    "threefry2x32": Sample(
        ref.threefry, (Arg((3, 4), (0, 2**31), "uint32"),) * 4, {}, ("uint32",), ()
    ),
    "philox2x32": Sample(
        ref.cipher(ref.philox_2x32, 2),
        (Arg((3, 4), (0, 2**31), "uint32"),) * 3,
        {},
        ("uint32",),
        (),
    ),
    "philox4x32": Sample(
        ref.cipher(ref.philox_4x32, 4),
        (Arg((3, 4), (0, 2**31), "uint32"),) * 6,
        {},
        ("uint32",),
        (),
    ),
    "threefry4x32": Sample(
        ref.cipher(ref.threefry_4x32, 4),
        (Arg((3, 4), (0, 2**31), "uint32"),) * 8,
        {},
        ("uint32",),
        (),
    ),
    "random_bits": tuple(
        Sample(ref.random_bits, (KEY,), {"bit_width": w, "shape": (5, 7)}, ("uint32",), ())
        for w in (8, 16, 32, 64)
    ),
    "random_split": Sample(ref.random_split, (KEY,), {"shape": (3,)}, ("uint32",), ()),
    "random_fold_in": Sample(
        ref.random_fold_in, (KEY, Arg((), dtype="int32", values=5)), {}, ("uint32",), ()
    ),
    "random_seed": Sample(
        lambda s: np.stack([np.zeros_like(s), s], -1).astype(np.uint32),
        (Arg((3,), (-9, 9), "int32"),),
        {},
        ("int32",),
        (),
        call=lambda sx, s: sx._core.bind(
            "random_unwrap", (sx._core.bind("random_seed", (s,), impl=sx.random.key_dtype()),)
        ),
    ),
    "random_wrap": Sample(
        lambda k: k,
        (Arg((3, 2), (0, 99), "uint32"),),
        {},
        ("uint32",),
        (),
        call=lambda sx, k: sx._core.bind(
            "random_unwrap", (sx._core.bind("random_wrap", (k,), impl=sx.random.key_dtype()),)
        ),
    ),
    # Under vmap the first state draws for all: JAX's way, checked in test_random_streams.py.
    "rng_bit_generator": tuple(
        Sample(
            lambda k, dtype=dtype: ref.philox(k, (5, 3), dtype),
            (Arg((4,), dtype="uint32", values=(7, 11, 0xFFFFFFFF, 5)),),
            {},
            ("uint32",),
            (),
            batched=(),
            call=lambda sx, k, dtype=dtype: sx.lax.rng_bit_generator(k, (5, 3), dtype)[1],
        )
        for dtype in ("uint8", "uint32", "uint64")
    ),
    # collectives: four devices, stacked
    "psum": mapped(
        same_everywhere(lambda x: x.sum(0)),
        lambda sx, x: sx.lax.psum(x, "i"),
        tolerance=4,
        exact=False,
    ),
    "shard_map": sharded(lambda x: x.sum(1), lambda sx, x: x.sum(keepdims=True), "i"),
    "psum_invariant": sharded(
        lambda x: x.sum(0), lambda sx, x: sx.lax.psum(x, "i"), (), tolerance=4, exact=False
    ),
    "unreduced_psum": sharded(lambda x: x.sum(0), programs.summed_terms, ()),
    "vary_unreduced_cast": sharded(lambda x: x.sum(0), programs.summed_terms, ()),
    "preduced": sharded(lambda x: x, programs.reduced_and_back, ("i",)),
    "reduced_vary_cast": sharded(lambda x: x, programs.reduced_and_back, ("i",)),
    "reduced_value": sharded(
        lambda x: x.ravel(), programs.gathered_reduced, reduced=("i",), kinds="Explicit"
    ),
    "all_gather_reduced": sharded(
        lambda x: x.ravel(), programs.gathered_reduced, reduced=("i",), kinds="Explicit"
    ),
    "unreduced_reduce_scatter": sharded(lambda x: x.sum(0), programs.scattered_terms, ("i",)),
    "pmax": mapped(same_everywhere(lambda x: x.max(0)), lambda sx, x: sx.lax.pmax(x, "i")),
    "pmin": mapped(same_everywhere(lambda x: x.min(0)), lambda sx, x: sx.lax.pmin(x, "i")),
    "pargmax": mapped(
        same_everywhere(lambda x: x.argmax(0).astype(np.int32)),
        lambda sx, x: sx.lax.pargmax(x, "i"),
        grad=(),
    ),
    "pargmin": mapped(
        same_everywhere(lambda x: x.argmin(0).astype(np.int32)),
        lambda sx, x: sx.lax.pargmin(x, "i"),
        grad=(),
    ),
    "pbroadcast": mapped(
        same_everywhere(lambda x: x[2]), lambda sx, x: sx.lax.pbroadcast(x, "i", 2)
    ),
    "all_gather": mapped(lambda x: np.stack([x] * 4), lambda sx, x: sx.lax.all_gather(x, "i")),
    "all_gather_invariant": sharded(
        lambda x: x, lambda sx, x: sx.lax.all_gather(x, "i", to="invarying"), ()
    ),
    "all_to_all": mapped(lambda x: x.T, lambda sx, x: sx.lax.all_to_all(x, "i", 0, 0)),
    "reduce_scatter": mapped(
        lambda x: x.sum(0), lambda sx, x: sx.lax.psum_scatter(x, "i"), tolerance=4, exact=False
    ),
    "agree": mapped(same_everywhere(lambda x: x.sum(0)), programs.agreeing, tolerance=4),
    "ppermute": mapped(programs.shifted, programs.shift),
    "pvary": mapped(lambda x: x, lambda sx, x: sx.lax.pvary(x, "i")),
    "axis_index": mapped(
        lambda x: x + np.arange(4)[:, None].astype(x.dtype),
        lambda sx, x: x + sx.lax.axis_index("i").astype(x.dtype),
    ),
    # control
    "jit": control(lambda x: np.sin(x) * 2, lambda sx, x: sx.jit(lambda v: sx.numpy.sin(v) * 2)(x)),
    "composite": control(
        lambda x: np.sin(x) * 2, programs.composite, grad=(), refuses_jvp="composite"
    ),
    "pmap": control(lambda x: x * x, programs.pmap),
    "scan": control(programs.scan_reference, programs.scan, tolerance=8),
    "while": control(lambda x: x * 0.125, programs.while_loop, grad=()),
    "cond": control(np.cos, programs.cond, tolerance=4),
    "custom_jvp_call": control(lambda x: x * x, programs.custom_jvp),
    "custom_vjp_call": control(
        lambda x: x * x, programs.custom_vjp, grad=(), refuses_jvp="custom_vjp"
    ),
    "remat_opt": control(lambda x: x * x, programs.remat_opt),
    "custom_vmap_call": control(lambda x: x * x, programs.custom_vmap),
    "linear_call": control(lambda x: x * 2, programs.linear_call),
    "custom_linear_solve": control(lambda x: x * 2, programs.linear_solve),
    "remat2": control(lambda x: np.sin(x) ** 2, programs.checkpoint, tolerance=4),
    "partial_sums": control(lambda x: x, programs.terms_of_a_sum, (Arg((1, 3)),)),
    "sharding_constraint": control(lambda x: x * 2, programs.constrained),
    "device_put": control(lambda x: x * 2, programs.moved),
    "layout_constraint": control(lambda x: x * 2, programs.laid_out),
    "reshard": control(lambda x: x * 2, programs.resharded),
    "check": control(lambda x: x + x, programs.checked),
    "pure_callback": control(
        lambda x: x + x, programs.callback, grad=(), refuses_jvp="Pure callbacks"
    ),
    "io_callback": control(lambda x: x + x, programs.effects, grad=(), refuses_jvp="IO callbacks"),
}
SAMPLES |= sample_special.SAMPLES
SAMPLES |= MATRICES
SAMPLES |= sample_convolutions.SAMPLES
# Covered by another op's sample.
SAMPLES["custom_lin"] = SAMPLES["custom_vjp_call"]
SAMPLES["optimization_barrier"] = SAMPLES["remat2"]
SAMPLES["debug_callback"] = SAMPLES["io_callback"]
SAMPLES["inspect_sharding"] = SAMPLES["io_callback"]
SAMPLES["random_unwrap"] = SAMPLES["random_wrap"]
SAMPLES["random_clone"] = SAMPLES["random_wrap"]


def samples(name):
    """The samples of an op, as a tuple."""
    found = SAMPLES.get(name, ())
    return found if isinstance(found, tuple) else (found,)
