"""tests/programs/test_primitives.py - primitives that users make, under every transformation."""

import gc
import weakref

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.core import Primitive, ShapedArray
from shardax.extend import core as extend_core
from shardax.extend.linear_util import wrap_init
from shardax.interpreters import ad, batching, mlir, partial_eval, xla


def multiply_add():
    """x * y + z, with all rules, as JAX's page on primitives has it."""
    p = Primitive("multiply_add")
    p.def_impl(lambda x, y, z: np.asarray(x) * np.asarray(y) + np.asarray(z))
    p.def_abstract_eval(lambda x, y, z: ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(p, mlir.lower_fun(lambda x, y, z: x * y + z, multiple_results=False))

    def jvp(primals, tangents):
        x, y, z = primals
        tx, ty, tz = map(ad.instantiate_zeros, tangents)
        return p.bind(x, y, z), p.bind(tx, y, p.bind(x, ty, tz))

    def transpose(ct, x, y, z):
        if not ad.is_undefined_primal(x):
            return None, p.bind(ct, x, jnp.zeros_like(ct)), ct
        return p.bind(ct, y, jnp.zeros_like(ct)), None, ct

    def batch(operands, dims):
        size = next(x.shape[d] for x, d in zip(operands, dims) if d is not None)
        front = [batching.bdim_at_front(x, d, size) for x, d in zip(operands, dims)]
        return p.bind(*front), 0

    ad.primitive_jvps[p] = jvp
    ad.primitive_transposes[p] = transpose
    batching.primitive_batchers[p] = batch
    return p


MULTIPLY_ADD = multiply_add()
f = MULTIPLY_ADD.bind
X, Y, Z = jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0]), jnp.array([5.0, 6.0])


def test_eager_calls_the_implementation():
    assert isinstance(f(X, Y, Z), shardax.Array)
    np.testing.assert_array_equal(f(X, Y, Z), [8.0, 14.0])
    np.testing.assert_array_equal(f(2.0, 3.0, 4.0), 10.0)


def test_jit_compiles_what_it_was_lowered_to():
    np.testing.assert_array_equal(shardax.jit(f)(X, Y, Z), [8.0, 14.0])
    np.testing.assert_array_equal(shardax.jit(lambda x: f(f(x, x, x), x, x))(X), [3.0, 14.0])


def test_derivatives():
    expected = lambda x, y, z: (x * y + z).sum()
    ours = lambda x, y, z: f(x, y, z).sum()
    for nest in (shardax.grad, lambda g, argnums: shardax.jit(shardax.grad(g, argnums))):
        for argnums in (0, 1, 2):
            np.testing.assert_array_equal(
                nest(ours, argnums)(X, Y, Z), nest(expected, argnums)(X, Y, Z)
            )
    out, t = shardax.jvp(f, (X, Y, Z), (X, Y, Z))
    np.testing.assert_array_equal(t, 2 * X * Y + Z)
    hessian = shardax.hessian(lambda x: f(x, x, x).sum())(X)
    np.testing.assert_array_equal(hessian, 2 * np.eye(2))


def test_batches():
    np.testing.assert_array_equal(shardax.vmap(f)(X, Y, Z), X * Y + Z)
    np.testing.assert_array_equal(shardax.vmap(f, in_axes=(0, None, None))(X, 3.0, 4.0), X * 3 + 4)
    grads = shardax.vmap(shardax.grad(lambda x: f(x, x, x)))(X)
    np.testing.assert_array_equal(grads, 2 * X + 1)
    twice = shardax.vmap(shardax.vmap(f, (0, None, None)), (None, 0, 0))(X, Y, Z)
    np.testing.assert_array_equal(twice, X[None] * Y[:, None] + Z[:, None])


def test_over_devices():
    x = jnp.arange(8.0).reshape(4, 2)
    step = shardax.pmap(lambda x: lax.psum(f(x, x, Z), "i"), "i")
    np.testing.assert_array_equal(step(x), np.broadcast_to((x * x + Z).sum(0), (4, 2)))
    grad = shardax.grad(lambda x: shardax.pmap(lambda x: f(x, x, Z))(x).sum())(x)
    np.testing.assert_array_equal(grad, 2 * x)


