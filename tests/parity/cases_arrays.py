"""tests/parity/cases_arrays.py - printing, attributes, methods and NumPy interchange of arrays; devices, meshes, placement."""

import contextlib

import numpy as np

import corpus as parity

ATTRIBUTES = """T mT at aval addressable_data addressable_shards all any argmax argmin argsort astype block_until_ready clip
    committed conj copy copy_to_host_async cumprod cumsum delete device devices diagonal dot dtype flatten
    global_shards imag is_deleted is_fully_addressable is_fully_replicated is_ready item itemsize max mean min
    nbytes ndim nonzero on_device_size_in_bytes prod ptp ravel real repeat reshape round searchsorted shape
    sharding size sort squeeze std sum swapaxes take to_device tobytes tolist trace transpose
    unsafe_buffer_pointer var view weak_type""".split()


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    names["pp"] = lambda x: [repr(x), str(x), f"{x}"]
    names["t"], names["ATTRIBUTES"] = names["t234"], ATTRIBUTES
    with contextlib.suppress(Exception):  # the users of these names fail one by one
        sharding = jax.sharding
        names.update(
            Mesh=sharding.Mesh, NamedSharding=sharding.NamedSharding, P=sharding.PartitionSpec
        )
        names["mesh"] = sharding.Mesh(np.array(jax.devices()[:4]), ("x",))
        names["mesh22"] = sharding.Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("a", "b"))
        names["f8"] = jnp.arange(8, dtype=jnp.float32)


corpus = parity.Corpus(setup)

