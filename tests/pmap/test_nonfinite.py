"""tests/pmap/test_nonfinite.py - debug_nans and debug_infs say where the first bad element is."""

import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax


def error(f, *args):
    with jax.debug_nans(True), pytest.raises(FloatingPointError) as caught:
        f(*args)
    return str(caught.value)


def test_eager_op():
    text = error(lambda: jnp.log(jnp.array([1.0, 2.0, -1.0])))
    assert text.startswith("invalid value (nan) encountered in log, at " + __file__)
    assert "element (2,) of its result float32[3]; operands: float32[3] in [-1, 2]" in text


def test_compiled_pmap_names_the_device():
    def step(x, w):
        y = x * w
        return jnp.sum(jnp.sqrt(y)) * 2

    x = jnp.ones((4, 3)).at[2, 1].set(-5.0)
    text = error(jax.pmap(step, in_axes=(0, None)), x, 2.0)
    assert "encountered in sqrt on device 2 of axis" in text
    place = text.partition(f"{__file__}:")[2]
    assert place and re.match(r"\d+(:\d+)? \((\S+<locals>[.])?step\)", place)  # 3.10: the name
    assert "element (1,) of its result float32[3]; operands: float32[3] in [-10, 2]" in text


def test_nested_pmap():
    f = jax.pmap(jax.pmap(jnp.log, axis_name="j"), axis_name="i")
    text = error(f, jnp.array([[1.0, 2.0], [3.0, -1.0]]))
    assert "on device 1 of axis 'i', device 1 of axis 'j'" in text


def test_jit_inside_grad():
    text = error(jax.grad(jax.jit(lambda x: jnp.sqrt(x) * 2)), 0.0 - 1.0)
    assert "encountered in sqrt" in text


def test_iterations_of_loops():
    def body(c, v):
        return c - 1, jnp.log(c)

    text = error(lambda: lax.scan(body, 2.5, jnp.arange(5.0)))
    assert "encountered in log" in text and "in iteration 3 of a scan" in text
    text = error(
        lambda: lax.while_loop(
            lambda c: c[0] < 5, lambda c: (c[0] + 1, jnp.log(c[1] - 1)), (0, 2.5)
        )
    )
    assert "in iteration 1 of a while_loop" in text


def test_branches():
    f = jax.jit(lambda x: lax.cond(x > 0, jnp.log, lambda v: jnp.log(v) * 2, x))
    assert "encountered in log" in error(f, -1.0)


def test_own_paths_of_devices():
    f = jax.pmap(lambda x: lax.cond(x > 1, lambda v: v, jnp.log, x))
    assert "encountered in cond on device 0" in error(f, jnp.array([-1.0, 2.0]))


def test_infinities():
    f = jax.pmap(lambda x: 1 / x)
    with jax.debug_infs(True), pytest.raises(FloatingPointError, match=r"\(inf\) .* device 1"):
        f(jnp.array([1.0, 0.0]))
    with jax.debug_nans(True):
        assert np.isinf(f(jnp.array([1.0, 0.0]))[1])


def test_other_dtypes():
    assert "element (1,)" in error(lambda: jnp.log(jnp.array([1, -1], jnp.bfloat16)))
    assert "encountered in" in error(lambda: jnp.array([1j, complex("nan")]) * 2)


def test_finite_results_pass_and_nothing_is_left_behind():
    f = jax.pmap(jnp.log)
    with jax.debug_nans(True):
        np.testing.assert_array_equal(f(jnp.ones(2)), [0, 0])
    assert np.isnan(f(-jnp.ones(2))).all()


def test_hidden_nans_are_not_errors():
    f = jax.jit(lambda x: jnp.where(x > 0, jnp.log(x), 0.0))
    with jax.debug_nans(True):
        np.testing.assert_array_equal(f(jnp.array([-1.0, 1.0])), [0, 0])


def test_a_jitted_function_that_made_a_nan_is_called_again(capsys):
    calls = []

    def f(x):
        calls.append(x)
        return jnp.log(-3 * x)

    with jax.debug_nans(True):
        with pytest.raises(FloatingPointError, match="encountered in log") as raised:
            jax.jit(f)(5.0)
        assert calls[1:] == [5.0]
        assert "f" in [frame.name for frame in raised.traceback]
        assert "Calling the de-optimized version" in capsys.readouterr().out
        with pytest.raises(FloatingPointError):
            jax.grad(jax.jit(f))(5.0)
