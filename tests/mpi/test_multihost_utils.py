"""tests/mpi/test_multihost_utils.py - values exchanged between processes, as in JAX."""

EXCHANGE = """
import numpy as np
import shardax as jax
import shardax.numpy as jnp
from shardax.experimental import multihost_utils as mu

jax.config.update("jax_num_cpu_devices", 2)
jax.distributed.initialize()
me = jax.process_index()


def check(found, expected):
    assert type(found) is np.ndarray, type(found)
    assert found.dtype == expected.dtype and found.shape == expected.shape, (found, expected)
    assert (found == expected).all(), (found, expected)


def raised(f, kind):
    try:
        f()
    except kind as error:
        return str(error)
    raise AssertionError("nothing was raised")


int32, float32 = np.int32, np.float32
check(mu.broadcast_one_to_all(float32(me + 1)), np.array(1, float32))
tree = mu.broadcast_one_to_all({"a": np.arange(3) + me, "b": jnp.float32(me)})
check(tree["a"], np.arange(3, dtype=int32))
check(tree["b"], np.array(0, float32))
check(mu.broadcast_one_to_all(int32(me + 1), is_source=me == 1), np.array(2, int32))
check(mu.broadcast_one_to_all(np.bool_(me == 0)), np.array(True))
text = raised(lambda: mu.broadcast_one_to_all(np.int64(2**40)), OverflowError)
assert "an integer of int64 does not fit int32" in text
text = raised(lambda: mu.broadcast_one_to_all("text"), TypeError)
assert "a leaf is 'text', of type <class 'str'>" in text
text = raised(lambda: mu.broadcast_one_to_all(1, is_source=True), ValueError)
assert "is_source=True are [0, 1]" in text
text = raised(lambda: mu.broadcast_one_to_all({"a": 1} if me else [1]), ValueError)
assert "in process 0 and PyTreeDef({'a': *}) in process 1" in text

local = np.arange(6, dtype=float32).reshape(2, 3) + 100 * me
both = np.stack([local - 100 * me, local - 100 * me + 100])
check(mu.process_allgather(local), both)
check(mu.process_allgather(local, tiled=True), both.reshape(4, 3))
for tiled in (False, True):
    check(mu.process_allgather(float32(me), tiled=tiled), np.array([0, 1], float32))
tree = mu.process_allgather({"a": me, "b": jnp.arange(2) + me})
check(tree["a"], np.array([0, 1], int32))
check(tree["b"], np.array([[0, 1], [1, 2]], int32))
check(mu.process_allgather(jnp.bfloat16(me)), np.array([0, 1], jnp.bfloat16))
text = raised(lambda: mu.process_allgather(np.ones(2 + me, float32)), ValueError)
assert "leaf 0 is float32[2] in process 0 and float32[3] in process 1" in text

assert mu.sync_global_devices("here") is None
text = raised(lambda: mu.sync_global_devices(f"name of process {me}"), AssertionError)
hashes = [3828830775, 2469421729]
assert text == (
    f"sync_global_devices name mismatch ('name of process {me}'). "
    f"Expected: {np.array(hashes, np.uint32)}; got: {hashes[me]}."
)
assert mu.assert_equal(np.arange(3)) is None
assert mu.assert_equal({"a": np.nan}) is None
text = raised(lambda: mu.assert_equal(np.arange(3) + me, "they differ"), AssertionError)
assert text == f"they differ. Expected: [0 1 2 1 2 3]; got: {np.arange(3) + me}."
assert raised(lambda: mu.assert_equal(me), AssertionError) == f". Expected: [0 1]; got: {me}."
assert ". Expected: [" in raised(lambda: mu.assert_equal([1] * (me + 1)), AssertionError)
assert mu.reached_preemption_sync_point(1) is False
with mu.live_devices(jax.devices()) as alive:
    assert alive == jax.devices()
print("right")
"""


def test_values_exchanged_between_processes(start):
    ended = start(EXCHANGE)
    assert (ended.code, ended.out) == (0, "right\n"), ended.err
