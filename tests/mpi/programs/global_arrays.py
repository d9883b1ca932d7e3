"""tests/mpi/programs/global_arrays.py - programs of global arrays in several processes, beside one.

Each process knows the whole arrays: it computes the same program on them without a mesh, and
compares what it has of the results. Process 0 prints the names of programs that differ anywhere.
"""

import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import _core, lax
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

ME, COUNT = shardax.process_index(), shardax.process_count()
shardax.config.update("jax_num_cpu_devices", 2)
N = shardax.device_count()
MESH = shardax.make_mesh((N,), ("x",), axis_types=(shardax.sharding.AxisType.Auto,))
RNG = np.random.RandomState(0)
A, W = RNG.randn(48, 32).astype(np.float32), RNG.randn(32, 24).astype(np.float32)
W2, ROWS = RNG.randn(24, 32).astype(np.float32), RNG.randint(0, 48, 24)
IMAGES, FILTERS = (
    RNG.randn(16, 3, 8, 8).astype(np.float32),
    RNG.randn(4, 3, 3, 3).astype(np.float32),
)


def placed(x, *spec):
    return shardax.device_put(x, NamedSharding(MESH, P(*spec)))


def loss(w, w2, x):
    return ((jnp.tanh(x @ w) @ w2 - x) ** 2).mean()


def step(w, w2, x):
    value, (g, g2) = shardax.value_and_grad(loss, (0, 1))(w, w2, x)
    return w - 0.1 * g, w2 - 0.1 * g2, value


def convolved(x, f):
    def total(f):
        return (lax.conv(x, f, (1, 1), "SAME") ** 2).sum()

    return lax.conv(x, f, (1, 1), "SAME"), shardax.grad(total)(f)


def rows_scanned(a):
    return lax.scan(lambda c, x: (c * 0.5 + x.sum(), c), jnp.zeros(()), a)


def carried(a, w, w2):
    return lax.fori_loop(0, 3, lambda i, c: c + (c @ w @ w2) * a.mean() * 0.01, a)


def drawn(a):
    return shardax.random.uniform(shardax.random.key(1), (8, 48)) * a.mean()


def blocks(a):
    def body(v):
        return v - lax.pmean(v, "x"), lax.psum(v.sum(), "x"), lax.all_gather(v, "x", tiled=True)

    return shardax.shard_map(
        body, mesh=MESH, in_specs=P("x"), out_specs=(P("x"), P(), P()), check_vma=False
    )(a)


def blocks_whole(a):
    parts = a.reshape(N, -1, a.shape[1])
    return (parts - parts.mean(0)).reshape(a.shape), a.sum(), a


def blocks_gradient(w, a):
    def body(w, v):
        return lax.psum(((v @ w) ** 2).sum(), "x")

    mapped = shardax.shard_map(body, mesh=MESH, in_specs=(P(), P("x")), out_specs=P())
    return shardax.value_and_grad(mapped)(w, a)


@shardax.custom_jvp
def positive(v):
    return jnp.maximum(v, 0)


@positive.defjvp
def positive_jvp(primals, tangents):
    return positive(*primals), tangents[0] * (primals[0] > 0)


@shardax.custom_vjp
def squared(v):
    return v * v


squared.defvjp(lambda v: (v * v, v), lambda v, ct: (2 * v * ct,))


def with_rules(v):
    return jnp.sin(positive(v) + squared(v) + shardax.checkpoint(jnp.cos)(v))


def blocks_with_rules(a):
    def body(v):
        return lax.pmean(lax.cond(v[0, 0] * 0 == 0, with_rules, jnp.sin, v).sum(), "x")

    mapped = shardax.shard_map(body, mesh=MESH, in_specs=P("x"), out_specs=P())
    return shardax.value_and_grad(mapped)(a)


