# tests/shard_map/test_export.py - exported programs keep how types are split over a mesh.
import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import export, lax
from shardax.sharding import AxisType, NamedSharding
from shardax.sharding import PartitionSpec as P

MESH = shardax.make_mesh((4,), ("x",), axis_types=(AxisType.Explicit,))
X = shardax.device_put(jnp.arange(8.0), NamedSharding(MESH, P("x")))


def again(f, *args):
    return export.deserialize(export.export(shardax.jit(f))(*args).serialize())


def test_types_over_explicit_axes():
    read = again(lambda x: (jnp.sin(x), x.sum()), X)
    assert str(read.in_avals) == "(ShapedArray(float32[8@x]),)"
    assert str(read.out_avals) == "(ShapedArray(float32[8@x]), ShapedArray(float32[]))"
    assert str(shardax.typeof(read.call(X)[0])) == "float32[8@x]"


def test_a_mapped_program():
    centred = shardax.shard_map(
        lambda a: a - lax.pmean(a, "x"), mesh=MESH, in_specs=P("x"), out_specs=P("x")
    )
    np.testing.assert_array_equal(again(centred, X).call(X), centred(X))
