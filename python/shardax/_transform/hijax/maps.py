"""shardax/_transform/hijax/maps.py - vmap and shard_map of values that are no arrays (types.py).

A `MappingSpec` or `HiPspec` stands for the axes or PartitionSpecs of the arrays of one value. The
function becomes one of these arrays, and of the value's carriers if the spec says how tangents are
split.
"""

import dataclasses
import functools

from shardax import tree_util
from shardax._core import api as _core
from shardax._transform.hijax.slots import define
from shardax._transform.hijax.specs import stands_for_arrays
from shardax._transform.hijax.states import typeof_or_none
from shardax._transform.hijax.types import _unflatten, carrier_types, is_hi, lo_types, lowered
from shardax._transform.primitives import Primitive, jvp_rules
from shardax._transform.zeros import Zero, zeros_like_aval


def _of_arrays(spec):
    """Its entries for the arrays."""
    if hasattr(spec, "to_lo"):
        return tuple(spec.to_lo())
    fields = [getattr(spec, f.name) for f in dataclasses.fields(spec)]
    found = tree_util.tree_leaves(fields, lambda x: x is None or stands_for_arrays(x))
    return tuple(axis for x in found for axis in (_of_arrays(x) if stands_for_arrays(x) else (x,)))


def _says_tangents(spec):
    """True if a spec says how tangents are split."""
    own = getattr(type(spec), "to_tangent_spec", None)
    return own is not None and own is not HiPspec.to_tangent_spec


def _opened(spec):
    """Its entries for the arrays, and for the carriers."""
    tangents = spec.to_tangent_spec() if _says_tangents(spec) else ()
    return _of_arrays(spec), _of_arrays(tangents) if stands_for_arrays(tangents) else tangents


def _opened_specs(specs, count=None):
    """The tree with the specs of arrays in their place; one for `count` arguments."""
    if count is not None and stands_for_arrays(specs):
        return (_opened(specs),) * count
    return tree_util.tree_map(
        lambda s: _opened(s) if stands_for_arrays(s) else s,
        specs,
        is_leaf=lambda s: s is None or stands_for_arrays(s),
    )


def _carries(specs):
    """True if carriers go along: each spec for a value says how."""
    found = tree_util.tree_leaves(specs, is_leaf=stands_for_arrays)
    return all(_says_tangents(s) for s in found if stands_for_arrays(s))


# The arrays of a value, and its carriers, without the carriers.
left_p = Primitive("hi_left")
left_p.multiple_results = True
define(left_p, lambda *flat, types: list(flat[: len(types)]), lambda types: types)


def _left_jvp(primals, tangents, *, types):
    if not all(type(t) is Zero for t in tangents[len(types) :]):
        raise NotImplementedError(
            "a value that is no array is differentiated across vmap or shard_map, whose spec for "
            "it does not say how tangents are split: its HiPspec must define to_tangent_spec."
        )
    return left_p.bind(*primals, types=types), list(tangents[: len(types)])


jvp_rules[left_p] = _left_jvp


def _parts(aval, value, carried):
    """The arrays of a value, and the carriers that go along."""
    flat, count = lowered(aval, value), len(lo_types(aval))
    if not carried and len(flat) > count:
        flat = left_p.bind(*flat, types=tuple(map(_core.typeof, flat[:count])))
    return tuple(flat[:count]), tuple(flat[count:])


def _together(aval, parts):
    lows, carriers = parts
    if not carriers:
        carriers = [zeros_like_aval(t) for t in carrier_types(aval)]
    return _unflatten(aval, [*lows, *carriers])


def _open(tree, carried):
    """The tree with tuples of arrays in place of values that are no arrays, and the function that
    puts them back."""
    leaves, structure = tree_util.tree_flatten(tree)
    avals = [typeof_or_none(leaf) for leaf in leaves]
    leaves = [_parts(a, x, carried) if is_hi(a) else x for a, x in zip(avals, leaves)]

    def close(opened):
        parts = structure.flatten_up_to(opened)
        return structure.unflatten(
            [_together(a, p) if is_hi(a) else p for a, p in zip(avals, parts)]
        )

    return structure.unflatten(leaves), close


def of_arrays(transform, fun, in_specs, out_specs):
    """transform(fun, in_specs, out_specs) by the arrays of the arguments."""
    closing = {}

    def opened_fun(*args, **kwargs):
        args, kwargs = closing["arguments"]((args, kwargs))
        out, closing["result"] = _open(fun(*args, **kwargs), _carries(out_specs))
        return out

    functools.update_wrapper(opened_fun, fun)

    @functools.cache
    def mapped(count):
        return transform(opened_fun, _opened_specs(in_specs, count), _opened_specs(out_specs))

    @functools.wraps(fun)
    def call(*args, **kwargs):
        given, closing["arguments"] = _open((args, kwargs), _carries(in_specs))
        args, kwargs = given
        out = mapped(len(args))(*args, **kwargs)
        return closing["result"](out)

    return call


class MappingSpec:
    """The map of a value of a HiType by vmap, an entry of in_axes and out_axes. Its attributes hold
    an axis or None for each array, in their order."""

    through_arrays = staticmethod(of_arrays)


class HiPspec:
    """The split of a value of a HiType by shard_map, an entry of in_specs and out_specs."""

    through_arrays = staticmethod(of_arrays)

    def to_lo(self):
        """The PartitionSpecs of the arrays."""
        raise NotImplementedError(f"{type(self).__name__} must define to_lo.")

    def to_tangent_spec(self):
        """The spec of tangents, or their PartitionSpec."""
        raise NotImplementedError(f"{type(self).__name__} must define to_tangent_spec.")

    def to_ct_spec(self):
        """The spec of cotangents."""
        return self.to_tangent_spec()
