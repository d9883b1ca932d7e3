# shardax/_transform/hijax/specs.py - stand-ins for values that are no arrays, in axes and specs.
import functools

from shardax import tree_util


def stands_for_arrays(spec):
    """True if it is a MappingSpec or a HiPspec (maps.py)."""
    return hasattr(type(spec), "through_arrays")


def through_arrays(transform, fun, in_specs, out_specs):
    """transform(fun, in_specs, out_specs) by the arrays of values where a spec stands for some;
    None where none does."""
    for spec in tree_util.tree_leaves((in_specs, out_specs), is_leaf=stands_for_arrays):
        if stands_for_arrays(spec):
            return spec.through_arrays(transform, fun, in_specs, out_specs)
    return None


def opening_specs(mapped):
    """mapped(f, mesh, in_specs, out_specs, ...), where specs may stand for several arrays."""

    @functools.wraps(mapped)
    def wrapped(f, mesh, in_specs, out_specs, *args, **kwargs):
        def plainly(f, in_specs, out_specs):
            return mapped(f, mesh, in_specs, out_specs, *args, **kwargs)

        opened = through_arrays(plainly, f, in_specs, out_specs)
        return plainly(f, in_specs, out_specs) if opened is None else opened

    return wrapped