# name: (program, arguments, specs[, the same without a mesh])
PROGRAMS = {
    "rows": (lambda a, w: a @ w, (A, W), (P("x"), P())),
    "contracted": (lambda a, w: a @ w, (A, W), (P(None, "x"), P("x"))),
    "fsdp": (step, (W, W2, A), (P("x"), P("x"), P("x"))),
    "data parallel": (step, (W, W2, A), (P(), P(), P("x"))),
    "tensor parallel": (step, (W, W2, A), (P(None, "x"), P("x"), P())),
    "softmax": (lambda a: shardax.nn.softmax(a, 0), (A,), (P("x"),)),
    "sums": (lambda a: (a.sum(), a.max(0), a.argmax(0), a.mean(1)), (A,), (P("x"),)),
    "sort": (lambda a: (jnp.sort(a, 0), jnp.cumsum(a, 0)), (A,), (P("x"),)),
    "layout": (lambda a: (a.T, a.reshape(-1), a.reshape(12, 4, 32)), (A,), (P("x"),)),
    "slices": (lambda a: (jnp.roll(a, 1, 0), a[::-1], a[5], a[3:40]), (A,), (P("x"),)),
    "indexing": (lambda a, i: (a[i], a.at[i].add(1)), (A, ROWS), (P("x"), P("x"))),
    "convolution": (convolved, (IMAGES, FILTERS), (P("x"), P())),
    "random": (
        lambda a: a + shardax.random.normal(shardax.random.key(0), a.shape),
        (A,),
        (P("x"),),
    ),
    "scan": (rows_scanned, (A,), (P("x"),)),
    "carry": (carried, (A, W, W2), (P("x"), P(), P())),
    "while": (
        lambda a: lax.while_loop(lambda c: jnp.abs(c).sum() < 1e6, lambda c: c * 2, a),
        (A,),
        (P("x"),),
    ),
    "cond": (lambda a: lax.cond(a.sum() > 0, lambda: a * 2, lambda: a - a.mean()), (A,), (P("x"),)),
    "norm": (lambda a: jnp.linalg.norm(a), (A,), (P("x"),)),
    "fft": (lambda a: jnp.fft.fft(a, axis=1).real, (A,), (P("x"),)),
    "fft along the split": (lambda a: jnp.fft.fft(a, axis=0).real, (A,), (P("x"),)),
    "fft2": (lambda a: jnp.fft.ifft2(jnp.fft.fft2(a) * 2).real, (A,), (P("x"),)),
    "draws": (
        shardax.jit(drawn, out_shardings=NamedSharding(MESH, P(None, "x"))),
        (A,),
        (P("x"),),
        drawn,
    ),
    "windows along the split": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 1, 1), "SAME"),
        (IMAGES,),
        (P(None, None, "x"),),
    ),
    "convolution along the split": (convolved, (IMAGES, FILTERS), (P(None, None, "x"), P())),
    "windows": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
        (IMAGES,),
        (P("x"),),
    ),
    "dtypes": (lambda a: (a.astype(jnp.bfloat16).sum(0), (a > 0).sum(), a + 1j), (A,), (P("x"),)),
    "blocks": (blocks, (A,), (P("x"),), blocks_whole),
    "gradient of blocks": (
        blocks_gradient,
        (W, A),
        (P(), P("x")),
        lambda w, a: shardax.value_and_grad(lambda w: ((a @ w) ** 2).sum())(w),
    ),
    "rules": (lambda a: shardax.value_and_grad(lambda a: with_rules(a).sum())(a), (A,), (P("x"),)),
    "rules in blocks": (
        blocks_with_rules,
        (A,),
        (P("x"),),
        lambda a: shardax.value_and_grad(lambda a: with_rules(a).sum() / N)(a),
    ),
    "out_shardings": (
        shardax.jit(lambda a: a * 2, out_shardings=NamedSharding(MESH, P(None, "x"))),
        (A,),
        (P(),),
    ),
    "constraint": (
        lambda a: lax.with_sharding_constraint(a * 2, NamedSharding(MESH, P("x"))) + 1,
        (A,),
        (P(),),
        lambda a: a * 2 + 1,
    ),
}


def same(ours, theirs):
    theirs = np.asarray(theirs)
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return False
    tolerance = 0.02 if ours.dtype.itemsize == 2 else 2e-4
    return all(
        np.allclose(np.asarray(s.data), theirs[s.index], tolerance, tolerance)
        for s in ours.addressable_shards
    )


differ = []
for name, (program, arguments, specs, *plain) in PROGRAMS.items():
    operands = [placed(x, *spec) for x, spec in zip(arguments, specs)]
    for way in (shardax.jit(program), program):
        try:
            ours = way(*operands)
        except Exception as error:
            differ.append(f"{name}: {type(error).__name__} {error}")
            raise
        whole = (plain[0] if plain else program)(*map(jnp.asarray, arguments))
        if name == "out_shardings":
            whole = arguments[0] * 2
        if not all(map(same, shardax.tree.leaves(ours), shardax.tree.leaves(whole))):
            differ.append(name)
found = _core.gather_bytes("\n".join(differ).encode(), "what differs")
if ME == 0:
    print(
        len(PROGRAMS),
        "programs; differ:",
        *sorted({n for f in found for n in f.decode().split("\n") if n}),
    )
