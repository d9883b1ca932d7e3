"""tests/lax/test_few_features.py - gradients of kernels with few features, channels last."""

import itertools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

SPECS = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}
TOLERANCE = {"float32": 1e-5, "float64": 1e-13, "bfloat16": 2.0**-7, "float16": 2.0**-10}

# Dimensions of an image, channels, features, then what differs from a plain convolution.
CASES = [
    ((9,), 32, 1, {}),
    ((40,), 17, 3, {"stride": 2, "padding": (3, 0)}),
    ((12, 11), 32, 3, {}),
    ((12, 11), 33, 2, {"stride": 2, "padding": (0, 2)}),
    ((13, 9), 48, 1, {"dilation": 2, "padding": (-1, 3)}),
    ((7, 8), 20, 4, {"spread": 2, "padding": (2, 1)}),
    ((6, 7), 24, 3, {"spread": 3, "stride": 2, "dilation": 2, "padding": (4, 4)}),
    ((10, 10), 64, 2, {"groups": 2}),
    ((5, 6, 4), 16, 1, {"stride": 2}),
    ((1, 30), 31, 2, {"taps": 1, "padding": (0, 0)}),
]


def gradient(x, y, taps, stride, spread, dilation, padding, groups):
    """Sums of float64 over the places of y."""
    dims = x.ndim - 2
    spaced = np.zeros([len(x), *(spread * (n - 1) + 1 for n in x.shape[1:-1]), x.shape[-1]])
    spaced[(slice(None), *[slice(None, None, spread)] * dims)] = x
    low, high = padding
    spaced = np.pad(spaced, [(0, 0), *[(max(low, 0), max(high, 0))] * dims, (0, 0)])
    cut = slice(-min(low, 0), None)
    spaced = spaced[(slice(None), *[cut] * dims)]
    channels, features = x.shape[-1] // groups, y.shape[-1] // groups
    out = np.zeros((*[taps] * dims, channels, y.shape[-1]))
    places_of_images = range(dims + 1)
    for tap in itertools.product(range(taps), repeat=dims):
        places = [
            slice(t * dilation, t * dilation + stride * (n - 1) + 1, stride)
            for t, n in zip(tap, y.shape[1:-1], strict=True)
        ]
        seen = spaced[(slice(None), *places)]
        for g in range(groups):
            of = slice(g * features, (g + 1) * features)
            part = seen[..., g * channels : (g + 1) * channels]
            out[(*tap, slice(None), of)] = np.tensordot(part, y[..., of], [places_of_images] * 2)
    return out


def operands(shape, channels, features, kind, dtype):
    kind = {"stride": 1, "spread": 1, "dilation": 1, "padding": (1, 1), "groups": 1, **kind}
    taps = kind.pop("taps", 3)
    dims, rng = len(shape), np.random.default_rng(0)

    def conv(x, w):
        return lax.conv_general_dilated(
            x,
            w,
            [kind["stride"]] * dims,
            [kind["padding"]] * dims,
            [kind["spread"]] * dims,
            [kind["dilation"]] * dims,
            dimension_numbers=SPECS[dims],
            feature_group_count=kind["groups"],
        )

    x = jnp.asarray(rng.normal(size=(4, *shape, channels)), dtype)
    w = jnp.zeros((*[taps] * dims, channels // kind["groups"], features), dtype)
    y = jnp.asarray(rng.normal(size=conv(x, w).shape), dtype)
    return conv, x, w, y, {"taps": taps, **kind}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_are_sums_over_images(case, dtype):
    with jax.enable_x64(dtype == "float64"):
        conv, x, w, y, kind = operands(*case, dtype)
        got = jax.jit(lambda x, w, y: jax.vjp(conv, x, w)[1](y)[1])(x, w, y)
    assert got.dtype == dtype
    found, x, y = (np.asarray(a).astype(np.float64) for a in (got, x, y))
    wanted = gradient(x, y, **kind)
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(found / scale, wanted / scale, atol=TOLERANCE[dtype])


def test_same_bits_for_any_number_of_threads(same_on_threads):
    conv, x, w, y, _ = operands((40, 37), 48, 3, {}, "float32")
    grad = jax.jit(lambda x, w, y: jax.vjp(conv, x, w)[1](y)[1])
    same_on_threads(lambda: [np.asarray(grad(x, w, y))])
