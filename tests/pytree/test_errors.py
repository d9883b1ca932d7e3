"""tests/pytree/test_errors.py - the texts that say why a tree does not fit."""

import collections
import dataclasses
import re

import pytest
from shardax import tree, tree_util

Point = collections.namedtuple("Point", "x y")
SIZES = "pytree structure error: different numbers of pytree children at key path\n    "
TYPES = "pytree structure error: different types at key path\n    "
META = "pytree structure error: different pytree metadata at key path\n    "
TUPLE = "pytree structure error: different lengths of tuple at key path\n    "
LIST = "pytree structure error: different lengths of list at key path\n    "


@tree_util.register_dataclass
@dataclasses.dataclass
class Data:
    x: object
    name: str = tree.static(default="z")


class Many:
    def __init__(self, *children, aux=None):
        self.children, self.aux = children, aux


tree_util.register_pytree_node(
    Many, lambda m: (m.children, m.aux), lambda aux, children: Many(*children, aux=aux)
)


@pytest.mark.parametrize(
    ("prefix", "full", "start", "parts"),
    [
        ((0, 1), (1, 2, 3), TUPLE + "in_axes\n", ["length 2", "length 3"]),
        ([0], [1, 2], LIST + "in_axes\n", ["length 1", "length 2"]),
        ((0, 1), [1, 2], TYPES + "in_axes\n", ["<class 'tuple'>", "<class 'list'>"]),
        (((0, 1),), ([1, 2],), TYPES + "in_axes[0]\n", ["<class 'tuple'>", "<class 'list'>"]),
        ((None,), (1,), TYPES + "in_axes[0]\n", ["<class 'NoneType'>", "<class 'int'>"]),
        ({"x": (0, 0)}, {"x": [0, 0]}, TYPES + "in_axes['x']\n", []),
        (Point(1, (2,)), Point(1, 2), TYPES + "in_axes.y\n", []),
        (Many((1,)), Many(1), TYPES + "in_axes[<flat index 0>]\n", []),
        (Data((1,)), Data(1), TYPES + "in_axes.x\n", []),
        ({"a": 1}, {"b": 1}, META + "in_axes\n", ["\n    ('b',)", "    - ('a',)", "    + ('b',)"]),
        ([{"a": 1}], [{"b": 1}], META + "in_axes[0]\n", []),
        (Data(1), Data(1, "w"), META + "in_axes\n", ["('z',)", "('w',)"]),
        (
            collections.OrderedDict(a=1, b=2),
            collections.OrderedDict(b=1, a=2),
            META + "in_axes\n",
            ["<class 'collections.OrderedDict'>", "('a', 'b')", "('b', 'a')"],
        ),
        (
            Many(aux="one\ntwo"),
            Many(aux="one\nthree"),
            META + "in_axes\n",
            ["      one\n    - two\n    + three"],
        ),
        (
            {"a": 1, "b": 2},
            {"b": 1, "c": 2, "d": 3},
            SIZES + "in_axes\n",
            ["2 child keys\n    a b", "3 child keys\n    b c d", "key sets is\n    a c d"],
        ),
        ({}, {"a": 1}, SIZES + "in_axes\n", ["with 0 child keys", "key sets is\n    a"]),
        (Many(1, 2), Many(1, 2, 3), SIZES + "in_axes\n", ["0 1 2", "key sets is\n    2"]),
        (Point(1, (2, 3)), Point(1, (2,)), TUPLE + "in_axes.y\n", []),
    ],
)
def test_prefix_error(prefix, full, start, parts):
    (text,) = tree_util.prefix_errors(prefix, full, "in_axes")
    assert text.startswith(start)
    for part in parts:
        assert part in text
    with pytest.raises(ValueError, match=re.escape(start.replace("in_axes", "tree_map tree"))):
        tree_util.tree_map(lambda x, y: x, prefix, full)
    name = "broadcast_prefix prefix_tree"
    with pytest.raises(ValueError, match=re.escape(start.replace("in_axes", name))):
        tree_util.tree_broadcast(prefix, full)
    name = "tree_map_with_path tree"
    with pytest.raises(ValueError, match=re.escape(start.replace("in_axes", name))):
        tree_util.tree_map_with_path(lambda p, x, y: x, prefix, full)


def test_the_whole_text():
    (text,) = tree_util.prefix_errors(({"a": (0, 1)}, 0), ({"a": (1,)}, 2), "pmap in_axes")
    assert text == (
        "pytree structure error: different lengths of tuple at key path\n"
        "    pmap in_axes[0]['a']\n"
        "At that key path, the prefix pytree pmap in_axes has a subtree of type tuple of length "
        "2, but the full pytree has a subtree of the same type but of length 1."
    )


@pytest.mark.parametrize(
    ("prefix", "full"),
    [(0, (1, {"a": 2})), ((0, None), (1, None)), (Point(1, 2), Point(1, (2,))), ([], [])],
)
def test_a_prefix_has_no_error(prefix, full):
    assert tree_util.prefix_errors(prefix, full, "in_axes") == []


def test_every_mismatch_is_reported():
    prefix, full = ((1, 2), [3], {"a": 1}, 5), ((1, 2, 3), [3, 4], {"b": 1}, (5,))
    texts = tree_util.prefix_errors(prefix, full, "in_axes")
    assert [text.split("\n")[1].strip() for text in texts] == [f"in_axes[{i}]" for i in range(3)]


