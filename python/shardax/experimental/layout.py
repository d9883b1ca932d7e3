"""shardax.experimental.layout - the order in which the dimensions of arrays lie in memory.

Arrays lie in the order of their dimensions, whatever is asked for: layouts are labels.
"""

from shardax._devices.layouts import Format, Layout

__all__ = ["Format", "Layout", "with_layout_constraint"]


def with_layout_constraint(x, layout):
    """`x`: how values lie inside programs is the compiler's choice.

    Raises:
      ValueError: `layout` has another number of dimensions than `x`.
    """
    layout.check_compatible_aval(x.shape)
    return x
