"""tests/parity/cases_shard_map.py - shard_map: calling forms, specs, collectives, derivatives in both
check modes, control flow, nesting, errors.

`s(f, in_specs, out_specs)` is shard_map over a mesh of 4 x 2 devices with check_vma; `u` is without.
"""

import corpus as parity


def setup(names):
    jax, jnp, np = names["jax"], names["jnp"], names["np"]
    P = jax.sharding.PartitionSpec
    kind = jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(kind, kind))
    cube = jax.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=(kind,) * 3)
    turned = jax.sharding.Mesh(np.array(jax.devices()[::-1]).reshape(4, 2), ("x", "y"))
    names.update(P=P, mesh=mesh, cube=cube, turned=turned, Mesh=jax.sharding.Mesh)

    def s(f, in_specs, out_specs, mesh=mesh, **options):
        return jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)

    names["s"] = s
    names["u"] = lambda *args, **options: s(*args, **options, check_vma=False)
    names["both"] = lambda f, i, o, *args: [
        jax.tree.map(np.asarray, g(*args)) for m in (True, False)
        for g in [s(f, i, o, check_vma=m)] for g in (g, jax.jit(g))
    ]  # fmt: skip
    names["f8"] = jnp.arange(8, dtype=jnp.float32)
    names["i8"] = jnp.arange(8, dtype=jnp.int32)
    names["m84"] = (jnp.arange(32, dtype=jnp.float32) ** 1.5 / 10).reshape(8, 4)
    names["m46"] = jnp.sin(jnp.arange(24, dtype=jnp.float32)).reshape(4, 6)
    names["ring"] = [(k, (k + 1) % 4) for k in range(4)]

    def grads(f, i, o, *args):
        """Gradients of a sum of squares outside, in both check modes; the second order too."""
        found = []
        for check in (True, False):
            g = s(f, i, o, check_vma=check)
            loss = lambda *a, g=g: (g(*a) ** 2).sum()  # noqa: E731
            for h in (loss, jax.jit(loss)):
                found.append(jax.grad(h, tuple(range(len(args))))(*args))
            found.append(jax.jvp(g, args, args))
            found.append(jax.linearize(g, *args)[1](*args))
            found.append(
                jax.grad(lambda a, loss=loss: (jax.grad(loss)(a, *args[1:]) ** 2).sum())(args[0])
            )
        return found

    names["grads"] = grads


corpus = parity.Corpus(setup, rtol=1e-4, atol=1e-4)

