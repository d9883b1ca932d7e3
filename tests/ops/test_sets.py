"""tests/ops/test_sets.py - jnp's set functions, held against NumPy, and their sizes under jit."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

A = np.array([5, 1, 2, 2, 9])
B = np.array([[2, 7], [5, 5]])
GRID = np.array([[3, 1, 3], [2, 1, 3], [3, 1, 3]])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_unique(axis):
    ours = jnp.unique(GRID, True, True, True, axis)
    theirs = np.unique(GRID, True, True, True, axis)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_unique_of_a_given_size():
    def values(x, **options):
        return jnp.unique(x, True, True, True, size=5, **options)

    out = jax.jit(values)(GRID)
    np.testing.assert_array_equal(out[0], [1, 2, 3, 1, 1])
    np.testing.assert_array_equal(out[1], [1, 3, 0, 1, 1])
    np.testing.assert_array_equal(out[2], [[2, 0, 2], [1, 0, 2], [2, 0, 2]])
    np.testing.assert_array_equal(out[3], [3, 1, 5, 0, 0])
    np.testing.assert_array_equal(values(GRID, fill_value=-1)[0], [1, 2, 3, -1, -1])
    np.testing.assert_array_equal(jnp.unique(GRID, size=2), [1, 2])
    rows = jnp.unique(GRID, axis=0, size=3, fill_value=7, return_counts=True)
    np.testing.assert_array_equal(rows[0], [[2, 1, 3], [3, 1, 3], [7, 7, 7]])
    np.testing.assert_array_equal(rows[1], [1, 2, 0])
    assert jnp.unique(jnp.zeros((0, 3)), axis=0, size=2, fill_value=9).shape == (2, 3)


def test_unique_of_nan():
    x = jnp.array([1.0, jnp.nan, 0.0, jnp.nan])
    np.testing.assert_array_equal(jnp.unique(x), [0, 1, np.nan])
    assert jnp.unique(x, equal_nan=False).shape == (4,)
    named = jnp.unique_all(x)
    assert named._fields == ("values", "indices", "inverse_indices", "counts")
    np.testing.assert_array_equal(named.counts, [1, 1, 1, 1])
    np.testing.assert_array_equal(jnp.unique_counts(A).counts, [1, 2, 1, 1])
    np.testing.assert_array_equal(jnp.unique_inverse(A).inverse_indices, [2, 0, 1, 1, 3])
    assert jnp.unique_values(x).shape == (4,)


@pytest.mark.parametrize(
    "name, fill", [("union1d", 1), ("intersect1d", 2), ("setdiff1d", 0), ("setxor1d", 1)]
)
def test_pairs(name, fill):
    ours, theirs = getattr(jnp, name), getattr(np, name)(A, B)
    np.testing.assert_array_equal(ours(A, B), theirs)
    for given in (None, -1):
        out = jax.jit(lambda a, b: ours(a, b, size=7, fill_value=given))(A, B)  # noqa: B023
        padding = [fill if given is None else given] * (7 - len(theirs))
        np.testing.assert_array_equal(out, [*theirs, *padding])
    np.testing.assert_array_equal(ours(A, B, size=1), theirs[:1])
    if name != "union1d":
        x, y = np.array([3, 1, 4]), np.array([1, 5])
        np.testing.assert_array_equal(
            ours(x, y, assume_unique=True), getattr(np, name)(x, y, assume_unique=True)
        )
    for pair in ((A, B[:0]), (A[:0], B)):
        np.testing.assert_array_equal(ours(*pair), getattr(np, name)(*pair))
    with pytest.raises(jax.errors.ConcretizationTypeError, match="the size argument"):
        jax.jit(ours)(A, B)


def test_places_of_shared_elements():
    for mine, theirs in zip(
        jnp.intersect1d(A, B, return_indices=True),
        np.intersect1d(A, B, return_indices=True),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)
    out = jnp.intersect1d(A, B, return_indices=True, size=4, fill_value=-1)
    np.testing.assert_array_equal(out[0], [2, 5, -1, -1])
    np.testing.assert_array_equal(out[1], [2, 0, 5, 5])
    np.testing.assert_array_equal(out[2], [0, 2, 4, 4])


@pytest.mark.parametrize("method", ["auto", "compare_all", "binary_search", "sort"])
@pytest.mark.parametrize("invert", [False, True])
def test_isin(method, invert):
    many = np.arange(0, 90, 3)
    for others in (A, many, many[:0]):
        out = jnp.isin(B, others, invert=invert, method=method)
        np.testing.assert_array_equal(out, np.isin(B, others, invert=invert))


def test_trim_zeros():
    x = np.array([0, 0, 1, 0, 2, 0])
    for trim in ("fb", "f", "b"):
        np.testing.assert_array_equal(jnp.trim_zeros(x, trim), np.trim_zeros(x, trim))
    assert jnp.trim_zeros(jnp.zeros(3)).shape == (0,)


def test_errors():
    for error, text, call in [
        (ValueError, "fill_value must be specified", lambda: jnp.unique(jnp.zeros(0), size=3)),
        (ValueError, "options are 'compare_all'", lambda: jnp.isin(A, B, method="x")),
        (TypeError, "got <class 'list'>", lambda: jnp.unique([1, 2])),
        (TypeError, "got <class 'list'>", lambda: jnp.isin([1], [2])),
        (jax.errors.ConcretizationTypeError, "`filt`", lambda: jax.jit(jnp.trim_zeros)(A)),
    ]:
        with pytest.raises(error, match=text):
            call()


RANGES = {"short": 5, "long": 2**31 - 2, "all": 2**31 - 1}


@pytest.mark.parametrize("bound", RANGES.values(), ids=RANGES)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int32", "float32", "complex64"])
def test_elements_among_many(dtype, bound):
    rng = np.random.default_rng(0)
    bound = min(bound, 100) if dtype == "int8" else bound
    x = rng.integers(-bound, bound, (3, 500)).astype(dtype)
    others = np.concatenate([rng.integers(-bound, bound, 90).astype(dtype), x[0, :30]])
    if dtype in ("float32", "complex64"):
        x[1, :4], others[:3] = [0.0, -0.0, np.nan, np.inf], [-0.0, np.nan, np.inf]
    if dtype in ("uint32", "int32"):
        limits = np.iinfo(dtype)
        x[1, :4] = [limits.max, limits.min, limits.max - 1, limits.min + 1]
        others[:2] = [limits.max, limits.min]
    np.testing.assert_array_equal(jnp.isin(x, others), np.isin(x, others))
    sets = np.stack([others, others[::-1] + others[0], others])
    rows = [np.isin(x[k], sets[k]) for k in range(3)]
    np.testing.assert_array_equal(jax.vmap(jnp.isin)(x, sets), rows)
    np.testing.assert_array_equal(jax.vmap(jnp.isin, (0, None))(x, others), np.isin(x, others))
    each = [np.isin(x, s) for s in sets]
    np.testing.assert_array_equal(jax.vmap(jnp.isin, (None, 0))(x, sets), each)
    names = ("union1d", "intersect1d", "setdiff1d", "setxor1d")
    for name in names if dtype in ("bool", "int8", "int32", "uint32") else ():
        theirs = getattr(np, name)(x, others)
        np.testing.assert_array_equal(getattr(jnp, name)(x, others), theirs)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize(
    "where", [1, -1, [0, 2], [3, 3, 1], [-4, 0], [], slice(1, 3), slice(None, None, -2)], ids=str
)
def test_deleted_and_inserted(where, axis):
    a = np.arange(24.0).reshape(4, 6)
    np.testing.assert_array_equal(
        jnp.delete(a, np.asarray(where, int) if isinstance(where, list) else where, axis),
        np.delete(a, where, axis),
    )
    index = where if isinstance(where, slice) else np.array(where, int)
    theirs = np.insert(a, index, 7.0, axis)
    np.testing.assert_array_equal(jnp.insert(a, index, 7.0, axis), theirs)
    if not isinstance(where, slice):
        out = jax.jit(lambda index: jnp.insert(a, index, 7.0, axis))(index)
        np.testing.assert_array_equal(out, theirs)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64"])
def test_deleted_by_indices_of_any_type(dtype):
    """Also where the array is longer than the type counts, and with few indices or many."""
    a = np.arange(300.0)
    for places in ([1, 5, 5, 120], range(0, 120, 2)):
        places = np.array(places, dtype)
        np.testing.assert_array_equal(jnp.delete(a, places), np.delete(a, places.astype(int)))


def test_many_deleted_and_inserted():
    a, places = np.arange(1000.0), np.random.default_rng(0).integers(-1000, 1000, 300)
    values = np.arange(300.0)
    np.testing.assert_array_equal(jnp.delete(a, places), np.delete(a, places))
    np.testing.assert_array_equal(jnp.delete(a, a < 400), np.delete(a, a < 400))
    np.testing.assert_array_equal(jnp.insert(a, places, values), np.insert(a, places, values))


def test_deleting_refuses():
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
        jnp.delete(jnp.zeros(3), jnp.array([5]))
    with pytest.raises(ValueError, match="the length of the axis, 3"):
        jnp.delete(jnp.zeros(3), jnp.array([True]))
    with pytest.raises(IndexError, match="must be integers"):
        jnp.delete(jnp.zeros(3), jnp.array([1.0]))


def test_complex_nan_are_one_value():
    parts = [0.0, 1.0, np.nan]
    x = np.array([complex(a, b) for a in parts for b in parts], np.complex64)
    values, counts = jnp.unique(x, return_counts=True)
    np.testing.assert_array_equal(values[:4], [0, 1j, 1, 1 + 1j])
    assert np.isnan(values[4]) and counts.tolist() == [1, 1, 1, 1, 5]
    assert len(jnp.unique(x, equal_nan=False)) == 9
