"""tests/parity/cases_draws.py - every distribution of `jax.random`, each dtype's stream, shapes, typed keys, errors."""

import corpus as parity


def setup(names):
    random, jnp = names["jax"].random, names["jnp"]
    names.update(
        key=random.PRNGKey(5),
        k1=random.key(11),
        ks=random.split(random.key(3), (2, 2)),
        p3=jnp.array([0.2, 0.5, 0.3]),
        logits=jnp.log(jnp.array([[0.1, 0.6, 0.3], [0.7, 0.2, 0.1]])),
    )


corpus = parity.Corpus(setup, rtol=2e-6, atol=1e-6)

SHAPES = ("()", "(1,)", "(7,)", "(3, 5)", "(2, 0)", "(257,)", "(4, 33)")
for shape in SHAPES:
    corpus.expressions(f"""
random.normal(key, {shape})
random.uniform(key, {shape})
[random.bits(key, {shape}, d) for d in ('uint8', 'uint16', 'uint32')]
[random.uniform(key, {shape}, d) for d in ('float16', 'bfloat16')]
[random.normal(key, {shape}, d) for d in ('float16', 'bfloat16', 'complex64')]
[random.randint(key, {shape}, -50, 100, d) for d in ('int8', 'int16', 'int32')]
[random.randint(key, {shape}, 0, 100, d) for d in ('uint8', 'uint16', 'uint32')]
random.bernoulli(key, 0.3, {shape})
random.gumbel(key, {shape})
random.exponential(key, {shape})
random.laplace(key, {shape})
random.logistic(key, {shape})
random.cauchy(key, {shape})
random.truncated_normal(key, -1., 1.5, {shape})
random.rademacher(key, {shape})
random.maxwell(key, {shape})
random.rayleigh(key, 2., {shape})
random.double_sided_maxwell(key, 1., 2., {shape})
random.weibull_min(key, 2., 3., {shape})
random.pareto(key, 3., {shape})
random.lognormal(key, 0.5, {shape})
random.wald(key, 2., {shape})
random.triangular(key, 0., 1., 3., {shape})
random.split(key, {shape})
random.choice(key, 10, {shape})
""")
for shape in SHAPES[:4]:
    corpus.expressions(f"""
random.gamma(key, 2.5, {shape})
random.gamma(key, 0.3, {shape})
random.loggamma(key, 0.1, {shape})
random.beta(key, 2., 0.7, {shape})
random.dirichlet(key, p3 * 4, {shape})
random.poisson(key, 3., {shape})
random.poisson(key, 50., {shape})
random.t(key, 4., {shape})
random.chisquare(key, 3., shape={shape})
random.f(key, 3., 5., shape={shape})
random.generalized_normal(key, 1.5, {shape})
random.ball(key, 3, 2, {shape})
random.geometric(key, 0.3, {shape})
random.binomial(key, 10, 0.3, {shape})
random.binomial(key, 100., 0.4, {shape})
random.categorical(key, p3, shape={shape})
""")

