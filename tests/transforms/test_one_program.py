"""tests/transforms/test_one_program.py - compositions that are called on arrays run as one
program."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax._base.arrays import in_one_program

X = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)


def test_staged_once_on_arrays_only():
    calls = []

    @in_one_program("scale")
    def doubled(x, y=1.0, *, scale=2):
        calls.append(isinstance(x, jax.core.Tracer))
        return x * y * scale

    assert float(doubled(jnp.float32(3))) == 6 and float(doubled(jnp.float32(4), scale=2)) == 8
    assert calls == [True, True]  # one without scale, one with it
    assert float(doubled(jnp.float32(5))) == 10 and len(calls) == 2
    text = str(jax.make_jaxpr(doubled)(1.0))
    assert "jit" not in text and len(calls) == 3
    np.testing.assert_array_equal(jax.vmap(doubled)(jnp.arange(3.0)), [0, 2, 4])
    assert float(jax.grad(doubled)(1.0)) == 2
    with pytest.raises(TypeError):
        doubled([1], scale=[2])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: jnp.quantile(x, 0.3, axis=[0, 1]),
        lambda x: jnp.percentile(x, np.array([10, 20]), axis=-1, method="nearest"),
        lambda x: jnp.nanmedian(x, axis=(0, 1), keepdims=True),
        lambda x: jnp.take(x, np.array([0, -1, 9]), axis=1),
        lambda x: jnp.take_along_axis(x, np.array([[0], [1], [2], [9]]), 1),
        lambda x: jnp.gradient(x, 2.0, axis=(0, 1)),
        lambda x: jnp.linspace(x[0], x[1], 3, axis=1, retstep=True),
        lambda x: jnp.tril(x, -1) + jnp.triu(x, np.int64(1)),
        lambda x: jnp.polyval(x[0], x),
        lambda x: jnp.unwrap(x * 9, axis=0),
        lambda x: jnp.nan_to_num(x / 0, nan=1, posinf=np.float32(7)),
        lambda x: jnp.cov(x, fweights=np.array([1, 2, 1, 1, 3])),
        lambda x: jax.nn.one_hot(jnp.arange(3), 4, dtype="int32"),
        lambda x: jax.scipy.linalg.expm(x[:, :4]),
        lambda x: jax.scipy.stats.truncnorm.cdf(x, -1, 1),
    ],
)
def test_same_bits_as_within_a_program(call):
    staged = jax.jit(call)(X)
    for a, b in zip(jax.tree.leaves(call(jnp.asarray(X))), jax.tree.leaves(staged), strict=True):
        assert a.dtype == b.dtype and a.weak_type == b.weak_type
        np.testing.assert_array_equal(a, b)


KEY = jax.random.key(1)
M = X[:, :4]
# Compositions that are one program from their second call on.
SECOND_CALLS = """
    jnp.clip(X, -0.5, 0.5) | jnp.clip(X, None, np.float32(0.3)) | jnp.concatenate([X, X])
    jnp.concatenate([X, np.arange(5)[None]], axis=0)
    jnp.concatenate([jnp.asarray(X)] * 2, axis=None)
    jnp.stack([jnp.asarray(X), jnp.asarray(-X)], axis=-1) | jnp.vstack([X[0], X[1]])
    jnp.tile(X, (2, 3)) | jnp.hstack([X[0], X[1]]) | jnp.dstack([X, X])
    jnp.column_stack([X[0], X[1]]) | jnp.roll(X, 2) | jnp.repeat(X, 3, axis=1)
    jnp.repeat(X, np.array([1, 0, 2, 1]), axis=0) | jnp.roll(X, (1, 2), (0, 1)) | jnp.pad(X, 1)
    jnp.pad(X, ((1, 2), (0, 1)), mode="edge") | jnp.pad(X, 1, constant_values=(2, 3.5))
    jnp.var(X) | jnp.std(X, axis=1, ddof=1) | jnp.std(X, 0, keepdims=True) | jnp.inner(X, X)
    jnp.tensordot(X, X, axes=((1,), (1,))) | jnp.outer(X[0], X[1]) | jnp.kron(X, X)
    jnp.einsum("ij,kj->ik", X, X) | jnp.einsum("ii", M) | jnp.einsum(M, [0, 1], [1])
    jnp.cumsum(X, 1) | jnp.arange(5) | jnp.arange(0.0, 1.0, 0.1) | jnp.arange(2, 9, 3)
    jnp.eye(3, 4, 1) | jnp.tri(3) | jnp.searchsorted(jnp.sort(X[0]), X, side="right")
    jnp.sort(X, axis=0, descending=True) | jnp.argsort(X) | jnp.argmax(X, axis=1)
    jnp.argmin(X, keepdims=True) | jnp.flip(X, (0, 1))
    jnp.diff(X, axis=0) | jnp.diff(X, 2) | jnp.ptp(X, 1) | jnp.count_nonzero(X > 0, axis=1)
    jnp.allclose(X, X + 1e-9) | jnp.isclose(X, np.float32(0.1), 0.1) | jnp.array_equal(X, X)
    jnp.average(X) | jnp.average(X, 0, np.arange(4)) | jnp.bincount(np.arange(7) % 3)
    jnp.bincount(np.arange(7) % 3, np.arange(7.0), length=2) | jnp.array_equal(X, X[0])
    jax.lax.dynamic_slice_in_dim(X, 1, 2, 1) | jax.lax.dynamic_index_in_dim(X, -1, 0, False)
    jax.lax.dot_general(X, X, (((1,), (1,)), ((), ())))
    jax.lax.conv(X[None, None], M[None, None], (1, 1), "SAME")
    jax.nn.dot_product_attention(X[None, :, None], X[None, :, None], X[None, :, None])
    jax.random.split(KEY) | jax.random.split(jax.random.PRNGKey(0), 3)
    jax.random.bits(KEY, (3,)) | jax.random.uniform(KEY, (3,), minval=-1, maxval=2)
    jax.random.normal(KEY, (3,), jnp.complex64) | jax.random.normal(KEY, (3,))
    jax.random.randint(KEY, (5,), 0, 10) | jax.random.bernoulli(KEY, 0.3, (9,))
    jax.random.gumbel(KEY, (3,)) | jax.random.exponential(KEY, (3,))
    jax.random.laplace(KEY, (3,)) | jax.random.logistic(KEY, (3,))
    jax.random.cauchy(KEY, (3,)) | jax.random.categorical(KEY, X)
    jax.random.truncated_normal(KEY, -1, X[0]) | jax.random.rademacher(KEY, (9,))
    jax.random.maxwell(KEY, (3,)) | jax.random.categorical(KEY, X, shape=(2, 4))"""
SECOND_CALLS = [call.strip() for call in SECOND_CALLS.strip().replace("\n", "|").split("|")]


@pytest.mark.parametrize("call", SECOND_CALLS)
def test_later_calls_give_what_the_first_one_gives(call):
    first, *others = (eval(call) for _ in range(3))  # the table's own text
    for other in others:
        assert jax.typeof(first) == jax.typeof(other) and first.sharding == other.sharding
        one, two = (
            jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x
            for x in (first, other)
        )
        assert np.asarray(one).tobytes() == np.asarray(two).tobytes()


def test_what_is_called_once_is_not_staged():
    calls = []

    @in_one_program("n", at_once=True)
    def scaled(x, n):
        calls.append(isinstance(x, jax.core.Tracer))
        return x * n

    assert [float(scaled(jnp.float32(3), 2)) for _ in range(4)] == [6] * 4
    assert calls == [False, True]
    assert float(scaled(jnp.float32(3), 2.0)) == 6 and calls == [False, True, False]
    assert "mul" in str(jax.make_jaxpr(lambda x: scaled(x, 2))(1.0)) and calls[3:] == [True]
    for _ in range(3):  # text is in no program
        assert scaled(jnp.float32(3), np.arange(2)).tolist() == [0, 3]
    assert [scaled("text", 2) for _ in range(3)] == ["texttext"] * 3


def test_errors_do_not_become_programs():
    messages = set()
    for _ in range(3):
        with pytest.raises(TypeError) as error:
            jnp.concatenate([jnp.ones(2), jnp.ones((2, 2))])
        messages.add(str(error.value))
        with pytest.raises(OverflowError):
            jax.random.randint(KEY, (2,), 0, 2**70)
    assert len(messages) == 1
    for _ in range(3):
        assert jnp.clip(jnp.float32(-0.0), 0.0, 1.0) == 0
        assert jax.random.fold_in(KEY, 1) is not None
        with pytest.raises(OverflowError):
            jax.random.fold_in(KEY, -1)


def test_results_are_arrays_of_their_own():
    x = jnp.arange(3.0)
    for _ in range(3):
        y = jnp.clip(x, None, None)
        z = jnp.roll(x, 0)
        y.delete(), z.delete()
        assert x.tolist() == [0, 1, 2]


def test_every_call_warns_of_a_dtype_that_is_not_available():
    for dtype in ("int64", np.int64, np.dtype("int64"), jnp.int64):
        for _ in range(4):
            with pytest.warns(UserWarning, match="Explicitly requested dtype int64"):
                assert jnp.arange(3, dtype=dtype).dtype == np.int32
            with pytest.warns(UserWarning, match="Explicitly requested dtype int64"):
                jnp.cumsum(jnp.arange(3), dtype=dtype)


def test_settings_about_keys_hold_for_calls_that_were_made_before():
    key = jax.random.PRNGKey(0)
    for _ in range(3):
        jax.random.normal(key, (3,))
    with jax.legacy_prng_key("error"):
        for _ in range(3):
            with pytest.raises(ValueError, match="Legacy uint32 key"):
                jax.random.normal(key, (3,))
    assert jax.random.normal(key, (3,)).shape == (3,)


def test_compositions_print_as_functions():
    assert repr(jax.lax.dot_general).startswith("<function dot_general at ")
