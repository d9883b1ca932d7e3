"""shardax/_transform/derivatives.py - grad, value_and_grad, vjp, jvp, linearize,
linear_transpose."""

from collections.abc import Callable, Iterable, Sequence

from shardax import tree_util
from shardax._base.function_names import function_name
from shardax._base.options import check_callable, indices
from shardax._base.tracebacks import api_boundary
from shardax._core import api as _core
from shardax._transform.gradient_targets import RefVJP
from shardax._transform.refs import is_ref, new_ref, references_exist


def _refuse_reduce_axes(api, reduce_axes):
    if reduce_axes:
        raise NotImplementedError(
            f"reduce_axes argument to {api} is deprecated: got {reduce_axes!r}. Sum over the axes "
            "in the function, with shardax.lax.psum."
        )


def _make_grad(fun, argnums, value, has_aux, holomorphic, allow_int):
    check_callable(fun)
    several = isinstance(argnums, Iterable) and getattr(argnums, "ndim", 1) > 0
    positions = indices(argnums, "argnums")
    name = function_name(fun)
    what, gives = "Gradient", "the gradient, which has"
    if value:
        what = "Value and gradient"
        gives = (
            f"a two-element tuple where the first element is the value of {name} and the second "
            "element is the gradient, which has"
        )
    doc = (
        f"{what} of {name} with respect to positional argument(s) {argnums}. Takes the same "
        f"arguments as {name} but "
        f"returns {gives} the same shape as the arguments at positions {argnums}."
    )
    return _core.grad(fun, positions, several, value, has_aux, holomorphic, allow_int, doc)


def grad(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence = (),
) -> Callable:
    """A function that gives the gradient of `fun`, which returns a real scalar.

    Args:
      fun: the function to differentiate. Its Python control flow sees concrete values.
      argnums: the positional argument(s) to differentiate by: trees of real or complex arrays.
      has_aux: `fun` returns (value, anything); the gradient function then returns (gradient,
        anything).
      holomorphic: `fun` is complex-differentiable; its arguments and result are complex.
      allow_int: integer arguments are accepted; their gradient has dtype float0.
      reduce_axes: (); other axes are refused.

    Returns:
      A function of the same arguments. For a tuple of argnums it returns a tuple.

    Raises:
      TypeError: where the arguments or the result have other shapes or dtypes.
      NotImplementedError: for `reduce_axes`.

    Example:
      >>> shardax.grad(lambda x: x ** 3)(2.0)
      Array(12., dtype=float32, weak_type=True)
    """
    _refuse_reduce_axes("grad", reduce_axes)
    return _make_grad(fun, argnums, False, has_aux, holomorphic, allow_int)


def value_and_grad(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence = (),
) -> Callable:
    """A function that gives (value, gradient) of `fun`; see `grad`. With has_aux: ((value,
    anything), gradient).

    Example:
      >>> shardax.value_and_grad(lambda x: x ** 2)(3.0)
      (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    _refuse_reduce_axes("grad", reduce_axes)
    return _make_grad(fun, argnums, True, has_aux, holomorphic, allow_int)


@api_boundary
def vjp(fun: Callable, *primals, has_aux: bool = False, reduce_axes: Sequence = ()):
    """(fun(*primals), f): f takes a cotangent of the result and gives a tuple of cotangents of
    the primals.

    Integer primals get cotangents of dtype float0. With has_aux, `fun` returns (result,
    anything), and vjp
    (result, f, anything).

    Example:
      >>> out, f = shardax.vjp(jnp.sin, 0.0)
      >>> f(2.0)
      (Array(2., dtype=float32, weak_type=True),)
    """
    _refuse_reduce_axes("vjp", reduce_axes)
    if references_exist() and any(map(is_ref, tree_util.tree_leaves(primals))):
        return _vjp_with_refs(fun, primals, has_aux)
    return _core.vjp(fun, primals, has_aux)


def _vjp_with_refs(fun, primals, has_aux):
    """vjp with references among the primals that are the function's own. `fun` reads and writes
    them, and a gradient by their former values goes to the reference that with_refs binds."""
    leaves, tree = tree_util.tree_flatten(primals)
    before = [leaf[...] if is_ref(leaf) else leaf for leaf in leaves]

    def whole(values, refs):
        values, refs = iter(values), iter(refs)
        return tree.unflatten([next(refs if is_ref(leaf) else values) for leaf in leaves])

    own = [leaf for leaf in leaves if is_ref(leaf)]
    values = [leaf for leaf in leaves if not is_ref(leaf)]
    out, pull, *aux = _core.vjp(lambda values: fun(*whole(values, own)), (values,), has_aux)

    def again(values, held):
        return fun(*whole(values, map(new_ref, held)))

    def pull_held(cotangent):
        held = [value for leaf, value in zip(leaves, before) if is_ref(leaf)]
        return _core.vjp(lambda held: again(values, held), (held,), has_aux)[1](cotangent)[0]

    return (out, RefVJP(leaves, tree, pull, pull_held), *aux)


@api_boundary
def jvp(fun: Callable, primals, tangents, has_aux: bool = False):
    """(fun(*primals), directional derivative along tangents).

    Args:
      fun: the function to differentiate.
      primals, tangents: tuples or lists of equal structure, shapes and dtypes; tangents of
        integers have dtype float0.
      has_aux: `fun` returns (result, anything); jvp then returns (result, derivative, anything).

    Example:
      >>> shardax.jvp(lambda x: x ** 2, (3.0,), (1.0,))
      (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    return _core.jvp(fun, primals, tangents, has_aux)


@api_boundary
def linearize(fun: Callable, *primals, has_aux: bool = False):
    """(fun(*primals), f): f is the derivative at primals as a linear function of tangents.

    The nonlinear part is computed once; f can be called many times.

    Example:
      >>> y, f = shardax.linearize(lambda x: x ** 2, 3.0)
      >>> f(1.0)
      Array(6., dtype=float32, weak_type=True)
    """
    return _core.linearize(fun, primals, has_aux)


@api_boundary
def linear_transpose(fun: Callable, *primals, reduce_axes=()):
    """The transpose of `fun`, which is linear in all its arguments; primals give shapes and
    dtypes only.

    Example:
      >>> shardax.linear_transpose(lambda x: 2 * x, 1.0)(3.0)
      (Array(6., dtype=float32, weak_type=True),)
    """
    _refuse_reduce_axes("transpose", reduce_axes)
    return _core.linear_transpose(fun, primals)