corpus.expressions("""
[random.gumbel(key, (5,), d) for d in ('float16', 'bfloat16')]
[random.exponential(key, (5,), d) for d in ('float16', 'bfloat16')]
[random.laplace(key, (5,), d) for d in ('float16', 'bfloat16')]
[random.logistic(key, (5,), d) for d in ('float16', 'bfloat16')]
[random.cauchy(key, (5,), d) for d in ('float16', 'bfloat16')]
[random.truncated_normal(key, -1, 1, (5,), d) for d in ('float16', 'bfloat16')]
[random.gamma(key, 2., (5,), d) for d in ('float16', 'bfloat16')]
[random.beta(key, 2., 2., (5,), d) for d in ('float16', 'bfloat16')]
[random.t(key, 2., (5,), d) for d in ('float16', 'bfloat16')]
[random.maxwell(key, (5,), d) for d in ('float16', 'bfloat16')]
[random.weibull_min(key, 2., 3., (5,), d) for d in ('float16', 'bfloat16')]
[random.pareto(key, 2., (5,), d) for d in ('float16', 'bfloat16')]
[random.rademacher(key, (5,), d) for d in ('int8', 'float32', 'bfloat16')]
random.rademacher(key, (5,), 'complex64')
[random.poisson(key, 3., (5,), d) for d in ('int16', 'int32', 'uint8')]
[random.permutation(key, n) for n in (0, 1, 2, 100)]
random.permutation(key, 1000)[::50]
random.permutation(k1, jnp.arange(12).reshape(3, 4))
random.permutation(k1, jnp.arange(12).reshape(3, 4), 1)
random.permutation(k1, jnp.arange(12).reshape(3, 4), 1, True)
random.permutation(k1, jnp.arange(12).reshape(3, 4), -1)
random.permutation(k1, h4)
random.permutation(k1, b4)
random.permutation(key, jnp.zeros(0))
random.permutation(key, np.arange(5))
random.permutation(key, [1, 2, 3]) !!
random.permutation(key, 5.) !! x must be an integer or at least 1-dimensional
random.permutation(key, m23, 5) !!
random.choice(k1, 10, (3,), replace=False)
random.choice(k1, 3, (8,), p=p3)
random.choice(k1, 3, (3,), replace=False, p=p3)
random.choice(k1, jnp.arange(12).reshape(3, 4), (2,))
random.choice(k1, jnp.arange(12).reshape(3, 4), (2,), axis=1)
random.choice(k1, jnp.arange(12).reshape(3, 4), (2,), replace=False)
random.choice(k1, jnp.arange(12).reshape(3, 4), (2, 2), p=p3)
random.choice(k1, f4)
random.choice(k1, f4, ())
random.choice(k1, np.arange(5), (2,))
random.choice(k1, 5, (0,))
random.choice(k1, 5, (7,), replace=False) !! Cannot take a larger sample
random.choice(k1, 0) !! a must be greater than 0 unless no samples are taken
random.choice(k1, 3, p=p3[:2]) !! p must be None or a 1D vector with the same size as a.shape\\[axis\\]
random.choice(k1, 2.5)
random.choice(k1, 3, (3,), mode='high')
random.categorical(k1, logits)
random.categorical(k1, logits, axis=0)
random.categorical(k1, logits, axis=1, shape=(4, 2))
random.categorical(k1, logits, shape=(2,))
random.categorical(k1, logits, shape=(3,)) !!
random.categorical(k1, logits, replace=False, shape=(2, 2))
random.categorical(k1, logits[0], replace=False, shape=(3,))
random.categorical(k1, logits[0], replace=False, shape=(4,)) !!
random.categorical(k1, logits, mode='high')
random.categorical(k1, logits.astype('bfloat16'))
random.gumbel(k1, (4,), mode='high')
random.bernoulli(k1, jnp.array([0., 0.5, 1.]), (4, 3))
random.bernoulli(k1, 0.3, (4,), mode='high')
random.bernoulli(k1, jnp.bfloat16(0.3), (4,))
random.bernoulli(k1, p3, (4,)) !! shape
random.uniform(k1, (3, 2), minval=jnp.array([0., 5.]), maxval=10.)
random.uniform(k1, (3,), minval=2)
random.uniform(k1, 3)
random.uniform(k1, (2,), 'float64').dtype
random.truncated_normal(k1, jnp.array([-1., 0.]), 2.)
random.truncated_normal(k1, -1, 1)
random.truncated_normal(k1, 2., 3., (4,))
random.truncated_normal(k1, 2., -2., (4,))
random.truncated_normal(k1, -jnp.inf, jnp.inf, (4,))
random.gamma(k1, jnp.array([0.1, 1., 10., 100.]))
random.gamma(k1, jnp.array([0.1, 1.]), (3, 2))
random.gamma(k1, 2)
random.gamma(k1, 0., (3,))
random.loggamma(k1, jnp.array([1e-3, 1., 10.]))
random.beta(k1, jnp.array([1., 2.]), 3.)
random.beta(k1, 1, 1)
random.dirichlet(k1, jnp.ones((2, 3)))
random.dirichlet(k1, 1.) !! dirichlet requires alpha.ndim >= 1
random.poisson(k1, jnp.array([0., 0.5, 5., 15., 1000.]))
random.poisson(k1, jnp.array([[1.], [100.]]), (2, 3))
random.poisson(k1, -1., (2,))
random.poisson(k1, jnp.nan, (2,))
random.poisson(k1, 4)
random.binomial(k1, jnp.array([5., 50.]), jnp.array([[0.2], [0.9]]))
random.binomial(k1, 10, jnp.array([0., 1., jnp.nan]))
random.geometric(k1, jnp.array([0.1, 0.9, 1.]))
random.geometric(k1, 0.1, (8,), jnp.int4)
random.multinomial(k1, 10, p3)
random.multinomial(k1, jnp.array([5., 20.]), jnp.stack([p3, p3[::-1]]))
random.t(k1, jnp.array([1., 30.]))
random.chisquare(k1, jnp.array([1., 5.]))
random.f(k1, 2., jnp.array([1., 5.]))
random.rayleigh(k1, jnp.array([1., 2.]))
random.wald(k1, jnp.array([0.5, 2.]))
random.lognormal(k1)
random.lognormal(k1, jnp.array([0.1, 1.]), (3, 2))
random.triangular(k1, 0., 0.5, 1.)
random.pareto(k1, jnp.array([1., 5.]))
random.weibull_min(k1, 1., jnp.array([1., 2.]), (2,))
random.ball(k1, 2, 1, (3,))
random.generalized_normal(k1, 3.)
random.randint(k1, (4,), jnp.array([0, 10, 20, 30]), jnp.array([5, 15, 25, 35]))
random.randint(k1, (2, 2), 0, 2**31 - 1)
random.randint(k1, (4,), -2**31, 2**31 - 1)
random.randint(k1, (4,), 0, 2**31 - 1, 'uint32')
random.randint(k1, (4,), 0, 256, 'uint8')
random.randint(k1, (4,), -128, 128, 'int8')
random.randint(k1, (4,), 0, 10, bool) !! randint only accepts integer dtypes
random.randint(k1, (3,), jnp.zeros(4, int), 5) !!
random.orthogonal(k1, 3)
random.orthogonal(k1, 2, (2,))
random.multivariate_normal(k1, jnp.zeros(2), jnp.array([[2., 1.], [1., 3.]]), (3,))
[random.normal(ks[0, 0]), random.split(ks[1, 0]), random.fold_in(ks[0, 1], 2)]
[ks.shape, ks.dtype, ks.ndim, ks.size, ks[0].shape, ks.T.shape, ks.reshape(4)[3], ks.ravel().shape, ks.flatten()[1]]
[jnp.concatenate([ks, ks]).shape, jnp.stack([k1, k1]).shape, jnp.where(True, k1, ks[0, 0]), jnp.squeeze(ks[None]).shape, jnp.broadcast_to(k1, (2,)).shape, jnp.expand_dims(k1, 0).shape]
[ks == ks, k1 == k1, k1 != ks, jnp.take(ks, 1, axis=0), jnp.moveaxis(ks, 0, 1).shape, jnp.tile(k1, 2).shape, jnp.repeat(k1[None], 3).shape]
[repr(k1), repr(ks), str(k1), repr(ks[0])]
[k1.dtype.name, str(k1.dtype), repr(k1.dtype), k1.dtype == ks.dtype, k1.dtype == jnp.uint32, k1.itemsize, k1.nbytes]
[random.key_data(ks).shape, random.key_impl(k1), random.key_impl(key), random.clone(k1), random.wrap_key_data(random.key_data(ks)) == ks]
ks.at[0].set(k1)
ks.at[0, 1].get()
[v.shape for v in ks]
len(ks), list(ks[0])
[isinstance(k1, jax.Array), jnp.issubdtype(k1.dtype, jax.dtypes.prng_key), jnp.issubdtype(k1.dtype, jax.dtypes.extended)]
k1 + 1 !! dtype
k1 * k1 !! dtype
jnp.sum(ks) !!
jnp.sin(k1) !!
np.asarray(k1) !! JAX array with PRNGKey dtype cannot be converted to a NumPy array
float(k1) !!
bool(k1) !!
jnp.zeros_like(ks)
random.normal(ks, (2,)) !! normal accepts a single key, but was given a key array of shape \\(2, 2\\) != \\(\\). Use jax.vmap
random.split(ks) !! split accepts a single key, but was given a key array of shape \\(2, 2\\) != \\(\\). Use jax.vmap
random.fold_in(ks, 1) !! fold_in accepts a single key
random.key(1.5) !! PRNG key seed must be an integer
random.key(jnp.arange(2)) !! key accepts a scalar seed, but was given an array of shape \\(2,\\) != \\(\\). Use jax.vmap
random.key(0, impl='nope') !! unrecognized PRNG implementation
random.PRNGKey(0, impl='threefry2x32')
random.wrap_key_data(jnp.zeros(3, 'uint32')) !!
random.wrap_key_data(jnp.zeros(2)) !!
random.fold_in(key, 2**32) !!
random.fold_in(key, -1) !! out of bounds for uint32
random.fold_in(key, jnp.int32(-1))
random.fold_in(key, np.int64(7))
random.fold_in(key, jnp.uint32(2**32 - 1))
random.split(key, 0).shape
random.split(key, -1) !!
random.split(key, 2.5) !!
random.split(key, (2, -1)) !!
[random.PRNGKey(v) for v in (-1, -2**31, 2**31, 2**32 + 5, 2**63 - 1, np.int64(2**40), np.uint8(3), False)]
random.PRNGKey(2**64) !!
jax.vmap(lambda k: random.gamma(k, 2.))(ks[0])
jax.vmap(lambda k: random.categorical(k, logits[0]))(ks[0])
jax.vmap(lambda k: random.choice(k, 5, (2,), replace=False))(ks[0])
jax.vmap(jax.vmap(lambda k: random.normal(k, (2,))))(ks)
jax.jit(lambda k: random.poisson(k, 3., (3,)))(k1)
jax.jit(lambda k: random.split(k, 3))(k1)
jax.grad(lambda s: random.normal(k1, (3,)).sum() * s)(2.)
jax.grad(lambda a: random.gamma(k1, a))(2.)
jax.grad(lambda a: random.gamma(k1, a, (3,)).sum())(0.5)
jax.grad(lambda a: random.loggamma(k1, a))(2.)
jax.grad(lambda a: random.beta(k1, a, 2.))(2.)
jax.grad(lambda lo: random.uniform(k1, (3,), minval=lo, maxval=5.).sum())(1.)
jax.grad(lambda lo: random.truncated_normal(k1, lo, 2., (3,)).sum())(-1.)
lax.scan(lambda k, _: (random.split(k)[0], random.normal(k)), k1, None, length=3)
lax.fori_loop(0, 3, lambda i, k: random.fold_in(k, i), k1)
lax.cond(True, lambda k: random.split(k)[0], lambda k: k, k1)
jax.eval_shape(lambda k: random.normal(k, (2,)), k1)
jax.tree_util.tree_map(lambda v: v, {'k': k1})
jax.device_get(jax.device_put(key))
""")

corpus.expressions(
    """
random.uniform(k1, (3,), minval=jnp.zeros(4))
k1.astype('uint32')
random.randint(k1, (3,), 0, 2**40)
""",
    raises=(
        "ValueError|TypeError|OverflowError",
        "broadcast|key<fry>|too large to convert to int32",
    ),
    because="JAX: errors of its lowering.",
)
