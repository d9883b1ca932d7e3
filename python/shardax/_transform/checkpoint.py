"""shardax/_transform/checkpoint.py - checkpoint (remat): derivatives that compute intermediate
values again rather than keep them; its policies and checkpoint_name."""

import functools
import weakref
from typing import NamedTuple

from shardax import tree_util
from shardax._base.function_names import named_like
from shardax._base.options import Parameters, check_callable, indices, names
from shardax._core import api as _core
from shardax._core.pytree import flatten_for_call
from shardax._transform.refs import references_exist
from shardax._transform.refs.binding import (
    RefArguments,
    held_values,
    left_in,
    no_refs,
    write_held,
    writing,
)

__all__ = [
    "Offloadable",
    "Recompute",
    "Saveable",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
    "saved_residuals",
]


class _Recompute:
    """A policy's word for a result that is computed again."""

    def __bool__(self):
        return False

    def __repr__(self):
        return "Recompute"


class _Saveable:
    """A policy's word for a result that is kept."""

    def __repr__(self):
        return "Saveable"


Recompute, Saveable = _Recompute(), _Saveable()


class Offloadable(NamedTuple):
    """A policy's word for a result that is kept in another memory. Devices and host share one here:
    it is kept."""

    src: str
    dst: str


_policy_objects = weakref.WeakKeyDictionary()


def _policy_object(policy):
    if policy is None:
        return None
    if not callable(policy):
        raise TypeError(f"checkpoint: policy must be callable or None, got {policy!r}")
    try:
        return _policy_objects.setdefault(policy, _core.CheckpointPolicy(policy))
    except TypeError:  # cannot be referenced weakly
        return _core.CheckpointPolicy(policy)


