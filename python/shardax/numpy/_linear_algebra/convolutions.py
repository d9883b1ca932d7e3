"""shardax/numpy/_linear_algebra/convolutions.py - convolution and correlation of vectors."""

import shardax._core as _core
from shardax._base.arrays import (
    asarray,
    check_arraylike,
    in_one_program,
    inexact_dtype,
    result_type,
)
from shardax.lax._convolutions import conv_general_dilated
from shardax.lax._dot import preferred_dtype


@in_one_program("mode", "precision", "preferred_element_type")
def convolve(a, v, mode="full", *, precision=None, preferred_element_type=None):
    """The discrete convolution of two vectors: sums over j of a[j] * v[k - j].

    Args:
      a, v: vectors; the shorter one may be either.
      mode: "full": all overlaps; "same": as long as the longer one; "valid": complete overlaps
        only.
      precision, preferred_element_type: as in `jnp.matmul`.

    Returns:
      A vector of floats (or complex numbers).

    Raises:
      ValueError: an operand is empty or no vector, or for another mode.

    Example:
      >>> jnp.convolve(jnp.array([1, 2, 3]), jnp.array([1, 1]))
      Array([1., 3., 5., 3.], dtype=float32)
      >>> jnp.convolve(jnp.array([1, 2, 3]), jnp.array([1, 1]), mode="valid")
      Array([3., 5.], dtype=float32)
    """
    return _convolve("convolve", a, v, mode, precision, preferred_element_type)


def _convolve(name, a, v, mode, precision, preferred_element_type):
    check_arraylike(name, a, v)
    dtype = result_type(a, v)
    wanted = preferred_dtype(preferred_element_type)
    if wanted is None or wanted.kind not in "iu":
        dtype = inexact_dtype(dtype)
    a, v = _core.convert(asarray(a), dtype), _core.convert(asarray(v), dtype)
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError(f"{name}() only support 1-dimensional inputs.")
    if a.shape[0] == 0 or v.shape[0] == 0:
        raise ValueError(
            f"{name}: inputs cannot be empty, got shapes " + f"{a.shape} and {v.shape}."
        )
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    m = v.shape[0]
    pads = {"full": (m - 1, m - 1), "same": (m // 2, (m - 1) // 2), "valid": (0, 0)}
    if mode not in pads:
        raise ValueError("mode must be one of ['full', 'same', 'valid']")
    return conv_general_dilated(
        a[None, None],
        v[::-1][None, None],
        (1,),
        (pads[mode],),
        precision=precision,
        preferred_element_type=wanted,
    )[0, 0]


@in_one_program("mode", "precision", "preferred_element_type")
def correlate(a, v, mode="valid", *, precision=None, preferred_element_type=None):
    """The cross-correlation of two vectors: sums over j of a[j + k] * conj(v[j]).

    Args:
      a, v: vectors.
      mode: "valid", "same" or "full", as in `jnp.convolve`.
      precision, preferred_element_type: as in `jnp.matmul`.

    Returns:
      A vector of floats (or complex numbers).

    Raises:
      ValueError: an operand is empty or no vector, or for another mode.

    Example:
      >>> jnp.correlate(jnp.array([1, 2, 3]), jnp.array([0, 1]))
      Array([2., 3.], dtype=float32)
    """
    check_arraylike("correlate", a, v)
    v = asarray(v)
    if v.ndim != 1:
        raise ValueError("correlate() only support 1-dimensional inputs.")
    v = v.conj()[::-1] if v.dtype.kind == "c" else v[::-1]
    return _convolve("correlate", a, v, mode, precision, preferred_element_type)
