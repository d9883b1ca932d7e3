"""tests/lax/test_windows.py - reductions over sliding windows: which element a gradient goes to,
long windows, any computation, errors.
"""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

rng = np.random.default_rng(0)


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def pool(x, window=(2, 2), strides=(1, 1), padding="VALID"):
    return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)


NAN, LEAST = np.nan, -np.inf


@pytest.mark.parametrize(
    "x, expected",
    [
        # Recorded from JAX 0.10.2: the first of equal elements; an element after a NaN replaces it.
        ([[1, 1], [1, 1]], [[1, 0], [0, 0]]),
        ([[0, 1], [1, 0]], [[0, 1], [0, 0]]),
        ([[LEAST, LEAST], [LEAST, LEAST]], [[1, 0], [0, 0]]),
        ([[NAN, 1], [1, 0]], [[0, 1], [0, 0]]),
        ([[0, 1], [2, NAN]], [[0, 0], [0, 1]]),
    ],
)
def test_the_gradient_goes_to_one_element(x, expected):
    gradient = shardax.grad(lambda v: pool(v).sum())
    np.testing.assert_array_equal(gradient(jnp.array(x, np.float32)), expected)
    if not np.isnan(x).any() and not np.isinf(x).any():
        t = jnp.arange(4.0).reshape(2, 2)
        tangent = shardax.jvp(pool, (jnp.array(x, np.float32),), (t,))[1]
        np.testing.assert_array_equal(tangent, (t * np.array(expected)).sum((0, 1), keepdims=True))


def test_equations_are_those_of_jax():
    def names(f, *args):
        return [e.primitive.name for e in shardax.make_jaxpr(f)(*args).eqns]

    x = normal(4, 4)
    assert names(pool, x) == ["reduce_window_max"]
    assert names(lambda v: shardax.jvp(pool, (v,), (v,)), x)[1] == "select_and_gather_add"
    found = names(shardax.grad(lambda v: pool(v).sum()), x)
    assert found[-1] == "select_and_scatter_add"
    text = str(shardax.make_jaxpr(pool)(x))
    assert "padding=((0, 0), (0, 0))" in text
    assert shardax.make_jaxpr(pool)(x).eqns[0].params["padding"] == ((0, 0), (0, 0))


@pytest.mark.parametrize("window", [2, 15, 16, 37, 64, 100])
@pytest.mark.parametrize("shape, dim", [((100,), 0), ((3, 100), 1), ((2, 100, 5), 1)])
def test_long_windows(window, shape, dim):
    x = normal(*shape)
    window_shape = tuple(window if d == dim else 1 for d in range(len(shape)))
    pads = tuple((window - 1, 0) if d == dim else (0, 0) for d in range(len(shape)))
    sums = lax.reduce_window(x, 0.0, lax.add, window_shape, padding=pads)
    total = np.cumsum(x.astype(float), dim)
    late = np.zeros_like(total)
    index = [slice(None)] * len(shape)
    index[dim] = slice(window, None)
    rest = [slice(None)] * len(shape)
    rest[dim] = slice(None, -window)
    if window < 100:
        late[tuple(index)] = total[tuple(rest)]
    np.testing.assert_allclose(sums, total - late, rtol=1e-4, atol=1e-4)
    if window == 100:
        largest = lax.reduce_window(x, -jnp.inf, lax.max, window_shape, padding=pads)
        np.testing.assert_array_equal(largest, np.maximum.accumulate(x, dim))


def test_programs_do_not_grow_with_windows():
    def size(window):
        f = lambda v: lax.reduce_window(v, 1.0, lax.mul, (window,), (2,), "SAME")  # noqa: E731
        return len(str(shardax.make_jaxpr(f)(np.ones(200, np.float32))))

    assert size(100) <= size(10) + 10
    x = normal(40)
    products = lax.reduce_window(x, 1.0, lax.mul, (12,), (3,), window_dilation=(2,))
    expected = [np.prod(x[i : i + 23 : 2]) for i in range(0, 18, 3)]
    np.testing.assert_allclose(products, expected, rtol=1e-5)
    grads = shardax.grad(
        lambda v: lax.reduce_window(v, 1.0, lax.mul, (12,), (3,), window_dilation=(2,)).sum()
    )(x)
    eps = np.zeros(40, np.float32)
    eps[7] = 1
    moved = shardax.jvp(
        lambda v: lax.reduce_window(v, 1.0, lax.mul, (12,), (3,), window_dilation=(2,)).sum(),
        (x,),
        (eps,),
    )[1]
    np.testing.assert_allclose(grads[7], moved, rtol=1e-4, atol=1e-6)


def test_padding_is_left_out():
    """Each window starts from init once; recorded from JAX 0.10.2."""
    sums = lax.reduce_window(jnp.arange(3.0), 0.5, lax.add, (2,), padding=[(1, 1)])
    np.testing.assert_array_equal(sums, [0.5, 1.5, 3.5, 2.5])
    other = lax.reduce_window(jnp.arange(3.0), 0.5, lambda a, b: a + b, (11,), padding=[(9, 9)])
    np.testing.assert_array_equal(other, [1.5] + [3.5] * 10)


