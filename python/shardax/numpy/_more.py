"""shardax/numpy/_more.py - comparisons of whole arrays, differences, statistics, functional tools."""

import builtins
import functools
import math

import numpy as np

from shardax import _core
from shardax.numpy import (
    _creation,
    _dtypes,
    _products,
    _reductions,
    _rounding,
    _shape,
    _sorting,
    _where,
)
from shardax.numpy._common import (
    asarray,
    bind,
    canonical_axis,
    check_arraylike,
    result_type,
    static_jit,
)

_functions = _core.functions


@static_jit("rtol", "atol", "equal_nan")
def _isclose(a, b, rtol, atol, equal_nan):
    a, b = _core.promote("any", a, b)
    if a.dtype.kind in "biu":
        return (
            _functions.less_equal(_functions.abs(a - b), atol + rtol * _functions.abs(b))
            if a.dtype.kind != "b"
            else _functions.equal(a, b)
        )
    near = _functions.less_equal(_functions.abs(a - b), atol + rtol * _functions.abs(b))
    finite = _functions.logical_and(_functions.isfinite(a), _functions.isfinite(b))
    out = _functions.logical_or(_functions.equal(a, b), _functions.logical_and(finite, near))
    if equal_nan:
        out = _functions.logical_or(
            out, _functions.logical_and(_functions.isnan(a), _functions.isnan(b))
        )
    return out


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Elementwise |a - b| <= atol + rtol |b|."""
    check_arraylike("isclose", a, b)
    return _core.convert(
        _isclose(asarray(a), asarray(b), rtol=rtol, atol=atol, equal_nan=equal_nan), np.dtype(bool)
    )


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether isclose holds everywhere."""
    return _reductions.all(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1, a2, equal_nan=False):
    """Whether shapes and elements are equal."""
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return asarray(False)
    same = _functions.equal(a1, a2)
    if equal_nan:
        same = _functions.logical_or(
            same, _functions.logical_and(_functions.isnan(a1), _functions.isnan(a2))
        )
    return _reductions.all(same)


def array_equiv(a1, a2):
    """Whether elements are equal once broadcast."""
    a1, a2 = asarray(a1), asarray(a2)
    try:
        return _reductions.all(_functions.equal(a1, a2))
    except (TypeError, ValueError):
        return asarray(False)


def isreal(x):
    """Elementwise: is the imaginary part 0?"""
    check_arraylike("isreal", x)
    return _compared_with_0(_functions.equal, _functions.imag(x))


def iscomplex(x):
    """Elementwise: is the imaginary part not 0?"""
    check_arraylike("iscomplex", x)
    return _compared_with_0(_functions.not_equal, _functions.imag(x))


def _compared_with_0(comparison, x):
    return comparison(x, _core.convert(asarray(0), x.dtype, x.weak_type))


def isposinf(x, /, out=None):
    """Elementwise: is it +inf?"""
    return _is_infinity("isposinf", x, np.inf)


def isneginf(x, /, out=None):
    """Elementwise: is it -inf?"""
    return _is_infinity("isneginf", x, -np.inf)


def _is_infinity(name, x, infinity):
    check_arraylike(name, x)
    x = asarray(x)
    if x.dtype.kind == "c":
        raise ValueError("isposinf/isneginf are not well defined for complex types")
    if x.dtype.kind in "fV":
        return _functions.equal(x, x.dtype.type(infinity))
    return _core.full(x.shape, False, np.dtype(bool))


@functools.partial(static_jit())
def _logaddexp(a, b):
    a, b = _core.promote("inexact", a, b)
    top = _functions.maximum(a, b)
    if a.dtype.kind == "c":
        out = top + _functions.log1p(_functions.exp(a + b - 2 * top))
        angle = _functions.imag(out)
        pi = angle.dtype.type(np.pi)
        turned = _functions.remainder(angle + pi, 2 * pi) - pi
        return _core.lax.complex(_functions.real(out), turned)
    # The value has no useful derivative where both are equal: it is taken of the weighted operands.
    a_value, b_value, top = (bind("stop_gradient", (v,)) for v in (a, b, top))
    gap = a_value - b_value
    out = top + _functions.log1p(_functions.exp(-_functions.abs(gap)))
    out = _where.where(_functions.isnan(gap), a_value + b_value, out)
    return out + _weighted_change(a, b) + _weighted_change(b, a)


