"""shardax.experimental.sparse.ad - derivatives by the stored elements of sparse arrays."""

import functools

from shardax import tree_util
from shardax._transform import derivatives
from shardax._transform import jacobian as jacobians
from shardax._transform.pmap_vmap import vmap
from shardax.experimental.sparse._base import JAXSparse


def _is_sparse(x):
    return isinstance(x, JAXSparse)


class _Split:
    """A function of some arguments as one of the leaves it is differentiated by: whole arrays, and
    the data of sparse ones.
    """

    def __init__(self, fun, argnums, args):
        self.chosen = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        self.chosen = tuple(n % len(args) for n in self.chosen)
        self.fun, self.single = fun, isinstance(argnums, int)
        self.args = args
        picked = [args[n] for n in self.chosen]
        self.leaves, self.tree = tree_util.tree_flatten(picked, is_leaf=_is_sparse)
        self.values = [x.data if _is_sparse(x) else x for x in self.leaves]

    def _restored(self, leaf, value):
        if not _is_sparse(leaf):
            return value
        buffers, tree = tree_util.tree_flatten(leaf)

        def restore(v):
            return tree_util.tree_unflatten(tree, [v, *buffers[1:]])

        # Jacobians have the dimensions of the result in front.
        for _ in range(value.ndim - leaf.data.ndim):
            restore = vmap(restore)
        return restore(value)

    def __call__(self, values, **kwargs):
        leaves = [self._restored(x, v) for x, v in zip(self.leaves, values)]
        args = list(self.args)
        for n, arg in zip(self.chosen, tree_util.tree_unflatten(self.tree, leaves)):
            args[n] = arg
        return self.fun(*args, **kwargs)

    def result(self, slopes):
        leaves = [self._restored(x, g) for x, g in zip(self.leaves, slopes)]
        picked = tree_util.tree_unflatten(self.tree, leaves)
        return picked[0] if self.single else tuple(picked)


def _derivative(name, transform, pair):
    """A transformation of functions of sparse arrays; `pair`: it returns (value, derivative)."""

    def transformed(fun, argnums=0, has_aux=False, **options):
        @functools.wraps(fun)
        def derivative(*args, **kwargs):
            split = _Split(fun, argnums, args)
            call = functools.partial(split, **kwargs)
            out = transform(call, has_aux=has_aux, **options)(split.values)
            if pair:
                return out[0], split.result(out[1])
            return (split.result(out[0]), out[1]) if has_aux else split.result(out)

        return derivative

    transformed.__name__ = transformed.__qualname__ = name
    transformed.__doc__ = f"""{name} of functions of sparse arrays: the derivative by one is a
    sparse array with the same indices, by its stored elements.

    Args:
      fun: differentiated by the arguments `argnums`, which may be (trees of) sparse arrays.
      has_aux: `fun` returns (value, anything).

    Example:
      >>> from shardax.experimental import sparse
      >>> X = sparse.BCOO.fromdense(jnp.arange(3.0))
      >>> sparse.grad(lambda X, y: X @ y)(X, jnp.ones(3))
      BCOO(float32[3], nse=2)
    """
    return transformed


grad = _derivative("grad", derivatives.grad, False)
value_and_grad = _derivative("value_and_grad", derivatives.value_and_grad, True)
jacfwd = _derivative("jacfwd", jacobians.jacfwd, False)
jacrev = _derivative("jacrev", jacobians.jacrev, False)
jacobian = jacrev