def test_same_bits_for_any_number_of_threads(same_on_threads):
    x = normal(64, 50, 60)

    def run():
        loss = lambda v: jnp.sin(pool(v, (1, 3, 3), (1, 2, 2), "SAME")).sum()  # noqa: E731
        mean = lax.reduce_window(x, 0.0, lax.add, (1, 5, 5))
        return [np.asarray(a) for a in (*shardax.value_and_grad(loss)(x), mean)]

    same_on_threads(run)


# Sizes around those of tiles: rows of few and of very many windows, planes of several tiles and
# several planes of one. Some rows end in the middle of a vector.
LAYOUTS = {
    "few rows": ((5, 3, 8, 8), (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
    "odd rows": ((2, 9, 13, 15), (1, 1, 2, 2), (1, 1, 2, 2), "VALID"),
    "long rows": ((2, 5, 4500), (1, 2, 2), (1, 2, 2), "VALID"),
    "many rows": ((1, 300, 37), (1, 3, 3), (1, 2, 2), "SAME"),
    "overlapping": ((40, 11, 9), (1, 3, 3), (1, 1, 1), "SAME"),
    "steps of three": ((7, 20, 31), (1, 2, 2), (1, 3, 3), [(0, 0), (1, 0), (0, 2)]),
    "features last": ((6, 9, 10, 3), (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "one dimension": ((2100,), (2,), (2,), "VALID"),
}


def stacked_windows(x, window, strides, padding, fill):
    """x by windows, a window's elements last; and the flat place of each in x, -1 for padding."""
    if isinstance(padding, str):
        out = [
            (n - w) // s + 1 if padding == "VALID" else -(-n // s)
            for n, w, s in zip(x.shape, window, strides)
        ]
        gaps = [max(0, (o - 1) * s + w - n) for o, s, w, n in zip(out, strides, window, x.shape)]
        padding = [(gap // 2, gap - gap // 2) for gap in gaps]
    views = []
    for values, value in (x, fill), (np.arange(x.size).reshape(x.shape), -1):
        padded = np.pad(values, padding, constant_values=value)
        view = np.lib.stride_tricks.sliding_window_view(padded, window)
        view = view[tuple(slice(None, None, s) for s in strides)]
        views.append(view.reshape(*view.shape[: x.ndim], -1))
    return views


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "float64"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_windows_of_any_layout(layout, dtype):
    shape, *numbers = LAYOUTS[layout]
    with shardax.enable_x64(dtype == "float64"):
        x = rng.integers(-9, 9, shape).astype(np.float32)  # with ties, and sums that are exact
        given = jnp.asarray(x, dtype)
        elements, places = stacked_windows(x, *numbers, -np.inf)
        least = jnp.array(-jnp.inf if dtype != "int32" else np.iinfo(dtype).min, dtype)
        largest = lax.reduce_window(given, least, lax.max, *numbers)
        np.testing.assert_array_equal(np.asarray(largest, np.float32), elements.max(-1))
        zeros, _ = stacked_windows(x, *numbers, 0)
        sums = lax.reduce_window(given, jnp.array(0, dtype), lax.add, *numbers)
        np.testing.assert_array_equal(np.asarray(sums, np.float32), zeros.sum(-1))
        if dtype == "int32":
            return
        best = np.take_along_axis(places, elements.argmax(-1)[..., None], -1)[..., 0]
        t = rng.integers(-4, 4, best.shape).astype(np.float32)
        pooled, pullback = shardax.vjp(
            lambda v: lax.reduce_window(v, least, lax.max, *numbers), given
        )
        expected = np.zeros(x.size, np.float32)
        np.add.at(expected, best.ravel(), t.ravel())
        found = pullback(jnp.asarray(t, pooled.dtype))[0]
        np.testing.assert_array_equal(np.asarray(found, np.float32).ravel(), expected)
        moved = shardax.jvp(
            lambda v: lax.reduce_window(v, least, lax.max, *numbers), (given,), (-given,)
        )[1]
        np.testing.assert_array_equal(np.asarray(moved, np.float32), -elements.max(-1))


def test_an_image_has_the_same_bits_anywhere_in_a_batch():
    image, t = normal(1, 3, 33, 41), normal(1, 3, 17, 21)

    def gradient(x, t):
        return shardax.vjp(lambda v: pool(v, (1, 1, 3, 3), (1, 1, 2, 2), "SAME"), x)[1](t)[0]

    alone = np.asarray(gradient(image, t))
    whole = np.asarray(gradient(np.repeat(image, 9, 0), np.repeat(t, 9, 0)))
    for each in whole:
        np.testing.assert_array_equal(each, alone[0])


def test_sums_of_negative_zeros_start_from_init():
    """Recorded from JAX 0.10.2."""
    for shape, window in ((6,), (2,)), ((6, 70), (2, 1)), ((3, 2, 2), (1, 2, 2)):
        sums = lax.reduce_window(-jnp.zeros(shape), 0.0, lax.add, window, window)
        assert not np.signbit(sums).any()


def test_windows_of_several_arrays():
    x, y = normal(4, 5), normal(4, 5)

    def combine(a, b):
        return a[0] + b[0], jnp.maximum(a[1], b[1])

    sums, largest = lax.reduce_window((x, y), (0.0, -np.inf), combine, (2, 2), (1, 2), "SAME")
    expected = lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2), "SAME")
    np.testing.assert_allclose(sums, expected, rtol=1e-6, atol=1e-6)
    expected = lax.reduce_window(y, -np.inf, lax.max, (2, 2), (1, 2), "SAME")
    np.testing.assert_array_equal(largest, expected)


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
