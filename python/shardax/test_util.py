"""shardax.test_util - derivatives held against differences of function values.

Each check takes one random direction v, so that its price does not grow with the number of
elements. Forward mode is held against (f(x + eps v) - f(x - eps v)) / 2 eps. Reverse mode is held
against the projection <v, J^T w> = <J v, w> for a random w.
"""

import functools

import numpy as np

from shardax import numpy as jnp
from shardax import tree_util
from shardax._transform.derivatives import jvp, linearize, vjp

__all__ = ["check_grads", "check_jvp", "check_vjp"]

EPS = 1e-4

# Relative and absolute, by dtype; both grow with the number of elements that are compared.
_TOLERANCES = {
    "bfloat16": 1e-1,
    "float16": 1e-2,
    "float32": 2e-3,
    "float64": 1e-5,
    "complex64": 1e-3,
    "complex128": 1e-5,
}


def _is_scalar(x):
    return isinstance(x, (bool, int, float, complex))


def _as(x, result):
    """The result in x's dtype; a Python scalar where x is one."""
    result = jnp.asarray(result, jnp.result_type(x))
    return result.item() if _is_scalar(x) else result


def _moved(xs, direction, step):
    return tree_util.tree_map(lambda x, d: _as(x, jnp.add(x, d * step)), xs, direction)


def _difference(f, args, direction, eps):
    def quotient(high, low):
        high, low = jnp.asarray(high), jnp.asarray(low)
        # inf - inf counts as 0.
        return jnp.where(high == low, 0, high - low).astype(high.dtype) * (0.5 / eps)

    high, low = f(*_moved(args, direction, eps)), f(*_moved(args, direction, -eps))
    return tree_util.tree_map(quotient, high, low)


def _random_like(draws, tree):
    """Standard normal values of the shapes and dtypes of a tree's leaves.

    They come from NumPy's generator in JAX's order. A direction in which differences are taken in
    float32 decides whether a derivative passes, and it is to pass here as it does there.
    """

    def drawn(leaf):
        dtype = jnp.result_type(leaf)
        values = np.asarray(draws.randn(*jnp.shape(leaf)))
        if jnp.issubdtype(dtype, jnp.complexfloating):
            values = values + 1j * np.asarray(draws.randn(*jnp.shape(leaf)))
        return _as(leaf, values.astype(dtype))

    return tree_util.tree_map(drawn, tree)


def _tolerance(given, dtype):
    if given is not None and not isinstance(given, dict):
        return given
    table = dict(_TOLERANCES)
    table.update({jnp.dtype(key).name: value for key, value in (given or {}).items()})
    return table.get(jnp.dtype(dtype).name, 0)


def close(found, expected, atol=None, rtol=None, err_msg=""):
    """AssertionError unless the trees `found` and `expected` are close."""
    from numpy.testing import assert_allclose

    def compare(a, b):
        a, b = jnp.asarray(a), jnp.asarray(b)
        if a.shape != b.shape:
            raise AssertionError(f"{err_msg}: shapes {a.shape} and {b.shape} differ")
        limits = {
            name: max(_tolerance(given, a.dtype), _tolerance(given, b.dtype)) * max(a.size, 1)
            for name, given in (("atol", atol), ("rtol", rtol))
        }
        wide = jnp.float32 if a.dtype == jnp.bfloat16 else a.dtype
        assert_allclose(a.astype(wide), b.astype(wide), **limits, err_msg=err_msg)

    tree_util.tree_map(compare, found, expected)


def _check_dtypes(found, expected, what):
    def compare(a, b):
        a, b = jnp.result_type(a), jnp.result_type(b)
        if a != b:
            raise AssertionError(f"{what}: dtypes {a} and {b} differ")

    tree_util.tree_map(compare, found, expected)


def _inner(xs, ys):
    products = tree_util.tree_map(lambda x, y: jnp.vdot(x, y).real, xs, ys)
    return functools.reduce(jnp.add, tree_util.tree_leaves(products), 0.0)


