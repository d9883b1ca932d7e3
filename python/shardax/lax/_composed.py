"""shardax/lax/_composed.py - JAX's primitives that are compositions of ops here.

Programs hold the ops, never these. They are for code that binds JAX's primitives by name, or
registers rules for them.
"""

import functools

import numpy as np

from shardax._base.array_functions import where
from shardax._base.arrays import asarray, bind
from shardax._core import api as _core
from shardax._core import lax as _ops
from shardax._devices.device_put import device_put
from shardax._transform.primitives import Primitive, by_attribute
from shardax.dtypes import issubdtype
from shardax.lax import _layout, _random_bits, _reductions, _slices, _tokens, _windows
from shardax.lax._counted_loops import fori_loop

__all__ = ["COMPOSED", "primitive"]


def _of_pairs(program, consts=()):
    """The function of pairs of scalars, or of pairs of lists of them, that a program is."""

    def several(xs, ys):
        return _core.evaluate(program, [*map(asarray, xs), *map(asarray, ys)], list(consts))

    return several


def _approx_top_k(operand, *, k, reduction_dimension=-1, is_max_k=True, **_):
    find = _reductions.approx_max_k if is_max_k else _reductions.approx_min_k
    return find(operand, k, reduction_dimension)


def _ordered(x):
    """Integers in the order of all floats: -NaN, -inf, ..., -0, 0, ..., inf, NaN."""
    x = asarray(x)
    if not issubdtype(x.dtype, np.floating):
        return x
    integer = np.dtype(f"int{8 * x.dtype.itemsize}")
    bits = bind("bitcast_convert_type", (x,), new_dtype=integer)
    turned = _ops.bitwise_xor(bits, np.array(np.iinfo(integer).max, integer))
    return where(_ops.lt(bits, _layout.full_like(bits, 0)), turned, bits)


def _in_total_order(compare):
    return lambda x, y: compare(_ordered(x), _ordered(y))


def _reduce(*operands, jaxpr, dimensions, **_):
    half = len(operands) // 2
    return _reductions.reduce(
        list(operands[:half]), list(operands[half:]), _of_pairs(jaxpr), dimensions
    )


def _reduce_window(*operands, jaxpr, consts=(), padding, window_dimensions, **params):
    half = len(operands) // 2
    return _windows.reduce_window(
        list(operands[:half]),
        list(operands[half:]),
        _of_pairs(jaxpr, consts),
        window_dimensions,
        padding=padding,
        **params,
    )


def _select_and_scatter(
    operand,
    source,
    init_value,
    *,
    select_jaxpr,
    scatter_jaxpr,
    select_consts=(),
    scatter_consts=(),
    window_dimensions,
    window_strides,
    padding,
):
    select = _of_pairs(select_jaxpr, select_consts)
    scatter = _of_pairs(scatter_jaxpr, scatter_consts)
    operand, source = asarray(operand), asarray(source)
    places = _layout.reshape(_layout.iota(np.int32, operand.size), operand.shape)

    def chosen(x, y):
        keep = (y[1] < 0) | ((x[1] >= 0) & select(x[:1], y[:1])[0])
        return [where(keep, a, b) for a, b in zip(x, y)]

    _, found = _windows.reduce_window(
        [operand, places],
        [operand.dtype.type(0), np.int32(-1)],
        chosen,
        window_dimensions,
        window_strides,
        padding,
    )
    found, source = found.reshape(-1), source.reshape(-1)

    def step(i, out):
        new = scatter([out[found[i]]], [source[i]])[0]
        return out.at[found[i]].set(where(found[i] < 0, out[found[i]], new))

    start = _layout.full((operand.size,), init_value, operand.dtype)
    return fori_loop(0, source.size, step, start).reshape(operand.shape)


def _device_put(*operands, devices=None, **_):
    return [device_put(x, d) for x, d in zip(operands, devices or [None] * len(operands))]


# By name: the bound function, and true if it has several results.
COMPOSED = {
    "after_all": (_tokens.after_all, False),
    "approx_top_k": (_approx_top_k, True),
    "copy": (lambda x: device_put(x, may_alias=False), False),
    "create_token": (_tokens.create_token, False),
    "device_put": (_device_put, True),
    "eq_to": (_in_total_order(_ops.eq), False),
    "le_to": (_in_total_order(_ops.le), False),
    "lt_to": (_in_total_order(_ops.lt), False),
    "reduce": (_reduce, True),
    "reduce_window": (_reduce_window, True),
    "reduce_xor": (_reductions.reduce_xor, False),
    "rng_uniform": (_random_bits.rng_uniform, False),
    "select_and_scatter": (_select_and_scatter, False),
    "split": (lambda x, *, sizes, axis: _slices.split(x, sizes, axis), True),
    "stack": (lambda *xs, axis: _layout.stack(xs, axis), False),
    "tile": (_layout.tile, False),
    "unstack": (lambda x, *, axis: _layout.unstack(x, axis), True),
}


def primitive(module, attribute):
    """The primitive that a module of JAX has under this name (`exp_p`), or AttributeError."""
    name = attribute.removesuffix("_p")
    return _composed(name) if name in COMPOSED else by_attribute(module, attribute)


@functools.cache
def _composed(name):
    fun, several = COMPOSED[name]
    made = Primitive(name)
    made.multiple_results = several
    made.def_custom_bind(lambda *args, **params: _listed(fun(*args, **params), several))
    made.def_impl(made.bind)
    return made


def _listed(out, several):
    return list(out) if several else out
