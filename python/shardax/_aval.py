# shardax/_aval.py - ShapedArray: what is known of an array before its values.
from shardax import _core


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
        dims = ",".join(map(str, self.shape))
        return f"{'~' if self.weak_type else ''}{self.dtype.name}[{dims}]"

    def update(self, **changes):
        fields = dict(shape=self.shape, dtype=self.dtype, weak_type=self.weak_type)
        return ShapedArray(**{**fields, **changes})

    def strip_weak_type(self):
        return self.update(weak_type=False)

    def __repr__(self):
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.dtype.name}[{','.join(map(str, self.shape))}]{weak})"

    __str__ = str_short

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
