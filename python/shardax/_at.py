# shardax/_at.py - x.at[index].set(y) and its kin: updated copies of arrays.
from shardax import _core

# What to do with indices out of bounds, by the names and enum members that JAX accepts.
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
        """x[index]; with mode="fill", `fill_value` (NaN by default) where out of bounds."""
        chosen = _mode(mode, "clip")
        if mode is None:
            return self.array[self.index]
        return _core.at_get(self.array, self.index, chosen, fill_value)

    def _scatter(self, kind, values, indices_are_sorted, unique_indices, mode):
        return _core.at_scatter(
            kind,
            self.array,
            self.index,
            values,
            _mode(mode, "fill"),
            indices_are_sorted,
            unique_indices,
        )

    def set(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None, **_):
        """x with x[index] replaced by `values`."""
        return self._scatter("scatter", values, indices_are_sorted, unique_indices, mode)

    def add(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None, **_):
        """x with `values` added to x[index]; repeated indices accumulate."""
        return self._scatter("scatter-add", values, indices_are_sorted, unique_indices, mode)

    def subtract(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None, **_):
        """x with `values` subtracted from x[index]."""
        return self._scatter("scatter-sub", values, indices_are_sorted, unique_indices, mode)

    def multiply(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None, **_):
        """x with x[index] multiplied by `values`."""
        return self._scatter("scatter-mul", values, indices_are_sorted, unique_indices, mode)

    mul = multiply

    def min(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None, **_):
        """x with the smaller of x[index] and `values`."""
        return self._scatter("scatter-min", values, indices_are_sorted, unique_indices, mode)

    def max(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None, **_):
        """x with the larger of x[index] and `values`."""
        return self._scatter("scatter-max", values, indices_are_sorted, unique_indices, mode)

    def _combined(self, values, options):
        ones = _core.full(self.array.shape, 1, self.array.dtype)
        return _IndexUpdateRef(ones, self.index).multiply(values, **options)

    def divide(self, values, **options):
        """x with x[index] divided by `values`."""
        return _core.functions.divide(self.array, self._combined(values, options))

    def power(self, values, **options):
        """x with x[index] raised to `values`."""
        return _core.functions.power(self.array, self._combined(values, options))

    def apply(self, func, *, indices_are_sorted=False, unique_indices=False, mode=None, **_):
        """x with func(x[index]) in place of x[index]."""
        present = _core.at_get(self.array, self.index, _mode(mode, "fill"), None)
        return self._scatter("scatter", func(present), indices_are_sorted, unique_indices, mode)


def at(x):
    """The property `x.at`."""
    return _IndexUpdateHelper(x)