def _weighted_change(x, other):
    """Zero, whose derivative is the share of `x` in logaddexp(x, other)."""
    change = x - bind("stop_gradient", (x,))
    share = _core.lax.logistic(_where.where(_functions.equal(x, other), 0.0, x - other))
    return _where.where(_functions.isfinite(change), share * change, 0.0)


def logaddexp(x1, x2, /):
    """log(exp(x1) + exp(x2)) without overflow."""
    check_arraylike("logaddexp", x1, x2)
    return _logaddexp(x1, x2)


def logaddexp2(x1, x2, /):
    """log2(2**x1 + 2**x2) without overflow."""
    check_arraylike("logaddexp2", x1, x2)
    ln2 = math.log(2.0)
    x1, x2 = _core.promote("inexact", x1, x2)
    return logaddexp(x1 * ln2, x2 * ln2) / ln2


def angle(z, deg=False):
    """The argument of complex numbers, in radians or degrees."""
    check_arraylike("angle", z)
    z = asarray(z)
    parts = _functions.imag(z), _functions.real(z)
    if z.dtype.kind in "biu" or (z.dtype.kind in "fV" and z.ndim == 0):
        parts = (_core.convert(p, _core.canonical_dtype(float)) for p in parts)
    out = _functions.arctan2(*parts)
    return _functions.degrees(out) if deg else out


def sinc(x, /):
    """sin(pi x) / (pi x), 1 at 0."""
    x = _core.promote("inexact", x)[0]
    zero = _functions.equal(x, 0)
    safe = _where.where(zero, 1.0, x) * np.pi
    return _where.where(zero, 1.0, _functions.sin(safe) / safe)


def fmax(x1, x2, /):
    """The larger one of each pair; the other one where one is NaN."""
    check_arraylike("fmax", x1, x2)
    return _where.where(
        _functions.logical_or(_functions.greater(x1, x2), _functions.isnan(x2)), x1, x2
    )


def fmin(x1, x2, /):
    """The smaller one of each pair; the other one where one is NaN."""
    check_arraylike("fmin", x1, x2)
    return _where.where(
        _functions.logical_or(_functions.less(x1, x2), _functions.isnan(x2)), x1, x2
    )


@functools.cache
def _bessel_coefficients():
    """Chebyshev coefficients of exp(-x) I0(x): in x / 4 - 1 for x <= 8, and, times sqrt(x), in 16 / x - 1 beyond."""
    chebinterpolate = np.polynomial.chebyshev.chebinterpolate
    near = chebinterpolate(lambda t: np.exp(-4 * (t + 1)) * np.i0(4 * (t + 1)), 30)
    far = lambda x: np.sqrt(x) * np.exp(-x) * np.i0(x)  # noqa: E731
    # np.i0 overflows past 700, where the scaled function differs from its limit by 1 / (8 x).
    beyond = chebinterpolate(
        lambda t: np.where(
            t > -0.96,
            far(np.minimum(16 / (t + 1), 400)),
            (1 + (t + 1) / 128 + 9 * (t + 1) ** 2 / 32768) / np.sqrt(2 * np.pi),
        ),
        24,
    )
    return near.tolist(), beyond.tolist()


def _chebyshev(coefficients, t):
    """The Chebyshev series at t, by Clenshaw's recurrence."""
    above = last = 0.0
    for c in coefficients[:0:-1]:
        above, last = 2 * t * above - last + c, above
    return t * above - last + coefficients[0]


@static_jit()
def _i0e(x):
    size = _functions.abs(x)
    near, beyond = _bessel_coefficients()
    low = _chebyshev(near, _functions.minimum(size, 8.0) / 4 - 1)
    wide = _functions.maximum(size, 8.0)
    high = _chebyshev(beyond, 16 / wide - 1) / _functions.sqrt(wide)
    return _where.where(size <= 8, low, high)


