"""tests/lax/test_indexing.py - gather and scatter with dimension numbers of the caller's own."""

import itertools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

X = np.arange(12, dtype=np.float32).reshape(4, 3)
ROWS = np.array([[2], [0], [2]])
PICK = lax.GatherDimensionNumbers((1,), (0,), (0,))
PUT = lax.ScatterDimensionNumbers((1,), (0,), (0,))


def test_gather():
    np.testing.assert_array_equal(lax.gather(X, ROWS, PICK, (1, 3)), X[[2, 0, 2]])
    far = np.array([[5], [-1]])
    np.testing.assert_array_equal(lax.gather(X, far, PICK, (1, 3)), X[[3, 0]])
    assert np.isnan(lax.gather(X, far, PICK, (1, 3), mode="fill")).all()
    np.testing.assert_array_equal(lax.gather(X, far, PICK, (1, 3), mode="clip"), X[[3, 0]])
    filled = lax.gather(X, far, PICK, (1, 3), mode=lax.GatherScatterMode.FILL_OR_DROP, fill_value=7)
    assert (filled == 7).all()
    batched = lax.GatherDimensionNumbers((), (1,), (1,), (0,), (0,))
    columns = np.array([[0], [2], [1], [0]])
    np.testing.assert_array_equal(lax.gather(X, columns, batched, (1, 1)), [0, 5, 7, 9])


@pytest.mark.parametrize("name", ["", "_add", "_sub", "_mul", "_min", "_max"])
def test_scatter(name):
    combine = {
        "": lambda old, new: new,
        "_add": np.add,
        "_sub": np.subtract,
        "_mul": np.multiply,
        "_min": np.minimum,
        "_max": np.maximum,
    }[name]
    updates = np.array([[5, 6, 7], [-1, -2, -3]], np.float32)
    scatter = getattr(lax, "scatter" + name)
    out = scatter(X, ROWS[:2], updates, PUT, unique_indices=True)
    expected = X.copy()
    expected[[2, 0]] = combine(expected[[2, 0]], updates)
    np.testing.assert_array_equal(out, expected)
    moved = shardax.vmap(lambda u: scatter(X, ROWS[:2], u, PUT))(np.stack([updates, updates]))
    np.testing.assert_array_equal(moved, np.stack([expected, expected]))
    far = np.array([[4], [-1]])
    np.testing.assert_array_equal(scatter(X, far, updates, PUT), X)


def test_scatter_apply_acts_as_often_as_named():
    out = lax.scatter_apply(X, ROWS, lambda x: 2 * x, PUT, update_shape=(3, 3))
    expected = X.copy()
    expected[0] *= 2
    expected[2] *= 4
    np.testing.assert_array_equal(out, expected)
    once = lax.scatter_apply(X, ROWS[:2], jnp.sin, PUT, update_shape=(2, 3), unique_indices=True)
    np.testing.assert_allclose(once[2], np.sin(X[2]), rtol=1e-6)


def test_index_take():
    np.testing.assert_array_equal(lax.index_take(X, (np.array([1, -1]),), (0,)), X[[1, -1]])
    both = lax.index_take(X, (np.array([1, -1]), np.array([0, 2])), (0, 1))
    np.testing.assert_array_equal(both, X[[1, -1], [0, 2]])


@pytest.mark.parametrize(
    "changes, sizes, text",
    [
        ({"offset_dims": (1, 0)}, (1, 3), "offset_dims in gather op must be sorted"),
        ({"offset_dims": (0, 0)}, (1, 3), "offset_dims in gather op must not repeat"),
        ({"offset_dims": (2,)}, (1, 3), "Offset dimension 0 in gather op is out of bounds; got 2"),
        ({"start_index_map": (0, 1)}, (1, 3), "Gather op has 2 elements in start_index_map and"),
        ({"start_index_map": (2,)}, (1, 3), r"Invalid start_index_map mapping; .* got: 0->2"),
        ({"collapsed_slice_dims": (2,)}, (1, 3), "Invalid collapsed_slice_dims set in gather op"),
        ({"operand_batching_dims": (0,)}, (1, 3), "collapsed_slice_dims and operand_batching_dims"),
        ({"start_indices_batching_dims": (1,)}, (1, 3), "cannot have the index vector dimension"),
        ({"start_indices_batching_dims": (0,)}, (1, 3), "requires equal numbers of operand_batchi"),
        ({}, (1,), "must have one slice size for every input dimension"),
        ({"collapsed_slice_dims": ()}, (1, 3), "All components of the offset index in a gather op"),
        ({}, (1, 4), "Slice size at index 1 in gather op is out of range"),
        ({}, (2, 3), "can only collapse slice dims with bound 1, but bound is 2 for index 0"),
    ],
)
def test_gather_errors(changes, sizes, text):
    with pytest.raises(TypeError, match=text):
        lax.gather(X, ROWS, PICK._replace(**changes), sizes)


@pytest.mark.parametrize(
    "changes, shape, text",
    [
        ({}, (3,), "Updates tensor must be of rank 2; got 1"),
        ({"inserted_window_dims": ()}, (3, 3), "Scatter op has window of size 1; doesn't match"),
        (
            {"scatter_dims_to_operand_dims": (3,)},
            (3, 3),
            "Invalid scatter_dims_to_operand_dims map",
        ),
        ({}, (2, 3), "For scatter dimension 0, updates bound is 2, indices bound is 3"),
        ({}, (3, 5), "For dimension 1, updates bound is 5, operand bound is 3"),
    ],
)
def test_scatter_errors(changes, shape, text):
    with pytest.raises(TypeError, match=text):
        lax.scatter(X, ROWS, np.ones(shape, np.float32), PUT._replace(**changes))