@pytest.mark.parametrize("jit", [False, True])
def test_control_flow(jit):
    def scanned(x):
        return lax.scan(lambda c, y: (f(c, y, x), c), x, Y)[0].sum()

    def plain(x):
        return lax.scan(lambda c, y: (c * y + x, c), x, Y)[0].sum()

    def branched(x):
        return lax.cond(x.sum() > 0, lambda x: f(x, x, x), lambda x: x, x).sum()

    wrap = shardax.jit if jit else (lambda g: g)
    np.testing.assert_array_equal(wrap(shardax.grad(scanned))(X), shardax.grad(plain)(X))
    np.testing.assert_array_equal(wrap(shardax.grad(branched))(X), 2 * X + 1)
    np.testing.assert_array_equal(
        wrap(shardax.grad(shardax.checkpoint(lambda x: f(x, x, x).sum())))(X), 2 * X + 1
    )
    out = lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, f(c[1], c[1], X)), (0, X))[1]
    x = X
    for _ in range(3):
        x = x * x + X
    np.testing.assert_array_equal(out, x)


def test_programs_name_the_primitive_and_its_parameters():
    p = Primitive("scaled")
    p.def_abstract_eval(lambda x, *, factor, tag: x)
    tag = object()
    jaxpr = shardax.make_jaxpr(lambda x: p.bind(x, factor=3, tag=tag))(X)
    (eqn,) = jaxpr.eqns
    assert eqn.primitive is p
    assert eqn.params == {"factor": 3, "tag": tag} and eqn.params["tag"] is tag
    assert "scaled[factor=3 tag=" in str(jaxpr)
    assert isinstance(lax.sin_p, Primitive) and lax.sin_p is extend_core.primitives.sin_p
    assert lax.scatter_add_p.name == "scatter-add"
    with pytest.raises(AttributeError, match="nothing_p"):
        _ = extend_core.primitives.nothing_p


def test_programs_run_again_op_by_op():
    jaxpr = shardax.make_jaxpr(f)(X, Y, Z)
    (out,) = shardax.core.eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, X, Y, Z)
    np.testing.assert_array_equal(out, [8.0, 14.0])


def test_several_results():
    p = Primitive("sum_and_difference")
    p.multiple_results = True
    p.def_impl(lambda x, y: [np.asarray(x) + y, np.asarray(x) - y])
    p.def_abstract_eval(lambda x, y: [x, x])
    batching.primitive_batchers[p] = lambda xs, dims: (p.bind(*xs), [dims[0]] * 2)

    def jvp(primals, tangents):
        return p.bind(*primals), p.bind(*map(ad.instantiate_zeros, tangents))

    def transpose(cts, x, y):
        a, b = map(ad.instantiate_zeros, cts)
        return [a + b if ad.is_undefined_primal(x) else None, a - b]

    ad.primitive_jvps[p], ad.primitive_transposes[p] = jvp, transpose
    for run in (p.bind, shardax.jit(p.bind)):
        total, difference = run(X, Y)
        np.testing.assert_array_equal(total, X + Y)
        np.testing.assert_array_equal(difference, X - Y)
    np.testing.assert_array_equal(shardax.grad(lambda x: p.bind(x, 2 * x)[0].sum())(X), [3.0, 3.0])
    out = shardax.vmap(lambda x, y: p.bind(x, y)[1], in_axes=(0, 0))(X, Y)
    np.testing.assert_array_equal(out, X - Y)
    with pytest.raises(ValueError, match="'sin' is an op of the package"):
        lax.sin_p.multiple_results = True


