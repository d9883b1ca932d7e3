# tests/errors/test_numpy_operands.py - operands that functions of jnp refuse, as JAX does.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp

x = jnp.arange(4.0)
NO_LISTS = {
    "copy": lambda a: jnp.copy(a),
    "diagflat": lambda a: jnp.diagflat(a),
    "digitize": lambda a: jnp.digitize(x, a),
    "extract": lambda a: jnp.extract(x > 1, a),
    "fft": lambda a: jnp.fft.fft(a),
    "flatnonzero": lambda a: jnp.flatnonzero(a),
    "interp": lambda a: jnp.interp(a, x, x),
    "irfft2": lambda a: jnp.fft.irfft2(a),
    "lexsort": lambda a: jnp.lexsort((a, x)),
    "resize": lambda a: jnp.resize(a, (3,)),
    "rollaxis": lambda a: jnp.rollaxis(a, 0),
    "sort_complex": lambda a: jnp.sort_complex(a),
    "delete": lambda a: jnp.delete(x, a),
    "histogram": lambda a: jnp.histogram(x, 3, weights=a),
    "ediff1d": lambda a: jnp.ediff1d(a),
}


@pytest.mark.parametrize("call", NO_LISTS.values(), ids=NO_LISTS)
@pytest.mark.parametrize("given", [[0.0, 1.0, 2.0, 3.0], None], ids=["list", "none"])
def test_lists_are_no_arrays(call, given):
    if given is None and call is NO_LISTS["histogram"]:
        pytest.skip("no weights are none")
    with pytest.raises(TypeError, match="requires ndarray or scalar arguments"):
        call(given)


def test_compress_refuses_what_lies_beyond_the_axis():
    with pytest.raises(ValueError, match="holds at index 3, which is out of bounds .* size 3"):
        jnp.compress(jnp.array([True, False, True, True]), jnp.arange(3))
    kept = jnp.compress(jnp.array([True, False, True, False]), jnp.arange(3))
    np.testing.assert_array_equal(kept, [0, 2])


def test_gradient_takes_one_spacing_or_one_for_each_dimension():
    with pytest.raises(TypeError, match="2 spacings were given for 1 dimensions"):
        jnp.gradient(x, 0.5, 1.0)
    assert len(jnp.gradient(jnp.ones((3, 3)), 0.5, 1.0)) == 2


def test_unwrap_refuses_complex_numbers():
    with pytest.raises(ValueError, match="does not support complex inputs"):
        jnp.unwrap(x + 1j)


def test_differences_of_truth_values_are_refused():
    with pytest.raises(TypeError, match="subtract|sub"):
        jnp.ediff1d(jnp.array([True, False]))


def test_widths_of_more_dimensions_than_there_are():
    with pytest.raises(ValueError, match=r"takes no pad_width of shape \(2, 2\)"):
        jnp.pad(jnp.float32(1), ((1, 1), (2, 2)))


def test_weights_of_another_shape():
    with pytest.raises(ValueError, match="weights should have the same shape as a"):
        jnp.histogram(x, 3, weights=jnp.ones(3))


def test_updates_keep_the_dtype():
    counts = jnp.add.at(jnp.ones(3, jnp.int32), jnp.arange(2), jnp.full(2, 0.7), inplace=False)
    np.testing.assert_array_equal(counts, np.ones(3, np.int32), strict=True)
    truth = jnp.add.at(jnp.zeros(3, bool), jnp.array([1]), jnp.array([True]), inplace=False)
    np.testing.assert_array_equal(truth, [False, True, False], strict=True)


def test_lognormal_takes_complex_numbers():
    key = shardax.random.key(0)
    drawn = shardax.random.lognormal(key, 2.0, (4,), "complex64")
    expected = jnp.exp(shardax.random.normal(key, (4,), "complex64") * 2)
    np.testing.assert_array_equal(drawn, expected, strict=True)


def test_least_squares_of_bfloat16():
    solution = jnp.linalg.lstsq(jnp.eye(2, dtype="bfloat16"), jnp.ones(2, "bfloat16"))[0]
    assert solution.dtype == "bfloat16" and solution.tolist() == [1, 1]
