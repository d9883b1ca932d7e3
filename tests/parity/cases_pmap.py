"""tests/parity/cases_pmap.py - `pmap` itself: axes, pytrees, static arguments, closures, sizes, shardings, errors.

If JAX 0.10 refuses a program that its documents promise, the case says so and is recorded with an
equivalent program.
"""

import numpy as np

import corpus as parity


def setup(names):
    jnp = names["jnp"]
    names.update(
        f8=jnp.arange(8, dtype=jnp.float32), f24=jnp.arange(8, dtype=jnp.float32).reshape(2, 4)
    )
    names.update(
        f84=jnp.arange(32, dtype=jnp.float32).reshape(8, 4),
        w=jnp.asarray(np.float32([2, -1, 0.5, 3])),
    )
    names.update(pmap=names["jax"].pmap, vmap=names["jax"].vmap)


corpus = parity.Corpus(setup, rtol=1e-5)

corpus.expressions("""
pmap(lambda x: x * 2)(f4)
pmap(lambda x: x * 2)(f8)
pmap(lambda x: x * 2)(f4[:3])
pmap(lambda x: x * 2)(f4[:1])
pmap(lambda x: x + 1)(i4)
pmap(lambda x: x)(b4)
pmap(lambda x: x + 1)(u4)
pmap(lambda x: x + 1)(h4)
pmap(lambda x: x * 1j)(c4)
pmap(lambda x: x + 1)(np.arange(4))
pmap(lambda x: x + 1)(np.arange(4.0))
pmap(lambda x: x @ x)(f84)
pmap(jnp.sum)(m23)
pmap(lambda x, y: x + y)(f4, x4)
pmap(lambda x, y: x + y)(f4, np.ones(4, np.float32))
pmap(lambda x, y: x + y, in_axes=(0, None))(f4, f4)
pmap(lambda x, y: x + y, in_axes=(None, 0))(2.0, f4)
pmap(lambda x, y: x * y, in_axes=(None, 0))(3, i4)
pmap(lambda x, y: x * y, in_axes=(None, 0))(jnp.asarray(2.5), i4)
pmap(lambda x, y: x + y, in_axes=(0, 1))(f4[:2], t234[0, :, :2])
pmap(lambda x: x, in_axes=1)(m23)
pmap(lambda x: x.sum(), in_axes=2)(t234)
pmap(lambda x: x, in_axes=1, out_axes=1)(m23)
pmap(lambda x: x, out_axes=1)(m23)
pmap(lambda x: (x, x + 1), out_axes=(0, None))(f4)
pmap(lambda x: (x, x * 0 + 5), out_axes=(1, None))(m23)
pmap(lambda x: {'a': x, 'b': [x, -x]}, out_axes={'a': 1, 'b': 0})(m23)
pmap(lambda d: d['a'] + d['b'])({'a': f4, 'b': x4})
pmap(lambda d: d['a'] + d['b'], in_axes=({'a': 0, 'b': None},))({'a': f4, 'b': f0})
pmap(lambda d, y: d['a'] * y, in_axes=({'a': None, 'b': None}, 0))({'a': f0, 'b': f0}, f4)
pmap(lambda p, x: (p[0] @ x, p[1]), in_axes=((None, 0), 0))((m33, f4), t234[0, :, :3][:2].repeat(2, 0))
pmap(lambda t: t[0] + t[1][0])((f4, [x4, None]))
pmap(lambda t: t)((f4, [x4, None], {}, ()))
pmap(lambda x: None)(f4)
pmap(lambda x: ())(f4)
pmap(lambda x: 3)(f4)
pmap(lambda x: 2.5)(f4)
pmap(lambda x: True)(f4)
pmap(lambda x: jnp.arange(3))(f4)
pmap(lambda x: np.ones(2))(f4)
pmap(lambda x: (x, 1, w))(f4[:2])
pmap(lambda x: x + w)(f24)
pmap(lambda x: x * np.float64(2))(i4)
pmap(lambda x, *, y: x - y)(f4, y=x4)
pmap(lambda x, y=3.0: x - y)(f4)
pmap(lambda **k: k['a'] + k['b'])(a=f4, b=x4)
pmap(lambda x, *, y: x - y, in_axes=(None,))(f0, y=x4)
pmap(lambda x, n: x * n, static_broadcasted_argnums=1)(f4, 3)
pmap(lambda x, n: x ** n, static_broadcasted_argnums=(1,))(f4, 2)
pmap(lambda n, x: x.reshape(n), static_broadcasted_argnums=0)((2, 2), f84)
pmap(lambda x, y, n: (x + y) * n, in_axes=(0, None, None), static_broadcasted_argnums=(2,))(f4, f0, 2)
pmap(lambda x, y, n: (x + y) * n, in_axes=(0, None, 0), static_broadcasted_argnums=(2,))(f4, f0, 2)
pmap(lambda x, y, n: (x + y) * n, in_axes=(0, None), static_broadcasted_argnums=(2,))(f4, f0, 2)
pmap(lambda f, x: f(x), static_broadcasted_argnums=0)(jnp.sin, f4)
pmap(lambda x, s: x if s == 'a' else -x, static_broadcasted_argnums=1)(f4, 'b')
pmap(lambda x: x, devices=jax.devices()[:4])(f4)
pmap(lambda x: lax.axis_index('i'), 'i', devices=jax.devices()[::-1][:4])(f4)
pmap(lambda x: x, axis_size=4)(f4)
pmap(lambda x: x, donate_argnums=0)(f4 + 1)
pmap(lambda x: x, donate_argnums=(0,))(np.ones(4, np.float32))
pmap(lambda x: x, backend='cpu')(f4)
pmap(lambda x: x, axis_name='a')(f4)
pmap(lambda x: x[None].shape[0] * x)(f4)
pmap(lambda x: x.astype(jnp.bfloat16))(f4)
pmap(lambda x: (x.shape, x)[1])(m23)
pmap(jax.jit(lambda x: x * 2))(f4)
jax.jit(pmap(lambda x: x * 2))(f4)
jax.jit(lambda x: pmap(jnp.sum)(x * 2) + 1)(f84)
vmap(pmap(lambda x: x * 2))(f24)
pmap(vmap(lambda x: x * 2))(f24)
vmap(pmap(lambda x, y: x * y, in_axes=(0, None)), in_axes=(None, 0))(f4, f4[:2])
vmap(pmap(lambda x: lax.psum(x, 'i'), 'i'), in_axes=1, out_axes=1)(f24)
pmap(vmap(lambda x: lax.psum(x, 'j'), axis_name='j'), 'i')(f24)
pmap(vmap(lambda x: lax.psum(x, 'i'), axis_name='j'), 'i')(f24)
pmap(vmap(lambda x: lax.psum(x, ('i', 'j')), axis_name='j'), 'i')(f24)
pmap(vmap(lambda x: lax.axis_index(('i', 'j')), axis_name='j'), 'i')(f24)
pmap(vmap(lambda x: x - lax.pmean(x, 'i'), axis_name='i'), 'i')(f24)
pmap(lambda x: vmap(lambda y: y * x[0])(x))(f24)
pmap(lambda x: x)(pmap(lambda x: x + 1)(f4))
pmap(lambda x: x + 1)(f4).sum()
pmap(lambda x: x + 1)(f4)[0]
pmap(lambda x: x + 1)(f84)[3, 1:]
[v for v in pmap(lambda x: x + 1)(f4)]
pmap(lambda x: x + 1)(f4) + f4
jnp.stack([pmap(lambda x: x + 1)(f4), f4])
np.asarray(pmap(lambda x: x + 1)(f4))
pmap(lambda x: x + 1)(f4).shape
str(pmap(lambda x: x + 1)(f4))
repr(pmap(lambda x: x + 1)(f4).sharding)
repr(pmap(lambda x: x + 1, 'batch')(f4).sharding)
pmap(lambda x: x + 1, 'i')(f4).sharding.spec
[str(d) for d in sorted(pmap(lambda x: x + 1)(f4).devices(), key=lambda d: d.id)]
[repr(s.device) for s in pmap(lambda x: x)(f4).addressable_shards]
[s.index for s in pmap(lambda x: x)(m23).addressable_shards]
[s.data for s in pmap(lambda x: x)(f4).addressable_shards]
[s.replica_id for s in pmap(lambda x: x)(f4).addressable_shards]
pmap(lambda x: x)(f4).is_fully_replicated
(lambda f: (f.__name__, f.__wrapped__.__name__))(pmap(jnp.sin))
jax.eval_shape(pmap(lambda x: x.sum()), f84)
jax.eval_shape(pmap(lambda x: x, out_axes=1), m23)
jnp.mean(pmap(lambda x: x.astype(int))(f4))
pmap(lambda x: x + lax.axis_index('i'), axis_name='i')(f4)
pmap(lambda x: lax.psum(x, 'i'), 'i', in_axes=1)(m23)
""")

