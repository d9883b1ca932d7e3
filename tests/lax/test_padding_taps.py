"""tests/lax/test_padding_taps.py - convolutions of small images, whose taps often meet padding."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

LAYOUTS = [("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")]

# Images, their size, channels, features, taps, then what differs from a plain convolution.
CASES = [
    (1, (1, 1), 40, 40, 3, {}),
    (13, (2, 2), 40, 40, 3, {}),
    (3, (5, 7), 24, 33, 5, {"padding": [(2, 2), (2, 2)]}),
    (64, (4, 4), 24, 33, 4, {"padding": [(1, 2), (2, 1)]}),
    (5, (8, 9), 40, 40, 4, {"stride": 2}),
    (5, (8, 9), 40, 40, 3, {"dilation": 2, "padding": [(2, 2), (2, 2)]}),
    (7, (6, 5), 24, 48, 4, {"spread": 2, "padding": [(2, 2), (2, 2)]}),
    (7, (6, 5), 24, 48, 5, {"spread": 2, "stride": 3, "padding": [(4, 3), (2, 4)]}),
    (2, (30, 3), 24, 48, 5, {"padding": [(0, 0), (2, 2)]}),
    (2, (9, 9), 24, 48, 5, {"padding": [(3, -2), (-1, 4)]}),
    (4, (7, 7), 40, 48, 5, {"groups": 2, "padding": [(2, 2), (2, 2)]}),
    (9, (3, 3), 300, 40, 3, {}),
]


def given(case, layout, dtype):
    n, size, channels, features, taps, kind = case
    kind = {"stride": 1, "spread": 1, "dilation": 1, "groups": 1, "padding": [(1, 1)] * 2, **kind}
    rng = np.random.default_rng(0)
    sizes = {"N": n, "H": size[0], "W": size[1], "C": channels}
    kernel = {"O": features, "I": channels // kind["groups"], "H": taps, "W": taps}
    x = jnp.asarray(rng.normal(size=[sizes[d] for d in layout[0]]), dtype)
    w = jnp.asarray(rng.normal(size=[kernel[d] for d in layout[1]]), dtype)

    def conv(x, w, spread=kind["spread"], padding=kind["padding"]):
        return lax.conv_general_dilated(
            x,
            w,
            [kind["stride"]] * 2,
            padding,
            [spread] * 2,
            [kind["dilation"]] * 2,
            dimension_numbers=layout,
            feature_group_count=kind["groups"],
        )

    return conv, x, w, kind


def padded(x, layout, kind):
    """The images, with zeros between and around."""
    config = [
        (*kind["padding"]["HW".index(d)], kind["spread"] - 1) if d in "HW" else (0, 0, 0)
        for d in layout[0]
    ]
    return lax.pad(x, jnp.zeros((), x.dtype), config)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda s: s[0])
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_padding_adds_nothing(case, layout, dtype):
    with jax.enable_x64(dtype == "float64"):
        conv, x, w, kind = given(case, layout, dtype)
        wide = padded(x, layout, kind)
        found, wanted = (np.asarray(a) for a in (conv(x, w), conv(wide, w, 1, [(0, 0)] * 2)))
        y = jnp.asarray(np.random.default_rng(1).normal(size=found.shape), dtype)
        grads = jax.vjp(conv, x, w)[1](y)
        of_wide = jax.vjp(lambda x, w: conv(padded(x, layout, kind), w, 1, [(0, 0)] * 2), x, w)[1](
            y
        )
    tolerance = {"float32": 3e-5, "float64": 1e-12, "float16": 2e-2}[dtype]
    for a, b in zip([found, *grads], [wanted, *of_wide], strict=True):
        a, b = (np.asarray(v).astype(np.float64) for v in (a, b))
        np.testing.assert_allclose(a, b, atol=tolerance * max(1, np.abs(b).max()))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda s: s[0])
def test_same_bits_with_zeros_around(layout):
    case = (6, (8, 8), 24, 40, 5, {"padding": [(2, 2), (2, 2)]})
    conv, x, w, kind = given(case, layout, "float32")
    wide = conv(padded(x, layout, kind), w, 1, [(0, 0)] * 2)
    np.testing.assert_array_equal(conv(x, w), wide)


def test_outputs_that_see_no_infinity_are_finite():
    conv, x, w, _ = given((4, (6, 6), 24, 40, 5, {"padding": [(2, 2)] * 2}), LAYOUTS[0], "float32")
    finite = np.isfinite(np.asarray(conv(x.at[1, 0, 5, 3].set(jnp.inf), w))).all(-1)
    seen = np.zeros((4, 6, 6), bool)
    seen[1, :3, 3:] = True
    np.testing.assert_array_equal(finite, ~seen)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda s: s[0])
def test_same_bits_for_any_number_of_threads(layout, same_on_threads):
    conv, x, w, _ = given((33, (9, 8), 48, 96, 4, {"stride": 2}), layout, "float32")
    y = conv(x, w)
    f = jax.jit(lambda x, w: [conv(x, w), *jax.vjp(conv, x, w)[1](y)])
    same_on_threads(lambda: [np.asarray(a) for a in f(x, w)])
