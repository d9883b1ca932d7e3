"""tests/parity/cases_transforms.py - jit, grad, value_and_grad, vmap, jvp, vjp, linearize, jacobians, custom rules, nesting."""

import numpy as np

import corpus as parity


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    names.update(grad=jax.grad, vmap=jax.vmap, jit=jax.jit, pmap=jax.pmap, vag=jax.value_and_grad)
    names["f44"] = jnp.arange(16, dtype=jnp.float32).reshape(4, 4) / 8
    names["tree"] = {
        "w": jnp.asarray(np.float32([1, -2])),
        "b": [jnp.asarray(np.float32(0.5)), None],
    }
    names["loss"] = lambda p, x: ((p["w"] * x + p["b"][0]) ** 2).sum()
    names["deep"] = lambda x: jnp.sin(x) * jnp.exp(-x) + x**3


corpus = parity.Corpus(setup, rtol=1e-5, atol=1e-6)

corpus.expressions("""
jit(lambda x: x + 1)(f4)
jit(lambda x: x + 1)(3)
jit(lambda x: x + 1)(2.5)
jit(lambda x: x + 1)(True)
jit(lambda x: x + 1)(np.float64(1))
jit(lambda x: x + 1)(np.arange(3))
jit(lambda x: x + 1)(np.arange(3.0))
jit(lambda: 3)()
jit(lambda: (1, 2.5, None, [jnp.ones(2)]))()
jit(lambda x: x)(tree)
jit(lambda x: {'a': x, 'b': (x, x)})(f4)
jit(lambda x, n: x ** n, static_argnums=1)(f4, 3)
jit(lambda x, n: x * n, static_argnames='n')(f4, n=3)
jit(lambda x, n=2: x * n, static_argnames=('n',))(f4)
jit(lambda x, *, y: x + y)(f4, y=x4)
jit(lambda x, s: x.reshape(s), static_argnums=(1,))(f4, (2, 2))
jit(lambda f, x: f(x), static_argnums=0)(jnp.cos, f4)
jit(lambda x, donated: x + donated, donate_argnums=1)(f4, f4 + 1)
jit(jit(lambda x: x * 2))(f4)
jit(lambda x: jit(lambda y: y + x)(x))(f4)
jit(lambda x: x.shape[0] * x)(f4)
jit(lambda x: x[::-1])(f4)
jit(lambda x: jnp.where(x > 1, x, 0).sum())(f4)
jit(lambda x: [x.dtype, x.shape, x.ndim, x.size, x.weak_type][-1] or x)(f4)
jax.eval_shape(lambda x: (x.sum(), x[None]), f4)
jax.eval_shape(lambda x: x @ x.T, jax.ShapeDtypeStruct((3, 2), jnp.float32))
jax.ShapeDtypeStruct((3, 3), jnp.float32)
[jax.ShapeDtypeStruct((3,), t).dtype.name for t in (float, int, 'int8', bool, jnp.bfloat16)]
jit(lambda x: x + 1).lower(f4).compile()(f4)
jit(lambda x: x + 1).eval_shape(f4)
grad(lambda x: x ** 2)(3.0)
grad(lambda x: x ** 2)(f0)
grad(lambda x: (x ** 2).sum())(f4)
grad(lambda x: (x ** 2).sum())(h4)
grad(lambda x: jnp.sin(x).sum())(x4)
grad(lambda x, y: x * y)(2.0, 3.0)
grad(lambda x, y: x * y, argnums=1)(2.0, 3.0)
grad(lambda x, y: x * y, argnums=(0, 1))(2.0, 3.0)
grad(lambda x, y: x * y, argnums=-1)(2.0, 3.0)
grad(lambda x, y: x * y, argnums=[0])(2.0, 3.0)
grad(lambda x: (x ** 2, 'aux'), has_aux=True)(3.0)
grad(lambda x: (x ** 2, {'y': x * 2}), has_aux=True)(3.0)
vag(lambda x: x ** 2)(3.0)
vag(lambda x: (x ** 2, x + 1), has_aux=True)(3.0)
vag(lambda p, x: loss(p, x), argnums=(0, 1))(tree, f4[:2])
grad(loss)(tree, f4[:2])
grad(lambda x, *, k: (x * k).sum())(f4, k=2)
grad(lambda x: x)(1.0)
grad(lambda x: 1.0)(2.0)
grad(lambda x: jnp.float32(3) + 0 * x)(2.0)
grad(lambda x: x * 2 if x > 1 else x * 3)(2.0)
grad(lambda x: float(lax.stop_gradient(x)) * x)(2.0)
grad(grad(lambda x: x ** 4))(2.0)
grad(grad(grad(lambda x: x ** 4)))(2.0)
grad(grad(grad(grad(lambda x: jnp.sin(x)))))(1.0)
grad(grad(deep))(0.5)
grad(lambda x: grad(lambda y: x * y ** 2)(x))(3.0)
grad(lambda x: vag(deep)(x)[0] + grad(deep)(x))(0.7)
grad(lambda x: x.astype(int).sum().astype(float))(f4)
grad(lambda x: x[1] * x[2])(f4)
grad(lambda x: x[1:].sum() * x[0])(f4)
grad(lambda x: x[i4 % 2].sum())(f4)
grad(lambda x: (x.at[1].set(5.0) ** 2).sum())(f4)
grad(lambda x: (x.reshape(2, 2) @ x.reshape(2, 2)).sum())(f4)
grad(lambda x: jnp.concatenate([x, x ** 2]).sum())(f4)
grad(lambda x: jnp.stack([x, 2 * x], 1)[1:].prod())(f4)
grad(lambda x: jnp.max(x))(jnp.float32([1, 3, 3, 2]))
grad(lambda x: jnp.min(x))(jnp.float32([1, 1, 3, 2]))
grad(lambda x: jnp.sort(x)[-1])(x4)
grad(lambda x: jnp.prod(x))(jnp.float32([0, 2, 3]))
grad(lambda x: jnp.prod(x))(jnp.float32([0, 0, 3]))
grad(lambda x: jnp.var(x))(x4)
grad(lambda x: jnp.std(x))(x4)
grad(lambda x: jnp.std(x))(jnp.ones(3))
grad(lambda x: jnp.linalg.norm(x))(x4)
grad(lambda x: jnp.linalg.norm(x))(jnp.zeros(2))
grad(lambda x: jnp.linalg.det(x))(m33)
grad(lambda x: jnp.linalg.inv(x).sum())(m33)
grad(lambda x: jnp.linalg.solve(x, f4[:3]).sum())(m33)
grad(lambda x: jnp.cumsum(x)[2])(f4)
grad(lambda x: jnp.cumprod(x).sum())(x4)
grad(lambda x: jax.nn.softmax(x)[0])(x4)
grad(lambda x: jax.nn.logsumexp(x))(x4)
grad(lambda x: jnp.einsum('ij,jk->', x, x))(m33)
grad(lambda x: jnp.tensordot(x, x, 2))(m33)
grad(lambda x: jnp.where(x > 1, x ** 2, 3 * x).sum())(f4)
grad(lambda x: jnp.where(x > 0, jnp.log(x), 0.).sum())(f4)
grad(lambda x: jnp.mean(x ** 2, axis=0).sum())(m23)
grad(lambda x: (x + m23).sum())(f4[:3])
grad(lambda x: (x[:, None] * f4).sum())(f4[:2])
grad(lambda x: jnp.pad(x, 1, mode='edge').sum())(f4)
grad(lambda x: jnp.tile(x, 3).sum() * x[0])(f4)
grad(lambda x: jnp.roll(x, 1) @ x)(f4)
grad(lambda x: jnp.take(x, jnp.array([0, 0, 9, -1])).sum())(f4)
grad(lambda x: jnp.interp(x, f4, x4))(1.5)
grad(lambda x: jnp.clip(x, 0, 1).sum())(jnp.float32([-1, 0, 0.5, 1, 2]))
[grad(f)(0.0) for f in (jnp.abs, jax.nn.relu, lambda x: jnp.maximum(x, 0), lambda x: jnp.minimum(x, 0), jnp.sign)]
[grad(f)(0.0) for f in (jnp.sqrt, jnp.square, jnp.cbrt, lambda x: x ** 0, lambda x: x ** 1, lambda x: x ** 2)]
[grad(f)(0.0) for f in (jax.nn.relu6, jax.nn.elu, jax.nn.leaky_relu, jax.nn.silu, jax.nn.gelu, jax.nn.selu, jax.nn.softplus)]
[grad(f)(0.5) for f in (jnp.floor, jnp.round, jnp.ceil, jnp.trunc, lambda x: x // 0.2, lambda x: x % 0.2)]
grad(lambda x: jnp.power(x, x))(0.0)
grad(lambda x: jnp.arctan2(x, 0.0))(0.0)
grad(lambda x, y: jnp.hypot(x, y), (0, 1))(3.0, 4.0)
grad(lambda x, y: jnp.logaddexp(x, y), (0, 1))(1.0, 1.0)
grad(lambda x, y: jnp.maximum(x, y), (0, 1))(1.0, 1.0)
grad(lambda x, y: x ** y, (0, 1))(2.0, 3.0)
grad(lambda x, y: x ** y, (0, 1))(0.0, 2.0)
grad(lambda x: jnp.sinc(x))(0.0)
grad(lambda z: jnp.abs(z) ** 2)(1.0 + 2j)
grad(lambda z: (jnp.real(z) ** 2 + jnp.imag(z) ** 2))(jnp.complex64(1 + 2j))
grad(lambda z: z ** 2, holomorphic=True)(1.0 + 2j)
grad(lambda x: (x * 1.5).sum(), allow_int=True)(i4)
grad(lambda x: x ** 2)(3) !! grad requires real- or complex-valued inputs \\(input dtype that is a sub-dtype of np.inexact\\), but got int32
grad(lambda x: x)(f4) !! Gradient only defined for scalar-output functions. Output had shape: \\(4,\\)
grad(lambda x: (x, x))(1.0) !! Gradient only defined for scalar-output functions. Output was|scalar
grad(lambda x: x > 0)(1.0) !! grad requires real.*-valued outputs
grad(lambda x: x.astype(int))(1.0) !! grad requires real.*-valued outputs
grad(lambda x: x, has_aux=True)(1.0) !! has_aux|aux
grad(lambda x, y: x, argnums=2)(1.0, 2.0) !! argnums
grad(lambda x: x)('a') !!
grad(3)(1.0) !! Expected a callable value
vmap(lambda x: x * 2)(f4)
vmap(lambda x: x.sum())(m23)
vmap(lambda x, y: x * y)(f4, i4)
vmap(lambda x, y: x + y, in_axes=(0, None))(f4, f4)
vmap(lambda x, y: x + y, in_axes=[0, None])(f4, 2.0)
vmap(lambda x: x, in_axes=1)(m23)
vmap(lambda x: x, in_axes=-1, out_axes=-1)(t234)
vmap(lambda x: (x, 1.0), out_axes=(0, None))(f4)
vmap(lambda x: (x, x * 2), out_axes=(0, 1))(m23)
vmap(lambda x: jnp.arange(2))(f4)
vmap(lambda d: d['a'] * d['b'], in_axes=({'a': 0, 'b': None},))({'a': f4, 'b': 2.0})
vmap(lambda x, *, y: x + y)(f4, y=f4)
vmap(lambda x: None)(f4)
vmap(lambda: jnp.ones(2), axis_size=3)()
vmap(jnp.dot, in_axes=(0, None))(m23, f4[:3])
vmap(jnp.dot)(m23, m23)
vmap(vmap(jnp.dot, (None, 0)), (0, None))(m23, m33)
vmap(vmap(lambda x, y: x - y, (0, None)), (None, 0))(f4, f4[:2])
vmap(jnp.matmul)(t234, t234.mT)
vmap(lambda a, b: a @ b, (0, None))(t234, f4)
vmap(lambda x: x[1:])(m23)
vmap(lambda x, i: x[i])(m23, jnp.array([2, 0]))
vmap(lambda i: f4[i])(i4)
vmap(lambda x, i: x.at[i].set(9))(m23, jnp.array([2, 0]))
vmap(lambda x: x.at[0].add(x[1]))(m23)
vmap(lambda x: jnp.sort(x))(m23)
vmap(lambda x: jnp.argsort(x))(m23)
vmap(lambda x: jnp.argmax(x))(m23)
vmap(lambda x: jnp.cumsum(x))(m23)
vmap(lambda x: jnp.concatenate([x, jnp.zeros(1)]))(m23)
vmap(lambda x: jnp.stack([x, 1.0]))(f4)
vmap(lambda x: x.reshape(2, 2).T)(f44)
vmap(lambda x: jnp.broadcast_to(x, (2,)))(f4)
vmap(lambda x: jnp.where(x > 1, x, -x))(f4)
vmap(lambda x: jnp.einsum('i,j->ij', x, x))(m23)
vmap(lambda x: jnp.linalg.inv(x + 2 * jnp.eye(2)))(f44.reshape(4, 2, 2))
vmap(lambda x: x.astype(int))(x4)
vmap(lambda x: lax.dynamic_slice(f4, (x,), (2,)))(i4)
vmap(lambda x: jnp.pad(x, 1))(m23)
vmap(lambda x: jnp.flip(x))(m23)
vmap(lambda x: lax.top_k(x, 2))(m23)
vmap(grad(lambda x: x ** 3))(f4)
vmap(grad(lambda x, y: (x * y).sum(), (0, 1)), (0, None))(m23, f4[:3])
grad(lambda x: vmap(lambda v: v ** 2)(x).sum())(f4)
jit(vmap(grad(deep)))(x4)
vmap(jit(lambda x: x + 1))(f4)
vmap(lambda x: x)(e03)
vmap(lambda x: x)(1.0) !! vmap was requested to map its argument along axis 0, which implies that its rank should be at least 1, but is only 0
vmap(lambda x, y: x)(f4, f4[:3]) !! vmap got inconsistent sizes for array axes to be mapped
vmap(lambda x: x, in_axes=2)(m23) !! vmap was requested to map its argument along axis 2, which implies that its rank should be at least 3
vmap(lambda x: x, in_axes=None)(f4) !! vmap must have at least one non-None value in in_axes
vmap(lambda x: x, in_axes=(0, 0))(f4) !! vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments
vmap(lambda x: x, out_axes=None)(f4) !! (out_axes is None|got axis spec None but output was batched on axis 0)
vmap(lambda x: x, in_axes='a')(f4) !! vmap in_axes must be an int, None, or
vmap(lambda x: x)() !! vmap wrapped function must be passed at least one argument containing an array
jax.jvp(jnp.sin, (1.0,), (1.0,))
jax.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.5))
jax.jvp(lambda x: (x ** 2, {'a': x}), (f4,), (f4,))
jax.jvp(lambda x: (x * 2, x + 1), (2.0,), (1.0,), has_aux=True)
jax.jvp(lambda p: p['w'].sum(), ({'w': f4},), ({'w': f4 + 1},))
jax.jvp(jnp.sin, [1.0], [1.0])
jax.jvp(grad(deep), (0.5,), (1.0,))
jax.jvp(lambda x: jax.jvp(deep, (x,), (1.0,))[1], (0.5,), (1.0,))
jax.jvp(jnp.sin, (1.0,), (1,)) !! primal and tangent arguments to jax.jvp do not match; dtypes must be equal
jax.jvp(jnp.sin, (f4,), (f4[:2],)) !! jvp called with different primal and tangent shapes
jax.jvp(jnp.sin, (1.0,), (1.0, 2.0)) !! primal and tangent arguments to jax.jvp|same tree structure
jax.jvp(jnp.sin, 1.0, 1.0) !! primal and tangent arguments to jax.jvp must be tuples or lists
jax.vjp(jnp.sin, 1.0)[1](2.0)
jax.vjp(lambda x, y: (x * y, x), 2.0, 3.0)[1]((1.0, 0.5))
jax.vjp(lambda p, x: loss(p, x), tree, f4[:2])[1](jnp.float32(1))
jax.vjp(lambda x: (x ** 2, x), 3.0, has_aux=True)[1](1.0)
jax.vjp(lambda x: x * 2, f4)[1](f4[:2]) !! (shape|unexpected)
jax.vjp(lambda x: x * 2, f4)[1](f4, f4) !!
jax.vjp(lambda x: x * 2, 1.0)[1](1) !! dtype
jax.vjp(lambda x, i: x * i, f4, i4)[1](f4)
jax.linearize(jnp.sin, 1.0)[1](2.0)
jax.linearize(lambda x, y: x * jnp.sin(y), 2.0, 3.0)[0]
jax.linearize(lambda x, y: x * jnp.sin(y), 2.0, 3.0)[1](1.0, 0.5)
jax.linearize(lambda d: {'o': d['a'] ** 2}, {'a': f4})[1]({'a': f4})
jax.linear_transpose(lambda x: m23 @ x, f4[:3])(f4[:2])
jax.linear_transpose(lambda x: x * 3, 1.0)(2.0)
jax.linear_transpose(lambda x: x * 3, 1)(2)
jax.linear_transpose(lambda x: x * 3., 1) !! linear_transpose only supports
jax.grad(lambda z: jnp.real(z) ** 2 + jnp.imag(z) ** 2)(3 + 4j)
jax.grad(lambda z: jnp.imag(z) ** 2)(3 + 4j)
jax.tree.leaves(jax.linearize(jnp.sin, 1.0)[1])
jax.jit(lambda x: jax.vjp(jnp.sin, x)[1])(f4)(f4)
jax.jit(lambda x: jax.linearize(jnp.sin, x)[1])(f4)(f4)
jax.jit(lambda x: jax.linear_transpose(lambda y: x * y, x))(f4)(f4)
vmap(lambda p, c: p(c))(vmap(lambda x: jax.vjp(jnp.cos, x)[1])(f4), f4)
jax.linear_transpose(lambda x: jnp.sin(x), 1.0)(2.0) !!
jax.jacfwd(lambda x: x ** 2)(f4)
jax.jacrev(lambda x: x ** 2)(f4)
jax.jacobian(lambda x: m23 @ x)(f4[:3])
jax.jacrev(lambda x, y: {'a': x * y.sum()}, argnums=(0, 1))(f4, f4[:2])
jax.jacfwd(lambda d: d['a'] * d['b'])({'a': f4[:2], 'b': 2.0})
jax.hessian(lambda x: (x ** 3).sum())(f4)
jax.hessian(deep)(0.5)
jax.hessian(lambda p: loss(p, f4[:2]))({'w': f4[:2], 'b': [1.0]})
jax.jacfwd(jax.jacrev(lambda x: jnp.sin(x).prod()))(x4[:3])
jax.jacrev(jax.jacfwd(lambda x: jnp.sin(x).prod()))(x4[:3])
jax.jvp(lambda v: grad(lambda x: (x ** 3).sum())(v), (x4,), (f4,))[1]
grad(lambda x: jnp.vdot(grad(lambda y: (y ** 3).sum())(x), f4))(x4)
jax.checkpoint(lambda x: jnp.sin(x) * 2)(f4)
grad(lambda x: jax.checkpoint(deep)(x))(0.5)
grad(grad(jax.remat(deep)))(0.5)
vmap(jax.hessian(deep))(x4)
jax.hessian(lambda x: jit(deep)(x))(0.5)
grad(lambda x: pmap(deep)(x).sum())(x4)
pmap(grad(deep))(x4)
pmap(vmap(grad(deep)))(f44)
vmap(pmap(grad(deep)))(f44)
jit(grad(lambda x: pmap(deep)(x).sum()))(x4)
grad(lambda x: jit(pmap(deep))(x).sum())(x4)
pmap(jax.hessian(lambda x: (x ** 3).sum()))(f44)
jax.hessian(lambda x: pmap(deep)(x).sum())(x4)
pmap(lambda x: jax.jvp(deep, (x,), (1.0,)))(x4)
jax.jvp(pmap(deep), (x4,), (f4,))
jax.jacrev(pmap(deep))(x4)
pmap(grad(lambda x: lax.psum(deep(x), 'i') ** 2), 'i')(x4)
pmap(grad(grad(lambda x: lax.pmean(deep(x), 'i') ** 2)), 'i')(x4)
grad(lambda x: pmap(lambda v: grad(lambda u: lax.psum(u ** 3, 'i'))(v), 'i')(x).sum())(x4)
""")