corpus.expressions("""
both(lambda x: x, P('x'), P('x'), f8)
both(lambda x: x, P(('x', 'y')), P(('x', 'y')), f8)
both(lambda x: x, P(('y', 'x')), P(('x', 'y')), f8)
both(lambda x: x, P('x', 'y'), P('x', 'y'), m84)
both(lambda x: x, P('x', 'y'), P('y', 'x'), m84)
both(lambda x: x, P(None, 'y'), P(None, 'y'), m84)
both(lambda x: x.T, P('x', 'y'), P('y', 'x'), m84)
both(lambda x: x.sum(keepdims=True), P('x', 'y'), P('x', 'y'), m84)
both(lambda x: x, P(), P('x'), f8)
both(lambda x: x, P(), P(), f8)
both(lambda x: x[None], P('x'), P(None, 'x'), f8)
both(lambda x, y: (x + y, [y, {'k': x}]), (P('x'), P()), (P('x'), [P(), P('x')]), f8, f8[:2])
both(lambda a: a['p'] + a['q'][0], ({'p': P('x'), 'q': P()},), P('x'), {'p': f8, 'q': [f8[:2]]})
both(lambda x: 3.0, P('x'), P(), f8)
both(lambda x: (x, 1, np.float32(2)), P('x'), (P('x'), P(), P()), f8)
both(lambda x: x * 2, P('x'), P('x'), np.arange(8))
both(lambda x, y: x * y, (P('x'), P()), P('x'), f8, 3.0)
both(lambda: lax.axis_index('x')[None], (), P('x'))
both(lambda: lax.axis_index(('x', 'y'))[None], (), P(('x', 'y')))
both(lambda: lax.axis_index(('y', 'x'))[None], (), P(('x', 'y')))
both(lambda x: (lax.axis_size('x'), lax.psum(1, ('x', 'y')), lax.psum(1, ())), P('x'), P(), f8)
s(lambda x: x, P(('x', 'y')), P(('x', 'y')), mesh=turned)(f8)
s(lambda: lax.axis_index(('x', 'y'))[None], (), P(('x', 'y')), mesh=turned)()
s(lambda x: lax.psum(x, ('a', 'c')), P('a', 'b', 'c'), P(None, 'b'), mesh=cube)(f8.reshape(2, 2, 2))
s(lambda x: lax.psum(x, 'b'), P(('c', 'a'), 'b'), P(('a', 'c')), mesh=cube)(m84)
jax.shard_map(mesh=mesh, in_specs=P('x'), out_specs=P('x'))(lambda x: x + 1)(f8)
jax.shard_map(lambda x: lax.psum(x, 'x'), mesh=mesh, in_specs=(P('x'),), out_specs=P(), axis_names={'x'})(f8)
str(s(lambda x: x, P('x'), P('x'))(f8).sharding)
str(s(lambda x: x, P('x', 'y'), P('y', 'x'))(m84).sharding)
str(s(lambda x: lax.psum(x, 'x'), P('x'), P())(f8).sharding)
[str(a.data) for a in s(lambda x: x, P('x'), P('x'))(f8).addressable_shards]
""")

# ---- collectives
corpus.expressions("""
both(lambda x: lax.psum(x, 'x'), P('x'), P(), f8)
both(lambda x: lax.psum(x, ('x', 'y')), P('x', 'y'), P(), m84)
both(lambda x: lax.psum(x, 'y'), P('x'), P('x'), f8)
both(lambda x: lax.psum(x, 'x'), P(), P(), f8)
both(lambda x: lax.psum(x > 2, 'x'), P('x'), P(), f8)
both(lambda x: lax.pmean(x, 'x'), P('x'), P(), f8)
both(lambda x: lax.pmean(x, ('x', 'y')), P('x', 'y'), P(), m84)
both(lambda x: lax.pmax(x, 'x'), P('x'), P(), f8)
both(lambda x: lax.pmin(x, ('x', 'y')), P('x', 'y'), P(), m84)
both(lambda x: lax.all_gather(x, 'x'), P('x'), P('x'), f8)
both(lambda x: lax.all_gather(x, 'x', tiled=True), P('x'), P('x'), f8)
both(lambda x: lax.all_gather(x, ('x', 'y'), axis=1, tiled=True), P('x', 'y'), P('x', 'y'), m84)
both(lambda x: lax.all_gather(x, 'x', tiled=True, to='invarying'), P('x'), P(), f8)
both(lambda x: lax.psum_scatter(x, 'x', tiled=True), P(), P('x'), f8)
both(lambda x: lax.psum_scatter(x, 'x', scatter_dimension=1, tiled=True), P('x'), P(None, 'x'), m84)
both(lambda x: lax.ppermute(x, 'x', ring), P('x'), P('x'), f8)
both(lambda x: lax.ppermute(x, 'x', [(0, 1)]), P('x'), P('x'), f8)
both(lambda x: lax.ppermute(x, ('x', 'y'), [(k, 7 - k) for k in range(8)]), P(('x', 'y')), P(('x', 'y')), f8)
both(lambda x: lax.all_to_all(x, 'x', 1, 0, tiled=True), P('x'), P('x'), m84)
both(lambda x: lax.all_to_all(x, 'x', 1, 0, tiled=True), P('x', None), P(None, 'x'), m84)
both(lambda x: lax.psum(x, 'x') + lax.psum(x, 'y'), P('x', 'y'), P('x', 'y'), m84)
both(lambda x: lax.psum(lax.psum(x, 'x'), 'y'), P('x', 'y'), P(), m84)
u(lambda x: lax.psum(x, 'x', axis_index_groups=[[0, 1], [2, 3]]), P('x'), P('x'))(f8)
u(lambda x: lax.all_gather(x, 'x', axis_index_groups=[[0, 2], [1, 3]]), P('x'), P('x'))(f8)
u(lambda x: x, P('x'), P())(f8)
u(lambda x: x, P('x', 'y'), P('x'))(m84)
u(lambda x: lax.all_gather(x, 'x', tiled=True), P('x'), P())(f8)
""")

