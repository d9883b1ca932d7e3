"""tests/pytree/test_parity.py - tree functions row by row against what JAX 0.10.2 returns.

A row of `parity_rows.txt` is an expression over the names of `make_names`, and its outcome. This is
the repr of the value, or the class and text of the exception. `python tests/pytree/test_parity.py`
evaluates the rows under JAX, where that is installed, and rewrites the table.
"""

import collections
import copy
import dataclasses
import functools
import pathlib
import pickle

import pytest

TABLE = pathlib.Path(__file__).with_name("parity_rows.txt")

Point = collections.namedtuple("Point", "x y")


class SubPoint(Point):
    pass


class SubDict(dict):
    pass


class SubList(list):
    pass


class SubTuple(tuple):
    pass


def make_names(tu, tree):
    """The names that rows use, with types registered in the given library."""

    @dataclasses.dataclass
    class Box:
        a: object
        b: object
        aux: object = "aux"

    def flatten_pair(box):
        return (box.a, box.b), box.aux

    def unflatten_pair(aux, children):
        return Box(*children, aux)

    tu.register_pytree_node(Box, flatten_pair, unflatten_pair)

    @dataclasses.dataclass
    class Keyed:
        a: object
        b: object

    tu.register_pytree_with_keys(
        Keyed,
        lambda k: ([(tu.GetAttrKey("p"), k.a), ("raw", k.b)], None),
        lambda _, children: Keyed(*children),
    )

    @tu.register_dataclass
    @dataclasses.dataclass
    class Data:
        x: object
        y: object
        name: str = tree.static(default="z")

    @tu.register_static
    @dataclasses.dataclass(frozen=True)
    class Static:
        v: int

    def broken(flatten):
        cls = type("Broken", (), {"__repr__": lambda self: "Broken()"})
        tu.register_pytree_node(cls, flatten, lambda aux, children: children)
        return cls()

    def seen(value):
        calls = []
        tu.tree_leaves(value, is_leaf=lambda x: calls.append(x) or False)
        return calls

    def moved(ordered):
        ordered.move_to_end("a")
        return ordered

    key_types = (tu.DictKey, tu.SequenceKey, tu.GetAttrKey, tu.FlattenedIndexKey)
    return {
        "tu": tu,
        "tree": tree,
        "structure": tu.tree_structure,
        "leaves": tu.tree_leaves,
        "flatten": tu.tree_flatten,
        "tree_map": tu.tree_map,
        "keystr": tu.keystr,
        "Partial": tu.Partial,
        "key_types": key_types,
        "path": tuple(t(v) for t, v in zip(key_types, ("a", 1, "n", 3), strict=True)) + ("x", 4),
        "pickled": lambda x: pickle.loads(pickle.dumps(x)),
        "Point": Point,
        "SubPoint": SubPoint,
        "SubDict": SubDict,
        "SubList": SubList,
        "SubTuple": SubTuple,
        **vars(collections),
        **locals(),
        "copy": copy,
        "functools": functools,
    }


def evaluate(expression, names):
    """The repr of the value, or the class and text of the exception, without module names."""
    try:
        text = repr(eval(expression, dict(names)))
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
    for prefix in ("make_names.<locals>.", f"{__name__}.", "shardax.tree_util.", "jax.tree_util."):
        text = text.replace(prefix, "")
    return text


def read_rows():
    """The rows of the table: expression -> expected text."""
    blocks = TABLE.read_text().removeprefix(">>> ").split("\n>>> ")
    return dict(block.rstrip("\n").split("\n", 1) for block in blocks)


def record():
    """Rewrites the expected texts with what the installed JAX returns."""
    import jax

    names = make_names(jax.tree_util, jax.tree)
    texts = {row: evaluate(row, names) for row in read_rows()}
    TABLE.write_text("".join(f">>> {row}\n{text}\n" for row, text in texts.items()))


@pytest.fixture(scope="module")
def names():
    from shardax import tree, tree_util

    return make_names(tree_util, tree)


@pytest.mark.parametrize(("expression", "expected"), read_rows().items())
def test_row(expression, expected, names):
    assert evaluate(expression, names) == expected


if __name__ == "__main__":
    record()