def test_modes():
    assert lax.GatherScatterMode.from_any("drop") is lax.GatherScatterMode.FILL_OR_DROP
    with pytest.raises(ValueError, match='Unknown gather mode "nearest"'):
        lax.gather(X, ROWS, PICK, (1, 3), mode="nearest")


def test_a_dtype_attribute_is_looked_up_once():
    class Endless:
        @property
        def dtype(self):
            return Endless()

    with pytest.raises(TypeError, match="JAX only supports number, bool, and string dtypes"):
        jnp.zeros(2, Endless())


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("shape", [(3, 4, 2), (1, 4, 2), (3, 1, 2), (1, 1, 4), (2, 3, 1)])
def test_take_along_axis_broadcasts_both_ways(shape, axis):
    """Indices of size 1 choose for a whole dimension, elements of size 1 are chosen from again."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(np.float32)
    for few in itertools.product((True, False), repeat=3):
        sizes = [1 if few[d] else max(n, 5 * (n == 1)) for d, n in enumerate(shape)]
        sizes[axis] = 2
        index = rng.integers(-shape[axis], shape[axis], sizes)
        both = [max(a, b) for a, b in zip(shape, sizes, strict=True)]
        of_x, of_index = ([*both] for _ in range(2))
        of_x[axis], of_index[axis] = shape[axis], 2
        want = np.take_along_axis(np.broadcast_to(x, of_x), np.broadcast_to(index, of_index), axis)
        np.testing.assert_array_equal(jnp.take_along_axis(x, index, axis), want)
        got = jnp.take_along_axis(x, index.astype("int8"), axis, mode="clip")
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float16", "complex64"])
@pytest.mark.parametrize("width", [1, 3, 16, 64, 65, 255, 256, 257])
def test_rows_of_any_width_are_picked(width, dtype):
    x = np.arange(50 * width).reshape(50, width).astype(dtype)
    index = np.random.default_rng(0).integers(-3, 53, 600)
    for mode, fill in (("clip", None), ("fill", 7)):
        found = jnp.take(jnp.asarray(x), index, axis=0, mode=mode, fill_value=fill)
        wanted = x[np.clip(index, 0 if mode == "clip" else -50, 49)]
        if mode == "fill":
            wanted[index > 49] = fill
        np.testing.assert_array_equal(found, wanted)
    turned = jnp.take(jnp.asarray(np.ascontiguousarray(x.T)), np.clip(index, 0, 49), axis=1)
    np.testing.assert_array_equal(turned, x.T[:, np.clip(index, 0, 49)])


@pytest.mark.parametrize(
    "shape", [(7,), (8,), (9,), (200_003,), (3, 5), (300, 700), (2, 3, 4), (0, 3)]
)
def test_masks(shape):
    rng = np.random.default_rng(0)
    x = rng.normal(size=shape).astype(np.float32)
    for share in (0.0, 0.3, 1.0):
        mask = rng.random(shape) < share
        np.testing.assert_array_equal(jnp.asarray(x)[mask], x[mask])
        turned = jnp.asarray(mask.T.copy()).T
        np.testing.assert_array_equal(jnp.asarray(x)[turned], x[mask])
        np.testing.assert_array_equal(jnp.nonzero(mask), np.nonzero(mask))
        expected = x.copy()
        expected[mask] = 5
        np.testing.assert_array_equal(jnp.asarray(x).at[mask].set(5), expected)
    places = jnp.nonzero(jnp.ones(shape, bool), size=int(np.prod(shape)) + 3, fill_value=-1)
    assert all((p[-3:] == -1).all() for p in places)


def test_keys_are_not_added():
    keys = shardax.random.split(shardax.random.key(0), 3)
    for update in (keys.at[0].add, keys.at[0].multiply):
        with pytest.raises(TypeError, match="key<fry>"):
            update(keys[1])
    with pytest.raises(TypeError, match="key<fry>"):
        shardax.ops.segment_sum(keys, jnp.array([0, 0, 1]))


@pytest.mark.parametrize(
    "mode, wraps, expected",
    [
        (None, None, [30, 20]),
        ("clip", None, [30, 20]),
        ("clip", False, [10, 10]),
        ("promise_in_bounds", None, [10, 10]),
        ("promise_in_bounds", True, [30, 20]),
        (shardax.lax.GatherScatterMode.PROMISE_IN_BOUNDS, None, [10, 10]),
    ],
)
def test_whether_indices_along_an_axis_count_from_the_end(mode, wraps, expected):
    x, places = jnp.array([10, 20, 30]), jnp.array([-1, -2])
    found = jnp.take_along_axis(x, places, 0, mode=mode, wrap_negative_indices=wraps)
    assert found.tolist() == expected


@pytest.mark.parametrize("source, target", [("int8", "int4"), ("int4", "int8"), ("int8", "int16")])
def test_scalars_are_not_viewed_as_wider_or_narrower_ones(source, target):
    with pytest.raises(ValueError, match="view.. of a 0d array is only supported if the itemsize"):
        jnp.asarray(3, source).view(target)
