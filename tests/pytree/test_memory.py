"""tests/pytree/test_memory.py - reference counts and garbage collection."""

import gc
import sys
import weakref

import pytest
from shardax import tree_util


class Box:
    def __init__(self, child, aux):
        self.child, self.aux = child, aux


tree_util.register_pytree_node(Box, lambda b: ((b.child,), b.aux), lambda aux, c: Box(c[0], aux))


class Thing:
    """A leaf, a key or aux data whose references are counted."""

    def __lt__(self, other):
        return id(self) < id(other)


def fail(*_):
    raise KeyError


def try_call(call):
    try:
        call()
    except (KeyError, ValueError, TypeError):
        pass


def exercise(leaf, key, aux):
    tu = tree_util
    tree = {"b": [leaf, (leaf, None)], "a": Box({key: leaf, Thing(): leaf}, aux)}
    leaves, structure = tu.tree_flatten(tree)
    tu.tree_unflatten(structure, leaves)
    tu.tree_map(lambda x, y: x, tree, tree)
    tu.tree_map_with_path(lambda p, x: p, tree)
    tu.tree_flatten_with_path(tree)
    tu.tree_broadcast(leaf, tree)
    structure.compose(structure).children()
    structure.flatten_up_to(tree)
    structure.node_data()
    str(structure)
    assert structure == tu.tree_structure(tree)
    tu.treedef_tuple([structure, structure])
    structure.walk(lambda c, d: c, None, leaves)
    tu.flatten_one_level_with_keys(tree["a"])
    hash(tu.DictKey(key))
    try_call(lambda: tu.tree_map(fail, tree))
    try_call(lambda: tu.tree_map(lambda x, y: x, tree, {"b": tree["b"], "a": Box(leaf, key)}))
    try_call(lambda: tu.tree_leaves(tree, is_leaf=fail))
    try_call(lambda: tu.tree_leaves([leaf, {key: aux, 1: aux, "a": leaf}]))
    try_call(lambda: tu.tree_unflatten(structure, [leaf]))
    try_call(lambda: tu.tree_leaves(leaf, leaf, leaf))


def test_no_reference_is_lost_or_kept():
    things = [Thing() for _ in range(3)]

    def counts():
        gc.collect()
        return [sys.getrefcount(thing) for thing in things]

    exercise(*things)
    before = counts()
    for _ in range(10):
        exercise(*things)
    assert counts() == before


def test_number_of_objects_stays():
    things = [Thing() for _ in range(3)]
    exercise(*things)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(50):
        exercise(*things)
    gc.collect()
    assert len(gc.get_objects()) < before + 20


@pytest.mark.parametrize("make", [lambda aux: Box(1, aux), lambda aux: {aux: 1}])
def test_cycle_through_a_structure_is_collected(make):
    aux = Thing()
    aux.structure = tree_util.tree_structure(make(aux))
    gone = weakref.ref(aux)
    del aux
    gc.collect()
    assert gone() is None


def test_shared_aux_data_outlives_a_collection():
    aux = Thing()
    structures = [tree_util.tree_structure([Box(1, aux)]) for _ in range(3)]
    children = [s.children()[0] for s in structures]
    del structures
    gc.collect()
    assert all(child.node_data() == (Box, aux) for child in children)


def test_cycle_through_a_key_is_collected():
    thing = Thing()
    thing.key = tree_util.DictKey(thing)
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None


def test_structures_of_plain_keys_are_not_tracked():
    assert not gc.is_tracked(tree_util.tree_structure({"a": [1], "b": 2}))
    assert gc.is_tracked(tree_util.tree_structure(Box(1, Thing)))


def test_long_chain_of_structures_is_freed():
    structure = tree_util.tree_structure(1)
    for _ in range(100_000):
        structure = tree_util.tree_structure(Box(1, structure))
    del structure


def test_nested_use_of_scratch_memory():
    def nested(x):
        return sum(tree_util.tree_leaves([x, [x, (x,)]]))

    tree = {"a": 1, "b": (2, [3])}
    assert tree_util.tree_map(nested, tree) == {"a": 3, "b": (6, [9])}


def test_large_trees():
    leaves, structure = tree_util.tree_flatten([{"x": i, "y": (i,)} for i in range(20_000)])
    assert structure.num_leaves == len(leaves) == 40_000
    assert tree_util.tree_flatten(tree_util.tree_unflatten(structure, leaves))[0] == leaves
