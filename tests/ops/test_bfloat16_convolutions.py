"""tests/ops/test_bfloat16_convolutions.py - convolutions of bfloat16, forward and backward.

Machines with AMX or AVX-512 BF16 multiply them as they are, others as float32. Values are those of
float64 within the rounding of float32 sums, and one of bfloat16. Shapes have zero, one and one more
than the elements of a vector, a tile or a block.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax


def case(lhs, rhs, strides, padding, **more):
    return lhs, rhs, strides, [tuple(padding)] * (len(lhs) - 2), more


# lhs is (batch, channels, places...), rhs (features, channels of a group, taps...).
CASES = {
    "one image": case((1, 16, 9, 9), (33, 16, 3, 3), (1, 1), (1, 1)),
    "a stage": case((3, 32, 8, 8), (32, 32, 3, 3), (1, 1), (1, 1)),
    "odd channels": case((2, 17, 7, 17), (31, 17, 3, 3), (1, 1), (1, 1)),
    "three channels": case((2, 3, 16, 16), (8, 3, 5, 5), (1, 1), (2, 2)),
    "few features": case((2, 9, 12, 12), (5, 9, 3, 3), (1, 1), (0, 0)),
    "one feature": case((2, 9, 6, 6), (1, 9, 3, 3), (1, 1), (0, 0)),
    "stride": case((2, 24, 9, 11), (40, 24, 3, 3), (2, 2), (1, 1)),
    "strides": case((2, 8, 13, 10), (12, 8, 5, 2), (3, 2), (2, 0)),
    "one tap, stride": case((2, 32, 8, 8), (64, 32, 1, 1), (2, 2), (0, 0)),
    "dilation": case((2, 16, 14, 12), (20, 16, 3, 3), (1, 1), (2, 2), rhs_dilation=(2, 3)),
    "lhs dilation": case((2, 16, 6, 5), (20, 16, 4, 3), (1, 1), (2, 2), lhs_dilation=(2, 3)),
    "both": case((2, 16, 6, 5), (20, 16, 4, 3), (2, 1), (4, 3), lhs_dilation=(3, 2),
                 rhs_dilation=(2, 2)),
    "cropped": case((2, 16, 8, 9), (16, 16, 3, 3), (1, 1), (-1, 0)),
    "groups": case((2, 32, 7, 7), (16, 8, 3, 3), (1, 1), (1, 1), feature_group_count=4),
    "depthwise": case((2, 16, 7, 7), (16, 1, 3, 3), (1, 1), (1, 1), feature_group_count=16),
    "batch groups": case((4, 16, 7, 7), (16, 16, 3, 3), (1, 1), (1, 1), batch_group_count=2),
    "a line": case((2, 16, 65), (32, 16, 3), (1,), (1, 1)),
    "a long line": case((1, 4, 2100), (6, 4, 9), (2,), (4, 4)),
    "volume": case((2, 8, 5, 6, 7), (16, 8, 3, 3, 3), (1, 2, 1), (1, 1)),
    "much padding": case((5, 32, 4, 4), (40, 32, 3, 3), (1, 1), (1, 1)),
    "more padding than taps": case((5, 32, 2, 3), (17, 32, 3, 3), (1, 1), (4, 5)),
    "padding, wide taps": case((3, 64, 3, 5), (33, 64, 5, 7), (1, 1), (3, 3)),
    "padding, strides": case((6, 32, 5, 4), (20, 32, 3, 3), (2, 1), (2, 1)),
    "padding, dilation": case((6, 32, 5, 4), (20, 32, 3, 3), (1, 1), (2, 2), rhs_dilation=(2, 2),
                              lhs_dilation=(2, 1)),
    "padded volume": case((3, 32, 2, 3, 2), (16, 32, 3, 3, 3), (1, 1, 1), (1, 1)),
    "padded groups": case((5, 64, 4, 4), (64, 32, 3, 3), (1, 1), (1, 1), feature_group_count=2),
    "many channels": case((2, 300, 4, 4), (65, 300, 3, 3), (1, 1), (1, 1)),
    "many places": case((10, 16, 33, 40), (33, 16, 3, 3), (1, 1), (1, 1)),
    "as many taps as places": case((2, 16, 6, 6), (32, 16, 6, 6), (1, 1), (0, 0)),
    "more taps than outputs": case((2, 16, 9, 9), (32, 16, 7, 7), (1, 1), (0, 0)),
    "no image": case((0, 16, 8, 8), (16, 16, 3, 3), (1, 1), (1, 1)),
    "no channel": case((2, 0, 8, 8), (16, 0, 3, 3), (1, 1), (1, 1)),
    "no place": case((2, 16, 2, 8), (16, 16, 3, 3), (1, 1), (0, 0)),
    "no feature": case((2, 16, 8, 8), (0, 16, 3, 3), (1, 1), (1, 1)),
}
ROUNDING = 2.0**-8  # of bfloat16


def operands(name):
    lhs, rhs, strides, padding, more = CASES[name]
    rng = np.random.default_rng(len(name))
    x, w = (jnp.asarray(rng.normal(size=s), jnp.bfloat16) for s in (lhs, rhs))
    return x, w, {"window_strides": strides, "padding": padding, **more}


def turned(a, last):
    """Channels to the end and back, as layouts of NHWC have them."""
    return jnp.moveaxis(a, 1, -1) if last else jnp.moveaxis(a, -1, 1)


def convolution(params, layout, out=None):
    """A function of NCHW operands that computes in `layout`."""
    def first(x, w):
        return lax.conv_general_dilated(x, w, preferred_element_type=out, **params)

    def last(x, w):
        n = x.ndim - 2
        space = "DHW"[3 - n :]
        specs = (f"N{space}C", f"{space}IO", f"N{space}C")
        w = jnp.moveaxis(w, (0, 1), (-1, -2))
        y = lax.conv_general_dilated(turned(x, True), w, dimension_numbers=specs,
                                     preferred_element_type=out, **params)
        return turned(y, False)

    return first if layout == "first" else last


def exact(x, w, params):
    """The sums in float64, and those of the sizes of their terms."""
    rest = {key: more for key, more in params.items() if key.endswith("_count")}
    n = x.ndim - 2
    ones = (1,) * n
    args = (params["window_strides"], params["padding"], params.get("lhs_dilation", ones),
            params.get("rhs_dilation", ones))
    x, w = (np.asarray(a.astype(jnp.float32), np.float64) for a in (x, w))
    return tuple(reference(a, b, *args, **rest) for a, b in ((x, w), (abs(x), abs(w))))


def reference(x, w, strides, padding, lhs_dilation, rhs_dilation, feature_group_count=1,
              batch_group_count=1):
    """A convolution tap by tap."""
    n = x.ndim - 2
    dilated = np.zeros(x.shape[:2] + tuple(
        (s - 1) * d + 1 if s else 0 for s, d in zip(x.shape[2:], lhs_dilation)))
    dilated[(..., *(slice(None, None, d) for d in lhs_dilation))] = x
    for d, (low, high) in enumerate(padding):
        axis = d + 2
        size = dilated.shape[axis]
        dilated = np.take(dilated, range(max(-low, 0), size - max(-high, 0)), axis)
        dilated = np.pad(dilated, [(0, 0)] * axis + [(max(low, 0), max(high, 0))]
                         + [(0, 0)] * (n - d - 1))
    groups = max(feature_group_count, batch_group_count)
    lhs = np.split(dilated, groups, 1 if feature_group_count > 1 else 0)
    parts = []
    for part, kernel in zip(lhs, np.split(w, groups, 0)):
        sizes = [max(0, (s - (k - 1) * r - 1) // t + 1) for s, k, r, t in
                 zip(part.shape[2:], w.shape[2:], rhs_dilation, strides)]
        sums = np.zeros((part.shape[0], kernel.shape[0], *sizes))
        for tap in np.ndindex(w.shape[2:]) if sums.size else ():
            window = part[(..., *(
                slice(i * r, i * r + (s - 1) * t + 1, t)
                for i, r, t, s in zip(tap, rhs_dilation, strides, sizes)))]
            sums += np.einsum("nc...,oc->no...", window, kernel[(..., *tap)])
        parts.append(sums)
    return np.concatenate(parts, 1)


def check(found, wanted, sizes, rounding=ROUNDING):
    found = np.asarray(found.astype(jnp.float32), np.float64)
    assert found.shape == wanted.shape
    assert (abs(found - wanted) <= rounding * abs(wanted) + 2e-6 * sizes).all()


@pytest.mark.parametrize("layout", ["first", "last"])
@pytest.mark.parametrize("name", CASES)
def test_values(name, layout):
    x, w, params = operands(name)
    wanted, sizes = exact(x, w, params)
    check(jax.jit(convolution(params, layout))(x, w), wanted, sizes)
    check(jax.jit(convolution(params, layout, jnp.float32))(x, w), wanted, sizes, 2.0**-22)


def gradients(name, layout):
    """The pullback of a cotangent, and what it should be."""
    x, w, params = operands(name)
    y, pullback = jax.vjp(jax.jit(convolution(params, layout)), x, w)
    g = jnp.asarray(np.random.default_rng(1).normal(size=y.shape), y.dtype)
    wide, sizes = [], []
    for one, to in ((lambda a: a, wide), (abs, sizes)):
        with jax.enable_x64(True):
            a, b, c = (jnp.asarray(one(np.asarray(v.astype(jnp.float32), np.float64)))
                       for v in (x, w, g))
            high = {**params, "precision": "highest"}
            to += jax.vjp(convolution(high, "first"), a, b)[1](c)
    return pullback(g), [np.asarray(a) for a in wide], [np.asarray(a) for a in sizes]


@pytest.mark.parametrize("layout", ["first", "last"])
@pytest.mark.parametrize("name", CASES)
def test_gradients(name, layout):
    for found, wanted, sizes in zip(*gradients(name, layout), strict=True):
        check(found, wanted, sizes)


@pytest.mark.parametrize("name", ["a stage", "stride", "dilation", "groups", "a line"])
def test_second_derivatives(name):
    """The gradient of a squared gradient's norm, against that of float32."""
    x, w, params = operands(name)

    def loss(dtype):
        f = convolution(params, "first")

        def norm(x, w):
            y, pullback = jax.vjp(f, x, w)
            return sum(jnp.square(g.astype(jnp.float32)).sum() for g in pullback(y / 64))

        return jax.jit(jax.grad(norm, (0, 1)))(x.astype(dtype), w.astype(dtype))

    for found, wanted in zip(loss(jnp.bfloat16), loss(jnp.float32), strict=True):
        error = np.linalg.norm(np.asarray(found, np.float32) - wanted)
        assert error <= 0.02 * np.linalg.norm(wanted)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0)])
