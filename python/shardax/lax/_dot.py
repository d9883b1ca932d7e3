"""shardax/lax/_dot.py - products of arrays, and the names of ways to compute them.

Sums are always in full precision (16-bit floats are added up in float32). A precision is shown by
make_jaxpr; of an algorithm the rounding of operands and the dtype of sums count.
"""

import enum
import re
from typing import NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.arrays import bind, in_one_program, operand_of
from shardax._devices.out_sharding import takes_out_sharding
from shardax.config import config
from shardax.dtypes import iinfo, issubdtype
from shardax.lax._layout import _ints

__all__ = [
    "DotAlgorithm",
    "DotAlgorithmPreset",
    "DotDimensionNumbers",
    "Precision",
    "PrecisionLike",
    "batch_matmul",
    "dot",
    "dot_general",
]

DotDimensionNumbers = tuple[tuple[tuple, tuple], tuple[tuple, tuple]]

_PRECISIONS = {
    "highest": "HIGHEST",
    "float32": "HIGHEST",
    "high": "HIGH",
    "bfloat16_3x": "HIGH",
    "tensorfloat32": "HIGH",
    "default": "DEFAULT",
    "bfloat16": "DEFAULT",
    "fastest": "DEFAULT",
    None: "DEFAULT",
}


class Precision(enum.Enum):
    """The precision that products are asked for; here everything is computed in full precision.

    Example:
      >>> lax.dot(jnp.ones(2), jnp.ones(2), precision=lax.Precision.HIGHEST)
      Array(2., dtype=float32)
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value):
        return cls[_PRECISIONS[value]] if value in _PRECISIONS else None

    def __repr__(self):
        return f"Precision.{self.name}"

    def __str__(self):
        return self.name


class DotAlgorithm(NamedTuple):
    """An algorithm for products: the dtypes to which operands are rounded, and that of sums.

    Example:
      >>> algorithm = lax.DotAlgorithm(jnp.bfloat16, jnp.bfloat16, jnp.float32)
      >>> lax.dot(jnp.ones(2), jnp.array([1.001, 1.0]), precision=algorithm)
      Array(2., dtype=float32)
    """

    lhs_precision_type: object
    rhs_precision_type: object
    accumulation_type: object
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Names of algorithms for products: the dtypes of the operands and of the sums.

    Example:
      >>> lax.dot(jnp.ones(2), jnp.array([1.001, 1.0]), precision="BF16_BF16_F32")
      Array(2.001, dtype=float32)
    """

    DEFAULT = enum.auto()
    ANY_F8_ANY_F8_F32 = enum.auto()
    ANY_F8_ANY_F8_F32_FAST_ACCUM = enum.auto()
    ANY_F8_ANY_F8_ANY = enum.auto()
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = enum.auto()
    F16_F16_F16 = enum.auto()
    F16_F16_F32 = enum.auto()
    BF16_BF16_BF16 = enum.auto()
    BF16_BF16_F32 = enum.auto()
    BF16_BF16_F32_X3 = enum.auto()
    BF16_BF16_F32_X6 = enum.auto()
    BF16_BF16_F32_X9 = enum.auto()
    TF32_TF32_F32 = enum.auto()
    TF32_TF32_F32_X3 = enum.auto()
    F32_F32_F32 = enum.auto()
    F64_F64_F64 = enum.auto()

    def __repr__(self):
        return f"DotAlgorithmPreset.{self.name}"

    def __str__(self):
        return self.name

    @property
    def supported_lhs_types(self):
        """The dtypes that operands may have; others are rounded to the first. None: any."""
        if self is DotAlgorithmPreset.DEFAULT or self.name.startswith("ANY_F8"):
            return None
        if self.name.startswith("F16"):
            return (np.float16,)
        if self.name in ("BF16_BF16_BF16", "BF16_BF16_F32"):
            return ("bfloat16", np.float32)
        return (np.float64,) if self.name.startswith("F64") else (np.float32,)

    @property
    def supported_rhs_types(self):
        return self.supported_lhs_types

    @property
    def accumulation_type(self):
        """The dtype of sums; None: as preferred_element_type says."""
        if self is DotAlgorithmPreset.DEFAULT or "_F8_ANY" in self.name[8:]:
            return None
        types = {"F16_F16_F16": np.float16, "BF16_BF16_BF16": "bfloat16"}
        types["F64_F64_F64"] = np.float64
        return types.get(self.name, np.float32)


PrecisionLike = (
    None | str | Precision | tuple[str, str] | tuple[Precision, Precision] | DotAlgorithm
) | DotAlgorithmPreset


