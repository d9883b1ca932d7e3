"""tests/parity/cases_methods.py - the methods of arrays with all their arguments, iteration, interchange, deletion."""

import copy
import pickle

import numpy as np

import corpus as parity


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    P, NamedSharding = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))
    names.update(
        t=names["t234"],
        copy=copy,
        pickle=pickle,
        s4=jax.device_put(jnp.arange(4.0), NamedSharding(mesh, P("x"))),
        mapped=jax.pmap(lambda v: v * 2)(jnp.arange(8.0).reshape(4, 2)),
        mixed=jnp.array([[3, 1, 2], [0, 5, 4]]),
    )


corpus = parity.Corpus(setup, rtol=1e-5)

corpus.expressions("""
[m23.all(axis=0), m23.all(axis=(0, 1)), m23.all(keepdims=True), m23.any(axis=-1), m23.any(where=m23 > 10)]
[m23.argmax(), m23.argmax(axis=0), m23.argmax(axis=1, keepdims=True), m23.argmin(), m23.argmin(0)]
[mixed.argsort(), mixed.argsort(axis=0), mixed.argsort(axis=None), mixed.argsort(descending=True), mixed.argsort(stable=True)]
[mixed.sort(), mixed.sort(axis=0), mixed.sort(axis=None), mixed.sort(descending=True)]
[m23.astype('int32'), m23.astype(bool), m23.astype(complex), i4.astype(jnp.bfloat16), m23.astype(np.dtype('int8')), i4.astype(float)]
[m23.clip(0), m23.clip(max=1), m23.clip(0, 1), m23.clip(min=-1, max=1), i4.clip(1, 2), i4.clip(0.5), m23.clip()]
[i4.choose([f4, x4, f4, x4]), jnp.array([0, 5]).choose([f4[:2], x4[:2]], mode='clip')]
jnp.array([0, 5]).choose([f4[:2], x4[:2]]) !!
[m23.compress(jnp.array([True, False, True]), axis=1), m23.compress(jnp.array([True, False]), axis=0), f4.compress(b4)]
[c4.conj(), c4.conjugate(), f4.conj(), i4.conjugate()]
[m23.cumsum(), m23.cumsum(0), m23.cumsum(axis=1), i4.cumsum(dtype=float), m23.cumprod(axis=0), b4.cumsum()]
[m33.diagonal(), m33.diagonal(1), m33.diagonal(offset=-1), t.diagonal(axis1=1, axis2=2), t.diagonal(0, 0, 2)]
[f4.dot(f4), m23.dot(f4[:3]), m33.dot(m33), f4.dot(2), i4.dot(i4), f4.dot(f4, precision='highest')]
[m23.flatten(), m23.flatten(order='F'), m23.ravel(order='F'), m23.ravel('C'), f0.flatten()]
m23.ravel('K') !!
i4.round(-1) !! integer np.round not implemented
[f4.item(1), f4.item(-1), m23.item(0, 1), m23.item((1, 2)), f0.item(), i0.item()]
f4.item(10) !!
m23.item(9, 9) !!
[m23.max(), m23.max(0), m23.max(axis=(0, 1)), m23.max(initial=9), m23.max(1, keepdims=True), m23.max(where=m23 < 3, initial=-9)]
[m23.min(), m23.min(0), m23.min(initial=-9), m23.min(where=m23 > 0, initial=9)]
e0.max() !! zero-size array to reduction operation max which has no identity
e0.min() !! zero-size array to reduction operation min
e0.argmax() !!
[e0.sum(), e0.prod(), e0.mean(), e03.sum(0), e03.max(1), e0.all(), e0.any()]
[m23.mean(), m23.mean(0), m23.mean(axis=1, keepdims=True), m23.mean(dtype='float16'), m23.mean(where=m23 > 0), i4.mean(), b4.mean()]
[m23.nonzero(), i4.nonzero(), i4.nonzero(size=2), i4.nonzero(size=5, fill_value=-1)]
[m23.prod(), m23.prod(0), i4.prod(dtype=float), m23.prod(initial=2), m23.prod(where=m23 > 0)]
[m23.ptp(), m23.ptp(0), m23.ptp(axis=1, keepdims=True), i4.ptp()]
[f4.repeat(2), f4.repeat(jnp.array([0, 1, 2, 1])), m23.repeat(2, axis=1), m23.repeat(2, 0), m23.repeat(2), f4.repeat(i4, total_repeat_length=4)]
[m23.reshape(3, 2), m23.reshape((3, 2)), m23.reshape(-1), m23.reshape(3, -1), m23.reshape([6]), m23.reshape(1, 6, 1), m23.reshape((3, 2), order='F'), m23.reshape(6, order='F')]
m23.reshape(4, 2) !! cannot reshape array of shape \\(2, 3\\) \\(size 6\\) into shape \\(4, 2\\) \\(size 8\\)
m23.reshape(-1, -1) !!
m23.reshape(4, -1) !!
m23.reshape(2.5) !!
m23.reshape() !!
[f0.reshape(()), f0.reshape(1), f0.reshape(1, 1), e03.reshape(3, 0)]
[x4.round(), x4.round(1), (x4 / 3).round(decimals=2), i4.round(), jnp.array([0.5, 1.5, 2.5, -0.5]).round()]
[f4.searchsorted(1.5), f4.searchsorted(f4, side='right'), f4.searchsorted(jnp.array([[0.5]])), x4.searchsorted(0., sorter=x4.argsort())]
[m23[None].squeeze(), m23[None].squeeze(0), m23[None, :, None].squeeze((0, 2)), m23[None].squeeze(axis=-3)]
m23.squeeze(0) !! cannot select an axis to squeeze out which has size not equal to one
[m23.std(), m23.std(0), m23.std(ddof=1), m23.std(axis=1, keepdims=True), m23.std(correction=1), i4.std()]
[m23.var(), m23.var(0), m23.var(ddof=1), m23.var(where=m23 > 0), c4.var()]
[m23.sum(), m23.sum(0), m23.sum(axis=(0, 1)), m23.sum(keepdims=True), m23.sum(dtype='int32'), m23.sum(where=m23 > 0), b4.sum(), u4.sum(), h4.sum(), i4.astype('int8').sum()]
m23.sum(5) !! axis 5 is out of bounds for array of dimension 2
m23.sum((0, 0)) !!
[m23.swapaxes(0, 1), t.swapaxes(0, -1).shape, t.swapaxes(1, 1).shape]
[f4.take(jnp.array([0, 3])), m23.take(1, axis=1), m23.take(jnp.array([0, 5])), f4.take(jnp.array([9])), f4.take(jnp.array([9]), mode='clip'), f4.take(jnp.array([9, -1]), mode='wrap'), f4.take(jnp.array([9]), mode='fill', fill_value=-1)]
[m33.trace(), m33.trace(1), t.trace(), t.trace(axis1=1, axis2=2), i23.trace(dtype=float)]
[m23.transpose(), m23.transpose(1, 0), m23.transpose((1, 0)), m23.transpose([0, 1]), t.transpose(2, 0, 1).shape, t.transpose(-1, 0, 1).shape, m23.transpose(None)]
t.transpose(0, 1) !!
t.transpose(0, 0, 1) !!
t.transpose(0, 1, 5) !!
[m23.T, m23.mT, t.mT.shape, t.T.shape, f4.T]
f4.mT !!
[f4.view(), f4.view('int32'), f4.view('int16'), f4.view('uint8').shape, f4.view('complex64'), u4.view('float32'), u4.view('int8'), b4.view('uint8')]
f4[:3].view('complex64') !!
f0.view('int8') !!
[f4.tolist(), m23.tolist(), i0.tolist(), h4.tolist(), c4.tolist(), b4.tolist(), e03.tolist()]
[m23.tobytes() == np.asarray(m23).tobytes(), m23.T.tobytes() == np.asarray(m23.T).tobytes(), m23.tobytes('F') == np.asarray(m23).tobytes('F')]
[f4.copy(), f4.copy() is f4, m23.real is m23, m23.imag, c4.imag, i4.real, b4.imag]
[f4.nbytes, h4.nbytes, b4.itemsize, t.size, t.ndim, f0.ndim, e03.size, f4.on_device_size_in_bytes()]
[f4.aval.shape, f4.aval.str_short(), wf.aval.weak_type, str(f4.aval), str(wf.aval), h4.aval.str_short()]
[f4.weak_type, wf.weak_type, (wf + 1).weak_type, (wf + f4).weak_type]
[type(f0.item()), type(f4.tolist()[0]), type(b4.tolist()[0]), type(c4.item(0)), type(h4.item(0))]
[f4.__array_priority__, hasattr(f4, '__jax_array__'), f4.__array_namespace__() is jnp, f4.__array_namespace__(api_version='2024.12') is jnp]
f4.__array_namespace__(api_version='1999') !!
[f4.__dlpack_device__()[0] == 1, f4.__dlpack_device__()[1]]
[f4.is_ready(), f4.copy_to_host_async(), f4.is_fully_addressable, f4.is_fully_replicated]
f4.addressable_data(0)
[f4.to_device(jax.devices()[2]).devices(), f4.to_device(jax.devices()[0])]
hasattr(f4, 'tolist')
[round(f0), round(f0, 0), round(x4[0], 1), round(i0), type(round(f0))]
round(x4, 1)
[abs(x4), +x4, -x4, ~i4]
[bool(f0), int(f0), float(i0), complex(c4[0]), float(h4[1]), int(b4[0])]
[int(n4[3]), float(n4[1])]
int(n4[0]) !!
int(c4[0]) !!
float(c4[0]) !!
[f'{f0}', f'{f0:.2f}', f'{i0:03d}', f'{h4[1]:.3f}', f'{b4[0]}', f'{c4[0]}', f'{m23}']
f'{m23:.2f}' !!
[list(range(5))[i4[1]], 'abc'[i0 - 1], np.arange(9)[i0]]
'abc'[f0] !!
range(f0) !!
[__import__('operator').index(i0), __import__('math').sqrt(f0), __import__('math').floor(f0), divmod(x4, 2)]
isinstance(f4, __import__('collections').abc.Hashable)
{f4: 1} !! unhashable type
{f4} !! unhashable type
""")