corpus.expressions("""
pmap(lambda x: x, in_axes=True)(f4) !! in_axes must be an int, None, or .*container with those types as leaves, but got True
pmap(lambda x: x, in_axes=1.0)(f4) !! in_axes must be an int, None, or
pmap(lambda x, y: x, in_axes=(0,))(f4, f4) !! in_axes
pmap(lambda x: x, in_axes=({'a': 0},))({'b': f4}) !! in_axes
pmap(lambda x: x)(5) !!
pmap(lambda x: x)() !!
pmap(lambda x: x, axis_size=3)(f4) !! Specified axis_size 3 doesn't match received axis_size 4
pmap(lambda x: x, devices=[])(f4) !! 'devices' argument to pmap must be non-empty, or None
pmap(lambda x: 'abc')(f4) !! is not a valid JAX type
pmap(lambda x: object())(f4) !! is not a valid JAX type
pmap(lambda x, n: x, static_broadcasted_argnums=1)(f4) !! static_broadcasted_argnums.*but was called with only 1 positional argument
pmap(lambda x, n: x, static_broadcasted_argnums=1)(f4, [1]) !! Non-hashable static arguments are not supported
pmap(lambda x, n: x, static_broadcasted_argnums=1)(f4, np.ones(1)) !! Non-hashable static arguments
pmap(lambda x, n: x, static_broadcasted_argnums=1)(f4, f0) !! Non-hashable static arguments
pmap(lambda x: lax.psum(x, 'other'), 'i')(f4) !! unbound axis name: other
pmap(lambda x: lax.psum(x, 'i'))(f4) !! unbound axis name: i
lax.psum(f4, 'devices') !! unbound axis name: devices
pmap(lambda x, y: x)(f4, f4[:3]) !!
pmap(lambda x: x)(jnp.arange(9)) !!
pmap(lambda x: x)(jnp.arange(17.0)) !!
pmap(lambda x: x, devices=jax.devices()[:2])(f4) !!
pmap(lambda x: 1 / 0)(f4) !! division by zero
pmap(lambda x: x if x > 0 else -x)(f4) !! Attempted boolean conversion of traced array with shape bool\\[\\]
pmap(lambda x: float(x))(f4) !!
pmap(lambda x: np.sin(x))(f4) !! __array__\\(\\)
pmap(lambda x: jnp.zeros(x))(i4) !! Shapes must be 1D sequences of concrete values of integer type
pmap(lambda x: x.missing)(f4) !! has no attribute
pmap(lambda x: x @ x)(f4) !! matmul
pmap(5)(f4) !!
pmap(lambda x: (x, x), out_axes=(0,))(f4) !! out_axes|pytree structure error|prefix
pmap(lambda x: x, out_axes=None)(f4).shape
pmap(lambda x, y: x, in_axes=(None, 0))(f0, 3) !!
pmap(lambda x: x, backend='gpu')(f4) !! Unknown backend.*gpu
""")


