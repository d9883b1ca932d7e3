"""tests/parity/cases_at.py - advanced indexing, and every method, mode and option of `x.at[...]`."""

import corpus as parity


def setup(names):
    jax, jnp, np = names["jax"], names["jnp"], names["np"]
    names.update(
        t=names["t234"],
        far=jnp.array([0, 9, -9, -1, 1]),
        two=jnp.array([0, 2]),
        grid=jnp.array([[0, 1], [1, 0]]),
        mask3=jnp.array([True, False, True]),
        mask4=jnp.array([True, False, True, True]),
        mask34=jnp.asarray(np.arange(12).reshape(3, 4) % 3 == 0),
        Mode=jax.lax.GatherScatterMode,
        i8=jnp.array([100, 50, 3, 0], jnp.int8),
    )


corpus = parity.Corpus(setup, rtol=1e-5)

corpus.expressions("""
t[jnp.array([False, True])]
t[:, mask3]
t[:, mask3, 1]
t[0, mask3, :2]
t[:, mask34]
t[:, mask34].shape
t[:, mask3, two[:1]]
t[..., mask4]
t[..., mask4, None].shape
t[None, :, mask3].shape
t[jnp.array([1, 0]), mask3]
t[jnp.array([1, 0, 1]), mask34[:, 0]]
t[grid].shape
t[grid, two].shape
t[grid, :, two].shape
t[:, grid, two].shape
t[two[:, None] // 2, :, two].shape
t[0, :, two].shape
t[:, 0, two].shape
t[two // 2, 0].shape
t[two // 2, 0, ::2].shape
t[two // 2, None].shape
t[None, two // 2, None, two].shape
t[two // 2, None, two].shape
t[two // 2, ..., two].shape
t[..., two, two // 2].shape
t[grid, grid, grid]
t[jnp.array(1), two].shape
t[jnp.array(1)].shape
t[jnp.array(1), :, jnp.array(2)]
t[np.array([0, 1]), np.int8(1)]
t[jnp.array([0, 1], jnp.uint8), jnp.array([2, 0], jnp.int16)]
t[True].shape
t[False].shape
t[True, two // 2].shape
t[:, True].shape
t[1, True, 2].shape
t[jnp.zeros((0,), int)].shape
t[:, jnp.zeros((0, 2), int)].shape
t[jnp.zeros((2, 3, 4), bool)]
t[np.zeros(2, bool)].shape
t[two[:0]].shape
t[-1, two, -1]
t[::-1, two[::-1], ::2]
f4[far]
i4[far]
m23[far, far]
m23[far % 2, 1:]
m23[(0, 1), (1, 2)]
m23[(0, 1)]
m23[[0, 1]] !!
m23[[True, False]] !!
m23[np.array([[0, 1]]), np.array([[1, 2]])]
f4[np.int64(3)]
f4[np.uint64(3)]
f4[np.array(2)]
f4[jnp.array(2, jnp.uint8)]
f4[i4 > 1]
f4[jnp.where(i4 > 1)]
f4[jnp.nonzero(i4 > 1)]
m23[jnp.argwhere(m23 > 0)[0, 0]]
m23[jnp.unravel_index(4, (2, 3))]
m23[jnp.ix_(jnp.array([0, 1]), jnp.array([2, 0]))]
m23[np.s_[::-1, 1:]]
m23[..., np.newaxis, :].shape
m23[slice(None, -1), slice(-2, None)]
m23[slice(jnp.array(0), jnp.array(1))]
f4[jnp.array(1):jnp.array(3)]
f4[np.int64(1):np.int8(3)]
f4[-100:100]
f4[100:-100:-1]
f4[100::-2]
f4[:-100:-1]
e0[jnp.zeros(0, int)]
e03[:, two]
e03[jnp.zeros(0, bool)].shape
""")

corpus.expressions("""
f4[1.5] !!
f4[np.array([0.5])] !!
f4['x'] !!
f4[None, 0, 0] !! Too many indices
t[0, 0, 0, 0] !! Too many indices: array is 3-dimensional, but 4 were indexed
t[..., 0, ...] !! an index can only have a single ellipsis
t[:, mask4] !! boolean index did not match
f4[1j] !!
f4[{}] !!
f4[0:1.5] !!
f4[:, 0] !! Too many indices
t[two, two, two, two] !! Too many indices
t[mask34] !! boolean index did not match
t[two, jnp.array([0, 1, 2])] !! Incompatible shapes for broadcasting
""")