corpus.expressions("""
list(f4)
[v.shape for v in t]
[type(v).__name__ == type(f4).__name__ for v in f4]
[*m23]
dict(enumerate(i4))
next(iter(f4))
list(reversed(f4))
list(zip(f4, i4))
list(map(float, f4))
list(e03)
iter(f0) !! iteration over a 0-d array
[v for v in f0] !! iteration over a 0-d array
len(f0) !! len\\(\\) of unsized object
[len(f4), len(m23), len(e0), len(e03)]
min(f4), max(x4)
sum(m23)
sorted(x4, key=float)
any(b4), all(b4)
[1.0 in f4, 7.0 in f4, f4[1] in f4]
3 in m23 !! search array must be one-dimensional
f4 in m23[:, :1] !!
(lambda a, *b: (a, b))(*f4)
(lambda a, b: (b, a))(*m23)
list(jax.vmap(lambda x: sum(x))(m23))
jax.jit(lambda x: [v * 2 for v in x])(f4)
jax.jit(lambda x: len(x))(m23)
""")

corpus.expressions("""
np.asarray(m23.T)
np.asarray(m23.T).flags.writeable
np.array(m23, copy=True).flags.writeable
np.array(f4, dtype='int64')
np.asarray(f4, copy=False)
np.asarray(f4, dtype='int32', copy=False) !!
f4.__array__()
f4.__array__(np.float64)
f4.__array__(dtype=np.dtype('int8'))
[memoryview(m23).shape, memoryview(m23).readonly, memoryview(m23).strides]
memoryview(h4) !!
bytes(memoryview(u4))
bytes(memoryview(f4)) == f4.tobytes()
bytearray(b'abc').__iadd__(memoryview(u4))
np.frombuffer(f4, np.float32)
np.from_dlpack(f4)
np.from_dlpack(m23)
np.from_dlpack(i23.T)
np.from_dlpack(f4).flags.writeable
np.from_dlpack(b4)
np.from_dlpack(c4)
jnp.from_dlpack(np.arange(6, dtype=np.float32).reshape(2, 3))
jnp.from_dlpack(np.arange(6, dtype=np.int16).reshape(2, 3).T)
jnp.from_dlpack(np.array([True, False]))
jnp.from_dlpack(np.arange(3.) + 1j)
jnp.from_dlpack(np.arange(3.)).dtype
jnp.from_dlpack(f4)
jnp.from_dlpack(h4)
jnp.from_dlpack(f4, copy=True)
jnp.from_dlpack(3) !!
jax.dlpack.from_dlpack(f4)
jax.dlpack.from_dlpack(np.float32([1, 2]))
np.multiply(f4, 2)
np.add.reduce(f4)
np.exp(f4, dtype=np.float64)
[type(np.multiply(f4, np.ones(4, np.float32))).__name__, type(np.ones(4, np.float32) * f4) is type(f4), type(f4 * np.ones(4)) is type(f4)]
np.ones(4, np.float64) * f4
np.arange(4) * f4
np.float32(2) ** f4
np.float64(2) - f4
np.int32(2) // i4[1:]
np.ones(4) == f4
np.ones(4) < f4
np.ones((2, 4)) @ f4
np.eye(4) @ f4
f4 @ np.eye(4)
(lambda a: (a.__iadd__(f4), a)[1])(np.ones(4, np.float32))
np.where(b4, f4, x4)
np.concatenate([f4, np.ones(2)])
np.stack([f4, x4])
np.dot(f4, f4)
np.allclose(f4, f4)
np.testing.assert_allclose(f4, np.arange(4.))
np.array([f4, x4])
np.array([f0, i0])
np.shape(m23), np.ndim(m23), np.size(m23)
np.array_equal(f4, f4)
np.float32(f0), np.int32(i0)
np.zeros(i0)
np.result_type(f4)
np.broadcast_to(f0, (2,))
np.linalg.norm(f4)
np.random.default_rng(0).permutation(f4).shape
jnp.asarray([np.float32(1), 2, f0])
jnp.array([f4, x4])
jnp.array([f4, [1, 2, 3, 4]])
jnp.array([[f0, i0], [1, 2.5]])
jnp.array((f4, x4), dtype='int32')
jnp.array(f4) is f4
jnp.asarray(f4) is f4
jnp.array(f4, copy=False) is f4
jnp.array(f4, ndmin=3).shape
jnp.array([[1, 2], [3]]) !!
jnp.array(None) !!
jnp.array('a') !!
jnp.array([1, None]) !!
jnp.array(object()) !!
jnp.array({}) !!
jnp.array([])
jnp.array([[], []])
jnp.array([True, 2, 3.5])
jnp.array([1, 2j])
jnp.array(range(3))
jnp.array(iter([1])) !!
jnp.asarray(np.array([(1, 2)], dtype=[('a', int), ('b', int)])) !!
jnp.asarray(np.datetime64('2020')) !!
""")

