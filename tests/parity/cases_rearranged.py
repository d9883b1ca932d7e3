"""tests/parity/cases_rearranged.py - elements inserted, deleted, repeated and trimmed; functions of
indices; products and norms of matrices."""

import corpus as parity


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    names.update(
        jit=jax.jit,
        x=jnp.arange(5),
        m=jnp.arange(6).reshape(2, 3),
        z=jnp.array([[0, 0, 0, 0], [0, 1, 0, 0], [0, 2, 3, 0], [0, 0, 0, 0]]),
        f=jnp.arange(24.0).reshape(2, 3, 4) - 7,
        ones=jnp.ones,
    )


corpus = parity.Corpus(setup, rtol=1e-5, atol=1e-6)

corpus.expressions(r"""
jnp.insert(x, jnp.array([1, 4, 2]), jnp.array([10, 11, 12]))
jnp.insert(x, jnp.array([2, 2, 2]), jnp.array([10, 11, 12]))
jnp.insert(x, jnp.array([-1, 0]), 7)
jnp.insert(x, 5, 7)
jnp.insert(x, slice(0, 4, 2), jnp.array([7, 8]))
jnp.insert(x, 2, jnp.array([7, 8, 9]))
jnp.insert(x, jnp.array([2]), jnp.array([7, 8]))
jnp.insert(m, 1, 9, axis=1)
jnp.insert(m, 1, jnp.array([7, 8, 9]), axis=0)
jnp.insert(m, 1, jnp.array([7, 8]), axis=1)
jnp.insert(m, jnp.array([0, 2]), jnp.array([[7], [8]]), axis=1)
jnp.insert(m, jnp.array([0, 2]), jnp.array([[7, 8], [9, 10]]), axis=1)
jnp.insert(m, 1, 9)
jnp.insert(m, 1, jnp.arange(4).reshape(2, 2), axis=1)
jnp.insert(m, jnp.array([1]), jnp.arange(4).reshape(2, 2), axis=1)
jit(jnp.insert)(x, jnp.array([1, 4]), jnp.array([10, 11]))
jnp.delete(x, jnp.array([0, -1]))
jnp.delete(x, slice(1, 3))
jnp.delete(m, 1, axis=1)
jnp.delete(x, jnp.array([True, False, True, False, False]))
jit(jnp.delete, static_argnames=["assume_unique_indices"])(x, jnp.array([1, -1]), assume_unique_indices=True)
jit(jnp.delete)(x, jnp.array([1])) !! concrete value is expected
jnp.repeat(x, 2, total_repeat_length=7)
jnp.repeat(x, 2, total_repeat_length=12)
jnp.repeat(x, jnp.array([1, 2, 0, 1, 3]))
jnp.repeat(x, jnp.array([1, 2, 0, 1, 3]), total_repeat_length=5)
jnp.repeat(x, jnp.array([1, 2, 0, 1, 3]), total_repeat_length=10)
jnp.repeat(x, jnp.array([0, 0, 0, 0, 0]), total_repeat_length=3)
jnp.repeat(x, jnp.array([2]))
jnp.repeat(x, 0)
jnp.repeat(m, 3, axis=-1)
jit(jnp.repeat, static_argnames=["total_repeat_length", "axis"])(m, jnp.array([2, 1]), axis=0, total_repeat_length=4)
jit(jnp.repeat)(x, 2) !! concrete value is expected
jnp.repeat(x, 2.0) !! must be|must have
jnp.trim_zeros(z)
jnp.trim_zeros(z, "f")
jnp.trim_zeros(z, axis=0)
jnp.trim_zeros(z, "b", axis=1)
jnp.trim_zeros(jnp.zeros(3))
jnp.trim_zeros(jnp.zeros((3, 2)), axis=0)
jnp.trim_zeros(z, axis=5) !! out of bounds
jnp.argwhere(0)
jnp.argwhere(1)
jit(lambda x, fill: jnp.nonzero(x, size=5, fill_value=fill))(x, 9)
jnp.fromfunction(lambda i, j: i + 10 * j, (2, 3))
jnp.fromfunction(lambda i: jnp.arange(3) * i, (2,), dtype=int)
jnp.fromstring("1 2 3", sep=" ")
jnp.einsum(m, (1, 0))
jnp.einsum(m, (7, 3), f, (7, 5, 9))
jnp.einsum(f, (..., 2, 1))
jnp.fromstring("1, 2, 3", dtype=int, count=2, sep=",")
jnp.linalg.norm(f, "nuc", axis=(0, 2))
jnp.linalg.norm(f, 2, axis=(2, 1), keepdims=True)
jnp.linalg.norm(f, -2, axis=(1, 2))
jnp.linalg.norm(m, "abc") !! Invalid order 'abc' for matrix norm
jnp.linalg.trace(f)
jnp.linalg.trace(f, offset=1, dtype=jnp.int32)
jnp.linalg.multi_dot([f[0], ones((4, 5)), ones((5, 2)), ones(2)])
jnp.linalg.multi_dot([ones(3), f[0], ones(4)])
jnp.linalg.multi_dot([ones(3), ones(3), ones(3)]) !! must all be two-dimensional
jnp.linalg.tensorinv(2 * jnp.eye(24).reshape(6, 4, 8, 3)).sum((0, 1))
jnp.linalg.tensorinv(ones((2, 3)), 0) !! ind must be a positive integer
jnp.linalg.tensorsolve(2 * jnp.eye(6).reshape(2, 3, 6), ones((2, 3)))
jnp.linalg.tensorsolve(2 * jnp.eye(6).reshape(2, 6, 3), ones((2, 3)), axes=(1,))
jnp.linalg.tensorsolve(ones((2, 3)), ones((3,))) !! moving axes to end, leading
""")