corpus.expressions("""
each(pp)
pp(f0)
pp(i0)
pp(wi)
pp(wf)
pp(jnp.asarray(True))
pp(jnp.asarray(1j))
pp(jnp.full(2, 1.0))
pp(e0)
pp(e03)
pp(jnp.zeros((2, 0), int))
pp(m23)
pp(t)
pp(i23)
pp(n4)
pp(x4)
pp(h4)
pp(c4)
pp(h4 / 3)
pp(f4 / 3)
pp(jnp.float32([1e-10, 1.0, 1e10]))
pp(jnp.float32([1e-3, 1e3]))
pp(jnp.float32([0.1, 123456.789]))
pp(jnp.float32(1e20))
pp(jnp.float32(0.1))
pp(jnp.float32([[0.1, 2], [30, 4000]]))
pp(jnp.float32([-0.0, 0.0]))
pp(jnp.float16([0.1, 65504]))
pp(jnp.bfloat16(3.14159))
pp(jnp.arange(20))
pp(jnp.arange(30.0))
pp(jnp.arange(100).reshape(10, 10))
pp(jnp.arange(1001))
pp(jnp.arange(1000.0))[0][:60]
pp(jnp.arange(2000.0).reshape(40, 50))
pp(jnp.zeros((11, 11, 11)))[1]
pp(jnp.linspace(0, 1, 7))
pp(jnp.array([True, False]))
pp(jnp.ones((1, 1, 1)))
pp(jnp.arange(6).reshape(1, 2, 3)[..., None])
pp(jax.pmap(lambda x: x / 3)(f4))
pp(jax.pmap(lambda x: x)(m23))
pp([f4, i0])
pp({'a': f0, 'b': h4})
pp((x4[0],))
[f'{f0:.3f}', f'{i0:5d}', f'{f0:8.2e}', f'{i0}', f'{h4[1]:.2f}', f'{f0!r}', format(i0, 'x'), f'{f4[1]:>8}']
'%.2f %d %s' % (f0, i0, i0)
format(f4, '.2f') !! unsupported format string
f'{f4:}'
repr(jnp.arange(3)).replace('Array', 'A')
np.array2string(np.asarray(f4 / 3), precision=2)
[str(jnp.float32), repr(jnp.float32), jnp.float32.__name__]
[str(f4.dtype), repr(f4.dtype), f4.dtype.name, h4.dtype.name, f4.dtype == np.float32, f4.dtype == 'float32', h4.dtype == jnp.bfloat16]
[isinstance(f4, jax.Array), isinstance(f4, jnp.ndarray), isinstance(np.ones(2), jax.Array), isinstance(3, jax.Array)]
jax.jit(lambda x: [isinstance(x, jax.Array), x][1])(f4)
[f4.shape, f4.ndim, f4.size, f4.nbytes, f4.itemsize, f4.weak_type, t.shape, f0.shape, f0.size, e03.size, h4.itemsize]
[len(f4), bool(f0), int(i0), float(f0), complex(f0), i0.__index__(), round(f0), abs(f0).item(), f0.item(), i4[1].item()]
[int(f0), float(i0), bool(i0), [1, 2, 3, 4][i0], list(range(i0)), hash is not None]
[f4.tolist(), f0.tolist(), m23.tolist(), b4.tolist(), h4.tolist()]
[f4.item(2), m23.item(1, 2), m23.item(4)]
f4.item() !! Can only convert|only arrays of size 1|size
float(f4) !! Only scalar arrays can be converted to Python scalars; got arr.ndim=1
int(f4[:1]) !! Only scalar arrays can be converted to Python scalars; got arr.ndim=1
bool(f4) !! truth value of an array with more than one element is ambiguous
bool(e0) !! truth value of an empty array is ambiguous
f0.__index__() !! Only integer scalar arrays can be converted to a scalar index
i4.__index__() !! Only integer scalar arrays can be converted to a scalar index
hash(f4) !! unhashable type
f4.missing !! has no attribute 'missing'
np.asarray(f4)
np.array(f4)
np.asarray(h4).dtype.name
np.asarray(f0)
np.sum(f4)
np.sin(f4)
np.add(f4, 1)
np.ones(4) + f4
f4 + np.ones(4)
np.float64(2) * f4
np.asarray(f4).flags.writeable
[np.asarray(f4).flags.owndata, np.array(f4).flags.writeable]
np.concatenate([f4, f4])
np.asarray(f4, dtype=np.float64)
np.asarray(f4).sum()
(lambda a: (a.__setitem__(0, 9.), a))(np.array(f4))[1]
(lambda a: (lambda x: (a.__setitem__(0, 9.), x))(jnp.array(a)))(np.zeros(2, np.float32))[1]
np.asarray(f4).__setitem__(0, 1.) !! assignment destination is read-only
jnp.asarray(np.arange(6).reshape(2, 3).T)
jnp.asarray(np.arange(6)[::-2])
jnp.asarray(np.ones(2, np.longdouble).astype(np.float64))
jnp.asarray(memoryview(b'abc'))
jnp.asarray(np.array(['a'])) !!
jnp.from_dlpack(np.arange(3.0, dtype=np.float32))
np.from_dlpack(f4)
__import__('pickle').loads(__import__('pickle').dumps(f4))
__import__('copy').deepcopy({'a': f4})
__import__('copy').copy(h4)
[f4 is f4.block_until_ready(), jax.block_until_ready({'a': 1})]
f4.astype(jnp.int8)
f4.astype('bfloat16')
f4.copy()
[f4.sum(), f4.mean(), f4.max(), f4.min(), f4.prod(), f4.std(), f4.var(), f4.ptp(), f4.argmax(), f4.argmin()]
[m23.sum(0), m23.mean(axis=1, keepdims=True), m23.max(axis=-1), m23.any(), m23.all(0), m23.cumsum(1), m23.cumprod()]
[m23.T, m23.mT, m23.ravel(), m23.flatten(), m23.squeeze(), m23.transpose(1, 0), m23.swapaxes(0, 1), m23.reshape(3, 2)]
[f4.dot(f4), f4.clip(1, 2), f4.round(), f4.repeat(2), f4.take(jnp.array([1])), f4.nonzero(), x4.sort(), x4.argsort()]
[c4.real, c4.imag, c4.conj(), f4.real, f4.imag, f4.conj(), c4.conjugate()]
[m33.trace(), m33.diagonal(), f4.searchsorted(1.5), f4.compress(b4), i4.choose([f4, x4, f4, x4])]
f4.view(jnp.int32)
f4.view('uint8')
f4.tobytes().hex()
[f4.at[0].get(), f4.is_deleted(), f4.is_ready(), f4.is_fully_addressable, f4.is_fully_replicated, f4.committed]
[n for n in ATTRIBUTES if not hasattr(m23, n)]
[x4 + 1, x4 - f4, x4 * 2, x4 / 2, x4 // 2, x4 % 2, x4 ** 2, -x4, +x4, abs(x4), x4 @ f4, divmod(x4, 2)]
[1 + x4, 1 - x4, 2 * x4, 2 / f4, 7 // x4, 7 % x4, 2 ** x4, divmod(7, x4)]
[x4 > 0, x4 >= f4, x4 < 0, x4 <= 0, x4 == f4, x4 != f4, x4 == None, x4 == 'a']
[i4 & 1, i4 | 1, i4 ^ 1, ~i4, i4 << 1, i4 >> 1, 1 << i4, 8 >> i4, b4 & b4, b4 | ~b4, b4 ^ True]
f4 & 1 !! does not accept dtype float32|only integer and bool
f4 == f4[:2] !! Incompatible shapes|got incompatible shapes
jax.devices()
[str(jax.devices()[1]), repr(jax.devices()[1]), jax.devices()[1].id, jax.devices()[1].platform, jax.devices()[1].device_kind]
[jax.devices()[2].process_index, jax.devices()[2].local_hardware_id, jax.devices()[0] == jax.devices()[0], jax.devices()[0] == jax.devices()[1]]
[jax.device_count(), jax.local_device_count(), jax.process_index(), jax.process_count(), jax.default_backend(), jax.host_id()]
[len(jax.devices('cpu')), jax.device_count('cpu'), len(jax.local_devices()), jax.local_devices()[3].id]
[len({*jax.devices()}), jax.devices()[0] in jax.devices(), sorted(d.id for d in jax.devices()[2:4])]
jax.devices('gpu') !! Unknown backend.*gpu
[f4.device, repr(f4.sharding), f4.devices()]
[s.data for s in f4.addressable_shards]
repr(f4.addressable_shards[0])
jax.device_put(1.5)
jax.device_put([1., 2])
jax.device_put({'a': np.arange(2), 'b': None})
jax.device_put(np.arange(3), jax.devices()[2]).devices()
jax.device_put(f4, NamedSharding(mesh, P('x'))).sharding.spec
jax.device_put(f4, NamedSharding(mesh, P('x')))
[s.data for s in jax.device_put(f8, NamedSharding(mesh, P('x'))).addressable_shards]
[s.index for s in jax.device_put(f8.reshape(4, 2), NamedSharding(mesh22, P('a', 'b'))).addressable_shards]
[s.replica_id for s in jax.device_put(f8, NamedSharding(mesh22, P('a'))).addressable_shards]
jax.device_put({'a': f8, 'b': f4}, NamedSharding(mesh, P('x')))['b'].sharding.spec
jax.device_put(f8[:7], NamedSharding(mesh, P('x'))) !! 7
jax.device_get({'a': f4, 'b': 3, 'c': [i0]})
jax.device_get(f4)
type(jax.device_get(f4))
repr(mesh)
[mesh.shape, mesh.axis_names, mesh.size, mesh.devices.shape, mesh.empty]
[repr(mesh22), mesh22.shape['b'], mesh22.devices[1, 0].id]
repr(NamedSharding(mesh, P('x')))
[repr(P('x', None)), repr(P()), repr(P(('a', 'b'), None)), P('x') == P('x'), P('x', None) == P('x'), tuple(P('x', None))]
NamedSharding(mesh, P('x')).shard_shape((8, 2))
NamedSharding(mesh22, P('a', 'b')).shard_shape((8, 2))
NamedSharding(mesh, P('x')).devices_indices_map((8,))[jax.devices()[1]]
[NamedSharding(mesh, P('x')).is_fully_replicated, NamedSharding(mesh, P()).is_fully_replicated]
[NamedSharding(mesh, P('x')).num_devices, len(NamedSharding(mesh, P('x')).device_set)]
NamedSharding(mesh, P('x')).is_equivalent_to(NamedSharding(mesh, P('x', None)), 2)
NamedSharding(mesh, P('q')) !! Resource axis: q of P\\('q',\\) is not found in mesh: \\('x',\\)
NamedSharding(mesh, P('x', 'x')) !! x
Mesh(jax.devices()[:4], ('x', 'y')) !!
Mesh(np.array(jax.devices()).reshape(2, 4), ('x', 'y')).shape
Mesh(jax.devices(), ('x',)) == Mesh(jax.devices(), ('x',))
jax.make_mesh((4,), ('x',)).shape
jax.make_mesh((2, 4), ('a', 'b')).axis_names
jax.make_mesh((16,), ('x',)) !! Number of devices 8 must be >= the product of mesh_shape
repr(jax.sharding.SingleDeviceSharding(jax.devices()[0]))
jax.config.jax_enable_x64
jax.config.nope !! nope
jax.config.update('nope', 1) !! Unrecognized config option: nope
[jax.config.read('jax_enable_x64'), jax.config.jax_threefry_partitionable]
warned(lambda: jnp.ones(2, 'float64'))
warned(lambda: jnp.asarray(1, jnp.int64))
warned(lambda: jnp.asarray(np.arange(2.0)))
warned(lambda: f4.astype('float64'))
warned(lambda: jnp.array([1j]).astype(float))
jnp.array([1, 2], dtype='int64').dtype
""")

