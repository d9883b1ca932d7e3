"""tests/sizes/programs.py - programs of three sizes: one for each pass, and each op with bodies.

`PROGRAMS` maps a name to a function of the package and the sizes n, k, m, which gives the program
and its arguments. Each is well typed for every size from 0 on, unless it says `least`.
"""

import numpy as np

PROGRAMS, LEAST = {}, {}


def program(make=None, least=0):
    """Lists the program; none of its sizes may be below `least`."""
    if make is None:
        return lambda make: program(make, least)
    PROGRAMS[make.__name__] = make
    LEAST[make.__name__] = least
    return make


def floats(jax, *shape, dtype="float32"):
    rng = np.random.default_rng(len(shape) + sum(shape))
    x = rng.uniform(-1, 1, shape)
    if dtype == "complex64":
        x = x + 1j * rng.uniform(-1, 1, shape)
    return jax.numpy.asarray(x, dtype)


def whole(jax, below, *shape):
    return jax.numpy.asarray(np.random.default_rng(0).integers(0, below, shape), "int32")


# ---- products ----------------------------------------------------------------------------------


@program
def dense(jax, n, k, m):
    return lambda x, w: jax.numpy.tanh(x @ w), (floats(jax, n, k), floats(jax, k, m))


@program
def two_layers(jax, n, k, m):
    jnp = jax.numpy

    def loss(x, w, v):
        return jnp.sum((jnp.tanh(x @ w) @ v - x) ** 2, -1)

    return loss, (floats(jax, n, k), floats(jax, k, m), floats(jax, m, k))


@program
def stacked_products(jax, n, k, m):
    f = lambda a, b: jax.numpy.einsum("bij,bjk->bik", a, b) + 1
    return f, (floats(jax, n, k, m), floats(jax, n, m, k))


@program
def vectors(jax, n, k, m):
    f = lambda a, x, y: (a @ x, y @ a, jax.numpy.outer(y, x) + a, x @ x)
    return f, (floats(jax, n, k), floats(jax, k), floats(jax, n))


@program
def integer_products(jax, n, k, m):
    return lambda a, b: a @ b, (whole(jax, 9, n, k), whole(jax, 9, k, m))


@program
def complex_products(jax, n, k, m):
    dtype = "complex64"
    f = lambda a, b: (a @ b).real + (a.conj() @ b).imag
    return f, (floats(jax, n, k, dtype=dtype), floats(jax, k, m, dtype=dtype))


@program
def half_products(jax, n, k, m):
    dtype = "bfloat16"
    f = lambda a, b: (a @ b).astype("float32")
    return f, (floats(jax, n, k, dtype=dtype), floats(jax, k, m, dtype=dtype))


@program
def contracted_pairs(jax, n, k, m):
    f = lambda a, b: jax.numpy.einsum("ijk,jkl->il", a, b)
    return f, (floats(jax, n, k, m), floats(jax, k, m, 2))


@program
def attention(jax, n, k, m):
    jnp = jax.numpy

    def f(q, keys, v):
        scores = jnp.exp(q @ keys.T)
        return (scores / (1 + scores.sum(-1, keepdims=True))) @ v

    return f, (floats(jax, n, k), floats(jax, m, k), floats(jax, m, 3))


# ---- loops -------------------------------------------------------------------------------------


@program
def mapped_products(jax, n, k, m):
    f = lambda w, x: jax.lax.map(lambda u: jax.numpy.tanh(u @ w), x)
    return f, (floats(jax, m, m), floats(jax, n, k, m))


@program
def mapped_in_batches(jax, n, k, m):
    f = lambda w, x: jax.lax.map(lambda u: jax.numpy.tanh(u @ w), x, batch_size=2)
    return f, (floats(jax, k, m), floats(jax, n, k))


@program
def recurrence(jax, n, k, m):
    jnp, lax = jax.numpy, jax.lax

    def f(w, h, xs):
        step = lambda h, x: (jnp.tanh(h @ w + x), h)
        return lax.scan(step, h, xs)

    return f, (floats(jax, m, m), floats(jax, k, m), floats(jax, n, k, m))


