"""shardax.api_util - functions of trees as functions of their leaves, and what is said of them.

>>> leaves, tree = tree_util.tree_flatten((({"a": 1, "b": 2},), {}))
>>> flat, out_tree = flatten_fun(linear_util.wrap_init(lambda x: [x["a"] + x["b"]]), tree)
>>> flat.call_wrapped(*leaves), out_tree()
([3], PyTreeDef([*]))
"""

import inspect

from shardax import tree_util
from shardax._base.options import indices
from shardax._core import api as _api
from shardax._src.util import safe_map
from shardax._transform.program_parts import DebugInfo
from shardax.dtypes import canonicalize_dtype
from shardax.extend import linear_util

__all__ = [
    "DebugInfo",
    "argnums_partial",
    "debug_info",
    "donation_vector",
    "flatten_axes",
    "flatten_fun",
    "flatten_fun_nokwargs",
    "rebase_donate_argnums",
    "safe_map",
    "shaped_abstractify",
]


def debug_info(
    traced_for,
    fun,
    args,
    kwargs,
    *,
    static_argnums=(),
    static_argnames=(),
    result_paths_thunk=None,
    sourceinfo=None,
    signature=None,
):
    """A `DebugInfo` of a function that is about to be staged with these arguments.

    Example:
      >>> debug_info("jit", abs, (1.0,), {}).arg_names
      ('x',)
    """
    source = sourceinfo
    if source is None:
        code = getattr(inspect.unwrap(fun), "__code__", None)
        source = getattr(fun, "__name__", "<unknown>")
        if code is not None:
            source += f" at {code.co_filename}:{code.co_firstlineno}"
    paths = result_paths_thunk() if callable(result_paths_thunk) else result_paths_thunk
    names = _argument_names(fun, args, kwargs, static_argnums, static_argnames, signature)
    return DebugInfo(traced_for, source, names, paths)


def _argument_names(fun, args, kwargs, static_argnums, static_argnames, signature):
    """ "x['a']" of each leaf; None where the signature is not known."""
    static = {i % len(args) for i in static_argnums if args}
    args_ = [None if i in static else a for i, a in enumerate(args)]
    kwargs_ = {k: v for k, v in kwargs.items() if k not in static_argnames}
    try:
        bound = (signature or inspect.signature(fun)).bind(*args_, **kwargs_).arguments
    except (TypeError, ValueError):
        bound = {**{f"args[{i}]": a for i, a in enumerate(args_)}, **kwargs_}
    leaves, _ = tree_util.tree_flatten_with_path(tuple(bound.values()))
    names = tuple(bound)
    return tuple(names[path[0].idx] + tree_util.keystr(path[1:]) for path, _ in leaves)


def _flat(f, store, in_tree, *leaves):
    args, kwargs = tree_util.tree_unflatten(in_tree, leaves)
    out, out_tree = tree_util.tree_flatten(f(*args, **kwargs))
    store.store(out_tree)
    return out


def _flat_nokwargs(f, store, in_tree, *leaves):
    out, out_tree = tree_util.tree_flatten(f(*tree_util.tree_unflatten(in_tree, leaves)))
    store.store(out_tree)
    return out


def flatten_fun(fun, in_tree, *, use_eq_store=False, unk_names=False):
    """A function of leaves, given one of trees.

    `unk_names` has no effect: the package does without what it steers in JAX.

    Args:
      fun: a WrappedFun of trees.
      in_tree: the tree of (args, kwargs).

    Returns:
      A WrappedFun of their leaves that gives a list of leaves, and a function that gives the tree
      of its result once it has run.
    """
    return linear_util.transformation_with_aux2(_flat, fun, in_tree, use_eq_store=use_eq_store)


def flatten_fun_nokwargs(fun, in_tree, *, use_eq_store=False, unk_names=False):
    """As `flatten_fun`, where `in_tree` is the tree of args.

    `unk_names` has no effect: the package does without what it steers in JAX.
    """
    return linear_util.transformation_with_aux2(
        _flat_nokwargs, fun, in_tree, use_eq_store=use_eq_store
    )


