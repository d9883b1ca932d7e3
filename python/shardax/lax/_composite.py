"""shardax/lax/_composite.py - named compositions."""

import functools

from shardax import tree_util
from shardax._base.tracebacks import api_boundary
from shardax._core import api as _core
from shardax._stablehlo.literals import attribute_text
from shardax.errors import UnexpectedTracerError
from shardax.lax._loops import flatten

__all__ = ["composite"]


def composite(decomposition, name, version=0):
    """`decomposition` as one operation of that name, which lowered programs show.

    Args:
      decomposition: a function of trees of arrays; what it closes over is known when it is traced.
      name: of the operation, as "my.square".
      version: an integer, which goes with the name.

    Returns:
      A function of the same arguments. Those given by keyword are attributes: numbers, strings,
      dtypes and NumPy arrays, or None.

    Raises:
      UnexpectedTracerError: at a call, when the decomposition closes over, or an attribute is, a
        value that is being traced.
      ValueError: when a call is differentiated; jax.custom_jvp around it adds a derivative.

    Example:
      >>> scaled = lax.composite(lambda x, *, by: x * by, "my.scaled")
      >>> scaled(2.0, by=3)
      Array(6., dtype=float32, weak_type=True)
      >>> print(shardax.jit(lambda x: scaled(x, by=3)).lower(2.0).as_text().splitlines()[2].strip())
      %0 = stablehlo.composite "my.scaled" %arg0 {composite_attributes = {by = 3 : i64}, \
decomposition = @my.scaled} : (tensor<f32>) -> tensor<f32>
    """

    @functools.wraps(decomposition)
    @api_boundary
    def call(*args, **attributes):
        for leaf in tree_util.tree_leaves(attributes):
            if _core.is_tracer(leaf):
                raise UnexpectedTracerError(
                    f"{_found('an attribute', name)}\n\nNote: If you are passing jax arrays as "
                    "attributes, use numpy arrays instead."
                )
        values, tree = flatten(args)
        avals = tree_util.tree_unflatten(tree, map(_core.typeof, values))
        staged = _core.stage("composite", functools.partial(decomposition, **attributes), avals)
        (program,), constants = _core.join_closed([staged])
        if any(map(_core.is_tracer, constants)):
            raise UnexpectedTracerError(_found("a constant", name))
        given = sorted((k, v) for k, v in attributes.items() if v is not None)
        params = {
            "name": name,
            "version": version,
            "attributes": ", ".join(f"{k} = {attribute_text(v)}" for k, v in given),
            "jaxpr": program,
        }
        out = _core.bind("composite", params, [*constants, *values])
        return tree_util.tree_unflatten(staged.out_tree, out)

    return call


def _found(what, name):
    return (
        f"Found a JAX Tracer as {what} in the decomposition for the composite op '{name}'. This "
        "means that the decomposition function closes over a value that is involved in a JAX "
        "transformation. Any values that aren't explicitly known at compile time must be "
        "explicitly passed as arguments to the composite."
    )
