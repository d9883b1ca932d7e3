"""tests/lax/test_depthwise.py - depthwise convolutions and their gradients beside sums in float64.

Rows and channels fill vectors, or do not; kernels are wider than images; steps skip places.
"""

import itertools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

rng = np.random.default_rng(0)
LAYOUTS = {
    "first": ("NCHW", "OIHW", "NCHW"),
    "last": ("NHWC", "HWIO", "NHWC"),
    "mixed": ("NHWC", "OIHW", "NCHW"),
}
TOLERANCES = {"float32": 2e-6, "float64": 1e-14, "bfloat16": 1e-2, "float16": 2e-3}


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


def expected(x, w, strides, pads, lhs_dilation, rhs_dilation):
    """The sums, of x (N, C, H, W) and w (C, 1, h, w), and those of absolute values."""
    n, channels, *sizes = x.shape
    wide = [(s - 1) * d + 1 for s, d in zip(sizes, lhs_dilation)]
    padded = np.zeros((n, channels, *(s + a + b for s, (a, b) in zip(wide, pads))))
    (top, _), (left, _) = pads
    rows, columns = lhs_dilation
    padded[:, :, top : top + wide[0] : rows, left : left + wide[1] : columns] = x
    places = [
        (s - (k - 1) * d - 1) // step + 1
        for s, k, d, step in zip(padded.shape[2:], w.shape[2:], rhs_dilation, strides)
    ]
    out = np.zeros((n, channels, *places))
    for i, j in itertools.product(*map(range, w.shape[2:])):
        y, x0 = i * rhs_dilation[0], j * rhs_dilation[1]
        seen = padded[
            :,
            :,
            y : y + (places[0] - 1) * strides[0] + 1 : strides[0],
            x0 : x0 + (places[1] - 1) * strides[1] + 1 : strides[1],
        ]
        out += seen * w[:, 0, i, j][:, None, None]
    return out


def laid_out(array, layout, base):
    return np.transpose(array, [base.index(c) for c in layout])


def put_back(array, layout, base):
    return np.transpose(np.asarray(array, np.float64), [layout.index(c) for c in base])


def check(layout, dtype, images, channels, size, kernel, stride=1, dilation=1, lhs_dilation=1):
    specs = LAYOUTS[layout]
    x = rng.standard_normal((images, channels, size, size + 2))
    w = rng.standard_normal((channels, 1, kernel, max(1, kernel - 1)))
    pads = ((kernel // 2, kernel // 2), (1, kernel - 1))
    x, w = (np.asarray(jnp.asarray(a, dtype).astype("float64")) for a in (x, w))
    options = ((stride, stride), pads, (lhs_dilation,) * 2, (dilation,) * 2)

    def conv(x, w):
        dimensions = {"dimension_numbers": specs, "feature_group_count": channels}
        return lax.conv_general_dilated(x, w, *options, **dimensions)

    operands = [
        jnp.asarray(laid_out(x, specs[0], "NCHW"), dtype),
        jnp.asarray(laid_out(w, specs[1], "OIHW"), dtype),
    ]
    want = expected(x, w, *options)
    sizes = expected(abs(x), abs(w), *options)
    got = put_back(shardax.jit(conv)(*operands).astype("float64"), specs[2], "NCHW")
    assert got.shape == want.shape
    assert (abs(got - want) <= TOLERANCES[dtype] * (sizes + abs(want))).all()
    if dtype not in ("float32", "float64"):
        return
    # Linear maps: a gradient times a direction is the cotangent times the map of the direction.
    g = rng.standard_normal(want.shape)
    cotangent = jnp.asarray(laid_out(g, specs[2], "NCHW"), dtype)
    g = put_back(cotangent, specs[2], "NCHW")
    dx, dw = shardax.jit(lambda x, w, g: shardax.vjp(conv, x, w)[1](g))(*operands, cotangent)
    for gradient, spec, base, at in ((dx, specs[0], "NCHW", 0), (dw, specs[1], "OIHW", 1)):
        gradient = put_back(gradient, spec, base)
        direction = np.sign(rng.standard_normal(gradient.shape))
        moved = [direction if at == k else a for k, a in enumerate((x, w))]
        difference = (gradient * direction).sum() - (g * expected(*moved, *options)).sum()
        total = (abs(g) * expected(abs(moved[0]), abs(moved[1]), *options)).sum()
        assert abs(difference) <= TOLERANCES[dtype] * 4 * (total + 1e-3)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("size", [1, 2, 5, 6, 7, 13, 14, 15, 30, 31, 65])
def test_rows(layout, size):
    for kernel in (1, 2, 3, 5, 7, 9):  # of 72 steps, which are too many, the last
        check(layout, "float32", 2, 3, size, kernel)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("channels", [1, 2, 4, 5, 8, 9, 16, 17, 36, 64, 65, 130])
def test_channels(layout, channels):
    check(layout, "float32", 2, channels, 6, 3)
    check(layout, "float64", 1, channels, 5, 3)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("lhs_dilation", [1, 2, 3])
def test_steps(layout, stride, dilation, lhs_dilation):
    for size in (5, 8, 19):
        check(layout, "float32", 2, 6, size, 3, stride, dilation, lhs_dilation)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_dtypes(layout, dtype):
    for stride in (1, 2):
        check(layout, dtype, 3, 12, 17, 3, stride)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_many_images_and_large_ones(layout):
    check(layout, "float32", 40, 5, 9, 3)
    check(layout, "float32", 1, 4, 150, 5)


@pytest.mark.parametrize("layout", ["first", "last"])
def test_two_features_of_a_channel(layout):
    """The gradient is that of two kernels, each of which makes every other feature."""
    specs = LAYOUTS[layout]
    x = laid_out(rng.standard_normal((3, 5, 9, 14)), specs[0], "NCHW")
    w = laid_out(rng.standard_normal((10, 1, 3, 3)), specs[1], "OIHW")

    def gradient(w, weight):
        def loss(w):
            options = {"dimension_numbers": specs, "feature_group_count": 5}
            return (lax.conv_general_dilated(x, w, (1, 1), "SAME", **options) * weight).sum()

        return put_back(shardax.grad(loss)(w), specs[1], "OIHW")

    weight = rng.standard_normal(10)
    axes = [1 if c == "C" else -1 for c in specs[2]]
    both = gradient(w, weight.reshape([10 if a == 1 else 1 for a in axes]))
    for k in range(2):
        half = np.take(w, np.arange(k, 10, 2), specs[1].index("O"))
        one = gradient(half, weight[k::2].reshape([5 if a == 1 else 1 for a in axes]))
        np.testing.assert_allclose(both[k::2], one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [3, 12, 14, 20])
def test_no_numbers_that_a_tap_does_not_meet(size):
    """The last column does not meet the first tap of a row, nor the first column the last tap."""
    x, g = rng.standard_normal((2, 1, 4, size, size)).astype("float32")
    x[..., -1], x[..., 0] = np.inf, np.nan

    def conv(w):
        return lax.conv_general_dilated(x, w, (1, 1), ((0, 0), (1, 1)), feature_group_count=4)

    w = np.zeros((4, 1, 1, 3), np.float32)
    seen = np.asarray(shardax.vjp(conv, w)[1](jnp.asarray(g))[0])[:, 0, 0]
    assert not np.isfinite(seen).any()  # each tap meets one of the two
    x[..., 0] = 1
    left, middle, right = np.asarray(shardax.vjp(conv, w)[1](jnp.asarray(g))[0])[:, 0, 0].T
    assert np.isfinite(left).all()
    assert not np.isfinite(middle).any() and not np.isfinite(right).any()
