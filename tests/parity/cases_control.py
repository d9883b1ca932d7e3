"""tests/parity/cases_control.py - scan, while_loop, fori_loop, cond, switch, map: values, types, derivatives, maps, errors."""

import numpy as np

import corpus as parity


def setup(names):
    jax = names["jax"]
    names.update(grad=jax.grad, vmap=jax.vmap, jit=jax.jit, pmap=jax.pmap)
    names["pm"] = lambda f: jax.pmap(f, "i")


corpus = parity.Corpus(setup, rtol=1e-5, atol=1e-6)

corpus.expressions("""
lax.scan(lambda c, x: (c + x, c), 0., f4)
lax.scan(lambda c, x: (c + x, c * x), jnp.float32(1), f4)
lax.scan(lambda c, x: (c + x, None), 0, i4)
lax.scan(lambda c, x: (c + x, c), 0, f4)
lax.scan(lambda c, x: (c * 2, c), 1., None, length=3)
lax.scan(lambda c, x: (c * 2, c), 1, None, 3)
lax.scan(lambda c, _: (c + 1, ()), 0, (), length=4)
lax.scan(lambda c, x: ({'a': c['a'] + x[0]}, x[1] * c['a']), {'a': 0.}, (f4, x4))
lax.scan(lambda c, x: (c + x, c), 0., f4, reverse=True)
lax.scan(lambda c, x: (c + x, c), 0., f4, unroll=2)
lax.scan(lambda c, x: (c + x, c), 0., f4, unroll=True)
lax.scan(lambda c, x: (c + x, c), jnp.zeros(3), m23)
lax.scan(lambda c, x: (c + x.sum(), x), 0., t234)
lax.scan(lambda c, x: (c, x), 0., e0)
lax.scan(lambda c, x: (c, x), 0., e03)
lax.scan(lambda c, x: (c, (x, 2.0, 1)), (), i4)
lax.scan(lambda c, x: (x, c), 0., f4, length=4)
lax.scan(lambda c, x: lax.scan(lambda d, y: (d + y, d), c, x), 0., m23)
lax.scan(lambda c, x: (c.at[x].set(x), c[x]), i4 * 0, i4)
lax.scan(lambda c, x: (c @ m33 / 5, c), jnp.ones(3), None, length=3)
jit(lambda x: lax.scan(lambda c, v: (c + v, c), 0., x))(f4)
vmap(lambda x: lax.scan(lambda c, v: (c + v, c), 0., x))(m23)
vmap(lambda c: lax.scan(lambda c, v: (c + v, c), c, f4))(x4)
vmap(lambda x, c: lax.scan(lambda c, v: (c * v, c), c, x), (None, 0))(f4, x4)
vmap(lambda x: lax.scan(lambda c, v: (c + v, v), 0., x), in_axes=1, out_axes=0)(m23)
grad(lambda x: lax.scan(lambda c, v: (c * v, c), 1., x)[0])(x4)
grad(lambda x: lax.scan(lambda c, v: (c * v, c), 1., x)[1].sum())(x4)
grad(lambda c: lax.scan(lambda c, v: (jnp.sin(c * v), c), c, x4)[0])(0.5)
grad(lambda w: lax.scan(lambda c, v: (jnp.tanh(w * c + v), c), 0., x4)[0])(0.5)
grad(lambda w: lax.scan(lambda c, v: (jnp.tanh(w @ c), c.sum()), jnp.ones(3), None, length=3)[1].sum())(m33 / 5)
grad(grad(lambda c: lax.scan(lambda c, v: (jnp.sin(c * v), c), c, x4)[0]))(0.5)
grad(lambda x: lax.scan(lambda c, v: (c + v ** 2, None), 0., x, reverse=True)[0])(x4)
grad(lambda x: lax.scan(lambda c, v: (c + x[0] * v, None), 0., x)[0])(x4)
grad(lambda x: lax.scan(lambda c, i: (c * x[i], c), 1., i4)[0])(x4)
jax.jvp(lambda x: lax.scan(lambda c, v: (c * v, c), 1., x), (x4,), (f4,))
jax.linearize(lambda x: lax.scan(lambda c, v: (c * v, c), 1., x), x4)[1](f4)
jax.jacfwd(lambda x: lax.scan(lambda c, v: (c * v, c), 1., x)[1])(x4)
jax.jacrev(lambda x: lax.scan(lambda c, v: (c * v, c), 1., x)[1])(x4)
jax.hessian(lambda x: lax.scan(lambda c, v: (c * v, c), 1., x)[0])(x4)
vmap(grad(lambda c: lax.scan(lambda c, v: (jnp.sin(c * v), c), c, x4)[0]))(f4)
grad(lambda x: vmap(lambda u: lax.scan(lambda c, v: (c * v, c), 1., u)[0])(x).sum())(m23)
grad(jax.checkpoint(lambda x: lax.scan(jax.checkpoint(lambda c, v: (c * v, c)), 1., x)[0]))(x4)
pm(lambda x: lax.scan(lambda c, v: (c + lax.psum(v, 'i'), c), 0., x))(m23)
pm(lambda x: lax.scan(lambda c, v: (lax.pmean(c + v, 'i'), c), 0., x))(m23)
pm(grad(lambda x: lax.scan(lambda c, v: (c * lax.psum(v, 'i'), c), 1., x)[0]))(m23)
pm(grad(lambda x: lax.pmean(lax.scan(lambda c, v: (c * v, c), 1., x)[0], 'i')))(m23)
grad(lambda x: pm(lambda u: lax.scan(lambda c, v: (c * lax.psum(v, 'i'), c), 1., u)[0])(x).sum())(m23)
pm(lambda x: lax.scan(lambda c, v: (lax.ppermute(c, 'i', [(0, 1), (1, 0)]) + v, c), 0., x))(m23)
pm(lambda x: lax.scan(lambda c, _: (c + lax.axis_index('i'), c), x, None, length=3))(i4)
vmap(lambda x: lax.scan(lambda c, v: (c + lax.psum(v, 'i'), c), 0., x), axis_name='i')(m23)
lax.scan(lambda c, x: (c + pm(lambda v: lax.psum(v, 'i'))(x).sum(), None), 0., m23.T)
lax.fori_loop(0, 4, lambda i, c: c + i, 0)
lax.fori_loop(0, 4, lambda i, c: c + i, 0.)
lax.fori_loop(2, 2, lambda i, c: c + 1, 5)
lax.fori_loop(3, 1, lambda i, c: c + 1, 5)
lax.fori_loop(0, 3, lambda i, c: c.at[i].add(1.0), f4)
lax.fori_loop(0, jnp.int32(3), lambda i, c: c * 2, f0)
lax.fori_loop(jnp.uint8(0), jnp.uint8(3), lambda i, c: c + i, jnp.uint8(0))
jit(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0))(5)
grad(lambda x: lax.fori_loop(0, 3, lambda i, c: c * x, 1.))(2.)
vmap(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0))(i4)
grad(lambda x: lax.fori_loop(0, 3, lambda i, c: c * x[i], 1.))(x4)
pm(lambda n: lax.fori_loop(0, n, lambda i, c: c + i, 0))(i4)
pm(lambda x: lax.fori_loop(0, 3, lambda i, c: c + lax.psum(x, 'i'), 0.))(f4)
pm(grad(lambda x: lax.fori_loop(0, 3, lambda i, c: c * lax.pmean(x, 'i'), 1.)))(f4)
lax.while_loop(lambda c: c < 10, lambda c: c * 2, 1)
lax.while_loop(lambda c: c < 10, lambda c: c * 2, jnp.float32(1))
lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, 1.))
lax.while_loop(lambda c: False, lambda c: c + 1, f4)
lax.while_loop(lambda c: c['i'] < 3, lambda c: {'i': c['i'] + 1, 'v': c['v'] + c['i']}, {'i': 0, 'v': f4})
jit(lambda x: lax.while_loop(lambda c: c < x, lambda c: c + 3, 0))(10)
vmap(lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2 + 1, x))(i4)
vmap(lambda x: lax.while_loop(lambda c: c[0] < x, lambda c: (c[0] + 1, c[1] * 2), (0, 1)))(i4)
pm(lambda x: lax.while_loop(lambda c: c < 10, lambda c: c * 2 + 1, x))(i4)
pm(lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, lax.psum(c[1], 'i')), (0, x)))(f4)
jax.jvp(lambda x: lax.while_loop(lambda c: c < 10., lambda c: c * x, x), (2.,), (1.,))
jax.jvp(lambda x: lax.fori_loop(0, x.astype(int), lambda i, c: c * x, 1.), (f0 * 2,), (f0,))
grad(lambda x: lax.while_loop(lambda c: c < 10., lambda c: c * 2, x))(1.) !! Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic start/stop values
lax.cond(True, lambda: 1., lambda: 2.)
lax.cond(False, lambda x: x + 1, lambda x: x * 2, f4)
lax.cond(f0 > 1, lambda x, y: x + y, lambda x, y: x - y, f4, 2.)
lax.cond(i0, lambda: 1, lambda: 2)
lax.cond(0, lambda: 1, lambda: 2)
lax.cond(0.5, lambda: 1, lambda: 2)
lax.cond(True, lambda x: {'a': x, 'b': [x]}, lambda x: {'a': -x, 'b': [x]}, f4)
lax.cond(True, lambda: 1, lambda: jnp.int32(2))
lax.cond(True, lambda d: d['a'], lambda d: d['b'], {'a': f0, 'b': f0})
jit(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x))(True, f4)
vmap(lambda p, x: lax.cond(p, lambda v: v + 1, lambda v: v * 2, x))(b4, f4)
vmap(lambda x: lax.cond(True, lambda v: v + 1, lambda v: v * 2, x))(f4)
grad(lambda x: lax.cond(x > 1, lambda v: v ** 2, lambda v: v * 3, x))(2.)
grad(lambda x: lax.cond(x > 1, lambda v: v ** 2, lambda v: 1., x))(0.)
grad(grad(lambda x: lax.cond(x > 1, lambda v: v ** 3, lambda v: v * 3, x)))(2.)
vmap(grad(lambda x: lax.cond(x > 1, lambda v: v ** 2, lambda v: v * 3, x)))(f4)
grad(jit(lambda x: lax.cond(x > 1, lambda: x ** 2, lambda: x * 3)))(2.)
jax.jvp(lambda x: lax.cond(x > 1, lambda v: v ** 2, lambda v: v * 3, x), (2.,), (1.,))
pm(lambda x: lax.cond(x > 1, lambda v: v ** 2, lambda v: v * 3, x))(f4)
pm(grad(lambda x: lax.cond(x > 1, lambda v: v ** 2, lambda v: v * 3, x)))(f4)
pm(lambda x: lax.cond(lax.axis_index('i') == 0, lambda v: v + 100, lambda v: v, x))(f4)
pm(lambda x: lax.cond(lax.psum(x, 'i') > 1, lambda v: lax.psum(v, 'i'), lambda v: v, x))(f4)
pmap(lambda s, x: lax.cond(s % 2 == 0, lambda v: lax.pmean(v, 'i'), lambda v: v, x), 'i')(jnp.full(4, 2), f4)
pmap(lambda s, x: lax.cond(s % 2 == 0, lambda v: lax.pmean(v, 'i'), lambda v: v, x), 'i')(jnp.full(4, 1), f4)
vmap(lambda x: lax.cond(x > 1, lambda v: lax.psum(v, 'i'), lambda v: v, x), axis_name='i')(f4)
grad(lambda x: pm(lambda v: lax.cond(v > 1, lambda u: u ** 2, lambda u: 3 * u, v))(x).sum())(f4)
lax.switch(1, [lambda x: x, lambda x: x + 1, lambda x: x * 2], f4)
lax.switch(9, [lambda: 1, lambda: 2])
lax.switch(-9, [lambda: 1, lambda: 2])
lax.switch(0, [lambda x: x + 1], f4)
vmap(lambda i, x: lax.switch(i, [lambda v: v, lambda v: v + 10, lambda v: v * 2], x))(i4, f4)
pm(lambda x: lax.switch(lax.axis_index('i'), [lambda v: v, lambda v: v + 10, lambda v: v * 2], x))(f4)
grad(lambda x: lax.switch(1, [lambda v: v, lambda v: v ** 2], x))(3.)
grad(lambda x: lax.switch(x.astype(int), [lambda v: v, lambda v: v ** 2, lambda v: v ** 3], x))(f0)
lax.map(lambda x: x ** 2, f4)
lax.map(lambda t: t[0] * t[1], (f4, i4))
lax.map(lambda x: {'s': x.sum(), 'x': x}, m23)
lax.map(lambda x: x * 2, jnp.arange(5), batch_size=2)
grad(lambda x: lax.map(lambda v: v ** 3, x).sum())(f4)
vmap(lambda x: lax.map(lambda v: v + 1, x))(m23)
lax.associative_scan(lambda a, b: a @ b, jnp.stack([m33, m33, m33]) / 4)
grad(lambda x: lax.associative_scan(jnp.multiply, x).sum())(x4)
lax.scan(lambda c, x: c, 0., f4) !! scan body output must be a pair
lax.scan(lambda c, x: (c, x), 0., None) !! scan got no values to scan over and `length` not provided
lax.scan(lambda c, x: (c + x * 1.5, x), jnp.int32(0), i4) !! carry input and carry output must have equal types.*int32\\[\\].*float32\\[\\]
lax.scan(lambda c, x: ((c, c), x), 0., f4) !! carry input and carry output must have the same pytree structure
lax.scan(lambda c, x: (jnp.stack([c, c]), x), 0., f4) !! carry input and carry output must have equal types.*float32\\[2\\]
lax.scan(lambda c, x: (c, x), 0., (f4, f4[:3])) !! scan got values with different leading axis sizes: 4, 3
lax.scan(lambda c, x: (c, x), 0., f4, length=3) !! scan got `length` argument of 3 which disagrees with leading axis sizes
lax.scan(lambda c, x: (c, x), 0., 1.0) !!
lax.while_loop(lambda c: c, lambda c: c, f4) !! cond_fun must return a boolean scalar
lax.while_loop(lambda c: True, lambda c: (c, c), 1.) !! carry input and carry output must have the same pytree structure
lax.while_loop(lambda c: c < 3, lambda c: c + 1.5, jnp.int32(1)) !! body_fun output and input must have|carry input and carry output must have equal types
lax.fori_loop(0, 3, lambda i, c: c + 1.5, jnp.int32(0)) !! carry input and carry output must have equal types
lax.fori_loop(0.5, 3, lambda i, c: c, 0) !! lower and upper
lax.cond(f4 > 1, lambda: 1, lambda: 2) !! Pred must be a scalar, got .* of shape \\(4,\\)
lax.cond('a', lambda: 1, lambda: 2) !! Pred
lax.cond(True, lambda: 1., lambda: jnp.int32(1)) !! cond branches must have equal output types but they differ
lax.cond(True, lambda: (1., 1.), lambda: [1., 1.]) !! cond branch outputs must have the same pytree structure, but they differ
lax.cond(True, lambda: f4, lambda: f4[:2]) !! cond branches must have equal output types but they differ.*float32\\[4\\].*float32\\[2\\]
lax.cond(True, 1, 2) !!
lax.switch(f4, [lambda: 1, lambda: 2]) !! Branch index must be scalar, got .* of shape \\(4,\\)
lax.switch(1.5, [lambda: 1, lambda: 2]) !! Index type must be an integer, got
lax.switch(0, []) !! Empty branch sequence
""")


