"""tests/parity/cases_random.py - `jax.random`: the threefry bits of every draw, both streams, keys old and new.

Each draw is a case of its own in the partitionable stream (JAX's default) and in the older one.
"""

import corpus as parity

OLD = {"jax_threefry_partitionable": False}


def setup(names):
    random = names["jax"].random
    names.update(
        key=random.PRNGKey(0),
        key1=random.PRNGKey(1),
        typed=random.key(7),
        big=random.PRNGKey(0x123456789),
    )
    names["keys"] = random.split(random.PRNGKey(3), 3)


corpus = parity.Corpus(setup, rtol=1e-5, atol=1e-6)

DRAWS = """
random.split(key)
random.split(key, 5)
random.split(key1, (2, 3))
random.split(key, 1)
random.split(typed, 3)
random.fold_in(key, 0)
random.fold_in(key, 12345)
random.fold_in(typed, 3)
random.bits(key)
random.bits(key, (3,))
random.bits(key, (2, 3))
random.bits(key, (5,), 'uint8')
random.bits(key, (5,), 'uint16')
random.bits(key, (5,), 'uint32')
random.bits(key1, (7,), 'uint8')
random.bits(key, (0,))
random.bits(key, (129,))
random.uniform(key)
random.uniform(key, (3,))
random.uniform(key, (3, 2))
random.uniform(key1, (5,), minval=-1., maxval=3.)
random.uniform(key, (4,), jnp.float16)
random.uniform(key, (4,), jnp.bfloat16)
random.uniform(key, (3,), minval=f4[:3], maxval=f4[:3] + 2)
random.normal(key)
random.normal(key, (3,))
random.normal(key, (2, 3))
random.normal(key1, (9,))
random.normal(key, (3,), jnp.float16)
random.normal(key, (3,), jnp.bfloat16)
random.normal(key, (2,), jnp.complex64)
random.normal(typed, (3,))
random.normal(big, (3,))
random.normal(key, ())
random.normal(key, (0, 2))
random.randint(key, (5,), 0, 10)
random.randint(key, (), 0, 2)
random.randint(key, (5,), -100, 100)
random.randint(key, (5,), 0, 2**31 - 1)
random.randint(key, (5,), 0, 10, jnp.uint8)
random.randint(key, (5,), -5, 5, jnp.int8)
random.randint(key, (5,), 0, 1000, jnp.int16)
random.randint(key, (5,), 0, 1000, jnp.uint32)
random.randint(key, (3,), 0, jnp.array([1, 10, 100]))
random.randint(key, (3,), 5, 5)
random.randint(key, (3,), 5, 2)
random.randint(key, (3,), 0, 300, jnp.uint8)
random.bernoulli(key)
random.bernoulli(key, 0.3, (6,))
random.bernoulli(key, jnp.array([0., 0.5, 1.]))
random.bernoulli(key1, 0.5, (2, 3))
random.permutation(key, 7)
random.permutation(key, 1)
random.permutation(key, x4)
random.permutation(key, m23)
random.permutation(key, m23, axis=1)
random.permutation(key, m23, axis=1, independent=True)
random.choice(key, 5)
random.choice(key, 5, (4,))
random.choice(key, x4, (3,), replace=False)
random.choice(key, x4, (3,), p=jnp.array([0.1, 0.2, 0.3, 0.4]))
random.choice(key, m23, (2,), axis=1)
random.categorical(key, x4)
random.categorical(key, m23)
random.categorical(key, m23, axis=0)
random.categorical(key, x4, shape=(5,))
random.gumbel(key, (3,))
random.truncated_normal(key, -1., 2., (4,))
random.exponential(key, (3,))
random.laplace(key, (3,))
random.logistic(key, (3,))
random.cauchy(key, (3,))
random.rademacher(key, (5,))
random.gamma(key, 2., (3,))
random.beta(key, 2., 3., (2,))
random.dirichlet(key, jnp.ones(3))
random.poisson(key, 3., (4,))
random.multivariate_normal(key, jnp.zeros(2), jnp.eye(2))
random.orthogonal(key, 2)
random.ball(key, 2)
random.t(key, 3., (2,))
jax.vmap(random.normal)(keys)
jax.vmap(lambda k: random.uniform(k, (2,)))(keys)
jax.vmap(random.split)(keys)
jax.vmap(lambda k: random.randint(k, (2,), 0, 9))(keys)
jax.vmap(lambda k: random.bits(k, (3,), 'uint8'))(keys)
jax.vmap(lambda k: random.permutation(k, 4))(keys)
jax.vmap(random.fold_in, (None, 0))(key, i4)
jax.jit(random.normal, static_argnums=1)(key, (3,))
jax.jit(lambda k: random.split(k)[1])(key)
jax.pmap(lambda k: random.normal(k, (2,)))(keys)
jax.pmap(lambda k: random.uniform(random.fold_in(k, lax.axis_index('i'))), 'i')(keys)
lax.scan(lambda k, _: (lambda a, b: (a, random.normal(b)))(*random.split(k)), key, None, length=3)
"""
corpus.expressions(DRAWS)


