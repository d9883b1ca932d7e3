"""tests/parity/cases_custom.py - custom derivative rules, checkpoint, callbacks."""

import functools
import importlib

import numpy as np

import corpus as parity


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    names.update(grad=jax.grad, vmap=jax.vmap, jit=jax.jit, pmap=jax.pmap)

    @jax.custom_jvp
    def cj(x, y):
        return jnp.sin(x) * y

    @cj.defjvp
    def rule(primals, tangents):
        x, y = primals
        return cj(x, y), 3 * jnp.cos(x) * y * tangents[0] + 2 * jnp.sin(x) * tangents[1]

    @jax.custom_vjp
    def cv(x, y):
        return jnp.sin(x) * y

    cv.defvjp(
        lambda x, y: (cv(x, y), (jnp.cos(x), jnp.sin(x), y)),
        lambda res, g: (3 * res[0] * res[2] * g, 2 * res[1] * g),
    )

    @jax.custom_jvp
    def branchy(x):
        if x > 0:
            return jnp.sin(x)
        return jnp.cos(x)

    @branchy.defjvp
    def branchy_rule(primals, tangents):
        (x,), (t,) = primals, tangents
        if x > 0:
            return branchy(x), 2 * t
        return branchy(x), 3 * t

    @jax.custom_vjp
    def tree(p, n):
        return {"out": p["a"] * n, "sum": p["b"][0].sum()}

    tree.defvjp(
        lambda p, n: (tree(p, n), p),
        lambda p, g: ({"a": g["out"] * 10, "b": [g["sum"] * jnp.ones_like(p["b"][0])]}, None),
    )
    deep = lambda x: jnp.sin(jnp.sin(jnp.sin(x)))
    names.update(cj=cj, cv=cv, branchy=branchy, tree=tree, deep=deep, partial=functools.partial)
    named = importlib.import_module(jax.__name__ + ".ad_checkpoint").checkpoint_name
    names["checkpoint_name"] = named
    names["pm"] = lambda f: jax.pmap(f, "i")
    names["p"] = {"a": jnp.arange(3.0), "b": [jnp.ones(2)]}


corpus = parity.Corpus(setup, rtol=1e-5, atol=1e-6)

