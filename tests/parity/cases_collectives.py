"""tests/parity/cases_collectives.py - psum, pmean, pmax, pmin, all_gather, ppermute, axis_index and their relatives.

Every value is taken under `pmap` and under `vmap(axis_name)`, which agree; then derivatives, trees, groups and errors.
"""

import corpus as parity


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    names["f24"] = jnp.arange(8, dtype=jnp.float32).reshape(2, 4)
    names["m44"] = (jnp.arange(16, dtype=jnp.float32) ** 2).reshape(4, 4)
    names["pm"] = lambda f: jax.pmap(f, "i")
    names["vm"] = lambda f: jax.vmap(f, axis_name="i")
    names["both"] = lambda f, *a: (jax.pmap(f, "i")(*a), jax.vmap(f, axis_name="i")(*a))
    names["ring"] = [(k, (k + 1) % 4) for k in range(4)]

    def gradients(f, x):
        """The gradient inside and outside of both maps, and the tangent."""
        loss = lambda v: (f(v) * (v + 1)).sum()  # noqa: E731
        found = {}
        for name, wrap in (
            ("pmap", lambda g: jax.pmap(g, "i")),
            ("vmap", lambda g: jax.vmap(g, axis_name="i")),
        ):
            found[f"{name} of grad"] = wrap(jax.grad(loss))(x)
            found[f"grad of {name}"] = jax.grad(lambda v, wrap=wrap: (wrap(f)(v) ** 2).sum())(x)
            found[f"jvp in {name}"] = wrap(lambda v: jax.jvp(f, (v,), (v * 0 + 1,)))(x)
            found[f"jvp of {name}"] = jax.jvp(wrap(f), (x,), (x + 1,))
            found[f"vjp in {name}"] = wrap(lambda v: jax.vjp(f, v)[1](f(v))[0])(x)
        return found

    names["gradients"] = gradients


corpus = parity.Corpus(setup, rtol=1e-5, atol=1e-6)

REDUCTIONS = ("psum", "pmean", "pmax", "pmin")
corpus.expressions(
    "\n".join(f"each(lambda x: both(lambda v: lax.{op}(v, 'i'), x))\n" for op in REDUCTIONS[:2])
    + "\n".join(
        f"each(lambda x: both(lambda v: lax.{op}(v, 'i'), x), DTYPES[:-1])\n"
        for op in REDUCTIONS[2:]
    )
    + "\n".join(
        f"""
both(lambda v: lax.{op}(v, 'i'), m44)
both(lambda v: lax.{op}({{'a': v, 'b': [v + 1, None], 'c': (v > 1,)}}, 'i'), f4)
both(lambda v: lax.{op}(v, ()), f4)
both(lambda v: lax.{op}(v, ('i',)), f4)
both(lambda v: lax.{op}(v, axis_name='i'), f4)
both(lambda v: v * 0 + lax.{op}(jnp.float32(2), 'i'), f4)
both(lambda v: lax.{op}(lax.{op}(v, 'i'), 'i'), f4)
both(lambda v: v - lax.{op}(v, 'i'), f4)
jax.pmap(lambda x: jax.vmap(lambda v: lax.{op}(v, ('i', 'j')), axis_name='j')(x), 'i')(f24)
jax.vmap(pm(lambda v: lax.{op}(v, 'i')))(f24)
"""
        for op in REDUCTIONS
    )
)

