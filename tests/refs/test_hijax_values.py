"""tests/refs/test_hijax_values.py - gradients by values that are no arrays; their types in texts.

Texts and types are those of JAX 0.10.2.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.core import ShapedArray
from shardax.experimental import hijax


@dataclass(frozen=True)
class Quantized:
    numbers: object  # int8
    scale: object  # float32


@dataclass(frozen=True)
class QuantizedTy(hijax.HiType):
    shape: tuple

    def lo_ty(self):
        return [ShapedArray(self.shape, np.int8), ShapedArray(self.shape[:-1], np.float32)]

    def lower_val(self, value):
        return [value.numbers, value.scale]

    def raise_val(self, numbers, scale):
        return Quantized(numbers, scale)

    def to_tangent_aval(self):
        return ShapedArray(self.shape, np.float32)

    def str_short(self, short_dtypes=False, **_):
        return f"q8[{','.join(map(str, self.shape))}]"

    __repr__ = str_short

    def shard(self, mesh, manual_axes, check_vma, spec):
        return QuantizedTy((self.shape[0] // 2, *self.shape[1:]))

    def unshard(self, mesh, check_vma, spec):
        return QuantizedTy((self.shape[0] * 2, *self.shape[1:]))


hijax.register_hitype(Quantized, lambda q: QuantizedTy(q.numbers.shape))


class Quantize(hijax.VJPHiPrimitive):
    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval,), QuantizedTy(aval.shape), {}
        super().__init__()

    def expand(self, x):
        scale = jnp.max(jnp.abs(x), axis=-1) / 127
        return Quantized(jnp.round(x / scale[..., None]).astype(jnp.int8), scale)

    def vjp_fwd(self, nzs_in, x):
        return self(x), None

    def vjp_bwd_retval(self, _, ct):
        return (ct,)


class Dequantize(hijax.VJPHiPrimitive):
    def __init__(self, aval):
        self.in_avals, self.out_aval = (aval,), ShapedArray(aval.shape, np.float32)
        self.params = {}
        super().__init__()

    def expand(self, q):
        return q.numbers * q.scale[..., None]

    def vjp_fwd(self, nzs_in, q):
        return self(q), None

    def vjp_bwd_retval(self, _, ct):
        return (ct,)


def quantize(x):
    return Quantize(jax.typeof(x))(x)


def dequantize(q):
    return Dequantize(jax.typeof(q))(q)


x = jnp.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]])
q = quantize(x)


def loss(scale, q):
    return scale * jnp.sum(dequantize(q) ** 2)


@pytest.mark.parametrize("outer", (lambda f: f, jax.jit), ids=("plain", "jit"))
def test_gradients_by_values_are_tangents(outer):
    want = 2 * dequantize(q)
    found = outer(jax.grad(lambda q: loss(1.0, q)))(q)
    assert str(jax.typeof(found)) == "float32[2,3]"
    np.testing.assert_allclose(found, want)
    value, (by_scale, by_q) = outer(jax.value_and_grad(loss, (0, 1)))(3.0, q)
    np.testing.assert_allclose(value, 3 * by_scale)
    np.testing.assert_allclose(by_q, 3 * want, rtol=1e-6)
    tree, aux = outer(jax.grad(lambda t: (loss(t["a"], t["q"]), t["a"]), has_aux=True))(
        {"a": 3.0, "q": q}
    )
    np.testing.assert_allclose(tree["q"], by_q)
    np.testing.assert_allclose(tree["a"], by_scale)
    assert aux == 3.0


def test_values_of_integers_alone_have_no_gradient():
    with pytest.raises(TypeError, match="requires real- or complex-valued inputs"):
        jax.grad(lambda x: 1.0 * x)(3)


def test_programs_show_the_types_of_values():
    assert str(jax.jit(lambda x: dequantize(quantize(x))).trace(x).jaxpr) == (
        "{ lambda ; a:f32[2,3]. let\n"
        "    b:q8[2,3] = call_hi_primitive[_prim=Quantize[{}]] a\n"
        "    c:f32[2,3] = call_hi_primitive[_prim=Dequantize[{}]] b\n"
        "  in (c,) }"
    )
    assert str(jax.jit(dequantize).trace(q).jaxpr) == (
        "{ lambda ; a:q8[2,3]. let\n"
        "    b:f32[2,3] = call_hi_primitive[_prim=Dequantize[{}]] a\n"
        "  in (b,) }"
    )
    nested = str(jax.make_jaxpr(lambda x: jax.jit(dequantize)(quantize(x)))(x))
    assert "b:q8[2,3] = call_hi" in nested and "lambda ; b:q8[2,3]. let" in nested
    assert "] b\n  in (c,) }" in nested


def test_arrays_of_values_that_are_used_by_themselves_are_shown():
    text = str(jax.make_jaxpr(jax.vmap(lambda x: dequantize(quantize(x))))(jnp.stack([x, x])))
    assert "q8" not in text and "i8[2,2,3]" in text
    text = str(jax.make_jaxpr(lambda q: (dequantize(q), q))(q))
    assert text.splitlines()[0] == "{ lambda ; a:q8[2,3]. let"
    assert text.endswith("in (b, a) }")


def test_attributes_of_traced_values():
    with pytest.raises(AttributeError, match="^DynamicJaxprTracer has no attribute numbers"):
        jax.jit(lambda q: q.numbers)(q)


@dataclass(frozen=True)
class Rows(hijax.HiPspec):
    def to_lo(self):
        return jax.P("i"), jax.P("i")


@dataclass(frozen=True)
class RowsOfTangents(Rows):
    def to_tangent_spec(self):
        return jax.P("i")


mesh = jax.make_mesh((2,), ("i",), devices=jax.devices()[:2])


def split(fun, spec_in, spec_out):
    return jax.shard_map(fun, mesh=mesh, in_specs=spec_in, out_specs=spec_out)


@pytest.mark.parametrize("rows", (Rows(), RowsOfTangents()))
def test_values_with_other_tangents_are_split(rows):
    found = jax.jit(split(quantize, jax.P("i"), rows))(x)
    np.testing.assert_array_equal(found.numbers, q.numbers)
    np.testing.assert_array_equal(found.scale, q.scale)
    np.testing.assert_array_equal(jax.jit(split(dequantize, rows, jax.P("i")))(q), dequantize(q))


def test_gradients_through_split_values():
    def through(rows):
        there, back = split(quantize, jax.P("i"), rows), split(dequantize, rows, jax.P("i"))
        return jax.grad(lambda x: jnp.sum(back(there(x)) ** 2))

    np.testing.assert_allclose(through(RowsOfTangents())(x), 2 * dequantize(q))
    with pytest.raises(NotImplementedError, match="must define to_tangent_spec"):
        through(Rows())(x)
