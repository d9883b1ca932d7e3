"""shardax/_transform/refs/channels.py - writes of backward rules to mutable references, staged with
the function that they belong to.

A backward rule runs when the cotangents come back, through programs that may be loops. So the value
of the reference comes back beside them. The staged function takes a *token* for the reference and
gives it on, from step to step. The token's cotangent is, at each place, the reference's value when
the backward pass gets there. In the differentiated call, which meets arrays again, `_begin` and
`_end` tie that to the reference:

    x, token -> [ staged: scan, jit ...; rules take and give the token ] -> y, token
    ref.set(ct) <- ....................................................... <- ref.get()
"""

import numpy as np

from shardax import tree_util
from shardax._core import api as _core
from shardax._transform.refs import is_ref
from shardax._transform.refs.slots import Met, bound_references, slot_of


def _differentiable(x):
    dtype = getattr(x, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "fcV"


def _transformed(operands):
    """The leaves that are being differentiated where the caller is."""
    here = _core.staging_generation()
    leaves = tree_util.tree_leaves(operands)
    return [
        leaf
        for leaf in (x._read() if is_ref(x) else x for x in leaves)
        if _core.is_tracer(leaf) and _differentiable(leaf) and _core.tracer_trace(leaf)[1] != here
    ]


def channel_of(ref):
    """The channel of a reference to real or complex numbers."""
    if ref._channel is None:
        ref._channel = Channel(ref)
    return ref._channel


class Channel:
    """Stands, among the references that a function meets, for the cotangents that come back to
    `ref`."""

    __slots__ = ("ref", "__weakref__")

    def __init__(self, ref):
        self.ref = ref

    aval = property(lambda self: self.ref.aval)

    def _inside(self, value):
        return value

    _outside = _inside

    def held_types(self):
        leaves, tree = tree_util.tree_flatten(self.aval.inner_aval)
        return leaves, tree

    def _slot(self):
        bound = bound_references().get(_core.staging_generation())
        if bound is not None and self in bound.slots:
            return bound.slots[self]
        return (_core.met_references() or {}).get(self)

    def _starts(self, operands):
        return bool(_transformed(operands)) and self._outlives()

    def _outlives(self):
        """True if the reference is at hand, and will be when the backward pass comes."""
        try:
            return not _transformed([self.ref])
        except Met:
            return False

    def value(self):
        """The token, for an op that is being recorded."""
        generation = _core.staging_generation()
        slot = self._slot()
        if slot is not None:
            return slot._value
        passed = self.ref._origin and self.ref._origin.startswith("passed")
        if generation == self.ref._home and not passed:
            return _core.zeros_of(self.ref.aval.inner_aval)
        slot = slot_of(self, generation)
        if slot is None:
            raise Met(self, generation)
        return slot._value

    def give(self, value):
        """The token as the op gives it on."""
        slot = self._slot()
        if slot is not None:
            slot._value = value

    def _enter(self, operands):
        return _begin(self.ref, _transformed(operands)) if self._starts(operands) else self.value()

    tells_writes = False

    def _leave(self, value, operands, out, how=None):
        if not self._starts(operands):
            if self._slot() is None and _transformed(out) and self._outlives():
                raise NotImplementedError(
                    "custom_vjp: a backward rule reaches a mutable array reference of type "
                    f"{self.aval} from a staged function that is differentiated by values that it "
                    "closes over only. Pass one of these values as an argument."
                )
            self.give(value)
            return out
        leaves, tree = tree_util.tree_flatten(out)
        ends = [i for i, leaf in enumerate(leaves) if _transformed([leaf])]
        for i, leaf in zip(ends, _end(self.ref, value, [leaves[i] for i in ends])):
            leaves[i] = leaf
        return tree_util.tree_unflatten(tree, leaves)


def _begin(ref, leaves):
    """A token whose cotangent, at the end of the backward pass, is the value of `ref` then."""

    def token():
        return [_core.zeros_of(ref.aval.inner_aval)]

    def backward(cotangents):
        ref._write(cotangents[0])
        return [[None] * len(leaves)]

    (out,) = _core.custom_vjp_call(
        "begin",
        lambda _: [token()],
        lambda _: (token(), []),
        "forward",
        backward,
        "backward",
        False,
        leaves,
    )
    return out


def _end(ref, token, leaves):
    """The results of the call; their cotangents come in with the value of `ref`."""
    return _core.custom_vjp_call(
        "end",
        lambda values: [values[1:]],
        lambda values: (values[1:], []),
        "forward",
        lambda cotangents: [[ref._read(), *cotangents]],
        "backward",
        False,
        [token, *leaves],
    )
