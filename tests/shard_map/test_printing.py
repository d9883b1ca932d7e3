"""tests/shard_map/test_printing.py - output of functions that shard_map runs at once."""

import functools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import P, lax

DEVICE = "On cpu:{0} at mesh coordinates (i,) = ({0},):\n"


@pytest.fixture
def mesh():
    return jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))


def test_what_comes_before_values_is_printed_once(mesh, capsys):
    @jax.shard_map(mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    def f(x):
        print("before\n", x)
        return 2 * x

    for _ in range(2):
        np.testing.assert_array_equal(f(jnp.arange(4)), [0, 2, 4, 6])
        out = capsys.readouterr().out
        assert out == f"before\n {DEVICE.format(0)}[0 1]\n\n{DEVICE.format(1)}[2 3]\n\n"


def test_shared_values_are_printed_for_each_device(mesh, capsys):
    def f(shift, x):
        def show(y):
            print(y)

        show(lax.psum(x, "i") + shift)
        return x

    mapped = jax.shard_map(functools.partial(f, 1), mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    mapped(jnp.arange(4))
    assert capsys.readouterr().out == f"{DEVICE.format(0)}[3 5]\n\n{DEVICE.format(1)}[3 5]\n\n"
    print(jnp.arange(2))
    assert capsys.readouterr().out == "[0 1]\n"
    jax.jit(mapped)(jnp.arange(4))
    assert "Tracer" in capsys.readouterr().out