corpus.expressions("""
both(lambda v: lax.psum(1, 'i') * v, f4)
both(lambda v: (lambda n: [type(n).__name__ == 'int', n][1] * v)(lax.psum(1, 'i')), i4)
both(lambda v: jnp.zeros(lax.psum(1, 'i')) + v, f4)
both(lambda v: lax.psum(2, 'i'), f4)
both(lambda v: lax.psum(2.5, 'i'), f4)
both(lambda v: lax.psum(True, 'i'), f4)
both(lambda v: lax.pmean(3, 'i'), f4)
both(lambda v: lax.pmean(2.5, 'i'), f4)
both(lambda v: lax.pmax(3, 'i'), f4)
both(lambda v: lax.pmin(2.5, 'i'), f4)
both(lambda v: lax.psum(jnp.asarray(2.5), 'i'), f4)
both(lambda v: lax.psum(np.arange(2), 'i'), f4)
both(lambda v: lax.psum((v, 1, 2.0), 'i'), f4)
both(lambda v: lax.axis_index('i'), f4)
both(lambda v: v + lax.axis_index('i'), f4)
both(lambda v: lax.axis_size('i') * v, f4)
both(lambda v: lax.axis_index(('i',)), f4)
vm(lambda v: lax.axis_index(['i']))(f4)
vm(lambda v: lax.axis_size(('i',)) * v)(f4)
pm(lambda v: lax.psum(v, 0))(m44)
both(lambda v: lax.psum(v, (0, 'i')), m44)
both(lambda v: lax.pmax(v > 1, 'i'), f4)
both(lambda v: v * lax.psum(1j, 'i'), f4)
both(lambda v: v * lax.psum(np.float32(2), 'i'), f4)
pm(lambda v: lax.all_gather([1, v], 'i'))(f4)
pm(lambda v: lax.pshuffle(v, 'i', [1, 0]))(f4 + 1)
pm(lambda v: lax.pcast(v, 'i', to='varying'))(f4)
pm(lambda v: lax.pcast(v, 'i', to='reduced'))(f4)
jax.vmap(lambda v: lax.psum(v, frozenset([1])), axis_name=frozenset([1]))(f4)
both(lambda v: jnp.arange(10)[lax.axis_index('i')], f4)
both(lambda v: lax.all_gather(v, 'i'), f4)
both(lambda v: lax.all_gather(v, 'i'), i23)
both(lambda v: lax.all_gather(v, 'i', axis=1), m44[:2])
both(lambda v: lax.all_gather(v, 'i', axis=-1), m44[:2])
both(lambda v: lax.all_gather(v, 'i', tiled=True), m44[:2])
both(lambda v: lax.all_gather(v, 'i', axis=1, tiled=True), t234)
both(lambda v: lax.all_gather({'a': v, 'b': v > 1}, 'i'), f4)
both(lambda v: lax.all_gather(v, 'i'), b4)
both(lambda v: lax.all_gather(v, 'i'), h4)
both(lambda v: lax.all_gather(v, 'i').sum() - v, f4)
both(lambda v: lax.all_gather(v, 'i')[lax.axis_index('i')], f4)
both(lambda v: lax.ppermute(v, 'i', ring), f4)
both(lambda v: lax.ppermute(v, 'i', ring), m44)
pm(lambda v: lax.ppermute(v, 'i', [(0, 1)]))(f4 + 5)
pm(lambda v: lax.ppermute(v, 'i', [(3, 0), (0, 3)]))(i4 + 5)
pm(lambda v: lax.ppermute(v, 'i', []))(f4 + 5)
both(lambda v: lax.ppermute({'a': v, 'b': (v > 0,)}, 'i', ring), f4)
both(lambda v: lax.ppermute(v, 'i', list(zip(range(4), [1, 0, 3, 2]))), f4)
both(lambda v: lax.ppermute(lax.ppermute(v, 'i', ring), 'i', ring), h4)
both(lambda v: lax.ppermute(v, 'i', ring), b4)
both(lambda v: lax.pshuffle(v, 'i', [3, 0, 1, 2]), f4)
both(lambda v: lax.pswapaxes(v, 'i', 0), m44)
both(lambda v: lax.psum_scatter(v, 'i'), m44)
both(lambda v: lax.psum_scatter(v, 'i', tiled=True), m44)
both(lambda v: lax.psum_scatter(v, 'i', scatter_dimension=1, tiled=True), t234[:, :, :2])
both(lambda v: lax.all_to_all(v, 'i', 0, 0), m44)
both(lambda v: lax.all_to_all(v, 'i', 0, 0, tiled=True), m44)
both(lambda v: lax.all_to_all(v, 'i', 1, 0), t234[:, :, :2])
both(lambda v: lax.pmean(v, 'i') + lax.psum(v ** 2, 'i') / lax.pmax(v, 'i'), f4 + 1)
both(lambda v: (v - lax.pmean(v, 'i')) / jnp.sqrt(lax.pmean((v - lax.pmean(v, 'i')) ** 2, 'i') + 1e-5), x4)
both(lambda v: jax.nn.softmax(lax.all_gather(v, 'i')), x4)
both(lambda v: jnp.exp(v - lax.pmax(v, 'i')) / lax.psum(jnp.exp(v - lax.pmax(v, 'i')), 'i'), x4)
pm(lambda v: lax.psum(v, 'i', axis_index_groups=[[0, 1], [2, 3]]))(f4)
pm(lambda v: lax.psum(v, 'i', axis_index_groups=[[0], [1, 2, 3]]))(f4)
pm(lambda v: lax.pmean(v, 'i', axis_index_groups=[[0, 2], [1, 3]]))(f4)
pm(lambda v: lax.pmax(v, 'i', axis_index_groups=[[0, 2], [1, 3]]))(f4)
pm(lambda v: lax.all_gather(v, 'i', axis_index_groups=[[0, 1], [2, 3]]))(f4)
pm(lambda v: lax.psum(1, 'i', axis_index_groups=[[0, 1], [2, 3]]) * v)(f4)
pm(lambda v: lax.pmax(v, 'i', axis_index_groups=[[0], [1, 2, 3]]))(f4)
pm(lambda v: lax.pmin(v, 'i', axis_index_groups=[[0, 3], [1, 2]]))(i4)
pm(lambda v: lax.pmean(v, 'i', axis_index_groups=[[0, 1], [2, 3]]))(i4)
pm(lambda v: lax.psum({'a': v, 'b': v > 1}, 'i', axis_index_groups=((3, 0), (2, 1))))(f4)
pm(lambda v: lax.psum(v, 'i', axis_index_groups=[[0, 1, 2, 3]]))(m44)
pm(lambda v: lax.psum(v, 'i', axis_index_groups=[[3], [2], [1], [0]]))(m44)
pm(lambda v: lax.all_gather(v, 'i', axis_index_groups=[[0, 2], [3, 1]], tiled=True))(m44[:, :2])
pm(lambda v: lax.all_gather(v, 'i', axis_index_groups=[[0, 2], [3, 1]], axis=1))(m44[:, :2])
pm(lambda v: lax.psum_scatter(v, 'i', axis_index_groups=[[0, 2], [1, 3]]))(m44[:, :2])
pm(lambda v: lax.psum_scatter(v, 'i', axis_index_groups=[[0, 3], [2, 1]], tiled=True))(m44)
pm(lambda v: lax.all_to_all(v, 'i', 0, 0, axis_index_groups=[[0, 1], [2, 3]]))(m44[:, :2])
pm(lambda v: lax.all_to_all(v, 'i', 0, 0, axis_index_groups=[[0, 2], [3, 1]], tiled=True))(m44)
pm(lambda v: lax.pswapaxes(v, 'i', 0, axis_index_groups=[[0, 1], [2, 3]]))(m44[:, :2])
pm(jax.grad(lambda v: lax.psum(v ** 2, 'i', axis_index_groups=[[0], [1, 2, 3]])))(f4)
pm(jax.grad(lambda v: (lax.all_gather(v, 'i', axis_index_groups=[[0, 2], [1, 3]]) ** 2).sum()))(f4)
jax.grad(lambda x: (pm(lambda v: lax.psum(v ** 2, 'i', axis_index_groups=[[0, 2], [1, 3]]))(x) ** 2).sum())(f4)
pm(lambda v: lax.psum(v, 'i', axis_index_groups=[[0, 1], [1, 2, 3]]))(f4) !! axis_index_groups must cover all indices exactly once
jax.pmap(lambda x: jax.vmap(lambda v: lax.psum(v, 'j') + lax.axis_index('i') * lax.axis_index('j'), axis_name='j')(x), 'i')(f24)
jax.pmap(lambda x: jax.vmap(lambda v: lax.all_gather(v, 'i'), axis_name='j')(x), 'i')(f24)
jax.pmap(lambda x: jax.vmap(lambda v: lax.axis_index(('j', 'i')), axis_name='j')(x), 'i')(f24)
jax.vmap(jax.vmap(lambda v: lax.psum(v, ('i', 'j')), axis_name='j'), axis_name='i')(f24)
jax.vmap(jax.vmap(lambda v: lax.ppermute(v, 'i', [(0, 1), (1, 0)]), axis_name='j'), axis_name='i')(f24)
jax.vmap(lambda v: lax.psum(v, 'i'), axis_name='i', in_axes=1)(f24)
jax.vmap(lambda v: lax.psum(v, 'i'), axis_name='i', out_axes=None)(f4)
jax.vmap(lambda v, u: lax.psum(u, 'i'), axis_name='i', in_axes=(0, None))(f4, f0)
jax.vmap(lambda v, u: lax.pmean(u, 'i') + lax.pmax(u, 'i'), axis_name='i', in_axes=(0, None))(f4, f0)
jax.vmap(lambda v, u: lax.all_gather(u, 'i'), axis_name='i', in_axes=(0, None))(f4, f0)
jax.vmap(lambda v, u: lax.ppermute(u, 'i', ring), axis_name='i', in_axes=(0, None))(f4, f0)
jax.vmap(lambda v: v, axis_name='i', axis_size=4)(f4)
jax.vmap(lambda: lax.axis_index('i'), axis_name='i', axis_size=3)()
jax.jit(pm(lambda v: lax.psum(v, 'i')))(f4)
pm(jax.jit(lambda v: lax.psum(v, 'i')))(f4)
pm(lambda v: jax.jit(lambda u: u / lax.psum(u, 'i'))(v))(f4)
pm(lambda v: lax.psum(v, 'i'))(np.arange(4))
jax.pmap(lambda v, u: lax.psum(v * u, 'i'), 'i', in_axes=(0, None))(f4, f0)
jax.pmap(lambda v, u: lax.psum(u, 'i'), 'i', in_axes=(0, None))(f4, f0)
jax.pmap(lambda v: lax.psum(v, 'i'), 'i', out_axes=None)(f4)
jax.pmap(lambda v: lax.pmean(v, 'i'), 'i', in_axes=1, out_axes=None)(m23)
""")

