"""tests/parity/cases_indexing.py - reading with `x[...]`, updating with `x.at[...]`: bounds, modes, masks, derivatives, errors."""

import corpus as parity


def setup(names):
    names.update(
        grad=names["jax"].grad, vmap=names["jax"].vmap, jit=names["jax"].jit, t=names["t234"]
    )


corpus = parity.Corpus(setup)

READS = """
f4[0]
f4[-1]
f4[10]
f4[-10]
f4[1:3]
f4[::-1]
f4[::2]
f4[3:0:-1]
f4[-3:]
f4[:-1]
f4[9:]
f4[2:1]
f4[:]
f4[...]
f4[None]
f4[:, None]
f4[..., None]
f4[()]
f4[(1,)]
f4[True]
f4[False]
f0[()]
f0[...]
f0[None]
t[0]
t[0, 1]
t[0, 1, 2]
t[..., 0]
t[:, 1]
t[1, ..., 2]
t[:, None, 0]
t[::-1, ::2, 1:3]
t[-1][-1][-1]
t[0][:, 1:]
t[np.int64(1), jnp.int32(2)]
t[1, jnp.asarray(2), :2]
f4[i0 - 1]
f4[np.uint8(2)]
f4[jnp.array([0, 2])]
f4[jnp.array([0, -1, 9, -9])]
f4[np.array([1, 1, 0])]
f4[jnp.array([[0, 1], [2, 3]])]
f4[jnp.zeros(0, int)]
t[jnp.array([1, 0])]
t[:, jnp.array([0, 2])]
t[:, jnp.array([0, 2])].shape
t[0, jnp.array([0, 2]), 1]
t[jnp.array([0, 1]), jnp.array([2, 0])]
t[jnp.array([0, 1]), :, jnp.array([2, 0])]
t[jnp.array([[0], [1]]), jnp.array([0, 2])].shape
t[..., jnp.array([0, 1])].shape
t[None, jnp.array([0, 1]), ..., 1:2].shape
t[jnp.array([0, 1]), 1]
t[1, :, jnp.array([0, 3])]
m23[jnp.array([0, 1]), jnp.array([9, -9])]
f4[f4 > 1]
f4[b4]
f4[np.array([True, False, True, False])]
m23[m23 > 0]
m23[jnp.array([True, False])]
m23[:, jnp.array([True, False, True])]
m23[0, jnp.array([True, False, True])]
f4[jnp.zeros(4, bool)]
e0[:]
e03[:, 0]
e03[:, jnp.array([0, 1])]
b4[1:]
h4[jnp.array([3, 1])]
i4[i4]
u4[-1]
c4[::-1]
f4.at[10].get()
f4.at[10].get(mode='fill')
f4.at[10].get(mode='fill', fill_value=-1)
f4.at[10].get(mode='clip')
f4.at[-5].get(mode='fill', fill_value=7)
f4.at[jnp.array([0, 5])].get(mode='fill', fill_value=-1)
i4.at[10].get(mode='fill')
u4.at[10].get(mode='fill')
b4.at[10].get(mode='fill')
f4.at[10].get(mode='promise_in_bounds')
f4.at[jnp.array([3, 1])].get(indices_are_sorted=False, unique_indices=True)
"""

UPDATES = """
f4.at[1].set(9)
f4.at[1].set(9.5)
i4.at[1].set(9.7)
h4.at[1].set(2.5)
u4.at[0].set(-1)
b4.at[0].set(False)
f4.at[-1].set(9)
f4.at[10].set(9)
f4.at[-10].set(9)
f4.at[10].set(9, mode='clip')
f4.at[10].add(1, mode='drop')
f4.at[1:3].set(7)
f4.at[1:3].set(jnp.array([7., 8.]))
f4.at[::2].add(10)
f4.at[::-1].set(f4)
f4.at[:].set(0)
f4.at[...].add(1)
f4.at[jnp.array([0, 0, 1])].add(1)
f4.at[jnp.array([0, 0, 1])].set(5)
f4.at[jnp.array([0, 9, -1])].add(1)
f4.at[jnp.array([0, 1])].mul(3)
f4.at[jnp.array([0, 0])].multiply(3)
f4.at[1].divide(2)
f4.at[2].power(2)
f4.at[jnp.array([0, 2])].min(1)
f4.at[jnp.array([0, 2])].max(1)
f4.at[1].apply(jnp.exp)
f4.at[1].subtract(3)
f4.at[f4 > 1].set(0)
f4.at[b4].add(1)
m23.at[0].set(1)
m23.at[0, 1].set(1)
m23.at[:, 1].add(jnp.array([1., 2.]))
m23.at[..., 0].set(0)
m23.at[1, 1:].set(jnp.array([1., 2.]))
m23.at[jnp.array([0, 1]), jnp.array([2, 0])].set(0)
m23.at[:, jnp.array([0, 0])].add(1)
m23.at[m23 < 0].set(0)
m23.at[jnp.array([0])].set(f4[:3])
t.at[:, jnp.array([0, 2]), 1].set(-1)[:, :, 1]
t.at[0, :, ::2].add(100)[0]
f0.at[()].set(3)
i4.at[1].add(2.5)
f4.at[1].set(i4[3])
f4.at[i0].set(9)
jnp.zeros((2, 2), jnp.int8).at[0, 0].set(127).at[0, 0].add(1)
c4.at[0].set(1)
c4.at[0].add(2j)
"""

