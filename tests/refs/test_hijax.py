"""tests/refs/test_hijax.py - values of types that libraries define, in transformed functions."""

from dataclasses import dataclass

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.core import ShapedArray
from shardax.experimental import hijax
from shardax.interpreters import ad


@dataclass(frozen=True)
class Quantized:
    numbers: object  # int8
    scale: object  # float32


@dataclass(frozen=True)
class QuantizedTy(hijax.HiType):
    shape: tuple

    def lo_ty(self):
        return [ShapedArray(self.shape, np.int8), ShapedArray((), np.float32)]

    def lower_val(self, value):
        return [value.numbers, value.scale]

    def raise_val(self, numbers, scale):
        return Quantized(numbers, scale)

    def to_tangent_aval(self):
        return ShapedArray(self.shape, np.float32)


hijax.register_hitype(Quantized, lambda q: QuantizedTy(q.numbers.shape))


class Quantize(hijax.VJPHiPrimitive):
    def __init__(self, aval):
        self.in_avals, self.out_aval, self.params = (aval,), QuantizedTy(aval.shape), {}
        super().__init__()

    def expand(self, x):
        scale = jnp.max(jnp.abs(x)) / 127
        return Quantized(jnp.round(x / scale).astype(jnp.int8), scale)

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
        return q.numbers * q.scale

    def vjp_fwd(self, nzs_in, q):
        return self(q), None

    def vjp_bwd_retval(self, _, ct):
        return (ct,)


def quantize(x):
    return Quantize(jax.typeof(x))(x)


def dequantize(q):
    return Dequantize(jax.typeof(q))(q)


class Power(hijax.VJPHiPrimitive):
    def __init__(self, aval, power):
        self.in_avals, self.out_aval, self.params = (aval,), aval, {"power": power}
        super().__init__()

    def expand(self, x):
        return x**self.power

    def vjp_fwd(self, nzs_in, x):
        assert nzs_in == (True,)
        return self(x), x

    def vjp_bwd(self, x, ct, accum):
        accum.accum(ct * self.power * x ** (self.power - 1))

    def jvp(self, primals, tangents):
        (x,), (t,) = primals, tangents
        return self(x), t * self.power * x ** (self.power - 1)

    def batch(self, axis_data, args, dims):
        (x,), (dim,) = args, dims
        return Power(jax.typeof(x), self.power)(x), dim


def cube(x):
    return Power(jax.typeof(x), 3)(x)


x = jnp.array([1.0, -2.0, 4.0])


def test_values_pass_through_jit():
    q = quantize(x)
    out = jax.jit(lambda q: q)(q)
    assert isinstance(out, Quantized)
    np.testing.assert_array_equal(out.numbers, q.numbers)
    assert jax.tree.leaves([q]) == [q]


def test_functions_see_the_type():
    seen = []

    @jax.jit
    def f(q):
        seen.append((jax.typeof(q), isinstance(q, jax.core.Tracer), q.shape))
        return dequantize(q)

    np.testing.assert_allclose(f(quantize(x)), x, atol=0.05)
    assert seen == [(QuantizedTy((3,)), True, (3,))]


@pytest.mark.parametrize("outer", [lambda f: f, jax.jit])
def test_gradients_go_through_values_of_other_tangents(outer):
    f = outer(lambda x: (x * dequantize(quantize(x))).sum())
    np.testing.assert_allclose(jax.grad(f)(x), 2 * x, atol=0.1)


def test_values_are_carried_and_stacked():
    def body(q, _):
        y = dequantize(q)
        return quantize(y * 2), q

    last, all_ = jax.lax.scan(body, quantize(x), None, length=3)
    np.testing.assert_allclose(dequantize(last), 8 * x, rtol=0.1)
    assert all_.numbers.shape == (3, 3)
    last = jax.lax.fori_loop(0, 3, lambda i, q: quantize(dequantize(q) * 2), quantize(x))
    np.testing.assert_allclose(dequantize(last), 8 * x, rtol=0.1)
    chosen = jax.lax.cond(True, lambda q: q, lambda q: quantize(-dequantize(q)), quantize(x))
    np.testing.assert_allclose(dequantize(chosen), x, atol=0.05)


def test_values_through_stages():
    q = quantize(x)
    lowered = jax.jit(dequantize).lower(q)
    np.testing.assert_allclose(lowered.compile()(q), x, atol=0.05)
    assert jax.eval_shape(lambda: q) == QuantizedTy((3,))
    assert "call_hi_primitive" in str(jax.make_jaxpr(dequantize)(q))


@pytest.mark.parametrize("outer", [lambda f: f, jax.jit])
def test_rules_of_primitives(outer):
    f = outer(cube)
    assert f(2.0) == 8.0
    assert jax.grad(f)(2.0) == 12.0
    assert jax.jvp(f, (2.0,), (1.0,)) == (8.0, 12.0)
    np.testing.assert_allclose(jax.vmap(f)(x), x**3)
    np.testing.assert_allclose(jax.vmap(jax.grad(f))(x), 3 * x**2)
    assert jax.grad(jax.grad(f))(2.0) == 12.0


