"""shardax.experimental.checkpoints - trees of arrays in files, written and read by any number of
processes.

A checkpoint is a folder. `parts-P.npz` holds the parts of process P, `index.json` lists the parts
of each leaf and their places. All processes see the same file system.
"""

import json
import os
import shutil

import ml_dtypes
import numpy as np

import shardax._core as _core
from shardax import random, tree_util
from shardax._base.arrays import asarray
from shardax._devices.make_array import make_array_from_callback
from shardax._devices.shardings import Sharding
from shardax.dtypes import issubdtype, prng_key

__all__ = ["restore", "save"]

_FORMAT = 1
_INDEX = "index.json"


def save(folder, tree, *, overwrite=False):
    """Writes the leaves of a tree into a folder. All processes call it, with the same tree.

    Each process writes the parts that its devices have of arrays over several processes, each part
    once. Process 0 writes its own copy of other leaves. The folder appears when all is written: a
    program that ends earlier leaves the one before, or none.

    Args:
      folder: the path of the checkpoint.
      tree: arrays, keys and numbers.
      overwrite: whether an earlier checkpoint may be there, which is replaced.

    Raises:
      FileExistsError: the folder is there, and `overwrite` is False.
      NotADirectoryError: a file is there, and `overwrite` is True.
      TypeError: for leaves that are no arrays.
      RuntimeError: where the trees of the processes differ.

    Example:
      >>> import tempfile
      >>> from shardax.experimental import checkpoints
      >>> folder = tempfile.mkdtemp() + "/step-1"
      >>> checkpoints.save(folder, {"w": jnp.arange(4.0), "step": 1})
      >>> checkpoints.restore(folder, {"w": jnp.zeros(4), "step": 0})
      {'w': Array([0., 1., 2., 3.], dtype=float32), 'step': Array(1, dtype=int32)}
    """
    folder = _path(folder)
    if overwrite and os.path.exists(folder) and not os.path.isdir(folder):
        raise NotADirectoryError(
            f"checkpoints.save: {folder!r} is a file; the path of a folder was expected."
        )
    if not overwrite and os.path.exists(folder):
        raise FileExistsError(
            f"checkpoints.save: {folder!r} exists; choose another folder, or pass overwrite=True."
        )
    paths = tree_util.tree_flatten_with_path(tree)[0]
    leaves = {tree_util.keystr(path): _Leaf(path, leaf) for path, leaf in paths}
    _agree(list(leaves), "checkpoints.save: leaves")
    unfinished = folder + ".unfinished"
    process = _core.process_index()
    if process == 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        os.makedirs(unfinished)
    _core.barrier("checkpoints.save: folder")
    file = f"parts-{process}.npz"
    parts, entries = {}, {}
    for number, (path, leaf) in enumerate(leaves.items()):
        entries[path] = leaf.entry()
        for start, part in leaf.own_parts():
            name = f"{number}.{len(parts)}"
            parts[name] = _stored(part)
            place = {"file": file, "name": name, "start": start, "shape": part.shape}
            entries[path]["parts"].append(place)
    np.savez(os.path.join(unfinished, file), **parts)
    all_entries = _gather(entries, "checkpoints.save: index")
    if process == 0:
        for path, entry in entries.items():
            entry["parts"] = [part for each in all_entries for part in each[path]["parts"]]
        with open(os.path.join(unfinished, _INDEX), "w", encoding="utf-8") as out:
            json.dump({"format": _FORMAT, "leaves": entries}, out, indent=1)
        if overwrite:
            shutil.rmtree(folder, ignore_errors=True)
        os.rename(unfinished, folder)
    _core.barrier("checkpoints.save: end")


def restore(folder, like):
    """The tree that `save` has written, on any number of processes and devices.

    Args:
      folder: the path of the checkpoint.
      like: a tree of the same structure: arrays or ShapeDtypeStructs of the same shapes and dtypes,
        whose shardings the results have. A process reads what its devices need.

    Raises:
      FileNotFoundError: there is no checkpoint in the folder.
      ValueError: where leaves are missing, or differ in shape or dtype.

    Example:
      >>> import tempfile
      >>> from shardax.experimental import checkpoints
      >>> folder = tempfile.mkdtemp() + "/step-2"
      >>> checkpoints.save(folder, {"w": jnp.ones((4, 2))})
      >>> mesh = shardax.make_mesh((2,), ("x",))
      >>> split = shardax.sharding.NamedSharding(mesh, shardax.P("x"))
      >>> like = shardax.ShapeDtypeStruct((4, 2), jnp.float32, sharding=split)
      >>> checkpoints.restore(folder, {"w": like})["w"].sharding == split
      True
    """
    folder = _path(folder)
    with open(os.path.join(folder, _INDEX), encoding="utf-8") as text:
        index = json.load(text)
    if index["format"] != _FORMAT:
        raise ValueError(
            f"checkpoints.restore: {folder!r} has format {index['format']}; expected {_FORMAT}, of "
            "this version of shardax."
        )
    paths, structure = tree_util.tree_flatten_with_path(like)
    names = [tree_util.keystr(path) for path, _ in paths]
    missing = [name for name in names if name not in index["leaves"]]
    if missing:
        raise ValueError(
            f"checkpoints.restore: {folder!r} has no {missing[0]}; it has "
            f"{', '.join(index['leaves']) or 'no leaves'}."
        )
    with _Parts(folder) as parts:
        leaves = [
            _restored(name, index["leaves"][name], leaf, parts)
            for name, (_, leaf) in zip(names, paths, strict=True)
        ]
    return tree_util.tree_unflatten(structure, leaves)


