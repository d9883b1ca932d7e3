"""tests/sizes/op_programs.py - programs of ops on arrays, of random numbers, of derivatives."""

import numpy as np
from program_table import floats, program, whole

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
