"""tests/pmap/test_op_by_op.py - pmap(debug=True) and disable_jit: values of all devices."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

x = jnp.arange(4.0)


def both(test):
    """The test with pmap(debug=True), and with pmap under disable_jit."""

    @pytest.mark.parametrize("how", ["debug", "disable_jit"])
    def run(how):
        if how == "debug":
            return test(lambda f, **options: jax.pmap(f, "i", debug=True, **options))
        with jax.disable_jit():
            return test(lambda f, **options: jax.pmap(f, "i", **options))

    return run


@both
def test_results_are_those_of_the_compiled_function(mapped):
    def f(v, w):
        return v - lax.pmean(v, "i") * w, lax.psum(w, "i"), lax.axis_index("i")

    want = jax.vmap(f, (0, None), axis_name="i")(x, 2.0)
    for got, expected in zip(mapped(f, in_axes=(0, None))(x, 2.0), want):
        np.testing.assert_array_equal(got, expected)


@both
def test_values_show_every_device(mapped):
    shown = []
    mapped(lambda v: (shown.append(str(v * 2)), v)[1])(x)
    assert shown == [
        "DeviceTracer(float32[], varying over 'i'):\n"
        "  device 0: 0.0\n  device 1: 2.0\n  device 2: 4.0\n  device 3: 6.0"
    ]


@both
def test_arrays_are_shown_too(mapped):
    shown = []
    mapped(lambda v: (shown.append(repr(v)), v)[1])(jnp.ones((2, 3)))
    assert shown[0].splitlines()[1:] == ["  device 0: [1. 1. 1.]", "  device 1: [1. 1. 1.]"]


@both
def test_uniform_values_are_plain(mapped):
    seen = []
    mapped(lambda v: (seen.append(float(lax.psum(v, "i"))), v)[1])(x)
    assert seen == [6.0]


@both
def test_python_if_on_a_value_that_is_the_same_everywhere(mapped):
    def f(v, flag):
        if flag > 0:  # stacked, but equal
            return v + 1
        return v

    np.testing.assert_array_equal(mapped(f)(x, jnp.ones(4)), x + 1)


@both
def test_python_if_on_a_value_that_differs(mapped):
    def f(v):
        if v > 1:
            return v
        return -v

    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        mapped(f)(x)
    assert "differs between the devices of axis 'i'" in str(caught.value)
    assert "False on devices 0 and 1; True on devices 2 and 3" in str(caught.value)


@both
def test_numbers_that_differ(mapped):
    with pytest.raises(jax.errors.ConcretizationTypeError, match="1.0 on device 1"):
        mapped(lambda v: float(v) * v)(x)


@both
def test_axes_and_prefixes(mapped):
    m = jnp.arange(6.0).reshape(2, 3)
    out = mapped(lambda a, b: (a * 2, b), in_axes=(1, None), out_axes=(1, None))(m, 5.0)
    np.testing.assert_array_equal(out[0], m * 2)
    assert out[1] == 5.0


@both
def test_gradients_through_it(mapped):
    f = lambda v: mapped(lambda u: lax.psum(u * u, "i"))(v).sum()
    np.testing.assert_array_equal(jax.grad(f)(x), 8 * x)
    np.testing.assert_array_equal(mapped(jax.grad(lambda u: u**3))(x), 3 * x**2)


@both
def test_nested(mapped):
    f = mapped(lambda row: jax.pmap(lambda v: lax.psum(v, ("i", "j")), "j")(row))
    np.testing.assert_array_equal(f(x.reshape(2, 2)), np.full((2, 2), 6.0))


@both
def test_control_flow_per_device(mapped):
    f = mapped(lambda v: lax.cond(v > 1, lambda u: u * 10, lambda u: u, v))
    np.testing.assert_array_equal(f(x), [0, 1, 20, 30])
    f = mapped(lambda v: lax.while_loop(lambda c: c < 2, lambda c: c + 1, v))
    np.testing.assert_array_equal(f(x), [2, 2, 2, 3])


def test_control_flow_is_pythons():
    steps = []

    def body(c, v):
        steps.append(float(c))
        return c + v, c

    with jax.disable_jit():
        total, before = lax.scan(body, 0.0, x, reverse=True)
        assert lax.cond(total > 1, lambda: "yes", lambda: "no") == "yes"
        assert lax.switch(2, [lambda: 0, lambda: 1, lambda: 2]) == 2
        assert lax.while_loop(lambda c: c < 5, lambda c: (steps.append(c), c + 2)[1], 1) == 5
        assert lax.fori_loop(0, 3, lambda i, c: c + i, 0) == 3
        np.testing.assert_array_equal(lax.map(lambda v: v * 2, x), x * 2)
        with pytest.raises(ValueError, match="zero-length scan"):
            lax.scan(body, 0.0, jnp.zeros(0))
    np.testing.assert_array_equal(before, [6, 5, 3, 0])
    assert steps == [0.0, 3.0, 5.0, 6.0, 1, 3]


def test_more_slices_than_devices_is_the_same_error():
    with pytest.raises(ValueError, match="9 mapped slices need 9 devices"):
        jax.pmap(lambda v: v, debug=True)(jnp.zeros(9))
