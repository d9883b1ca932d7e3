"""tests/ops/test_hashed_keys.py - threefry4x32, philox2x32, philox4x32 and generators of the user's
own: the words that JAX 0.10.2 prints, and the answers that their authors published."""

import math
import pickle

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax, random
from shardax.extend.random import define_prng_impl

# Of random.key(42, impl=...): the values of JAX 0.10.2.
RECORDED = {
    "threefry4x32": {
        "key": [1605953687, 3689221460, 1722219033, 3178796034],
        "split": [
            [3188509147, 2083947553, 1469629592, 921930771],
            [361144456, 1418825268, 1547191614, 2559243763],
            [1650616655, 2909718409, 1895971994, 1205228181],
        ],
        "fold": [2445197787, 3874293641, 4221169969, 2984886860],
        "uint8": [113, 145, 86, 2, 176],
        "uint16": [1393, 31377, 61782, 47106, 61104],
        "uint32": [2739996017, 3649338001, 3087855958, 731494402, 64614064],
        "uint64": [16831092290058782770, 15459856458627681051, 2723202120932536496],
        "wide": [2622904193, 697587529, 4243082074, 2720968090],
        "normal": [0.35299789905548096, 1.0350520610809326, 0.5797175765037537],
        "gamma": [0.3737148940563202, 3.5313215255737305, 0.18171873688697815],
        "dtype": "key<fry4>",
        "negative": [3841967855, 1006635031, 4009607569, 1903226477],
    },
    "philox2x32": {
        "key": [3991259024],
        "split": [[2171499443], [413155073], [2864015503]],
        "fold": [684560128],
        "uint8": [75, 107, 150, 87, 76],
        "uint16": [65355, 8299, 37782, 25431, 2124],
        "uint32": [944504651, 856563819, 3743454102, 2331796311, 1668286540],
        "uint64": [9326519094073462008, 1774487527444324202, 12300852922594753305],
        "wide": [273301894],
        "normal": [-0.7724985480308533, -0.8436434864997864, 1.1339428424835205],
        "gamma": [0.6668531894683838, 1.628804326057434, 0.5190384387969971],
        "dtype": "key<phx2>",
        "negative": [247740585],
    },
    "philox4x32": {
        "key": [3717705800, 533567081],
        "split": [[2181901948, 3341115038], [969239790, 3857553174], [3980413867, 158073360]],
        "fold": [41828760, 81464021],
        "uint8": [5, 207, 255, 79, 90],
        "uint16": [12805, 58575, 44543, 35151, 8794],
        "uint32": [1373712901, 3223971023, 2207559167, 2345961807, 3130401370],
        "uint64": [9371197513079807646, 6039109255449763556, 10865517904694927394],
        "wide": [4054286563, 3968804895],
        "normal": [-0.4681393802165985, 0.6765027046203613, 0.03506822511553764],
        "gamma": [1.5509207248687744, 2.1678431034088135, 0.5962187647819519],
        "dtype": "key<phx4>",
        "negative": [2116449924, 1759146658],
    },
}
# Key, counter and hash, in order, as distributed with Random123 ("kat_vectors").
ANSWERS = {
    "philox2x32": [
        ([0, 0, 0], [0xFF1DAE59, 0x6CD10DF2]),
        ([0xFFFFFFFF] * 3, [0x2C3F628B, 0xAB4FD7AD]),
        ([0x13198A2E, 0x243F6A88, 0x85A308D3], [0xDD7CE038, 0xF62A4C12]),
    ],
    "philox4x32": [
        ([0] * 6, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 6, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    ],
    "threefry4x32": [
        ([0] * 8, [0x9C6CA96A, 0xE17EAE66, 0xFC10ECD4, 0x5256A7D8]),
        ([0xFFFFFFFF] * 8, [0x2A881696, 0x57012287, 0xF6C7446E, 0xA16A6732]),
    ],
}
GENERATORS = list(RECORDED)


def words(keys):
    return np.asarray(random.key_data(keys)).tolist()


@pytest.mark.parametrize("impl", GENERATORS)
def test_published_answers(impl):
    for operands, hashed in ANSWERS[impl]:
        out = jax._core.bind(impl, tuple(jnp.uint32(w) for w in operands))
        assert [int(w) for w in out] == hashed


@pytest.mark.parametrize("impl", GENERATORS)
def test_keys(impl):
    want, key = RECORDED[impl], random.key(42, impl=impl)
    assert words(key) == want["key"] and key.dtype.name == want["dtype"]
    assert words(random.key(-5, impl=impl)) == want["negative"]
    assert words(random.split(key, 3)) == want["split"]
    assert words(random.fold_in(key, 7)) == want["fold"]
    assert random.key_impl(key) == impl and random.key(42, dtype=key.dtype).dtype == key.dtype
    assert words(jax.jit(lambda s: random.key(s, impl=impl))(42)) == want["key"]
    assert words(pickle.loads(pickle.dumps(key))) == want["key"]
    assert bool(key == random.wrap_key_data(jnp.array(want["key"], jnp.uint32), impl=impl))
    assert words(random.split(key, (2, 2)))[1][0] == words(random.split(key, 4))[2]


@pytest.mark.parametrize("impl", GENERATORS)
def test_draws(impl):
    want, key = RECORDED[impl], random.key(42, impl=impl)
    for dtype in ("uint8", "uint16", "uint32"):
        assert random.bits(key, (5,), dtype).tolist() == want[dtype]
    np.testing.assert_allclose(random.normal(key, (3,)), want["normal"], rtol=2e-6)
    np.testing.assert_allclose(random.gamma(key, 2.0, (3,)), want["gamma"], rtol=1e-5)
    with jax.enable_x64(True):
        assert random.bits(key, (3,), "uint64").tolist() == want["uint64"]
        assert words(random.key(2**40 + 5, impl=impl)) == want["wide"]
    with jax.default_prng_impl(impl):
        assert random.PRNGKey(42).tolist() == want["key"]


@pytest.mark.parametrize("impl", GENERATORS)
def test_batches_and_devices(impl):
    keys = random.split(random.key(1, impl=impl), 4)

    def draw(key, i):
        key = random.fold_in(key, i)
        return random.bits(key, (20000,), "uint32"), random.key_data(random.split(key))

    batch, split = jax.vmap(draw)(keys, jnp.arange(4))
    there = jax.pmap(lambda k: draw(k, lax.axis_index("i")), "i")(keys)
    for i in range(4):
        bits, two = draw(keys[i], i)
        for got in (batch[i], there[0][i]):
            np.testing.assert_array_equal(got, bits)
        for got in (split[i], there[1][i]):
            np.testing.assert_array_equal(got, two)


def test_unknown_generators():
    with pytest.raises(ValueError, match='unrecognized PRNG implementation "philox"'):
        random.key(0, impl="philox")
    with pytest.raises(TypeError, match=r"expected key_data.shape to end with \(1,\)"):
        random.wrap_key_data(np.zeros(2, np.uint32), impl="philox2x32")


def _twice(f):
    return lambda words, *rest: jnp.stack([f(w, *rest) for w in words], axis=-2)


def _seed(seed):
    return jnp.stack([random.key_data(random.wrap_key_data(random.PRNGKey(seed)))] * 2)


def _raw(f):
    return lambda words, *rest: f(random.wrap_key_data(words), *rest)


def _bits(words, width, shape):
    return random.bits(random.wrap_key_data(words[0]), shape, f"uint{width}")


def double_threefry():
    """Two threefry keys side by side; the first one draws."""
    return define_prng_impl(
        key_shape=(2, 2),
        seed=_seed,
        split=DOUBLE_SPLIT,
        random_bits=_bits,
        fold_in=DOUBLE_FOLD,
        name="double threefry",
        tag="fry2",
    )


DOUBLE_SPLIT = _twice(_raw(lambda k, shape: random.key_data(random.split(k, shape))))
DOUBLE_FOLD = _twice(_raw(lambda k, data: random.key_data(random.fold_in(k, data))))


def test_a_generator_of_the_user():
    impl, usual = double_threefry(), random.key(5)
    key = random.key(5, impl=impl)
    assert key.shape == () and key.dtype == random.key_dtype(impl) == impl
    assert str(key.dtype) == "key<fry2>" and double_threefry() == impl
    assert random.key_data(key).shape == (2, 2) and repr(key).startswith(
        "Array((), dtype=key<fry2>"
    )
    assert random.key_impl(key) == impl
    for draw in (random.normal, random.bits, random.uniform):
        np.testing.assert_array_equal(draw(key, (5,)), draw(usual, (5,)))
    np.testing.assert_array_equal(random.permutation(key, 9), random.permutation(usual, 9))
    np.testing.assert_allclose(
        random.gamma(key, 2.0, (3,)), random.gamma(usual, 2.0, (3,)), rtol=1e-6
    )
    keys, usual_keys = random.split(key, 4), random.split(usual, 4)
    assert keys.shape == (4,) and words(keys[1])[0] == words(usual_keys[1])
    batch = jax.vmap(lambda k: random.bits(random.fold_in(k, 3)))(keys)
    mapped = jax.pmap(lambda k: random.bits(random.fold_in(k, 3)))(keys)
    want = [int(random.bits(random.fold_in(k, 3))) for k in usual_keys]
    assert batch.tolist() == want and mapped.tolist() == want
    assert bool(jax.jit(lambda s: random.key(s, impl=impl))(5) == key)
    assert bool(random.wrap_key_data(random.key_data(key), impl=impl) == key)


def many_words():
    """Keys of 56 words, the seed and what was added to it."""

    def split(words, shape):
        shape = shape if isinstance(shape, tuple) else (shape,)
        places = jnp.arange(math.prod(shape), dtype="uint32").reshape(*shape, 1, 1)
        return words + places

    return define_prng_impl(
        key_shape=(8, 7),
        seed=lambda seed: jnp.full((8, 7), seed, "uint32"),
        split=split,
        random_bits=lambda words, width, shape: jnp.full(shape, words[7, 6], f"uint{width}"),
        fold_in=lambda words, data: words + jnp.uint32(data),
        name="many",
        tag="many",
    )


def test_keys_of_many_words():
    impl = many_words()
    key = random.key(42, impl=impl)
    assert random.key_data(key).shape == (8, 7) and key.dtype == impl
    keys = random.split(key, 4)
    assert keys.shape == (4,) and random.key_data(keys)[:, 0, 0].tolist() == [42, 43, 44, 45]
    assert (keys == key).tolist() == [True, False, False, False]
    assert bool(jnp.all(random.wrap_key_data(random.key_data(keys), impl=impl) == keys))
    draw = lambda k: random.bits(random.fold_in(k, 3))
    assert int(draw(key)) == int(jax.jit(draw)(key)) == 45
    for mapped in (jax.vmap, jax.pmap):
        assert mapped(draw)(keys).tolist() == [45, 46, 47, 48]
        assert jax.jit(mapped(draw))(keys).tolist() == [45, 46, 47, 48]
    last = jax.lax.scan(lambda k, _: (random.split(k)[1], random.bits(k)), key, None, length=3)[1]
    assert last.tolist() == [42, 43, 44]
    copy = pickle.loads(pickle.dumps(random.key_data(keys)))
    assert bool(jnp.all(random.wrap_key_data(copy, impl=impl) == keys))


def test_what_users_generators_refuse():
    impl = double_threefry()
    with pytest.raises(TypeError, match=r"a shape that ends with \(2, 2\)"):
        random.wrap_key_data(np.zeros(4, np.uint32), impl=impl)
    with pytest.raises(TypeError, match="belong to functions of Python"):
        jax._core.bind("random_bits", (random.key(0, impl=impl),), bit_width=32, shape=())
    with pytest.raises(ValueError, match="generator that this process defines"):
        exported = jax.export.export(jax.jit(lambda k: k))(random.key(0, impl=impl))
        exported.serialize()


def test_seeds_with_an_offset():
    with_offset = {}
    for impl in ("threefry2x32", "philox4x32"):
        jax.config.update("jax_random_seed_offset", 3)
        try:
            with_offset[impl] = words(random.key(1, impl=impl))
            staged = words(jax.jit(lambda s, impl=impl: random.key(s, impl=impl))(1))
            assert staged == with_offset[impl]
        finally:
            jax.config.update("jax_random_seed_offset", 0)
        assert with_offset[impl] == words(random.key(4, impl=impl))