def test_rules_that_are_missing():
    class Plain(Power):
        vjp_fwd = hijax.VJPHiPrimitive.vjp_fwd
        vjp_bwd = hijax.VJPHiPrimitive.vjp_bwd
        jvp = hijax.VJPHiPrimitive.jvp
        batch = hijax.VJPHiPrimitive.batch

    f = Plain(jax.typeof(2.0), 3)
    assert f(2.0) == 8.0
    with pytest.raises(NotImplementedError, match="for jvp support, subclass .*Plain"):
        jax.grad(f)(2.0)
    with pytest.raises(NotImplementedError, match="for vmap support"):
        jax.vmap(lambda x: Plain(jax.typeof(x), 3)(x))(x)
    with pytest.raises(AttributeError, match="should set `self.out_aval`"):
        type("Bad", (Power,), {"__init__": _bad_init})(1.0)


def _bad_init(self, aval):
    self.in_avals = (aval,)
    hijax.VJPHiPrimitive.__init__(self)


def test_mapped_dimensions_of_a_rule():
    class Mul(hijax.VJPHiPrimitive):
        def __init__(self, aval):
            self.in_avals, self.out_aval, self.params = (aval, aval), aval, {}
            super().__init__()

        def expand(self, x, y):
            return x * y

        def batch_dim_rule(self, axis_data, dims):
            return dims[1] if dims[0] is None else dims[0]

    def mul(x, y):
        return Mul(jax.typeof(x))(x, y)

    m = jnp.arange(12.0).reshape(3, 4)
    y = jnp.arange(6.0).reshape(2, 3)
    f = jax.vmap(jax.vmap(mul, in_axes=(None, 0)), in_axes=(1, None), out_axes=2)
    np.testing.assert_allclose(f(m, y), m[None] * y[:, :, None])


@dataclass(frozen=True)
class Pair:
    left: object
    right: object


@dataclass(frozen=True)
class PairTy(hijax.HiType):
    left: object
    right: object

    def lo_ty(self):
        return [self.left, self.right]

    def lower_val(self, pair):
        return [pair.left, pair.right]

    def raise_val(self, left, right):
        return Pair(left, right)

    def to_tangent_aval(self):
        return PairTy(self.left.to_tangent_aval(), self.right.to_tangent_aval())


hijax.register_hitype(Pair, lambda p: PairTy(jax.typeof(p.left), jax.typeof(p.right)))


class MakePair(hijax.HiPrimitive):
    def abstract_eval(self, left, right):
        return PairTy(left, right), set()

    def to_lojax(self, left, right):
        return Pair(left, right)

    def jvp(self, primals, tangents):
        return make_p.bind(*primals), make_p.bind(*map(ad.instantiate_zeros, tangents))

    def transpose(self, ct, *_):
        return split_p.bind(ct)


class SplitPair(hijax.HiPrimitive):
    multiple_results = True

    def abstract_eval(self, pair):
        return pair.lo_ty(), set()

    def to_lojax(self, pair):
        return [pair.left, pair.right]

    def jvp(self, primals, tangents):
        return split_p.bind(*primals), split_p.bind(*tangents)

    def transpose(self, cts, _):
        return [make_p.bind(*map(ad.instantiate_zeros, cts))]


make_p, split_p = MakePair("make_pair"), SplitPair("split_pair")


@pytest.mark.parametrize("outer", [lambda f: f, jax.jit])
def test_derivatives_by_values(outer):
    def f(pair):
        left, right = split_p.bind(pair)
        return make_p.bind(left * right, right)

    pair, tangent = Pair(2.0, 5.0), Pair(1.0, 0.0)
    out, moved = jax.jvp(outer(f), (pair,), (tangent,))
    assert (out, moved) == (Pair(10.0, 5.0), Pair(5.0, 0.0))
    _, pull = jax.vjp(outer(f), pair)
    assert pull(Pair(1.0, 1.0)) == (Pair(5.0, 3.0),)
    grads = jax.grad(outer(lambda p: split_p.bind(f(p))[0]))(pair)
    assert grads == Pair(5.0, 2.0)


def test_operands_that_are_no_arrays():
    ref, struct = jax.new_ref(1.0), jax.ShapeDtypeStruct((2,), jnp.float32)
    pair = make_p.bind(ref, struct)
    assert pair.left is ref and pair.right is struct


@dataclass(frozen=True)
class PairAxes(hijax.MappingSpec):
    axes: tuple


@dataclass(frozen=True)
class PairP(hijax.HiPspec):
    specs: tuple

    def to_lo(self):
        return self.specs


def test_values_are_mapped_by_a_spec():
    def f(pair):
        left, right = split_p.bind(pair)
        return make_p.bind(left.sum(), right)

    pair = Pair(jnp.ones((2, 3)), x)
    out = jax.vmap(f, in_axes=PairAxes((1, 0)), out_axes=PairAxes((0, 0)))(pair)
    np.testing.assert_array_equal(out.left, [2, 2, 2])
    np.testing.assert_array_equal(out.right, x)


def test_values_are_split_over_a_mesh():
    mesh = jax.make_mesh((3,), ("i",), devices=jax.devices()[:3])
    specs = PairP((jax.P("i"), jax.P()))

    def f(pair):
        left, right = split_p.bind(pair)
        return make_p.bind(left * right.sum(), left)

    mapped = jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=PairP((jax.P("i"),) * 2))
    out = mapped(Pair(x, jnp.ones(2)))
    np.testing.assert_array_equal(out.left, 2 * x)
    np.testing.assert_array_equal(out.right, x)