def flatten_axes(name, treedef, axis_tree, *, kws=False, tupled_args=False):
    """One axis for each leaf of `treedef`, from a tree prefix in which None is an axis too.

    `kws` has no effect: the package does without what it steers in JAX.

    Raises:
      ValueError: `axis_tree` is no prefix of the tree; `name` says which argument it is.

    Example:
      >>> flatten_axes("axes", tree_util.tree_structure({"a": 1, "b": (2, 3)}), {"a": 0, "b": 1})
      [0, 1, 1]
    """
    full = tree_util.tree_unflatten(treedef, [object()] * treedef.num_leaves)
    is_none = lambda x: x is None  # noqa: E731
    try:
        axes = tree_util.broadcast_prefix(axis_tree, full, is_leaf=is_none)
    except ValueError as error:
        hint = (
            f" Note that {name} that are non-trivial pytrees should always be wrapped in a tuple "
            "representing the argument list."
            if tupled_args
            else ""
        )
        details = str(error).replace("broadcast_prefix prefix_tree", name)
        raise ValueError(
            f"{name} specification must be a tree prefix of the corresponding value; {hint}\n"
            f"{details}"
        ) from None
    return axes


def shaped_abstractify(x):
    """The ShapedArray of an array, a number or what has a shape and a dtype."""
    shape, dtype = getattr(x, "shape", None), getattr(x, "dtype", None)
    if shape is not None and dtype is not None:
        weak = bool(getattr(x, "weak_type", False))
        return _api.ShapedArray(shape, canonicalize_dtype(dtype), weak)
    return _api.typeof(x)


def donation_vector(donate_argnums, donate_argnames, in_tree, kws=True):
    """For each leaf of (args, kwargs), whether it is donated.

    `kws` has no effect: the package does without what it steers in JAX.
    """
    args, kwargs = tree_util.tree_unflatten(in_tree, [0] * in_tree.num_leaves)
    count = len(args)
    wanted = {i % count for i in donate_argnums if count}
    out = []
    for i, arg in enumerate(args):
        out += [i in wanted] * len(tree_util.tree_leaves(arg))
    for name, arg in sorted(kwargs.items()):
        out += [name in donate_argnames] * len(tree_util.tree_leaves(arg))
    return tuple(out)


def rebase_donate_argnums(donate_argnums, static_argnums):
    """Positions of donated arguments once the static ones are left out.

    Raises:
      ValueError: where an argument is both.

    Example:
      >>> rebase_donate_argnums((0, 2), (1,))
      (0, 1)
    """
    donated, static = set(donate_argnums), set(static_argnums)
    if donated & static:
        raise ValueError(
            f"rebase_donate_argnums: static_argnums={tuple(static_argnums)} and "
            f"donate_argnums={tuple(donate_argnums)} cannot intersect."
        )
    return tuple(sorted(i - sum(s < i for s in static) for i in donated))


def _with_fixed(f, dyn_argnums, fixed, *dynamic, **kwargs):
    args = list(fixed)
    for i, value in zip(dyn_argnums, dynamic, strict=True):
        args[i] = value
    return f(*args, **kwargs)


class _Fixed(tuple):
    """Arguments, of which those that cannot be hashed are equal to themselves only."""

    def __hash__(self):
        return hash(tuple(map(id, self)))

    def __eq__(self, other):
        return len(self) == len(other) and all(a is b for a, b in zip(self, other))


def argnums_partial(f, dyn_argnums, args, require_static_args_hashable=True):
    """A WrappedFun of the arguments at `dyn_argnums`, the others fixed.

    Returns:
      The function and the arguments that it takes.

    Raises:
      ValueError: with `require_static_args_hashable`, where one of the others cannot be hashed.
    """
    positions = tuple(i % len(args) for i in indices(dyn_argnums, "dyn_argnums"))
    fixed = [None if i in positions else a for i, a in enumerate(args)]
    if require_static_args_hashable:
        for i, value in enumerate(fixed):
            try:
                hash(value)
            except TypeError:
                raise ValueError(
                    f"Non-hashable static arguments are not supported: argument {i} is "
                    f"{value!r} of type {type(value).__name__}."
                ) from None
        kept = tuple(fixed)
    else:
        kept = _Fixed(fixed)
    fun = linear_util.transformation2(_with_fixed, f, positions, kept)
    return fun, tuple(args[i] for i in positions)
