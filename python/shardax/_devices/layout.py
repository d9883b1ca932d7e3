# shardax/_devices/layout.py - orders of dimensions in memory.
import dataclasses

from shardax.errors import JaxRuntimeError


class AutoLayout:
    """Asks for the order that suits the computation."""

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


def order_of(layout, ndim):
    """The core's record of a Layout: its dimensions from major to minor. () for their own order, or
    if None is asked for."""
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


def with_order(description, order):
    """The description of a sharding with an order of dimensions; as it is where that is empty or
    None."""
    return (
        (*description, *("", (), (), "")[len(description) - 5 :], order) if order else description
    )


def layout_of(order, ndim):
    """The Layout that an array has of which the core has recorded `order`."""
    return Layout(order or tuple(range(ndim)), tiling=())
