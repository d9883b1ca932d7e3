"""shardax/_transform/ref_calls.py - jit and vmap of functions that meet mutable references.

The core calls these where a call has raised `Met` (cpp/callables/references.h). References among
the arguments, and those that the function closes over, become values that go in and come out.
"""

import weakref

from shardax import tree_util
from shardax._base.api_errors import argument_paths
from shardax._core import api as _core
from shardax._transform.jit import jit
from shardax._transform.maps import vmap
from shardax._transform.refs import (
    Bound,
    Met,
    Ref,
    binding,
    is_ref,
    no_refs,
    reading,
    writing,
)


class _Call:
    """What of a call is static: its structure, which leaves are references, static arguments, and
    the references that the function closes over."""

    def __init__(self, tree, positions, statics, refs):
        self.tree, self.positions, self.statics, self.refs = tree, positions, statics, refs

    def _key(self):
        return self.tree, self.positions, self.statics, self.refs

    def __eq__(self, other):
        return self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def arguments(self, values, refs):
        """(args, kwargs) of the function."""
        values, refs = iter(values), iter(refs)
        count = self.tree.num_leaves
        leaves = [next(refs) if i in self.positions else next(values) for i in range(count)]
        args, kwargs = tree_util.tree_unflatten(self.tree, leaves)
        places, names = self.statics
        for place, value in places:
            args.insert(place, value)
        return args, {**kwargs, **dict(names)}


def _once(refs, api):
    seen = {}
    for place, ref in refs:
        if ref in seen:
            raise ValueError(
                "only one reference to a mutable array may be passed as an argument to a function, "
                f"but when tracing {api} the mutable array reference of type {ref.aval} appeared "
                f"at both {seen[ref]} and {place}."
            )
        seen[ref] = place


# By function: its jitted form, in which references are values, and those that it closes over.
_jitted = weakref.WeakKeyDictionary()


def _functional(fun):
    try:
        alive = weakref.ref(fun)
    except TypeError:

        def alive():
            return fun

    def call(form, held, given, values):
        fun = alive()
        formals = [Ref(value) for value in given]
        args, kwargs = form.arguments(values, formals)
        with Bound(form.refs, held) as bound:
            api = f"function {_core.describe_function(fun)} traced for jit"
            out = no_refs(fun(*args, **kwargs), api)
            return out, bound.values(form.refs), [ref._value for ref in formals]

    call.binds_references = True  # what it meets is for `binding` to know
    return jit(call, static_argnums=0)


def call_jitted(fun, static_positions, static_names, args, kwargs):
    """A call of jit(fun) whose arguments hold references, or that closes over some."""
    try:
        functional, closed = _jitted.setdefault(fun, (None, []))
        if functional is None:
            functional = _functional(fun)
            _jitted[fun] = functional, closed
    except TypeError:  # no weak references to it
        functional, closed = _functional(fun), []
    api = f"{_core.describe_function(fun)} for jit"
    count = len(args)
    fixed = {n + count if n < 0 else n for n in static_positions}
    places = tuple((n, args[n]) for n in sorted(fixed) if n < count)
    names = tuple((n, kwargs[n]) for n in sorted(kwargs) if n in static_names)
    dynamic = [x for n, x in enumerate(args) if n not in fixed]
    tree_args = (dynamic, {n: x for n, x in kwargs.items() if n not in static_names})
    paths, tree = tree_util.tree_flatten_with_path(tree_args)
    leaves = [leaf for _, leaf in paths]
    positions = tuple(i for i, leaf in enumerate(leaves) if is_ref(leaf))
    given = [leaves[i] for i in positions]
    names_of = argument_paths(fun, args, kwargs, list(static_positions))
    _once([(names_of[i], leaves[i]) for i in positions], api)
    values = [leaf for leaf in leaves if not is_ref(leaf)]

    def stage(refs):
        for ref in refs:
            if ref in given:
                raise ValueError(
                    f"when tracing {api}, a mutable array reference of type {ref.aval} was both "
                    "closed over and passed as an argument"
                )
            if ref not in closed:
                closed.append(ref)
        form = _Call(tree, positions, (places, names), tuple(closed))
        out, held, new = functional(form, reading(closed), reading(given), values)
        writing(closed, held)
        writing(given, new)
        return out

    return binding("jit", stage)


def call_vmapped(fun, in_axes, out_axes, axis_name, axis_size, args, kwargs):
    """A call of vmap(fun) with references among its arguments: mapped like arrays."""
    axes = tree_util.broadcast_prefix(
        tuple(in_axes) if isinstance(in_axes, list) else in_axes, args, is_leaf=lambda x: x is None
    )
    leaves, tree = tree_util.tree_flatten(args)
    refs = [leaf for leaf in leaves if is_ref(leaf)]
    if not refs:
        raise Met(None, _core.staging_generation())
    _once([(f"args leaf {i}", leaf) for i, leaf in enumerate(leaves) if is_ref(leaf)], "vmap")
    ref_axes = [axis for axis, leaf in zip(axes, leaves) if is_ref(leaf)]

    def batched(held, values, kwargs):
        formals = [Ref(value) for value in held]
        own, values = iter(formals), iter(values)
        given = [next(own) if is_ref(leaf) else next(values) for leaf in leaves]
        out = fun(*tree_util.tree_unflatten(tree, given), **kwargs)
        api = f"function {_core.describe_function(fun)} mapped by vmap"
        return no_refs(out, api), [ref._value for ref in formals]

    values = [leaf for leaf in leaves if not is_ref(leaf)]
    value_axes = [axis for axis, leaf in zip(axes, leaves) if not is_ref(leaf)]
    mapped = vmap(
        batched,
        in_axes=(ref_axes, value_axes, 0),
        out_axes=(out_axes, ref_axes),
        axis_name=axis_name or None,
        axis_size=axis_size if axis_size >= 0 else None,
    )
    out, new = mapped(reading(refs), values, kwargs)
    writing(refs, new)
    return out
