"""tests/mpi/programs/collectives.py - collectives of pmap in several processes, beside one.

Process 0 prints the names of the programs whose values differ from those of vmap over all devices
at once, in any process.
"""

import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import _core, lax

ME, COUNT, LOCAL = _core.process_index(), _core.process_count(), 2
N = LOCAL * COUNT
FULL = np.arange(N * 3, dtype=np.float32).reshape(N, 3)


def summed_loss(v):
    return shardax.grad(lambda w: lax.psum((w * v).sum() ** 2, "i"))(2.0)


def loop(v):
    def turn(carry, _):
        return carry + lax.pmean(carry * v, "i"), carry.sum()

    return lax.scan(turn, v, None, length=3)


def gradient_of_loop(v):
    def loss(w):
        def turn(carry, _):
            return carry * w + lax.pmean(carry, "i"), None

        return lax.scan(turn, v, None, length=3)[0].sum()

    return shardax.grad(loss)(0.5)


def branches(v):
    return lax.cond(lax.psum(v.sum(), "i") > 0, lambda: v - lax.pmean(v, "i"), lambda: v)


def turns(v):
    def goes_on(carry):
        return lax.psum(carry.sum(), "i") < 1e4

    return lax.while_loop(goes_on, lambda carry: carry * 2 + lax.pmax(carry, "i"), v)


PROGRAMS = {
    "psum": lambda v: lax.psum(v, "i"),
    "pmean": lambda v: lax.pmean(v, "i"),
    "pmax": lambda v: lax.pmax(v, "i"),
    "pmin": lambda v: lax.pmin(v, "i"),
    "bfloat16": lambda v: lax.psum(v.astype(jnp.bfloat16), "i"),
    "int8": lambda v: lax.psum(v.astype(jnp.int8), "i"),
    "complex64": lambda v: lax.psum(v + 1j, "i"),
    "bool": lambda v: lax.psum(v > 2, "i"),
    "float8": lambda v: lax.psum(v.astype(jnp.float8_e4m3fn), "i").astype(jnp.float32),
    "axis_index": lambda v: lax.axis_index("i") + 0 * v[0].astype(int),
    "size": lambda v: lax.psum(1, "i") + 0 * v,
    "axis_size": lambda v: lax.axis_size("i") + 0 * v,
    "all_gather": lambda v: lax.all_gather(v, "i"),
    "all_gather_tiled": lambda v: lax.all_gather(v, "i", tiled=True),
    "ppermute": lambda v: lax.ppermute(v, "i", [(k, (k + 1) % N) for k in range(N)]),
    "ppermute_some": lambda v: lax.ppermute(v, "i", [(0, N - 1), (3, 1)]),
    "ppermute_block": lambda v: lax.ppermute(v, "i", [(k, (k + LOCAL) % N) for k in range(N)]),
    "pshuffle": lambda v: lax.pshuffle(v, "i", list(range(N))[::-1]),
    "psum_scatter": lambda v: lax.psum_scatter(jnp.arange(N, dtype=jnp.float32) * v[0], "i"),
    "psum_scatter_tiled": lambda v: lax.psum_scatter(jnp.arange(2.0 * N) * v[0], "i", tiled=True),
    "all_to_all": lambda v: lax.all_to_all(jnp.arange(N * 2.0).reshape(N, 2) * v[0], "i", 0, 0),
    "all_to_all_tiled": lambda v: lax.all_to_all(
        jnp.arange(N * 2.0).reshape(N, 2) * v[0], "i", 0, 1, tiled=True
    ),
    "groups_across": lambda v: lax.psum(
        v, "i", axis_index_groups=[list(range(0, N, 2)), list(range(1, N, 2))]
    ),
    "groups_within": lambda v: lax.psum(
        v, "i", axis_index_groups=[list(range(N // 2)), list(range(N // 2, N))]
    ),
    "pbroadcast": lambda v: lax.pbroadcast(v, "i", 3),
    "grad_all_gather": lambda v: shardax.grad(lambda w: (lax.all_gather(w * v, "i") ** 2).sum())(
        2.0
    ),
    "fori_loop": lambda v: lax.fori_loop(0, 3, lambda i, a: a + lax.psum(v, "i"), v),
    "mlp": lambda v: shardax.grad(lambda w: lax.pmean(jnp.tanh(v @ w).sum(), "i"))(
        jnp.ones((3, 4))
    ),
    "tree": lambda v: lax.psum({"a": v, "b": [v.sum(), v * 2]}, "i"),
    "empty": lambda v: lax.psum(v[:0], "i"),
    "second": lambda v: shardax.grad(shardax.grad(lambda w: lax.psum((w * v).sum() ** 3, "i")))(
        2.0
    ),
    "grad": summed_loss,
    "scan": loop,
    "grad_scan": gradient_of_loop,
    "cond": branches,
    "while": turns,
}


def same(ours, theirs):
    ours, theirs = np.asarray(ours), np.asarray(theirs)[ME * LOCAL : (ME + 1) * LOCAL]
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    tolerance = 0.02 if ours.dtype.itemsize == 2 else 1e-5
    return np.allclose(ours.astype(complex), theirs.astype(complex), tolerance, equal_nan=True)


own = FULL[ME * LOCAL : (ME + 1) * LOCAL]
differ = []
for name, program in PROGRAMS.items():
    ours = shardax.pmap(program, axis_name="i")(own)
    theirs = shardax.vmap(program, axis_name="i")(FULL)
    if not all(map(same, shardax.tree.leaves(ours), shardax.tree.leaves(theirs))):
        differ.append(name)
found = _core.gather_bytes(" ".join(differ).encode(), "what differs")
if ME == 0:
    print(
        len(PROGRAMS),
        "programs; differ:",
        *sorted({n for text in found for n in text.decode().split()}),
    )