corpus.expressions(
    """
jnp.arange(3)
jnp.arange(3.0)
jnp.asarray(1.5)
jnp.asarray(2)
jnp.asarray(np.arange(2.0))
jnp.ones(2, 'float64')
jnp.ones(2) * np.float32(2)
jnp.sum(jnp.ones(2, bool))
jnp.sum(jnp.ones(2, jnp.int8))
jnp.mean(jnp.arange(3))
jnp.arange(3) / 2
jnp.argmax(jnp.arange(3))
jnp.exp(1)
jnp.asarray(2**40)
jnp.sin(jnp.float64(0.5))
jax.grad(jnp.sin)(0.5)
jax.random.normal(jax.random.PRNGKey(0), (2,))
jax.random.uniform(jax.random.PRNGKey(0), (2,), jnp.float64)
jax.random.bits(jax.random.PRNGKey(0), (2,), 'uint64')
jax.random.randint(jax.random.PRNGKey(0), (2,), 0, 10)
jax.random.PRNGKey(2**40)
jax.pmap(lambda x: x / jax.lax.psum(x, 'i'), 'i')(jnp.arange(4))
repr(jnp.linspace(0, 1, 3))
jnp.asarray(1 + 2j)
jax.nn.one_hot(jnp.array([0, 1]), 2)
jnp.linalg.inv(jnp.array([[2., 1.], [0., 1.]]))
lax.scan(lambda c, x: (c + x, c), 0, jnp.arange(3))
""",
    config={"jax_enable_x64": True},
)