@program
def recurrence_from_behind(jax, n, k, m):
    jnp, lax = jax.numpy, jax.lax

    def f(w, h, xs):
        return lax.scan(lambda h, x: (jnp.tanh(h @ w.T) + x, h.sum()), h, xs, reverse=True)

    return f, (floats(jax, m, m), floats(jax, k, m), floats(jax, n))


@program
def unrolled(jax, n, k, m):
    f = lambda h, xs: jax.lax.scan(lambda h, x: (h * x, h), h, xs, unroll=2)
    return f, (floats(jax, k, m), floats(jax, n, m))


@program
def summed_products(jax, n, k, m):
    f = lambda a, b: jax.lax.scan(
        lambda c, ab: (c + ab[0].T @ ab[1], None), jax.numpy.zeros((m, m)), (a, b)
    )[0]
    return f, (floats(jax, n, k, m), floats(jax, n, k, m))


@program
def summed_parts(jax, n, k, m):
    def f(x, at):
        step = lambda c, ix: (c.at[ix[0]].add(ix[1]), None)
        return jax.lax.scan(step, jax.numpy.zeros((k + 1, m)), (at, x))[0]

    return f, (floats(jax, n, m), whole(jax, k + 1, n))


@program
def turned_carry(jax, n, k, m):
    f = lambda c, x: jax.lax.scan(lambda c, x: (c.T.T * x, c.T), c, x)
    return f, (floats(jax, k, m), floats(jax, n, m))


@program
def nested_scans(jax, n, k, m):
    lax = jax.lax

    def f(c, xs):
        inner = lambda c, x: (c + x * c, c)
        return lax.scan(lambda c, row: (lax.scan(inner, c, row)[0], c), c, xs)

    return f, (floats(jax, m), floats(jax, n, k, m))


@program
def counted_loop(jax, n, k, m):
    f = lambda w, c: jax.lax.fori_loop(0, n, lambda i, c: jax.numpy.sin(c @ w) + i, c)
    return f, (floats(jax, m, m), floats(jax, k, m))


@program
def while_loop(jax, n, k, m):
    def f(c, turns):
        lax = jax.lax
        go_on = lambda s: s[0] < turns
        return lax.while_loop(go_on, lambda s: (s[0] + 1, jax.numpy.cos(s[1])), (0, c))[1]

    return f, (floats(jax, k, m), jax.numpy.int32(n))


@program
def scalar_loop(jax, n, k, m):
    """Few numbers, each in a register; the loop's count is known when it runs."""

    def f(c, d, turns):
        body = lambda i, s: (s[0] * 0.5 + s[1].sum(), s[1] - s[0].sum())
        return jax.lax.fori_loop(0, turns, body, (c, d))

    return f, (floats(jax, k), floats(jax, m), jax.numpy.int32(n))


@program
def complex_loop(jax, n, k, m):
    f = lambda z: jax.lax.fori_loop(0, n, lambda i, z: z * z + z, z)
    return lambda z: f(z).real, (floats(jax, k, m, dtype="complex64"),)


@program
def updates_in_a_loop(jax, n, k, m):
    lax = jax.lax

    def f(c, x):
        return lax.fori_loop(0, n, lambda i, c: lax.dynamic_update_slice_in_dim(c, x, i, 0), c)

    return f, (floats(jax, k + 1, m), floats(jax, 1, m))


@program
def rows_in_a_loop(jax, n, k, m):
    lax = jax.lax

    def f(x, c):
        row = lambda i: lax.dynamic_index_in_dim(x, i, 0, keepdims=False)
        return lax.fori_loop(0, n, lambda i, c: c + row(i), c)

    return f, (floats(jax, k + 1, m), floats(jax, m))


@program
def branches(jax, n, k, m):
    jnp, lax = jax.numpy, jax.lax

    def f(which, x, w):
        return lax.switch(which, [lambda x: x @ w, lambda x: jnp.zeros((k, m)), jnp.sin], x)

    return f, (jax.numpy.int32(n), floats(jax, k, m), floats(jax, m, m))


@program
def branches_in_a_loop(jax, n, k, m):
    jnp, lax = jax.numpy, jax.lax

    def f(c, xs):
        step = lambda c, x: (lax.cond(x.sum() > 0, jnp.sin, lambda c: c * 2, c), c)
        return lax.scan(step, c, xs)

    return f, (floats(jax, k, m), floats(jax, n, m))


