"""shardax/_base/tree_nodes.py - types whose instances are nodes of trees; public in
shardax.tree_util.
"""

import dataclasses
import functools
from collections.abc import Sequence

from shardax._core import pytree as _pytree


def register_pytree_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func=None):
    """Makes instances of a class nodes of trees.

    Args:
      nodetype: a class that is not a node yet; its subclasses stay leaves.
      flatten_func: value -> (iterable of children, aux data); aux data must be hashable and compare
        to a plain bool.
      unflatten_func: (aux data, tuple of children) -> value.
      flatten_with_keys_func: value -> (iterable of (key, child), aux data), for key paths.

    Raises:
      ValueError: the class is a node already.

    Example:
      >>> class Pair:
      ...     def __init__(self, a, b):
      ...         self.a, self.b = a, b
      >>> shardax.tree_util.register_pytree_node(
      ...     Pair, lambda p: ((p.a, p.b), None), lambda _, children: Pair(*children)
      ... )
      >>> shardax.tree.leaves(Pair(1, (2, 3)))
      [1, 2, 3]
    """
    _pytree.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_with_keys(nodetype, flatten_with_keys, unflatten_func, flatten_func=None):
    """Makes instances of a class nodes whose children have keys of their own.

    Without `flatten_func`, the keys that `flatten_with_keys` returns are left out.

    Args:
      nodetype, unflatten_func, flatten_func: as in `register_pytree_node`.
      flatten_with_keys: value -> (iterable of (key, child), aux data).

    Example:
      >>> class Box:
      ...     def __init__(self, x):
      ...         self.x = x
      >>> key = shardax.tree_util.GetAttrKey("x")
      >>> shardax.tree_util.register_pytree_with_keys(
      ...     Box, lambda b: (((key, b.x),), None), lambda _, children: Box(*children)
      ... )
      >>> shardax.tree.leaves_with_path(Box(5))
      [((GetAttrKey(name='x'),), 5)]
    """
    if flatten_func is None:

        def flatten_func(value):
            children, aux_data = flatten_with_keys(value)
            return [child for _, child in children], aux_data

    _pytree.register_node(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls):
    """Class decorator: a node by its methods tree_flatten() and tree_unflatten(aux_data, children).

    >>> @shardax.tree_util.register_pytree_node_class
    ... class Pair:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    ...     def tree_flatten(self):
    ...         return (self.x, self.y), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux_data, children):
    ...         return cls(*children)
    >>> shardax.tree_util.tree_leaves(Pair(1, (2, 3)))
    [1, 2, 3]
    """
    _pytree.register_node(cls, lambda value: value.tree_flatten(), cls.tree_unflatten)
    return cls


def register_pytree_with_keys_class(cls):
    """A decorator: the class is a node by its methods tree_flatten_with_keys() and
    tree_unflatten().

    A method tree_flatten() is used where keys are not needed.

    Example:
      >>> @shardax.tree_util.register_pytree_with_keys_class
      ... class Box:
      ...     def __init__(self, x):
      ...         self.x = x
      ...     def tree_flatten_with_keys(self):
      ...         return ((shardax.tree_util.GetAttrKey("x"), self.x),), None
      ...     @classmethod
      ...     def tree_unflatten(cls, aux, children):
      ...         return cls(*children)
      >>> shardax.tree.map(lambda x: x + 1, Box(5)).x
      6
    """
    flatten = (lambda value: value.tree_flatten()) if hasattr(cls, "tree_flatten") else None
    register_pytree_with_keys(
        cls, lambda value: value.tree_flatten_with_keys(), cls.tree_unflatten, flatten
    )
    return cls


def register_static(cls):
    """A decorator: the class is a node without children; the value itself tells two apart.

    Instances must be hashable and comparable. Under `jit` they are static arguments.

    Example:
      >>> @shardax.tree_util.register_static
      ... class Mode(str):
      ...     pass
      >>> shardax.tree.leaves(Mode("fast"))
      []
    """
    _pytree.register_node(cls, lambda value: ((), value), lambda value, _: value)
    return cls


