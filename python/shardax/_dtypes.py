# shardax/_dtypes.py - dtype objects that NumPy lacks, and jnp's scalar types.
import numpy as np

from shardax import _core


def __getattr__(name):
    if name == "bfloat16_dtype":  # imported where it is first needed
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# The tangent type of integers and booleans: no data.
float0 = np.dtype([("float0", np.void, 0)])


class prng_key(np.generic):
    """The kind of all PRNG key dtypes, for issubdtype."""


class KeyTy:
    """The dtype of typed PRNG keys: two uint32 words that are no numbers."""

    name = "key<fry>"
    itemsize = 8
    type = prng_key
    kind = "V"

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, KeyTy)

    def __hash__(self):
        return hash(self.name)


key_dtype = KeyTy()


class ScalarType(type):
    """jnp.float32 and its kin: calling one makes an array; it equals NumPy's type of that name."""

    def __new__(cls, name, np_name=None):
        return super().__new__(cls, name, (), {"__module__": "shardax.numpy"})

    def __init__(cls, name, np_name=None):
        super().__init__(name, (), {})
        cls._np_name = np_name or name

    @property
    def dtype(cls):
        return _core.dtype_of(cls._np_name)

    def __call__(cls, x):
        return _core.asarray(x, cls)

    def __hash__(cls):
        return hash(cls.dtype.type)

    def __eq__(cls, other):
        if cls is other:
            return True
        try:
            return cls.dtype == other or cls.dtype.type == other
        except TypeError:
            return False

    def __instancecheck__(cls, instance):
        return isinstance(instance, cls.dtype.type)


_names = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 bfloat16 float16 float32 float64 "
    "complex64 complex128"
).split()
scalar_types = {name: ScalarType(name) for name in _names}
scalar_types["bool_"] = scalar_types["bool"] = ScalarType("bool")
scalar_types["float_"] = scalar_types["double"] = scalar_types["float64"]
scalar_types["single"] = scalar_types["float32"]
scalar_types["csingle"] = scalar_types["complex64"]
scalar_types["cdouble"] = scalar_types["complex_"] = scalar_types["complex128"]
scalar_types["int_"] = scalar_types["int64"]
scalar_types["uint"] = scalar_types["uint64"]
