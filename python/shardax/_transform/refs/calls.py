"""shardax/_transform/refs/calls.py - mapped and jitted functions that meet mutable references.

The core calls these where a call has raised `Met` (cpp/callables/transforms/references.h).
References among the arguments, and those that the function closes over, become values that go in
and come out.
"""

import functools
import weakref

from shardax import tree_util
from shardax._core import api as _core
from shardax._devices.specs import PartitionSpec
from shardax._transform.hijax.states import formal_of, with_states
from shardax._transform.jit import jit
from shardax._transform.pmap_vmap import pmap, vmap
from shardax._transform.refs import is_ref
from shardax._transform.refs.binding import (
    Bound,
    RefArguments,
    binding,
    left_in,
    no_refs,
    passing,
    reading,
    writing,
)
from shardax._transform.refs.channels import Channel, channel_of
from shardax._transform.refs.slots import Met
from shardax._transform.shard_map.plan import Infer, Plan, own_spec


class _Call:
    """The static parts of a call: its structure, the leaves that are references, static
    arguments."""

    def __init__(self, tree, positions, names, statics):
        self.tree, self.positions, self.names, self.statics = tree, positions, names, statics

    def _key(self):
        return self.tree, self.positions, self.names, self.statics

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


class _Functional:
    """A function as one of values; its jitted form."""

    def __init__(self, fun):
        try:
            self._fun = weakref.ref(fun)
        except TypeError:
            self._fun = lambda: fun
        self.positions = weakref.WeakKeyDictionary()  # by their stand-ins: among the references

        def call(*values):
            return self._call(*values)

        call.__name__ = call.__qualname__ = getattr(fun, "__name__", "call")
        self.jitted = jit(call, static_argnums=0)

    def _call(self, form, given, values):
        fun = self._fun()
        formals = [
            formal_of(value, f"passed in as the argument {name}")
            for value, name in zip(given, form.names, strict=True)
        ]
        self.positions.update((formal, i) for i, formal in enumerate(formals))
        args, kwargs = form.arguments(values, [ref.passed for ref in formals])
        out = no_refs(fun(*args, **kwargs), fun, "jit")
        return out, left_in(formals)


_functions = weakref.WeakKeyDictionary()


def _functional(fun):
    try:
        if fun not in _functions:
            _functions[fun] = _Functional(fun)
        return _functions[fun]
    except TypeError:  # no weak references to it
        return _Functional(fun)


class RefCall:
    """A call of jit(fun) whose arguments hold references, or that closes over some."""

    def __init__(self, fun, static_positions, static_names, args, kwargs):
        self.functional = _functional(fun)
        count = len(args)
        fixed = {n + count if n < 0 else n for n in static_positions}
        places = tuple((n, args[n]) for n in sorted(fixed) if n < count)
        names = tuple((n, kwargs[n]) for n in sorted(kwargs) if n in static_names)
        self.statics = places, names
        positional = [x for n, x in enumerate(args) if n not in fixed]
        self.dynamic = positional, {n: x for n, x in kwargs.items() if n not in static_names}
        leaves, self.tree = tree_util.tree_flatten(self.dynamic)
        leaves = with_states(leaves)
        self.given = RefArguments("jit", fun, args, kwargs)
        self.positions = tuple(i for i, leaf in enumerate(leaves) if is_ref(leaf))
        self.values = [leaf for leaf in leaves if not is_ref(leaf)]

    def actual(self, ref):
        """The channel of the reference that was passed, given that of its stand-in."""
        self.given.check_closed(ref)
        place = self.functional.positions.get(ref.ref) if isinstance(ref, Channel) else None
        return ref if place is None else channel_of(self.given.refs[place])

    def through(self, do):
        """do(the function of values, its arguments)."""
        names = tuple(self.given.names) if self.given.refs else ()
        form = _Call(self.tree, self.positions, names, self.statics)
        with passing(self):
            return do(self.functional.jitted, (form, reading(self.given.refs), self.values))


def call_jitted(fun, static_positions, static_names, args, kwargs):
    """A call of jit(fun) whose arguments hold references."""
    call = RefCall(fun, static_positions, static_names, args, kwargs)
    out, new = call.through(lambda f, arguments: f(*arguments))
    writing(call.given.refs, new)
    return out