# ---- types
corpus.expressions("""
s(lambda x: x * len(jax.typeof(x).mat.varying), P('x', 'y'), P('x', 'y'))(m84)
s(lambda x: x * len(jax.typeof(lax.psum(x, 'x')).mat.varying), P('x', 'y'), P('x', 'y'))(m84)
s(lambda x: x * len(jax.typeof(x + lax.axis_index('y')).mat.varying), P('x'), P('x', 'y'))(m84)
s(lambda x: lax.pcast(x, 'x', to='varying'), P(), P('x'))(f8)
s(lambda x: lax.pcast(x, ('x', 'y'), to='varying'), P(), P(('x', 'y')))(f8)
str(jax.make_jaxpr(s(lambda x: lax.psum(x * 2, 'x'), P('x'), P()))(f8))
str(jax.make_jaxpr(u(lambda x: lax.psum(x * 2, 'x'), P('x'), P()))(f8))
str(jax.make_jaxpr(s(lambda x, y: x * y, (P('x'), P()), P('x')))(f8, f8[:2]))
""")

# ---- derivatives
corpus.expressions("""
grads(lambda x: x * 2, P('x'), P('x'), f8)
grads(lambda x: jnp.sin(x), P(('x', 'y')), P(('x', 'y')), f8)
grads(lambda x: lax.psum(x, 'x'), P('x'), P(), f8)
grads(lambda x: lax.psum(x * x, ('x', 'y')), P('x', 'y'), P(), m84)
grads(lambda x: lax.psum(x * x, 'y'), P('x', 'y'), P('x'), m84)
grads(lambda x: lax.pmean(jnp.sin(x), 'x'), P('x'), P(), f8)
grads(lambda x, w: lax.psum(x @ w, 'y'), (P('x', 'y'), P('y')), P('x'), m84, m46)
grads(lambda x, w: jnp.tanh(x @ w), (P('x'), P()), P('x'), m84, m46)
grads(lambda x, w: lax.pmean(jnp.tanh(x @ w), 'x'), (P('x'), P()), P(), m84, m46)
grads(lambda x, w: jnp.tanh(x @ lax.all_gather(w, 'x', tiled=True)), (P(), P('x')), P('x'), m84[:4], m46)
grads(lambda x: lax.ppermute(jnp.sin(x), 'x', ring) * x, P('x'), P('x'), f8)
grads(lambda x: lax.psum_scatter(x * x, 'x', tiled=True), P(), P('x'), f8)
grads(lambda x: lax.all_to_all(x * x, 'x', 1, 0, tiled=True), P('x'), P('x'), m84)
grads(lambda x: lax.all_gather(x * x, 'x', tiled=True, to='invarying'), P('x'), P(), f8)
grads(lambda x: x * lax.axis_index('x'), P(), P('x'), f8[:2])
grads(lambda x: x * x.sum(), P(), P(), f8)
grads(lambda x, y: x * y, (P('x'), P()), P('x'), f8, f8[:2])
grads(lambda x: jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)))(x), P('x'), P('x'), f8)
grads(lambda x: lax.scan(lambda c, v: (c + v, c * v), lax.pcast(0.0, 'x', to='varying') if jax.typeof(x).mat.varying else 0.0, x)[1], P('x'), P('x'), f8)
grads(lambda x: lax.cond(lax.axis_index('x') < 2, jnp.sin, jnp.cos, x), P('x'), P('x'), f8)
s(lambda x: jax.grad(lambda v: lax.psum((v ** 2).sum(), 'x'))(x), P('x'), P('x'))(f8)
u(lambda x: jax.grad(lambda v: lax.psum((v ** 2).sum(), 'x'))(x), P('x'), P('x'))(f8)
s(lambda x, w: jax.grad(lambda v: (v * x).sum())(w), (P('x'), P()), P())(f8, f8[:2])
u(lambda x, w: jax.grad(lambda v: (v * x).sum())(w), (P('x'), P()), P('x'))(f8, f8[:2])
s(lambda x, w: jax.grad(lambda v: lax.pmean((v * x).sum(), 'x'))(w), (P('x'), P()), P())(f8, f8[:2])
u(lambda x, w: jax.grad(lambda v: lax.pmean((v * x).sum(), 'x'))(w), (P('x'), P()), P())(f8, f8[:2])
s(lambda x, w: lax.pmean(jax.grad(lambda v: (v * x).sum())(w), 'x'), (P('x'), P()), P())(f8, f8[:2])
u(lambda x, w: lax.pmean(jax.grad(lambda v: (v * x).sum())(w), 'x'), (P('x'), P()), P())(f8, f8[:2])
jax.grad(lambda w: s(lambda x: x * w, P('x'), P('x'))(f8).sum())(2.0)
jax.grad(lambda w: u(lambda x: x * w, P('x'), P('x'))(f8).sum())(2.0)
jax.hessian(lambda x: s(lambda v: lax.psum((v ** 3).sum(), 'x'), P('x'), P())(x))(f8)
jax.jacrev(s(lambda v: jnp.sin(v), P('x'), P('x')))(f8)
jax.jacfwd(s(lambda v: jnp.sin(v), P('x'), P('x')))(f8)
""")