@corpus.case()
def case_donated_argument_is_deleted(jax, jnp, lax):
    x = jax.pmap(lambda v: v)(jnp.arange(4.0))
    y = jax.pmap(lambda v: v + 1, donate_argnums=0)(x)
    return y, x.is_deleted(), y.is_deleted()


@corpus.case(error=r"Array has been deleted with shape=float32\[4\]")
def case_donated_argument_is_refused(jax, jnp, lax):
    x = jax.pmap(lambda v: v)(jnp.arange(4.0))
    jax.pmap(lambda v: v + 1, donate_argnums=0)(x)
    return x + 1


@corpus.case()
def case_traced_once_for_equal_types(jax, jnp, lax):
    traces = []

    @jax.pmap
    def f(x):
        traces.append(str(x.shape))
        return x + 1

    (
        f(jnp.arange(4.0)),
        f(jnp.arange(4.0) * 2),
        f(jnp.arange(2.0)),
        f(jnp.ones((4, 2))),
        f(jnp.arange(4)),
    )
    return traces


@corpus.case()
def case_decorators_methods_and_partials(jax, jnp, lax):
    from functools import partial

    class Model:
        scale = 3.0

        @partial(jax.pmap, static_broadcasted_argnums=0)
        def apply(self, x):
            return x * self.scale

        @partial(jax.pmap, axis_name="i", static_broadcasted_argnums=(0,))
        def total(self, x):
            return lax.psum(x * self.scale, "i")

    @partial(jax.pmap, axis_name="i")
    def named(x):
        return x / lax.psum(x, "i")

    m = Model()
    return (
        m.apply(jnp.arange(4.0)),
        m.total(jnp.arange(4.0)),
        named(jnp.arange(4.0)),
        named.__name__,
    )