def test_without_a_lowering_programs_call_the_implementation():
    p = Primitive("numpy_sorted")
    calls = []

    def impl(x):
        calls.append(x.shape)
        return np.sort(np.asarray(x))

    p.def_impl(impl)
    p.def_abstract_eval(lambda x: x)
    np.testing.assert_array_equal(shardax.jit(lambda x: p.bind(-x))(X), [-2.0, -1.0])
    x = jnp.array([[2.0, 1.0], [4.0, 3.0]])
    np.testing.assert_array_equal(shardax.pmap(p.bind)(x), np.sort(x))
    assert calls == [(2,), (2,), (2,)]


def test_apply_primitive_is_an_implementation():
    p = Primitive("thrice")
    p.def_impl(lambda *args, **params: xla.apply_primitive(p, *args, **params))
    p.def_abstract_eval(lambda x: x)
    mlir.register_lowering(p, mlir.lower_fun(lambda x: 3 * x, multiple_results=False))
    np.testing.assert_array_equal(p.bind(X), 3 * X)


def test_effects_keep_an_op():
    p = Primitive("note")
    p.multiple_results = True
    noted = []
    p.def_impl(lambda x: noted.append(float(x)) or [])
    p.def_effectful_abstract_eval(lambda x: ([], {"noting"}))

    @shardax.jit
    def g(x):
        p.bind(x)
        return x + 1

    assert g(1.0) == 2.0
    assert shardax.make_jaxpr(g)(1.0).jaxpr.eqns[0].params["jaxpr"].effects == {"noting"}
    shardax.effects_barrier()
    assert noted == [1.0]


def test_rules_by_family():
    mul = Primitive("own_mul")
    mul.def_impl(lambda x, y: np.asarray(x) * np.asarray(y))
    mul.def_abstract_eval(lambda x, y: ShapedArray(np.broadcast_shapes(x.shape, y.shape), x.dtype))
    ad.defbilinear(mul, lambda ct, x, y: mul.bind(ct, y), lambda ct, x, y: mul.bind(x, ct))
    batching.defbroadcasting(mul)
    np.testing.assert_array_equal(shardax.grad(lambda x: mul.bind(x, Y).sum())(X), Y)
    np.testing.assert_array_equal(shardax.grad(lambda y: mul.bind(X, y).sum())(Y), X)
    np.testing.assert_array_equal(shardax.vmap(mul.bind, (0, None))(X, 2.0), 2 * X)

    neg = Primitive("own_neg")
    neg.def_impl(lambda x: -np.asarray(x))
    neg.def_abstract_eval(lambda x: x)
    ad.deflinear2(neg, lambda ct, x: [neg.bind(ct)])
    batching.defvectorized(neg)
    np.testing.assert_array_equal(shardax.vmap(shardax.grad(neg.bind))(X), [-1.0, -1.0])

    exp = Primitive("own_exp")
    exp.def_impl(lambda x: np.exp(np.asarray(x)))
    exp.def_abstract_eval(lambda x: x)
    ad.defjvp2(exp, lambda t, out, x: t * out)
    np.testing.assert_allclose(shardax.grad(shardax.grad(exp.bind))(1.0), np.e, rtol=1e-6)

    square = Primitive("own_square")
    square.def_impl(lambda x: np.square(np.asarray(x)))
    square.def_abstract_eval(lambda x: x)
    ad.defjvp(square, lambda t, x: 2 * t * x)
    np.testing.assert_allclose(shardax.grad(lambda x: square.bind(x) + 3)(5.0), 10.0)

    total = Primitive("own_sum")
    total.def_impl(lambda x, *, axes: np.asarray(x).sum(axes))
    total.def_abstract_eval(
        lambda x, *, axes: ShapedArray(
            tuple(n for d, n in enumerate(x.shape) if d not in axes), x.dtype
        )
    )
    batching.defreducer(total)
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(
        shardax.vmap(lambda x: total.bind(x, axes=(0,)), in_axes=1)(x), x.sum(0)
    )


