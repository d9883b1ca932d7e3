"""tests/parity/cases_jaxpr.py - text of `make_jaxpr` for small programs: names, types, params,
literals, bodies."""

import numpy as np

import corpus as parity


def setup(names):
    jax = names["jax"]
    names.update(grad=jax.grad, vmap=jax.vmap, jit=jax.jit, pmap=jax.pmap)
    names["show"] = lambda f, *a, **k: str(jax.make_jaxpr(f, **k)(*a))
    names["vec"] = names["jnp"].asarray(np.float32([1, 2, 3, 4]))


corpus = parity.Corpus(setup)

corpus.expressions("""
show(lambda x: x, 1.0)
show(lambda x: x + 1, 1.0)
show(lambda x: x + 1, f4)
show(lambda x: x * 2.5, i4)
show(lambda x: x * 1.67 + 1e-10, f4)
show(lambda x: x * 1e10 + 1e16, f4)
show(lambda x: x * 0.1, f4.astype(jnp.bfloat16))
show(lambda x: x + i0, i4)
show(lambda x, y: x * y + x, f4, f4)
show(lambda x, y: x + y, f4, 2.0)
show(lambda x: 3, 1.0)
show(lambda x: (x, 3, x), 1.0)
show(lambda: 3.0)
show(lambda x: vec + x, f4)
show(lambda x: x + np.float32([1, 2, 3, 4]), f4)
show(lambda d: d['a'] + d['b'][0], {'a': f4, 'b': [f4]})
show(lambda x: None, f4)
show(lambda x: -x, i4)
show(lambda x: x ** 2, f4)
show(lambda x: x ** 3, 2.0)
show(lambda x, y: x - y / x, f4, f4)
show(lambda x: lax.exp(lax.sin(x)), f4)
show(lambda x: lax.log(lax.tanh(lax.sqrt(x))), f4)
show(lambda x, y: (lax.max(x, y), lax.lt(x, y)), f4, f4)
show(lambda x: lax.select(x > 0, x, -x), f4)
show(lambda x: lax.clamp(0., x, 1.), f4)
show(lambda x: x.astype(jnp.int32), f4)
show(lambda x: x.astype(jnp.bfloat16), f4)
show(lambda x: x.sum(), f4)
show(lambda x: x.sum(axis=0), m23)
show(lambda x: x.max(axis=(0, 1)), m23)
show(lambda x: jnp.argmax(x), f4)
show(lambda x: jnp.any(x > 1), f4)
show(lambda x: x.reshape(2, 2), f4)
show(lambda x: x.T, m23)
show(lambda x: x[None], f4)
show(lambda x: x[:, None] + x, f4)
show(lambda x: x + 1.0, m23)
show(lambda x, y: x + y, m23, m23[0])
show(lambda x: lax.broadcast_in_dim(x, (2, 4), (1,)), f4)
show(lambda x: jnp.concatenate([x, x]), f4)
show(lambda x: jnp.stack([x, x]), f4)
show(lambda x: jnp.squeeze(x[None]), f4)
show(lambda x: lax.slice(x, (1,), (3,)), f4)
show(lambda x, i: lax.dynamic_slice(x, (i,), (2,)), f4, 1)
show(lambda x: x[1:3], f4)
show(lambda x: x[0], f4)
show(lambda x: lax.rev(x, (0,)), f4)
show(lambda x: lax.pad(x, 0., [(1, 1, 0)]), f4)
show(lambda: lax.iota(jnp.int32, 4))
show(lambda: jnp.arange(3))
show(lambda: jnp.zeros(3))
show(lambda: jnp.ones((2, 2), jnp.bfloat16))
show(lambda x, y: x @ y, m23, m33)
show(lambda x, y: jnp.dot(x, y), f4, f4)
show(lambda x: lax.dot_general(x, x, (((1,), (1,)), ((), ()))), m23)
show(lambda x: lax.sort(x), f4)
show(lambda x: lax.cumsum(x), f4)
show(lambda x: lax.stop_gradient(x) * x, f4)
show(lambda x: x & 1, i4)
show(lambda x: x > 0, b4)
show(jit(lambda x: x + 1), f4)
show(lambda x: jit(lambda y: y * 2)(x) + 1, f4)
show(lambda x: jit(jit(lambda y: y * 2))(x), f4)
show(jit(lambda x: vec * x), f4)
show(lambda x: lax.cond(x > 1, lambda v: v + 1, lambda v: v * 2, x), 1.0)
show(lambda i, x: lax.switch(i, [lambda v: v, lambda v: v + 1], x), 1, f4)
show(lambda x: lax.scan(lambda c, v: (c + v, c * v), 0., x), f4)
show(lambda x: lax.scan(lambda c, v: (c + v + x[0], ()), 0., x), f4)
show(lambda x: lax.scan(lambda c, _: (c * 2, None), x, None, length=3), 1.0)
show(lambda x: lax.while_loop(lambda c: c < 3, lambda c: c + 1, x), 0)
show(lambda x: lax.while_loop(lambda c: c < x, lambda c: c * x, 1.0), 5.0)
show(lambda x: lax.fori_loop(0, 3, lambda i, c: c + i, x), 0)
show(grad(lambda x: x * x), 1.0)
show(grad(lambda x: (x * x).sum()), f4)
show(grad(lambda x: lax.sin(x)), 1.0)
show(jax.value_and_grad(lambda x: lax.exp(x) * 2), 1.0)
show(lambda x: jax.jvp(lax.sin, (x,), (x,)), 1.0)
show(lambda x: jax.vjp(lambda v: v * 3, x)[1](x), 1.0)
show(grad(lambda x: jit(lambda v: v * v)(x)), 1.0)
show(grad(lambda w, x: ((w @ x) ** 2).sum()), m23, f4[:3])
show(vmap(lambda x: x + 1), f4)
show(vmap(lambda x, y: x @ y, (0, None)), m23, f4[:3])
show(vmap(lambda x: lax.psum(x, 'i'), axis_name='i'), f4)
show(lambda x: lax.psum(x, 'i'), f4, axis_env=[('i', 4)])
show(lambda x: x / lax.psum(1, 'i'), f4, axis_env=[('i', 4)])
show(lambda x: lax.pmax(x, 'i'), f4, axis_env=[('i', 4)])
show(lambda x: lax.axis_index('i'), f4, axis_env=[('i', 4)])
show(jax.checkpoint(lambda x: lax.sin(x)), f4)
show(lambda x, n: x * n, f4, 3, static_argnums=1)
show(lambda x: x * 2j, c4)
show(lambda x: x * (1 - 2.5j), c4)
repr(jax.make_jaxpr(lambda x: x + 1)(1.0))
str(jax.make_jaxpr(lambda x: x + 1)(1.0).jaxpr)
[str(v) for v in jax.make_jaxpr(lambda x: x + 1)(f4).in_avals]
[str(v) for v in jax.make_jaxpr(lambda x: (x, x > 1))(f4).out_avals]
[str(e.primitive) for e in jax.make_jaxpr(lambda x: lax.sin(x) * 2 + x)(f4).eqns]
[len(jax.make_jaxpr(lambda x: vec + x)(f4).consts), len(jax.make_jaxpr(lambda x: vec + x)(f4).jaxpr.constvars)]
jax.make_jaxpr(lambda x: (x, x[0]), return_shape=True)(f4)[1]
jax.core.eval_jaxpr(jax.make_jaxpr(lambda x: x * 2)(f4).jaxpr, [], f4)
[str(jax.typeof(x)) for x in (f4, 1.0, i0, h4, m23, True)]
[repr(f4.aval), str(f4.aval), f4.aval.str_short(), jnp.asarray(1.0).aval.str_short(True)]
""")