corpus.expressions("""
gradients(lambda v: lax.psum(v, 'i'), f4)
gradients(lambda v: lax.psum(v ** 2, 'i'), f4)
gradients(lambda v: lax.pmean(v, 'i'), f4)
gradients(lambda v: lax.pmean(v ** 2, 'i'), m44)
gradients(lambda v: lax.ppermute(v, 'i', ring), f4)
gradients(lambda v: lax.all_gather(v, 'i').sum(0), f4)
gradients(lambda v: (lax.all_gather(v, 'i') * f4).sum(), f4)
gradients(lambda v: lax.all_gather(v, 'i', tiled=True).reshape(4, 4)[0], m44)
gradients(lambda v: lax.psum_scatter(v, 'i', tiled=True).sum() * v, m44)
gradients(lambda v: lax.all_to_all(v, 'i', 0, 0), m44)
gradients(lambda v: v * lax.axis_index('i'), f4)
gradients(lambda v: v * lax.psum(1, 'i'), f4)
gradients(lambda v: jnp.exp(v) / lax.psum(jnp.exp(v), 'i'), x4)
gradients(lambda v: lax.psum(lax.psum(v, 'i') * v, 'i'), x4)
gradients(lambda v: lax.stop_gradient(lax.psum(v, 'i')) * v, x4)
pm(jax.grad(lambda v: lax.psum(v ** 2, 'i')))(f4)
pm(jax.grad(lambda v: lax.pmean(v ** 2, 'i')))(f4)
pm(jax.grad(lambda v: (lax.all_gather(v, 'i') ** 2).sum()))(f4)
pm(lambda v: lax.pmean(jax.grad(lambda u: u ** 2)(v), 'i'))(f4)
pm(jax.grad(jax.grad(lambda v: lax.psum(v ** 3, 'i'))))(f4)
pm(jax.hessian(lambda v: lax.psum((v ** 3).sum(), 'i')))(m44[:2, :2])
jax.hessian(lambda v: (pm(lambda u: lax.psum(u ** 2, 'i'))(v) ** 2).sum())(f4)
jax.jacrev(pm(lambda u: lax.psum(u ** 2, 'i') * u))(f4)
jax.jacfwd(pm(lambda u: lax.pmean(u ** 2, 'i') * u))(f4)
jax.linearize(pm(lambda u: lax.psum(u ** 2, 'i') * u), f4)[1](f4 + 1)
jax.vjp(pm(lambda u: lax.psum(u ** 2, 'i') * u), f4)[1](f4 + 1)
jax.linear_transpose(pm(lambda u: lax.psum(u * 2, 'i')), f4)(f4)
jax.grad(lambda w: jax.pmap(lambda x, w: x * w, in_axes=(0, None))(f4, w).sum())(f0)
jax.grad(lambda w: jax.pmap(lambda x, w: x * w)(f4, w).sum())(jnp.full(4, 2, jnp.float32))
jax.grad(lambda w: jax.pmap(lambda x, w: lax.psum(x * w, 'i'), 'i', in_axes=(0, None))(f4, w).sum())(f0)
jax.grad(lambda w: jax.pmap(lambda x, w: lax.pmean((x * w) ** 2, 'i'), 'i', in_axes=(0, None))(f4, w)[0])(f0)
jax.grad(lambda v: jax.pmap(lambda x: x * 2, 'i', out_axes=None)(v))(f4)
jax.grad(lambda v: jax.pmap(lambda x: lax.psum(x * 2, 'i'), 'i', out_axes=None)(v))(f4)
jax.grad(lambda v: jax.pmap(lambda x: x ** 2, in_axes=1, out_axes=1)(v).sum())(m23)
jax.value_and_grad(lambda v: pm(lambda u: lax.pmean(u ** 2, 'i'))(v).mean())(f4)
pm(jax.value_and_grad(lambda v: lax.pmean(v ** 2, 'i')))(f4)
""")