def checkpoint(
    fun,
    *,
    prevent_cse=True,
    policy=None,
    static_argnums=(),
    static_argnames=(),
    concrete=False,
):
    """`fun`, whose derivatives compute its intermediate values again instead of keeping them.

    The value is the same. Reverse-mode memory falls to the inputs of `fun` and the values that
    `policy` keeps; the price is one more evaluation.

    Args:
      fun: a function of trees of arrays.
      prevent_cse: keep the second evaluation from being merged with the first. Needed but for
        functions called in scan. A tuple of bools, each for an argument or, as a prefix, for the
        leaves of one, says it by argument. With keyword arguments it is for (args, kwargs).
      policy: policy(primitive, *avals, **params) -> bool says which results to keep; see
        `checkpoint_policies`. None: none.
      static_argnums, static_argnames: positions and names of arguments that are not arrays.
      concrete: accepted for compatibility; must be False.

    Returns:
      A function of the same arguments.

    Source: Griewank and Walther, Algorithm 799: Revolve (ACM TOMS 26, 2000).

    Example:
      >>> f = shardax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
      >>> shardax.grad(f)(1.0).round(3)
      Array(0.36, dtype=float32, weak_type=True)
    """
    check_callable(fun)
    if concrete:
        raise NotImplementedError(
            "The 'concrete' option to jax.checkpoint / jax.remat is deprecated; use static_argnums "
            "for arguments whose values the function needs."
        )
    if isinstance(prevent_cse, list):
        prevent_cse = tuple(prevent_cse)
    if not isinstance(prevent_cse, (bool, tuple)):
        raise TypeError(f"prevent_cse must be a bool or tuple of bools, got {type(prevent_cse)}")
    given_policy, policy = policy, _policy_object(policy)
    statics = indices(static_argnums, "static_argnums")
    fixed_names = set(names(static_argnames, "static_argnames"))
    positions = Parameters(fun).positional if fixed_names else ()

    @named_like(fun)
    def checkpointed(*args, **kwargs):
        fixed = {name: kwargs[name] for name in fixed_names & kwargs.keys()}
        if fixed:
            return checkpoint(
                functools.partial(fun, **fixed),
                prevent_cse=prevent_cse,
                policy=given_policy,
                static_argnums=statics,
            )(*args, **{name: x for name, x in kwargs.items() if name not in fixed})

        def with_formals(*args, **kwargs):
            args, kwargs, formals = given.formal(args, kwargs)
            out = no_refs(fun(*args, **kwargs), fun, "checkpoint")
            return out, left_in(formals)

        static = {n + len(args) if n < 0 else n for n in statics}
        unhashable = {n: args[n] for n in static if n < len(args) and not _hashable(args[n])}
        if unhashable:  # the same objects in this call only
            return checkpoint(
                _with_fixed(fun, unhashable),
                prevent_cse=prevent_cse,
                policy=given_policy,
                static_argnums=tuple(
                    n - sum(u < n for u in unhashable) for n in static - unhashable.keys()
                ),
                static_argnames=static_argnames,
            )(*(arg for n, arg in enumerate(args) if n not in unhashable), **kwargs)
        static |= {n for n, name in enumerate(positions[: len(args)]) if name in fixed_names}
        if not references_exist():
            return call(fun, static, args, kwargs)
        given = RefArguments("checkpoint", fun, args, kwargs)
        if not given.refs:
            return call(fun, static, args, kwargs)
        values, named = given.values()
        out, new = call(with_formals, static, values, named, given)
        writing(given.refs, new)
        return out

    def call(fun, static, args, kwargs, given=None):
        dynamic = [arg for n, arg in enumerate(args) if n not in static]
        leaves = [_core.asarray(leaf) for leaf in flatten_for_call((dynamic, kwargs))[0]]
        staged = _core.stage_once("checkpoint", fun, args, kwargs, sorted(static))
        program, closed = staged.closed()
        references = staged.references
        held = held_values(references, leaves, given)
        if isinstance(prevent_cse, bool):
            barriers = [prevent_cse] * (len(closed) + len(held) + len(leaves))
        else:
            trees = (tuple(dynamic), kwargs) if kwargs else tuple(dynamic)
            barriers = tree_util.broadcast_prefix(prevent_cse, trees)
            barriers = [False] * (len(closed) + len(held)) + barriers
        out = _core.checkpoint_call(program, policy, barriers, [*closed, *held, *leaves])
        results = tree_util.tree_unflatten(staged.out_tree, out[len(held) :])
        return write_held(references, out[: len(held)], leaves, results, given)

    return checkpointed


def _hashable(x):
    try:
        hash(x)
    except TypeError:
        return False
    return True


def _with_fixed(fun, fixed):
    """`fun` with some positional arguments in place."""

    @functools.wraps(fun)
    def rest(*args, **kwargs):
        args = list(args)
        for n, value in sorted(fixed.items()):
            args.insert(n, value)
        return fun(*args, **kwargs)

    return rest


def checkpoint_name(x, name):
    """`x`, with a name by which policies of `checkpoint` can choose to keep it.

    Example:
      >>> f = lambda x: shardax.ad_checkpoint.checkpoint_name(jnp.sin(x), "hidden") ** 2
      >>> keep = shardax.ad_checkpoint.checkpoint_policies.save_only_these_names("hidden")
      >>> shardax.grad(shardax.ad_checkpoint.checkpoint(f, policy=keep))(1.0)
      Array(0.9092974, dtype=float32, weak_type=True)
    """
    return tree_util.tree_map(
        lambda leaf: _core.bind("name", {"name": str(name)}, [_core.asarray(leaf)])[0], x
    )


def saved_residuals(f, *args, **kwargs):
    """The values that the reverse derivative of f(*args, **kwargs) keeps from its forward pass.

    Args:
      f: a function of trees of arrays.
      *args, **kwargs: its arguments; shapes and dtypes are enough.

    Returns:
      A list of pairs: a type, and where the value comes from. Values that calls inside f keep are
      said to come from the line that computes them.

    Example:
      >>> shardax.ad_checkpoint.saved_residuals(lambda x: 3.0 * x**2, 1.0)[-1][0]
      ShapedArray(float32[], weak_type=True)
    """
    return _core.saved_residuals(f, args, kwargs)


