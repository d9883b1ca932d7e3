"""tests/pytree/test_roundtrip.py - properties of random trees."""

import collections
import dataclasses
import pickle

import pytest
from shardax import tree, tree_util
from shardax.tree_util import tree_flatten, tree_map, tree_structure

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies
# For busy machines, where finding a tree may take long.
patient = hypothesis.settings(
    deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)

Point = collections.namedtuple("Point", "x y")


@tree_util.register_dataclass
@dataclasses.dataclass
class Data:
    x: object
    name: str = tree.static(default="")


@dataclasses.dataclass
class Custom:
    children: tuple
    aux: object


tree_util.register_pytree_node(
    Custom, lambda c: (c.children, c.aux), lambda aux, children: Custom(children, aux)
)

keys = st.text("abcé日", max_size=3)


def nodes(child):
    return st.one_of(
        st.lists(child, max_size=3),
        st.lists(child, max_size=3).map(tuple),
        st.dictionaries(keys, child, max_size=20),
        st.dictionaries(st.integers(), child, max_size=3),
        st.dictionaries(keys, child, max_size=3).map(collections.OrderedDict),
        st.dictionaries(keys, child, max_size=3).map(lambda d: collections.defaultdict(int, d)),
        st.builds(Point, child, child),
        st.builds(Data, child, keys),
        st.builds(Custom, st.lists(child, max_size=3).map(tuple), keys),
        st.builds(tree_util.Partial, st.just(max), child, key=child),
    )


trees = st.recursive(st.none() | st.integers() | st.text(max_size=2), nodes, max_leaves=20)


def reference_leaves(value):
    """The leaves by a few lines of Python."""
    if value is None:
        return []
    if type(value) in (dict, collections.defaultdict):
        children = [value[key] for key in sorted(value)]
    elif type(value) is collections.OrderedDict:
        children = list(value.values())
    elif type(value) in (list, tuple, Point):
        children = list(value)
    elif type(value) is Data:
        children = [value.x]
    elif type(value) is Custom:
        children = list(value.children)
    elif type(value) is tree_util.Partial:
        children = [value.args, value.keywords]
    else:
        return [value]
    return [leaf for child in children for leaf in reference_leaves(child)]


@patient
@hypothesis.given(trees)
def test_flatten_and_unflatten(value):
    leaves, structure = tree_flatten(value)
    assert leaves == reference_leaves(value)
    assert structure.num_leaves == len(leaves)
    rebuilt = tree_util.tree_unflatten(structure, leaves)
    assert tree_flatten(rebuilt) == (leaves, structure)
    assert repr(rebuilt) == repr(tree_map(lambda x: x, value))


@patient
@hypothesis.given(trees)
def test_structure(value):
    structure = tree_structure(value)
    children = structure.children()
    assert structure.num_nodes == 1 + sum(child.num_nodes for child in children)
    assert hash(structure) == hash(tree_structure(tree_map(lambda _: 0, value)))
    copy = pickle.loads(pickle.dumps(structure))
    assert copy == structure
    assert hash(copy) == hash(structure)


@patient
@hypothesis.given(trees, trees)
def test_equality_is_that_of_the_text(a, b):
    same = repr(tree_structure(a)) == repr(tree_structure(b))
    assert (tree_structure(a) == tree_structure(b)) == same


@patient
@hypothesis.given(trees, trees)
def test_compose(outer, inner):
    inner_structure = tree_structure(inner)
    composed = tree_structure(outer).compose(inner_structure)
    nested = tree_map(lambda _: inner, outer)
    assert composed == tree_structure(nested)
    assert hash(composed) == hash(tree_structure(nested))
    assert composed.num_nodes == tree_structure(nested).num_nodes
    subtrees = tree_structure(outer).flatten_up_to(nested)
    assert [tree_structure(s) for s in subtrees] == [inner_structure] * len(subtrees)


@patient
@hypothesis.given(trees)
def test_paths(value):
    pairs, structure = tree_util.tree_flatten_with_path(value)
    assert ([leaf for _, leaf in pairs], structure) == tree_flatten(value)
    assert len({path for path, _ in pairs}) == len(pairs)


@patient
@hypothesis.given(trees, trees)
def test_prefix_errors_agree_with_broadcast(prefix, full):
    if tree_util.prefix_errors(prefix, full, "prefix"):
        with pytest.raises(ValueError, match="pytree structure error"):
            tree_util.tree_broadcast(prefix, full)
    else:
        broadcast = tree_util.tree_broadcast(prefix, full)
        assert tree_structure(broadcast) == tree_structure(full)