corpus.expressions("""
lax.psum(f4, 'i') !! unbound axis name: i
lax.axis_index('i') !! unbound axis name: i
vm(lambda v: lax.psum(v, 'j'))(f4) !! unbound axis name: j
vm(lambda v: lax.psum(v, ('i', 'j')))(f4) !! unbound axis name: j
vm(lambda v: lax.axis_size('j'))(f4) !! unbound axis name: j
jax.jit(lambda v: lax.psum(v, 'i'))(f4) !! unbound axis name: i
jax.grad(lambda v: lax.pmean(v, 'i'))(1.0) !! unbound axis name: i
jax.make_jaxpr(lambda v: lax.psum(v, 'i'))(f4) !! unbound axis name: i
pm(lambda v: lax.ppermute(v, 'i', [(0, 1), (2, 1)]))(f4) !! ppermute sources and destinations must be unique, got \\(\\(0, 1\\), \\(2, 1\\)\\)
pm(lambda v: lax.all_gather(v, 'i', tiled=True))(f4) !! axis 0 is out of bounds for array of dimension 0
pm(lambda v: lax.psum_scatter(v, 'i'))(m44[:, :3]) !! scatter dimension size 3 must match shard count 4
pm(lambda v: lax.all_to_all(v, 'i', 0, 0))(m44[:, :3]) !! all_to_all requires the size of the mapped axis axis_name to equal x.shape\\[split_axis\\], but they are 4 and 3 respectively
pm(lambda v: lax.pshuffle(v, 'i', [0, 0, 1, 2]))(f4) !! `perm` does not represent a permutation
pm(lambda v: lax.psum('a', 'i'))(f4) !!
pm(lambda v: lax.psum(v, (0, 'i'), axis_index_groups=[[0, 1], [2, 3]]))(m44) !! only supported for sums over just named axes
pm(lambda v: lax.psum(v, 'i', axis_index_groups=5))(f4) !! 'int' object is not iterable
pm(lambda v: lax.all_gather(v, 'i', axis=3))(m44) !! axis 3 is out of bounds for array of dimension 2
pm(lambda v: lax.psum_scatter(v > 1, 'i'))(m44) !! does not accept dtype bool
pm(lambda v: lax.all_to_all(v, 'i', 0, 0, tiled=True))(m44[:, :3]) !!
pm(lambda v: lax.pswapaxes(v, 'i', 0))(m44[:, :3]) !! but they are 4 and 3 respectively
pm(lambda v: lax.pcast(v, 'i', to='bad'))(f4) !! unexpected `to` value
vm(lambda v: lax.psum(v, ('i', 'i')))(f4) !!
vm(lambda v: lax.psum(v, None))(f4) !! unbound axis name: None
jax.vmap(lambda v: lax.psum(v, ['a']), axis_name=['a'])(f4) !! unhashable type: 'list'
pm(lambda v: lax.psum(v))(f4) !! missing 1 required positional argument: 'axis_name'
jax.vmap(lambda v: lax.psum(v, 'i'))(f4) !! unbound axis name: i
jax.vmap(lambda v: v, axis_name='i', out_axes=None)(f4) !! (vmap has mapped output .*but out_axes is None|got axis spec None but output was batched)
""")