@corpus.case()
def case_user_exception_is_unchanged(jax, jnp, lax):
    class Special(Exception):
        pass

    special = Special("mine")

    def f(x):
        raise special

    try:
        jax.pmap(f)(jnp.arange(4.0))
    except Special as e:
        return e is special, str(e)


@corpus.case()
def case_print_happens_once(jax, jnp, lax):
    seen = []
    jax.pmap(lambda x: (seen.append(type(x).__name__ == "Array"), x)[1])(jnp.arange(4.0))
    return len(seen)


@corpus.case()
def case_rule_30_with_halo_exchange(jax, jnp, lax):
    def step(block):
        left = lax.ppermute(block[-1:], "i", [(k, (k + 1) % 4) for k in range(4)])
        right = lax.ppermute(block[:1], "i", [(k, (k - 1) % 4) for k in range(4)])
        cells = jnp.concatenate([left, block, right])
        return cells[:-2] ^ (cells[1:-1] | cells[2:])

    board = jnp.zeros(32, bool).at[16].set(True).reshape(4, 8)
    rows = [board]
    for _ in range(12):
        rows.append(jax.pmap(step, "i")(rows[-1]))
    return ["".join("#" if c else "." for c in np.asarray(r).reshape(-1)) for r in rows]


# Trees, keys and values that all devices share.
corpus.expressions("""
pmap(lambda x, s: x * s, in_axes=(0, None))(f4, np.float32(2))
pmap(lambda x, s: x * s, in_axes=(0, None))(i4, 2.5)
pmap(lambda x, s: jnp.where(s, x, -x), in_axes=(0, None))(f4, np.bool_(True))
pmap(lambda x, s: x, in_axes=(0, None))(f4, True)
pmap(lambda x: x[0] + x[1])([f4, x4])
pmap(lambda a: a[0] + a[1], in_axes=([0, None],))([f4, 1.0])
pmap(lambda p, x: p['w'] * x + p['b'], in_axes=(None, 0))({'w': 2.0, 'b': 1.0}, f4)
pmap(lambda d: d['x'], in_axes=({'x': 0, 'y': None},))({'x': f4, 'y': None})
pmap(lambda x: x)({'a': f4, 'b': None})
pmap(lambda x, y: (x, y))({}, f4)
pmap(lambda x: x.sum())(jnp.zeros((4, 0)))
pmap(lambda x: (x, 1, 2.5, True, None, np.ones(2), jnp.zeros(()), 1j, np.float32(3)))(f4)
pmap(lambda x: [x, (x, {'a': x, 'b': None})])(f4)
pmap(lambda a: [a, a], out_axes=[0, None])(f4)
pmap(lambda a: (a, None), out_axes=(0, None))(f4)
pmap(lambda x, n: x * n, static_broadcasted_argnums=[1])(f4, 3)
pmap(lambda x, n: x * n, static_broadcasted_argnums=range(1, 2))(f4, 3)
pmap(lambda x, n: x if n is None else -x, static_broadcasted_argnums=1)(f4, None)
pmap(lambda n, x, y: x * n + y, static_broadcasted_argnums=0, in_axes=(None, 0, 0))(2, f4, f4)
pmap(abs)(f4 - 2)
pmap(lambda k: jax.random.uniform(k))(jax.random.split(jax.random.key(0), 4))
pmap(lambda k: jax.random.normal(k, (2,)))(jax.random.split(jax.random.PRNGKey(0), 4))
pmap(lambda k: jax.random.split(k))(jax.random.split(jax.random.key(0), 4)).shape
pmap(lambda k: jax.random.split(k)[0])(jax.random.split(jax.random.key(0), 4))
pmap(lambda k, i: jax.random.uniform(jax.random.fold_in(k, i)), in_axes=(None, 0))(jax.random.key(0), i4)
pmap(lambda i: jax.random.bits(jax.random.fold_in(jax.random.key(1), i)))(i4)
pmap(lambda i: jax.random.permutation(jax.random.fold_in(jax.random.key(1), i), 5))(i4)
pmap(lambda k: jax.random.key_data(lax.ppermute(k, 'i', [(0, 1), (1, 0)])), 'i')(jax.random.split(jax.random.key(0), 2))
pmap(lambda x: lax.axis_index('i'), 'i', devices=jax.devices()[::-1])(jnp.arange(8))
sorted(d.id for d in pmap(lambda x: x, devices=jax.devices()[2:6])(f4).devices())
[s.device.id for s in pmap(lambda x: x, devices=jax.devices()[::-1][:4])(f4).addressable_shards]
pmap(lambda x, y: x + y)(pmap(lambda x: x, devices=jax.devices()[4:])(f4), pmap(lambda x: x)(f4))
pmap(lambda v: lax.psum(v, 'i'), 'i', out_axes=None)(f4).sharding.spec
pmap(lambda x: x, 'i', out_axes=1)(m23).sharding.spec
""")

