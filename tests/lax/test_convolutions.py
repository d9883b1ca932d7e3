"""tests/lax/test_convolutions.py - convolutions and windows: groups, dilation, the transpose,
patches, shapes, errors.
"""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

NHC = ("NHC", "HIO", "NHC")
rng = np.random.default_rng(0)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_groups_of_the_batch():
    lhs, rhs = normal(4, 3, 7), normal(6, 3, 2)
    out = lax.conv_general_dilated(lhs, rhs, (1,), "VALID", batch_group_count=2)
    parts = [
        lax.conv_general_dilated(lhs[2 * g : 2 * g + 2], rhs[3 * g : 3 * g + 3], (1,), "VALID")
        for g in range(2)
    ]
    np.testing.assert_allclose(out, np.concatenate(parts, 1), rtol=1e-5, atol=1e-5)
    batched = shardax.vmap(
        lambda x: lax.conv_general_dilated(x, rhs, (1,), "VALID", batch_group_count=2)
    )(np.stack([lhs, lhs]))
    np.testing.assert_allclose(batched[1], out, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [(1, 0)]])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_conv_transpose_is_the_gradient_of_a_convolution(padding, stride):
    x, kernel = normal(2, 5, 3), normal(3, 2, 3)
    out = lax.conv_transpose(
        x,
        kernel,
        (stride,),
        padding,
        transpose_kernel=True,
        dimension_numbers=NHC,
        use_consistent_padding=True,
    )

    def forward(z):
        return lax.conv_general_dilated(z, kernel, (stride,), padding, dimension_numbers=NHC)

    pulled = shardax.vjp(forward, np.zeros(out.shape, np.float32))[1](x)[0]
    np.testing.assert_allclose(out, pulled, rtol=1e-4, atol=1e-4)


def test_patches_and_local_kernels():
    x, rhs = normal(2, 3, 6), normal(4, 3, 2)
    patches = lax.conv_general_dilated_patches(x, (2,), (1,), "VALID")
    expected = np.stack([x[:, :, :-1], x[:, :, 1:]], 2).reshape(2, 6, 5)
    np.testing.assert_array_equal(patches, expected)
    kernels = np.repeat(rhs.reshape(4, 6, 1), 5, 2)
    local = lax.conv_general_dilated_local(x, kernels, (1,), "VALID", (2,))
    shared = lax.conv_general_dilated(x, rhs, (1,), "VALID")
    np.testing.assert_allclose(local, shared, rtol=1e-5, atol=1e-5)


def test_shapes():
    assert lax.conv_shape_tuple((1, 2, 9), (4, 2, 3), (2,), "SAME") == (1, 4, 5)
    assert lax.conv_general_shape_tuple((1, 9, 2), (3, 2, 4), (2,), "VALID", NHC) == (1, 4, 4)
    assert lax.conv_transpose_shape_tuple((1, 9, 2), (3, 2, 4), (2,), "SAME", NHC) == (1, 18, 4)
    assert lax.reduce_window_shape_tuple((9,), (3,), (2,), ((1, 1),)) == (5,)
    empty = lax.conv_general_dilated(np.ones((0, 2, 9)), np.ones((4, 2, 3)), (1,), "VALID")
    assert empty.shape == (0, 4, 7)
    short = lax.conv_general_dilated(np.ones((1, 2, 2)), np.ones((4, 2, 3)), (1,), "VALID")
    assert short.shape == (1, 4, 0)


def test_windows_of_several_arrays():
    x, y = normal(4, 5), normal(4, 5)

    def combine(a, b):
        return a[0] + b[0], jnp.maximum(a[1], b[1])

    sums, largest = lax.reduce_window((x, y), (0.0, -np.inf), combine, (2, 2), (1, 2), "SAME")
    np.testing.assert_allclose(sums, lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2), "SAME"))
    expected = lax.reduce_window(y, -np.inf, lax.max, (2, 2), (1, 2), "SAME")
    np.testing.assert_array_equal(largest, expected)


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({"feature_group_count": 0}, ValueError, "feature_group_count must be a positive integer"),
        ({"feature_group_count": 2}, ValueError, "must divide lhs feature dimension size, but 2"),
        ({"batch_group_count": 3}, ValueError, "must divide lhs batch dimension size, but 3"),
        (
            {"rhs": np.ones((4, 2, 2))},
            ValueError,
            "must equal the rhs input feature dimension size",
        ),
        ({"batch_group_count": 2}, ValueError, "must be a multiple of batch_group_count, but 5"),
        ({"window_strides": (1, 1)}, ValueError, "window and window_strides must have the same nu"),
        ({"lhs_dilation": (2,)}, ValueError, "String padding is not implemented for transposed"),
        ({"padding": (1,)}, ValueError, r"should be a string or a sequence of \(low, high\) pairs"),
        ({"dimension_numbers": ("NC", "OI", "NC")}, TypeError, "must have len equal to the ndim"),
        ({"dimension_numbers": ("NHH", "OIH", "NCH")}, TypeError, "characters 'N' and 'C' exactly"),
        ({"dimension_numbers": ("NCX", "OIH", "NCH")}, TypeError, "same set of spatial characters"),
        ({"dimension_numbers": (1, 2, 3)}, TypeError, "elements must be strings"),
        ({"rhs": np.ones((5, 3))}, TypeError, "lhs and rhs ndim to be equal, got 3 and 2"),
    ],
)
def test_errors(change, error, text):
    arguments = {
        "lhs": np.ones((2, 3, 4)),
        "rhs": np.ones((5, 3, 2)),
        "window_strides": (1,),
        "padding": "SAME",
    }
    with pytest.raises(error, match=text):
        lax.conv_general_dilated(**{**arguments, **change})


@pytest.mark.parametrize(
    "change, text",
    [
        ({"window_dimensions": (2,)}, "window_dimensions must have the same number of dimensions"),
        ({"window_dimensions": (0, 1)}, "window_dimensions must have every element be positive"),
        ({"window_strides": (0, 1)}, "window_strides must have every element be positive"),
        ({"base_dilation": (0, 1)}, "base_dilation must have every element be positive"),
    ],
)
def test_window_errors(change, text):
    arguments = {"window_dimensions": (1, 2), **change}
    with pytest.raises(TypeError, match=text):
        lax.reduce_window(np.ones((3, 3)), 0.0, lax.add, **arguments)
