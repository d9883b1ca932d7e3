"""shardax.experimental.layout - the order in which the dimensions of arrays lie in memory.

Arrays lie in the order of their dimensions, whatever is asked for: layouts are labels, which arrays
show and compiled functions hold against each other.
"""

import shardax._core as _core
from shardax import tree_util
from shardax._base.arrays import asarray
from shardax._devices.devices import default_device
from shardax._devices.layout import Layout, check_order
from shardax._devices.layouts import Format
from shardax._devices.shardings import SingleDeviceSharding

__all__ = ["Format", "Layout", "with_layout_constraint"]


def with_layout_constraint(x, layouts):
    """`x`, labelled with a Layout (a tree prefix of them), also while a function is traced.

    Raises:
      ValueError: for what is no Layout, or one of another number of dimensions than an array.

    Example:
      >>> with_layout_constraint(jnp.zeros((2, 3)), Layout((1, 0))).format.layout.major_to_minor
      (1, 0)
    """
    leaves, treedef = tree_util.tree_flatten(x)
    asked = tree_util.broadcast_prefix(layouts, x, is_leaf=lambda layout: layout is None)
    if not all(isinstance(layout, Layout) for layout in asked):
        raise ValueError(
            "layouts passed to `with_layout_constraint` must be of type `Layout`. Got "
            f"{[type(layout) for layout in asked if not isinstance(layout, Layout)]}"
        )
    otherwise = SingleDeviceSharding(default_device())._description(0)

    def constrain(leaf, layout):
        array = asarray(leaf)
        try:
            layout.check_compatible_aval(array.shape)
        except ValueError as error:
            raise ValueError(
                "One of with_layout_constraint arguments is incompatible with its layout "
                f"annotation {layout}: {error}"
            ) from None
        check_order(layout)
        return _core.with_layout(array, layout.major_to_minor, otherwise)

    return treedef.unflatten(map(constrain, leaves, asked))