corpus.expressions("""
cj(0.5, 2.0)
jit(cj)(0.5, 2.0)
grad(cj)(0.5, 2.0)
grad(cj, (0, 1))(0.5, 2.0)
grad(grad(cj))(0.5, 2.0)
grad(grad(cj), 1)(0.5, 2.0)
jit(grad(cj))(0.5, 2.0)
grad(jit(cj))(0.5, 2.0)
grad(jit(grad(jit(cj))))(0.5, 2.0)
vmap(cj)(f4, f4)
vmap(cj, (0, None))(f4, 2.0)
vmap(grad(cj), (0, None))(f4, 2.0)
grad(lambda x: vmap(cj, (0, None))(x, 2.0).sum())(f4)
grad(lambda y: vmap(cj, (0, None))(f4, y).sum())(2.0)
grad(lambda x: vmap(vmap(cj, (0, None)), (None, 0))(x, x).sum())(f4)
grad(lambda x: jit(vmap(cj, (0, None)))(x, 2.0).sum())(f4)
jax.jvp(cj, (0.5, 2.0), (1.0, 1.0))
jax.jvp(vmap(cj), (f4, f4), (f4, f4))
jax.jacfwd(cj)(0.5, 2.0)
jax.jacrev(cj)(0.5, 2.0)
jax.hessian(cj)(0.5, 2.0)
jax.linearize(cj, 0.5, 2.0)[1](1.0, 0.0)
grad(lambda c: lax.scan(lambda c, x: (cj(c, x), c), c, f4)[0])(0.5)
grad(lambda x: lax.scan(lambda c, x: (cj(c, x), c), 0.5, x)[1].sum())(f4)
vmap(grad(lambda c: lax.scan(lambda c, x: (cj(c, x), c), c, f4)[0]))(x4)
grad(lambda x: lax.cond(x > 0, lambda v: cj(v, 2.0), lambda v: v, x))(0.5)
jax.jvp(lambda x: lax.fori_loop(0, 3, lambda i, c: cj(c, 2.0), x), (0.5,), (1.0,))
grad(lambda x: lax.fori_loop(0, 3, lambda i, c: cj(c, 2.0), x))(0.5)
pm(cj)(f4, f4)
pm(grad(cj))(f4, f4)
grad(lambda x: pm(cj)(x, x).sum())(f4)
pm(lambda x: lax.psum(grad(cj)(x, 2.0), 'i'))(f4)
grad(lambda x: pm(lambda v: lax.psum(cj(v, 2.0), 'i'))(x).sum())(f4)
cv(0.5, 2.0)
jit(cv)(0.5, 2.0)
grad(cv)(0.5, 2.0)
grad(cv, (0, 1))(0.5, 2.0)
grad(grad(cv))(0.5, 2.0)
jit(grad(cv))(0.5, 2.0)
grad(jit(cv))(0.5, 2.0)
grad(jit(lambda x: grad(cv)(x, 2.0)))(0.5)
vmap(cv)(f4, f4)
vmap(grad(cv, (0, 1)), (0, None))(f4, 2.0)
grad(lambda x: vmap(cv, (0, None))(x, 2.0).sum())(f4)
grad(lambda y: vmap(cv, (0, None))(f4, y).sum())(2.0)
grad(lambda x, y: vmap(vmap(cv, (0, None)), (None, 0))(x, y).sum(), (0, 1))(f4, f4)
grad(lambda x: jit(vmap(jit(cv), (0, None)))(x, 2.0).sum())(f4)
grad(grad(lambda x: vmap(cv, (0, None))(x * f4, 2.0).sum()))(1.5)
jax.vjp(cv, 0.5, 2.0)[1](1.0)
jax.jacrev(cv)(0.5, 2.0)
jax.jvp(cv, (0.5, 2.0), (1.0, 1.0)) !! can't apply forward-mode
jit(lambda x: jax.jvp(cv, (x, 2.0), (1.0, 1.0)))(0.5) !! can't apply forward-mode
jax.jacfwd(cv)(0.5, 2.0) !! can't apply forward-mode
grad(lambda c: lax.scan(lambda c, x: (cv(c, x), c), c, f4)[0])(0.5)
grad(lambda x: lax.scan(lambda c, x: (cv(c, x), c), 0.5, x)[1].sum())(f4)
vmap(grad(lambda c: lax.scan(lambda c, x: (cv(c, x), c), c, f4)[0]))(x4)
grad(lambda x: lax.cond(x > 0, lambda v: cv(v, 2.0), lambda v: v, x))(0.5)
pm(grad(cv, (0, 1)))(f4, f4)
grad(lambda x: pm(cv)(x, x).sum())(f4)
grad(lambda x: pm(lambda v: lax.psum(cv(v, 2.0), 'i'))(x).sum())(f4)
grad(lambda w: jax.pmap(cv, in_axes=(0, None))(f4, w).sum())(2.0)
grad(branchy)(1.0), grad(branchy)(-1.0)
branchy(1.0), branchy(-1.0)
jit(branchy)(1.0) !! Attempted boolean conversion
tree(p, 3)
grad(lambda p: tree(p, 3)['out'].sum())(p)
grad(lambda p: tree(p, 3)['sum'])(p)
vmap(grad(lambda p: tree(p, 3)['out'].sum()))(jax.tree.map(lambda x: jnp.stack([x, 2 * x]), p))
jit(grad(lambda p: tree(p, 3)['out'].sum() + tree(p, 2)['sum']))(p)
grad(jax.custom_gradient(lambda x: (x ** 2, lambda g: (g * x,))))(3.0)
grad(jax.custom_gradient(lambda x: (x ** 2, lambda g: g * x)))(3.0)
jax.custom_gradient(lambda x: (x ** 2, lambda g: (g * x,)))(3.0)
grad(jax.custom_gradient(lambda x, y: (x * y, lambda g: (g * 10, g * 20))), (0, 1))(3.0, 4.0)
jit(grad(jax.custom_gradient(lambda x: (x ** 2, lambda g: (g * x,)))))(3.0)
vmap(grad(jax.custom_gradient(lambda x: (x ** 2, lambda g: (g * x,)))))(f4)
grad(lambda x: vmap(jax.custom_gradient(lambda x: (x ** 2, lambda g: (g * x,))))(x).sum())(f4)
grad(grad(jax.custom_gradient(lambda x: (x ** 3, lambda g: (g * x ** 2,)))))(3.0)
jax.closure_convert(lambda a: a * f4, 1.0)[0](2.0)
grad(jax.checkpoint(deep))(0.5)
jit(grad(jax.checkpoint(deep)))(0.5)
grad(jit(jax.checkpoint(deep)))(0.5)
grad(jax.checkpoint(jit(deep)))(0.5)
grad(grad(jax.checkpoint(deep)))(0.5)
grad(jax.checkpoint(grad(jax.checkpoint(deep))))(0.5)
jax.jvp(jax.checkpoint(deep), (0.5,), (1.0,))
jax.hessian(jax.checkpoint(deep))(0.5)
jax.linearize(jax.checkpoint(deep), 0.5)[1](2.0)
vmap(grad(jax.checkpoint(deep)))(f4)
grad(lambda x: vmap(jax.checkpoint(deep))(x).sum())(f4)
pm(grad(jax.checkpoint(lambda x: lax.psum(deep(x), 'i'))))(f4)
grad(lambda x: pm(jax.checkpoint(lambda v: lax.psum(deep(v), 'i')))(x).sum())(f4)
grad(lambda c: lax.scan(jax.checkpoint(lambda c, x: (deep(c * x), c)), c, f4)[0])(0.5)
grad(lambda c: lax.scan(jax.checkpoint(lambda c, x: (deep(c * x), c), prevent_cse=False), c, f4)[0])(0.5)
grad(jax.checkpoint(lambda x: cj(cv(x, 2.0), 3.0)))(0.5)
grad(jax.checkpoint(deep, policy=jax.checkpoint_policies.everything_saveable))(0.5)
grad(jax.checkpoint(deep, policy=jax.checkpoint_policies.nothing_saveable))(0.5)
grad(jax.checkpoint(lambda w: jnp.sin(jnp.sin(w @ m33) @ m33).sum(), policy=jax.checkpoint_policies.dots_saveable))(m33)
grad(jax.checkpoint(lambda w: jnp.sin(jnp.sin(w @ m33) @ m33).sum(), policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable))(m33)
grad(jax.checkpoint(lambda x: jnp.sin(checkpoint_name(jnp.sin(x), 'a')), policy=jax.checkpoint_policies.save_only_these_names('a')))(0.5)
grad(jax.checkpoint(lambda x, n: x ** n, static_argnums=1))(2.0, 3)
jax.checkpoint(lambda x, *, k: x * k)(2.0, k=3.0)
grad(jax.remat(lambda p: (p['w'] * p['b']).sum()))({'w': f4, 'b': f4})
jax.checkpoint(lambda x: x if x > 0 else -x)(1.0) !! Attempted boolean conversion
checkpoint_name(f4, 'x')
""")