def register_dataclass(
    nodetype,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
):
    """Makes a dataclass (or a class with a keyword constructor) a node; returns the class.

    Args:
      nodetype: the class.
      data_fields: names of the attributes that are children.
      meta_fields: names of those that are static: hashable, part of the structure. By default the
        fields with `metadata=dict(static=True)` (see `shardax.tree.static`), all others being data.
      drop_fields: names of dataclass fields that belong to neither.

    >>> import dataclasses
    >>> @shardax.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = dataclasses.field(default='', metadata=dict(static=True))
    >>> shardax.tree_util.tree_structure(Layer(1.0, 'dense'))
    PyTreeDef(CustomNode(Layer[('dense',)], [*]))
    """
    is_dataclass = dataclasses.is_dataclass(nodetype)
    if (data_fields is None) != (meta_fields is None):
        raise TypeError(
            "register_dataclass: data_fields and meta_fields must both be specified when either is "
            f"specified. Got {data_fields=} {meta_fields=}."
        )
    if data_fields is None:
        if not is_dataclass:
            raise TypeError(
                "register_dataclass: data_fields and meta_fields are required when nodetype is not "
                f"a dataclass. Got {nodetype=}."
            )
        fields = [f for f in dataclasses.fields(nodetype) if f.name not in drop_fields]
        data_fields = [f.name for f in fields if not f.metadata.get("static", False)]
        meta_fields = [f.name for f in fields if f.metadata.get("static", False)]
    if overlap := set(data_fields) & set(meta_fields):
        raise ValueError(
            "register_dataclass: data_fields and meta_fields must not overlap. "
            f"Overlapping fields: {overlap}."
        )
    if is_dataclass:
        _check_fields(nodetype, {*data_fields, *meta_fields}, set(drop_fields))
    _pytree.register_dataclass_node(nodetype, tuple(data_fields), tuple(meta_fields))
    return nodetype


def _check_fields(nodetype, given: set[str], dropped: set[str]):
    fields = {f.name for f in dataclasses.fields(nodetype) if f.init}
    rule = (
        "register_dataclass: data_fields and meta_fields must include all dataclass fields with "
        "``init=True`` and only them."
    )
    if missing := fields - given - dropped:
        raise ValueError(
            f"{rule} Missing fields: {missing}. Add them to drop_fields to suppress this error."
        )
    if unexpected := given - fields:
        raise ValueError(f"{rule} Unexpected fields: {unexpected}.")


class _WholeCallable:
    """Keeps functools.partial from merging with a partial inside; compares as the callable."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __hash__(self):
        return hash(self.function)

    def __eq__(self, other):
        function = other.function if isinstance(other, _WholeCallable) else other
        return self.function == function

    def __repr__(self):
        return repr(self.function)


class Partial(functools.partial):
    """A functools.partial as a node: its children are the bound arguments, the function is static.

    Example:
      >>> from shardax.tree_util import Partial
      >>> shardax.tree.structure(Partial(max, 1, key=None))
      PyTreeDef(CustomNode(Partial[<built-in function max>], [(*,), {'key': None}]))
    """

    def __new__(cls, func, /, *args, **kw):
        if isinstance(func, functools.partial):
            func = _WholeCallable(func)
        return super().__new__(cls, func, *args, **kw)


register_pytree_node(
    Partial,
    lambda partial: ((partial.args, partial.keywords), partial.func),
    lambda func, children: Partial(func, *children[0], **children[1]),
)

for _public in (
    register_pytree_node,
    register_pytree_with_keys,
    register_pytree_node_class,
    register_pytree_with_keys_class,
    register_static,
    register_dataclass,
    Partial,
):
    _public.__module__ = "shardax.tree_util"