@corpus.case()
def case_custom_jvp(jax, jnp, lax):
    @jax.custom_jvp
    def f(x, y):
        return x * y

    @f.defjvp
    def rule(primals, tangents):
        x, y = primals
        return f(x, y), 10 * tangents[0] + tangents[1]

    g = jax.grad(f, (0, 1))
    x = jnp.arange(3.0)
    return (
        f(2.0, 3.0),
        g(2.0, 3.0),
        jax.jit(g)(2.0, 3.0),
        jax.vmap(g)(x, x),
        jax.jvp(f, (2.0, 3.0), (1.0, 1.0)),
        jax.pmap(g)(x, x),
    )


@corpus.case()
def case_custom_jvp_defjvps(jax, jnp, lax):
    @jax.custom_jvp
    def f(x, y):
        return x * y

    f.defjvps(lambda t, out, x, y: 7 * t, lambda t, out, x, y: out * t)
    return jax.grad(f, (0, 1))(2.0, 3.0), jax.grad(jax.grad(f, 1), 0)(2.0, 3.0)


@corpus.case()
def case_custom_vjp(jax, jnp, lax):
    @jax.custom_vjp
    def f(x, y):
        return jnp.sin(x) * y

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda res, g: (100 * g * res[1], g * res[0]))
    g = jax.grad(f, (0, 1))
    x = jnp.arange(3.0)
    total = jax.grad(lambda v: jax.pmap(f)(v, v).sum())
    return (
        f(1.0, 2.0),
        g(1.0, 2.0),
        jax.jit(g)(1.0, 2.0),
        jax.vmap(g)(x, x),
        jax.pmap(g)(x, x),
        total(x),
    )


