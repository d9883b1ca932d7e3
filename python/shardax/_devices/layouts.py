# shardax/_devices/layouts.py - layouts of arrays in memory and on devices, as labels.
import shardax._core as _core
from shardax._devices.layout import (
    AutoLayout,
    Layout,
    check_order,
    layout_of,
    order_of,
    with_order,
)
from shardax._devices.shardings import Sharding

__all__ = ["Format"]


class Format:
    """A Layout and a Sharding: how an array lies in memory and on devices."""

    __slots__ = ("layout", "sharding")

    def __init__(self, layout=None, sharding=None):
        if isinstance(layout, Layout) and not isinstance(sharding, Sharding):
            raise ValueError(
                f"Sharding has to be concrete when layout is of type {type(layout)}. Please pass a "
                "`jax.sharding.NamedSharding` or `jax.sharding.SingleDeviceSharding` to the "
                f"sharding argument. Got sharding {sharding}"
            )
        if not isinstance(layout, (Layout, AutoLayout, type(None))):
            raise TypeError(
                "Invalid value received for the layout argument. Expected values are `None` or an "
                f"instance of `Layout`. Got {layout} of type {type(layout)}"
            )
        if not isinstance(sharding, (Sharding, type(None))):
            raise TypeError(
                "Invalid value received for the sharding argument. Expected values are `None` or "
                f"an instance of `jax.Sharding`. Got {sharding} of type {type(sharding)}"
            )
        self.layout = layout
        self.sharding = sharding

    def __repr__(self):
        return f"Format(layout={self.layout}, sharding={self.sharding})"

    def __hash__(self):
        return hash((self.layout, self.sharding))

    def __eq__(self, other):
        return isinstance(other, Format) and (self.layout, self.sharding) == (
            other.layout,
            other.sharding,
        )


def check_concrete(where, array):
    """Refuses a Format that does not say how `array` is to lie, with ValueError."""
    if isinstance(where.layout, AutoLayout):
        raise ValueError(
            "sharding and layout of the Format that device_put is given should be concrete. Got "
            f"layout: {where.layout}, sharding: {where.sharding}"
        )
    if where.layout is not None:
        where.layout.check_compatible_aval(array.shape)
        check_order(where.layout)


def described(where, ndim):
    """The description of a Sharding, or of a Format with one, for arrays of `ndim` dimensions."""
    if not isinstance(where, Format):
        return where._description(ndim)
    return with_order(where.sharding._description(ndim), order_of(where.layout, ndim))


def recorded_order(x):
    """The order of dimensions that was asked for of an array, or says a ShapeDtypeStruct; else
    None."""
    if isinstance(x, _core.Array):
        return _core.get_layout(x)
    where = getattr(x, "format", None)
    return order_of(where.layout, len(x.shape)) or None if isinstance(where, Format) else None


def format_of(x):
    """The Format of an array. Computed arrays have the order of their dimensions, unless another
    one was asked for by name."""
    return Format(layout_of(_core.get_layout(x), x.ndim), x.sharding)