# ---- within other transformations, and others within
corpus.expressions("""
jax.vmap(s(lambda x: lax.psum(x, 'x'), P('x'), P()))(m84.T)
jax.vmap(s(lambda x, y: x * y, (P('x'), P()), P('x')), in_axes=(0, None))(m84.T, f8[:2])
jax.vmap(s(lambda x: x * 2, P('x'), P('x')), in_axes=1, out_axes=1)(m84)
jax.vmap(s(lambda x: lax.psum(x, 'x'), P('x'), P()), spmd_axis_name='y')(m84.T)
jax.vmap(jax.grad(lambda v: s(lambda x: jnp.sin(x), P('x'), P('x'))(v).sum()))(m84.T)
s(jax.vmap(lambda x: lax.psum(x, 'x')), P(None, 'x'), P())(m84.T)
lax.scan(lambda c, x: (s(lambda a, b: a + b, (P('x'), P('x')), P('x'))(c, x), c.sum()), f8, m84.T)
lax.while_loop(lambda c: c.sum() < 100, s(lambda x: x * 2, P('x'), P('x')), f8)
lax.cond(True, s(lambda x: x * 2, P('x'), P('x')), lambda x: x, f8)
lax.map(s(lambda x: lax.psum(x, 'x'), P('x'), P()), m84.T)
s(lambda x: lax.fori_loop(0, 3, lambda i, v: lax.ppermute(v, 'x', ring) + i, x), P('x'), P('x'))(f8)
s(lambda x: lax.while_loop(lambda v: lax.psum(v.sum(), 'x') < 200, lambda v: v * 2, x), P('x'), P('x'))(f8)
s(lambda x: lax.while_loop(lambda v: v.sum() < 20, lambda v: v * 2 + 1, x), P('x'), P('x'))(f8)
s(lambda x: lax.cond(x.sum() > 5, lambda v: v * 2, lambda v: -v, x), P('x'), P('x'))(f8)
s(lambda x: lax.switch(lax.axis_index('x'), [jnp.sin, jnp.cos, jnp.exp, jnp.tanh], x), P('x'), P('x'))(f8)
s(lambda x: jax.jit(lambda v: lax.psum(v, 'x') + v)(x), P('x'), P('x'))(f8)
s(lambda x: jnp.sort(x)[::-1], P('x'), P('x'))(f8)
s(lambda x: jax.random.uniform(jax.random.fold_in(jax.random.key(0), lax.axis_index('x')), (2,)), P('x'), P('x'))(f8)
s(lambda x: jax.random.normal(jax.random.key(0), (2,)) + x, P('x'), P('x'))(f8)
s(lambda x: jax.pure_callback(lambda v: v * 2, jax.ShapeDtypeStruct((2,), jnp.float32), x), P('x'), P('x'), check_vma=False)(f8)
s(lambda x: jax.shard_map(lambda v: lax.psum(v, 'y'), in_specs=P('y'), out_specs=P(), axis_names={'y'})(x), P('x'), P('x'), axis_names={'x'})(f8)
jax.jit(s(lambda x: x if x.shape == (2,) else 1 / 0, P('x'), P('x')))(f8)
s(lambda x: x if x.sum() >= 0 else -x, P(), P())(f8)
s(lambda x: -x if lax.psum(x, 'x')[0] > 0 else x, P('x'), P('x'))(f8)
""")

