"""tests/ops/test_random_streams.py - rbg and unsafe_rbg keys: the words that JAX 0.10.2 prints."""

import pickle

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax, random

IMPLS = ("rbg", "unsafe_rbg")
# Of random.key(42): split(key, 3), fold_in(key, 7).
DERIVED = {
    "rbg": (
        [[1832780943, 270669613] * 2, [64467757, 2916123636] * 2, [2465931498, 255383827] * 2],
        [2547012911, 1371500959] * 2,
    ),
    "unsafe_rbg": (
        [
            [2620864722, 2991908441, 282133475, 2589630650],
            [4105776319, 298289174, 864345282, 274752888],
            [3163845003, 1288433488, 2875901698, 4130285303],
        ],
        [2104303640, 250182049, 1106406590, 1983638428],
    ),
}


def words(keys):
    return np.asarray(random.key_data(keys)).tolist()


@pytest.mark.parametrize("impl", IMPLS)
def test_derived_keys(impl):
    key = random.key(42, impl=impl)
    assert words(key) == [0, 42, 0, 42]
    assert words(random.split(key, 3)) == DERIVED[impl][0]
    assert words(random.fold_in(key, 7)) == DERIVED[impl][1]
    assert random.key_impl(key) == impl
    assert key.dtype == random.key_dtype(impl) and key.dtype != random.key_dtype()
    assert random.key(42, dtype=key.dtype).dtype == key.dtype
    assert words(pickle.loads(pickle.dumps(key))) == words(key)
    assert jnp.all(jnp.stack([key, key]) == key) and not (key == random.key(1, impl=impl))


@pytest.mark.parametrize("impl", IMPLS)
def test_draws(impl):
    key = random.key(42, impl=impl)
    bits = [2620864722, 2991908441, 282133475, 2589630650, 1779689962, 1069940430, 2483751720]
    for dtype in ("uint8", "uint16", "uint32"):
        want = np.array(bits, np.uint32).astype(dtype)
        np.testing.assert_array_equal(random.bits(key, (7,), dtype), want)
    np.testing.assert_allclose(
        random.normal(key, (3,)), [0.27988622, 0.5146695, -1.5086882], rtol=2e-6
    )
    for draw in (random.gamma, random.beta, random.dirichlet, random.choice, random.permutation):
        extra = {"beta": (2.0, 3.0), "dirichlet": (jnp.ones(3),), "gamma": (2.0,)}
        out = draw(key, *extra.get(draw.__name__, (5,)))
        assert np.isfinite(np.asarray(out)).all()
    with pytest.raises(NotImplementedError, match="only implemented for the threefry2x32 RNG"):
        random.poisson(key, 3.0)


def test_a_batch_draws_from_its_first_key():
    keys = random.split(random.key(42, impl="rbg"), 2)
    both = jax.vmap(lambda k: random.bits(k, (3,), "uint32"))(keys)
    np.testing.assert_array_equal(both, random.bits(keys[0], (2, 3), "uint32"))
    assert both.tolist() == [
        [1826589366, 4083436224, 2060148117],
        [898661685, 3775815125, 3662903343],
    ]
    unsafe = random.key(42, impl="unsafe_rbg")
    folded = jax.vmap(random.fold_in, (None, 0))(unsafe, jnp.arange(3))
    assert words(folded)[1] == [2700612817, 969135847, 60494963, 2586996962]
    split = jax.vmap(random.split)(random.split(unsafe, 2))
    assert words(split)[1][0] == [4211069867, 2287156973, 1094570196, 1927303758]


@pytest.mark.parametrize("impl", IMPLS)
def test_devices_draw_from_their_own_keys(impl):
    keys = random.split(random.key(0, impl=impl), 4)

    def draw(key):
        key = random.fold_in(key, lax.axis_index("i"))
        return random.bits(key, (3,), "uint32"), random.key_data(random.split(key))

    bits, split = jax.pmap(draw, "i")(keys)
    for i in range(4):
        key = random.fold_in(keys[i], i)
        np.testing.assert_array_equal(bits[i], random.bits(key, (3,), "uint32"))
        np.testing.assert_array_equal(split[i], random.key_data(random.split(key)))


