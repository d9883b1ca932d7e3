# shardax/_transform/export/trees.py - the structures of arguments and results as JSON, for files.
import ast
import collections

from shardax import tree_util

_by_type = {}  # the class: (its name in files, of its auxiliary data to bytes)
_by_name = {}  # its name in files: (the class, from bytes to its auxiliary data)


def register_pytree_node_serialization(
    nodetype, *, serialized_name, serialize_auxdata, deserialize_auxdata, from_children=None
):
    """Lets exported functions with a pytree class among their arguments or results be serialized.

    Args:
      nodetype: the class, registered with `tree_util.register_pytree_node`.
      serialized_name: what stands for it in files; the same wherever these are read.
      serialize_auxdata: from the node's auxiliary data to bytes.
      deserialize_auxdata: back.
      from_children: accepted for compatibility: nodes are made as the class was registered.

    Returns:
      nodetype.

    Raises:
      ValueError: where the class or the name is registered already, or the class is no pytree.

    Example:
      >>> from shardax import export
      >>> class Row(list):
      ...     pass
      >>> shardax.tree_util.register_pytree_node(
      ...     Row, lambda row: (tuple(row), None), lambda _, children: Row(children)
      ... )
      >>> export.register_pytree_node_serialization(
      ...     Row,
      ...     serialized_name="example.Row",
      ...     serialize_auxdata=lambda aux: b"",
      ...     deserialize_auxdata=lambda data: None,
      ... ) is Row
      True
    """
    if nodetype in _by_type:
        raise ValueError(
            f"Duplicate serialization registration for type `{nodetype}`. Previous registration "
            f"was with serialized_name `{_by_type[nodetype][0]}`."
        )
    if serialized_name in _by_name:
        raise ValueError(
            f"Duplicate serialization registration for serialized_name `{serialized_name}`. "
            f"Previous registration was for type `{_by_name[serialized_name][0]}`."
        )
    if from_children is None and not tree_util.is_tree_node(nodetype):
        raise ValueError(
            "If `from_children` is not present, you must call first "
            f"`jax.tree_util.register_pytree_node` for `{nodetype}`"
        )
    _by_type[nodetype] = serialized_name, serialize_auxdata
    _by_name[serialized_name] = nodetype, deserialize_auxdata
    return nodetype


def register_namedtuple_serialization(nodetype, *, serialized_name):
    """Lets exported functions with that namedtuple among their arguments or results be serialized.

    Raises:
      ValueError: for other classes, and where the class or the name is registered already.

    Example:
      >>> from collections import namedtuple
      >>> from shardax import export
      >>> Pair = namedtuple("Pair", "a b")
      >>> export.register_namedtuple_serialization(Pair, serialized_name="example.Pair") is Pair
      True
    """
    if not _is_namedtuple(nodetype):
        raise ValueError(
            "Use `jax.export.register_pytree_node_serialization` for types other than "
            f"`collections.namedtuple`; got {nodetype}."
        )
    return register_pytree_node_serialization(
        nodetype,
        serialized_name=serialized_name,
        serialize_auxdata=lambda _: b"",
        deserialize_auxdata=lambda _: None,
        from_children=lambda _, children: nodetype(*children),
    )


def _is_namedtuple(nodetype):
    return isinstance(nodetype, type) and issubclass(nodetype, tuple) and hasattr(nodetype, "_make")


def written(treedef):
    """The JSON form of a PyTreeDef; ValueError for classes that are not registered."""
    data = treedef.node_data()
    if data is None:
        return "*"
    kind, auxiliary = data
    children = [written(child) for child in treedef.children()]
    if kind is type(None):
        return None
    if kind in (tuple, list):
        return {kind.__name__: children}
    if kind is dict:
        return {"dict": children, "keys": [_literal(key) for key in auxiliary]}
    if kind not in _by_type:
        raise ValueError(
            f"Cannot serialize PyTreeDef containing an unregistered type `{kind}`. Use "
            "`export.register_pytree_node_serialization` or "
            "`export.register_namedtuple_serialization`."
        )
    name, serialize = _by_type[kind]
    return {"node": children, "name": name, "auxiliary": bytes(serialize(auxiliary)).hex()}


def read(text):
    """The PyTreeDef that was written so."""
    if text == "*":
        return _LEAF
    if text is None:
        return tree_util.tree_structure(None)
    if "node" in text:
        if text["name"] not in _by_name:
            raise ValueError(
                f"export: the exported function has a pytree node '{text['name']}'; register its "
                "class with `export.register_pytree_node_serialization` before it is read."
            )
        kind, deserialize = _by_name[text["name"]]
        data = kind, deserialize(bytes.fromhex(text["auxiliary"]))
        children = text["node"]
    elif "dict" in text:
        data, children = (dict, list(map(ast.literal_eval, text["keys"]))), text["dict"]
    else:
        ((name, children),) = text.items()
        data = {"tuple": tuple, "list": list}[name], None
    return tree_util.PyTreeDef.from_node_data_and_children(
        tree_util.default_registry, data, [read(child) for child in children]
    )


_LEAF = tree_util.tree_structure(0)


def _literal(key):
    """The key of a dict as Python writes it."""
    try:
        if ast.literal_eval(repr(key)) == key:
            return repr(key)
    except (SyntaxError, ValueError):
        pass
    raise ValueError(
        "export: only dicts whose keys are strings, numbers or tuples of these can be serialized, "
        f"got {key!r}."
    )


def _plain_keys(keys):
    keys = list(keys)
    if not all(isinstance(key, str) for key in keys):
        raise NotImplementedError(
            "Serialization of collections.OrderedDict is supported only when the keys are strings. "
            f"Found keys: {keys}."
        )
    return "\0".join(keys).encode()


_by_type[collections.OrderedDict] = "collections.OrderedDict", _plain_keys
_by_name["collections.OrderedDict"] = (
    collections.OrderedDict,
    lambda data: tuple(data.decode().split("\0")) if data else (),
)