# ---- errors
corpus.expressions("""
s(lambda x: x, P('x'), P())(f8) !! out_specs which require replication which can't be statically inferred
s(lambda x: x, P('x', 'y'), P('x'))(m84) !! replicated across mesh axis 'y'
s(lambda x: lax.all_gather(x, 'x', tiled=True), P('x'), P())(f8) !! require replication
s(lambda x: x, P('x', 'y'), P('x'))(f8) !! in_specs is P\\('x', 'y'\\) which has length 2
s(lambda x: x.sum(), P('x'), P('x'))(f8) !! which has rank 0 \\(and 0 < 1\\)
s(lambda x: x, P('x'), P('x'))(f8[:6]) !! 4 does not evenly divide 6
s(lambda x: x, P(('x', 'y')), P('x'))(f8[:6]) !! of total size 8
s(lambda x: x, P('z'), P('x'))(f8) !! in_specs refers to 'z'
s(lambda x: x, P('x'), P('z'))(f8) !! out_specs refers to 'z'
s(lambda x: x, P('x'), 3)(f8) !! out_specs is 3 of type int
s(lambda x: x, (P('x'), P('x')), P('x'))(f8) !! shard_map in_specs
s(lambda x: [x, x], P('x'), [P('x')])(f8) !! shard_map out_specs
jax.shard_map(lambda x: x, in_specs=P('x'), out_specs=P('x'))(f8) !! The context mesh cannot be empty
jax.shard_map(lambda x: x, mesh=3, in_specs=P('x'), out_specs=P('x'))(f8) !! requires a `jax.sharding.Mesh`
jax.shard_map(3, mesh=mesh, in_specs=P('x'), out_specs=P('x')) !! requires a callable for its first argument
jax.shard_map(lambda x: x, mesh=mesh, in_specs=P('x'), out_specs=P('x'), axis_names={'q'})(f8) !! to be a subset of
jax.shard_map(lambda x: x, mesh=mesh, in_specs=P('x'), out_specs=P('x'), axis_names=['x'])(f8) !! should be of type
s(lambda x: x, P('x'), P('x'), axis_names={'y'})(f8) !! must refer to an axis marked as manual
s(lambda x: lax.pcast(x, 'x', to='varying'), P('x'), P('x'))(f8) !! Unsupported pcast from=varying
s(lambda x: lax.pcast(x, 'x', to='other'), P(), P('x'))(f8) !! unexpected `to` value
s(lambda x, y: lax.scan(lambda c, _: (c[::-1], ()), (x, y), (), 2)[0], (P('x'), P()), P('x'))(f8, f8[:2]) !! jax.lax.pcast
s(lambda x, y: lax.while_loop(lambda c: c.sum() < 3, lambda c: c + x, y), (P('x'), P()), P('x'))(f8, f8[:2]) !! the manual axis types do not match
s(lambda x, y: lax.cond(True, lambda: x, lambda: y), (P('x'), P()), P('x'))(f8, f8[:2]) !! the manual axis types do not match
jax.smap(lambda x: x, in_axes=0, out_axes='x', axis_name='x') !! smap out_axes must be an int
jax.smap(lambda x: x, in_axes='x', out_axes=0, axis_name='x') !! smap in_axes must be an int
jax.smap(lambda x: x, in_axes=0, out_axes=0, axis_name=('x',)) !! smap axis_name should be a
""")