@corpus.case()
def case_traced_body_runs_python_once(jax, jnp, lax):
    counts = [0, 0, 0]

    def count(i, value):
        counts[i] += 1
        return value

    lax.scan(lambda c, x: (count(0, c), x), 0.0, jnp.arange(5.0))
    lax.fori_loop(0, 5, lambda i, c: count(1, c), 0.0)
    lax.cond(True, lambda: count(2, 1.0), lambda: 2.0)
    return [c >= 1 for c in counts], [c <= 2 for c in counts]


@corpus.case()
def case_newton_by_while_loop_under_maps(jax, jnp, lax):
    def root(a):
        step = lambda s: (0.5 * (s[0] + a / s[0]), s[1] + 1)  # noqa: E731
        return lax.while_loop(lambda s: (jnp.abs(s[0] ** 2 - a) > 1e-3) & (s[1] < 20), step, (a, 0))

    a = jnp.asarray(np.float32([1, 2, 9, 100]))
    return root(9.0), jax.vmap(root)(a), jax.pmap(root)(a), jax.jit(jax.vmap(root))(a)


@corpus.case(rtol=1e-4)
def case_rnn_trained_through_scan_under_pmap(jax, jnp, lax):
    def predict(p, xs):
        h, _ = lax.scan(lambda h, x: (jnp.tanh(p["u"] @ h + p["w"] * x), None), jnp.zeros(3), xs)
        return p["v"] @ h

    def step(p, xs, y):
        loss, g = jax.value_and_grad(
            lambda p: jnp.mean((jax.vmap(predict, (None, 0))(p, xs) - y) ** 2)
        )(p)
        g = lax.pmean(g, "i")
        return jax.tree_util.tree_map(lambda a, b: a - 0.1 * b, p, g), lax.pmean(loss, "i")

    f = np.float32
    p = {
        "u": jnp.eye(3) * 0.5,
        "w": jnp.asarray(f([0.1, -0.2, 0.3])),
        "v": jnp.asarray(f([0.5, 0.5, -0.5])),
    }
    xs = jnp.asarray(np.sin(np.arange(40, dtype=f)).reshape(4, 2, 5))
    y, losses = xs.sum(-1), []
    p = jax.tree_util.tree_map(lambda v: jnp.stack([v] * 4), p)
    train = jax.pmap(step, "i")
    for _ in range(5):
        p, loss = train(p, xs, y)
        losses.append(loss[0])
    return losses, p


