# shardax/_transform/hijax/slots.py - the operands and results of hi primitives, as arrays.
from shardax._core import api as _core
from shardax._transform.hijax.types import (
    carrier_types,
    in_arrays,
    is_hi,
    lo_types,
    lowered,
    raised,
    tangent_arrays,
    tangent_value,
)
from shardax._transform.pmap_vmap import vmap
from shardax._transform.primitives import (
    Lowered,
    lowering_rules,
)
from shardax._transform.zeros import UndefinedPrimal, Zero


class Slots:
    """Values of some types, and the arrays that stand for them in programs."""

    def __init__(self, avals):
        self.avals = tuple(avals)
        self.types = [[*lo_types(a), *carrier_types(a)] for a in self.avals]

    def __eq__(self, other):
        return isinstance(other, Slots) and self.avals == other.avals

    def __hash__(self):
        return hash(self.avals)

    def flat_types(self):
        """The types of the arrays."""
        return [t for types in self.types for t in types]

    def split(self, flat):
        """The arrays, or their stand-ins, by value."""
        flat = iter(flat)
        return [[next(flat) for _ in types] for types in self.types]

    def lower(self, values):
        """The arrays of the values."""
        return [x for aval, v in zip(self.avals, values) for x in lowered(aval, v)]

    def raise_(self, flat):
        """The values."""
        return [raised(aval, list(part)) for aval, part in zip(self.avals, self.split(flat))]

    def values(self, flat):
        """The values as they are, not tracers of them."""
        return [in_arrays(aval, part) for aval, part in zip(self.avals, self.split(flat))]

    def tangents(self, flat):
        """The tangents of the values, given those of the arrays (or Zero)."""
        return [tangent_value(aval, part) for aval, part in zip(self.avals, self.split(flat))]

    def tangent_arrays(self, values):
        """The reverse; None for zeros."""
        return [t for aval, v in zip(self.avals, values) for t in tangent_arrays(aval, v)]

    def zero_arrays(self, values):
        """tangent_arrays with Zero for None."""
        flat = zip(self.tangent_arrays(values), self.flat_types())
        return [Zero(t.to_tangent_aval()) if x is None else x for x, t in flat]

    def perturbed(self, flat):
        """The values with tangents that are not zero."""
        return [any(type(t) is not Zero for t in part) for part in self.split(flat)]

    def printed(self):
        """(How many arrays, the type as programs print it or "" for an array), by value."""
        short = [a.str_short(short_dtypes=True) if is_hi(a) else "" for a in self.avals]
        return [(len(types), text) for types, text in zip(self.types, short)]

    def operands(self, flat):
        """The operands of a transpose rule: values, or UndefinedPrimal."""
        out = []
        for aval, part in zip(self.avals, self.split(flat)):
            unknown = any(type(x) is UndefinedPrimal for x in part)
            out.append(UndefinedPrimal(aval) if unknown else raised(aval, part))
        return out


def any_traced(arrays):
    """True if one of the arrays is a tracer."""
    return any(_core.is_tracer(x) for x in arrays)


def vmapped(fun, axis, values, dims):
    mapped = vmap(fun, in_axes=tuple(dims), axis_size=axis.size, axis_name=axis.name)
    out = mapped(*values)
    return out, [0] * len(out)


def define(op, compute, types):
    """Defines the computation of an op of arrays, and the types of its results, by its
    parameters."""
    op.def_impl(compute)
    op.def_abstract_eval(lambda *_, **params: types(**params))
    lowering_rules[op] = Lowered(compute, True)
