"""tests/pytree/test_flatten_util.py - trees of arrays as one vector."""

import numpy as np
import pytest

shardax = pytest.importorskip("shardax")
jnp = pytest.importorskip("shardax.numpy")
ravel_pytree = pytest.importorskip("shardax.flatten_util").ravel_pytree


@pytest.mark.parametrize(
    ("tree", "dtype", "size"),
    [
        ({"a": np.ones((2, 2), np.float32), "b": np.arange(2, dtype=np.int32)}, "float32", 6),
        ({"a": np.ones((2, 0), np.float32), "b": (np.float32(2), None)}, "float32", 1),
        ([np.arange(3, dtype=np.int32)], "int32", 3),
        ([True, 1], "int32", 2),
        ([], "float32", 0),
        (None, "float32", 0),
    ],
)
def test_roundtrip(tree, dtype, size):
    from shardax import tree_util

    vector, unravel = ravel_pytree(tree)
    assert (str(vector.dtype), vector.shape) == (dtype, (size,))
    restored = unravel(vector)
    assert tree_util.tree_structure(restored) == tree_util.tree_structure(tree)
    for new, old in zip(tree_util.tree_leaves(restored), tree_util.tree_leaves(tree), strict=True):
        assert new.shape == np.shape(old)
        assert new.dtype == jnp.result_type(old)
        np.testing.assert_array_equal(new, old)


def test_dtypes_that_agree_follow_the_vector():
    _, unravel = ravel_pytree({"a": np.ones((2, 2), np.float32), "b": np.ones(2, np.float32)})
    assert str(unravel(jnp.ones(6, jnp.int32))["a"].dtype) == "int32"


def test_vectors_that_do_not_fit():
    tree = {"a": np.ones((2, 2), np.float32), "b": np.arange(2, dtype=np.int32)}
    _, unravel = ravel_pytree(tree)
    with pytest.raises(TypeError, match="dtype int32, but expected dtype float32"):
        unravel(jnp.ones(6, jnp.int32))
    with pytest.raises(ValueError, match="shape"):
        unravel(jnp.ones(3))


def test_equal_structures_give_equal_functions():
    first, second = (ravel_pytree([np.ones(2, np.float32), i])[1] for i in range(2))
    assert first == second
    assert hash(first) == hash(second)


@pytest.mark.parametrize("tree", [1.0, (1.0, 2.0), {"a": np.ones((2, 3)), "b": 3}])
def test_leaves_of_numpys_vectors_are_arrays(tree):
    vector, unravel = ravel_pytree(tree)
    for leaf in shardax.tree.leaves(unravel(np.asarray(vector))):
        assert isinstance(leaf, shardax.Array)
