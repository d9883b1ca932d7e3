"""tests/fuzz/archive_calls.py KIND FIRST LAST - reads and calls exported programs with changes.

KIND is "fields" or "bytes". For each seed prints what came of it: "refused", "error" or "ran", and
the class and text of the error. A seed is printed before it is tried, so that one that ends the
process is known.
"""

import json
import pathlib
import resource
import signal
import struct
import sys
import warnings
import zlib

import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import export, lax
from shardax.sharding import PartitionSpec as P

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import archive_changes  # noqa: E402
import archives  # noqa: E402

warnings.simplefilter("ignore")
SECONDS = 3  # a loop that a change made endless is ended


@shardax.custom_jvp
def softplus(x):
    return jnp.log1p(jnp.exp(x))


softplus.defjvp(lambda p, t: (softplus(*p), t[0] * shardax.nn.sigmoid(p[0])))


def attention(q, k, v, mask):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2.0
    return jnp.einsum("bhqk,bkhd->bqhd", shardax.nn.softmax(jnp.where(mask, scores, -1e9)), v)


def lstm(w, xs):
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(jnp.concatenate([x, h]) @ w, 4)
        c = shardax.nn.sigmoid(f) * c + shardax.nn.sigmoid(i) * jnp.tanh(g)
        h = shardax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(cell, (jnp.zeros(3), jnp.zeros(3)), xs)


def training(w, x, y):
    def step(w, x, y):
        g = shardax.grad(lambda w: ((jnp.tanh(x @ w) - y) ** 2).mean())(w)
        return w - 0.1 * lax.pmean(g, "i")

    return shardax.pmap(step, axis_name="i", in_axes=(None, 0, 0), out_axes=None)(w, x, y)


def exchanges(x):
    def body(x):
        right = lax.ppermute(x, "i", [(k, (k + 1) % 4) for k in range(4)])
        both = lax.all_gather(right, "i") + lax.axis_index("i")
        return lax.psum_scatter(both, "i", scatter_dimension=0) + lax.all_to_all(x, "i", 0, 0)

    return shardax.pmap(body, axis_name="i")(x)


def blocks(a, b):
    mesh = shardax.make_mesh((2, 2), ("x", "y"))

    def body(a, b):
        return lax.psum(a @ b, "y")

    specs = (P("x", "y"), P("y", None))
    return shardax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(a, b)


def newton(x):
    def body(c):
        x, n = c
        return x - (x * x - 2) / (2 * x), n + 1

    return lax.while_loop(lambda c: (jnp.abs(c[0] ** 2 - 2) > 1e-5) & (c[1] < 50), body, (x, 0))


def branches(i, x):
    f = lax.switch(i, [jnp.sin, lambda x: x.cumsum(), lambda x: x[::-1] * 2, lambda x: x - 1], x)
    return lax.cond(x[0] > 1, lambda x: x * 2, lambda x: lax.map(jnp.cos, x), f)