@corpus.case()
def case_context_mesh(jax, jnp, lax):
    P, kind = jax.sharding.PartitionSpec, jax.sharding.AxisType.Auto
    x = jnp.arange(8.0)
    with jax.set_mesh(jax.make_mesh((4, 2), ("x", "y"), axis_types=(kind, kind))):
        return (
            jax.shard_map(lambda v: lax.psum(v, "x"), in_specs=P("x"), out_specs=P())(x),
            jax.smap(lambda v: lax.psum(v, "x"), in_axes=0, out_axes=None, axis_name="x")(x),
            jax.jit(jax.smap(lambda v: v * 2, in_axes=0, out_axes=0, axis_name="y"))(x),
            jax.smap(lambda v, w: v + w, in_axes=(0, None), out_axes=0, axis_name="x")(x, x[:2]),
        )


@corpus.case(error="should match the mesh passed to")
def case_another_context_mesh(jax, jnp, lax):
    P, kind = jax.sharding.PartitionSpec, jax.sharding.AxisType.Auto
    one = jax.make_mesh((4, 2), ("x", "y"), axis_types=(kind, kind))
    other = jax.make_mesh((2, 2), ("x", "y"), axis_types=(kind, kind))
    with jax.set_mesh(one):
        f = jax.shard_map(lambda v: v, mesh=other, in_specs=P("x"), out_specs=P("x"))
        return f(jnp.arange(8.0))


@corpus.case(error="Custom VJP bwd rule must produce an output with the same type")
def case_custom_vjp_that_forgets_a_sum(jax, jnp, lax):
    P, kind = jax.sharding.PartitionSpec, jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((4,), ("x",), axis_types=(kind,))
    f = jax.custom_vjp(lambda x: x * 2)
    f.defvjp(lambda x: (x * 2, None), lambda _, g: (g + lax.axis_index("x"),))
    g = jax.shard_map(lambda x: f(x), mesh=mesh, in_specs=P(), out_specs=P())
    return jax.grad(lambda x: g(x).sum())(jnp.arange(4.0))


@corpus.case()
def case_custom_rules(jax, jnp, lax):
    P, kind = jax.sharding.PartitionSpec, jax.sharding.AxisType.Auto
    mesh = jax.make_mesh((4,), ("x",), axis_types=(kind,))
    f = jax.custom_vjp(lambda x, y: jnp.sin(x) * y)
    f.defvjp(
        lambda x, y: (f(x, y), (x, y)),
        lambda r, g: (3 * g * r[1], lax.psum((g * r[0]).sum(), "x")),
    )
    h = jax.custom_jvp(lambda x: x**2)
    h.defjvp(lambda p, t: (p[0] ** 2, 5 * t[0]))
    out = []
    for check in (True, False):
        g = jax.shard_map(
            lambda x: h(x).sum(keepdims=True),
            mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=check,
        )  # fmt: skip
        out.append(jax.grad(lambda x, g=g: g(x).sum())(jnp.arange(8.0)))
    g = jax.shard_map(f, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"))
    out.append(jax.grad(lambda x, y: g(x, y).sum(), (0, 1))(jnp.arange(8.0), 2.0))
    return out
