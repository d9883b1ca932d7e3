"""python/shardax/tree.py - the functions of shardax.tree_util under short names.

>>> import shardax
>>> shardax.tree.map(lambda x: x + 1, {'a': 1, 'b': [2]})
{'a': 2, 'b': [3]}
"""

import dataclasses as _dataclasses

from shardax.tree_util import tree_all as all
from shardax.tree_util import tree_broadcast as broadcast
from shardax.tree_util import tree_flatten as flatten
from shardax.tree_util import tree_flatten_with_path as flatten_with_path
from shardax.tree_util import tree_leaves as leaves
from shardax.tree_util import tree_leaves_with_path as leaves_with_path
from shardax.tree_util import tree_map as map
from shardax.tree_util import tree_map_with_path as map_with_path
from shardax.tree_util import tree_reduce as reduce
from shardax.tree_util import tree_reduce_associative as reduce_associative
from shardax.tree_util import tree_structure as structure
from shardax.tree_util import tree_transpose as transpose
from shardax.tree_util import tree_unflatten as unflatten

__all__ = [
    "all",
    "broadcast",
    "flatten",
    "flatten_with_path",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "static",
    "structure",
    "transpose",
    "unflatten",
]


def static(**kwargs):
    """dataclasses.field(**kwargs) for a field that `tree_util.register_dataclass` makes static.

    >>> import dataclasses
    >>> from shardax import tree, tree_util
    >>> @tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = tree.static(default='dense')
    >>> tree.leaves(Layer(1.0))
    [1.0]
    """
    metadata = {"static": True, **(kwargs.pop("metadata", None) or {})}
    return _dataclasses.field(metadata=metadata, **kwargs)