corpus.expressions("""
pickle.loads(pickle.dumps(f4))
[pickle.loads(pickle.dumps(v)) for v in (h4, c4, b4, f0, e03, wf, i4)]
pickle.loads(pickle.dumps({'a': [f4]}, protocol=2))
pickle.loads(pickle.dumps(s4)).sharding
pickle.loads(pickle.dumps(random.key(3)))
[copy.copy(f4), copy.deepcopy(f4), copy.copy(wf), copy.copy(f4) is f4, copy.deepcopy(f4) is f4]
[copy.copy(s4).sharding == s4.sharding, copy.deepcopy(s4).sharding == s4.sharding]
copy.deepcopy([f4, {'a': s4}])
[s4.sharding.spec, s4.device == s4.sharding, len(s4.devices()), s4.is_fully_replicated, s4.committed]
[f4.sharding, f4.device, f4.devices(), f4.committed]
[(s.device.id, s.index, s.replica_id, s.data) for s in s4.addressable_shards]
[(s.device.id, s.index, s.replica_id, s.data) for s in mapped.addressable_shards]
[repr(s4.addressable_shards[1]), len(s4.global_shards)]
[s4.addressable_data(2), mapped.addressable_data(1)]
[mapped[0], mapped[0].sharding.spec, mapped[0].devices() == mapped.devices()]
[next(iter(mapped)).shape, len(list(mapped))]
s4 + 1
(s4 + 1).sharding.spec
(s4 * s4).sharding.spec
s4.sum()
jnp.sort(s4)[::-1]
np.asarray(s4)
[f4.is_deleted(), f4.block_until_ready() is f4, jax.block_until_ready([f4, 1, None])]
jax.device_get([s4, 1, 'a', None])
""")


