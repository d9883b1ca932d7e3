"""shardax/experimental/sparse/_methods.py - the operators of sparse arrays, by `sparsify`."""

import math

from shardax import numpy as jnp
from shardax.experimental.sparse._layout import bcoo_reshape, bcoo_update_layout
from shardax.experimental.sparse.bcoo import BCOO
from shardax.experimental.sparse.bcsr import BCSR
from shardax.experimental.sparse.transform import sparsify, take, total


def _turned(function):
    return sparsify(lambda a, b: function(b, a))


def _reshape(self, *args, order="C"):
    """The same elements in another shape; batch, sparse and dense dimensions must not mix."""
    if order != "C":
        raise NotImplementedError("BCOO.reshape: order other than 'C'")
    shape = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
    shape = [int(n) for n in shape]
    if -1 in shape:
        known = math.prod(n for n in shape if n != -1)
        shape[shape.index(-1)] = self.size // known if known else 0
    if math.prod(shape) != self.size:
        raise TypeError(f"cannot reshape array of shape {self.shape} into shape {tuple(shape)}")
    return bcoo_reshape(self, new_sizes=shape)


def _sum(self, axis=None):
    """The sum over dimensions (None: all), a sparse array, or a number."""
    axes = range(self.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return total(self, [a % self.ndim for a in axes])


def _update_layout(self, *, n_batch=None, n_dense=None, on_inefficient="error"):
    """As `bcoo_update_layout`."""
    return bcoo_update_layout(self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient)


def _astype(self, dtype):
    """With elements of another dtype."""
    return sparsify(lambda x: x.astype(dtype))(self)


def _iterate(self):
    return iter([self[i] for i in range(self.shape[0])])


def _power(self, y):
    return sparsify(lambda x: jnp.power(x, y))(self)


METHODS = {
    "astype": _astype,
    "reshape": _reshape,
    "sum": _sum,
    "update_layout": _update_layout,
    "__abs__": sparsify(jnp.abs),
    "__neg__": sparsify(jnp.negative),
    "__pos__": sparsify(jnp.positive),
    "__matmul__": sparsify(jnp.matmul),
    "__rmatmul__": _turned(jnp.matmul),
    "__mul__": sparsify(jnp.multiply),
    "__rmul__": _turned(jnp.multiply),
    "__truediv__": sparsify(jnp.divide),
    "__rtruediv__": _turned(jnp.divide),
    "__add__": sparsify(jnp.add),
    "__radd__": _turned(jnp.add),
    "__sub__": sparsify(jnp.subtract),
    "__rsub__": _turned(jnp.subtract),
    "__pow__": _power,
    "__rpow__": _turned(jnp.power),
    "__getitem__": take,
    "__iter__": _iterate,
    "__gt__": sparsify(jnp.greater),
    "__ge__": sparsify(jnp.greater_equal),
    "__lt__": sparsify(jnp.less),
    "__le__": sparsify(jnp.less_equal),
    "__eq__": sparsify(jnp.equal),
    "__ne__": sparsify(jnp.not_equal),
}
for _name, _method in METHODS.items():
    setattr(BCOO, _name, _method)
for _name in ("__matmul__", "__rmatmul__", "__getitem__"):
    setattr(BCSR, _name, METHODS[_name])
