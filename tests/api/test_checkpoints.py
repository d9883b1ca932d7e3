"""tests/api/test_checkpoints.py - checkpoints in one process: their content, and errors."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.experimental import checkpoints
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

DTYPES = "bool int4 uint4 int8 int32 uint32 float8_e4m3fn float16 bfloat16 float32".split()
DTYPES += ["complex64"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 5)])
def test_all_dtypes(tmp_path, dtype, shape):
    x = jnp.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    checkpoints.save(tmp_path / "it", {"x": x})
    got = checkpoints.restore(tmp_path / "it", {"x": x})["x"]
    assert got.dtype == x.dtype and got.shape == x.shape
    np.testing.assert_array_equal(np.asarray(got), np.asarray(x))


def test_values_that_are_no_numbers(tmp_path):
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32)
    checkpoints.save(tmp_path / "it", x)
    got = np.asarray(checkpoints.restore(tmp_path / "it", x))
    assert got.view(np.int32).tolist() == x.view(np.int32).tolist()


def test_double_precision(tmp_path):
    with shardax.enable_x64():
        x = jnp.arange(3, dtype="float64") / 3
        checkpoints.save(tmp_path / "it", x)
        got = checkpoints.restore(tmp_path / "it", x)
        assert got.dtype == "float64" and (got == x).all()


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys(tmp_path, impl):
    keys = shardax.random.split(shardax.random.key(3, impl=impl), 4)
    checkpoints.save(tmp_path / "it", keys)
    got = checkpoints.restore(tmp_path / "it", keys)
    assert got.dtype == keys.dtype
    assert (shardax.random.key_data(got) == shardax.random.key_data(keys)).all()


def test_another_sharding(tmp_path):
    mesh = shardax.make_mesh((4, 2), ("x", "y"))
    value = np.arange(48.0, dtype=np.float32).reshape(8, 6)
    checkpoints.save(tmp_path / "it", shardax.device_put(value, NamedSharding(mesh, P("x", "y"))))
    for spec in (P(), P("y"), P(None, "y"), P(("y", "x"))):
        where = NamedSharding(mesh, spec)
        like = shardax.ShapeDtypeStruct((8, 6), np.float32, sharding=where)
        got = checkpoints.restore(tmp_path / "it", like)
        assert got.sharding == where
        np.testing.assert_array_equal(np.asarray(got), value)


def test_a_part_of_the_leaves(tmp_path):
    checkpoints.save(tmp_path / "it", {"a": 1, "b": [2.0, 3.0]})
    assert checkpoints.restore(tmp_path / "it", {"b": [0.0, 0.0]}) == {"b": [2.0, 3.0]}


def test_an_earlier_checkpoint(tmp_path):
    checkpoints.save(tmp_path / "it", [1, 2])
    with pytest.raises(FileExistsError, match="it' exists; choose another folder, or pass overwr"):
        checkpoints.save(tmp_path / "it", [3])
    checkpoints.save(tmp_path / "it", [3], overwrite=True)
    assert checkpoints.restore(tmp_path / "it", [0]) == [3]
    assert [path.name for path in tmp_path.iterdir()] == ["it"]


ERRORS = {
    "shape": ([jnp.ones(3)], [jnp.ones(4)], r"\[0\] is float32\[3\] in .*, but float32\[4\]"),
    "dtype": ([jnp.ones(3)], [jnp.ones(3, int)], r"\[0\] is float32\[3\] in .*, but int32\[3\]"),
    "key": ([shardax.random.key(0)], [jnp.ones((), "uint32")], r"is key<fry>\[\] in the check"),
    "missing": ({"a": 1, "b": 2}, {"c": 1}, r"has no \['c'\]; it has \['a'\], \['b'\]"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_what_does_not_fit_is_refused(tmp_path, name):
    saved, like, text = ERRORS[name]
    checkpoints.save(tmp_path / "it", saved)
    with pytest.raises(ValueError, match=text):
        checkpoints.restore(tmp_path / "it", like)


def test_leaves_are_arrays(tmp_path):
    with pytest.raises(TypeError, match=r"save: \['name'\] is 'text'; expected an array"):
        checkpoints.save(tmp_path / "it", {"name": "text"})
    assert not list(tmp_path.iterdir())


def test_there_is_no_checkpoint(tmp_path):
    with pytest.raises(FileNotFoundError):
        checkpoints.restore(tmp_path / "nothing", [1])


def test_paths_may_end_with_a_slash(tmp_path):
    folder = f"{tmp_path}/step-1/"
    for step in (1, 2):
        checkpoints.save(folder, {"step": step}, overwrite=True)
        assert int(checkpoints.restore(folder, {"step": 0})["step"]) == step
    assert [path.name for path in tmp_path.iterdir()] == ["step-1"]


def test_a_file_in_the_place_of_the_folder_stays(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(NotADirectoryError, match="checkpoints.save: '.*file' is a file; the path"):
        checkpoints.save(tmp_path / "file", {"step": 1}, overwrite=True)
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