for op, other in (("pmax", "max"), ("pmin", "min")):
    corpus.expressions(
        f"""
jax.vmap(jax.grad(lambda v: lax.{op}(v, 'i')), axis_name='i')(x4) => 4 * jax.grad(lambda x: x.{other}())(x4)
pm(jax.grad(lambda v: lax.{op}(v, 'i')))(jnp.ones(4)) => jnp.ones(4)
jax.grad(lambda x: pm(lambda v: lax.{op}(v, 'i'))(x).sum())(x4) => jax.grad(lambda x: 4 * x.{other}())(x4)
""",
        because="JAX has no derivative here; ties share the cotangent as they do in max.",
    )
for source in (
    "ppermute(v, 'i', [(0, 9)])",
    "ppermute(v, 'i', [(-1, 1)])",
    "ppermute(v, 'i', [(0, 1, 2)])",
    "psum(v, ('i', 'i'))",
    "pbroadcast(v, 'i', 4)",
    "pbroadcast(v, 'i', -1)",
    "psum(v, 'i', axis_index_groups=[])",
    "psum(v, 'i', axis_index_groups=[[0, 1], [2, 9]])",
    "psum_scatter(v, 'i', scatter_dimension=2)",
    "all_to_all(v, 'i', 5, 0)",
    "psum(v, 'i', axis_index_groups=[[0, 1]])",
    "all_gather(v, 'i', axis_index_groups=[[0], [1, 2, 3]])",
):
    corpus.expressions(
        f"pm(lambda v: lax.{source})(f4)",
        raises=("ValueError", ""),
        because="JAX leaks an IndexError or an error of its compiler here.",
    )

