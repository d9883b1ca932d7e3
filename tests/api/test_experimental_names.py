"""tests/api/test_experimental_names.py - small modules of jax.experimental."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental import (
    compute_on,
    scheduling_groups,
    serialize_executable,
    shard_alike,
    topologies,
    xla_metadata,
)
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P


def test_compiled_functions_as_bytes():
    compiled = (
        jax.jit(lambda x, *, b: (x * x, {"sum": x + b})).lower(jnp.arange(3), b=1.0).compile()
    )
    data, in_tree, out_tree = serialize_executable.serialize(compiled)
    assert isinstance(data, bytes) and in_tree == compiled.in_tree
    again = serialize_executable.deserialize_and_load(data, in_tree, out_tree)
    given = jax.tree.map(np.asarray, again(jnp.arange(3), b=2.0))
    np.testing.assert_array_equal(given[0], [0, 1, 4])
    np.testing.assert_array_equal(given[1]["sum"], [2, 3, 4])
    with pytest.raises(TypeError, match="compiled"):
        again(jnp.arange(4), b=2.0)
    with pytest.raises(ValueError, match="not written by"):
        serialize_executable.deserialize_and_load(b"other", in_tree, out_tree)


def test_arrays_are_split_alike():
    mesh = jax.make_mesh((2, 2), ("x", "y"))
    where = NamedSharding(mesh, P("x", "y"))
    x = jax.device_put(jnp.arange(16).reshape(8, 2), where)

    def other(x):
        return shard_alike.shard_alike(x, jnp.zeros((8, 2)))[1]

    for f in (other, jax.jit(other)):
        assert f(x).sharding.is_equivalent_to(where, 2) and not f(x).any()
    with pytest.raises(ValueError, match="leaves shapes of `x` and `y` should match"):
        shard_alike.shard_alike(x, x[0])
    with pytest.raises(ValueError, match="Trees should be equal"):
        shard_alike.shard_alike(x, (x,))


def test_notes_for_xla_change_nothing():
    with xla_metadata.set_xla_metadata(kind="a", count=1, flag=True):
        assert xla_metadata.set_xla_metadata(jnp.ones(()), kind="b") == 1
    double = xla_metadata.set_xla_metadata(kind="a")(lambda x: 2 * x)
    assert double(2) == scheduling_groups.scheduling_group("g")(double)(2) == 4
    with pytest.raises(ValueError, match="a string, a number or a bool was expected"):
        xla_metadata.set_xla_metadata(kind=[1])


def test_kinds_of_processors():
    with compute_on.compute_on("device_host"):
        assert jnp.cos(0.0) == 1
    double = compute_on.compute_on2(
        lambda x: 2 * x, compute_type="gpu_stream:1", out_memory_spaces=None
    )
    assert double(2) == 4
    with pytest.raises(ValueError, match="Invalid compute type gpu"):
        compute_on.compute_on2(lax.sin, compute_type="gpu", out_memory_spaces=None)
    with pytest.raises(TypeError, match="must be a string"):
        compute_on.compute_on(1).__enter__()


def test_topologies_are_lists_of_devices():
    here = topologies.get_attached_topology()
    assert here.devices == jax.devices()
    assert topologies.make_mesh(here, (4, 2), ("x", "y")).shape == {"x": 4, "y": 2}
    with pytest.raises(NotImplementedError, match="AbstractMesh"):
        topologies.get_topology_desc("v4:2x2x1", "tpu")


def test_rules_of_how_functions_are_split():
    from shardax.experimental.custom_partitioning import (
        BATCHING,
        ArrayMapping,
        CompoundFactor,
        SdyShardingRule,
    )

    rule = SdyShardingRule(((BATCHING, "i"), (CompoundFactor("i", "j"),)), (("i",),), j=2)
    assert rule.operand_mappings == (("...", "i"), (("i", "j"),)) and rule.factor_sizes == {"j": 2}
    for make, text in (
        (lambda: CompoundFactor("i"), "at least two factors"),
        (lambda: CompoundFactor("i", BATCHING), "can't be used in a compound factor"),
        (lambda: ArrayMapping("i", BATCHING), "only be used at the beginning"),
        (lambda: ArrayMapping("1"), "have to start with a letter, but got '1'"),
        (lambda: ArrayMapping(1), "must be a str or a CompoundFactor: 1"),
    ):
        with pytest.raises(ValueError, match=text):
            make()


def test_functions_with_notes_for_xla_keep_their_methods():
    f = xla_metadata.set_xla_metadata(kind="mine")(jax.jit(lambda x: 2 * x))
    assert f(2.0) == 4 and "multiply" in f.lower(1.0).as_text("hlo")
