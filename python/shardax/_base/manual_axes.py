# shardax/_base/manual_axes.py - the mapped axes over which a value may differ.
import dataclasses


@dataclasses.dataclass(frozen=True)
class ManualAxisType:
    """Names of mapped axes: those over which a value may differ; nothing here is left to reduce."""

    varying: frozenset = frozenset()
    unreduced: frozenset = frozenset()
    reduced: frozenset = frozenset()

    def __post_init__(self):
        for field in ("varying", "unreduced", "reduced"):
            object.__setattr__(self, field, frozenset(getattr(self, field)))
