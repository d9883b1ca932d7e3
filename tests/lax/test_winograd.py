"""tests/lax/test_winograd.py - convolutions of 3 x 3 taps: minimal filtering against the sums as
they are defined, which are those of precision HIGHEST.
"""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

NCHW, NHWC = ("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "NHWC")


def normals():
    """A source of numbers, the same for each test whichever others ran before."""
    rng = np.random.default_rng(0)
    return lambda *shape: rng.standard_normal(shape)


def operands(images, features, numbers=NCHW):
    """Images (n, c, h, w) and a kernel of as many features, in the layout of `numbers`."""
    n, c, *_ = images
    normal = normals()
    arrays = normal(*images), normal(features, c, 3, 3) / np.sqrt(9 * c)
    first = ("NCHW", "OIHW")
    return [
        np.ascontiguousarray(a.transpose([old.index(d) for d in new]))
        for a, old, new in zip(arrays, first, numbers)
    ]


def conv(x, w, padding="SAME", numbers=NCHW, **options):
    return lax.conv_general_dilated(x, w, (1, 1), padding, dimension_numbers=numbers, **options)


def all_three(f, x, w):
    """A convolution, and its gradients for a cotangent that differs from place to place."""
    out, back = shardax.vjp(f, x, w)
    return out, *back(jnp.cos(jnp.arange(out.size, dtype=out.dtype)).reshape(out.shape))


CASES = {
    "several blocks": ((3, 40, 21, 34), 70, "SAME", NCHW),
    "channels last": ((3, 40, 21, 34), 70, "SAME", NHWC),
    "few tiles": ((5, 33, 3, 6), 24, "SAME", NCHW),
    "odd sizes": ((2, 17, 7, 5), 21, "SAME", NHWC),
    "no padding": ((2, 20, 8, 9), 32, "VALID", NCHW),
    "much padding": ((2, 20, 4, 5), 32, [(4, 1), (0, 3)], NHWC),
    "cut": ((2, 20, 9, 9), 32, [(-1, 0), (0, -2)], NCHW),
    "long rows": ((1, 16, 4, 420), 24, "SAME", NCHW),
    "several chains": ((2, 300, 6, 6), 300, "SAME", NHWC),
    "to channels last": ((2, 24, 10, 12), 40, "SAME", ("NCHW", "HWIO", "NHWC")),
    "many images": ((100, 32, 4, 4), 32, "SAME", NCHW),
}


@pytest.mark.parametrize("name", CASES)
def test_minimal_filtering_agrees_with_sums(name):
    images, features, padding, numbers = CASES[name]
    with shardax.enable_x64():
        x, w = operands(images, features, numbers)

        def run(x, w, precision):
            f = lambda x, w: conv(x, w, padding, numbers, precision=precision)
            return shardax.jit(lambda x, w: all_three(f, x, w))(x, w)

        exact = run(x, w, "highest")
        short = [a.astype(np.float32) for a in (x, w)]
        for wide, single, summed, wanted in zip(
            run(x, w, None), run(*short, None), run(*short, "highest"), exact
        ):
            scale = np.sqrt(np.mean(np.square(wanted)))
            np.testing.assert_allclose(wide, wanted, atol=1e-13 * scale, rtol=0)
            assert wide.dtype == np.float64 and single.dtype == np.float32
            # No further from the truth than sums of 9 terms a channel are.
            error = [np.abs(np.asarray(a) - wanted).max() / scale for a in (single, summed)]
            assert error[0] < 2 * error[1] + 1e-6


def test_groups_and_batches_have_kernels_of_their_own():
    normal = normals()
    x, w = normal(2, 48, 6, 6), normal(3, 60, 24, 3, 3)
    f = shardax.vmap(lambda w, p: conv(x, w, feature_group_count=2, precision=p), (0, None))
    with shardax.enable_x64():
        one, other = (shardax.jit(lambda w, p=p: f(w, p))(w) for p in (None, "highest"))
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_an_image_has_the_same_bits_in_any_batch_and_layout():
    x, w = (a.astype(np.float32) for a in operands((6, 24, 9, 12), 40))
    f = shardax.jit(conv)
    whole = np.asarray(f(x, w))
    for i in range(len(x)):
        np.testing.assert_array_equal(f(x[i : i + 1], w)[0], whole[i])
    devices = shardax.pmap(conv, in_axes=(0, None))(x.reshape(6, 1, *x.shape[1:]), w)
    np.testing.assert_array_equal(devices.reshape(whole.shape), whole)
    last = conv(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), numbers=NHWC)
    np.testing.assert_array_equal(last.transpose(0, 3, 1, 2), whole)


def test_second_derivatives():
    with shardax.enable_x64():
        x, w = operands((2, 16, 5, 6), 20)
        normal = normals()
        u, v = normal(*x.shape), normal(*w.shape)

        def hessian_product(precision):
            f = lambda x, w: jnp.sum(jnp.sin(conv(x, w, precision=precision)))
            return shardax.jvp(shardax.grad(f, (0, 1)), (x, w), (u, v))[1]

        for one, other in zip(hessian_product(None), hessian_product("highest")):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-11)


def test_sums_of_highest_precision_keep_infinities_apart():
    x, w = (a.astype(np.float32) for a in operands((1, 20, 8, 8), 24))
    x[0, 3, 4, 4] = np.inf
    sees = np.zeros((8, 8), bool)
    sees[3:6, 3:6] = True
    np.testing.assert_array_equal(np.isfinite(conv(x, w, precision="highest")[0, 0]), ~sees)
    # A tile of 2 x 2 is computed as one: those of rows and columns 2 to 5.
    assert not np.isfinite(conv(x, w)[0, 0])[sees].any()
    assert np.isfinite(conv(x, w)[0, 0, :2]).all() and np.isfinite(conv(x, w)[0, 0, 6:]).all()
