"""tests/mpi/test_coordination.py - the coordination client that libraries of JAX ask for."""

TEXTS = """
import threading
import time

import jax
import pytest
from jax._src.distributed import global_state

jax.distributed.initialize()
me, client = jax.process_index(), global_state.client
assert (global_state.process_id, global_state.num_processes) == (me, 2)
error = jax.errors.JaxRuntimeError

client.key_value_set(f"k{me}", str(me))
assert client.blocking_key_value_get(f"k{1 - me}", 20000) == str(1 - me)
with pytest.raises(error, match="timed out with key: missing and duration: 50ms"):
    client.blocking_key_value_get("missing", 50)
with pytest.raises(error, match="NOT_FOUND: Config key missing not found"):
    client.key_value_try_get("missing")
with pytest.raises(error, match=f"ALREADY_EXISTS: Config key k{me} already exists"):
    client.key_value_set(f"k{me}", "other")
client.key_value_set(f"k{me}", "other", allow_overwrite=True)
assert client.key_value_try_get(f"k{me}") == "other"
client.key_value_set_bytes(f"folder/{me}", bytes([255, me]))
client.wait_at_barrier("written", 20000)
assert client.key_value_dir_get_bytes("folder/") == [
    ("folder/0", b"\\xff\\x00"), ("folder/1", b"\\xff\\x01")
]
client.wait_at_barrier("read", 20000)
if me == 0:
    client.key_value_delete("folder")
client.wait_at_barrier("read", 20000)  # again
assert client.key_value_dir_get("folder/") == []
client.key_value_increment("count", me + 1)
client.wait_at_barrier("counted", 20000)
assert client.key_value_increment("count", 0) == 3
client.wait_at_barrier("of one", 20000, process_ids=[me])
if me == 1:
    with pytest.raises(error, match="Id: missed. .*: 1/2. Missing: .0."):
        client.wait_at_barrier("missed", 50)
client.wait_at_barrier("all", 20000)
assert list(client.get_live_nodes([0, 1])) == [0, 1]

# Any thread may ask, while others wait.
waiting = threading.Thread(target=client.blocking_key_value_get, args=(f"late{me}", 20000))
waiting.start()
time.sleep(0.05)
client.key_value_set(f"late{me}", "here")
waiting.join(20)
assert not waiting.is_alive()
print("right")
"""


def test_texts_and_barriers(start):
    ended = start(TEXTS)
    assert (ended.code, ended.out) == (0, "right\n"), ended.err