@corpus.case()
def case_named_functions(jax, jnp, lax):
    @jax.jit
    def inner(x):
        return x * 2

    @jax.jit
    def outer(x):
        return inner(x) + inner(x + 1)

    return str(jax.make_jaxpr(outer)(1.0)), str(jax.make_jaxpr(jax.grad(outer))(1.0))


@corpus.case()
def case_many_variables(jax, jnp, lax):
    def f(x):
        for _ in range(30):
            x = lax.sin(x)
        return x

    return str(jax.make_jaxpr(f)(1.0))


@corpus.case()
def case_custom_rules(jax, jnp, lax):
    @jax.custom_jvp
    def f(x):
        return x * 3

    f.defjvp(lambda p, t: (f(*p), 2 * t[0]))
    return str(jax.make_jaxpr(jax.grad(f))(1.0))


corpus.expressions(
    "show(vmap(lambda x: x.sum()), m23) => show(lambda x: x.sum(1), m23)",
    because="JAX prints the axis as np.int64(1) here.",
)

corpus.expressions("""
show(lambda x, b: x + b, jnp.ones((8, 2)), jnp.ones(2))
show(lambda x, b: x + b, jnp.ones((8, 1)), jnp.ones((1, 2)))
show(lambda x, b: jnp.where(x > b, x, b), jnp.ones((8, 1)), jnp.ones((1, 2)))
show(grad(lambda x, b: jnp.sum(x * b)), jnp.ones((8, 1)), jnp.ones((1, 2)))
show(grad(lambda x, b: jnp.sum(x * b), argnums=1), jnp.ones((8, 2)), jnp.ones(2))
show(vmap(lambda x, b: x * b), jnp.ones((3, 2)), jnp.ones(3))
show(jit(lambda x: lax.sin(jit(lambda y: y * 2, inline=True)(x))), 1.0)
show(grad(jit(lambda y: lax.sin(y), inline=True)), 1.0)
""")