def trace_of(jax, run):
    """The arguments of callbacks, in order."""
    seen = []
    result = run(lambda *args: seen.append([np.asarray(a) for a in args]))
    jax.effects_barrier()
    return result, seen


@corpus.case()
def case_debug_callback(jax, jnp, lax):
    f = lambda see: lambda x: (jax.debug.callback(see, x, x + 1), x * 2)[1]
    return (
        trace_of(jax, lambda see: f(see)(1.0)),
        trace_of(jax, lambda see: jax.jit(f(see))(1.0)),
        trace_of(jax, lambda see: jax.grad(f(see))(1.0)),
        trace_of(jax, lambda see: jax.jit(jax.grad(f(see)))(1.0)),
        trace_of(jax, lambda see: jax.vmap(f(see))(jnp.arange(3.0))),
        trace_of(jax, lambda see: lax.scan(lambda c, x: (f(see)(c), x), 1.0, jnp.arange(3.0))),
        trace_of(jax, lambda see: lax.fori_loop(0, 3, lambda i, c: f(see)(c), 1.0)),
        trace_of(jax, lambda see: lax.while_loop(lambda c: c < 5, f(see), 1.0)),
        trace_of(jax, lambda see: lax.cond(True, f(see), lambda x: x, 1.0)),
        trace_of(jax, lambda see: lax.cond(False, f(see), lambda x: x, 1.0)),
        trace_of(jax, lambda see: jax.grad(jax.checkpoint(lambda x: jnp.sin(f(see)(x))))(1.0)),
    )


@corpus.case()
def case_pure_callback(jax, jnp, lax):
    shape = jax.ShapeDtypeStruct((), np.float32)
    f = lambda x: jax.pure_callback(np.sin, shape, x, vmap_method="sequential")
    g = lambda x, y: jax.pure_callback(np.add, shape, x, y, vmap_method="broadcast_all")
    h = lambda x: jax.pure_callback(
        lambda a: {"a": a + 1, "b": (np.float32(a) * 2,)},
        {"a": shape, "b": (shape,)},
        x,
        vmap_method="expand_dims",
    )
    x = jnp.arange(3.0)
    return (
        f(1.0),
        jax.jit(f)(1.0),
        jax.vmap(f)(x),
        jax.vmap(jax.vmap(f))(jnp.ones((2, 3))),
        jax.vmap(g, (0, None))(x, 1.0),
        jax.jit(jax.vmap(h))(x),
        jax.pmap(f)(x),
        jax.pmap(lambda v: lax.psum(f(v), "i"), "i")(x),
        lax.scan(lambda c, v: (f(c) + v, c), 0.5, x),
    )


@corpus.case()
def case_io_callback(jax, jnp, lax):
    io_callback = importlib.import_module(jax.__name__ + ".experimental").io_callback
    count = []

    def tick(x):
        count.append(float(x))
        return np.int32(len(count))

    f = lambda x: io_callback(tick, jax.ShapeDtypeStruct((), np.int32), x, ordered=True)
    out = [f(1.0), jax.jit(lambda x: f(x) + f(x))(2.0), jax.jit(lambda x: (f(x), x)[1])(3.0)]
    return out, count
