"""shardax.experimental.pjit - the older name of jit, with the older names of its options."""

from shardax._devices.constraints import with_sharding_constraint
from shardax._transform.jit import jit

__all__ = ["pjit", "with_sharding_constraint"]


def pjit(
    fun,
    in_axis_resources=None,
    out_axis_resources=None,
    static_argnums=None,
    donate_argnums=None,
    **options,
):
    """jit; in_axis_resources and out_axis_resources are in_shardings and out_shardings.

    Example:
      >>> with Mesh(devices()[:2], ("x",)):
      ...     pjit(lambda x: x * 2, P("x"), P("x"))(jnp.ones(4)).sharding.spec
      P('x',)
    """
    options.setdefault("in_shardings", in_axis_resources)
    options.setdefault("out_shardings", out_axis_resources)
    return jit(fun, static_argnums=static_argnums, donate_argnums=donate_argnums, **options)