def test_vmap(axes):
    x, w, params = operands("stride")
    f = convolution(params, "first")
    x = jnp.stack([x, -x, x * 2]) if axes[0] == 0 else x
    w = jnp.stack([w, w[::-1], w * 3]) if axes[1] == 0 else w
    mapped = jax.jit(jax.vmap(f, axes))(x, w)
    for i, y in enumerate(mapped):
        one = f(x[i] if axes[0] == 0 else x, w[i] if axes[1] == 0 else w)
        np.testing.assert_array_equal(y, one)


@pytest.mark.parametrize("name", ["a stage", "odd channels", "stride", "dilation"])
def test_parts_and_layouts_have_the_bits_of_the_whole(name):
    x, w, params = operands(name)
    f = jax.jit(convolution(params, "first"))
    whole = np.asarray(f(x, w))
    np.testing.assert_array_equal(f(x[1:], w), whole[1:])
    np.testing.assert_array_equal(f(x, w[3:]), whole[:, 3:])
    np.testing.assert_array_equal(jax.jit(convolution(params, "last"))(x, w), whole)


def test_infinities_stay_where_they_are_seen():
    """Elements beside a window take no part, not even times zero. Minimal filtering, which spreads
    them, is for lower precisions."""
    x = np.ones((1, 16, 9, 9), np.float32)
    x[0, 3, 4, 4] = np.inf
    x = jnp.asarray(x, jnp.bfloat16)
    w = jnp.ones((32, 16, 3, 3), jnp.bfloat16)
    y, pullback = jax.vjp(lambda x, w: lax.conv(x, w, (1, 1), "SAME", "highest"), x, w)
    seen = np.zeros((9, 9), bool)
    seen[3:6, 3:6] = True
    assert (np.isinf(np.asarray(y, np.float32)) == seen).all()
    g = np.asarray(pullback(jnp.ones_like(y))[1], np.float32)
    assert np.isinf(g[:, 3]).all() and np.isfinite(np.delete(g, 3, 1)).all()


PROGRAM = """
import hashlib, sys
sys.path.insert(0, {folder!r})
import numpy as np, shardax as jax, test_bfloat16_convolutions as tests
for name in tests.CASES:
    for layout in ("first", "last"):
        x, w, params = tests.operands(name)
        y, pullback = jax.vjp(jax.jit(tests.convolution(params, layout)), x, w)
        parts = [np.asarray(a).tobytes() for a in (y, *pullback(y))]
        print(name, layout, hashlib.sha256(b"".join(parts)).hexdigest())
"""


def test_bits_do_not_depend_on_threads():
    def run(threads):
        env = {**os.environ, "SHARDAX_NUM_THREADS": str(threads)}
        program = PROGRAM.format(folder=os.path.dirname(__file__))
        return subprocess.run([sys.executable, "-c", program], env=env, check=True,
                              capture_output=True, text=True).stdout

    one = run(1)
    assert len(one.splitlines()) == 2 * len(CASES)
    assert run(2) == one
    assert run(19) == one
