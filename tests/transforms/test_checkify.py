"""tests/transforms/test_checkify.py - checks under checkify, their errors and texts, automatic
checks.

Texts are those that JAX 0.10.2 gives, but where a comment says otherwise.
"""

import functools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental import checkify
from shardax.experimental.checkify import check

NOT_FUNCTIONALIZED = "Cannot abstractly evaluate a checkify.check which was not functionalized"


def error(fun, *args, errors=checkify.user_checks):
    """The text of the error of a checkified call, which is the same jitted."""
    checked = checkify.checkify(fun, errors=errors)
    args = [jnp.asarray(a) for a in args]
    text = checked(*args)[0].get()
    assert jax.jit(checked)(*args)[0].get() == text
    return text


everything = functools.partial(error, errors=checkify.all_checks)


def out_of_bounds(index, shape, axis=0):
    return (
        f"out-of-bounds indexing for array of shape {shape}: index {index} is out of bounds for "
        f"axis {axis} with size {shape[axis]}. "
    )


def positive(x):
    check(x > 0, "x = {}", x)
    return jnp.sin(x) * x


def pick(x, i):
    check(i >= 0, "index needs to be non-negative, got {i}", i=i)
    return jnp.sin(x[i])


# ---- values and exceptions -------------------------------------------------------------------


def test_value_and_no_error():
    err, out = checkify.checkify(positive)(jnp.float32(2.0))
    assert err.get() is None
    assert err.get_exception() is None
    err.throw()
    assert repr(err) == "Error(None)"
    np.testing.assert_allclose(out, 2 * np.sin(2.0), rtol=1e-6)


def test_throw():
    err, _ = jax.jit(checkify.checkify(positive))(-1.0)
    with pytest.raises(checkify.JaxRuntimeError, match=r"^x = -1.0 \(`check` failed\)$") as raised:
        err.throw()
    assert isinstance(raised.value, ValueError)
    assert isinstance(err.get_exception(), checkify.FailedCheckError)
    assert checkify.init_error.get() is None


def test_formats():
    def f(x):
        check(x[0] > 9, "{d[a]} and {1:.2f}, {0}", x, x[1], d={"a": x[0]})

    assert error(f, [1.0, 3.14159]) == "1.0 and 3.14, [1.      3.14159] (`check` failed)"


def test_first_failure_wins():
    def f(x):
        check(x > 0, "first {}", x)
        check(x > 1, "second {}", x * 2)
        check(x > 2, "third")

    assert error(f, -1.0) == "first -1.0 (`check` failed)"
    assert error(f, 0.5) == "second 1.0 (`check` failed)"
    assert error(f, 1.5) == "third (`check` failed)"
    assert error(f, 2.5) is None


def test_arguments_stay_as_they_are():
    assert checkify.checkify(lambda a, n: sum(a for _ in range(n)))(jnp.float32(2), 3)[1] == 6
    assert checkify.checkify(lambda a: a if a > 0 else -a)(-2.0)[1] == 2
    with pytest.raises(jax.errors.TracerBoolConversionError, match="for checkify"):
        checkify.checkify(lambda a: a if a > 0 else -a)(jnp.float32(2))
    out = checkify.checkify(lambda **k: {"a": k["z"], "n": None})(z=jnp.ones(2))[1]
    assert out["n"] is None


# ---- check on its own ------------------------------------------------------------------------


def test_eager_check_raises():
    with pytest.raises(checkify.JaxRuntimeError, match="got -1"):
        pick(jnp.ones(5), jnp.array(-1))
    np.testing.assert_allclose(pick(jnp.ones(5), jnp.array(2)), np.sin(1.0), rtol=1e-6)
    with pytest.raises(checkify.JaxRuntimeError, match="x = -1.0"):
        jax.grad(positive)(-1.0)
    with pytest.raises(checkify.JaxRuntimeError, match=r"x = -2.0"):
        jax.vmap(positive)(jnp.array([1.0, -1.0, -2.0]))


@pytest.mark.parametrize("x", [1.0, -1.0])
@pytest.mark.parametrize(
    "fun",
    [
        jax.jit(lambda x: positive(x[0])),
        jax.jit(jax.vmap(positive)),
        lambda x: lax.map(positive, x),
        lambda x: lax.cond(True, lambda x: positive(x[0]), lambda x: x[0], x),
        jax.pmap(positive),
    ],
)
def test_staged_check_needs_checkify(fun, x):
    with pytest.raises(ValueError, match=NOT_FUNCTIONALIZED):
        fun(jnp.full(2, x))


def test_debug_check():
    def f(x):
        checkify.debug_check(x != 0, "cannot be zero!")
        return x

    assert f(jnp.array(0)) == 0
    assert jax.jit(f)(0) == 0
    assert jax.vmap(f)(jnp.zeros(2)).shape == jax.pmap(f)(jnp.zeros(2)).shape == (2,)
    assert error(f, 0) == "cannot be zero! (`check` failed)"
    check(False, "nothing", debug=True)