corpus.expressions("""
f4.at[far].set(7)
f4.at[far].add(1)
f4.at[far].subtract(1)
f4.at[far].multiply(2)
f4.at[far].mul(2)
f4.at[far].divide(2)
f4.at[far].power(2)
f4.at[far].min(-1)
f4.at[far].max(10)
f4.at[far].apply(jnp.cos)
f4.at[far].get()
[f4.at[far].set(7, mode=m) for m in ('drop', 'clip', 'fill', 'promise_in_bounds') if m != 'promise_in_bounds']
[f4.at[far].add(7, mode=m) for m in ('drop', 'clip', 'fill')]
[f4.at[far].multiply(7, mode=m) for m in ('drop', 'clip', 'fill')]
[f4.at[far].divide(7, mode=m) for m in ('drop', 'clip', 'fill')]
[f4.at[far].power(2, mode=m) for m in ('drop', 'clip', 'fill')]
[f4.at[far].min(1, mode=m) for m in ('drop', 'clip', 'fill')]
[f4.at[far].max(1, mode=m) for m in ('drop', 'clip', 'fill')]
[f4.at[far].apply(jnp.negative, mode=m) for m in ('drop', 'clip', 'fill')]
[f4.at[far].get(mode=m) for m in ('fill', 'clip')]
f4.at[far].get(mode='drop')
[f4.at[far].get(mode=m) for m in (Mode.CLIP, Mode.FILL_OR_DROP)]
[f4.at[far].set(1, mode=m) for m in (Mode.CLIP, Mode.FILL_OR_DROP)]
f4.at[two].set(5, mode=Mode.PROMISE_IN_BOUNDS)
f4.at[two].set(5, mode='promise_in_bounds')
f4.at[two].get(mode='promise_in_bounds')
f4.at[far].get(mode='fill', fill_value=3)
i4.at[far].get(mode='fill', fill_value=-7)
i4.at[far].get(mode='fill')
u4.at[far].get(mode='fill')
b4.at[far].get(mode='fill')
c4.at[far].get(mode='fill')
c4.at[far].get(mode='fill', fill_value=2j)
h4.at[far].get(mode='fill', fill_value=1.5)
f4.at[far].get(mode='fill', fill_value=np.inf)
f4.at[two].set(jnp.array([5., 6.]), indices_are_sorted=True, unique_indices=True)
f4.at[two].add(jnp.array([5., 6.]), indices_are_sorted=True, unique_indices=True)
f4.at[two].get(indices_are_sorted=True, unique_indices=True)
f4.at[two].apply(jnp.sqrt, indices_are_sorted=True, unique_indices=True)
f4.at[two].divide(4, indices_are_sorted=True, unique_indices=True)
f4.at[-1].set(5, wrap_negative_indices=False)
f4.at[-1].get(wrap_negative_indices=False)
f4.at[-1].get(mode='fill', wrap_negative_indices=False)
f4.at[-1].add(5, wrap_negative_indices=True)
f4.at[jnp.array([-1, 1])].add(5, wrap_negative_indices=False)
i4.at[0].divide(2)
i4.at[1].power(2)
i4.at[3].divide(2.)
i4.at[two].multiply(2.5)
i4.at[two].min(0.5)
i8.at[0].add(100)
i8.at[0].multiply(2)
i8.at[:2].apply(lambda v: v + 1)
i8.at[0].set(300)
i8.at[0].set(jnp.int32(300))
u4.at[0].set(-1)
u4.at[0].subtract(1)
u4.at[0].set(2.9)
u4.at[0].set(jnp.float32(-2.9))
b4.at[0].set(0)
b4.at[0].set(2)
b4.at[0].add(True) !! add does not accept dtype bool
b4.at[0].multiply(False) !! mul does not accept dtype bool
b4.at[1].max(True)
f4.at[0].set(True)
f4.at[0].set(1 + 2j)
h4.at[0].add(jnp.float32(0.1))
h4.at[two].multiply(f4[:2])
c4.at[1].multiply(2j)
c4.at[1].divide(2j)
c4.at[two].set(f4[:2])
f4.at[two].set(i4[:2])
f4.at[jnp.array([1, 1, 1])].add(jnp.array([1., 2., 4.]))
f4.at[jnp.array([1, 1, 1])].multiply(jnp.array([2., 3., 4.]))
f4.at[jnp.array([1, 1, 1])].min(jnp.array([2., -3., 4.]))
f4.at[jnp.array([1, 1, 1])].max(jnp.array([2., 3., 4.]))
f4.at[jnp.array([1, 1, 2])].divide(2)
f4.at[jnp.array([1, 1, 2])].power(2)
f4.at[jnp.array([1, 1])].subtract(1)
t.at[:, mask3].set(0)
t.at[:, mask3, 1].add(100)[:, :, 1]
t.at[:, mask34].multiply(-1)
t.at[grid, two].set(-1)
t.at[grid, :, two].add(1)
t.at[0, :, two].set(5)[0]
t.at[:, 0, two].set(jnp.arange(4.).reshape(2, 2))[:, 0]
t.at[None, 0].set(5)[0]
t.at[0, None, 1].add(5)[0]
t.at[..., two].set(jnp.array([1., 2.]))[0]
t.at[::-1, ::2, 1:3].add(jnp.arange(2.))
t.at[::-1].set(t)
t.at[:, ::-1].add(t)
t.at[0, 0, 0].set(9)[0, 0]
t.at[True].add(1)[0, 0]
t.at[False].add(1)[0, 0]
t.at[0, True].set(5)[0, 0]
t.at[True, two // 2].add(5)[:, 0, 0]
t.at[:, True].get().shape
f4.at[None].add(1)
f4.at[()].add(1)
f4.at[jnp.zeros(0, int)].add(1)
f4.at[4:].set(1)
f4.at[:0].set(1)
f4.at[...].set(f4[::-1])
f0.at[...].multiply(2)
f0.at[None].set(5)
m23.at[m23 > 1].add(10)
m23.at[m23 > 1].set(jnp.arange(2.))
m23.at[m23 > 1].apply(jnp.sqrt)
m23.at[jnp.array([True, False])].set(0)
m23.at[:, 1].apply(lambda v: v * 2)
m23.at[0].get()
m23.at[:, two].get()
m23.at[1, far].get(mode='fill', fill_value=0)
m23.at[far].get(mode='fill', fill_value=0)
m23.at[far, 1].get(mode='fill', fill_value=0)
m23.at[9, 9].get(mode='fill', fill_value=0)
m23.at[9].get(mode='fill')
m23.at[9].set(0)
m23.at[0, 9].set(0)
m23.at[far % 3, far].add(1)
m23.at[two].set(0, mode='clip')
m23.at[:, jnp.array([0, 7])].set(9, mode='clip')
e0.at[:].set(1)
e03.at[:, 0].add(2)
f4.at[i0].add(1)
f4.at[np.int64(1)].add(1)
f4.at[slice(1, 3)].add(1)
f4.at[np.array([True, False, True, False])].set(0)
f4.at[1].set(np.float64(2.5))
f4.at[:2].set([1, 2])
f4.at[:2].set(np.array([1, 2]))
f4.at[:2].set((1., 2.))
wf.at[()].set(1)
wf.at[()].add(1)
wi.at[()].set(1.5)
wi.at[()].set(jnp.float32(1.5))
wi.at[()].add(1)
repr(f4.at)[:30]
repr(f4.at[0])
f4.at[1].set(5).at[2].set(6).at[1].add(1)
jnp.asarray(f4).at[1].set(jnp.nan)
n4.at[two].max(0)
n4.at[two].min(0)
n4.at[0].add(1)
""")

