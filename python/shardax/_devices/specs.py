# shardax/_devices/specs.py - PartitionSpec: the mesh axes that split each dimension.
from typing import Any


def _entry(names):
    """One entry of a PartitionSpec: a tuple of one name is that name, an empty one None."""
    if not isinstance(names, (tuple, list)):
        return names
    if any(isinstance(name, (tuple, list)) for name in names):
        raise ValueError(
            f"A tuple inside PartitionSpec cannot contain a nested tuple, got {names!r}."
        )
    return None if not names else names[0] if len(names) == 1 else tuple(names)


class DuplicateSpecError(Exception):
    """A mesh axis splits more than one dimension."""


class _Unconstrained:
    """Stands for a dimension that a constraint leaves as it is."""

    def __repr__(self):
        return "UNCONSTRAINED"

    def __reduce__(self):
        return "UNCONSTRAINED"


class P(tuple):
    """For each dimension: None, a mesh axis, or a tuple of mesh axes that split it.

    >>> P("x", None)
    P('x', None)
    """

    UNCONSTRAINED = _Unconstrained()

    def __new__(
        cls, *partitions: Any, unreduced: Any = frozenset(), reduced: Any = frozenset()
    ) -> "P":
        spec = super().__new__(cls, map(_entry, partitions))
        for name, axes in (("unreduced", unreduced), ("reduced", reduced)):
            if not isinstance(axes, (set, frozenset)):
                raise TypeError(
                    f"{name} argument of PartitionSpec should of type `frozenset` or `set`. Got "
                    f"type {type(axes)}"
                )
        spec.unreduced, spec.reduced = frozenset(unreduced), frozenset(reduced)
        if unreduced or reduced:
            _check_sums(spec)
        return spec

    def __init_subclass__(cls, **kwargs):
        raise TypeError("Subclassing `jax.P` is prohibited; it is a type of values.")

    @property
    def _sums(self):
        return self.unreduced, self.reduced

    @property
    def partitions(self):
        """The entries, without what is said of sums."""
        return tuple(self)

    def __repr__(self):
        if not self.unreduced and not self.reduced:
            return f"P{tuple.__repr__(self)}"
        parts = [repr(entry) for entry in self]
        for name, axes in (("unreduced", self.unreduced), ("reduced", self.reduced)):
            if axes:
                parts.append(f"{name}={{{', '.join(map(repr, sorted(axes)))}}}")
        return f"P({', '.join(parts)})"

    def __reduce__(self):
        return _spec, (tuple(self), *self._sums)

    def __eq__(self, other):
        if not isinstance(other, tuple) or tuple(self) != tuple(other):
            return False
        return self._sums == getattr(other, "_sums", (frozenset(), frozenset()))

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((tuple(self), *self._sums))

    def __add__(self, other):
        if not isinstance(other, P):
            self._check_alone("__add__", other)
            return P(*self, *other)
        return P(
            *self,
            *other,
            unreduced=self.unreduced | other.unreduced,
            reduced=self.reduced | other.reduced,
        )

    def __radd__(self, other):
        self._check_alone("__radd__", other)
        return P(*other, *self)

    def _check_alone(self, operation, other):
        for name, axes in (("unreduced", self.unreduced), ("reduced", self.reduced)):
            if axes:
                raise TypeError(
                    f"other {other} cannot be of instance `tuple` when self {self} has {name} in "
                    f"`{operation}` of PartitionSpec."
                )

    def update(self, **changes):
        """The same with other `partitions`, `unreduced` or `reduced`."""
        partitions = changes.get("partitions", tuple(self))
        unreduced, reduced = (
            changes.get(name, getattr(self, name)) for name in ("unreduced", "reduced")
        )
        return _spec(partitions, unreduced, reduced)


PartitionSpec = P


def _check_sums(spec):
    """ValueError for axes that are unreduced or reduced, and no axes or something else too."""
    for name, axes in (("unreduced", spec.unreduced), ("reduced", spec.reduced)):
        if None in axes:
            raise ValueError(
                f"{name} cannot contain None. All elements in {name} should refer to the mesh axes."
            )
    if spec.unreduced & spec.reduced:
        raise ValueError(
            "`unreduced` and `reduced` argument to PartitionSpec cannot overlap. Got unreduced: "
            f"{set(spec.unreduced)} and reduced: {set(spec.reduced)}"
        )
    splits = {axis for entry in spec.partitions for axis in axes_of_entry(entry)}
    for name, axes in (("unreduced", spec.unreduced), ("reduced", spec.reduced)):
        if splits & axes:
            raise ValueError(
                f"partitions cannot overlap with {name} axes passed to PartitionSpec. Got "
                f"partitions: {spec.partitions} and {name} axes: {set(axes)}"
            )


def _spec(partitions, unreduced, reduced):
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)


UNCONSTRAINED = PartitionSpec.UNCONSTRAINED


def axes_of_entry(entry):
    """The mesh axes in an entry of a PartitionSpec."""
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


def check_repeated(spec, what):
    """DuplicateSpecError where the spec names a mesh axis twice; `what` it is in errors."""
    seen = set()
    for entry in spec:
        for name in axes_of_entry(entry):
            if name in seen:
                raise DuplicateSpecError(
                    f"A single {what} specification can map every mesh axis to at most one "
                    f"positional dimension, but {spec!r} has duplicate entries for `{name}`"
                )
            seen.add(name)


for _public in (P, _Unconstrained):
    _public.__module__ = "shardax.sharding"