def i0(x):
    """The modified Bessel function of the first kind, order 0."""
    check_arraylike("i0", x)
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise ValueError(f"Unsupported input type to jax.numpy.i0: {x.dtype}")
    return _functions.multiply(_functions.exp(_functions.abs(x)), _i0e(x))


def spacing(x, /):
    """The distance to the next number away from 0."""
    check_arraylike("spacing", x)
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise ValueError("jnp.spacing is not defined for complex inputs.")
    if x.dtype == np.float16:
        return _functions.nextafter(x, np.inf) - x
    out = _functions.nextafter(x, _functions.copysign(np.inf, x)) - x
    smallest = x.dtype.type(_dtypes.finfo(x.dtype).smallest_subnormal)
    return _where.where(_functions.equal(out, 0), _functions.copysign(smallest, x), out)


@static_jit()
def _frexp(x):
    info = _dtypes.finfo(x.dtype)
    word = np.dtype(f"int{info.bits}")
    small = _functions.less(_functions.abs(x), info.smallest_normal)
    bits = bind(
        "bitcast_convert_type", (_where.where(small, x * 2.0**info.nmant, x),), new_dtype=word
    )
    mask, bias = (1 << info.nexp) - 1, 1 - int(info.minexp)
    exponent = ((bits >> info.nmant) & mask) - (bias - 1) - _where.where(small, info.nmant, 0)
    bits = (bits & ~(mask << info.nmant)) | ((bias - 1) << info.nmant)
    mantissa = bind("bitcast_convert_type", (bits,), new_dtype=x.dtype)
    same = _functions.logical_or(
        _functions.logical_not(_functions.isfinite(x)), _functions.equal(x, 0)
    )
    exponent = _core.convert(_where.where(same, 0, exponent), np.dtype("int32"))
    return _where.where(same, x, mantissa), exponent


def frexp(x, /):
    """(mantissas of a size in [0.5, 1), int32 exponents): x = mantissa * 2**exponent."""
    check_arraylike("frexp", x)
    x = _core.promote("inexact", x)[0]
    if x.dtype.kind == "c":
        raise TypeError("frexp does not support complex-valued inputs")
    return _frexp(x)


def _integers(name, *args):
    check_arraylike(name, *args)
    if result_type(*args).kind not in "iu":
        raise ValueError(f"Arguments to jax.numpy.{name} must be integers.")
    return _core.promote("any", *args)


def gcd(x1, x2):
    """The greatest common divisor."""
    from shardax import lax

    a, b = _integers("gcd", x1, x2)
    shape = _core.broadcast_shapes(a.shape, b.shape)
    a, b = (_core.broadcast_to(_functions.absolute(x), shape) for x in (a, b))

    def step(state):
        x, y = state
        z = _where.where(y != 0, _functions.remainder(x, _where.where(y != 0, y, 1)), y)
        return _where.where(y != 0, y, x), z

    return lax.while_loop(lambda s: _reductions.any(s[1] != 0), step, (a, b))[0]


def lcm(x1, x2):
    """The least common multiple."""
    a, b = _integers("lcm", x1, x2)
    d = gcd(a, b)
    return _where.where(
        d == 0, 0, _functions.absolute(a) // _where.where(d == 0, 1, d) * _functions.absolute(b)
    )


def modf(x, /, out=None):
    """(fractional part, whole part), both with the sign of x."""
    x = _core.promote("inexact", x)[0]
    whole = _functions.trunc(x)
    return x - whole, whole


def divmod(x1, x2, /):
    """(x1 // x2, x1 % x2)."""
    return _functions.floor_divide(x1, x2), _functions.remainder(x1, x2)