# Values that bodies close over come first among their inputs, in the order of first use.
corpus.expressions("""
show(lambda x: lax.cond(x > 0, lambda y: y + vec, lambda y: y - i4 * vec, f4), 1.0)
show(lambda x: lax.cond(x > 0, lambda y: y + vec + x, lambda y: y - x, f4), 1.0)
show(lambda x: lax.switch(x, [lambda y: y + i4, lambda y: y - 1, lambda y: y * i4], i4), 1)
show(lambda x: lax.scan(lambda c, y: (c + x * vec, y), f4, i4), 1.0)
show(lambda x: lax.while_loop(lambda c: (c + vec).sum() < 3 * x, lambda c: c + i4 * x, f4), 1.0)
show(lambda x: lax.while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 1, c[1], c[2] * 2), (0, x, x)), 1)
show(lambda x, n: lax.fori_loop(0, n, lambda i, c: c * x, 1.0), 1.0, 3)
show(lambda x: lax.fori_loop(0, 5, lambda i, c: c * vec * i, f4), 1.0)
show(lambda x: lax.map(lambda y: y * vec * x, i4), 1.0)
show(lambda x: jit(lambda y: y * vec * x)(x), 1.0)
show(lambda x: jit(lambda y, z: z * vec * x + y)(x, i4), 1.0)
show(lambda x: jax.checkpoint(lambda y: y * vec * x)(x), 1.0)
""")


@corpus.case()
def case_closures_of_calls(jax, jnp, lax):
    def f(x):
        y, w = x - 2.0, x * 3.0

        @jax.jit
        def inner(z, u):
            return w * u + x + y * z

        return inner(2.0, x) + x

    return str(jax.make_jaxpr(f)(1.0))


# Programs with several uses, and long ones, stand ahead of the others; long lists are broken.
@corpus.case()
def case_shared_programs(jax, jnp, lax):
    double, square = jax.jit(lambda x: x * 2), jax.jit(lambda x: x * x)

    def f(x):
        return double(square(x)) + double(x) * square(double(x))

    return str(jax.make_jaxpr(f)(1.0)), str(jax.make_jaxpr(jax.jit(f))(1.0))


@corpus.case()
def case_long_body(jax, jnp, lax):
    def body(c, y):
        for _ in range(12):
            c = lax.sin(c)
        return c, y

    return str(jax.make_jaxpr(lambda x: lax.scan(body, x, jnp.arange(3.0)))(1.0))


corpus.expressions("""
show(lambda *a: [v + 1 for v in a], *range(40))
show(lambda *a: lax.concatenate(a, 0), *[f4] * 40)
jax.make_jaxpr(lambda x: lax.cond(x > 0, lax.sin, lax.cos, x))(1.0).pretty_print(print_shapes=False)
jax.make_jaxpr(lambda x: lax.sin(x) * 2)(f4).pretty_print(use_color=False)
[str(e) for e in jax.make_jaxpr(lambda x: (lax.sin(x) * vec, lax.sort(x)))(f4).eqns]
repr(jax.make_jaxpr(lambda x: lax.cond(x > 0, lax.sin, lax.cos, x))(1.0).eqns)
len(jax.make_jaxpr(lambda x: x + 1)(1.0).effects)
len(jax.make_jaxpr(lambda x: lax.map(lambda v: jax.debug.print('{}', v), x))(f4).effects)
""")
