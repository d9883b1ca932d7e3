"""tests/mpi/test_sum_groups.py - jax_sum_groups: the same bits for any number of processes."""

import pathlib

import pytest

PROGRAM = pathlib.Path(__file__).parent / "programs" / "sum_groups.py"


def test_bits_do_not_depend_on_the_number_of_processes(start):
    program = PROGRAM.read_text(encoding="utf-8")
    one, two, four = (start(program, count) for count in (1, 2, 4))
    assert one.code == two.code == four.code == 0, one.err + two.err + four.err
    assert len(one.out.splitlines()) > 20
    assert one.out == two.out == four.out


def test_without_groups_bits_may_differ(start):
    """So that the test above can fail."""
    program = PROGRAM.read_text(encoding="utf-8").replace(
        '"jax_sum_groups", G', '"jax_sum_groups", 0'
    )
    one, two = (start(program, count) for count in (1, 2))
    assert one.code == two.code == 0 and one.out != two.out


@pytest.mark.parametrize("count", [2, 3])
def test_processes_that_do_not_divide_the_groups_are_told(start, count):
    ended = start(
        f"""
        import numpy as np, shardax
        from shardax import lax
        shardax.config.update("jax_sum_groups", {count + 1})
        x = np.ones((shardax.local_device_count(), 3), np.float32)
        try:
            shardax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")(x)
        except ValueError as error:
            print(error)
        """,
        count,
    )
    assert ended.out == (
        f"psum: jax_sum_groups is {count + 1}, which {count} processes do not divide: each has a "
        f"whole number of groups. Set a multiple of {count}, or 0.\n"
    ), ended.err


def test_sums_that_jit_makes_of_global_arrays_are_refused(start):
    ended = start(
        """
        import numpy as np, shardax, shardax.numpy as jnp
        from shardax.sharding import NamedSharding, PartitionSpec as P
        shardax.config.update("jax_sum_groups", 2)
        mesh = shardax.make_mesh((shardax.device_count(),), ("x",))
        x = shardax.device_put(np.ones(32, np.float32), NamedSharding(mesh, P("x")))
        try:
            shardax.jit(jnp.sum)(x)
        except NotImplementedError as error:
            if shardax.process_index() == 0:
                print(error)
        """
    )
    assert ended.out.startswith(
        "jit: a sum over arrays that span processes, while jax_sum_groups is 2"
    ), ended.err