def test_registries_know_the_ops_of_the_package():
    out, t = ad.primitive_jvps[lax.sin_p]((X,), (Y,))
    np.testing.assert_array_equal(out, jnp.sin(X))
    np.testing.assert_array_equal(t, jnp.cos(X) * Y)
    out, t = ad.primitive_jvps[lax.mul_p]((X, Y), (Z, ad.Zero(shardax.typeof(Y))))
    np.testing.assert_array_equal(t, Y * Z)
    undefined = ad.UndefinedPrimal(shardax.typeof(X))
    assert ad.is_undefined_primal(undefined) and not ad.is_undefined_primal(X)
    ct, none = ad.primitive_transposes[lax.mul_p](Z, undefined, Y)
    np.testing.assert_array_equal(ct, Y * Z)
    assert none is None
    out, dim = batching.primitive_batchers[lax.add_p]((X, 1.0), (0, None))
    np.testing.assert_array_equal(out, X + 1)
    assert dim == 0
    assert lax.floor_p not in ad.primitive_transposes
    with pytest.raises(KeyError):
        _ = ad.primitive_transposes[lax.sin_p]


def test_missing_rules_are_named():
    p = Primitive("bare")
    with pytest.raises(NotImplementedError, match="Evaluation rule for 'bare' not implemented"):
        p.bind(X)
    with pytest.raises(NotImplementedError, match="Abstract evaluation for 'bare' not implemented"):
        shardax.make_jaxpr(p.bind)(X)
    p.def_abstract_eval(lambda x: x)
    with pytest.raises(NotImplementedError, match="lowering|lower_fun"):
        shardax.jit(p.bind)(X)
    with pytest.raises(NotImplementedError, match="Differentiation rule for 'bare'"):
        shardax.jvp(p.bind, (X,), (X,))
    with pytest.raises(NotImplementedError, match="Batching rule for 'bare'"):
        shardax.vmap(p.bind)(X)
    ad.primitive_jvps[p] = lambda primals, tangents: (p.bind(*primals), p.bind(*tangents))
    p.def_impl(lambda x: x)
    with pytest.raises(NotImplementedError, match=r"Transpose rule .* for 'bare'"):
        shardax.grad(lambda x: p.bind(x).sum())(X)
    p.def_abstract_eval(lambda x: "a string")
    with pytest.raises(AttributeError):
        shardax.make_jaxpr(p.bind)(X)


def test_parameters_are_dropped_with_the_program():
    class Tag:
        pass

    p = Primitive("tagged")
    p.def_impl(lambda x, *, tag: x)
    p.def_abstract_eval(lambda x, *, tag: x)
    tag = Tag()
    tag.self = tag
    alive = weakref.ref(tag)
    g = shardax.jit(lambda x, tag=tag: p.bind(x, tag=tag))
    g(X)
    tag.function = g
    del g, tag
    gc.collect()
    assert alive() is None


def test_programs_without_what_is_not_needed():
    jaxpr = shardax.make_jaxpr(lambda x, y: (x + 1, jnp.sin(y)))(1.0, 2.0).jaxpr
    smaller, used = partial_eval.dce_jaxpr(jaxpr, [True, False])
    assert used == [True, False] and len(smaller.eqns) == 1
    same, used = partial_eval.dce_jaxpr(jaxpr, [True, False], instantiate=True)
    assert used == [True, True] and len(same.invars) == 2
    with pytest.raises(ValueError, match="dce_jaxpr: 1 flags for 2 results"):
        partial_eval.dce_jaxpr(jaxpr, [True])


def test_programs_with_constants_as_inputs():
    closed = shardax.make_jaxpr(lambda x: x * X + 2.0)(Y)
    opened = partial_eval.convert_constvars_jaxpr(closed.jaxpr)
    assert len(opened.invars) == 2 and not opened.consts
    (out,) = shardax.core.eval_jaxpr(opened, [], X, Y)
    np.testing.assert_array_equal(out, X * Y + 2)


