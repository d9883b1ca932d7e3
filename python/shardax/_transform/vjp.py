"""shardax/_transform/vjp.py - the functions that vjp returns."""

from shardax import tree_util
from shardax._transform.gradient_targets import Accumulating


class NotNeeded:
    """In place of an argument that a VJP keeps nothing of."""

    def __repr__(self):
        return "NotNeeded()"


class VJP:
    """The reverse derivative at a point, a function of cotangents; a pytree of its residuals.

    Attributes:
      args_res: a list with the arguments of the differentiated function, as far as they are kept:
        NotNeeded() stands for the leaves that are not. It may be changed, but leaves that were
        taken out to save memory must be back before the call.
      opaque_residuals: the other arrays that are kept.

    Example:
      >>> y, f_vjp = vjp(lambda x, y: jnp.sin(x) * y, 0.0, 2.0)
      >>> f_vjp.args_res
      [NotNeeded(), Array(2., dtype=float32, weak_type=True)]
      >>> f_vjp(1.0)
      (Array(2., dtype=float32, weak_type=True), Array(0., dtype=float32, weak_type=True))
    """

    def __init__(self, fun, trees, origins, args_res, opaque_residuals):
        self.fun = fun
        self.trees = trees
        self.origins = origins  # of each residual: its leaf among those of all arguments, or -1
        self.args_res = args_res
        self.opaque_residuals = opaque_residuals

    def __call__(self, *cotangents):
        return self.fun(self._residuals(), *cotangents)

    def with_refs(self, *targets):
        """The same, with gradients added to references.

        Args:
          targets: for each array of the arguments a reference (`new_ref`), to which its gradient is
            added, or `ad.DontWant()`. `ad.GradValue()` (or any other object) asks for it as a
            value.

        Returns:
          A function of the cotangents, which gives a gradient for each `GradValue()`, and markers
          for the others.

        Raises:
          ValueError: where the targets have another structure than the arguments.

        Example:
          >>> total = new_ref(jnp.zeros(2))
          >>> _, f_vjp = vjp(lambda x, y: jnp.sum(x * y), jnp.ones(2), jnp.array([3.0, 4.0]))
          >>> f_vjp.with_refs(total, ad.DontWant())(1.0)
          (GradRef(), DidntWant())
          >>> total[...]
          Array([3., 4.], dtype=float32)
        """
        return Accumulating(self, self.trees, targets)

    def _residuals(self):
        leaves = []
        for tree, arg in zip(self.trees, self.args_res, strict=True):
            leaves += tree.flatten_up_to(arg)
        opaque = iter(self.opaque_residuals)
        residuals = [leaves[n] if n >= 0 else next(opaque) for n in self.origins]
        if any(value is None or isinstance(value, NotNeeded) for value in residuals):
            raise ValueError(
                "A VJP was called without an argument that its derivative depends on: put the "
                "arguments that were taken out of its args_res back."
            )
        return residuals


def vjp_function(fun, trees, origins, residuals):
    """A VJP; called by the core. `fun` takes the residuals, then cotangents."""
    kept = {n: value for n, value in zip(origins, residuals) if n >= 0}
    args_res, first = [], 0
    for tree in trees:
        leaves = range(first, first + tree.num_leaves)
        args_res.append(tree.unflatten([kept.get(n, NotNeeded()) for n in leaves]))
        first += tree.num_leaves
    opaque = [value for n, value in zip(origins, residuals) if n < 0]
    return VJP(fun, tuple(trees), tuple(origins), args_res, opaque)


tree_util.register_pytree_node(NotNeeded, lambda _: ((), None), lambda *_: NotNeeded())
tree_util.register_pytree_node(
    VJP,
    lambda f: ((f.args_res, f.opaque_residuals), (f.fun, f.trees, f.origins)),
    lambda static, children: VJP(*static, *children),
)
