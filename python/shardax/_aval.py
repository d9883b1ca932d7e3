# shardax/_aval.py - ShapedArray: what is known of an array before its values.
from shardax import _core

_SHORT = {
    **{f"{kind}{bits}": f"{kind[0]}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{"bfloat16": "bf16", "float16": "f16", "float32": "f32", "float64": "f64"},
    **{"complex64": "c64", "complex128": "c128"},
}


class ShapedArray:
    """The shape, dtype and weak type of an array; prints as `ShapedArray(float32[3])`."""

    __slots__ = ("shape", "dtype", "weak_type")

    def __init__(self, shape, dtype, weak_type=False, **_):
        self.shape = tuple(shape)
        self.dtype = _core.dtype_of(dtype)
        self.weak_type = weak_type

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        n = 1
        for d in self.shape:
            n *= d
        return n

    def str_short(self, short_dtypes=False):
        name = _SHORT.get(self.dtype.name, self.dtype.name) if short_dtypes else self.dtype.name
        return f"{name}[{','.join(map(str, self.shape))}]"

    def update(self, **changes):
        fields = dict(shape=self.shape, dtype=self.dtype, weak_type=self.weak_type)
        return ShapedArray(**{**fields, **changes})

    def strip_weak_type(self):
        return self.update(weak_type=False)

    def __repr__(self):
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.dtype.name}[{','.join(map(str, self.shape))}]{weak})"

    def __str__(self):
        return ("~" if self.weak_type else "") + self.str_short()

    def __eq__(self, other):
        return isinstance(other, ShapedArray) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def _key(self):
        return self.shape, self.dtype, self.weak_type


def aval(x):
    """The ShapedArray of an array or tracer."""
    return ShapedArray(x.shape, x.dtype, x.weak_type)


def typeof(x):
    """The ShapedArray of an array, tracer or scalar."""
    return aval(_core.asarray(x))