def check_jvp(f, f_jvp, args, atol=None, rtol=None, eps=EPS, err_msg=""):
    """Holds a forward derivative against differences of f, in one random direction.

    Args:
      f: a function of trees of inexact arrays.
      f_jvp: f_jvp(args, tangents) -> (result, tangent), usually functools.partial(jvp, f).
      args: the arguments, a tuple.
      atol, rtol: tolerances, numbers or dicts by dtype, per compared element.
      eps: the step of the differences.
      err_msg: what errors start with.

    Raises:
      AssertionError: the values differ by more than the tolerances.

    Example:
      >>> check_jvp(jnp.sin, functools.partial(jvp, jnp.sin), (0.5,))
    """
    direction = _random_like(np.random.RandomState(0), args)
    value, tangent = f_jvp(args, direction)
    expected = f(*args)
    name = f"{err_msg} " if err_msg else ""
    _check_dtypes(value, tangent, f"{name}primal and tangent")
    _check_dtypes(value, expected, f"{name}primal")
    difference = _difference(f, args, direction, eps)
    close(value, expected, atol, rtol, f"{name}primal")
    close(tangent, difference, atol, rtol, f"{name}tangent")


def check_vjp(f, f_vjp, args, atol=None, rtol=None, eps=EPS, err_msg=""):
    """Holds a reverse derivative against differences of f, projected on random directions.

    Args:
      f: a function of trees of inexact arrays.
      f_vjp: f_vjp(*args) -> (result, pullback), usually functools.partial(vjp, f).
      args: the arguments, a tuple.
      atol, rtol: tolerances, numbers or dicts by dtype, per compared element.
      eps: the step of the differences.
      err_msg: what errors start with.

    Raises:
      AssertionError: the values differ by more than the tolerances.

    Example:
      >>> check_vjp(jnp.sin, functools.partial(vjp, jnp.sin), (0.5,))
    """
    name = f"{err_msg} " if err_msg else ""
    value, pullback = f_vjp(*args)
    close(value, f(*args), atol, rtol, f"{name}primal")
    draws = np.random.RandomState(0)
    direction = _random_like(draws, args)
    difference = _difference(f, args, direction, eps)
    cotangent = _random_like(draws, value)
    pulled = tree_util.tree_map(jnp.conj, pullback(tree_util.tree_map(jnp.conj, cotangent)))
    close(
        _inner(direction, pulled),
        _inner(difference, cotangent),
        atol,
        rtol,
        f"{name}cotangent projection",
    )


def _jvp_by_linearize(f, primals, tangents):
    value, linear = linearize(f, *primals)
    return value, linear(*tangents)


def check_grads(f, args, order, modes=("fwd", "rev"), atol=None, rtol=None, eps=None):
    """Holds derivatives up to `order` against differences of function values.

    Each is taken in one random direction.

    Args:
      f: a function of trees of inexact arrays.
      args: the arguments, a sequence.
      order: the highest derivative, 1 or more.
      modes: of "fwd" (jvp), "rev" (vjp) and "lin" (linearize).
      atol, rtol: tolerances, numbers or dicts by dtype, per compared element.
      eps: the step of the differences; None: 1e-4.

    Raises:
      AssertionError: the values differ by more than the tolerances.

    Example:
      >>> check_grads(jnp.sin, (jnp.arange(3.0),), order=2, atol=1e-2, rtol=1e-2)
    """
    options = {"atol": atol, "rtol": rtol, "eps": eps or EPS}

    def check(f, args, order, trail):
        def named(mode):
            return f"{mode} of {trail}" if trail else mode

        forward = (("fwd", "JVP", functools.partial(jvp, f)),)
        forward += (("lin", "LIN", functools.partial(_jvp_by_linearize, f)),)
        for mode, name, derivative in forward:
            if mode in modes:
                check_jvp(f, derivative, args, err_msg=named(name), **options)
                if order > 1:
                    check(derivative, (args, args), order - 1, named(name))
        if "rev" in modes:
            check_vjp(f, functools.partial(vjp, f), args, err_msg=named("VJP"), **options)
            if order > 1:

                def pulled(*args):
                    value, pullback = vjp(f, *args)
                    return pullback(value)

                check(pulled, args, order - 1, named("VJP"))

    check(f, tuple(args), order, "")
