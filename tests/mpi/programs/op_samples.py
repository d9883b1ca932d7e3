"""tests/mpi/programs/op_samples.py - every sample of the op table, split over processes.

Each operand is split along its first dimension that the processes divide, or kept whole. Process 0
prints the samples whose results differ from those of whole arrays in any process.
"""

import functools
import os
import pathlib
import sys

import numpy as np

TESTS = pathlib.Path(os.environ["TESTS_FOLDER"])
sys.path.insert(0, str(TESTS / "ops"))

import sample_collectives  # noqa: E402
import shardax  # noqa: E402
from running import NAMES, call, main_dtype, operands  # noqa: E402
from samples import samples  # noqa: E402
from shardax import _core  # noqa: E402
from shardax.sharding import AxisType, NamedSharding  # noqa: E402
from shardax.sharding import PartitionSpec as P  # noqa: E402

shardax.config.update("jax_num_cpu_devices", 1)
shardax.config.update("jax_enable_x64", True)
ME, COUNT = shardax.process_index(), shardax.process_count()
MESH = shardax.make_mesh((COUNT,), ("x",), axis_types=(AxisType.Auto,))


def placed(x):
    spec = [None] * x.ndim
    for d, n in enumerate(x.shape):
        if n > 0 and n % COUNT == 0:
            spec[d] = "x"
            break
    return shardax.device_put(x, NamedSharding(MESH, P(*spec)))


def called(name, sample, *args):
    return call(name, sample, args)


def same(ours, theirs):
    theirs = np.asarray(theirs)
    for shard in ours.addressable_shards:
        own, want = np.asarray(shard.data), theirs[shard.index]
        if own.shape != want.shape or own.dtype != want.dtype:
            return False
        if own.dtype.kind in "fc":
            if not np.allclose(own, want, 1e-4, 1e-5, equal_nan=True):
                return False
        elif own.dtype.kind in "biu":
            if not (own == want).all():
                return False
        elif own.tobytes() != want.tobytes() and not np.allclose(
            own.astype(float), want.astype(float), 0.02, 0.02, equal_nan=True
        ):
            return False
    return True


# These map over devices by themselves, or name the devices of one process.
MAPPED = {
    *sample_collectives.SAMPLES,
    *("agree", "pmap", "shard_map", "partial_sums", "reshard", "sharding_constraint"),
}

differ, split, total = [], 0, 0
for name in NAMES:
    if name in MAPPED:
        continue
    for number, sample in enumerate(samples(name)):
        args = operands(sample, main_dtype(sample))
        label = f"{name}-{number}"
        total += 1
        try:
            plain = [shardax.numpy.asarray(a) for a in args]
            whole = call(name, sample, plain)
            whole = whole if isinstance(whole, (tuple, list)) else (whole,)
            ours_in = [placed(a) for a in plain]
            split += any(_core.get_slab(a) is not None for a in ours_in)
            ours = shardax.jit(functools.partial(called, name, sample))(*ours_in)
            ours = ours if isinstance(ours, (tuple, list)) else (ours,)
            for mine, want in zip(ours, whole, strict=True):
                if shardax.dtypes.issubdtype(mine.dtype, shardax.dtypes.prng_key):
                    mine, want = map(shardax.random.key_data, (mine, want))
                if not same(mine, want):
                    differ.append(label)
                    break
        except Exception as error:
            differ.append(f"{label}: {type(error).__name__} {str(error)[:160]}")
            if "message" in str(error):
                raise
found = _core.gather_bytes("\n".join(differ).encode(), "what differs")
if ME == 0:
    texts = sorted({n for f in found for n in f.decode().split("\n") if n})
    print(total, "samples; differ:", *texts)
    assert split > total / 2