def ldexp(x1, x2, /):
    """x1 * 2**x2."""
    check_arraylike("ldexp", x1, x2)
    x1, x2 = asarray(x1), asarray(x2)
    if x1.dtype.kind == "c" or x2.dtype.kind not in "biu":
        raise ValueError(f"ldexp not supported for input types {(x1.dtype, x2.dtype)}")
    mantissa, exponent = frexp(x1)
    # In two steps: 2**(a + b) may be beyond the numbers where x1 * 2**a * 2**b is not.
    exponent = exponent + _core.convert(x2, np.dtype("int32"))
    half = exponent >> 1
    power = lambda e: _functions.exp2(_core.convert(e, mantissa.dtype))  # noqa: E731
    return mantissa * power(half) * power(exponent - half)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours along `axis`, n times."""
    check_arraylike("diff", a)
    a = asarray(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional; got " + str(a))
    axis = canonical_axis(axis, a.ndim)

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
    a = _shape.concatenate(parts, axis) if len(parts) > 1 else a
    before, after = [slice(None)] * a.ndim, [slice(None)] * a.ndim
    before[axis], after[axis] = slice(None, -1), slice(1, None)
    for _ in range(n):
        op = _functions.not_equal if a.dtype == np.bool_ else _functions.subtract
        a = op(a[tuple(after)], a[tuple(before)])
    return a


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours of the flattened array."""
    out = diff(asarray(ary).ravel())
    parts = ([asarray(to_begin).ravel()] if to_begin is not None else []) + [out]
    parts += [asarray(to_end).ravel()] if to_end is not None else []
    return _shape.concatenate(parts) if len(parts) > 1 else out


def gradient(f, *varargs, axis=None, edge_order=None):
    """Central differences along each dimension, one-sided at the ends."""
    f = _core.promote("inexact", f)[0]
    axes = (
        range(f.ndim)
        if axis is None
        else [
            canonical_axis(a, f.ndim)
            for a in (axis if isinstance(axis, (tuple, list)) else (axis,))
        ]
    )
    steps = (
        [1.0] * len(list(axes))
        if not varargs
        else list(varargs) * (len(list(axes)) if len(varargs) == 1 else 1)
    )
    out = []
    for d, h in zip(axes, steps):
        a = _shape.moveaxis(f, d, 0)
        if np.ndim(h):
            x = asarray(h)
            left, right = (x[1:-1] - x[:-2]), (x[2:] - x[1:-1])
            shape = (-1,) + (1,) * (a.ndim - 1)
            left, right = left.reshape(shape), right.reshape(shape)
            middle = (a[2:] * left**2 - a[:-2] * right**2 + a[1:-1] * (right**2 - left**2)) / (
                left * right * (left + right)
            )
            first, last = (a[1:2] - a[:1]) / (x[1] - x[0]), (a[-1:] - a[-2:-1]) / (x[-1] - x[-2])
        else:
            middle = (a[2:] - a[:-2]) / (2 * h)
            first, last = (a[1:2] - a[:1]) / h, (a[-1:] - a[-2:-1]) / h
        out.append(_shape.moveaxis(_shape.concatenate([first, middle, last]), 0, d))
    return out[0] if len(out) == 1 else out