corpus.expressions("""
f4.at[0].set(jnp.ones(2)) !! ncompatible|broadcast
f4.at[0].set() !! missing
f4.at[0].set('a') !!
f4.at[0].set(None) !!
f4.at[0].apply(3) !!
f4.at['a'].set(1) !!
f4.at[0.5].set(1) !! Indexer must have integer or boolean type
f4.at[0, 0].set(1) !! Too many indices
f4.at[mask3].set(1) !! boolean index did not match
f4.at[[0, 1]].set(1) !! Using a non-tuple sequence
f4.at[0].get(mode='bad') !! mode
f4.at[0].add(1, mode='bad') !! mode
f4.at[0].nope(1) !! nope
f4.at.set(1) !! set
f4.at[two].set(jnp.arange(3.)) !! ncompatible
f4.at[:2].set([1, [2, 3]]) !!
""")

corpus.expressions("""
[type(v).__name__ for v in warned(lambda: i4.at[0].set(1.5))]
warned(lambda: i4.at[0].set(1.5))
warned(lambda: i4.at[0].set(jnp.float32(1.5)))
warned(lambda: i8.at[0].set(300))
warned(lambda: f4.at[0].set(i4[0]))
warned(lambda: h4.at[0].set(f4[0]))
warned(lambda: u4.at[0].add(-1))
warned(lambda: b4.at[0].set(2))
jax.jit(lambda x, i: x.at[i].set(9., mode='clip'))(f4, far)
jax.jit(lambda x, i: x.at[i].get(mode='fill', fill_value=0))(f4, far)
jax.jit(lambda x, i: x[i, :, i])(t, jnp.array([0, 1]))
jax.jit(lambda x, m: jnp.where(m, x, 0))(f4, b4)
jax.jit(lambda x: x.at[:, 1].apply(jnp.sin))(m23)
jax.vmap(lambda x, i: x.at[i].divide(2.))(m23, jnp.array([0, 9]))
jax.vmap(lambda x, i: x[i, i], in_axes=(None, 0))(m33, jnp.array([0, 9]))
jax.grad(lambda x: x.at[far].divide(3.).sum())(f4)
jax.grad(lambda x: x.at[two].power(3.).sum())(f4)
jax.grad(lambda v: f4.at[two].multiply(v, unique_indices=True).sum())(2.)
jax.grad(lambda x: x.at[far].get(mode='fill', fill_value=0.).sum())(f4)
jax.grad(lambda x: x.at[jnp.array([1, 1])].max(1.).sum())(f4)
jax.grad(lambda x: (x[grid, :, two] ** 2).sum())(t)
jax.grad(lambda x: (x[:, mask34] ** 2).sum())(t)
jax.jvp(lambda x: x[grid % 2, 1], (m23,), (m23,))
jax.jacfwd(lambda x: x.at[two].add(x[1]))(f4)
jax.make_jaxpr(lambda x: x[1])(f4).out_avals[0].str_short()
""")