@corpus.case()
def case_print_options(jax, jnp, lax):
    with jnp.printoptions(precision=2):
        return str(jnp.float32([1 / 3])), repr(jnp.float32([1 / 3]))


@corpus.case()
def case_delete(jax, jnp, lax):
    x = jnp.arange(3.0)
    x.delete()
    return x.is_deleted()


@corpus.case(error="Array has been deleted")
def case_use_after_delete(jax, jnp, lax):
    x = jnp.arange(3.0)
    x.delete()
    return x + 1


@corpus.case()
def case_enable_x64_is_a_context_manager(jax, jnp, lax):
    with jax.enable_x64(True):
        inside = jnp.arange(2.0).dtype
    return inside, jnp.arange(2.0).dtype


@corpus.case()
def case_arrays_made_by_numpy_are_copies(jax, jnp, lax):
    a = np.zeros(3, np.float32)
    x, y = jnp.asarray(a), jax.pmap(lambda v: v + 0)(a)
    a[0] = 5
    return y, a, x.shape


PUT_BECAUSE = (
    "JAX 0.10 removed these; older versions stack along a new leading axis, one slice a device."
)
corpus.expressions(
    """
jax.device_put_replicated(f4, jax.devices()[:2]) => jnp.stack([f4, f4])
jax.device_put_replicated({'a': f0, 'b': [i4]}, jax.devices()[:3]) => {'a': jnp.stack([f0] * 3), 'b': [jnp.stack([i4] * 3)]}
jax.device_put_sharded([f4, x4], jax.devices()[:2]) => jnp.stack([f4, x4])
jax.device_put_sharded([{'a': f0}, {'a': f0 + 1}], jax.devices()[:2]) => {'a': jnp.stack([f0, f0 + 1])}
jax.tree_map(lambda v: v + 1, {'a': f4, 'b': (f0,)}) => jax.tree_util.tree_map(lambda v: v + 1, {'a': f4, 'b': (f0,)})
jax.tree_leaves({'b': f4, 'a': [f0, None]}) => jax.tree_util.tree_leaves({'b': f4, 'a': [f0, None]})
jax.tree_unflatten(jax.tree_flatten((f4, f0))[1], [1, 2]) => (1, 2)
jax.tree_structure({'a': 1}) => jax.tree_util.tree_structure({'a': 1})
jax.tree_multimap(lambda a, b: a + b, [f4], [x4]) => [f4 + x4]
jax.experimental.maps.Mesh(np.array(jax.devices()[:4]), ('x',)).shape => Mesh(np.array(jax.devices()[:4]), ('x',)).shape
""",
    because=PUT_BECAUSE,
)

corpus.expressions(
    """
[jax.config.update('jax_num_cpu_devices', 4), jax.device_count(), f4 + 1, jax.config.update('jax_num_cpu_devices', 8)] => [None, 4, f4 + 1, None]
[jax.config.update('jax_cpu_device_count', 2), len(jax.devices()), jax.config.update('jax_cpu_device_count', 8)] => [None, 2, None]
jax.config.update('jax_num_cpu_devices', 8) => None
""",
    because="In JAX the number of devices is fixed by the first operation.",
)