@corpus.case()
def case_custom_vjp_with_static_argument_and_trees(jax, jnp, lax):
    from functools import partial

    @partial(jax.custom_vjp, nondiff_argnums=(0,))
    def clip(limit, tree):
        return tree

    clip.defvjp(
        lambda limit, t: (t, None),
        lambda limit, _, g: (jax.tree.map(lambda v: jnp.clip(v, -limit, limit), g),),
    )
    return jax.grad(lambda t: 5 * clip(1.0, t)["a"] + 0.5 * clip(1.0, t)["b"].sum())(
        {"a": 1.0, "b": jnp.ones(2)}
    )


@corpus.case(error="No VJP defined for custom_vjp function")
def case_custom_vjp_without_rule(jax, jnp, lax):
    return jax.grad(jax.custom_vjp(lambda x: x * 2))(1.0)


@corpus.case()
def case_traces_are_counted(jax, jnp, lax):
    counts = {}

    def counted(name):
        def f(x, n=1):
            counts[name] = counts.get(name, 0) + 1
            return x * n

        return f

    f = jax.jit(counted("types"))
    (
        f(1.0),
        f(2.0),
        f(1),
        f(jnp.ones(2)),
        f(jnp.zeros(2)),
        f(np.ones(2, np.float32)),
        f(jnp.float32(1)),
        f(True),
    )
    g = jax.jit(counted("static"), static_argnums=1)
    g(1.0, 2), g(2.0, 2), g(1.0, 3)
    h = jax.grad(jax.jit(counted("grad")))
    h(1.0), h(2.0)
    v = jax.vmap(jax.jit(counted("vmap")))
    v(jnp.ones(2)), v(jnp.zeros(2)), v(jnp.zeros(3))
    return counts


