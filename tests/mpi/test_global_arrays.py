"""tests/mpi/test_global_arrays.py - programs of arrays that several processes have."""

import pathlib

import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.mark.parametrize("count", [2, 4])
def test_programs_of_global_arrays(start, count):
    """At once and under jit, each process has what one process computes."""
    ended = start((PROGRAMS / "global_arrays.py").read_text(encoding="utf-8"), count)
    assert ended.code == 0 and ended.out.splitlines() == ["32 programs; differ:"], ended.err


@pytest.mark.parametrize("count", [2, 4])
def test_meshes_of_two_axes(start, count):
    ended = start((PROGRAMS / "grids.py").read_text(encoding="utf-8"), count)
    assert ended.code == 0 and ended.out.splitlines() == ["4 grids; differ:"], ended.err


def test_device_put_of_values_that_differ_raises_in_all_processes(start):
    ended = start(
        """
        import numpy as np, shardax
        from shardax.sharding import NamedSharding, PartitionSpec as P
        me = shardax.process_index()
        mesh = shardax.make_mesh((shardax.device_count(),), ("x",))
        try:
            shardax.device_put(np.float32(me), NamedSharding(mesh, P()))
        except AssertionError as error:
            text = str(error)
        if me == 0:
            print(text)
        """
    )
    assert ended.code == 0 and ended.out.startswith(
        "<class 'numpy.float32'> passed to device_put is not the same on each process."
    ), ended.err


def test_elements_of_other_processes_are_refused(start):
    ended = start(
        """
        import pickle
        import numpy as np, shardax, shardax.numpy as jnp
        from shardax.sharding import NamedSharding, PartitionSpec as P
        mesh = shardax.make_mesh((shardax.device_count(),), ("x",))
        rows = NamedSharding(mesh, P("x"))
        g = shardax.device_put(np.arange(32.0, dtype=np.float32), rows)
        assert not g.is_fully_addressable and repr(g) == "Array(shape=(32,), dtype=float32)"
        assert [s.index[0].start for s in g.addressable_shards] == [
            s.index[0].start for s in g.global_shards if s.data is not None
        ]
        reads = np.asarray, float, pickle.dumps, lambda x: x.tolist(), shardax.device_get
        for read in reads:
            try:
                read(g)
            except RuntimeError as error:
                assert str(error).startswith("Fetching value for `jax.Array` that spans"), error
            except TypeError as error:
                assert read is float, error  # only scalars are numbers
            else:
                raise AssertionError(read)
        copy = shardax.jit(lambda x: x + 1, donate_argnums=0)(g)
        assert copy.shape == (32,) and float(jnp.sum(copy)) == 496 + 32
        copy.delete()
        assert copy.is_deleted()
        if shardax.process_index() == 0:
            print("all")
        """
    )
    assert (ended.code, ended.out) == (0, "all\n"), ended.err


def test_global_arrays_beside_arrays_of_one_process(start):
    """JAX's texts for them, too."""
    ended = start(
        """
        import copy
        import numpy as np, shardax
        from shardax.sharding import Mesh, NamedSharding, PartitionSpec as P
        shardax.config.update("jax_num_cpu_devices", 2)
        mesh = shardax.make_mesh((4,), ("x",))
        rows = NamedSharding(mesh, P("x"))
        local = np.ones((2, 3), np.float32)
        g = shardax.make_array_from_process_local_data(rows, local)
        own = NamedSharding(Mesh(shardax.local_devices(), ("x",)), P("x"))
        here = shardax.device_put(local, own)

        def error(f, *args):
            try:
                return f(*args)
            except Exception as error:
                return f"{type(error).__name__}: {error}"

        texts = [
            error(shardax.jit(lambda a, b: a.sum() + b.sum()), g, here),
            error(shardax.device_put, g, shardax.local_devices()[0]),
            error(shardax.make_array_from_process_local_data, rows, np.ones((3, 3))),
            error(shardax.make_array_from_process_local_data, rows, local, (2, 3)),
        ]
        again = copy.deepcopy(g)
        assert again.shape == (4, 3) and again.sharding == g.sharding
        g.delete()
        assert float(again.sum()) == 12
        assert set(rows.addressable_devices_indices_map((4, 3))) == set(shardax.local_devices())
        assert len(rows.devices_indices_map((4, 3))) == 4
        if shardax.process_index() == 0:
            print(*texts, sep="\\n")
        """
    )
    assert ended.code == 0, ended.err
    incompatible, put, rows, part = ended.out.splitlines()
    assert incompatible.startswith(
        "ValueError: Received incompatible devices for jitted computation"
    )
    assert "[0, 1, 2048, 2049]" in incompatible and "[0, 1]" in incompatible
    assert put.startswith("ValueError: When the second argument to `device_put` is a Device, the")
    for text, size in ((rows, 6), (part, 2)):
        assert text.startswith("IndivisibleError: ") and f"dimension size is {size}" in text
