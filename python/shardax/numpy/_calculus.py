# shardax/numpy/_calculus.py - differences, integrals, interpolation, and how samples vary together.
import operator

import numpy as np

import shardax._core as _core
from shardax._base.array_functions import concatenate, moveaxis, where
from shardax._base.arrays import (
    another,
    asarray,
    canonical_axis,
    check_arraylike,
    in_one_program,
    known,
)
from shardax.numpy import _sorting
from shardax.numpy._elementwise import rounding as _rounding

_functions = _core.functions


@in_one_program("n", "axis", at_once=True)
def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along `axis`: a[i + 1] - a[i], n times.

    Args:
      a: an array of one dimension or more. Booleans give whether neighbours differ.
      n: how often differences are taken, from 0 on.
      axis: the dimension.
      prepend, append: numbers or arrays joined in front and behind before.

    Returns:
      An array that is shorter by n along `axis`.

    Raises:
      ValueError: `n` is negative, `a` is a scalar, or `axis` is out of bounds.

    Example:
      >>> x = jnp.array([1, 4, 9, 16])
      >>> jnp.diff(x)
      Array([3, 5, 7], dtype=int32)
      >>> jnp.diff(x, n=2, prepend=0)
      Array([2, 2, 2], dtype=int32)
    """
    check_arraylike("diff", a)
    a = asarray(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional; got " + str(a))
    axis = canonical_axis(axis, a.ndim)
    if n == 0:
        return another(a)

    def edge(x):
        x = asarray(x)
        return (
            _core.broadcast_to(x, a.shape[:axis] + (1,) + a.shape[axis + 1 :]) if x.ndim == 0 else x
        )

    parts = (
        ([edge(prepend)] if prepend is not None else [])
        + [a]
        + ([edge(append)] if append is not None else [])
    )
    a = concatenate(parts, axis) if len(parts) > 1 else a
    before, after = [slice(None)] * a.ndim, [slice(None)] * a.ndim
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    for _ in range(n):
        op = _functions.not_equal if a.dtype == np.bool_ else _functions.subtract
        a = op(a[tuple(after)], a[tuple(before)])
    return a


@in_one_program(at_once=True)
def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of the flattened array.

    Args:
      ary: an array of numbers.
      to_end, to_begin: numbers or arrays joined behind and in front of the differences.

    Returns:
      A vector.

    Example:
      >>> jnp.ediff1d(jnp.array([[1, 4], [9, 16]]), to_begin=0)
      Array([0, 3, 5, 7], dtype=int32)
    """
    check_arraylike("ediff1d", ary)
    ary = asarray(ary).ravel()
    out = _functions.subtract(ary[1:], ary[:-1])
    begin, end = (
        [] if given is None else [asarray(given).ravel().astype(out.dtype)]
        for given in (to_begin, to_end)
    )
    parts = begin + [out] + end
    return concatenate(parts) if len(parts) > 1 else out


@in_one_program("axis", "edge_order")
def gradient(f, *varargs, axis=None, edge_order=None):
    """The derivative of sampled values along each dimension, by central differences.

    Differences at the ends are one-sided.

    Args:
      f: the values, an array of numbers.
      *varargs: a spacing or the coordinates, for all dimensions or for each; 1 where left out.
      axis: the dimension(s); all unless given.
      edge_order: 1 (also None) or 2: the order to which differences at the ends are exact.

    Returns:
      An array of f's shape for each dimension: a list, or the one array.

    Raises:
      ValueError: there are fewer than edge_order + 1 elements, coordinates of another length, or
        another edge_order.

    Example:
      >>> jnp.gradient(jnp.arange(4.0) ** 2, edge_order=2)
      Array([0., 2., 4., 6.], dtype=float32)
      >>> jnp.gradient(jnp.array([0.0, 1.0, 4.0]), jnp.array([0.0, 1.0, 2.0]))
      Array([1., 2., 3.], dtype=float32)
    """
    f = _core.promote("inexact", f)[0]
    order = 1 if edge_order is None else operator.index(edge_order)
    if order not in (1, 2):
        raise ValueError(f"gradient: edge_order is {edge_order}; 1 or 2 was expected.")
    if axis is None:
        axes = list(range(f.ndim))
    else:
        given = axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = [canonical_axis(a, f.ndim) for a in given]
    if any(f.shape[a] < order + 1 for a in axes):
        raise ValueError(
            f"gradient: at least {'two' if order == 1 else 'three'} elements are needed along each "
            f"axis, got an array of shape {f.shape}."
        )
    if len(varargs) > 1 and len(varargs) != len(axes):
        raise TypeError(
            f"gradient: {len(varargs)} spacings were given for {len(axes)} dimensions; give one, "
            "or one for each."
        )
    steps = list(varargs) or [1.0]
    if len(steps) == 1:
        steps *= len(axes)
    out = []
    for d, h in zip(axes, steps):
        a = moveaxis(f, d, 0)
        if np.ndim(h):
            parts = _uneven_differences(a, _core.promote("inexact", h)[0], order)
        else:
            parts = _even_differences(a, h, order)
        out.append(moveaxis(concatenate(parts), 0, d))
    return out[0] if len(out) == 1 else out


