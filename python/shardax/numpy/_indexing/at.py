# shardax/numpy/_indexing/at.py - x.at[index].set(y) and its kin: updated copies of arrays.
import shardax._core as _core
from shardax._devices.out_sharding import split_so
from shardax.lax._indexing import repeated

# The treatment of indices out of bounds, by the names and enum members that JAX accepts.
_MODES = {
    "fill": "fill",
    "drop": "fill",
    "clip": "clip",
    "promise_in_bounds": "promise_in_bounds",
}


def _mode(mode, default):
    if mode is None:
        return default
    name = getattr(mode, "name", None) or str(mode)
    name = {"fill_or_drop": "fill", "one_hot": "fill"}.get(name.lower(), name.lower())
    if name not in _MODES:
        raise ValueError(f'Unknown gather mode "{mode}"')
    return _MODES[name]


class _IndexUpdateHelper:
    """`x.at`: index it, then call one of the methods of the result."""

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return _IndexUpdateRef(self.array, index)

    def __repr__(self):
        return f"_IndexUpdateHelper({self.array!r})"


class _IndexUpdateRef:
    """`x.at[index]`. Each method gives a new array; x stays as it is.

    Updates whose indices lie out of bounds are dropped; `mode="clip"` moves them to the edge.
    Negative indices count from the end, unless `wrap_negative_indices=False`.
    """

    __slots__ = ("array", "index")

    def __init__(self, array, index):
        self.array = array
        self.index = index

    def __repr__(self):
        return f"_IndexUpdateRef({self.array!r}, {self.index!r})"

    def get(
        self,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        fill_value=None,
        out_sharding=None,
        wrap_negative_indices=True,
    ):
        """x[index]; with mode="fill", `fill_value` (NaN by default) where out of bounds;
        `out_sharding` says how it is split over explicit axes of a mesh. Reading makes no use of
        the promises `indices_are_sorted` and `unique_indices`."""
        if out_sharding is not None:
            options = {
                "mode": mode,
                "fill_value": fill_value,
                "wrap_negative_indices": wrap_negative_indices,
            }
            return split_so(out_sharding, "at[...].get", lambda: self.get(**options))
        chosen = _mode(mode, "clip")
        if mode is None and wrap_negative_indices:
            return self.array[self.index]
        if isinstance(fill_value, _core.Array):
            fill_value = fill_value.item()
        return _core.at_get(self.array, self.index, chosen, fill_value, wrap_negative_indices)

    def _scatter(
        self,
        kind,
        values,
        *,
        indices_are_sorted=False,
        unique_indices=False,
        mode=None,
        out_sharding=None,
        wrap_negative_indices=True,
    ):
        if out_sharding is not None:
            options = {
                "indices_are_sorted": indices_are_sorted,
                "unique_indices": unique_indices,
                "mode": mode,
                "wrap_negative_indices": wrap_negative_indices,
            }
            return split_so(
                out_sharding, "at[...].set", lambda: self._scatter(kind, values, **options)
            )
        dtype = self.array.dtype
        if type(values) is int and values >= 2**31 and dtype.kind == "u" and dtype.itemsize >= 4:
            values = _core.asarray(values, dtype)
        return _core.at_scatter(
            kind,
            self.array,
            self.index,
            values,
            _mode(mode, "fill"),
            indices_are_sorted,
            unique_indices,
            wrap_negative_indices,
        )

    def set(self, values, **options):
        """x with x[index] replaced by `values`."""
        return self._scatter("scatter", values, **options)

    def add(self, values, **options):
        """x with `values` added to x[index]; repeated indices accumulate."""
        return self._scatter("scatter-add", values, **options)

    def subtract(self, values, **options):
        """x with `values` subtracted from x[index]."""
        return self._scatter("scatter-sub", values, **options)

    def multiply(self, values, **options):
        """x with x[index] multiplied by `values`."""
        return self._scatter("scatter-mul", values, **options)

    mul = multiply

    def min(self, values, **options):
        """x with the smaller of x[index] and `values`."""
        return self._scatter("scatter-min", values, **options)

    def max(self, values, **options):
        """x with the larger of x[index] and `values`."""
        return self._scatter("scatter-max", values, **options)

    def _combined(self, values, options):
        ones = _core.full(self.array.shape, 1, self.array.dtype)
        return _IndexUpdateRef(ones, self.index).multiply(values, **options)

    def divide(self, values, **options):
        """x with x[index] divided by `values`."""
        return _core.functions.divide(self.array, self._combined(values, options))

    def power(self, values, **options):
        """x with x[index] raised to `values`."""
        return _core.functions.power(self.array, self._combined(values, options))

    def apply(self, func, **options):
        """x with func(x[index]) in place of x[index]; as often as an index is repeated.

        `func` maps arrays elementwise.
        """
        mode, wrap = options.get("mode"), options.get("wrap_negative_indices", True)
        present = _core.at_get(self.array, self.index, _mode(mode, "fill"), None, wrap)
        once = self._scatter("scatter", func(present), **options)
        if options.get("unique_indices") or not _may_repeat(self.index):
            return once
        hits = _IndexUpdateRef(_core.full(self.array.shape, 0, "int32"), self.index)
        return repeated(func, once, hits.add(1, **options))


def _may_repeat(index):
    """True if an index holds an array of integers, which may name an element twice."""
    entries = index if isinstance(index, tuple) else (index,)
    return any(getattr(e, "ndim", 0) and e.dtype != bool for e in entries)


def at(x):
    """The property `x.at`."""
    return _IndexUpdateHelper(x)