def canonical_precision(precision):
    """None, a pair of Precision, or an algorithm; ValueError for anything else."""
    if precision is None:
        precision = config.jax_default_matmul_precision
        return precision if precision is None else canonical_precision(precision)
    if isinstance(precision, Precision):
        return precision, precision
    if isinstance(precision, (DotAlgorithm, DotAlgorithmPreset)):
        return precision
    if isinstance(precision, str):
        if precision in _PRECISIONS:
            return (Precision(precision),) * 2
        if precision in DotAlgorithmPreset.__members__:
            return DotAlgorithmPreset[precision]
    elif isinstance(precision, (list, tuple)) and len(precision) == 2:
        if all(isinstance(p, Precision) or p in _PRECISIONS for p in precision):
            return tuple(Precision(p) for p in precision)
    raise ValueError(
        "Precision argument must be one of:\n"
        "- None,\n"
        f"- a string in {list(_PRECISIONS)},\n"
        "- a lax.Precision value,\n"
        "- a tuple of two lax.Precision values or strings,\n"
        "- a lax.DotAlgorithmPreset or the name of one of these presets, or\n"
        "- a lax.DotAlgorithm value;\n"
        f"but got {precision}."
    )


def precision_text(precision):
    """The form in which programs keep a checked precision; None for None."""
    return None if precision is None else str(precision)


def precision_from_text(text):
    """The precision that programs keep as `text`: a pair, a preset, or the text of an algorithm."""
    if text in DotAlgorithmPreset.__members__:
        return DotAlgorithmPreset[text]
    names = re.fullmatch(r"\(Precision\.(\w+), Precision\.(\w+)\)", text or "")
    return tuple(Precision[name] for name in names.groups()) if names else text


def _kind(dtype):
    """0: bool, 1: integers, 2: floats, 3: complex."""
    kind = np.dtype(dtype).kind
    if kind == "V" and issubdtype(dtype, np.integer):  # of 2 and 4 bits
        return 1
    return {"b": 0, "i": 1, "u": 1, "c": 3}.get(kind, 2)


def preferred_dtype(wanted):
    """The preferred_element_type that a user asks for: narrower while x64 is off; None as it is."""
    if wanted is None:
        return None
    return np.dtype(_core.requested_dtype(wanted, "preferred_element_type"))


def _dtype(wanted):
    return None if wanted is None else np.dtype(_core.dtype_of(wanted))


def _bits(dtype):
    """For a real number of that dtype."""
    kind = _kind(dtype)
    if kind == 1:
        return iinfo(dtype).bits
    return 1 if kind == 0 else np.dtype(dtype).itemsize * (4 if kind == 3 else 8)


_FLOATS = ("float16", "bfloat16", "float32", "float64")


def _rank(dtype):
    """Operands of different dtypes take the one that comes last in this order."""
    kind, bits = _kind(dtype), _bits(dtype)
    name = f"float{bits}" if kind == 3 else np.dtype(dtype).name
    order = _FLOATS.index(name) if name in _FLOATS else -1
    if kind > 1 and order < 0:  # of narrow floats: float8_e5m2, float8_e4m3fn ...
        order = -0.9 + 0.1 * int(name.split("_e")[1][0])
    return kind == 3, order, bits, not name.startswith("u")


def _result_dtype(dtype, preferred):
    if preferred is None or preferred == dtype:
        return dtype
    if _kind(dtype) != 2 and _bits(preferred) < _bits(dtype):
        raise TypeError(
            "`preferred_element_type` must not be narrower than the original type, got "
            f"preferred_element_type of {preferred} for result type of {dtype}."
        )
    return preferred


def product(lhs, rhs, dims, preferred=None, precision=None):
    """dot_general of arrays, with dims as ((lhs, rhs contracted), (lhs, rhs batch))."""
    preferred = _dtype(preferred)
    precision = canonical_precision(precision)
    dtype = max(lhs.dtype, rhs.dtype, key=_rank)
    result = _result_dtype(dtype, preferred)
    sums = preferred
    if lhs.dtype != rhs.dtype:
        if _kind(lhs.dtype) == _kind(rhs.dtype) == 2 and _bits(dtype) <= 16:
            dtype, sums = np.dtype(np.float32), None  # of two narrow floats none holds the other
        lhs, rhs = _core.convert(lhs, dtype), _core.convert(rhs, dtype)
    if isinstance(precision, DotAlgorithmPreset):
        types, sums = (
            precision.supported_lhs_types,
            _dtype(precision.accumulation_type) or preferred,
        )
        if types is not None and lhs.dtype not in [_dtype(t) for t in types]:
            lhs, rhs = _core.convert(lhs, types[0]), _core.convert(rhs, types[0])
    elif isinstance(precision, DotAlgorithm):
        lhs = _core.convert(lhs, precision.lhs_precision_type)
        rhs = _core.convert(rhs, precision.rhs_precision_type)
        sums = _dtype(precision.accumulation_type)
    if sums is not None and _kind(lhs.dtype) < _kind(sums):
        lhs, rhs = _core.convert(lhs, sums), _core.convert(rhs, sums)
    elif sums is not None and _kind(lhs.dtype) > _kind(sums):
        sums = None  # sums of floats are made integers when they are complete
    ((lhs_contract, rhs_contract), (lhs_batch, rhs_batch)) = dims
    out = bind(
        "dot_general",
        (lhs, rhs),
        lhs_contract=_ints(lhs_contract),
        rhs_contract=_ints(rhs_contract),
        lhs_batch=_ints(lhs_batch),
        rhs_batch=_ints(rhs_batch),
        preferred_element_type=sums,
        precision=precision_text(precision),
    )
    return out if out.dtype == result else _core.convert(out, result)