@program
def associative(jax, n, k, m):
    f = lambda x: jax.lax.associative_scan(jax.numpy.multiply, x, axis=1)
    return f, (floats(jax, n, k, m),)


# ---- maps --------------------------------------------------------------------------------------


@program
def devices(jax, n, k, m):
    lax = jax.lax

    def f(w, x):
        def one(w, x):
            return lax.psum(x @ w, "i"), x * lax.axis_index("i"), lax.all_gather(x, "i")

        return jax.vmap(one, in_axes=(None, 0), axis_name="i")(w, x)

    return f, (floats(jax, m, m), floats(jax, min(n, 4), k, m))


@program
def training_step(jax, n, k, m):
    jnp, lax = jax.numpy, jax.lax

    def f(w, x):
        def step(w, x):
            gradient = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(w)
            return w - 0.1 * lax.pmean(gradient, "i")

        return jax.pmap(step, axis_name="i", in_axes=(None, 0))(w, x)

    return f, (floats(jax, m, m), floats(jax, max(1, min(n, 4)), k, m))


@program
def blocks(jax, n, k, m):
    lax, P = jax.lax, jax.sharding.PartitionSpec
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("i",))

    def f(w, x):
        def block(w, x):
            return x @ w + lax.pmean(x, "i").sum(), lax.all_gather(x, "i", tiled=True)

        specs = (P("i"), P("i"))
        return jax.shard_map(block, mesh=mesh, in_specs=(P(), P("i")), out_specs=specs)(w, x)

    return f, (floats(jax, m, m), floats(jax, 2 * n, k, m))


@program
def scattered_blocks(jax, n, k, m):
    lax, P = jax.lax, jax.sharding.PartitionSpec
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("i",))

    def f(x):
        def block(x):
            moved = lax.all_to_all(x, "i", 0, 1, tiled=True)
            turned = lax.ppermute(x, "i", [(0, 1), (1, 0)])
            return lax.psum_scatter(x, "i", tiled=True), moved, turned

        specs = (P("i"), P("i"), P("i"))
        return jax.shard_map(block, mesh=mesh, in_specs=P("i"), out_specs=specs)(x)

    return f, (floats(jax, 4 * n, k, m),)


@program
def mapped_loop(jax, n, k, m):
    """Each row goes round as often as it likes."""

    def f(x):
        one = lambda row: jax.lax.while_loop(lambda c: c.sum() > 0.5, lambda c: c * 0.5, row)
        return jax.vmap(one)(x)

    return f, (floats(jax, n, k),)


@program
def shared_carry(jax, n, k, m):
    def f(w, x):
        one = lambda x: jax.lax.scan(lambda c, _: (c @ w, c[0:1] * x), w, None, length=2)
        return jax.vmap(one)(x)

    return f, (floats(jax, m, m), floats(jax, n))


# ---- rows, layout ------------------------------------------------------------------------------


@program
def normalised(jax, n, k, m):
    def f(x, scale):
        centred = x - x.sum(-1, keepdims=True) / 5
        return centred * jax.lax.rsqrt(1 + (centred**2).sum(-1, keepdims=True)) * scale

    return f, (floats(jax, n, k, m), floats(jax, m))


@program
def points(jax, n, k, m):
    f = lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1)
    return f, (floats(jax, n, 3), floats(jax, k, 3))


@program
def both_ways(jax, n, k, m):
    f = lambda x: (x.sum(), x.sum(0), x.sum((0, 2)), x.prod(1), (x * 2).sum((1, 2)))
    return f, (floats(jax, n, k, m),)


@program
def logical(jax, n, k, m):
    f = lambda x: ((x > 0).any(1), (x > 0).all((0, 2)), (x < 2).sum(0))
    return f, (floats(jax, n, k, m),)


@program
def put_together(jax, n, k, m):
    jnp = jax.numpy

    def f(x, y, z):
        whole = jnp.concatenate([jnp.sin(x), y, z], 0) * 2 + 1
        return whole, jnp.tanh(whole[n:]), whole[:n] * 3, jnp.stack([x, x], 1)

    return f, (floats(jax, n, m), floats(jax, k, m), floats(jax, 1, m))


@program
def padded(jax, n, k, m):
    f = lambda x: jax.lax.pad(jax.numpy.sin(x), 0.5, ((1, 0, 1), (0, -min(k, 1), 0), (0, 2, 0)))
    return f, (floats(jax, n, k, m),)


