"""tests/lax/test_convolutions.py - convolutions: groups, dilation, batches, the transpose,
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


def loss(conv):
    return lambda x, w: jnp.sum(jnp.sin(conv(x, w)))


# Layouts, strides and sizes that take each way through the kernels, on several threads.
LAYOUTS = {
    "features": ((4, 24, 19, 17), (40, 24, 5, 5), {"window_strides": (1, 1)}),
    "minimal filtering": ((4, 24, 19, 17), (40, 24, 3, 3), {"window_strides": (1, 1)}),
    "outputs": ((6, 3, 40, 40), (5, 3, 5, 5), {"window_strides": (1, 1)}),
    "strided": ((2, 16, 33, 31), (24, 16, 3, 3), {"window_strides": (2, 2)}),
    "depthwise": ((4, 32, 30, 30), (32, 1, 3, 3), {"feature_group_count": 32}),
    "last": (
        (4, 30, 30, 36),
        (3, 3, 1, 36),
        {"feature_group_count": 36, "dimension_numbers": ("NHWC", "HWIO", "NHWC")},
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_same_bits_for_any_number_of_threads(name, same_on_threads):
    lhs, rhs, options = LAYOUTS[name]
    options = {"window_strides": (1, 1), "padding": "SAME", **options}
    x, w = normal(*lhs), normal(*rhs)

    def run():
        f = shardax.value_and_grad(
            loss(lambda x, w: lax.conv_general_dilated(x, w, **options)), (0, 1)
        )
        return [np.asarray(a) for a in shardax.tree.leaves(f(x, w))]

    same_on_threads(run)


def test_equal_images_have_equal_bits():
    x, w = normal(1, 5, 13, 11), normal(7, 5, 3, 3)
    several = lax.conv(np.repeat(x, 5, 0), w, (1, 1), "SAME")
    alone = lax.conv(x, w, (1, 1), "SAME")
    for image in several:
        np.testing.assert_array_equal(image, alone[0])


def test_gradients_are_convolutions():
    def f(x, w):
        return lax.conv_general_dilated(x, w, (2, 2), "SAME").sum()

    eqns = shardax.make_jaxpr(shardax.grad(f, (0, 1)))(normal(2, 3, 8, 8), normal(4, 3, 3, 3)).eqns
    names = [e.primitive.name for e in eqns]
    assert names.count("conv_general_dilated") == 3
    assert set(names) <= {"conv_general_dilated", "reduce_sum", "broadcast_in_dim", "rev"}
    weights = [e for e in eqns if e.outvars[0].aval.shape == (4, 3, 3, 3)][0]
    assert weights.params["dimension_numbers"] == lax.ConvDimensionNumbers(*((1, 0, 2, 3),) * 3)
    assert weights.params["rhs_dilation"] == (2, 2)
    assert weights.params["padding"] == ((0, 1), (0, 1))


def test_weight_gradients_of_devices_are_one_convolution(dump_of):
    script = """
import numpy as np, shardax, shardax.numpy as jnp
from shardax import lax
rng = np.random.default_rng(0)
def step(w, x):
    g = shardax.grad(lambda w: jnp.sum(lax.conv(x, w, (1, 1), "SAME") ** 2))(w)
    return w - 0.1 * lax.psum(g, "i")
w, x = (rng.standard_normal(s).astype("f") for s in ((4, 3, 3, 3), (4, 2, 3, 6, 6)))
shardax.pmap(step, axis_name="i", in_axes=(None, 0), out_axes=None)(w, x)
"""
    dump = dump_of(script)
    lines = [line.strip() for line in dump.splitlines() if "conv_general_dilated" in line]
    assert lines == [
        "conv_general_dilated -> f32[4,2,4,6,6]",
        "conv_general_dilated -> f32[4,3,3,3]",
    ]


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize("groups", [{}, {"feature_group_count": 2}, {"batch_group_count": 2}])
def test_batches_of_gradients(axes, groups):
    sizes = {"feature_group_count": (2, 6), "batch_group_count": (4, 3)}.get(
        next(iter(groups), ""), (2, 3)
    )
    x = normal(*((3,) if axes[0] == 0 else ()), *sizes, 6)
    w = normal(*((3,) if axes[1] == 0 else ()), 4, 3, 3)

    def f(x, w):
        g = loss(lambda x, w: lax.conv_general_dilated(x, w, (2,), [(1, 2)], **groups))
        return shardax.grad(g, (0, 1))(x, w)

    got = shardax.vmap(f, axes)(x, w)
    each = [f(*(a if axis is None else a[i] for a, axis in zip((x, w), axes))) for i in range(3)]
    for all_at_once, parts in zip(got, zip(*each)):
        np.testing.assert_allclose(all_at_once, np.stack(parts), rtol=1e-4, atol=1e-5)


def test_sums_over_devices_that_lie_apart():
    """The device axis is not the one before the batch, which the weight gradient sums over."""
    x, w = normal(2, 3, 4, 6), normal(5, 4, 3)
    gradient = shardax.grad(loss(lambda x, w: lax.conv(x, w, (1,), "SAME")), 1)
    got = shardax.pmap(lambda x: lax.psum(gradient(x, w), "i"), "i", in_axes=1)(x)[0]
    expected = sum(gradient(x[:, i], w) for i in range(3))
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


def test_preferred_element_type():
    x, w = normal(1, 2, 5), normal(3, 2, 2)
    halves = (jnp.asarray(a, jnp.bfloat16) for a in (x, w))
    half = lax.conv(*halves, (1,), "VALID", None, np.float32)
    assert half.dtype == np.float32
    np.testing.assert_allclose(half, lax.conv(x, w, (1,), "VALID"), atol=0.1)
    ones = np.ones((1, 2, 5), np.int8)
    assert lax.conv(ones, ones, (1,), "VALID", None, np.int32)[0, 0, 0] == 10
    assert lax.conv(ones, ones, (1,), "VALID", None, np.float32).dtype == np.float32
    for dtype, text in (
        (np.float32, "incompatible with `preferred_element_type`"),
        (np.uint8, "incompatible"),
    ):
        with pytest.raises(TypeError, match=text):
            lax.conv(x.astype(np.complex64), w.astype(np.complex64), (1,), "VALID", None, dtype)
    with pytest.raises(TypeError, match="narrower than the original type, float32"):
        lax.conv(x, w, (1,), "VALID", None, jnp.bfloat16)
    with pytest.raises(TypeError, match="same signedness as the original type, int8"):
        lax.conv(ones, ones, (1,), "VALID", None, np.uint8)


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
        ({"padding": [(1, 1), (1, 1)]}, TypeError, "Wrong number of explicit pads for conv"),
        ({"padding": [(-3, -3)]}, ValueError, "Negative padding is larger than the size"),
        ({"window_strides": (0,), "padding": "VALID"}, ValueError, "window_strides must be posit"),
        (
            {"rhs_dilation": (2**40,), "padding": "VALID"},
            ValueError,
            "rhs_dilation: 1099511627776 is",
        ),
        ({"padding": [(2**62, 0)]}, ValueError, "padding: 4611686018427387904 is too large"),
        ({"rhs_dilation": (0,), "padding": "VALID"}, ValueError, "rhs_dilation must be positive"),
        (
            {"lhs": np.ones(3), "rhs": np.ones(3), "window_strides": (), "padding": ()},
            ValueError,
            r"operands have a batch \(or output\) and a feature dimension, got shapes \(3,\)",
        ),
        ({"lhs": np.ones((2, 3, 4), "i4")}, TypeError, "same dtypes, got int32, float"),
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
