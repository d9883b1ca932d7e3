"""tests/sizes/loop_programs.py - programs of products, of loops and of maps over devices."""

import numpy as np
from program_table import floats, program, whole

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