def convolutions(x, k):
    y = lax.conv_general_dilated(x, k, (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return shardax.grad(lambda y: jnp.convolve(y.ravel(), k.ravel()).sum())(shardax.nn.relu(y))


def indexing(x, i):
    y = x.at[i, 1].add(x[:, 2][i]).at[::2].set(3.0)
    y = lax.dynamic_update_slice(y, lax.dynamic_slice(x, (i[0], 0), (2, 2)), (1, i[1]))
    return jnp.take_along_axis(y, i[:, None], 1), jnp.pad(y, 1), y[:, ::-1].T, y.argmax(1)


def spectra(x):
    f = jnp.fft.rfft2(x)
    return jnp.fft.irfft2(f * 2), jnp.fft.ifft(f).real, jnp.fft.fft(x.astype(complex), axis=0)


def sorting(x, y):
    order = jnp.argsort(x, axis=1)
    return lax.sort((x, y), num_keys=1), lax.top_k(x, 2), jnp.searchsorted(x[0], y[0]), order


def linear_algebra(a, b):
    spd = a @ a.T + 3 * jnp.eye(4)
    q, r = jnp.linalg.qr(a)
    s = jnp.linalg.svd(a, compute_uv=False)
    return (
        jnp.linalg.solve(a, b), jnp.linalg.cholesky(spd), jnp.linalg.eigh(spd)[0], q @ r, s,
        shardax.scipy.linalg.expm(a), jnp.linalg.eigvals(a), jnp.linalg.det(a),
    )  # fmt: skip


def random_numbers(key):
    a, b = shardax.random.split(key)
    return (
        shardax.random.normal(a, (5,)), shardax.random.permutation(b, 7),
        shardax.random.randint(a, (3,), 0, 9), shardax.random.gamma(b, 2.0, (2,)),
        shardax.random.choice(a, 5, (2,), replace=False), shardax.random.key_data(b),
    )  # fmt: skip


def low_precision(x):
    h = x.astype("bfloat16")
    bits = lax.bitcast_convert_type(x, "int32")
    return h @ h.T, x.astype("float8_e4m3fn"), x.astype("int4"), bits


def rules(x):
    f = shardax.checkpoint(lambda x: softplus(jnp.sin(x)).sum())
    return shardax.grad(f)(x), shardax.vmap(shardax.grad(f))(x[:, None]), softplus(x) ** 3


def special(x):
    s = shardax.scipy.special
    return s.gammaln(x), s.erfinv(x / 9), s.betainc(x, x + 1, x / 9), s.i0e(x), s.zeta(x + 2, x)


def reductions(x):
    return (
        x.sum(0), x.max(1), x.prod(), jnp.median(x), jnp.quantile(x, 0.3, axis=0), x.std(1),
        lax.associative_scan(jnp.add, x), jnp.cumsum(x, 1), x.all(), jnp.nanmax(x, 0),
    )  # fmt: skip


def f32(*shape):
    return np.linspace(0.1, 4.0, int(np.prod(shape))).astype(np.float32).reshape(shape)


PROGRAMS = {
    "attention": (attention, (f32(2, 3, 2, 4), f32(2, 5, 2, 4), f32(2, 5, 2, 4), f32(3, 5) > 1)),
    "lstm": (lstm, (f32(5, 12), f32(4, 2))),
    "lstm gradient": (
        shardax.grad(lambda w, xs: lstm(w, xs)[1].sum()), (f32(5, 12), f32(4, 2))
    ),
    "training": (training, (f32(3, 2), f32(4, 5, 3), f32(4, 5, 2))),
    "exchanges": (exchanges, (f32(4, 4),)),
    "blocks": (blocks, (f32(4, 6), f32(6, 3))),
    "newton": (newton, (np.float32(1.0),)),
    "branches": (branches, (np.int32(1), f32(4))),
    "convolutions": (convolutions, (f32(2, 6, 6, 3), f32(3, 3, 3, 4))),
    "indexing": (indexing, (f32(5, 4), np.array([1, 0, 2, 1, 3], np.int32))),
    "spectra": (spectra, (f32(4, 6),)),
    "sorting": (sorting, (f32(3, 5), f32(3, 5))),
    "linear algebra": (linear_algebra, (f32(4, 4) + 3 * np.eye(4, dtype=np.float32), f32(4))),
    "random": (random_numbers, (shardax.random.key(0),)),
    "low precision": (low_precision, (f32(3, 4),)),
    "rules": (rules, (f32(3),)),
    "special": (special, (f32(4),)),
    "reductions": (reductions, (f32(3, 4),)),
}  # fmt: skip
NAMES = sorted(PROGRAMS)


def exported(name):
    f, args = PROGRAMS[name]
    return bytes(export.export(shardax.jit(f))(*args).serialize())


def taken_apart(blob):
    """(header, program) of an exported function."""
    at = blob.index(b"\n") + 5
    parts = []
    for _ in range(2):
        (size,) = struct.unpack_from("<q", blob, at)
        parts.append(blob[at + 8 : at + 8 + size])
        at += 8 + size
    return parts


def put_together(parts):
    body = b"".join(struct.pack("<q", len(part)) + part for part in parts)
    return b"shardax export 2\n" + struct.pack("<I", zlib.crc32(body)) + body


def itemsize(dtype):
    if dtype == "float0":
        return 0
    if dtype.startswith("key<"):
        return {"key<fry>": 8, "key<rbg>": 16, "key<urbg>": 16}[dtype]
    return np.dtype(getattr(jnp, dtype, None) or dtype).itemsize


def operand(aval):
    """An array of that type, unless it is large."""
    if np.prod([float(n) for n in aval.shape]) > 1e6:
        raise ValueError("a large argument")
    if shardax.dtypes.issubdtype(aval.dtype, shardax.dtypes.prng_key):
        return shardax.random.split(shardax.random.key(0), aval.shape)
    if aval.dtype == shardax.dtypes.float0:
        return np.zeros(aval.shape, shardax.dtypes.float0)
    return jnp.ones(aval.shape, aval.dtype)


def tried(blob):
    """The outcome of reading, showing, calling, differentiating and mapping it."""
    try:
        function = export.deserialize(blob)
    except (ValueError, TypeError, KeyError, NotImplementedError, RecursionError) as error:
        return "refused", error
    try:
        args = [operand(aval) for aval in function.in_avals]
    except (ValueError, TypeError) as error:
        return "error", error
    first = None
    flat = shardax.jit(lambda *args: shardax.tree.leaves(run(function, args)))
    for use in (
        lambda: shardax.block_until_ready(run(function, args)),
        lambda: function.mlir_module(),
        lambda: str(shardax.make_jaxpr(flat)(*args)),
        lambda: gradient(function, args),
        lambda: mapped(function, args),
    ):
        try:
            use()
        except Exception as error:  # noqa: BLE001
            first = first or error
    return ("error", first) if first else ("ran", None)


def run(function, args):
    """The program itself: structures of arguments are those of another."""
    return shardax._core.api.evaluate(function._program, list(map(jnp.asarray, args)), [])


def gradient(function, args):
    floats = [i for i, a in enumerate(args) if jnp.issubdtype(a.dtype, jnp.floating)]

    def loss(*chosen):
        full = list(args)
        for i, x in zip(floats, chosen, strict=True):
            full[i] = x
        out = run(function, full)
        return sum(x.astype("float32").sum() for x in out if jnp.issubdtype(x.dtype, jnp.floating))

    shardax.block_until_ready(
        shardax.jit(shardax.grad(loss, tuple(range(len(floats)))))(*[args[i] for i in floats])
    )


def mapped(function, args):
    twice = [jnp.stack([a, a]) for a in args]
    shardax.block_until_ready(shardax.vmap(lambda *a: run(function, a))(*twice))
    shardax.block_until_ready(shardax.pmap(lambda *a: run(function, a))(*twice))


class Late(Exception):
    pass


def late(*_):
    raise Late


def main(kind, first, last):
    limit = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, limit))
    signal.signal(signal.SIGALRM, late)
    blobs = {name: exported(name) for name in NAMES}
    for seed in range(first, last):
        name = NAMES[seed % len(NAMES)]
        header, data = taken_apart(blobs[name])
        if kind == "bytes":
            changed, said = archive_changes.bytes_changed(data, seed)
        else:
            program, said = archive_changes.changed(archives.parsed(data, itemsize), seed)
            changed = archives.written(program)
        print(json.dumps([seed, name, said]), flush=True)
        signal.alarm(SECONDS)
        try:
            how, error = tried(put_together([header, changed]))
        except Late:
            how, error = "late", None
        finally:
            signal.alarm(0)
        what = f"{type(error).__name__}: {error}" if error else ""
        print(json.dumps([how, what[:2000]]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