# Transformations around and inside, in every order of two.
OUTSIDE = {
    "jit": "jax.jit({})",
    "vmap": "(lambda x: vmap({})(jnp.stack([x, 2 * x]))[1])",
    "grad": "jax.grad(lambda x: ({}(x) ** 2).sum())",
    "value_and_grad": "jax.value_and_grad(lambda x: ({}(x) * x).sum())",
    "jvp": "(lambda x: jax.jvp({}, (x,), (x + 1,)))",
    "scan": "(lambda x: lax.scan(lambda c, s: ({}(c) * s, c), x, x[:2])[0])",
    "cond": "(lambda x: lax.cond(x[0] > -5, {}, lambda v: v * 0, x))",
}
INSIDE = {
    "jit": "jax.jit({})",
    "vmap": "(lambda v: vmap({}, axis_name='k')(jnp.stack([v, 2 * v])).sum())",
    "grad": "jax.grad({})",
    "value_and_grad": "(lambda v: sum(jax.value_and_grad({})(v)))",
    "jvp": "(lambda v: jax.jvp({}, (v,), (v + 1,))[1])",
    "scan": "(lambda v: lax.scan(lambda c, s: ({}(c) * s, c), v, x4[:2])[0])",
    "cond": "(lambda v: lax.cond(lax.psum(1, 'i') > 2, {}, lambda u: u, v))",
}
BODY = "(lambda v: jnp.sin(v) * lax.pmean(v, 'i') + lax.all_gather(v, 'i')[1])"
corpus.expressions(
    "\n".join(
        around.format(f"pmap({inside.format(BODY)}, 'i')") + "(x4)"
        for around in OUTSIDE.values()
        for inside in INSIDE.values()
    )
)

