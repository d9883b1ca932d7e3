"""shardax/_transform/tracing.py - functions as programs, without running them: eval_shape,
make_jaxpr."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from shardax import tree_util
from shardax._base.options import indices
from shardax._base.symbolic_dims import has_symbolic_sizes
from shardax._transform import stages
from shardax._transform.program_parts import describe


def eval_shape(fun: Callable, *args, **kwargs):
    """The shapes and dtypes of fun(*args, **kwargs), without computing it. Arguments may be
    ShapeDtypeStructs, also of symbolic sizes (`export.symbolic_shape`): the function is then staged
    for many sizes.

    Example:
      >>> shardax.eval_shape(jnp.dot, jnp.ones((2, 3)), jnp.ones(3))
      ShapeDtypeStruct(shape=(2,), dtype=float32)
    """
    if any(map(has_symbolic_sizes, tree_util.tree_leaves((args, kwargs)))):
        from shardax._transform.export.symbolic_results import symbolic_result_shapes  # few ask

        return symbolic_result_shapes(fun, args, kwargs)
    return stages.result_shapes(fun, args, kwargs)


def make_jaxpr(
    fun: Callable,
    static_argnums: int | Iterable[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
) -> Callable:
    """A function that gives the program of `fun` for its arguments, printed as JAX prints a jaxpr.

    Args:
      fun: the function to stage.
      static_argnums: arguments that stay Python values.
      axis_env: mapped axes in scope, as (name, size) pairs.
      return_shape: return (program, shapes of the result).

    Example:
      >>> shardax.make_jaxpr(lambda x: x + 1)(2.0)
      { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """
    if not callable(fun):
        raise TypeError("the first argument must be callable")
    statics = indices(static_argnums, "static_argnums")
    axes = [(str(name), size) for name, size in axis_env or ()]

    @functools.wraps(fun)
    def make(*args, **kwargs):
        staged = stages.stage_function(fun, args, kwargs, statics, axes, arrays_captured=True)
        program = staged.jaxpr
        left_out = [i + len(args) if i < 0 else i for i in statics]
        describe(program, fun, args, kwargs, left_out, staged.out_tree)
        return (program, stages.shape_of(staged)) if return_shape else program

    for attribute in ("__name__", "__qualname__"):
        name = getattr(fun, attribute, None)
        if name is not None:
            setattr(make, attribute, f"make_jaxpr({name})")
    make.__module__ = "jax"
    return make