def _path(folder):
    """As text without slashes at its end: names beside the folder are made of it."""
    text = os.fspath(folder)
    return text.rstrip("/" + os.sep) or text


# ---- writing -------------------------------------------------------------------------------------


class _Leaf:
    """A leaf as an array of numbers, of which this process has parts."""

    def __init__(self, path, leaf):
        if not _core.api.is_array_like(leaf):
            raise TypeError(
                f"checkpoints.save: {tree_util.keystr(path)} is {leaf!r}; expected an array or a "
                "number."
            )
        array = leaf if isinstance(leaf, _core.Array) else asarray(leaf)
        self.key, self.dtype = None, str(array.dtype)
        if issubdtype(array.dtype, prng_key):
            self.key = str(random.key_impl(array))
            array = random.key_data(array)
        self.array = array

    def entry(self):
        return {
            "shape": self.array.shape,
            "dtype": self.dtype,
            "numbers": str(self.array.dtype),  # of keys: those that they are made of
            "key": self.key,
            "parts": [],
        }

    def own_parts(self):
        """(start, NumPy array) of each part that this process writes."""
        if not self.array.is_fully_addressable:
            for shard in self.array.addressable_shards:
                if shard.replica_id == 0:
                    yield [s.start or 0 for s in shard.index], np.asarray(shard.data)
        elif _core.process_index() == 0:
            yield [0] * self.array.ndim, np.asarray(self.array)


def _stored(part):
    """As numbers that files of NumPy know: others go by their bytes."""
    return part if part.dtype.isbuiltin == 1 else part.view(f"u{part.dtype.itemsize}")


def _dtype(name):
    return np.dtype(getattr(ml_dtypes, name, name))


def _gather(value, step):
    texts = _core.gather_bytes(json.dumps(value).encode(), step)
    return [json.loads(text) for text in texts]


def _agree(names, step):
    """Raises the same error in all processes: the first that raises one ends the others."""
    first, *others = _gather(names, step)
    for process, other in enumerate(others, 1):
        if other != first:
            raise RuntimeError(
                f"checkpoints.save: the tree of process 0 has the leaves {', '.join(first)}, but "
                f"that of process {process} has {', '.join(other)}; all processes should save the "
                "same tree."
            )


# ---- reading -------------------------------------------------------------------------------------


class _Parts:
    """The files of a checkpoint, opened as they are needed."""

    def __init__(self, folder):
        self.folder, self.files = folder, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for file in self.files.values():
            file.close()

    def read(self, part, dtype):
        file = part["file"]
        if file not in self.files:
            self.files[file] = np.load(os.path.join(self.folder, file))
        stored = self.files[file][part["name"]]
        return stored if stored.dtype == dtype else stored.view(dtype)


def _restored(name, entry, like, parts):
    shape, dtype = tuple(entry["shape"]), _dtype(entry["numbers"])
    saved = shape if entry["key"] is None else shape[:-1]
    like_shape = tuple(np.shape(like))
    like_dtype = str(getattr(like, "dtype", entry["dtype"]))  # a number of Python's has any
    if (like_shape, like_dtype) != (saved, entry["dtype"]):
        raise ValueError(
            f"checkpoints.restore: {name or 'the array'} is {entry['dtype']}{list(saved)} in the "
            f"checkpoint, but {like_dtype}{list(like_shape)} is asked for."
        )
    loaded = {}

    def part_of(index):
        spans = [s.indices(n)[:2] for s, n in zip(index, shape)]
        out = np.empty([stop - start for start, stop in spans], dtype)
        for number, part in enumerate(entry["parts"]):
            both = [
                (max(a, start), min(b, start + n))
                for (a, b), start, n in zip(spans, part["start"], part["shape"])
            ]
            if any(a >= b for a, b in both):
                continue
            if number not in loaded:
                loaded[number] = parts.read(part, dtype)
            to = tuple(slice(a - first, b - first) for (a, b), (first, _) in zip(both, spans))
            of = tuple(slice(a - first, b - first) for (a, b), first in zip(both, part["start"]))
            out[to] = loaded[number][of]
        return out

    where = getattr(like, "sharding", None)
    if isinstance(where, Sharding) and entry["key"] is None:
        return make_array_from_callback(shape, where, part_of)
    whole = asarray(part_of(tuple(slice(None) for _ in shape)))
    return whole if entry["key"] is None else random.wrap_key_data(whole, impl=entry["key"])