def test_raw_keys_of_the_configured_generator():
    with jax.default_prng_impl("rbg"):
        key = random.PRNGKey(42)
        assert key.tolist() == [0, 42, 0, 42]
        assert random.split(key, 3).tolist() == DERIVED["rbg"][0]
        assert random.fold_in(key, 7).tolist() == DERIVED["rbg"][1]
        assert random.key_impl(key) == "rbg" and random.key(0).dtype == random.key_dtype("rbg")
        assert int(random.bits(key, (), "uint32")) == 2620864722
        with pytest.raises(TypeError, match=r"key_data.shape to end with \(4,\)"):
            random.split(np.zeros(2, np.uint32))


@pytest.mark.parametrize("algorithm", [None, 1, 2])
def test_rng_bit_generator(algorithm):
    state = np.array([1, 2, 3, 4], np.uint32)
    options = {} if algorithm is None else {"algorithm": lax.RandomAlgorithm(algorithm)}
    after, bits = lax.rng_bit_generator(state, (5,), **options)
    if algorithm == 1:
        assert bits.tolist() == [1576285164, 2249660814, 740599976, 2425682526, 2436392515]
        assert after.tolist() == [1, 2, 6, 4]
    else:
        assert bits.tolist()[:4] == [512747620, 1298009047, 1267190206, 761827841]
        assert after.tolist() == [1, 2, 5, 4]
    batch, _ = jax.vmap(lambda s: lax.rng_bit_generator(s, (5,)))(np.stack([state, state + 1]))
    assert batch.tolist() == [[1, 2, 6, 4], [2, 3, 4, 5]]
    with pytest.raises(TypeError, match="the key must be uint32.4. or uint64.2."):
        lax.rng_bit_generator(np.zeros(3, np.uint32), (2,))


def test_draws_of_few_bits():
    """As JAX 0.10.2 draws them."""
    key = random.key(0)
    for dtype in ("int4", "uint4"):
        got = random.randint(key, (12,), 0, 5, dtype=dtype)
        assert got.dtype == dtype and got.tolist() == [4, 0, 2, 3, 1, 2, 2, 3, 3, 3, 1, 4]
    assert random.randint(key, (6,), -3, 3, dtype="int2").tolist() == [-1, -2, -2, -1, 1, 1]
    assert random.bits(key, (6,), "uint4").tolist() == [167, 146, 40, 53, 183, 67]
    wants = {
        "float8_e5m2": [0, 0, -0.875, -0.875, 0, -0.5],
        "float8_e3m4": [0.203125, 0.109375, -0.6875, -0.53125, 0.3125, -0.421875],
        "float8_e4m3fn": [np.nan] * 6,  # it has no infinity to step towards
    }
    for dtype, want in wants.items():
        got = random.truncated_normal(key, -1.0, 1.0, (6,), dtype=dtype)
        np.testing.assert_array_equal(got.astype(np.float32), np.float32(want))


# Of jax.vmap(lambda key: random.gamma(key, 1.5, (7,)))(random.split(random.key(44, impl=impl), 3)),
# the first two columns.
GAMMAS = {
    "rbg": [[0.30586, 1.456143], [0.245321, 0.230456], [1.543805, 2.847599]],
    "unsafe_rbg": [[4.050744, 0.223557], [1.030005, 0.885646], [4.124749, 0.978394]],
}


@pytest.mark.parametrize("impl", IMPLS)
def test_mapped_gamma_variates_are_drawn_one_by_one(impl):
    keys = random.split(random.key(44, impl=impl), 3)
    draw = lambda key, a: random.gamma(key, a, (7,))
    by_key = jax.vmap(draw, (0, None))(keys, 1.5)
    np.testing.assert_allclose(by_key[:, :2], GAMMAS[impl], rtol=1e-5)
    by_parameter = jax.vmap(draw, (None, 0))(keys[0], jnp.array([1.5, 0.2]))
    np.testing.assert_array_equal(by_parameter[0], draw(keys[0], 1.5))
    slope = jax.vmap(jax.grad(lambda a, key: draw(key, a).sum()), (None, 0))(1.5, keys)
    assert np.isfinite(slope).all()