DELETED = """
str(d)
repr(d)
d + 1
1 + d
-d
d[0]
d[1:]
d == d
float(d[0])
np.asarray(d)
np.add(d, 1)
d.sum()
d.T
d.reshape(1, 3)
d.ravel()
d.astype('int32')
d.tolist()
d.item(0)
d.copy()
d.at[0].set(1)
list(d)
jnp.sin(d)
jnp.stack([d, d])
jax.jit(lambda v: v)(d)
jax.jit(lambda v: v + 1)(d)
jax.grad(lambda v: v.sum())(d)
jax.vmap(lambda v: v)(d)
jax.pmap(lambda v: v)(d)
jax.device_put(d)
jax.device_get(d)
pickle.dumps(d)
copy.copy(d)
copy.deepcopy(d)
d.addressable_shards[0].data
d.view('int32')
np.from_dlpack(d)
d.tobytes()
""".strip().splitlines()
ALLOWED = """
d.shape
d.dtype
d.ndim
d.size
len(d)
d.is_deleted()
d.delete()
d.aval.str_short()
d.sharding
d.weak_type
d.committed
""".strip().splitlines()


def on_deleted(source):
    def function(jax, jnp, lax):
        d = jnp.arange(3.0)
        d.delete()
        return eval(source, dict(jax=jax, jnp=jnp, np=np, pickle=pickle, copy=copy, d=d))

    return function


