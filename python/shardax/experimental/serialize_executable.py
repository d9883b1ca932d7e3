"""shardax.experimental.serialize_executable - compiled functions as bytes."""

from shardax._transform.export.exporting import deserialize
from shardax._transform.export.exports import exported
from shardax._transform.jit import jit
from shardax._transform.shape_structs import struct_of
from shardax._transform.stages import Traced

__all__ = ["deserialize_and_load", "serialize"]


def serialize(compiled):
    """(bytes, in_tree, out_tree) of what `jit(f).lower(...).compile()` gave.

    Raises:
      ValueError: where the program calls Python functions.

    Example:
      >>> parts = serialize(jit(lambda x: 2 * x).lower(1.0).compile())
      >>> deserialize_and_load(*parts)(3.0)
      Array(6., dtype=float32, weak_type=True)
    """
    return bytes(exported(compiled).serialize()), compiled.in_tree, compiled.out_tree


def deserialize_and_load(serialized, in_tree, out_tree, backend=None, execution_devices=None):
    """The compiled function whose parts `serialize` gave.

    `backend` and `execution_devices` have no effect: devices share one memory and one process.
    `out_tree` has no effect: the result does not depend on it; the signature is that of a protocol.

    Raises:
      ValueError: for other bytes.
    """
    loaded = deserialize(serialized)

    def run(*args, **kwargs):
        return loaded.call(*args, **kwargs)

    run.__name__ = run.__qualname__ = loaded.fun_name
    args, kwargs = in_tree.unflatten(map(struct_of, loaded.in_avals))
    return Traced(jit(run), args, kwargs).lower().compile()
