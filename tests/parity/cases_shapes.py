"""tests/parity/cases_shapes.py - `jax.numpy` functions that rearrange, join and contract arrays."""

import corpus as parity

corpus = parity.Corpus(rtol=1e-5, atol=1e-6)

corpus.expressions("""
jnp.reshape(f4, (2, 2))
jnp.reshape(f4, (-1, 1))
jnp.reshape(f4, 4)
jnp.reshape(f4, (4,), order='F')
jnp.reshape(m23, (3, 2), order='F')
jnp.reshape(f0, (1, 1))
jnp.reshape(e03, (3, 0))
f4.reshape(2, 2)
f4.reshape((2, -1))
f4.reshape(-1)
f4.reshape(3, -1) !! cannot reshape array of shape \\(4,\\) \\(size 4\\) into shape \\(3, -1\\)
jnp.arange(10).reshape(4, 2) !! cannot reshape array of shape \\(10,\\) \\(size 10\\) into shape \\(4, 2\\) \\(size 8\\)
f4.reshape(-1, -1) !! can only specify one unknown
f4.reshape(2.0, 2) !! Shapes must be 1D sequences|integer
jnp.ravel(m23)
jnp.ravel(m23, order='F')
m23.flatten()
jnp.transpose(m23)
jnp.transpose(t234, (1, 2, 0)).shape
jnp.transpose(t234, (-1, 0, 1))[0]
t234.transpose(2, 0, 1)[1]
t234.transpose((2, 0, 1)).shape
t234.T.shape
t234.mT.shape
f4.T
m23.T
jnp.transpose(m23, (0, 0)) !! transpose
jnp.permute_dims(m23, (1, 0))
jnp.matrix_transpose(t234).shape
jnp.swapaxes(t234, 0, 2)[1]
jnp.swapaxes(m23, 0, 2) !! 2 is out of bounds
jnp.moveaxis(t234, 0, -1)[1]
jnp.moveaxis(t234, (0, 1), (1, 0)).shape
jnp.rollaxis(t234, 2).shape
jnp.expand_dims(f4, 0)
jnp.expand_dims(f4, (0, -1)).shape
jnp.expand_dims(f4, 3) !! axis 3 is out of bounds
jnp.squeeze(f4[None, :, None]).shape
jnp.squeeze(f4[None, :, None], axis=-1).shape
jnp.squeeze(f4, axis=0) !! cannot select an axis to squeeze out which has size not equal to one
jnp.broadcast_to(f4, (2, 4))
jnp.broadcast_to(1, (2,))
jnp.broadcast_to(f4[:, None], (4, 2))
jnp.broadcast_to(f4, (3,)) !! Incompatible (types|shapes) for broadcasting
jnp.broadcast_arrays(f4, x4[:, None])[1].shape
jnp.broadcast_shapes((2, 1), (3,))
jnp.broadcast_shapes((2,), (3,)) !! Incompatible shapes for broadcasting: shapes=\\[\\(2,\\), \\(3,\\)\\]|Incompatible shapes
jnp.concatenate([f4, x4])
jnp.concatenate([f4, i4])
jnp.concatenate([i4, u4, b4])
jnp.concatenate([m23, m23], axis=1)
jnp.concatenate([m23, m23], axis=-1).shape
jnp.concatenate([m23, f4[None, :3]])
jnp.concatenate([h4, f4[:1]])
jnp.concatenate((e0, f4))
jnp.concatenate(m23)
jnp.concatenate([m23, i23], axis=None)
jnp.concatenate([]) !! Need at least one array to concatenate
jnp.concatenate([m23, f4]) !! (C|c)annot concatenate arrays with different numbers of dimensions
jnp.concatenate([m23, t234[0]]) !! Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated
jnp.concatenate([f0, f0]) !! Zero-dimensional arrays cannot be concatenated
jnp.concat([f4, f4[:1]])
jnp.stack([f4, x4])
jnp.stack([f4, i4], axis=1)
jnp.stack([f4, x4], axis=-1).shape
jnp.stack([1.0, 2.0])
jnp.stack([f0, 2])
jnp.stack(m23)
jnp.stack([f4, f4[:3]]) !! All input arrays must have the same shape
jnp.stack([]) !! Need at least one array to stack
jnp.unstack(m23)
jnp.hstack([f4, x4[:1]])
jnp.hstack([m23, m23]).shape
jnp.hstack([1, 2.5])
jnp.vstack([f4, x4])
jnp.vstack([m23, f4[:3]])
jnp.dstack([f4, x4]).shape
jnp.column_stack([f4, x4])
jnp.append(f4, 9)
jnp.append(m23, m23, axis=0).shape
jnp.split(f4, 2)
jnp.split(f4, [1, 3])
jnp.split(m23, 3, axis=1)
jnp.split(f4, 3) !! array split does not result in an equal division
jnp.split(f4, [1, 9]) !! nonnegative
jnp.array_split(f4, 3)
jnp.hsplit(m23, 3)[0]
jnp.vsplit(m23, 2)[1]
jnp.tile(f4, 2)
jnp.tile(m23, (2, 1))
jnp.tile(f4, (2, 1, 1)).shape
jnp.repeat(f4, 2)
jnp.repeat(m23, 2, axis=0)
jnp.repeat(f4, jnp.array([1, 0, 2, 1]))
jnp.repeat(f4, jnp.array([1, 0, 2, 1]), total_repeat_length=5)
jnp.repeat(m23, jnp.array([2, 1]), axis=0)
jnp.roll(f4, 1)
jnp.roll(m23, 1, axis=1)
jnp.roll(m23, -1)
jnp.roll(m23, (1, 1), (0, 1))
jnp.roll(f4, i4[1])
jnp.flip(f4)
jnp.flip(m23, 1)
jnp.flipud(m23)
jnp.fliplr(m23)
jnp.rot90(m23)
jnp.rot90(m23, k=2)
jnp.pad(f4, 1)
jnp.pad(f4, (1, 2), constant_values=9)
jnp.pad(m23, ((1, 0), (0, 1)))
jnp.pad(m23, ((0, 0), (1, 1)), constant_values=((1, 2), (3, 4)))
jnp.pad(f4, 2, mode='edge')
jnp.pad(f4, 2, mode='reflect')
jnp.pad(f4, 2, mode='symmetric')
jnp.pad(f4, 2, mode='wrap')
jnp.pad(f4, 2, mode='mean')
jnp.pad(f4, 1, mode='linear_ramp', end_values=5)
jnp.resize(f4, (2, 3))
jnp.delete(f4, 1)
jnp.insert(f4, 1, 9)
jnp.take(f4, jnp.array([0, 2]))
jnp.take(m23, jnp.array([0, 2]), axis=1)
jnp.take(f4, jnp.array([0, 9, -1, -9]))
jnp.take(f4, jnp.array([0, 9, -1]), mode='clip')
jnp.take(f4, jnp.array([0, 9, -1]), mode='wrap')
jnp.take(f4, jnp.array([0, 9]), mode='fill', fill_value=-5)
jnp.take(i4, jnp.array([0, 9]))
jnp.take(m23, 1)
jnp.take(f4, i4[:2] * 1.0) !! integer
jnp.take_along_axis(m23, i23[:, :1] % 3, axis=1)
jnp.take_along_axis(m23, jnp.argsort(m23, axis=1), axis=1)
jnp.take_along_axis(f4, i4[::-1], axis=None)
jnp.take_along_axis(m23, i4, axis=1) !! dim
jnp.compress(b4, f4)
jnp.extract(b4, f4)
jnp.put_along_axis(m23, i23[:, :1] % 3, 9., 1, inplace=False)
jnp.place(f4, b4, jnp.array([9.]), inplace=False)
jnp.fill_diagonal(m33, 0., inplace=False)
jnp.ix_(i4[:2], i4[:3])[0].shape
jnp.unravel_index(5, (2, 3))
jnp.ravel_multi_index((jnp.array([1]), jnp.array([2])), (2, 3))
jnp.apply_along_axis(jnp.sum, 1, m23)
jnp.vectorize(lambda a, b: a + b.sum(), signature='(),(n)->()')(f4, m23[0])
jnp.vectorize(lambda a, b: a * b)(f4[:, None], f4[:2])
jnp.packbits(b4)
jnp.atleast_2d(f4)
jnp.atleast_3d(m23).shape
jnp.block([[m33, m33], [m33, m33]]).shape
jnp.astype(f4, int)
jnp.copy(f4)
jnp.array(f4, ndmin=2)
jnp.array([f4, x4])
jnp.array([f0, 2])
jnp.array([[1, 2], [3]]) !! setting an array element with a sequence|inhomogeneous|differ
jnp.array('a') !! not a valid JAX|Value 'a'|string
jnp.array(None) !! None is not a valid|not a valid JAX|None
jnp.asarray([None]) !! None
jnp.array([1, 'a']) !! not a valid|dtype
jnp.array({'a': 1}) !! not a valid|dict
jnp.array(object()) !! object
jnp.asarray(f4) is f4
jnp.frombuffer(b'\\x01\\x02', dtype=jnp.uint8)
jnp.fromfunction(lambda i, j: i + j, (2, 3))
jnp.dot(f4, f4)
jnp.dot(m23, m23.T)
jnp.dot(m33, m33[0])
jnp.dot(f4, 2)
jnp.dot(i4, i4)
jnp.dot(b4, b4)
jnp.dot(h4, h4)
jnp.dot(i4, f4)
jnp.dot(t234, t234[0].T).shape
jnp.dot(h4, h4, preferred_element_type=jnp.float32)
jnp.dot(f4, f4[:3]) !! dot_general requires contracting dimensions to have the same shape, got \\(4,\\) and \\(3,\\)
jnp.matmul(m23, m33)
jnp.matmul(t234, t234.mT)[1]
jnp.matmul(t234, f4)
jnp.matmul(f4[:3], t234)
jnp.matmul(e03, m33)
jnp.matmul(e03.T, e03)
jnp.matmul(m23, 2) !! matmul
jnp.matmul(m23, m23) !! dot_general requires contracting dimensions to have the same shape|Incompatible shapes for matmul
m23 @ m33
i23 @ i23.T
m23 @ i23.T
f4 @ f4
f4 @ 2 !! matmul
jnp.matvec(m23, f4[:3])
jnp.vecdot(m23, m23)
jnp.vdot(c4, c4)
jnp.inner(m23, m33)
jnp.outer(f4, x4[:2])
jnp.outer(m23, f4).shape
jnp.kron(m23, f4[:2])
jnp.cross(f4[:3], x4[:3])
jnp.tensordot(m23, m33, axes=1)
jnp.tensordot(t234, t234, axes=((0, 2), (0, 2)))
jnp.tensordot(f4, x4, 0)
jnp.einsum('ij,jk->ik', m23, m33)
jnp.einsum('ij->ji', m23)
jnp.einsum('ij->', m23)
jnp.einsum('ii->i', m33)
jnp.einsum('ii', m33)
jnp.einsum('i,i', f4, x4)
jnp.einsum('i,j->ij', f4, x4[:2])
jnp.einsum('bij,bkj->bik', t234, t234)
jnp.einsum('...j,j->...', t234, f4)
jnp.einsum('ij,jk,kl->il', m23, m33, m33)
jnp.einsum('ij,ij->i', i23, m23)
jnp.einsum('bij->bj', t234)
jnp.einsum(m23, [0, 1], m33, [1, 2], [0, 2])
jnp.einsum('ij,jk', h4.reshape(2, 2), h4.reshape(2, 2))
jnp.einsum('ij,k->ik', m23) !! operand
jnp.linalg.norm(m23)
jnp.linalg.norm(f4)
jnp.linalg.norm(m23, axis=1)
jnp.linalg.norm(f4, ord=1)
jnp.linalg.norm(f4, ord=jnp.inf)
jnp.linalg.norm(m23, axis=0, keepdims=True)
jnp.linalg.norm(i4)
jnp.linalg.vector_norm(m23, axis=1, ord=3)
jnp.linalg.matrix_norm(m23)
jnp.linalg.inv(m33)
jnp.linalg.det(m33)
jnp.linalg.slogdet(m33)
jnp.linalg.solve(m33, f4[:3])
jnp.linalg.solve(m33, m33[:, :2])
jnp.linalg.cholesky(m33)
jnp.abs(jnp.linalg.qr(m33)[1])
jnp.linalg.svd(m33, compute_uv=False)
jnp.linalg.eigh(m33)[0]
jnp.linalg.eigvalsh(m33)
jnp.linalg.pinv(m23)
jnp.linalg.matrix_power(m33, 3)
jnp.linalg.matrix_rank(m33)
jnp.linalg.lstsq(m33, f4[:3])[0]
jnp.linalg.multi_dot([m23, m33, m33])
jnp.linalg.trace(m33)
jnp.linalg.inv(m23) !! must have shape
""")

corpus.expressions(
    "jnp.reshape(e03, (0, -1)) !!",
    raises=("TypeError", "cannot reshape array of shape"),
    because="JAX leaks the ZeroDivisionError of its own arithmetic.",
)

# Shapes may be arrays of one dimension.
corpus.expressions("""
jnp.zeros(jnp.array([2, 3]))
jnp.full(np.array([2]), 1.0)
lax.full(np.array([2]), 1.0)
jnp.tile(f4, np.array([2, 1]))
jnp.tile(jnp.arange(2), jnp.array([2, 2]))
jax.random.normal(jax.random.key(0), np.array([2])).shape
jnp.linalg.matrix_rank(f4)
jnp.linalg.matrix_rank(jnp.zeros(3))
jnp.lexsort(f4)
""")