class _MappedRefs:
    """The references among the arguments of a mapped function, mapped like arrays."""

    def __init__(self, api, fun, in_axes, args):
        self.api, self.fun = api, fun
        in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        axes = tree_util.broadcast_prefix(in_axes, args, is_leaf=lambda x: x is None)
        leaves, self.tree = tree_util.tree_flatten(args)
        self.leaves = with_states(leaves)
        self.refs = [leaf for leaf in self.leaves if is_ref(leaf)]
        RefArguments(api, fun, args)
        self.ref_axes = [axis for axis, leaf in zip(axes, self.leaves) if is_ref(leaf)]
        self.values = [leaf for leaf in self.leaves if not is_ref(leaf)]
        self.value_axes = [axis for axis, leaf in zip(axes, self.leaves) if not is_ref(leaf)]

    def call(self, held, values, kwargs):
        """The function, given the references' values; with those that it leaves."""
        formals = [formal_of(value, None) for value in held]
        own, values = iter(formals), iter(values)
        given = [next(own).passed if is_ref(leaf) else next(values) for leaf in self.leaves]
        out = self.fun(*tree_util.tree_unflatten(self.tree, given), **kwargs)
        return no_refs(out, self.fun, self.api), left_in(formals)

    def on_one_device(self, refs):
        """The function of one device, given the values of the references too that it closes over,
        which all devices share."""

        def one_device(held, closed, values, kwargs):
            with Bound(refs, closed) as bound:
                out = self.call(held, values, kwargs)
                for ref, before, after in zip(refs, closed, bound.values(refs)):
                    if before is not after:
                        raise ValueError(
                            f"{self.api}: the function writes to a mutable array reference of type "
                            f"{ref.aval} that it closes over, which all devices share. Pass the "
                            "reference as a mapped argument."
                        )
                return out

        one_device.__name__ = getattr(self.fun, "__name__", "call")
        one_device.binds_references = True
        return one_device


def call_vmapped(fun, in_axes, out_axes, axis_name, axis_size, args, kwargs):
    """A call of vmap(fun) with references among its arguments."""
    given = _MappedRefs("vmap", fun, in_axes, args)
    if not given.refs:
        raise Met(None, _core.staging_generation())
    mapped = vmap(
        given.call,
        in_axes=(given.ref_axes, given.value_axes, 0),
        out_axes=(out_axes, given.ref_axes),
        axis_name=axis_name or None,
        axis_size=axis_size if axis_size >= 0 else None,
    )
    out, new = mapped(reading(given.refs), given.values, kwargs)
    writing(given.refs, new)
    return out


def call_pmapped(fun, in_axes, out_axes, axis_name, axis_size, statics, args, kwargs):
    """A call of pmap(fun) with references among its arguments, or that reads some."""
    fixed = {n: args[n] for n in statics}
    dynamic = [x for n, x in enumerate(args) if n not in fixed]

    def of_dynamic(*args, **kwargs):
        args = list(args)
        for n, x in sorted(fixed.items()):
            args.insert(n, x)
        return fun(*args, **kwargs)

    functools.update_wrapper(of_dynamic, fun)
    if isinstance(in_axes, tuple | list):
        in_axes = tuple(axis for n, axis in enumerate(in_axes) if n not in fixed)
    given = _MappedRefs("pmap", of_dynamic, in_axes, tuple(dynamic))

    def stage(refs):
        mapped = pmap(
            given.on_one_device(refs),
            axis_name=axis_name or None,
            in_axes=(given.ref_axes, None, given.value_axes, 0),
            out_axes=(out_axes, given.ref_axes),
            axis_size=axis_size if axis_size >= 0 else None,
        )
        out, new = mapped(reading(given.refs), reading(refs), given.values, kwargs)
        writing(given.refs, new)
        return out

    return binding("pmap", stage)


def call_shard_mapped(fun, plan, args, kwargs):
    """A call of shard_map(fun) with references among its arguments, or that reads some. A
    reference's value is split as an argument is, before the call and after it."""
    specs = plan.in_specs
    if specs is Infer:
        leaves, tree = tree_util.tree_flatten(args)
        names = plan.resolved()[1]
        specs = tree.unflatten(
            [own_spec(leaf._read() if is_ref(leaf) else leaf, names) for leaf in leaves]
        )
    given = _MappedRefs("shard_map", fun, specs, args)

    def stage(refs):
        inner = Plan(
            plan.mesh,
            (given.ref_axes, PartitionSpec(), given.value_axes, PartitionSpec()),
            (plan.out_specs, given.ref_axes),
            plan.check,
            plan.axis_names,
            plan.smap,
        )
        mapped = _core.shard_map(given.on_one_device(refs), inner)
        out, new = mapped(reading(given.refs), reading(refs), given.values, kwargs)
        writing(given.refs, new)
        return out

    return binding("shard_map", stage)