def test_is_leaf_holds_below_the_root():
    def is_none(x):
        return x is None

    assert tree_util.prefix_errors((0, None), (1, (2, 3)), "n", is_leaf=is_none) == []
    assert len(tree_util.prefix_errors((0, None), (1, (2, 3)), "n")) == 1


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: tree_util.tree_leaves(), TypeError, "tree_leaves() missing required argument"),
        (lambda: tree_util.tree_leaves([1], foo=3), TypeError, "unexpected keyword argument 'foo'"),
        (lambda: tree_util.tree_leaves([1], None, 3), TypeError, "takes at most 2 positional"),
        (lambda: tree_util.tree_leaves([1], tree=2), TypeError, "multiple values for argument"),
        (lambda: tree_util.tree_map(len), TypeError, "tree_map() missing required argument 'tree'"),
        (lambda: tree_util.tree_map(len, [1], foo=3), TypeError, "keyword argument 'foo'"),
        (lambda: tree_util.tree_leaves([1], is_leaf=3), TypeError, "is_leaf must be callable"),
        (lambda: tree_util.tree_unflatten(3, [1]), TypeError, "expected a PyTreeDef, got 3"),
        (lambda: tree_util.treedef_tuple([1]), TypeError, "expected a PyTreeDef, got 1"),
        (lambda: tree_util.tree_structure(1).compose(2), TypeError, "expected a PyTreeDef, got 2"),
        (lambda: tree_util.tree_structure(1).unflatten(3), TypeError, "not iterable"),
        (lambda: tree_util.PyTreeDef(), TypeError, "cannot create 'shardax.tree_util.PyTreeDef'"),
        (lambda: tree_util.tree_reduce_associative(max, []), TypeError, "identity"),
        (lambda: tree_util.SequenceKey("a"), TypeError, "idx is a str; expected an int"),
        (lambda: tree_util.GetAttrKey(1), TypeError, "GetAttrKey: name is a int; expected a str"),
        (lambda: tree_util.DictKey(), TypeError, "key"),
        (lambda: setattr(tree_util.DictKey(1), "key", 2), AttributeError, "key"),
        (lambda: setattr(tree_util.tree_structure(1), "x", 2), AttributeError, "x"),
        (
            lambda: tree_util.build_tree(tree_util.tree_structure((1, 2)), [1]),
            ValueError,
            "Arity mismatch between trees: 1 items for 2 children",
        ),
        (
            lambda: tree_util.tree_structure((1, None)).flatten_up_to((1, 2)),
            ValueError,
            "Expected None, got 2",
        ),
        (
            lambda: tree_util.register_pytree_node(type("T", (), {}), None, None),
            TypeError,
            "None is not callable",
        ),
        (
            lambda: tree_util.tree_structure([1]).walk(len, None, [1, 2]),
            ValueError,
            "walk: expected 1 leaves, got 2",
        ),
    ],
)
def test_error(call, error, text):
    with pytest.raises(error, match=re.escape(text)):
        call()


def test_metadata_whose_comparison_raises():
    class Unequal:
        def __eq__(self, other):
            raise RuntimeError("no")

    a, b = (tree_util.tree_structure(Many(aux=Unequal())) for _ in range(2))
    with pytest.raises(ValueError, match="checking equality of metadata fields") as caught:
        a == b  # noqa: B015
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert a == a


def test_keys_that_do_not_sort_give_the_reason():
    with pytest.raises(ValueError, match="sorting pytree dictionary keys") as caught:
        tree_util.tree_leaves({1: 1, "a": 2})
    assert isinstance(caught.value.__cause__, TypeError)


def test_cyclic_trees():
    cycle = []
    cycle.append(cycle)
    for walk in (tree_util.tree_leaves, tree_util.tree_leaves_with_path):
        with pytest.raises(RecursionError, match="cyclical node references"):
            walk(cycle)


def test_deep_trees():
    nested = 1
    for _ in range(300):
        nested = [nested]
    structure = tree_util.tree_structure(nested)
    assert structure.num_nodes == 301
    assert tree_util.tree_map(lambda x: x, nested) == nested
    assert repr(structure) == f"PyTreeDef({'[' * 300}*{']' * 300})"


def test_errors_of_user_code_pass_through():
    def fail(*_):
        raise KeyError("mine")

    class Bad:
        pass

    tree_util.register_pytree_node(Bad, lambda _: ((1,), None), fail)
    for call in (
        lambda: tree_util.tree_map(fail, [1]),
        lambda: tree_util.tree_map(lambda x: x, [Bad()]),
        lambda: tree_util.tree_leaves([1], is_leaf=fail),
        lambda: tree_util.tree_flatten_with_path([1], is_leaf=fail),
    ):
        with pytest.raises(KeyError, match="mine"):
            call()


def test_a_value_error_of_user_code_is_not_replaced():
    class Flaky:
        calls = 0

    def flatten(_):
        Flaky.calls += 1
        if Flaky.calls == 2:
            raise ValueError("mine")
        return (1,), None

    tree_util.register_pytree_node(Flaky, flatten, lambda _, children: children)
    with pytest.raises(ValueError, match="mine") as caught:
        tree_util.tree_map(lambda x, y: x, Flaky(), Flaky())
    assert caught.traceback[-1].name == "flatten"