def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral by the trapezoidal rule."""
    y = _shape.moveaxis(_core.promote("inexact", y)[0], axis, -1)
    width = (
        dx
        if x is None
        else diff(_shape.moveaxis(asarray(x), axis, -1) if np.ndim(x) > 1 else asarray(x))
    )
    return 0.5 * (width * (y[..., 1:] + y[..., :-1])).sum(-1)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Linear interpolation of the points (xp, fp) at x; beyond them, the first and last values."""
    x, xp, fp = (_core.promote("inexact", v)[0] for v in (x, xp, fp))
    if period is not None:
        x, xp = x % period, xp % period
        order = _sorting.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = _shape.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = _shape.concatenate([fp[-1:], fp, fp[:1]])
    i = _rounding.clip(_sorting.searchsorted(xp, x, side="right"), 1, xp.shape[0] - 1)
    rise, run, part = fp[i] - fp[i - 1], xp[i] - xp[i - 1], x - xp[i - 1]
    flat = run == 0
    out = _where.where(flat, fp[i - 1], fp[i - 1] + part / _where.where(flat, 1, run) * rise)
    out = _where.where(x < xp[0], fp[0] if left is None else left, out) if period is None else out
    return (
        _where.where(x > xp[-1], fp[-1] if right is None else right, out) if period is None else out
    )


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None):
    """The covariance matrix of variables in rows."""
    x = _shape.atleast_2d(_core.promote("inexact", m)[0])
    x = x.T if not rowvar and x.shape[0] != 1 else x
    if y is not None:
        other = _shape.atleast_2d(_core.promote("inexact", y)[0])
        x = _shape.concatenate([x, other.T if not rowvar and other.shape[0] != 1 else other], 0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    centered = x - x.mean(1, keepdims=True)
    out = _products.dot(centered, centered.T.conj()) / (x.shape[1] - ddof)
    return out[0, 0] if out.shape == (1, 1) else out


def corrcoef(x, y=None, rowvar=True):
    """The matrix of correlation coefficients."""
    c = cov(x, y, rowvar)
    if c.ndim == 0:
        return c / c
    d = _functions.sqrt(_creation.diag(c))
    return c / d[:, None] / d[None, :]


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Coefficients (highest first) of the least squares polynomial."""
    from shardax.numpy import linalg

    powers = asarray(x)[:, None] ** np.arange(deg, -1, -1)
    return linalg.lstsq(powers, asarray(y))[0]


def vander(x, N=None, increasing=False):
    """Powers of x in columns."""
    x = asarray(x)
    n = x.shape[0] if N is None else N
    return x[:, None] ** (np.arange(n) if increasing else np.arange(n)[::-1])


def vectorize(pyfunc, *, excluded=frozenset(), signature=None):
    """A function of scalars (or of what `signature` says) that broadcasts over all other dimensions."""
    from shardax._api import vmap

    inputs = None
    if signature is not None:
        left, _, _ = signature.replace(" ", "").partition("->")

        def parse(text):
            return [tuple(c for c in core.split(",") if c) for core in text[1:-1].split("),(")]

        inputs = parse(left)

    @functools.wraps(pyfunc)
    def wrapped(*args, **kwargs):
        fixed = {i: a for i, a in enumerate(args) if i in excluded}
        arrays = [asarray(a) for i, a in enumerate(args) if i not in excluded]
        cores = inputs or [()] * len(arrays)
        shapes = [a.shape[: a.ndim - len(c)] for a, c in zip(arrays, cores)]
        outer = _core.broadcast_shapes(*shapes) if shapes else ()

        def call(*some):
            rest = iter(some)
            return pyfunc(
                *[fixed[i] if i in fixed else next(rest) for i in range(len(args))], **kwargs
            )

        fun = call
        for d in range(len(outer)):  # from the innermost dimension out
            axes = [0 if len(s) > d and s[-1 - d] != 1 else None for s in shapes]
            if builtins.all(a is None for a in axes):
                n = outer[-1 - d]
                fun = vmap(fun, in_axes=None, out_axes=0, axis_size=n)
            else:
                fun = vmap(fun, in_axes=tuple(axes))
        squeezed = []
        for a, s in zip(arrays, shapes):
            ones = tuple(i for i, n in enumerate(s) if n == 1)
            squeezed.append(_shape.squeeze(a, ones) if ones else a)
        out = fun(*squeezed)
        return out

    return wrapped


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """func1d of every vector along `axis`."""
    from shardax._api import vmap

    arr = asarray(arr)
    axis = canonical_axis(axis, arr.ndim)
    fun = lambda v: func1d(v, *args, **kwargs)  # noqa: E731
    for _ in range(axis + 1, arr.ndim):
        fun = vmap(fun, in_axes=1, out_axes=-1)
    for _ in range(axis):
        fun = vmap(fun, in_axes=0, out_axes=0)
    return fun(arr)


def apply_over_axes(func, a, axes):
    """func(a, axis) over several axes in turn."""
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        out = func(a, axis=axis)
        a = out if out.ndim == a.ndim else _shape.expand_dims(out, axis)
    return a


def save(file, arr, **kwargs):
    """Writes an array to a .npy file."""
    np.save(file, np.asarray(arr), **kwargs)


def load(file, *args, **kwargs):
    """Reads an array from a .npy file."""
    out = np.load(file, *args, **kwargs)
    return asarray(out) if isinstance(out, np.ndarray) else out


printoptions, set_printoptions, get_printoptions = (
    np.printoptions,
    np.set_printoptions,
    np.get_printoptions,
)