def print_saved_residuals(f, *args, **kwargs):
    """Prints the list of `saved_residuals`, a value a line.

    Example:
      >>> shardax.ad_checkpoint.print_saved_residuals(lambda x: x * x, 1.0)
      f32[] from the argument x
    """
    for aval, source in saved_residuals(f, *args, **kwargs):
        print(f"{aval.str_short(short_dtypes=True)} {source}")


def _everything_saveable(*_, **__):
    return True


def _nothing_saveable(*_, **__):
    return False


_CONTRACTIONS = ("dot_general", "conv_general_dilated")


def _dots_saveable(primitive, *_, **__):
    return primitive.name in _CONTRACTIONS


def _dots_with_no_batch_dims_saveable(primitive, *_, **params):
    return primitive.name == "dot_general" and params["dimension_numbers"][1] == ((), ())


def _save_anything_except_these_names(*names_not_to_save):
    """Keep all but the values that checkpoint_name gave one of these names."""
    names = frozenset(names_not_to_save)

    def policy(primitive, *_, **params):
        return not (primitive.name == "name" and params["name"] in names)

    return policy


def _save_any_names_but_these(*names_not_to_save):
    """Keep the values that have a name, but for these names."""
    names = frozenset(names_not_to_save)

    def policy(primitive, *_, **params):
        return primitive.name == "name" and params["name"] not in names

    return policy


def _save_only_these_names(*names_which_can_be_saved):
    """Keep the values that checkpoint_name gave one of these names."""
    names = frozenset(names_which_can_be_saved)

    def policy(primitive, *_, **params):
        return primitive.name == "name" and params["name"] in names

    return policy


def _save_from_both_policies(policy_1, policy_2):
    """Keep the values that one of the two policies keeps."""

    def policy(primitive, *avals, **params):
        return policy_1(primitive, *avals, **params) or policy_2(primitive, *avals, **params)

    return policy


def _save_and_offload_only_these_names(
    *, names_which_can_be_saved, names_which_can_be_offloaded, offload_src, offload_dst
):
    """Keeps the values that either list names. `offload_src` and `offload_dst` have no effect: all
    memory is the host's."""
    saved, offloaded = set(names_which_can_be_saved), set(names_which_can_be_offloaded)
    if saved & offloaded:
        raise ValueError(
            "The names should be exclusive and should not intersect in `names_which_can_be_saved` "
            f"and `names_which_can_be_offloaded`. Got names_which_can_be_saved={saved}, "
            f"names_which_can_be_offloaded={offloaded} and the intersection={saved & offloaded}"
        )
    return _save_only_these_names(*saved, *offloaded)


def _offload_dot_with_no_batch_dims(offload_src, offload_dst):
    """As dots_with_no_batch_dims_saveable. `offload_src` and `offload_dst` have no effect: all
    memory is the host's."""
    return _dots_with_no_batch_dims_saveable


class _Policies:
    """The choices of results that checkpoint keeps: policies, and functions that make some."""

    everything_saveable = staticmethod(_everything_saveable)
    nothing_saveable = staticmethod(_nothing_saveable)
    dots_saveable = staticmethod(_dots_saveable)
    checkpoint_dots = staticmethod(_dots_saveable)
    dots_with_no_batch_dims_saveable = staticmethod(_dots_with_no_batch_dims_saveable)
    checkpoint_dots_with_no_batch_dims = staticmethod(_dots_with_no_batch_dims_saveable)
    save_anything_except_these_names = staticmethod(_save_anything_except_these_names)
    save_any_names_but_these = staticmethod(_save_any_names_but_these)
    save_only_these_names = staticmethod(_save_only_these_names)
    save_from_both_policies = staticmethod(_save_from_both_policies)
    save_and_offload_only_these_names = staticmethod(_save_and_offload_only_these_names)
    offload_dot_with_no_batch_dims = staticmethod(_offload_dot_with_no_batch_dims)


checkpoint_policies = _Policies()