@program
def rearranged(jax, n, k, m):
    jnp = jax.numpy
    f = lambda x: (jnp.flip(x.transpose(2, 0, 1), 1) * 2, x.reshape(n * k, m).T, x[:, None] + 1)
    return f, (floats(jax, n, k, m),)


@program
def tiled(jax, n, k, m):
    jnp = jax.numpy
    f = lambda x: (jnp.tile(x, (2, 1, n)), jnp.repeat(x, 2, axis=1), jnp.roll(x, 1, 2))
    return f, (floats(jax, n, k, m),)


# ---- indices -----------------------------------------------------------------------------------


@program
def looked_up(jax, n, k, m):
    f = lambda x, i: (x[i], x.at[i].get(mode="fill", fill_value=2), x[:, :1])
    return f, (floats(jax, k + 1, m), whole(jax, k + 1, n))


@program
def scattered(jax, n, k, m):
    def f(x, i, u):
        return x.at[i].add(u), x.at[i].mul(u), x.at[i].max(u, mode="drop"), x.at[:1].set(2)

    return f, (floats(jax, k + 1, m), whole(jax, k + 1, n), floats(jax, n, m))


@program
def filled_from_nothing(jax, n, k, m):
    """All places are out of bounds where the array has no rows."""
    f = lambda x, i: x.at[i].get(mode="fill", fill_value=2)
    return f, (floats(jax, k, m), whole(jax, 3, n))


@program
def dropped(jax, n, k, m):
    f = lambda x, i, u: x.at[i].add(u, mode="drop")
    return f, (floats(jax, k, m), whole(jax, 3, n), floats(jax, n, m))


@program
def one_hot(jax, n, k, m):
    f = lambda i, w: jax.nn.one_hot(i, k) @ w
    return f, (whole(jax, max(k, 1), n), floats(jax, k, m))


@program
def segments(jax, n, k, m):
    f = lambda x, i: jax.ops.segment_sum(x, i, k)
    return f, (floats(jax, n, m), whole(jax, max(k, 1), n))


@program
def moving_slices(jax, n, k, m):
    lax = jax.lax

    def f(x, at):
        return (
            lax.dynamic_slice(x, (at, 0), (n, m)),
            lax.dynamic_update_slice(x, x[:n] * 2, (at, at)),
        )

    return f, (floats(jax, n + k, m), jax.numpy.int32(1))


@program
def in_order(jax, n, k, m):
    jnp = jax.numpy

    def f(x):
        return jnp.sort(x, 1), jnp.argsort(x, 0), jnp.sort(x, -1, descending=True)

    return f, (floats(jax, n, k, m),)


@program
def running(jax, n, k, m):
    lax = jax.lax

    def f(x):
        return (
            lax.cumsum(x, 0),
            lax.cumprod(x, 1, reverse=True),
            lax.cummax(x, 2),
            lax.cumlogsumexp(x, 1),
        )

    return f, (floats(jax, n, k, m),)


@program
def first_few(jax, n, k, m):
    f = lambda x: jax.lax.top_k(x, min(m, 2))
    return f, (floats(jax, n, k, m),)


@program(least=1)
def extremes(jax, n, k, m):
    jnp = jax.numpy
    f = lambda x: (x.max(1), x.min((0, 2)), jnp.argmax(x, 2), x.mean(0), jnp.median(x, 1))
    return f, (floats(jax, n, k, m),)


@program
def sets(jax, n, k, m):
    jnp = jax.numpy

    def f(x, y):
        some = jnp.searchsorted(jnp.sort(y), x)
        counts = jnp.bincount(y, length=m)
        return some, jnp.isin(x, y), counts, jnp.nonzero(x > 3, size=m, fill_value=7)[0]

    return f, (whole(jax, 9, n), whole(jax, 9, k))


# ---- windows, transforms, matrices -------------------------------------------------------------


@program
def convolution(jax, n, k, m):
    """Batch n, k channels in and m out."""
    f = lambda x, w: jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")
    return f, (floats(jax, n, k, 5, 5), floats(jax, m, k, 3, 3))


