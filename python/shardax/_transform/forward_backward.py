"""shardax/_transform/forward_backward.py - reverse mode as two functions."""

from collections.abc import Callable, Sequence

from shardax._base.options import check_callable, indices
from shardax._transform.derivatives import vjp
from shardax._transform.jit import jit


def fwd_and_bwd(
    fun: Callable, argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
):
    """Two functions, of which the second can be compiled once for all calls of the first.

    Args:
      fun: a function of trees of arrays.
      argnums: the positions of the arguments that are differentiated.
      has_aux: `fun` returns (result, anything).
      jitted: whether both are compiled. Without it, the residuals differ in kind from call to call,
        and compiling the second alone means to compile it at every call.

    Returns:
      fwd(*args, **kwargs) -> (result, residuals), with has_aux (result, residuals, anything).
      bwd(residuals, cotangent) -> a cotangent per argument that `argnums` selects, in a tuple
      unless it is an integer.

    Example:
      >>> fwd, bwd = shardax.fwd_and_bwd(lambda x, y: x * y, argnums=(0, 1))
      >>> out, residuals = fwd(2.0, 3.0)
      >>> bwd(residuals, 1.0)
      (Array(3., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    """
    check_callable(fun)
    positions = indices(argnums, "argnums")

    def fwd(*args, **kwargs):
        places = [n + len(args) if n < 0 else n for n in positions]
        if any(not 0 <= n < len(args) for n in places):
            raise ValueError(
                f"fwd_and_bwd: argnums={argnums} must select positional arguments, of which "
                f"{len(args)} were given."
            )

        def of_selected(*selected):
            given = list(args)
            for n, value in zip(places, selected):
                given[n] = value
            return fun(*given, **kwargs)

        return vjp(of_selected, *(args[n] for n in places), has_aux=has_aux)

    def bwd(residuals, cotangent):
        out = residuals(cotangent)
        return out[0] if isinstance(argnums, int) else out

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)