def old_stream():
    """The draws again, named `old: ...`, with `jax_threefry_partitionable` off."""
    new = list(corpus.cases.values())
    for case in new:
        corpus.add(f"old: {case.name}", case.function, config=OLD)


old_stream()

corpus.expressions("""
random.PRNGKey(0)
random.PRNGKey(42)
random.PRNGKey(-1)
random.PRNGKey(2**32 + 5)
random.PRNGKey(2**31 - 1)
random.PRNGKey(jnp.int32(3))
random.PRNGKey(np.uint32(7))
random.PRNGKey(True)
random.PRNGKey(1.5) !! PRNG key seed must be an integer
random.PRNGKey(i4) !! PRNGKey accepts a scalar seed
random.PRNGKey('a') !!
random.key(0)
random.key(7).dtype
[random.key(0).shape, random.split(random.key(0), 3).shape, random.key(0).ndim]
repr(random.key(0))
repr(random.split(random.key(0), 2))
str(random.key(3))
random.key_data(random.key(5))
random.wrap_key_data(jnp.array([0, 5], jnp.uint32))
random.key_impl(random.key(0)).__str__()
random.clone(random.key(1))
jnp.issubdtype(random.key(0).dtype, jax.dtypes.prng_key)
random.split(random.key(0), 3)[1]
random.key(0) == random.key(0)
random.key(0) + 1 !!
jnp.stack([random.key(0), random.key(1)])
random.normal(random.split(key, 3), (2,)) !! normal accepts a single key, but was given a key array of shape \\(3, 2\\) != \\(\\)
random.split(random.split(key, 3)) !! split accepts a single key, but was given a key array of shape
random.normal(jnp.zeros(2), (2,)) !! uint32
random.normal(jnp.zeros(3, jnp.uint32), (2,)) !! JAX encountered invalid PRNG key data|shape
random.normal(3, (2,)) !!
random.normal((0, 1)) !!
random.normal(key, 3)
random.normal(key, (3,), jnp.int32) !! dtype argument to `normal` must be a float or complex dtype
random.uniform(key, (3,), int) !! dtype argument to `uniform` must be a float dtype
random.randint(key, (3,), 0, 10, float) !! randint only accepts integer dtypes
random.randint(key, (3,), 0.5, 3)
random.bits(key, (3,), 'int32') !! dtype argument to `bits` must be an unsigned int dtype
random.bernoulli(key, 2) !! bernoulli probability `p` must have a floating dtype
random.choice(key, 5, (6,), replace=False) !! Cannot take a larger sample .*when 'replace=False'
random.fold_in(key, -1) !! out of bounds for uint32
random.fold_in(key, i4) !! fold_in accepts a scalar
random.fold_in(key, 1.5)
random.permutation(key, f0) !!
random.uniform(key, (2**10,)).mean()
random.normal(key, (2**10,)).std()
random.uniform(key, (2**10,)).min() >= 0
random.normal(key, (33, 33))[::8, ::8]
random.randint(key, (2**10,), 0, 4)[::64]
""")

corpus.expressions(
    "random.normal(key, (-1,))",
    raises=("ValueError", ""),
    because="JAX leaks an error of its compiler for a negative size.",
)
