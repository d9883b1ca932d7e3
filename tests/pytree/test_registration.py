"""tests/pytree/test_registration.py - types that users make nodes."""

import collections
import dataclasses
import functools
import pickle

import pytest
from shardax import tree, tree_util
from shardax.tree_util import tree_leaves, tree_map, tree_structure


@tree_util.register_pytree_node_class
@dataclasses.dataclass
class Pair:
    x: object
    y: object

    def tree_flatten(self):
        return (self.x, self.y), "pair"

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        assert aux_data == "pair"
        return cls(*children)


@tree_util.register_pytree_with_keys_class
@dataclasses.dataclass
class KeyedPair:
    x: object
    y: object

    def tree_flatten_with_keys(self):
        return ((tree_util.GetAttrKey("x"), self.x), (tree_util.GetAttrKey("y"), self.y)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


@tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Layer:
    w: object
    b: object = None
    name: str = tree.static(default="dense")


Named = collections.namedtuple("Named", "x y")


def test_node_class():
    assert tree_leaves(Pair(1, [2, 3])) == [1, 2, 3]
    assert tree_map(lambda x: -x, Pair(1, [2])) == Pair(-1, [-2])
    ((path, _), _) = tree_util.tree_leaves_with_path(Pair(1, 2))
    assert path == (tree_util.FlattenedIndexKey(0),)


def test_class_with_keys():
    assert tree_map(lambda x: -x, KeyedPair(1, [2])) == KeyedPair(-1, [-2])
    pairs = tree_util.tree_leaves_with_path(KeyedPair(1, [2]))
    assert [tree_util.keystr(path) for path, _ in pairs] == [".x", ".y[0]"]


def test_subclass_of_a_node_is_a_leaf():
    class Derived(Pair):
        pass

    value = Derived(1, 2)
    assert tree_leaves(value) == [value]


def test_dataclass():
    layer = Layer(1, {"a": 2}, "first")
    assert tree_leaves(layer) == [1, 2]
    assert tree_map(lambda x: x + 1, layer) == Layer(2, {"a": 3}, "first")
    assert tree_structure(layer) != tree_structure(Layer(1, {"a": 2}, "second"))
    assert hash(tree_structure(layer)) == hash(tree_structure(Layer(3, {"a": 4}, "first")))


def test_dataclass_without_fields():
    @tree_util.register_dataclass
    @dataclasses.dataclass
    class Empty:
        pass

    assert tree_leaves(Empty()) == []
    assert tree_map(lambda x: x, [Empty()]) == [Empty()]


def test_class_with_a_keyword_constructor():
    class Plain:
        def __init__(self, *, a, b):
            self.a, self.b = a, b

    assert tree_util.register_dataclass(Plain, ["a"], ["b"]) is Plain
    copy = tree_map(lambda x: x + 1, Plain(a=1, b=2))
    assert (copy.a, copy.b) == (2, 2)
    value = Plain(a=1, b=2)
    del value.b
    with pytest.raises(AttributeError):
        tree_leaves(value)


def test_refused_dataclasses():
    @dataclasses.dataclass
    class D:
        a: int
        b: int
        c: int = 3
        d: int = dataclasses.field(init=False, default=4)

    class Plain:
        pass

    def refused(error, text, *args, **kwargs):
        with pytest.raises(error, match=text):
            tree_util.register_dataclass(*args, **kwargs)

    refused(ValueError, r"Missing fields: \{'c'\}", D, ["a"], ["b"])
    refused(ValueError, r"Unexpected fields: \{'q'\}", D, ["a", "b", "q"], ["c"])
    refused(ValueError, r"Unexpected fields: \{'d'\}", D)
    refused(ValueError, r"Overlapping fields: \{'a'\}", D, ["a", "b"], ["c", "a"])
    refused(TypeError, "must both be specified", D, ["a"])
    refused(TypeError, "not a dataclass", Plain)
    refused(TypeError, "must be strings", Plain, [1], [])
    assert tree_util.register_dataclass(D, ["a"], ["b"], drop_fields=["c", "d"]) is D
    refused(ValueError, "Duplicate custom dataclass PyTreeDef", D, ["a"], ["b"], ["c", "d"])


def test_static():
    @tree_util.register_static
    @dataclasses.dataclass(frozen=True)
    class Mode:
        name: str

    assert tree_leaves([Mode("a"), 1]) == [1]
    assert tree_map(lambda x: x, Mode("a")) == Mode("a")
    assert tree_structure(Mode("a")) == tree_structure(Mode("a"))
    assert tree_structure(Mode("a")) != tree_structure(Mode("b"))


def test_a_named_tuple_type_can_be_registered():
    Swapped = collections.namedtuple("Swapped", "x y")
    tree_util.register_pytree_node(
        Swapped, lambda s: ((s.y, s.x), None), lambda _, children: Swapped(*children[::-1])
    )
    assert tree_leaves(Swapped(1, 2)) == [2, 1]
    assert tree_map(lambda x: x, Swapped(1, 2)) == Swapped(1, 2)


def test_children_from_a_generator():
    class Lazy:
        pass

    tree_util.register_pytree_node(Lazy, lambda _: (iter((1, (2, 3))), None), lambda _, c: c)
    assert tree_leaves(Lazy()) == [1, 2, 3]
    assert tree_map(lambda x: x, Lazy()) == (1, (2, 3))


def test_containers_that_change_while_they_are_flattened():
    target = [1, 2, 3]

    def grow(x):
        if x == 1:
            target.append(4)
        return False

    with pytest.raises(RuntimeError, match="changed size"):
        tree_leaves(target, is_leaf=grow)

    table = {"b": [1], "a": [2]}

    def clear(x):
        if x == [2]:
            table.clear()
        return False

    assert tree_leaves(table, is_leaf=clear) == [2, 1]


@pytest.mark.parametrize(
    "value",
    [Pair(1, [2]), Layer(1, {"a": (2,)}, "n"), Named(1, None), collections.defaultdict(int, a=1)],
)
def test_structures_pickle(value):
    structure = tree_structure([value, None])
    copy = pickle.loads(pickle.dumps(structure))
    assert copy == structure
    assert hash(copy) == hash(structure)
    assert repr(copy) == repr(structure)


def test_partial_is_a_node_and_a_function():
    f = tree_util.Partial(lambda x, y: x - y, 1)
    doubled = tree_map(lambda x: 2 * x, f)
    assert f(5) == -4
    assert doubled(5) == -3
    nested = tree_util.Partial(f, 7)
    assert nested() == -6
    assert tree_leaves(nested) == [7]
    assert tree_structure(tree_util.Partial(f, 7)) == tree_structure(tree_util.Partial(f, 8))
    inner = functools.partial(max, 1)
    held = tree_util.Partial(inner, 2).func
    assert held == inner and inner == held and hash(held) == hash(inner)


@pytest.mark.parametrize(
    ("data", "count"),
    [
        ((type(None), None), 1),
        ((dict, ["a"]), 2),
        ((Layer, ("n",)), 1),
        ((Layer, "n"), 2),
        ((collections.defaultdict, int), 1),
        ((int, None), 0),
    ],
)
def test_node_data_that_does_not_fit(data, count):
    leaf = tree_structure(0)
    with pytest.raises(ValueError, match="."):
        tree_util.PyTreeDef.from_node_data_and_children(None, data, [leaf] * count)


def test_node_data_and_children_rebuild_a_structure():
    value = {"a": [Pair(1, Layer(2, (3,)))], "b": Named(4, None)}

    def rebuild(structure):
        children = [rebuild(child) for child in structure.children()]
        return tree_util.PyTreeDef.from_node_data_and_children(
            tree_util.default_registry, structure.node_data(), children
        )

    assert rebuild(tree_structure(value)) == tree_structure(value)