def _check_dimensions(lhs, rhs, dims):
    """ValueError or TypeError in JAX's words unless the dimension numbers fit the shapes."""
    names = ("lhs", "rhs")
    for kind, pair in (("contracting", dims[0]), ("batch", dims[1])):
        for name, array, own in zip(names, (lhs, rhs), pair):
            if any(not 0 <= d < array.ndim for d in own):
                raise TypeError(
                    f"dot_general requires {name} dimension numbers to be nonnegative and less "
                    f"than the number of axes of the {name} value, got {kind} dimensions {own} "
                    f"for an array of shape {array.shape}."
                )
            if len(set(own)) != len(own):
                raise TypeError(
                    f"dot_general requires {name} {kind} dimensions to be distinct, got {own}."
                )
        if len(pair[0]) != len(pair[1]):
            raise TypeError(
                f"dot_general requires equal numbers of lhs and rhs {kind} dimensions, got "
                f"{pair[0]} and {pair[1]}."
            )
    for i, name in enumerate(names):
        both = set(dims[0][i]) & set(dims[1][i])
        if both:
            raise TypeError(
                f"dot_general requires {name} batch dimensions to be disjoint from contracting "
                f"dimensions, got batch {dims[1][i]} and contracting {dims[0][i]}."
            )


@in_one_program("dimension_numbers", "precision", "preferred_element_type", at_once=True)
@takes_out_sharding
def dot_general(
    lhs, rhs, dimension_numbers, precision=None, preferred_element_type=None, *, out_sharding=None
):
    """Sums of products.

    Args:
      lhs, rhs: arrays.
      dimension_numbers: ((lhs, rhs contracted dimensions), (lhs, rhs batch dimensions)).
      precision: None, a Precision, its name, a pair of either, or a DotAlgorithm(Preset).
      preferred_element_type: the result's dtype.

    Returns:
      An array with the batch dimensions, those of lhs that are left, and those of rhs.

    Raises:
      TypeError: dimensions or dtypes do not fit.

    Example:
      >>> lax.dot_general(jnp.ones((2, 3)), jnp.ones((2, 3)), (((1,), (1,)), ((0,), (0,))))
      Array([3., 3.], dtype=float32)
    """
    lhs, rhs = operand_of("dot_general", lhs), operand_of("dot_general", rhs)
    dims = tuple(tuple(_ints(part) for part in pair) for pair in dimension_numbers)
    _check_dimensions(lhs, rhs, dims)
    return product(lhs, rhs, dims, preferred_dtype(preferred_element_type), precision)


@takes_out_sharding
def dot(
    lhs,
    rhs,
    *,
    dimension_numbers=None,
    precision=None,
    preferred_element_type=None,
    out_sharding=None,
):
    """Vector and matrix products (or dot_general, with dimension_numbers).

    Example:
      >>> lax.dot(jnp.arange(3.0), jnp.arange(3.0))
      Array(5., dtype=float32)
    """
    lhs, rhs = operand_of("dot", lhs), operand_of("dot", rhs)
    if dimension_numbers is None:
        if not (1 <= lhs.ndim <= 2 and 1 <= rhs.ndim <= 2 and lhs.shape[-1] == rhs.shape[0]):
            raise ValueError(
                "jax.lax.dot: dimension_numbers must be specified when not performing simple "
                "un-batched matrix-matrix, "
                f"matrix-vector, or vector-vector products; got lhs_shape={lhs.shape} "
                f"rhs_shape={rhs.shape}"
            )
        dimension_numbers = (((lhs.ndim - 1,), (0,)), ((), ()))
    return dot_general(
        lhs,
        rhs,
        dimension_numbers,
        precision,
        preferred_element_type,
        out_sharding=out_sharding,
    )


def batch_matmul(lhs, rhs, precision=None):
    """Matrix products of stacks of matrices.

    Raises:
      ValueError: the ranks differ or are below 2.

    Example:
      >>> lax.batch_matmul(jnp.ones((2, 1, 3)), jnp.ones((2, 3, 1))).shape
      (2, 1, 1)
    """
    lhs, rhs = operand_of("batch_matmul", lhs), operand_of("batch_matmul", rhs)
    if min(lhs.ndim, rhs.ndim) < 2:
        raise ValueError(
            f"Arguments to batch_matmul must be at least 2D, got {lhs.ndim}, {rhs.ndim}"
        )
    if lhs.ndim != rhs.ndim:
        raise ValueError(
            f"Arguments to batch_matmul must have same ndim, got {lhs.ndim}, {rhs.ndim}"
        )
    batch = tuple(range(lhs.ndim - 2))
    dims = (((lhs.ndim - 1,), (rhs.ndim - 2,)), (batch, batch))
    return dot_general(lhs, rhs, dims, precision)
