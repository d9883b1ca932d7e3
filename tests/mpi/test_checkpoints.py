"""tests/mpi/test_checkpoints.py - checkpoints written by some processes, and read by others."""

import importlib.util

import pytest

COMMON = """
import json, os
import numpy as np
import shardax
import shardax.numpy as jnp
from shardax.experimental import checkpoints
from shardax.sharding import NamedSharding, PartitionSpec as P

me, total = shardax.process_index(), shardax.device_count()
mesh = shardax.make_mesh((total // 4, 4), ("x", "y"))
rng = np.random.default_rng(0)
values = {
    "rows": (rng.normal(size=(16, 6)).astype(np.float32), P("x")),
    "both": (rng.normal(size=(16, 8)).astype(np.float32), P("x", "y")),
    "last": (np.arange(128).reshape(2, 2, 32), P(None, None, ("x", "y"))),
    "same": (np.arange(5), P()),
    "half": (np.asarray(jnp.arange(16, dtype=jnp.bfloat16)), P("x")),
    "truth": (np.arange(16) % 3 == 0, P("x")),
}
def where(name):
    return NamedSharding(mesh, values[name][1])
tree = {
    "parameters": {n: shardax.device_put(v, where(n)) for n, (v, _) in values.items()},
    "step": 12,
    "key": shardax.random.key(7),
    "list": [np.float32(1.5), jnp.zeros((0, 3))],
}
like = {
    "parameters": {
        n: shardax.ShapeDtypeStruct(v.shape, tree["parameters"][n].dtype, sharding=where(n))
        for n, (v, _) in values.items()
    },
    "step": 0,
    "key": shardax.random.key(0),
    "list": [np.float32(0), jnp.zeros((0, 3))],
}
def check(got):
    for name, (value, _) in values.items():
        array = got["parameters"][name]
        assert array.sharding == where(name), name
        for shard in array.addressable_shards:
            np.testing.assert_array_equal(np.asarray(shard.data), value[shard.index], name)
    assert int(got["step"]) == 12 and float(got["list"][0]) == 1.5
    assert got["list"][1].shape == (0, 3)
    assert (shardax.random.key_data(got["key"]) == shardax.random.key_data(tree["key"])).all()
"""


@pytest.mark.parametrize("writers", [1, 2, 4])
def test_another_number_of_processes_goes_on(start, tmp_path, writers):
    folder = str(tmp_path / "a folder")
    ended = start(COMMON + f"checkpoints.save({folder!r}, tree)", count=writers)
    assert ended.code == 0, ended.err
    for readers in {1, 2, 4} - {writers}:
        ended = start(COMMON + f"check(checkpoints.restore({folder!r}, like))", count=readers)
        assert ended.code == 0, ended.err


def test_each_part_is_written_once(start, tmp_path):
    folder = str(tmp_path / "it")
    ended = start(COMMON + f"checkpoints.save({folder!r}, tree)")
    assert ended.code == 0, ended.err
    ended = start(
        COMMON
        + f"""
with open({folder!r} + "/index.json") as text:
    leaves = json.load(text)["leaves"]
for name, (value, _) in values.items():
    parts = leaves[f"['parameters']['{{name}}']"]["parts"]
    assert sum(int(np.prod(p["shape"])) for p in parts) == value.size, name
assert sorted(os.listdir({folder!r})) == ["index.json", "parts-0.npz", "parts-1.npz"]
""",
        count=1,
    )
    assert ended.code == 0, ended.err


@pytest.mark.parametrize("late", [0, 1])
def test_processes_save_the_same_tree(start, tmp_path, late):
    program = f"""
import time
gather = checkpoints._gather
def gathers(*args):
    found = gather(*args)
    time.sleep(me == {late})
    return found
checkpoints._gather = gathers
checkpoints.save({str(tmp_path / "it")!r}, [1, 2] if me else [1])
"""
    ended = start(COMMON + program)
    assert ended.code == 1
    text = "the tree of process 0 has the leaves [0], but that of process 1 has [0], [1]"
    errors = [line for line in ended.err.splitlines() if "RuntimeError: " in line]
    assert errors and all(text in line for line in errors), ended.err


def test_a_process_that_ends_meanwhile_leaves_the_checkpoint_before(start, tmp_path):
    folder = str(tmp_path / "it")
    program = f"""
checkpoints.save({folder!r}, tree)
def fails(*args, **parts):
    os._exit(1)
if me:
    np.savez = fails
checkpoints.save({folder!r}, {{"other": 1}}, overwrite=True)
"""
    assert start(COMMON + program).code != 0
    ended = start(COMMON + f"check(checkpoints.restore({folder!r}, like))", count=1)
    assert ended.code == 0, ended.err


def test_orbax_goes_on_with_another_number_of_processes(start, tmp_path):
    if importlib.util.find_spec("orbax") is None:  # it imports once shardax stands for JAX
        pytest.skip("orbax is not installed")
    program = f"""
import shardax
shardax.install_as_jax()
import jax
import numpy as np
import orbax.checkpoint as ocp
from jax.sharding import NamedSharding, PartitionSpec as P

mesh = jax.make_mesh((jax.device_count(),), ("x",))
value = np.arange(64, dtype=np.float32).reshape(32, 2)
split, same = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
tree = {{"a": jax.device_put(value, split), "b": jax.device_put(np.ones(3), same)}}
path = {str(tmp_path / "it")!r}
with ocp.StandardCheckpointer() as checkpointer:
    if SAVES:
        checkpointer.save(path, tree)
        checkpointer.wait_until_finished()
    like = jax.tree.map(lambda v: jax.ShapeDtypeStruct(v.shape, v.dtype, sharding=v.sharding), tree)
    got = checkpointer.restore(path, like)
for shard in got["a"].addressable_shards:
    np.testing.assert_array_equal(np.asarray(shard.data), value[shard.index])
assert (np.asarray(got["b"]) == 1).all()
"""
    ended = start(program.replace("SAVES", "True"))
    assert ended.code == 0, ended.err
    for count in (1, 4):
        ended = start(program.replace("SAVES", "False"), count)
        assert ended.code == 0, ended.err