def _even_differences(a, h, order):
    """Differences along dimension 0: the first row, those in the middle, the last row."""
    middle = (a[2:] - a[:-2]) / (2 * h)
    if order == 1:
        return (a[1:2] - a[:1]) / h, middle, (a[-1:] - a[-2:-1]) / h
    first = (-1.5 * a[:1] + 2.0 * a[1:2] - 0.5 * a[2:3]) / h
    last = (0.5 * a[-3:-2] - 2.0 * a[-2:-1] + 1.5 * a[-1:]) / h
    return first, middle, last


def _uneven_differences(a, x, order):
    """The same where row i belongs to the coordinate x[i]."""
    if x.shape != a.shape[:1]:
        raise ValueError(
            f"gradient: coordinates of shape {x.shape} for a dimension of {a.shape[0]}; one for "
            "each element was expected."
        )
    steps = x[1:] - x[:-1]
    shape = (-1,) + (1,) * (a.ndim - 1)
    left, right = steps[:-1].reshape(shape), steps[1:].reshape(shape)
    middle = (a[2:] * left**2 - a[:-2] * right**2 + a[1:-1] * (right**2 - left**2)) / (
        left * right * (left + right)
    )
    if order == 1:
        return (a[1:2] - a[:1]) / steps[0], middle, (a[-1:] - a[-2:-1]) / steps[-1]
    # The parabola through the three values at an end, whose slope is weighed by their steps.
    near, far = steps[0], steps[1]
    first = (
        a[1:2] * ((near + far) / (near * far))
        - a[:1] * ((2 * near + far) / (near * (near + far)))
        - a[2:3] * (near / (far * (near + far)))
    )
    near, far = steps[-1], steps[-2]
    last = (
        a[-1:] * ((2 * near + far) / (near * (near + far)))
        + a[-3:-2] * (near / (far * (near + far)))
        - a[-2:-1] * ((near + far) / (near * far))
    )
    return first, middle, last


