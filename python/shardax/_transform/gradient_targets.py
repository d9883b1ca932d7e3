# shardax/_transform/gradient_targets.py - targets of the gradients of a VJP: shardax.ad.
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
        self._pull, self._tree = pull, tree_util.treedef_tuple(trees)
        self._targets = _targets(self._tree, targets)

    def __call__(self, cotangents):
        wanted = [not isinstance(target, DontWant) for target in self._targets]
        if all(wanted):
            gradients = tree_util.tree_leaves(self._pull(cotangents))
        else:
            gradients = _only(wanted, self._pull, cotangents)
        return self._tree.unflatten(map(_delivered, self._targets, gradients))


def _targets(wanted, targets):
    """The leaves of the targets of with_refs."""
    leaves, tree = tree_util.tree_flatten(tuple(targets))
    if tree != wanted:
        raise ValueError(
            "VJP.with_refs: the references and markers must have the structure of the "
            f"arguments, {wanted}, got {tree}. Give new_ref, ad.GradValue() or ad.DontWant() "
            "for each array."
        )
    return leaves


class RefVJP:
    """The reverse derivative of a function of references among other arguments.

    Args:
      primals, tree: the leaves and the structure of its arguments.
      pull: gives the gradients of what are no references, for a cotangent.
      pull_held: those by what references held before the function ran, which runs again for them.
    """

    def __init__(self, primals, tree, pull, pull_held):
        self._primals, self._tree = primals, tree
        self._pull, self._pull_held = pull, pull_held

    def __call__(self, cotangent):
        aval = next(leaf.aval for leaf in self._primals if hasattr(leaf, "addupdate"))
        error = ValueError(f"Expected cotangent type {aval} but got {aval.inner_aval.str_short()}")
        if hasattr(error, "add_note"):
            error.add_note(
                "The gradient of a reference is added to one: f_vjp.with_refs(new_ref(...), ...)"
                "(cotangent), with ad.DontWant() where none is wanted."
            )
        raise error

    def with_refs(self, *targets):
        """As VJP.with_refs; references take a reference, or `ad.DontWant()`."""
        return _ToRefs(self, _targets(self._tree, targets))

    def gradients(self, targets, cotangent):
        held = [hasattr(leaf, "addupdate") for leaf in self._primals]
        asked = any(h and hasattr(t, "addupdate") for h, t in zip(held, targets))
        by_held = iter(self._pull_held(cotangent) if asked else ())
        values = iter(self._pull(cotangent)[0])
        found = [next(by_held, None) if h else next(values) for h in held]
        return self._tree.unflatten(
            DidntWant() if h and not hasattr(t, "addupdate") else _delivered(t, g)
            for h, t, g in zip(held, targets, found)
        )


class _ToRefs:
    def __init__(self, pull, targets):
        self._pull, self._targets = pull, targets

    def __call__(self, cotangent):
        return self._pull.gradients(self._targets, cotangent)


def _only(wanted, pull, cotangents):
    """The leaves of pull(cotangents) that are wanted, else None: equations that none of them needs
    do not run."""
    staged = _core.stage("vjp", pull, (cotangents,))
    program = staged.jaxpr.jaxpr
    smaller, used = _core.pruned(program, wanted, [False] * len(program.invars))
    leaves = map(_core.asarray, tree_util.tree_leaves(cotangents))
    found = iter(_core.evaluate(smaller, [leaf for leaf, use in zip(leaves, used) if use]))
    gradients = [next(found) if want else None for want in wanted]
    # an argument without a derivative gets NumPy's array, as the pull gives it
    return [
        np.zeros(g.shape, float0) if g is not None and g.dtype == float0 else g for g in gradients
    ]


def _delivered(target, gradient):
    """The result for an argument."""
    if isinstance(target, DontWant):
        return DidntWant()
    if not hasattr(target, "addupdate"):
        return gradient
    target.addupdate(gradient)
    return GradRef()
