"""tests/ops/sample_programs.py - functions that need an op that carries a program, or effects."""

import numpy as np


def scan(shardax, x):
    return shardax.lax.scan(lambda c, v: (c + v * v, c * v), x[0], x)


def scan_reference(x):
    carry, out = x[0], []
    for v in x:
        out.append(carry * v)
        carry = carry + v * v
    return carry, np.stack(out)


def while_loop(shardax, x):
    return shardax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 0.5), (0, x))[1]


def cond(shardax, x):
    return shardax.lax.cond(x[0, 0] > 100, shardax.numpy.sin, shardax.numpy.cos, x)


def pmap(shardax, x):
    return shardax.pmap(lambda v: v * v)(x)


def agreeing(shardax, x):
    total = lambda v: shardax.lax.psum(v, "i")
    return shardax.lax.cond(x.sum() > -100, total, lambda v: v, x)


def shift(shardax, x):
    return shardax.lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 3)])


def shifted(x):
    return np.concatenate([np.zeros_like(x[:1]), x[:-1]])


def summed_terms(shardax, x):
    return shardax.lax.psum(shardax.lax.pcast(x, "i", to="unreduced"), "i")


def scattered_terms(shardax, x):
    term = shardax.lax.pcast(x, "i", to="unreduced")
    return shardax.lax.psum_scatter(term, "i", tiled=True)


def gathered_reduced(shardax, x):
    return shardax.lax.all_gather(x, "i", tiled=True, to="reduced")


def reduced_and_back(shardax, x):
    """Each device's row of what all of them share."""
    lax = shardax.lax
    rows = lax.all_gather(x, "i", to="invarying")
    own = lax.pcast(lax.pcast(rows, "i", to="reduced"), "i", to="varying")
    return lax.dynamic_index_in_dim(own, lax.axis_index("i"), 0)


def custom_jvp(shardax, x):
    f = shardax.custom_jvp(lambda v: v * v)
    f.defjvp(lambda primals, tangents: (f(*primals), 2 * primals[0] * tangents[0]))
    return f(x)


def custom_vjp(shardax, x):
    f = shardax.custom_vjp(lambda v: v * v)
    f.defvjp(lambda v: (f(v), v), lambda v, g: (2 * v * g,))
    return shardax.vmap(f)(x)


def custom_vmap(shardax, x):
    f = shardax.custom_batching.custom_vmap(lambda v: v * v)
    f.def_vmap(lambda size, in_batched, v: (v * v, in_batched[0]))
    return f(x)


def composite(shardax, x):
    return shardax.lax.composite(lambda v: shardax.numpy.sin(v) * 2, "two.sines")(x)


def linear_call(shardax, x):
    call = shardax.custom_derivatives.linear_call
    return call(lambda r, v: r * v, lambda r, ct: r * ct, np.array(2, x.dtype), x)


def linear_solve(shardax, x):
    return shardax.lax.custom_linear_solve(
        lambda v: v / 2, x, lambda matvec, b: 2 * b, symmetric=True
    )


def checkpoint(shardax, x):
    barrier = lambda v: shardax.lax.optimization_barrier(v)
    return shardax.checkpoint(lambda v: barrier(shardax.numpy.sin(v)) ** 2)(x)


def callback(shardax, x):
    return shardax.pure_callback(lambda v: v + v, x, x, vmap_method="sequential")


def effects(shardax, x):
    shardax.debug.callback(lambda v: None, x)
    return shardax.experimental.io_callback(lambda v: v + v, x, x)


def constrained(sx, x):
    automatic = (sx.sharding.AxisType.Auto,)
    where = sx.NamedSharding(sx.make_mesh((1,), ("a",), axis_types=automatic), sx.P("a"))
    return sx.jit(lambda v: sx.lax.with_sharding_constraint(v, where) * 2)(x)


def terms_of_a_sum(sx, x):
    """One device's term of the sum of one row: cotangents of several are added up, as in JAX."""
    kinds, spec = sx.sharding.AxisType, sx.sharding.PartitionSpec
    mesh = sx.make_mesh((1,), ("i",), (kinds.Explicit,))
    left = spec(None, unreduced={"i"})
    rows = sx.sharding.reshard(x, sx.NamedSharding(mesh, spec("i", None)))
    with sx.sharding.use_mesh(mesh):
        total = sx.lax.reduce_sum(rows, (0,), out_sharding=left)
        f = sx.shard_map(lambda t: t[None], in_specs=left, out_specs=spec("i"), check_vma=False)
        return f(total)


def moved(sx, x):
    there, here = sx.memory.Space.Host, sx.memory.Space.Device
    return sx.jit(lambda v: sx.device_put(sx.device_put(v, there) * 2, here))(x)


def remat_opt(sx, x):
    square = sx.custom_vjp(lambda v: v * v)
    square.defvjp(lambda v: (v * v, v), lambda v, g: (2 * v * g,), optimize_remat=True)
    return sx.jit(lambda v: sx.vjp(square, v)[0])(x)


def laid_out(sx, x):
    from shardax.experimental.layout import Layout, with_layout_constraint

    columns = Layout(tuple(reversed(range(x.ndim))))
    return sx.jit(lambda v: with_layout_constraint(v, columns) * 2)(x)


def resharded(sx, x):
    where = sx.NamedSharding(sx.make_mesh((1,), ("a",)), sx.P("a"))
    return sx.jit(lambda v: sx.sharding.reshard(v, where) * 2)(x)


def checked(shardax, x):
    checkify = shardax.experimental.checkify

    def double(x):
        checkify.check((x < 4).all(), "{}", x)
        return x + x

    return checkify.checkify(double)(x)[1]