@program
def convolved_lines(jax, n, k, m):
    """Lines of n, with windows of two."""
    numbers = ("NHC", "HIO", "NHC")
    f = lambda x, w: jax.lax.conv_general_dilated(x, w, (1,), [(1, 1)], dimension_numbers=numbers)
    return f, (floats(jax, 2, n, k), floats(jax, 2, k, m))


@program
def pooled(jax, n, k, m):
    lax = jax.lax

    def f(x):
        window = (1, 2, 1), (1, 1, 1), "SAME"
        greatest = lax.reduce_window(x, -np.inf, lax.max, *window)
        return greatest, lax.reduce_window(x, 0.0, lax.add, *window)

    return f, (floats(jax, n, k, m),)


@program(least=1)
def fourier(jax, n, k, m):
    fft = jax.numpy.fft
    f = lambda x: (fft.irfft(fft.rfft(x, axis=1), k, axis=1), abs(fft.fft2(x)))
    return f, (floats(jax, n, k, m),)


@program
def stacked_fourier(jax, n, k, m):
    return lambda x: abs(jax.numpy.fft.fft(x)), (floats(jax, n, k, 4),)


@program
def matrices(jax, n, k, m):
    """Stacks of n matrices of k rows, with m right-hand sides."""
    jnp = jax.numpy

    def f(a, b):
        a = a * 0.1 + 3 * jnp.eye(k)
        definite = a @ a.mT + jnp.eye(k)
        la = jnp.linalg
        return la.solve(a, b), la.inv(a), la.cholesky(definite), la.eigvalsh(definite)

    return f, (floats(jax, n, k, k), floats(jax, n, k, m))


@program
def factors(jax, n, k, m):
    jnp = jax.numpy

    def f(a):
        q, r = jnp.linalg.qr(a)
        return q @ r, jnp.linalg.svd(a, compute_uv=False)

    return f, (floats(jax, n, k, m),)


@program
def determinants(jax, n, k, m):
    jnp = jax.numpy
    return lambda a: jnp.linalg.det(a * 0.1 + 3 * jnp.eye(k)), (floats(jax, n, k, k),)


# ---- the rest ----------------------------------------------------------------------------------


@program
def drawn(jax, n, k, m):
    key = jax.random.key(0)

    def f(x):
        draws = jax.random.normal(key, (n, k)), jax.random.randint(key, (m,), 0, 9)
        return *draws, jax.random.uniform(key, (k, m)) * x, jax.random.permutation(key, n)

    return f, (floats(jax, k, m),)


@program
def remembered(jax, n, k, m):
    jnp = jax.numpy
    f = lambda w, x: jax.checkpoint(lambda x: jnp.tanh(jnp.tanh(x @ w) @ w))(x)
    return f, (floats(jax, m, m), floats(jax, n, m))


@program
def remembered_turns(jax, n, k, m):
    jnp = jax.numpy

    def f(w, h):
        turn = jax.checkpoint(lambda h, _: (jnp.tanh(h @ w), h))
        return jax.lax.scan(turn, h, None, length=n)

    return f, (floats(jax, m, m), floats(jax, k, m))


@program
def rules(jax, n, k, m):
    jnp = jax.numpy
    f = jax.custom_jvp(lambda x: jnp.sin(x) * 2)
    f.defjvp(lambda primals, tangents: (f(*primals), jnp.cos(primals[0]) * 2 * tangents[0]))
    return lambda x: jax.lax.map(f, x), (floats(jax, n, k),)


@program
def rules_backwards(jax, n, k, m):
    jnp = jax.numpy
    f = jax.custom_vjp(lambda x, w: jnp.sin(x @ w))
    f.defvjp(
        lambda x, w: (jnp.sin(x @ w), (x, w)),
        lambda kept, ct: (ct @ kept[1].T, kept[0].T @ ct),
    )
    return f, (floats(jax, n, k), floats(jax, k, m))


@program
def solved(jax, n, k, m):
    def f(b):
        return jax.lax.custom_linear_solve(
            lambda v: v / 2, b, lambda matvec, b: 2 * b, symmetric=True
        )

    return f, (floats(jax, n, k),)


@program
def numbers_kept(jax, n, k, m):
    """Constants that a function closes over."""
    kept = floats(jax, k, m)
    return lambda x: jax.numpy.tanh(x @ kept) + kept.sum(0), (floats(jax, n, k),)
