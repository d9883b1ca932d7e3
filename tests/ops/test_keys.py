"""tests/ops/test_keys.py - typed keys as elements of arrays, and what their makers accept."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import random

KEY = random.key(7)
KEYS = random.split(KEY, 3)


def words(keys):
    return np.asarray(random.key_data(keys))


def test_makers_take_a_dtype():
    for dtype in (KEY.dtype, "threefry2x32", "fry"):
        assert (words(random.key(7, dtype=dtype)) == words(KEY)).all()
        assert (words(random.wrap_key_data(words(KEYS), dtype=dtype)) == words(KEYS)).all()
    with jax.enable_custom_prng(True):
        assert random.PRNGKey(0).dtype == KEY.dtype
    assert random.PRNGKey(0).dtype == np.uint32


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: random.key(0, impl="fry", dtype=KEY.dtype), ValueError, "both `impl` and `dtype`"),
        (lambda: random.key(0, impl=3), TypeError, "unrecognized type <class 'int'>"),
        (lambda: random.key(0, dtype="uint32"), ValueError, 'unrecognized PRNG implementation "u'),
        (lambda: random.key(KEY), TypeError, "key accepts a scalar seed, but was given a PRNG key"),
        (lambda: random.PRNGKey(KEYS), TypeError, "PRNGKey accepts a scalar seed"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "philox4x32"])
def test_seeds_of_few_bits_have_no_upper_word(impl):
    with jax.enable_x64(True):
        for kind in (np.int8, np.int32, np.int64, np.uint64):
            seed = kind(2**64 - 2) if kind is np.uint64 else kind(-2)
            words = [random.key_data(make(seed, impl=impl)) for make in (random.key, _staged_key)]
            np.testing.assert_array_equal(*words)
            assert (words[0][0] == 0) == (seed.itemsize < 8) or impl == "philox4x32"


def _staged_key(seed, impl):
    return jax.jit(lambda s: random.key(s, impl=impl))(seed)


def test_arrays_of_keys():
    dtype = KEY.dtype
    for make, word in [
        (lambda: jnp.zeros((2, 3), dtype), 0),
        (lambda: jnp.ones((2, 3), dtype), 1),
        (lambda: jnp.full((2, 3), 100, dtype), 100),
        (lambda: jnp.empty((2, 3), dtype), 0),
        (lambda: jnp.full_like(jnp.zeros((2, 3), dtype), 5), 5),
    ]:
        for out in (make(), jax.jit(make)()):
            assert out.dtype == dtype
            np.testing.assert_array_equal(words(out), np.full((2, 3, 2), word))
    np.testing.assert_array_equal(words(jnp.full(2, KEY)), [words(KEY)] * 2)
    missing = KEYS.at[jnp.array([0, 9])].get(mode="fill")
    np.testing.assert_array_equal(words(missing), [words(KEYS)[0], [0xFFFFFFFF] * 2])


def test_keys_stay_keys():
    tree = jax.device_get({"keys": KEYS, "x": jnp.ones(2)})
    assert tree["keys"].dtype == KEY.dtype
    assert type(tree["x"]) is np.ndarray
    assert jax.grad(lambda x: jax.device_get(x) ** 2)(3.0) == 6  # tracers stay, too
    extended = jax.dtypes.extended
    assert jnp.issubdtype(KEY.dtype, extended)
    assert jnp.issubdtype(jax.dtypes.prng_key, extended)
    assert not jnp.issubdtype(KEY.dtype, np.integer)


def test_legacy_keys():
    raw = jnp.zeros(2, "uint32")
    text = "Legacy uint32 key array passed as key to jax.random function."
    with jax.legacy_prng_key("error"):
        with pytest.raises(ValueError, match=text):
            random.uniform(raw)
        with pytest.raises(TypeError, match="invalid PRNG key data"):
            random.uniform(jnp.zeros(1))
        random.uniform(KEY)
        random.uniform(random.wrap_key_data(raw))
    with jax.legacy_prng_key("warn"), pytest.warns(UserWarning, match=text):
        random.uniform(raw)


def test_rules_of_functions_of_keys():
    """Cotangents of keys have dtype float0, and a custom rule may give None for them."""

    @jax.custom_vjp
    def noisy(key, x):
        return key, x * random.uniform(key)

    def backward(noise, cotangents):
        assert cotangents[0].dtype == jax.dtypes.float0
        return None, cotangents[1] * noise

    noisy.defvjp(lambda k, x: (noisy(k, x), random.uniform(k)), backward)
    key = random.key(0)
    slope = jax.grad(lambda x: noisy(key, x)[1])(2.0)
    assert slope == random.uniform(key)


def test_permutation_of_a_number_has_one_axis():
    with pytest.raises(ValueError, match="axis 3 is out of bounds for array of dimension 1"):
        random.permutation(random.key(0), 10, axis=3)


@pytest.mark.parametrize("mode", ["standard", "strict"])
def test_keys_are_not_promoted(mode):
    key = random.key(0)
    text = "does not accept dtypes key<fry>, "
    with jax.numpy_dtype_promotion(mode):
        for other in (1, random.key(0, impl="rbg")):
            with pytest.raises(TypeError, match=text):
                key == other  # noqa: B015
        for function in (jnp.add, jnp.power, jnp.hypot, jnp.less, jnp.floor_divide):
            with pytest.raises(TypeError, match=f"^{function.__name__[:3]}.* {text}float32"):
                function(key, np.float32(1))
        for joined in (
            lambda: jnp.result_type(key, np.float32),
            lambda: jnp.where(True, key, np.float32(1)),
            lambda: jnp.stack([key, np.float32(1)]),
            lambda: jnp.concatenate([KEYS, np.ones(3, np.float32)]),
            lambda: KEYS @ np.ones(3, np.float32),
        ):
            with pytest.raises(ValueError, match=text + "float32.*random.key_data gives"):
                joined()
        assert jnp.where(True, key, key).dtype == key.dtype
        assert jnp.stack([key, key]).shape == (2,)


def test_keys_are_not_converted():
    for convert in (
        lambda: jax.lax.convert_element_type(KEY, "int32"),
        lambda: jax.lax.convert_element_type(1, KEY.dtype),
        lambda: jnp.asarray(KEY, dtype="float32"),
        lambda: jnp.ones(3).astype(KEY.dtype),
    ):
        with pytest.raises(ValueError, match="Cannot convert_element_type from .*wrap_key_data"):
            convert()
    for function in (jnp.sin, jnp.degrees, jnp.reciprocal, jnp.fabs):
        with pytest.raises(TypeError, match="does not accept dtype key<fry>.*key_data"):
            function(KEY)
    with pytest.raises(TypeError, match="key<fry> is neither true nor false.*key_data"):
        jnp.logical_and(KEY, True)


def test_keys_are_close_where_they_are_equal():
    assert jnp.allclose(KEY, KEY) and not jnp.allclose(KEY, KEYS[0])
    assert jnp.isclose(KEYS, KEYS[1]).tolist() == [False, True, False]