@in_one_program("axis")
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral of sampled values along `axis` by the trapezoidal rule.

    Args:
      y: the values, an array.
      x: their places, of the shape of `y` or a vector along `axis`; None: they are `dx` apart.
      dx: the spacing.
      axis: the dimension.

    Returns:
      Floats (or complex numbers) in the shape of `y` without `axis`.

    Example:
      >>> jnp.trapezoid(jnp.array([1.0, 2.0, 3.0]))
      Array(4., dtype=float32)
      >>> jnp.trapezoid(jnp.array([1.0, 2.0, 3.0]), x=jnp.array([0.0, 1.0, 3.0]))
      Array(6.5, dtype=float32)
    """
    if x is None:
        y, width = _core.promote("inexact", y)[0], asarray(dx)
        if width.ndim:  # it broadcasts against y
            width = width.reshape((1,) * (y.ndim - width.ndim) + width.shape)
            width = moveaxis(width, axis, -1)
    else:
        y, width = _core.promote("dtypes_inexact", y, x)
        width = diff(width if width.ndim == 1 else moveaxis(width, axis, -1))
    y = moveaxis(y, axis, -1)
    heights = y[..., 1:] + y[..., :-1]
    return 0.5 * (width * heights).sum(-1)


@in_one_program("left", "right")
def interp(x, xp, fp, left=None, right=None, period=None):
    """Linear interpolation of the points (xp, fp) at `x`.

    Args:
      x: where to interpolate, of any shape.
      xp: the places of the points, a vector in ascending order.
      fp: the values there, a vector of the same length.
      left, right: values beyond the ends, or "extrapolate" for the first and last line; None: the
        first and last value.
      period: the period of `xp`, whose order does not matter then.

    Returns:
      Floats (or complex numbers) in the shape of `x`.

    Raises:
      ValueError: `xp` and `fp` are not vectors of one length.

    Example:
      >>> xp, fp = jnp.array([0.0, 1.0, 2.0]), jnp.array([0.0, 10.0, 0.0])
      >>> jnp.interp(jnp.array([0.5, 1.5, 3.0]), xp, fp)
      Array([5., 5., 0.], dtype=float32)
    """
    for name, side in (("left", left), ("right", right)):
        if isinstance(side, str) and side != "extrapolate":
            raise ValueError(
                f"the only valid string value of `{name}` is 'extrapolate', but got: {side!r}"
            )
    check_arraylike("interp", x, xp, fp)
    if any(asarray(v).dtype.kind == "c" for v in (x, xp)):
        raise ValueError("jnp.interp: complex x values not supported.")
    x, xp = _core.promote("dtypes_inexact", x, xp)
    fp = _core.promote("inexact", fp)[0]
    if xp.ndim != 1 or xp.shape != fp.shape:
        raise ValueError("xp and fp must be one-dimensional arrays of equal size")
    if period is not None:
        if np.ndim(period) != 0:
            raise ValueError(f"period must be a scalar; got {period}")
        x, xp = x % period, xp % period
        order = _sorting.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = concatenate([fp[-1:], fp, fp[:1]])
    i = _rounding.clip(_sorting.searchsorted(xp, x, side="right"), 1, xp.shape[0] - 1)
    rise, run, part = fp[i] - fp[i - 1], xp[i] - xp[i - 1], x - xp[i - 1]
    flat = abs(run) <= np.spacing(np.finfo(xp.dtype).eps)  # of points that are one
    out = where(flat, fp[i - 1], fp[i - 1] + part / where(flat, 1, run) * rise)
    if period is None and not isinstance(left, str):
        out = where(x < xp[0], fp[0] if left is None else left, out)
    if period is None and not isinstance(right, str):
        out = where(x > xp[-1], fp[-1] if right is None else right, out)
    return out


@in_one_program("N", "increasing")
def vander(x, N=None, increasing=False):
    """The Vandermonde matrix of a vector: its powers as columns.

    Args:
      x: a vector.
      N: the number of columns; None: len(x).
      increasing: whether powers ascend from left to right.

    Returns:
      A matrix of shape (len(x), N).

    Raises:
      ValueError: `x` is not a vector, or `N` is negative.

    Example:
      >>> jnp.vander(jnp.array([1, 2, 3]), increasing=True)
      Array([[1, 1, 1],
             [1, 2, 4],
             [1, 3, 9]], dtype=int32)
    """
    x = asarray(x)
    check_arraylike("vander", x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array")
    n = x.shape[0] if N is None else operator.index(known(N, "It is argument N of jnp.vander."))
    if n < 0:
        raise ValueError(f"vander: N must be non-negative, got {n}.")
    powers = np.arange(n) if increasing else np.arange(n)[::-1]
    return _functions.power(x[:, None], asarray(powers[None], x.dtype))


@in_one_program("axis", "period", "discont")
def unwrap(p, discont=None, axis=-1, period=2 * np.pi):
    """Angles without jumps along `axis`.

    If neighbours differ by more than `discont`, whole periods are added to the later elements.

    Args:
      p: an array of real numbers.
      discont: the largest difference that is kept; None, or less than half a period: half a period.
      axis: the dimension.
      period: the period, 2 pi unless given.

    Returns:
      An array of the shape of `p`.

    Example:
      >>> jnp.unwrap(jnp.array([0, 3, 2]), period=4)
      Array([ 0, -1, -2], dtype=int32)
    """
    check_arraylike("unwrap", p)
    p = asarray(p)
    if p.dtype.kind == "c":
        raise ValueError("jnp.unwrap does not support complex inputs.")
    whole = p.dtype.kind in "biu" and isinstance(period, int)
    if not whole and p.dtype.kind in "biu":
        p = _core.convert(p, _core.canonical_dtype(float))
    if p.ndim == 0 or p.shape[canonical_axis(axis, p.ndim)] == 0:
        return p
    step = diff(p, axis=axis)
    half = period // 2 if whole else period / 2
    wrapped = (step + half) % period - half
    ambiguous = not whole or period % 2 == 0
    if ambiguous:
        wrapped = where((wrapped == -half) & (step > 0), half, wrapped)
    limit = half if discont is None else discont
    change = where(_functions.abs(step) < limit, 0, wrapped - step).astype(p.dtype)
    total = _core.convert(change.cumsum(axis), p.dtype)
    first = moveaxis(moveaxis(p, axis, 0)[:1], 0, axis)
    rest = moveaxis(moveaxis(p, axis, 0)[1:], 0, axis)
    return concatenate([first, rest + total], axis)
