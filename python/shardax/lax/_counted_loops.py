"""shardax/lax/_counted_loops.py - loops that count: fori_loop, and map, which applies a function to
slices."""

import numpy as np

from shardax import tree_util
from shardax._base.array_functions import concatenate
from shardax._base.arrays import asarray
from shardax._core import api as _core
from shardax._transform.pmap_vmap import vmap
from shardax._transform.refs import references_exist
from shardax._transform.refs.binding import (
    RefArguments,
    check_loop,
    held_values,
    no_refs,
    write_held,
)
from shardax.dtypes import issubdtype
from shardax.lax import _control_python
from shardax.lax._carries import settled_carry
from shardax.lax._control_cache import cached_control_flow
from shardax.lax._control_checks import check_structure, check_types
from shardax.lax._loops import (
    bind_scan,
    flatten,
    scan,
    scan_length,
    scan_with_held,
    while_loop,
)

__all__ = ["fori_loop", "map"]


@cached_control_flow("map", ["f"], ["batch_size"])
def map(f, xs, *, batch_size=None):
    """f over the leading axis of xs, one slice at a time (or `batch_size` of them at once),
    results stacked.

    Example:
      >>> lax.map(lambda x: x + 1, jnp.arange(3))
      Array([1, 2, 3], dtype=int32)
    """
    if not callable(f):
        raise TypeError(f"lax.map: f argument should be a callable, got {f!r}.")

    if references_exist() and RefArguments("map", f, (xs,)).refs:
        return scan(lambda _, x: ((), f(x)), (), xs)[1]
    return _map(f, xs, batch_size)


def _map(f, xs, batch_size):
    leaves, treedef = flatten(xs)
    total = scan_length(leaves, None)
    if not batch_size and _control_python.active():
        return scan(lambda _, x: ((), f(x)), (), xs)[1]
    if not batch_size:
        example = tree_util.tree_unflatten(treedef, [_core.element_type(x) for x in leaves])
        staged = _core.stage_once("scan", f, (example,))
        return scan_with_held(staged, [], leaves, total, False, 1, staged.out_tree.unflatten)
    whole = total // batch_size * batch_size
    g = vmap(f)
    if whole == 0:
        return g(xs)
    head = tree_util.tree_map(
        lambda x: x[:whole].reshape((whole // batch_size, batch_size, *x.shape[1:])),
        tree_util.tree_unflatten(treedef, leaves),
    )
    done = scan(lambda _, x: ((), g(x)), (), head)[1]
    done = tree_util.tree_map(lambda y: y.reshape((whole, *y.shape[2:])), done)
    if whole == total:
        return done
    tail = g(tree_util.tree_unflatten(treedef, [x[whole:] for x in leaves]))
    return tree_util.tree_map(lambda a, b: concatenate([a, b]), done, tail)


@cached_control_flow("fori_loop", ["body_fun"], ["lower", "upper", "unroll"])
def fori_loop(lower, upper, body_fun, init_val, *, unroll=None):
    """carry = body_fun(i, carry) for i in lower .. upper - 1.

    With bounds that are known when it is called it has gradients, otherwise forward derivatives
    only.

    Args:
      lower, upper: integers or integer scalars of one type.
      body_fun: a function of the index and the carry that returns a carry of the same structure
        and types.
      init_val: the first carry.
      unroll: as in `scan`; needs static bounds.

    Example:
      >>> lax.fori_loop(0, 3, lambda i, x: x + i, 10)
      Array(13, dtype=int32, weak_type=True)
    """
    if not callable(body_fun):
        raise TypeError("lax.fori_loop: body_fun argument should be callable.")
    low, high = _core.typeof(lower), _core.typeof(upper)
    if low.dtype != high.dtype:
        if low.weak_type or high.weak_type:
            dtype = high.dtype if low.weak_type else low.dtype
            if issubdtype(low.dtype, np.integer) and issubdtype(high.dtype, np.integer):
                lower = asarray(lower, dtype)
                upper = asarray(upper, dtype)
                low, high = _core.typeof(lower), _core.typeof(upper)
        if low.dtype != high.dtype:
            raise TypeError(
                f"lower and upper arguments to fori_loop must have equal types, got {low.dtype} "
                f"and {high.dtype}"
            )
    static = _core.is_concrete(lower) and _core.is_concrete(upper)
    if static and _control_python.active():
        return _control_python.fori_loop(int(lower), int(upper), body_fun, init_val)
    if static:
        if not references_exist():
            return _static_fori(lower, upper, body_fun, init_val, unroll)
        given = RefArguments("fori_loop", body_fun, (0, init_val))
        if not given.refs:
            return _static_fori(lower, upper, body_fun, init_val, unroll)

        def body(i, carry):
            args, _, _ = given.formal((i, carry))
            return no_refs(body_fun(*args), body_fun, "fori_loop")

        (_, init), _ = given.values()
        return _static_fori(lower, upper, body, init, unroll, given)
    if unroll is not None and unroll is not False and unroll != 1:
        raise ValueError(
            "Can only use `unroll` in `fori_loop` if the loop bounds are statically known."
        )

    def loop_cond(state):
        return state[0] < state[1]

    def loop_body(state):
        i, n, value = state
        return i + 1, n, body_fun(i, value)

    return while_loop(loop_cond, loop_body, (lower, upper, init_val))[2]


def _static_fori(lower, upper, body_fun, init_val, unroll, given=None):
    """A scan that counts beside the carry, so that it has a transpose."""
    carry, tree = flatten(init_val)
    counter = _core.asarray(lower)

    def stage(body_fun, types):
        example = (_core.typeof(counter), tree_util.tree_unflatten(tree, types))
        staged = _core.stage_once("scan", body_fun, example)
        check_structure("scan", "loop_carry[1]", tree, staged.out_tree)
        return staged, staged.out_avals

    body_fun, carry, types, staged = settled_carry(body_fun, carry, stage, pair=False)
    check_types("scan", "loop_carry[1]", tree, types, staged.out_avals)
    references = staged.references
    check_loop(references)
    held = held_values(references, carry, given)
    program, closed = staged.closed()
    program = _core.counting(program, len(closed), len(held))
    unroll = 1 if unroll is None or isinstance(unroll, bool) else unroll
    steps = max(int(upper) - int(lower), 0)
    out = bind_scan(program, closed, [*held, counter, *carry], [], steps, False, unroll)
    last = tree_util.tree_unflatten(tree, out[len(held) + 1 :])
    return write_held(references, out[: len(held)], carry, last, given)
