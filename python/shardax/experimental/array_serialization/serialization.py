"""shardax.experimental.array_serialization.serialization - arrays to and from tensorstore.

Needs the library tensorstore. An array is written in chunks of its shards, and read into the shards
of any sharding.
"""

import asyncio
import os
import re
import threading

import numpy as np

from shardax._devices.layouts import Format
from shardax._devices.make_array import make_array_from_callback

try:
    import tensorstore
except ImportError:
    raise ImportError(
        "shardax.experimental.array_serialization needs the library tensorstore: pip install "
        "tensorstore"
    ) from None

__all__ = [
    "GlobalAsyncCheckpointManager",
    "GlobalAsyncCheckpointManagerBase",
    "async_deserialize",
    "async_serialize",
    "get_tensorstore_spec",
    "is_remote_storage",
    "run_deserialization",
    "run_serialization",
]

_REMOTE = re.compile(r"^(gs|s3)://")


def get_tensorstore_spec(path, ocdbt=False):
    """The place of the array of that path, in tensorstore's form.

    Args:
      path: an absolute path, or a URL of gs:// or s3://.
      ocdbt: with all arrays of a folder in one database.

    Raises:
      ValueError: the path is relative.
    """
    path = os.path.normpath(path) if not _REMOTE.match(path) else path
    if _REMOTE.match(path):
        kind, bucket, rest = re.match(r"^(gs|s3)://([^/]*)/(.*)$", path).groups()
        store = {"driver": {"gs": "gcs", "s3": "s3"}[kind], "bucket": bucket, "path": rest}
        base, name = path.rsplit("/", 1)
    else:
        if not os.path.isabs(path):
            raise ValueError(f"Checkpoint path should be absolute. Got {path}")
        store = {"driver": "file", "path": path}
        base, name = os.path.split(path)
        base = {"driver": "file", "path": base}
    if ocdbt:
        store = {"driver": "ocdbt", "base": base, "path": name}
    return {"driver": "zarr", "kvstore": store}


def is_remote_storage(tspec):
    """True if a specification names a store that is not in this machine's files."""
    if isinstance(tspec, str):
        return bool(_REMOTE.match(tspec))
    if tspec.get("driver") in ("gcs", "gs", "s3"):
        return True
    return any(is_remote_storage(tspec[key]) for key in ("base", "kvstore") if key in tspec)


def _metadata(x):
    shards = x.addressable_shards[0].data.shape if x.size else x.shape
    return {
        "compressor": {"id": "zstd"},
        "shape": list(x.shape),
        "chunks": [max(1, extent) for extent in shards],
    }


async def async_serialize(
    arr_inp,
    tensorstore_spec,
    commit_future=None,
    context=None,
    chunk_layout=None,
    primary_host=None,
    replica_id=0,
    transaction=None,
):
    """Writes an array.

    Args:
      commit_future: a list, to which the futures of the commits are added; None waits for them.
      context, chunk_layout, transaction: as tensorstore.open takes them.
      primary_host: the process that creates the array: None or 0, the only one.
      replica_id: the replica of each shard that is written.
    """
    if primary_host not in (None, 0):
        raise ValueError(f"async_serialize: primary_host is {primary_host}, but process 0 is all.")
    spec = dict(tensorstore_spec)
    spec.setdefault("metadata", _metadata(arr_inp))
    spec.setdefault("dtype", arr_inp.dtype.name)
    how = {"context": context, "chunk_layout": chunk_layout, "transaction": transaction}
    given = {name: value for name, value in how.items() if value is not None}
    store = await tensorstore.open(tensorstore.Spec(spec), create=True, open=True, **given)
    for shard in arr_inp.addressable_shards:
        if shard.replica_id == replica_id:
            written = store[shard.index].write(np.asarray(shard.data))
            if commit_future is None:
                await written.commit
            else:
                await written.copy
                commit_future.append(written.commit)


def run_serialization(arrays, tensorstore_specs, transaction=None):
    """Writes arrays, and returns when all are written, or are part of the transaction."""
    commits = None if transaction is None else []  # those of a transaction wait for its own

    async def write():
        await asyncio.gather(
            *(
                async_serialize(array, spec, commits, transaction=transaction)
                for array, spec in zip(arrays, tensorstore_specs)
            )
        )

    asyncio.run(write())


class _ByteLimit:
    """Lets reads begin while they take no more bytes in all; a larger one runs alone."""

    def __init__(self, most):
        self.most, self.taken, self.changed = most, 0, asyncio.Condition()

    async def take(self, size):
        async with self.changed:
            await self.changed.wait_for(lambda: not self.taken or self.taken + size <= self.most)
            self.taken += size

    async def give_back(self, size):
        async with self.changed:
            self.taken -= size
            self.changed.notify_all()