@corpus.case()
def case_python_control_flow_under_grad(jax, jnp, lax):
    def f(x):
        total = 0.0
        while x < 10:
            x = x * 2 if x > 3 else x + 1
            total = total + x
        return total

    return jax.grad(f)(1.0), jax.value_and_grad(f)(2.5)


@corpus.case()
def case_conjugate_gradient(jax, jnp, lax):
    a = jnp.array([[4.0, 1.0], [1.0, 3.0]])
    hvp = lambda v: jax.jvp(jax.grad(lambda x: 0.5 * x @ a @ x), (jnp.zeros(2),), (v,))[1]  # noqa: E731
    x = jnp.zeros(2)
    r = p = jnp.array([1.0, 2.0])
    for _ in range(2):
        alpha = r @ r / (p @ hvp(p))
        x, r_next = x + alpha * p, r - alpha * hvp(p)
        p, r = r_next + (r_next @ r_next) / (r @ r) * p, r_next
    return x


corpus.expressions(r"""
vmap(lambda f, x: f(x), (None, 0))(lambda x: x + 1, f4)
vmap(lambda x, y, f: f(x, y), (0, 0, None))(jnp.ones(2), jnp.ones(3), jnp.add) !! inconsistent sizes for array axes
vmap(lambda n, x: x * n if n > 2 else x, (None, 0))(3, f4)
vmap(lambda d, x: x + len(d), (None, 0))('name', f4)
vmap(lambda x: x, out_axes=None, axis_name='foo')(f4) !! vmap has mapped output \(axis_name=foo\) but out_axes is None
vmap(lambda x: x)({}) !! got empty \*args=\(\{\},\) and
jit(jax.grad(lambda x: 1.0, allow_int=True))(3)
jit(lambda x: jax.vjp(lambda y: y * 2.0, x)[1](1.0))(3)[0].dtype == jax.dtypes.float0
jit(lambda x: x).lower(1.0).compile()([4.0]) !! does not match the input pytree it was called with
jit(lambda x: x).lower(1.0).compile()(4.0, 5.0) !! does not match the input pytree it was called with
jit(lambda x: x).lower(1.0).compile()(f4) !! compiled with float32\[\] and called with float32\[4\]
jit(lambda x, n: x * n, static_argnums=1).lower(1.0, 3).compile()(2.0)
lax.add(jnp.ones((2, 1)), jnp.ones((1, 3)))
lax.add(jnp.ones((2, 1)), jnp.ones(3)) !! arrays must have the same number of dimensions, got \{1, 2\}
lax.mul(jnp.ones((2, 3)), jnp.ones((2, 2))) !! got incompatible shapes for broadcasting: \(2, 3\), \(2, 2\)
jax.jvp(lax.pow, (jnp.full((2, 1), 2.0), jnp.full((1, 3), 3.0)), (jnp.ones((2, 1)), jnp.ones((1, 3))))
jax.jvp(lax.atan2, (jnp.full((2, 1), 2.0), jnp.full((1, 3), 3.0)), (jnp.ones((2, 1)), jnp.ones((1, 3))))
jax.grad(lambda x, y: jnp.sum(lax.max(x, y)), (0, 1))(jnp.full((2, 1), 2.0), jnp.asarray([[1.0, 2.0, 3.0]]))
jax.grad(lambda x, y: jnp.sum(lax.rem(x, y)), (0, 1))(jnp.full((2, 1), 5.0), jnp.asarray([[1.5, 2.0, 3.0]]))
jax.linear_transpose(lambda x: lax.sub(jnp.ones((2, 3)) * 0, x), jnp.ones((1, 3)))(jnp.ones((2, 3)))
""")

# An unmapped result of the function is the same object.
corpus.expressions("""
vmap(lambda x: 3.0, out_axes=None)(f4)
vmap(lambda x: (3, x), out_axes=(None, 0))(f4)
vmap(lambda x: (True, f44), out_axes=None)(f4)
vmap(lambda x: 3)(f4)
""")
