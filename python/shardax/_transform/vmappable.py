"""shardax/_transform/vmappable.py - containers that say themselves how vmap maps what they hold."""

import functools

from shardax import tree_util
from shardax._base.array_functions import moveaxis

_handlers = {}  # by class: (to_elt, from_elt)


def register_vmappable(data_type, spec_type, axis_size_type, to_elt, from_elt, make_iota=None):
    """Says how vmap maps objects of a class.

    Args:
      data_type: the class.
      spec_type, axis_size_type: the classes of its axes and sizes; int.
      to_elt: `to_elt(cont, get_idx, x, axis)` gives what a function sees: an object like x, with
        `cont(part, axis)` for each of its arrays that is mapped.
      from_elt: `from_elt(cont, axis_size, x, axis)` gives the result for what a function returned,
        with `cont(axis_size, part, axis)` for each array.
      make_iota: accepted.
    """
    _handlers[data_type] = to_elt, from_elt


def unregister_vmappable(data_type):
    """Forgets the functions of a class."""
    del _handlers[data_type]


def is_vmappable(x):
    """True if x is of such a class."""
    return type(x) in _handlers


def _parts(x, axis, found):
    """x as a function sees it, where `found(part, axis)` stands for its arrays."""
    if is_vmappable(x):
        return _handlers[type(x)][0](lambda x, axis: _parts(x, axis, found), None, x, axis)
    return found(x, axis)


def _results(size, x, axis, found):
    """The result for x, where `found(part, axis)` stands for its arrays."""
    if is_vmappable(x):
        again = lambda size, x, axis: _results(size, x, axis, found)  # noqa: E731
        return _handlers[type(x)][1](again, size, x, axis)
    return found(x, axis)


def _leaves(tree, axes):
    """(leaves, their axes, the tree), where containers are leaves."""
    leaves, shape = tree_util.tree_flatten(tree, is_leaf=is_vmappable)
    stand_ins = shape.unflatten([0] * len(leaves))
    spread = tree_util.broadcast_prefix(axes, stand_ins, is_leaf=lambda x: x is None)
    return leaves, spread, shape


def with_containers(fun, mapped, in_axes, out_axes):
    """mapped(fun, in_axes, out_axes), whose arguments may be or hold such containers."""
    plain = mapped(fun, in_axes, out_axes)

    @functools.wraps(plain)
    def called(*args, **kwargs):
        prefix = (tuple(in_axes) if isinstance(in_axes, list) else in_axes, 0)
        leaves, tree = tree_util.tree_flatten((args, kwargs), is_leaf=is_vmappable)
        if not any(map(is_vmappable, leaves)):
            return plain(*args, **kwargs)
        leaves, axes, tree = _leaves((args, kwargs), prefix)
        arrays, places, made = [], [], []
        for leaf, axis in zip(leaves, axes):
            _parts(leaf, axis, lambda x, at: (arrays.append(x), places.append(at)))

        def of_arrays(*slices):
            rest = iter(slices)
            seen = [_parts(x, axis, lambda *_: next(rest)) for x, axis in zip(leaves, axes)]
            inside, named = tree.unflatten(seen)
            made[:] = _leaves(fun(*inside, **named), out_axes)
            out = []
            for x, axis in zip(*made[:2]):
                _results(None, x, axis, lambda part, at: out.append((part, at)))
            if any(at is None for _, at in out):
                raise ValueError(
                    "vmap: out_axes must be integers where arguments are of classes that "
                    "register_vmappable was told of; got None."
                )
            made.append([at for _, at in out])
            return [part for part, _ in out]

        outs = mapped(of_arrays, tuple(places), 0)(*arrays)
        found, result_axes, shape, at = made
        size = next(x.shape[p] for x, p in zip(arrays, places) if p is not None)
        rest = iter([moveaxis(x, 0, p) for x, p in zip(outs, at)])
        return shape.unflatten(
            [_results(size, x, a, lambda *_: next(rest)) for x, a in zip(found, result_axes)]
        )

    return called


def any_registered():
    """True if there are such classes."""
    return bool(_handlers)
