"""tests/array/test_dlpack_hostile.py - capsules whose tensors make no sense."""

import ctypes
import gc

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp


class Tensor(ctypes.Structure):
    """DLManagedTensor, flat."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
    ]


class Capsule:
    """Lends one float32 tensor; `deleted` counts how often it was given back."""

    def __init__(self, shape, *, data=True, strides=None, offset=0, ndim=None, bits=32, null=False):
        self.memory = np.arange(16, dtype=np.float32)
        self.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.strides = strides and (ctypes.c_int64 * len(strides))(*strides)
        self.deleted = 0

        def delete(_):
            self.deleted += len([1])  # Python code, as that of a library in Python

        self.tensor = Tensor(
            data=self.memory.ctypes.data if data else None,
            device_type=1,
            ndim=len(shape) if ndim is None else ndim,
            code=2,
            bits=bits,
            lanes=1,
            shape=None if null else self.shape,
            strides=self.strides or None,
            byte_offset=offset,
            deleter=type(Tensor().deleter)(delete),
        )

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)

    def __dlpack_device__(self):
        return (1, 0)


def test_a_sound_capsule():
    capsule = Capsule((2, 3), strides=(3, 1), offset=4)
    x = jnp.from_dlpack(capsule)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]] and capsule.deleted == 0
    del x
    gc.collect()
    assert capsule.deleted == 1


def test_an_empty_tensor_needs_no_memory():
    capsule = Capsule((0, 3), data=False)
    assert jnp.from_dlpack(capsule).shape == (0, 3)
    gc.collect()
    assert capsule.deleted == 1


UNSOUND = {
    "null data": (dict(shape=(3,), data=False), "no memory .its data pointer is null"),
    "null data of a scalar": (dict(shape=(), data=False), "no memory"),
    "ndim -1": (dict(shape=(3,), ndim=-1), "the tensor has -1 dimensions; expected 0 to 64"),
    "ndim 65": (dict(shape=(1,) * 65), "the tensor has 65 dimensions; expected 0 to 64"),
    "no shape": (dict(shape=(3,), null=True), "the tensor has no shape"),
    "negative": (dict(shape=(2, -3)), "no dimension may be negative"),
    "negative twice": (dict(shape=(-2, -3)), "no dimension may be negative"),
    "huge": (dict(shape=(2**62, 2**62)), "more bytes than there are addresses"),
    "large": (dict(shape=(2**60,)), "more bytes than there are addresses"),
    "overflowing to 0": (dict(shape=(2**32, 2**32)), "more bytes than there are addresses"),
    "far apart": (dict(shape=(3, 3), strides=(2**61, 1)), "more bytes than there are addresses"),
    "far away": (dict(shape=(3,), offset=2**63), "more bytes than there are addresses"),
}


@pytest.mark.parametrize("name", sorted(UNSOUND))
def test_unsound_capsules(name):
    options, text = UNSOUND[name]
    capsule = Capsule(**options)
    with pytest.raises(ValueError, match=text):
        jnp.from_dlpack(capsule)
    gc.collect()
    assert capsule.deleted == 1


def test_elements_of_no_dtype():
    capsule = Capsule((3,), bits=31)
    with pytest.raises(TypeError, match="no dtype of arrays"):
        jnp.from_dlpack(capsule)
    assert capsule.deleted == 1


@pytest.mark.parametrize("device", ["x", 1, (1,), (1, 2, 3)])
def test_devices_are_pairs(device):
    with pytest.raises(TypeError, match="a pair .device type, device id. was expected"):
        jnp.ones(3).__dlpack__(dl_device=device)


@pytest.mark.parametrize("data", ["x", 1, (), (list,), (list, None, 3)])
def test_malformed_treedefs(data):
    make = jax.tree_util.PyTreeDef.from_node_data_and_children
    with pytest.raises(TypeError, match="a pair .type, data. was expected"):
        make(None, data, [])


def test_treedefs_whose_parts_do_not_fit():
    make = jax.tree_util.PyTreeDef.from_node_data_and_children
    leaf = jax.tree.structure(0)
    for data, children in [
        ((dict, ["a", "b"]), [leaf]),
        ((dict, None), [leaf]),
        ((type(None), None), [leaf]),
        ((int, None), []),
        ((list, None), [1]),
        (None, None),
        ((dict, [[]]), [leaf]),
    ]:
        with pytest.raises((TypeError, ValueError)):
            make(None, data, children).unflatten([1])