for source in DELETED:
    corpus.add(f"deleted: {source}", on_deleted(source), error="Array has been deleted")
for source, text in {
    "m23.sum('a')": "cannot be interpreted as an integer",
    "np.from_dlpack(jax.random.key(0))": "JAX array with PRNGKey dtype cannot be converted",
}.items():
    corpus.expressions(
        source.replace("jax.random", "random"),
        raises=("TypeError|BufferError", text),
        because="JAX: NameError and AttributeError from deep inside.",
    )
for source in ALLOWED:
    corpus.add(f"deleted: {source}", on_deleted(source))


BETTER = (
    "JAX names its runtime's calls instead, or has no strided or byte-swapped memory;"
    " its method `sum` drops `initial`."
)
corpus.expressions(
    """
memoryview(f4).tolist() => f4.tolist()
jnp.from_dlpack(np.arange(6, dtype=np.int8)[::2]) => jnp.int8([0, 2, 4])
jnp.asarray(np.array([1, 2], dtype='>i4')) => jnp.array([1, 2])
m23.sum(initial=5) => jnp.sum(m23, initial=5)
""",
    because=BETTER,
)
for source in ("bool(d)", "memoryview(d)", "d.block_until_ready()", "d.unsafe_buffer_pointer()"):
    corpus.add(
        f"deleted: {source}",
        on_deleted(source),
        raises=("RuntimeError|ValueError", "Array has been deleted|truth value"),
        because=BETTER,
    )


@corpus.case()
def case_donation_deletes(jax, jnp, lax):
    x, y = jnp.arange(3.0), jnp.arange(3.0)
    view = x[1:]
    out = jax.jit(lambda a, b: a + b, donate_argnums=0)(x, y)
    return out, x.is_deleted(), y.is_deleted(), view


@corpus.case(error="Array has been deleted with shape=float32\\[3\\]")
def case_use_after_donation(jax, jnp, lax):
    x = jnp.arange(3.0)
    jax.jit(lambda a: a + 1, donate_argnums=0)(x)
    return x + 1


@corpus.case(reference=lambda jax, jnp, lax: (jnp.array([0.0, 2, 4]), True), because="JAX refuses.")
def case_donating_one_array_twice(jax, jnp, lax):
    x = jnp.arange(3.0)
    return jax.jit(lambda a, b: a + b, donate_argnums=(0, 1))(x, x), x.is_deleted()


@corpus.case()
def case_deleting_leaves_views_and_numpy(jax, jnp, lax):
    x = jnp.arange(4.0)
    a, v, c = np.asarray(x), x[1:3], x.copy()
    x.delete()
    return a, v, c


@corpus.case(error="immutable and do not support in-place item assignment")
def case_slice_assignment(jax, jnp, lax):
    x = jnp.arange(4.0)
    x[1:] = 0


@corpus.case(
    raises=("TypeError", "do not support deletion of items"), because="JAX: AttributeError."
)
def case_item_deletion(jax, jnp, lax):
    x = jnp.arange(4.0)
    del x[0]


@corpus.case(error="no setter|not writable")
def case_setting_shape(jax, jnp, lax):
    x = jnp.arange(4.0)
    x.shape = (2, 2)


@corpus.case(error="read-only")
def case_numpy_views_are_read_only(jax, jnp, lax):
    a = np.asarray(jnp.arange(4.0))
    a[0] = 1


@corpus.case()
def case_augmented_numpy_operand(jax, jnp, lax):
    a = np.ones(3)
    a += jnp.arange(3.0)
    x = jnp.ones(3)
    x += np.arange(3)
    return a, x