corpus.expressions("""
pm(lambda v: lax.cond(v > 1, jnp.sin, lambda u: u * 10, v))(f4)
pm(lambda v: lax.switch(v.astype(int), [jnp.sin, lambda u: u * 10, lambda u: u - 5], v))(f4)
grad(lambda z: pm(lambda v: lax.cond(v > 1, lambda u: u * u, lambda u: u * 10, v))(z).sum())(f4)
pm(grad(lambda v: lax.cond(v > 1, lambda u: u * u, lambda u: u * 10, v)))(f4)
jax.jvp(pm(lambda v: lax.cond(v > 1, jnp.sin, lambda u: u * 10, v)), (f4,), (f4,))
vmap(pm(lambda v: lax.cond(v > 1, jnp.sin, lambda u: u * 10, v)))(jnp.stack([f4, f4 + 1]))
pm(lambda v: vmap(lambda w: lax.cond(w > 1, jnp.sin, lambda u: u * 10, w))(v + f4))(f4)
pm(lambda v: lax.while_loop(lambda c: c < 5, lambda c: c * 2, v + 1))(f4)
pm(lambda v: lax.while_loop(lambda c: lax.psum(c, 'i') < 50, lambda c: c * 2, v + 1))(f4)
pm(lambda v: lax.fori_loop(0, 3, lambda i, c: lax.psum(c, 'i') / 4, v + 1))(f4)
pm(lambda v: lax.cond(lax.psum(v, 'i') > 1, lambda u: lax.psum(u, 'i'), lambda u: u * 10, v))(f4)
pm(lambda v: lax.cond(v > 10, lambda u: lax.psum(u, 'i'), lambda u: u * 10, v))(f4)
pm(lambda v: lax.cond(v > -10, lambda u: lax.psum(u, 'i'), lambda u: u * 10, v))(f4)
pm(lambda v: lax.scan(lambda c, a: (lax.cond(c > 2, lambda u: u + a, lambda u: u * 2, c), c), v, f4))(f4)
""")

# A weak carry that takes another dtype is not weak any more.
corpus.expressions("""
lax.scan(lambda c, x: (c + 1.0, c), 0, f4)
lax.while_loop(lambda c: c < 3, lambda c: c + 1.0, 1)
lax.fori_loop(0, 3, lambda i, c: c + 1.0, 1)
lax.fori_loop(0, jnp.int32(3), lambda i, c: c + 1.0, 1)
""")