async def async_deserialize(
    in_type,
    tensorstore_spec,
    global_shape=None,
    dtype=None,
    byte_limiter=None,
    context=None,
    chunk_layout=None,
    assume_metadata=False,
):
    """Reads an array into the shards of a Sharding, a Format or a ShapeDtypeStruct.

    Args:
      global_shape: the shape of the result; where the file's is smaller, zeros follow.
      dtype: the dtype of the result.
      byte_limiter: bounds the bytes of all reads that share it; None: no bound.
      context, chunk_layout, assume_metadata: as tensorstore.open takes them.
    """
    sharding = in_type.sharding if not hasattr(in_type, "device_set") else in_type
    if isinstance(in_type, Format):
        sharding = in_type.sharding
    if sharding is None:
        raise ValueError(f"sharding passed to deserialization should be specified, got {in_type}")
    spec = tensorstore_spec
    if not isinstance(spec, tensorstore.Spec):
        spec = tensorstore.Spec(spec)
    how = {"context": context, "chunk_layout": chunk_layout}
    given = {name: value for name, value in how.items() if value is not None}
    store = await tensorstore.open(spec, open=True, assume_metadata=assume_metadata, **given)
    shape = tuple(store.shape if global_shape is None else global_shape)
    whole = np.zeros(shape, store.dtype.numpy_dtype)
    domain = tuple(slice(0, min(a, b)) for a, b in zip(shape, store.shape))
    if byte_limiter is not None:
        await byte_limiter.take(whole.nbytes)
    try:
        whole[domain] = await store[domain].read()
    finally:
        if byte_limiter is not None:
            await byte_limiter.give_back(whole.nbytes)
    if dtype is not None:
        whole = whole.astype(dtype)
    return make_array_from_callback(shape, sharding, lambda index: whole[index])


def run_deserialization(
    shardings, tensorstore_specs, global_shapes=None, dtypes=None, concurrent_gb=32
):
    """Reads arrays: a list. Reads in progress take at most `concurrent_gb` GB at once."""
    count = len(tensorstore_specs)

    async def read():
        limit = _ByteLimit(concurrent_gb * 10**9)
        return await asyncio.gather(
            *map(
                async_deserialize,
                shardings,
                tensorstore_specs,
                [None] * count if global_shapes is None else global_shapes,
                [None] * count if dtypes is None else dtypes,
                [limit] * count,
            )
        )

    return asyncio.run(read())


class GlobalAsyncCheckpointManagerBase:
    """The interface of managers of checkpoints that are written in the background."""

    def check_for_errors(self):
        raise NotImplementedError

    def wait_until_finished(self):
        raise NotImplementedError

    def serialize(self, arrays, tensorstore_specs, *, on_commit_callback):
        raise NotImplementedError

    def deserialize(self, shardings, tensorstore_specs, global_shapes=None, dtypes=None):
        raise NotImplementedError


class GlobalAsyncCheckpointManager(GlobalAsyncCheckpointManagerBase):
    """Writes arrays in a thread, one checkpoint at a time.

    Args:
      timeout_secs: has no effect: there are no other processes to wait for.
    """

    def __init__(self, timeout_secs=300):
        """`timeout_secs` has no effect: there are no other processes to wait for."""
        self._thread = None
        self._error = None

    def check_for_errors(self):
        """Raises the exception of writing in the background."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def wait_until_finished(self):
        """Returns when the requested writes are done."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self.check_for_errors()

    def serialize(self, arrays, tensorstore_specs, *, on_commit_callback=None, transaction=None):
        """Writes arrays, into a tensorstore transaction if one is given.

        Calls `on_commit_callback()` when they are written.
        """
        self.wait_until_finished()
        arrays = list(arrays)

        def write():
            try:
                run_serialization(arrays, tensorstore_specs, transaction)
                if on_commit_callback is not None:
                    on_commit_callback()
            except Exception as error:  # told by check_for_errors
                self._error = error

        self._thread = threading.Thread(target=write, daemon=True)
        self._thread.start()

    def serialize_with_paths(self, arrays, paths, *, on_commit_callback=None, transaction=None):
        """`serialize` to these paths."""
        specs = [get_tensorstore_spec(path) for path in paths]
        self.serialize(
            arrays, specs, on_commit_callback=on_commit_callback, transaction=transaction
        )

    def deserialize(
        self, shardings, tensorstore_specs, global_shapes=None, dtypes=None, concurrent_gb=32
    ):
        """Reads arrays, once writes under way are done; at most `concurrent_gb` GB at once."""
        self.wait_until_finished()
        return run_deserialization(
            shardings, tensorstore_specs, global_shapes, dtypes, concurrent_gb
        )

    def deserialize_with_paths(
        self, shardings, paths, global_shapes=None, dtypes=None, concurrent_gb=32
    ):
        """`deserialize` of these paths."""
        specs = [get_tensorstore_spec(path) for path in paths]
        return self.deserialize(shardings, specs, global_shapes, dtypes, concurrent_gb)
