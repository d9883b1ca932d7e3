# shardax/_devices/specs.py - which mesh axes split which dimension: PartitionSpec.
def _entry(names):
    """One entry of a PartitionSpec: a tuple of one name is that name, an empty one None."""
    if not isinstance(names, (tuple, list)):
        return names
    if any(isinstance(name, (tuple, list)) for name in names):
        raise ValueError(
            f"A tuple inside PartitionSpec cannot contain a nested tuple, got {names!r}."
        )
    return None if not names else names[0] if len(names) == 1 else tuple(names)


class _Unconstrained:
    """Stands for a dimension that a constraint leaves as it is."""

    def __repr__(self):
        return "UNCONSTRAINED"

    def __reduce__(self):
        return "UNCONSTRAINED"


class P(tuple):
    """For each dimension: None, a mesh axis, or a tuple of mesh axes that split it.

    >>> PartitionSpec("x", None)
    P('x', None)
    """

    UNCONSTRAINED = _Unconstrained()

    def __new__(cls, *partitions, unreduced=frozenset(), reduced=frozenset()):
        spec = super().__new__(cls, map(_entry, partitions))
        spec.unreduced, spec.reduced = frozenset(unreduced), frozenset(reduced)
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
        return self.update(partitions=(*self, *other))

    def update(self, **changes):
        """The same with other `partitions`, `unreduced` or `reduced`."""
        partitions = changes.get("partitions", tuple(self))
        unreduced, reduced = (
            changes.get(name, getattr(self, name)) for name in ("unreduced", "reduced")
        )
        return _spec(partitions, unreduced, reduced)


PartitionSpec = P


def _spec(partitions, unreduced, reduced):
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)


UNCONSTRAINED = PartitionSpec.UNCONSTRAINED


def axes_of_entry(entry):
    """The mesh axes in an entry of a PartitionSpec."""
    if entry is None or entry is UNCONSTRAINED:
        return ()
    return entry if isinstance(entry, tuple) else (entry,)


for _public in (P, _Unconstrained):
    _public.__module__ = "shardax.sharding"