corpus.expressions(
    """
pmap(lambda x: x + 1, in_axes=None, axis_size=4)(f0) => jnp.broadcast_to(f0 + 1, (4,))
pmap(lambda x: x + 1, in_axes=None)(f0) => jnp.broadcast_to(f0 + 1, (8,))
pmap(lambda x: {'w': x, 'b': x[0]}, in_axes=None, out_axes=0)(w)['b'] => jnp.full((8,), w[0])
pmap(lambda x: x, in_axes=None, devices=jax.devices()[:2])(w) => jnp.stack([w, w])
pmap(lambda x: lax.axis_index('i') + 0 * x, 'i', in_axes=None)(i4[0]) => jnp.arange(8)
pmap(lambda x: lax.psum(x, 'i'), 'i', in_axes=None, axis_size=4)(f0) => jnp.full((4,), 4 * f0)
pmap(lambda x, y: x + y, in_axes=(None, None), axis_size=2)(f0, f0) => jnp.full((2,), 2 * f0)
""",
    because="JAX refuses a pmap without a mapped argument; the number of devices is then axis_size, or that of devices.",
)
corpus.expressions(
    """
pmap(lambda x, y: x + y, in_axes=[0, None])(f4, f0) => pmap(lambda x, y: x + y, in_axes=(0, None))(f4, f0)
pmap(lambda x: x.sum(), in_axes=-1)(m23) => pmap(lambda x: x.sum(), in_axes=1)(m23)
pmap(lambda x: x, out_axes=-1)(m23) => pmap(lambda x: x, out_axes=1)(m23)
pmap(lambda x, y: x + y, in_axes=(-2, 0))(m23, f4[:2]) => pmap(lambda x, y: x + y[None], in_axes=(0, 0))(m23, f4[:2])
pmap(lambda x: x + 1, global_arg_shapes=None)(f4) => pmap(lambda x: x + 1)(f4)
pmap(lambda x: lax.psum(x, 7), 7)(f4) => pmap(lambda x: lax.psum(x, 'i'), 'i')(f4)
pmap(lambda x: x)(pmap(lambda x: x + 1)(f4)[:2]) => f4[:2] + 1
pmap(lambda x: x)(pmap(lambda x: x + 1)(f24).reshape(4, 2)) => f24.reshape(4, 2) + 1
pmap(lambda x: x + 1)(f24) + f24 => f24 + 1 + f24
pmap(lambda x: x[:0])(f84[:4]) => f84[:4, :0]
pmap(lambda x: x + 1)(f4)[:2] + pmap(lambda x: x + 1)(f4[:2]) => (f4[:2] + 1) * 2
""",
    because="JAX's documents promise these, and its older versions ran them.",
)
corpus.expressions(
    """
pmap(lambda x: pmap(lambda y: y * 2)(x))(f24) => f24 * 2
pmap(pmap(lambda y: lax.psum(y, 'j'), 'j'), 'i')(f24) => vmap(vmap(lambda y: lax.psum(y, 'j'), axis_name='j'), axis_name='i')(f24)
pmap(pmap(lambda y: lax.psum(y, 'i'), 'j'), 'i')(f24) => vmap(vmap(lambda y: lax.psum(y, 'i'), axis_name='j'), axis_name='i')(f24)
pmap(pmap(lambda y: lax.psum(y, ('i', 'j')), 'j'), 'i')(f24) => jnp.full((2, 4), f24.sum())
pmap(pmap(lambda y: lax.pmean(y, ('j', 'i')), 'j'), 'i')(f24) => jnp.full((2, 4), f24.mean())
pmap(pmap(lambda y: lax.axis_index(('i', 'j')), 'j'), 'i')(f24) => i4 + jnp.array([[0], [4]])
pmap(pmap(lambda y: (lax.axis_index('i'), lax.axis_index('j')), 'j'), 'i')(f24) => (i4 * 0 + jnp.array([[0], [1]]), jnp.stack([i4, i4]))
pmap(pmap(lambda y: lax.psum(y, 'i'), 'i'), 'i')(f24) => vmap(vmap(lambda y: lax.psum(y, 'i'), axis_name='i'), axis_name='i')(f24)
pmap(pmap(lambda y: lax.all_gather(y, 'i'), 'j'), 'i')(f24) => vmap(vmap(lambda y: lax.all_gather(y, 'i'), axis_name='j'), axis_name='i')(f24)
pmap(pmap(lambda x, y: x * y, in_axes=(None, 0)), in_axes=(0, None))(f4[:2], f4) => vmap(vmap(lambda x, y: x * y, (None, 0)), (0, None))(f4[:2], f4)
pmap(pmap(lambda x: x, in_axes=1, out_axes=1), in_axes=1)(t234[:, :2]) => vmap(vmap(lambda x: x, 1, 1), 1)(t234[:, :2])
pmap(pmap(lambda x: lax.psum(1, 'i') * lax.psum(1, 'j') * x, 'j'), 'i')(f24) => f24 * 8
pmap(pmap(pmap(lambda x: lax.psum(x, ('a', 'c')), 'c'), 'b'), 'a')(f8.reshape(2, 2, 2)) => vmap(vmap(vmap(
lambda x: lax.psum(x, ('a', 'c')), axis_name='c'), axis_name='b'), axis_name='a')(f8.reshape(2, 2, 2))
pmap(lambda x: pmap(lambda y: y + x.sum() + lax.psum(y, 'j'), 'j')(x), 'i')(f24) => vmap(lambda x: x + x.sum() + x.sum())(f24)
pmap(lambda x: lax.psum(pmap(lambda y: y * 2, 'j')(x).sum(), 'i'), 'i')(f24) => jnp.full((2,), 2 * f24.sum())
pmap(jax.grad(lambda x: pmap(lambda y: y ** 2)(x).sum()))(f24) => 2 * f24
jax.grad(lambda x: pmap(pmap(lambda y: y * lax.psum(y, ('i', 'j')), 'j'), 'i')(x).sum())(f24) => 2 * jnp.full((2, 4), f24.sum())
jax.jit(pmap(pmap(lambda y: y + 1)))(f24) => f24 + 1
vmap(pmap(pmap(lambda y: lax.psum(y, 'i'), 'j'), 'i'))(f24.reshape(2, 2, 2)) => vmap(lambda v: jnp.stack([v.sum(0)] * 2))(f24.reshape(2, 2, 2))
""",
    because="JAX 0.10 lost nested pmap; the value is that of the equivalent vmap with named axes.",
)

corpus.expressions(
    "pmap(lambda x: x)('abc')",
    raises=("TypeError", "type <class 'str'> and was passed to the function at path x"),
    because="JAX speaks of a missing mapped axis; what is wrong is the argument.",
)
for source, text in {
    "pmap(lambda x: x)(jnp.arange(9))": r"9.*8.*device",
    "pmap(lambda x: x)(jnp.ones((16, 2)))": r"16.*8.*device",
    "pmap(lambda x, y: x)(f4, f4[:3])": r"4.*3|3.*4",
    "pmap(pmap(lambda x: x))(jnp.ones((4, 4)))": r"16.*8.*device",
    "pmap(lambda x: x, in_axes=3)(f4)": r"in_axes|axis|rank|dimension",
}.items():
    corpus.expressions(
        source.replace("pmap", "jax.pmap"),
        raises=("ValueError|IndexError", text),
        because="JAX speaks of squeezing, of tuples or of shardings here; the sizes and the number of devices are what helps.",
    )
