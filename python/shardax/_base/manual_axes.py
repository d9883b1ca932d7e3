# shardax/_base/manual_axes.py - the mapped axes over which a value may differ.
import dataclasses
from collections.abc import Set

from shardax._core import api as _core

UNNAMED_AXIS = "_internal_pmap_axis_name"  # of a pmap without axis_name, as in JAX


@dataclasses.dataclass(frozen=True)
class ManualAxisType:
    """Names of mapped axes, by the state of a value over them. It may vary, be a term of a sum that
    is left to do, or have such cotangents.

    Raises:
      ValueError: where an axis is varying and in another state too.

    Example:
      >>> shardax.sharding.ManualAxisType(varying={"x"}).update(reduced={"y"}).to_ct_mat().unreduced
      frozenset({'y'})
    """

    varying: Set[str] = frozenset()
    unreduced: Set[str] = frozenset()
    reduced: Set[str] = frozenset()

    def __post_init__(self):
        for field in ("varying", "unreduced", "reduced"):
            object.__setattr__(self, field, frozenset(getattr(self, field)))
        for field in ("unreduced", "reduced"):
            other = getattr(self, field)
            if self.varying & other:
                raise ValueError(
                    f"varying and {field} cannot have common mesh axes. Got "
                    f"varying={self.varying} and {field}={other}"
                )

    def update(self, **fields):
        """The same with other axes in the states that are named."""
        return dataclasses.replace(self, **fields)

    def to_ct_mat(self):
        """The type of cotangents: reduced axes are unreduced, and the other way round."""
        return self.update(unreduced=self.reduced, reduced=self.unreduced)

    @property
    def empty(self):
        """Is it shared over all axes?"""
        return not (self.varying or self.unreduced or self.reduced)

    def invarying(self, mesh):
        """The manual axes of `mesh` over which a value is shared."""
        named = self.varying | self.unreduced | self.reduced
        return frozenset(mesh.manual_axes) - named


def mat_of(x):
    """The manual axes over which a value differs: `x.mat`."""
    return _core.typeof(x).mat
