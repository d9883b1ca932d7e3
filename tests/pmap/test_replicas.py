"""tests/pmap/test_replicas.py - helpers for replicated and sharded trees, and their copies."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import _core, common_utils, jax_utils, lax

N = jax.device_count()


def address(x):
    return x.unsafe_buffer_pointer() if isinstance(x, jax.Array) else x.ctypes.data


def test_replicas_are_kept_once():
    w = jnp.arange(6.0).reshape(2, 3)
    tree = {"w": w, "n": 3, "none": None}
    for out, devices in (
        (jax_utils.replicate(tree), jax.devices()),
        (jax_utils.replicate(tree, jax.devices()[:3]), jax.devices()[:3]),
        (jax.device_put_replicated(tree, jax.devices()[::-1]), jax.devices()[::-1]),
    ):
        assert out["w"].shape == (len(devices), 2, 3) and out["n"].shape == (len(devices),)
        assert out["none"] is None and out["n"].weak_type
        assert _core.strides(out["w"])[0] == 0 and address(out["w"]) == address(w)
        assert [s.device for s in out["w"].addressable_shards] == devices
        np.testing.assert_array_equal(out["w"], np.stack([w] * len(devices)))
        back = jax_utils.unreplicate(out)
        assert address(back["w"]) == address(w) and back["w"].shape == (2, 3)


def test_replicas_through_training_steps_stay_one():
    def step(w, x):
        g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return w - 0.1 * lax.pmean(g, "i")

    w = jax_utils.replicate(jnp.ones(3))
    f = jax.pmap(step, axis_name="i", donate_argnums=0)
    for _ in range(3):
        w = f(w, np.ones((N, 2, 3), np.float32))
        assert _core.strides(w)[0] == 0
    assert jax_utils.unreplicate(w).shape == (3,)


def test_shards_of_one_array_are_not_copied():
    x = jnp.arange(float(N * 6)).reshape(N, 2, 3)
    out = jax.device_put_sharded(list(x), jax.devices())
    assert address(out) == address(x) and out.devices() == set(jax.devices())
    np.testing.assert_array_equal(out, x)
    turned = jax.device_put_sharded([x[i] for i in range(N)][::-1], jax.devices())
    assert address(turned[N - 1]) == address(x)
    np.testing.assert_array_equal(turned, np.asarray(x)[::-1])
    apart = jax.device_put_sharded([jnp.ones(2) * i for i in range(N)], jax.devices())
    np.testing.assert_array_equal(apart, np.arange(N)[:, None] * np.ones(2))
    tree = jax.device_put_sharded(
        [{"a": i, "b": (np.ones(2),)} for i in range(2)], jax.devices()[:2]
    )
    assert tree["a"].tolist() == [0, 1] and tree["b"][0].shape == (2, 2)


def test_stacking_slices_of_one_array():
    x = jnp.arange(24.0).reshape(4, 6)
    for parts, axis in (
        ([x[0], x[1], x[2]], 0),
        ([x[0], x[2]], 1),
        ([x[:, 4], x[:, 2], x[:, 0]], 1),
        ([x[0], x[0]], -1),
        ([x[1, 1], x[2, 2]], 0),
        ([x], 0),
    ):
        out = jnp.stack(parts, axis)
        assert out.shape == np.stack([np.asarray(p) for p in parts], axis).shape
        np.testing.assert_array_equal(out, np.stack([np.asarray(p) for p in parts], axis))
        assert address(jnp.moveaxis(out, axis, 0)[0]) == address(parts[0])
    for parts in ([x[0], x[1], x[3]], [x[0], x[1][::-1]], [x[0], x[0] + 1], [x[0, :3], x[1, 3:]]):
        out = jnp.stack(parts)
        np.testing.assert_array_equal(out, np.stack([np.asarray(p) for p in parts]))


def test_shard_splits_without_copies():
    numpy = np.arange(N * 6.0).reshape(2 * N, 3)
    out = common_utils.shard({"a": numpy, "b": jnp.asarray(numpy)})
    assert out["a"].shape == out["b"].shape == (N, 2, 3)
    assert np.shares_memory(out["a"], numpy) and isinstance(out["b"], jax.Array)
    with pytest.raises(
        ValueError, match=rf"shape \({N + 1},\) cannot be split evenly over {N} dev"
    ):
        common_utils.shard(np.zeros(N + 1))
    with pytest.raises(ValueError, match=r"shape \(\) cannot be split evenly"):
        common_utils.shard({"a": 1.0})


def test_shard_prng_key():
    for key in (jax.random.PRNGKey(3), jax.random.key(3)):
        got, want = common_utils.shard_prng_key(key), jax.random.split(key, N)
        assert got.shape == want.shape and got.dtype == want.dtype
        draws = jax.pmap(lambda k: jax.random.uniform(k))(got)
        np.testing.assert_array_equal(draws, [jax.random.uniform(k) for k in want])


def test_onehot():
    labels = np.array([[1, 0], [2, 5]])
    want = (labels[..., None] == np.arange(3)).astype(np.float32)
    out = common_utils.onehot(labels, 3)
    assert out.dtype == np.float32
    np.testing.assert_array_equal(out, want)
    np.testing.assert_allclose(common_utils.onehot(labels, 3, 0.9, 0.1), want * 0.8 + 0.1)


def test_get_metrics():
    step = jax.pmap(lambda x: {"loss": lax.pmean(x, "i"), "n": lax.psum(1, "i")}, "i")
    history = [step(jnp.arange(float(N)) + i) for i in range(3)]
    out = common_utils.get_metrics(history)
    mean = (N - 1) / 2
    assert isinstance(out["loss"], np.ndarray)
    assert out["loss"].tolist() == [mean, mean + 1, mean + 2] and out["n"].tolist() == [N] * 3


@pytest.mark.parametrize("size", [1, N - 1, N, 2 * N + 3])
def test_pad_shard_unpad(size):
    seen = []

    def predict(params, x, *, y):
        seen.append(x.shape)
        return {"sum": x @ params["w"] + y, "x": x}

    mapped = jax.pmap(predict, in_axes=(None, 0))
    call = jax_utils.pad_shard_unpad(mapped)
    x = np.random.default_rng(0).standard_normal((size, 3)).astype(np.float32)
    y = np.arange(size, dtype=np.float32)
    w = np.float32([1, 2, 3])
    out = call({"w": w}, x, y=y)
    assert isinstance(out["x"], np.ndarray) and seen == [(-(-size // N), 3)]
    np.testing.assert_array_equal(out["x"], x)
    np.testing.assert_allclose(out["sum"], x @ w + y, rtol=1e-5, atol=1e-5)
    call({"w": w}, x, y=y, min_device_batch=5)
    assert seen[-1] == (5, 3)
    whole = jax_utils.pad_shard_unpad(mapped, static_return=True)({"w": w}, x, y=y)
    assert whole["x"].shape == (N, -(-size // N), 3)


def test_pad_shard_unpad_wants_one_batch_size():
    call = jax_utils.pad_shard_unpad(jax.pmap(lambda p, x, y: x), static_argnums=(0,))
    with pytest.raises(ValueError, match=r"pad_shard_unpad: inconsistent batch sizes \[3, 4\]"):
        call(None, np.ones(3), np.ones(4))


def test_prefetch_takes_ahead_and_labels():
    taken = []

    def batches():
        for i in range(4):
            taken.append(i)
            yield {"x": np.full((N, 2), i, np.float32), "k": None}

    found = []
    for batch in jax_utils.prefetch_to_device(batches(), 2):
        found.append((len(taken), float(batch["x"][0, 0])))
        assert isinstance(batch["x"], jax.Array) and batch["x"].devices() == set(jax.devices())
    assert found == [(2, 0.0), (3, 1.0), (4, 2.0), (4, 3.0)]
    assert list(jax_utils.prefetch_to_device(iter([]), 2)) == []
    with pytest.raises(ValueError, match=rf"shape \(3,\) has no slice for each of {N} devices"):
        next(jax_utils.prefetch_to_device(iter([np.ones(3)]), 2))


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda: jax.device_put_replicated(1.0, []),
            ValueError,
            "`devices` argument to `device_put_replicated` must be a non-empty sequence, got",
        ),
        (
            lambda: jax.device_put_sharded(jnp.ones(8), jax.devices()),
            TypeError,
            "device_put_sharded `shards` input must be a sequence; got .*split an array with list",
        ),
        (
            lambda: jax.device_put_sharded([1, 2, 3], jax.devices()[:2]),
            ValueError,
            r"len\(shards\) = 3 must equal len\(devices\) = 2",
        ),
        (
            lambda: jax.device_put_sharded([jnp.ones(2), jnp.ones(3)], jax.devices()[:2]),
            ValueError,
            r"consistent shape and dtype, but got float32\[2\], float32\[3\]",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