def test_tracing_functions_of_lists():
    jaxpr, types, consts = partial_eval.trace_to_jaxpr_dynamic(
        lambda x, y: [x + y], [shardax.typeof(X), shardax.typeof(Y)]
    )
    assert types == [shardax.typeof(X)] and consts == []
    known = partial_eval.PartialVal.known(X)
    unknown = partial_eval.PartialVal.unknown(shardax.typeof(Y))
    jaxpr, pvals, consts = partial_eval.trace_to_jaxpr_nounits(
        lambda x, y: [x + y], [known, unknown]
    )
    assert len(jaxpr.invars) == 1 and not pvals[0].is_known()
    assert known.get_known() is X and known.get_aval() == shardax.typeof(X)


def test_zeros_are_nodes_of_trees():
    zero = ad.Zero(shardax.typeof(X))
    leaves, tree = shardax.tree.flatten((zero, 1.0))
    assert leaves == [1.0] and tree.unflatten(leaves)[0].aval == zero.aval
    y, z = shardax.vmap(lambda x: (x, ad.Zero(shardax.typeof(x))))(X)
    np.testing.assert_array_equal(y, X)
    assert type(z) is ad.Zero


@pytest.mark.parametrize("name", ["call", "closed_call"])
def test_calls_of_functions_as_primitives(name):
    call = getattr(extend_core.primitives, f"{name}_p")

    def sin_of_product(x, y):
        fun = wrap_init(lambda x, y: [jnp.sin(x * y), x])
        return call.bind(x, y, subfuns=(fun,))[0]

    np.testing.assert_allclose(sin_of_product(X, Y), np.sin(X * Y), rtol=1e-6)
    np.testing.assert_allclose(shardax.jit(sin_of_product)(X, Y), np.sin(X * Y), rtol=1e-6)
    g = shardax.grad(lambda x: sin_of_product(x, Y).sum())(X)
    np.testing.assert_allclose(g, np.cos(X * Y) * Y, rtol=1e-6)
    np.testing.assert_allclose(shardax.vmap(sin_of_product)(X, Y), np.sin(X * Y), rtol=1e-6)
    assert f"name={name}\n" in str(shardax.make_jaxpr(sin_of_product)(X, Y))
    closed = shardax.make_jaxpr(lambda x: (x + 1.0,))(X)
    np.testing.assert_array_equal(call.bind(X, call_jaxpr=closed)[0], X + 1)
    np.testing.assert_array_equal(call.bind(wrap_init(lambda x: [x + 1.0]), X)[0], X + 1)


def test_primitives_whose_class_says_what_they_give():
    class First(extend_core.Primitive):
        multiple_results = True

        def __init__(self):
            super().__init__("first_of_two")
            ad.primitive_jvps[self] = lambda p, t: (self.bind(*p), t[:1])
            batching.primitive_batchers[self] = lambda a, d: (self.bind(*a), d[:1])

        def impl(self, *args):
            return args[:1]

        def abstract_eval(self, *avals):
            return avals[:1], set()

    first = First()
    x = jnp.ones((4, 3))
    for bind in (first.bind, shardax.jit(first.bind), shardax.vmap(first.bind)):
        (y,) = bind(x, x)
        assert y.shape == (4, 3)
    y, t = shardax.jvp(lambda x: first.bind(x, x)[0], (x,), (2 * x,))
    assert y.shape == (4, 3)
    np.testing.assert_array_equal(t, 2 * x)


def test_libraries_give_ops_of_the_package_a_transpose():
    """As lineax gives stop_gradient one."""
    f = shardax.linear_transpose(lambda x: 2 * lax.stop_gradient(x), 1.0)
    with pytest.raises(NotImplementedError, match=r"Transpose rule .* for 'stop_gradient' not"):
        f(3.0)
    ad.primitive_transposes[lax.stop_gradient_p] = lambda ct, x: (ct,)
    try:
        f = shardax.linear_transpose(lambda x: 2 * lax.stop_gradient(x), 1.0)
        assert f(3.0) == (6.0,)
    finally:
        del ad.primitive_transposes[lax.stop_gradient_p]