corpus.expressions(
    """
f4.at[far].get(mode='fill', fill_value=jnp.float32(2.5)) => f4.at[far].get(mode='fill', fill_value=2.5)
jax.grad(lambda x: (x.at[two].apply(jnp.sin) ** 2).sum())(f4) => jax.grad(lambda x: (x.at[two].set(jnp.sin(x[two])) ** 2).sum())(f4)
t[None, True].shape => (1, 1, 2, 3, 4)
""",
    because="JAX has no derivative of apply, hashes fill_value and loses a dimension.",
)
corpus.expressions(
    "e0[two]",
    raises=("IndexError", "out of bounds for axis 0 with size 0"),
    because="JAX's TypeError is about the sizes of slices in its gather.",
)
corpus.expressions(
    """
f4.at[0].set(random.key(0))
jax.grad(lambda v: f4.at[two].multiply(v).sum())(2.)
""",
    raises=("ValueError|NotImplementedError", "key_data|unique_indices=True"),
    because="JAX's errors name no remedy.",
)
# Python ints that int32 does not hold, and those that wrap.
corpus.expressions("""
[jnp.zeros(2, "uint32").at[0].set(4294967295), jnp.zeros(2, "uint32").at[0].add(2**31), jnp.zeros(2, "uint32").at[0].max(4294967295)]
[jnp.zeros(2, "uint8").at[0].set(v) for v in (-1, 300)]
jnp.zeros(2, "uint8").at[0].set(2**31 + 5) !! too large to convert to int32
[jnp.full_like(jnp.zeros(2, "uint8"), 2**40 + 3), jnp.full_like(jnp.zeros(2), 2**40)]
[jnp.full_like(jnp.zeros(2, t), v) for t in ("uint8", "int8", "uint32", "int32") for v in (-1, 300, 2**31)]
[jnp.full(2, v, "uint8") for v in (-1, 300)]
""")