@pytest.mark.parametrize("pred", [jnp.array([True]), 1, np.bool_(True), jnp.float32(1)])
def test_pred_must_be_a_scalar(pred):
    with pytest.raises(TypeError, match="^check takes a scalar pred as argument, got"):
        check(pred, "a")
    with pytest.raises(TypeError, match="^debug_check takes a scalar pred as argument, got"):
        checkify.debug_check(pred, "a")


def test_format_arguments_must_be_arrays():
    with pytest.raises(TypeError, match=r"Formatting arguments .* but got 3 of type <class 'int'>"):
        check(True, "{}", 3)


def test_checkify_takes_a_function():
    with pytest.raises(TypeError, match="Expected a callable value, got 5"):
        checkify.checkify(5)
    with pytest.raises(TypeError, match="check_error takes an Error, got 5"):
        checkify.check_error(5)


# ---- check_error -----------------------------------------------------------------------------


def test_check_error():
    err, _ = jax.jit(checkify.checkify(positive))(-1.0)
    with pytest.raises(checkify.JaxRuntimeError, match="x = -1.0"):
        checkify.check_error(err)
    checkify.check_error(jax.jit(checkify.checkify(positive))(1.0)[0])
    with pytest.raises(ValueError, match=NOT_FUNCTIONALIZED):
        jax.jit(lambda x: checkify.check_error(checkify.checkify(positive)(x)[0]))(-1.0)


def test_check_error_under_checkify():
    def two(x, y):
        first, _ = jax.jit(checkify.checkify(positive))(x)
        second, _ = checkify.checkify(lambda y: y / 0.0, errors=checkify.all_checks)(y)
        checkify.check_error(second)
        checkify.check_error(first)

    assert error(two, -1.0, 2.0) == "x = -1.0 (`check` failed)"
    assert error(two, 1.0, 2.0) is None
    assert everything(two, 1.0, 2.0) == "division by zero"


def test_only_enabled_checks():
    assert error(positive, -1.0, errors=checkify.nan_checks) is None
    assert error(lambda x: jnp.log(x), [-1.0], errors=checkify.div_checks) is None
    assert error(lambda x: x / x, [0.0], errors=checkify.nan_checks) == (
        "nan generated by primitive: div."
    )
    assert error(lambda x: x / x, [0.0], errors=checkify.float_checks) == "division by zero"


# ---- automatic checks ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fun", "args", "text"),
    [
        (lambda: jnp.arange(3)[5], (), out_of_bounds(5, (3,))),
        (lambda: jnp.sin(jnp.inf), (), "nan generated by primitive: sin."),
        (lambda: jnp.ones(5) / jnp.arange(5), (), "division by zero"),
        (lambda x: x[1, -7], (np.ones((4, 2)),), out_of_bounds(-5, (4, 2), 1)),
        (lambda x: x[9], (np.ones((4, 2)),), out_of_bounds(9, (4, 2))),
        (lambda x, i: x[i], (np.ones((4, 2)), [1, -9, 7]), out_of_bounds(-5, (4, 2))),
        (lambda x, i: x[i], (np.ones(300), np.uint16([3, 400])), out_of_bounds(400, (300,))),
        (lambda x, i: x[i, i], (np.ones((4, 2)), [1, 3]), out_of_bounds(3, (4, 2), 1)),
        (lambda x: x[jnp.array([], int)], (np.ones((4, 2)),), None),
        (lambda x, i: x.at[i].set(1.0), (np.ones(4), 4), out_of_bounds(4, (4,))),
        (lambda x, i: x.at[i].add(1.0), (np.ones((4, 2)), [1, 9]), out_of_bounds(9, (4, 2))),
        (
            lambda x: lax.dynamic_slice(x, (3, 9), (2, 2)),
            (np.ones((4, 5)),),
            out_of_bounds(3, (4, 5)),
        ),
        (
            lambda x, i: lax.dynamic_update_slice(x, jnp.ones(2), (i,)),
            (np.ones(4), 3),
            out_of_bounds(3, (4,)),
        ),
        (lambda x: jnp.linalg.norm(x), ([0.0, 0.0],), None),
        (jax.grad(jnp.linalg.norm), ([0.0, 0.0],), "division by zero"),
        (lambda x: x // 0, ([1, 2],), "division by zero"),
        (lambda x: jnp.sort(jnp.log(x)), ([-1.0],), "nan generated by primitive: log."),
        (jax.nn.softmax, ([1.0, jnp.inf],), "nan generated by primitive: sub."),
        (jax.jit(lambda x: jnp.log(x)), ([-1.0],), "nan generated by primitive: log."),
        (lambda x: jax.random.normal(jax.random.key(0), (3,)) * x, ([1.0],), None),
    ],
)
def test_automatic(fun, args, text):
    assert everything(fun, *args) == text


def test_values_are_unchanged():
    x = jnp.arange(8.0).reshape(4, 2)
    _, out = checkify.checkify(lambda x: x[1, -7], errors=checkify.all_checks)(x)
    assert out == x[1, -7] == 2
    _, out = checkify.checkify(lambda x: x[9, 0], errors=checkify.all_checks)(x)
    assert out == x[9, 0] == 6


def test_grad_is_checked():
    f = jax.grad(lambda x: x / (1 + jnp.sqrt(x)))
    assert error(f, 0.0, errors=checkify.nan_checks) == "nan generated by primitive: mul."
