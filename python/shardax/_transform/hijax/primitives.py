"""shardax/_transform/hijax/primitives.py - primitives of values that are no arrays (types.py).

One is bound as a primitive of the arrays of its operands. Its rules put the values together, call
the user's, and take their results apart.
"""

from shardax._transform.avals import AbstractValue
from shardax._transform.hijax.slots import Slots, any_traced, define, vmapped
from shardax._transform.hijax.states import AvalQDD, at_hand, is_mutable, made_here, typeof_or_none
from shardax._transform.hijax.types import (
    MutableHiType,
    is_hi,
)
from shardax._transform.jit import typeof
from shardax._transform.primitives import (
    Primitive,
    axis_batching_rules,
    batching_rules,
    jvp_rules,
    transpose_rules,
    user_values_rules,
)
from shardax._transform.refs import Ref
from shardax._transform.shape_structs import ShapeDtypeStruct

# ---- HiPrimitive ----------------------------------------------------------------------------


class HiPrimitive:
    """A primitive of values of any type.

    A subclass defines `abstract_eval(*types, **params)`, which gives the type of the result (of
    `multiple_results`: the types) and a set of effects. `to_lojax(*values, **params)` computes it.
    Derivatives are `jvp(primals, tangents, **params)` and `transpose(cotangent, *operands,
    **params)`.
    """

    multiple_results = False
    is_users = True
    call_primitive = map_primitive = False

    def __init__(self, name):
        self.name = name
        self._op = _op_of(self)

    def __repr__(self):
        return self.name

    def is_high(self, *avals, **params):
        """True if it takes or gives values that are no arrays, or changes them.

        `avals` and `params` have no effect: the result does not depend on it; the signature is that
        of a protocol.
        """
        return True

    def is_effectful(self, params):
        """True if it always runs.

        `params` has no effect: the result does not depend on it; the signature is that of a
        protocol.
        """
        return False

    def abstract_eval(self, *arg_avals, **params):
        """The types of the results, and the effects."""
        raise NotImplementedError(f"{self}: the primitive must define abstract_eval.")

    def to_lojax(self, *values, **params):
        """The results."""
        raise NotImplementedError(f"{self}: the primitive must define to_lojax.")

    def jvp(self, primals, tangents, **params):
        """(results, tangents of the results)."""
        raise NotImplementedError(f"Differentiation rule for '{self}' not implemented")

    def transpose(self, *args, **params):
        """The cotangents of the operands."""
        raise NotImplementedError(
            f"Transpose rule (for reverse-mode differentiation) for '{self}' not implemented"
        )

    def bind(self, *args, **params):
        """The results for these values."""
        avals = [typeof(x) for x in args]
        changing = [is_mutable(aval) for aval in avals]
        if any(changing):
            return self.to_lojax(
                *(at_hand(x) if c else x for x, c in zip(args, changing)), **params
            )
        described = any(isinstance(x, (Ref, ShapeDtypeStruct, AbstractValue)) for x in args)
        described = described or any(isinstance(aval, MutableHiType) for aval in avals)
        ins = Slots(avals)
        flat = [] if described else ins.lower(args)
        if not any_traced(flat) or any(isinstance(x, Ref) for x in flat):
            out = self.to_lojax(*args, **params)
            made = not self.multiple_results and is_mutable(typeof_or_none(out))
            return made_here(out) if made else out
        out, _ = self.abstract_eval(*avals, **params)
        if not self.multiple_results and isinstance(out, AvalQDD):
            return made_here(self.to_lojax(*args, **params))
        outs = Slots(self._list(out))
        found = self._op.bind(*flat, call=_Call(ins, outs, params))
        return self._results(outs.raise_(found))

    def _list(self, out):
        return list(out) if self.multiple_results else [out]

    def _results(self, values):
        return values if self.multiple_results else values[0]


class _Call:
    """The static parts of a call: types and parameters."""

    def __init__(self, ins, outs, params):
        self.ins, self.outs, self.params = ins, outs, params

    def __eq__(self, other):
        mine = self.ins, self.outs, self.params
        return isinstance(other, _Call) and mine == (other.ins, other.outs, other.params)

    def __hash__(self):
        return hash((self.ins, self.outs, tuple(self.params)))

    def __repr__(self):
        return ", ".join(f"{name}={value}" for name, value in self.params.items()) or "()"


def _op_of(primitive):
    """The primitive of arrays that stands for a HiPrimitive in programs."""
    op = Primitive(primitive.name)
    op.multiple_results = True

    def compute(*flat, call):
        out = primitive.to_lojax(*call.ins.values(flat), **call.params)
        return call.outs.lower(primitive._list(out))

    def jvp(primals, tangents, *, call):
        given = call.ins.raise_(primals), call.ins.tangents(tangents)
        out, moved = primitive.jvp(*map(tuple, given), **call.params)
        found = call.outs.lower(primitive._list(out))
        return found, call.outs.zero_arrays(primitive._list(moved))

    def transpose(cotangents, *operands, call):
        bars = primitive._results(call.outs.tangents(cotangents))
        given = primitive.transpose(bars, *call.ins.operands(operands), **call.params)
        return call.ins.tangent_arrays(given)

    def batch(axis, values, dims, *, call):
        rule = axis_batching_rules.get(primitive) or batching_rules.get(primitive)
        if rule is None or any(map(is_hi, (*call.ins.avals, *call.outs.avals))):
            return vmapped(lambda *flat: compute(*flat, call=call), axis, values, dims)
        given = (axis,) if primitive in axis_batching_rules else ()
        out, out_dims = rule(*given, values, dims, **call.params)
        return primitive._list(out), primitive._list(out_dims)

    define(op, compute, lambda call: call.outs.flat_types())
    user_values_rules[op] = lambda call: (call.ins.printed(), call.outs.printed())
    jvp_rules[op], transpose_rules[op], axis_batching_rules[op] = jvp, transpose, batch
    return op