corpus.expressions(
    """
vm(lambda v: lax.psum(v, 'i', axis_index_groups=[[0, 1], [2, 3]]))(f4) =>
pm(lambda v: lax.psum(v, 'i', axis_index_groups=[[0, 1], [2, 3]]))(f4)
vm(lambda v: lax.all_gather(v, 'i', axis_index_groups=[[0, 2], [3, 1]]))(f4) =>
pm(lambda v: lax.all_gather(v, 'i', axis_index_groups=[[0, 2], [3, 1]]))(f4)
vm(lambda v: lax.psum(1, 'i', axis_index_groups=[[0, 1], [2, 3]]) * v)(f4) => 2 * f4
pm(lambda v: lax.psum(1, 'i', axis_index_groups=[[0], [1, 2, 3]]) * v)(f4) => f4 * jnp.array([1, 3, 3, 3])
pm(lambda v: lax.pmean(v, 'i', axis_index_groups=[[0], [1, 2, 3]]))(f4) => f4 * 0 + jnp.array([0, 2, 2, 2])
pm(lambda v: lax.pmax(v, 'i'))(c4) => vm(lambda v: lax.pmax(v, 'i'))(c4)
both(lambda v: lax.pbroadcast(v, 'i', 1), f4) => (f4 * 0 + 1,) * 2
both(jax.grad(lambda v: lax.pbroadcast(v * v, 'i', 1)), f4) => (jnp.array([0., 8, 0, 0]),) * 2
both(lambda v: lax.pargmax(v, 'i'), m44.T) => (jnp.full((4, 4), 3, np.int32),) * 2
both(lambda v: lax.pmean(v, (0, 'i')), m44) => both(lambda v: lax.pmean(v.mean(), 'i'), m44)
both(lambda v: lax.pmax(v, ('i', -1)), m44) => (jnp.full(4, np.float32(225)),) * 2
both(lambda v: lax.pargmin(v, 'i'), jnp.array([3., 1, 1, 2])) => (jnp.ones(4, int),) * 2
vm(lambda v: lax.pcast(v, 'i', to='varying'))(f4) => f4
both(lambda v: lax.psum_scatter(v, 'i', scatter_dimension=-1), m44) => both(lambda v: lax.psum_scatter(v, 'i'), m44)
both(lambda v: lax.pshuffle(v, 'i', [1, 0]), f4 + 1) => (jnp.array([2., 1, 0, 0]),) * 2
jax.pmap(lambda v: lax.psum(v, 7), axis_name=7)(f4) => f4 * 0 + 6
jax.vmap(lambda v: lax.psum(v, ('a', 'b')), axis_name=('a', 'b'))(f4) => f4 * 0 + 6
jax.pmap(lambda v: lax.psum(v, frozenset([1])), axis_name=frozenset([1]))(f4) => f4 * 0 + 6
vm(lambda v: lax.ppermute(v, 'i', [(0, 1)]))(f4 + 5) => pm(lambda v: lax.ppermute(v, 'i', [(0, 1)]))(f4 + 5)
vm(lambda v: lax.ppermute(v, 'i', []))(f4 + 5) => f4 * 0
vm(jax.grad(lambda v: lax.ppermute(v, 'i', [(0, 1), (2, 0)]) * (v + 1)))(f4) =>
pm(jax.grad(lambda v: lax.ppermute(v, 'i', [(0, 1), (2, 0)]) * (v + 1)))(f4)
both(lambda v: lax.psum(v[:0], 'i'), m44) => (m44[:, :0],) * 2
both(lambda v: lax.all_to_all(v, 'i', -1, 0, tiled=True), t234) => both(lambda v: lax.all_to_all(v, 'i', 1, 0, tiled=True), t234)
jax.pmap(lambda x: jax.vmap(lambda v: lax.all_gather(v, ('i', 'j')), axis_name='j')(x), 'i')(f24) =>
jnp.broadcast_to(f24.reshape(8), (2, 4, 8))
""",
    because="JAX asserts, or fails in its compiler or in reading the result, under one of the two maps.",
)