corpus.expressions(READS + UPDATES, rtol=1e-5)

corpus.expressions(
    """
jit(lambda x, i: x[i])(f4, 2)
jit(lambda x, i: x[i])(f4, -1)
jit(lambda x, i: x[i])(f4, 99)
jit(lambda x, i: x.at[i].set(9))(f4, -1)
jit(lambda x, i: x[i, 1:])(m23, 1)
jit(lambda x: x[1:, None, ::-1])(m23)
jit(lambda x: jnp.where(x > 1, size=2))(f4)
vmap(lambda x, i: x[i])(m23, jnp.array([2, 9]))
vmap(lambda i: m23[i, 1])(jnp.array([1, 0]))
vmap(lambda i: m23[:, i])(i4)
vmap(lambda x, i: x.at[i].add(1))(m23, jnp.array([2, 9]))
vmap(lambda x, i: x[i], (None, 0))(m23, jnp.array([[0, 1], [1, 1]]))
grad(lambda x: x[1] ** 2)(f4)
grad(lambda x: x[jnp.array([0, 0, 2])].sum())(f4)
grad(lambda x: (x[jnp.array([0, 9, -9])] * f4[:3]).sum())(f4)
grad(lambda x: (x[::2] ** 2).sum())(f4)
grad(lambda x: (x[:, jnp.array([0, 0])] ** 2).sum())(m23)
grad(lambda x: x[x > 1].sum())(f4)
grad(lambda x: (x.at[0].set(x[1]) ** 2).sum())(f4)
grad(lambda x: (x.at[jnp.array([0, 0])].add(x[1]) ** 2).sum())(f4)
grad(lambda x: (f4.at[1].set(x) ** 2).sum())(3.)
grad(lambda x: (x.at[1].multiply(3.) ** 2).sum())(f4)
grad(lambda x: x.at[10].get(mode='fill', fill_value=2.) + x[0])(f4)
grad(lambda x: jnp.take_along_axis(x, i23 % 3, 1).sum() * x[0, 0])(m23)
jax.jvp(lambda x: x.at[0].add(x[2]), (f4,), (f4 + 1,))
jax.jacrev(lambda x: x[jnp.array([3, 0])])(f4)
jax.hessian(lambda x: (x[jnp.array([0, 0, 1])] ** 3).sum())(f4)
jax.pmap(lambda x, i: x[i], in_axes=(None, 0))(m23, jnp.array([1, 0, 9]))
jax.pmap(lambda x, i: x.at[i].set(9.))(m23, jnp.array([1, 0]))
""",
    rtol=1e-5,
)

corpus.expressions("""
f4[0, 1] !! Too many indices: array is 1-dimensional, but 2 were indexed
f0[0] !! Too many indices: array is 0-dimensional, but 1 were indexed
f4[1.0] !! Indexer must have integer or boolean type, got indexer with type
f4[f4] !! Indexer must have integer or boolean type, got indexer with type float32
f4['a'] !!
f4[[0, 1]] !! Using a non-tuple sequence for multidimensional indexing is not allowed
f4[..., ...] !! an index can only have a single ellipsis
f4[jnp.array([True, False])] !! boolean index did not match
m23[jnp.zeros((3, 3), bool)] !! boolean index did not match
t[jnp.array([0, 1]), jnp.array([0, 1, 2])] !! Incompatible shapes for broadcasting
f4[::0] !! slice step cannot be zero
f4['a':] !!
f4.at[0].set('a') !!
f4.at[1:3].set(jnp.arange(3.)) !! Incompatible (types|shapes) for broadcasting
f4.at[0].set(1, mode='bad') !! mode
f4.at[0] + 1 !! unsupported operand
jit(lambda x: x[x > 1])(f4) !! Array boolean indices must be concrete; got bool\\[4\\]
jit(lambda x, i: x[:i])(f4, 2) !! (Slice entries must be static integers|Array slice indices must have static)
jit(lambda x: jnp.nonzero(x))(f4) !!
jit(lambda n: jnp.arange(n))(3) !!
jit(lambda n: jnp.zeros(n))(3) !! Shapes must be 1D sequences of concrete values of integer type
iter(f0) !! iteration over a 0-d array
len(f0) !! len\\(\\) of unsized object
[len(f4), len(m23), [v for v in f4[:2]], [r for r in m23]]
list(f4[:2])
tuple(m23)
dict(zip('ab', f4))
max(f4)
sum(f4)
sorted(x4)
2 in i4
9.0 in f4
[a + b for a, b in zip(f4, i4)]
[x[0] for x in jnp.split(f4, 2)]
f4[i4[1]:3]
f4[slice(1, None)]
f4[tuple([0])]
t[(0, slice(None), 1)]
f4[jnp.asarray(True)]
""")


@corpus.case(error="JAX arrays are immutable and do not support in-place item assignment")
def case_item_assignment(jax, jnp, lax):
    x = jnp.arange(3.0)
    x[0] = 1


@corpus.case()
def case_augmented_assignment_rebinds(jax, jnp, lax):
    x = y = jnp.arange(3)
    x += 1
    x *= 2
    return x, y


corpus.expressions("f4[np.True_] => f4[True]", because="JAX asserts on NumPy's boolean scalars.")
