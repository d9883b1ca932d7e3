# shardax/_devices/layouts.py - orders of dimensions in memory, as labels.
import dataclasses

import shardax._core as _core
from shardax._devices.shardings import Sharding
from shardax.errors import JaxRuntimeError

__all__ = ["Format", "Layout"]


class AutoLayout:
    """What asks for the order that suits the computation."""

    def __repr__(self):
        return "AUTO"

    def check_compatible_aval(self, aval_shape):
        """Any shape will do."""


@dataclasses.dataclass(frozen=True)
class Layout:
    """In which order the dimensions of an array lie in memory.

    Example:
      >>> Layout((0, 1))
      Layout(major_to_minor=(0, 1), tiling=None, sub_byte_element_size_in_bits=0)
    """

    major_to_minor: tuple
    tiling: tuple | None = None
    sub_byte_element_size_in_bits: int = 0

    AUTO = AutoLayout()

    def __post_init__(self):
        object.__setattr__(self, "major_to_minor", tuple(self.major_to_minor))

    def check_compatible_aval(self, aval_shape):
        """Raises ValueError where an array of that shape has another number of dimensions."""
        if len(self.major_to_minor) != len(aval_shape):
            raise ValueError(
                f"Length of major_to_minor and the rank of the value should match. Got "
                f"major_to_minor={self.major_to_minor} and shape={aval_shape}"
            )


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


def order_of(layout, ndim):
    """What the core records of a Layout: its dimensions from major to minor; () where that is their
    own order, or None is asked for."""
    order = layout.major_to_minor if isinstance(layout, Layout) else ()
    return () if order == tuple(range(ndim)) else order


def check_order(layout):
    """Refuses a Layout that does not name each dimension once, with JaxRuntimeError."""
    if isinstance(layout, Layout) and sorted(layout.major_to_minor) != list(
        range(len(layout.major_to_minor))
    ):
        raise JaxRuntimeError(
            f"INVALID_ARGUMENT: major_to_minor={layout.major_to_minor} of a Layout must name each "
            "dimension from 0 on once."
        )


def described(where, ndim):
    """The description of a Sharding, or of a Format with one, for arrays of `ndim` dimensions."""
    if not isinstance(where, Format):
        return where._description(ndim)
    return with_order(where.sharding._description(ndim), order_of(where.layout, ndim))


def with_order(description, order):
    """The description of a sharding with an order of dimensions; as it is where that is empty or
    None."""
    return (
        (*description, *("", (), (), "")[len(description) - 5 :], order) if order else description
    )


def recorded_order(x):
    """The order of dimensions that was asked for of an array, or says a ShapeDtypeStruct; else
    None."""
    if isinstance(x, _core.Array):
        return _core.get_layout(x)
    where = getattr(x, "format", None)
    return order_of(where.layout, len(x.shape)) or None if isinstance(where, Format) else None


def layout_of(order, ndim):
    """The Layout that an array has of which the core has recorded `order`."""
    return Layout(order or tuple(range(ndim)), tiling=())


def format_of(x):
    """The Format of an array. What is computed lies in the order of its dimensions, unless another
    one was asked for by name."""
    return Format(layout_of(_core.get_layout(x), x.ndim), x.sharding)
