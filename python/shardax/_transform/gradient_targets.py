# shardax/_transform/gradient_targets.py - where the gradients of a VJP go: shardax.ad.
import numpy as np

from shardax import tree_util
from shardax._core import api as _core
from shardax.dtypes import float0


class _Marker:
    """Equal to all others of its class."""

    def __eq__(self, other):
        return type(other) is type(self)

    def __hash__(self):
        return hash(type(self))

    def __repr__(self):
        return f"{type(self).__name__}()"


class GradValue(_Marker):
    """Given to VJP.with_refs: the gradient of this argument is wanted as a value."""


class DontWant(_Marker):
    """Given to VJP.with_refs: the gradient of this argument is not wanted."""


class DidntWant(_Marker):
    """Comes back in place of a gradient that was not wanted."""


tree_util.register_pytree_node(DidntWant, lambda _: ((), None), lambda *_: DidntWant())


class GradRef(_Marker):
    """Comes back in place of a gradient that was added to a reference."""


tree_util.register_pytree_node(GradRef, lambda _: ((), None), lambda *_: GradRef())


class Accumulating:
    """A VJP whose gradients go where `targets` say: references, markers, one for each leaf."""

    def __init__(self, pull, trees, targets):
        leaves, tree = tree_util.tree_flatten(tuple(targets))
        wanted = tree_util.treedef_tuple(trees)
        if tree != wanted:
            raise ValueError(
                "VJP.with_refs: the references and markers must have the structure of the "
                f"arguments, {wanted}, got {tree}. Give new_ref, ad.GradValue() or ad.DontWant() "
                "for each array."
            )
        self._pull, self._targets, self._tree = pull, leaves, tree

    def __call__(self, cotangents):
        wanted = [not isinstance(target, DontWant) for target in self._targets]
        if all(wanted):
            gradients = tree_util.tree_leaves(self._pull(cotangents))
        else:
            gradients = _only(wanted, self._pull, cotangents)
        return self._tree.unflatten(map(_delivered, self._targets, gradients))


def _only(wanted, pull, cotangents):
    """The leaves of pull(cotangents) that are wanted, else None: what none of them needs does not
    run."""
    staged = _core.stage("vjp", pull, (cotangents,))
    program = staged.jaxpr.jaxpr
    smaller, used = _core.pruned(program, wanted, [False] * len(program.invars))
    leaves = map(_core.asarray, tree_util.tree_leaves(cotangents))
    found = iter(_core.evaluate(smaller, [leaf for leaf, use in zip(leaves, used) if use]))
    gradients = [next(found) if want else None for want in wanted]
    # what no derivative exists by is NumPy's array, as the pull gives it
    return [
        np.zeros(g.shape, float0) if g is not None and g.dtype == float0 else g for g in gradients
    ]


def _delivered(target, gradient):
    """What comes back for an argument."""
    if isinstance(target, DontWant):
        return DidntWant()
    if not hasattr(target, "addupdate"):
        return gradient
    target.addupdate(gradient)
    return GradRef()
