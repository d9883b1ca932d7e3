"""shardax/_transform/refs/stages.py - functions that read and write mutable references, staged."""

from shardax import tree_util
from shardax._core import api as _core
from shardax._transform.hijax.states import with_states
from shardax._transform.refs import AbstractRef, Ref, is_ref
from shardax._transform.refs.calls import RefCall
from shardax._transform.refs.slots import Met


def stands_for_ref(x):
    """True if x is a mutable reference, or describes one."""
    return is_ref(x) or (getattr(x, "is_ref", False) is True)


class _Described(Ref):
    """A reference that is not there: for programs that are staged only."""

    def __init__(self, struct):
        self._struct = struct.update(is_ref=False)

    aval = property(lambda self: AbstractRef(self._struct))

    def _read(self):
        return self._struct


class _RefStaged:
    """A function that reads and writes references, as a program of their values. The values of the
    references go in after those of the arguments, and come out after the results."""

    def __init__(self, staged, in_avals):
        self.program, self.jaxpr, self.in_avals = staged.program, staged.jaxpr, in_avals
        self.out_tree = staged.out_tree.children()[0]
        self.out_avals = staged.out_avals[: self.out_tree.num_leaves]


def staged_with_refs(fun, static_positions, static_names, args, kwargs):
    """`fun` staged for these arguments, with the references that it meets."""
    leaves, tree = tree_util.tree_flatten((args, kwargs))
    leaves = [_Described(x) if stands_for_ref(x) and not is_ref(x) else x for x in leaves]
    args, kwargs = tree.unflatten(leaves)
    call = RefCall(fun, static_positions, static_names, args, kwargs)
    staged = call.through(lambda f, arguments: _core.stage_function(f, arguments, {}))
    leaves = with_states(tree_util.tree_leaves(call.dynamic))
    types = [
        getattr(x.aval, "inner_aval", x.aval) if is_ref(x) else _core.typeof(x) for x in leaves
    ]
    return _RefStaged(staged, types)


def stage_function(fun, args, kwargs, statics=(), axes=(), arrays_captured=False):
    """`fun` as a program for these arguments."""
    if not any(map(stands_for_ref, tree_util.tree_leaves((args, kwargs)))):
        try:
            return _core.stage(
                "jit",
                fun,
                args,
                kwargs,
                statics,
                axes,
                references=True,
                arrays_captured=arrays_captured,
            )
        except Met:  # a value that changes is among the arguments
            pass
    if axes:
        raise NotImplementedError(
            "make_jaxpr: with axis_env, the function is passed a mutable array reference. Pass the "
            "value of the reference, ref[...]."
        )
    return staged_with_refs(fun, statics, (), args, kwargs)
