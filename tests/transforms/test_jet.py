"""tests/transforms/test_jet.py - Taylor series against nested forward derivatives."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax, nn
from shardax.experimental.jet import jet, jet2
from shardax.scipy import special

X, D, E = np.array([0.3, 0.7, 1.2]), np.array([1, -0.5, 0.2]), np.array([0.1, 0.3, -0.2])
FUNCTIONS = {
    **{f: getattr(jnp, f) for f in "sin cos exp log sqrt tanh sinh cosh tan arctan expm1".split()},
    **{f: getattr(special, f) for f in ("erf", "gammaln", "digamma", "expi")},
    "power": lambda x: x**2.5,
    "cube": lambda x: x**3,
    "quotient": lambda x: x / (1 + x * x),
    "sigmoid": nn.sigmoid,
    "softmax": nn.softmax,
    "relu": lambda x: nn.relu(x - 0.5),
    "gelu": nn.gelu,
    "where": lambda x: jnp.where(x > 0.5, x * x, x),
    "abs": jnp.abs,
    "max": jnp.max,
    "sort": jnp.sort,
    "prod": jnp.prod,
    "cumprod": jnp.cumprod,
    "products": lambda x: jnp.outer(x, x) @ x,
    "inverse": lambda x: jnp.linalg.inv(jnp.outer(x, x) + jnp.eye(3)),
    "fft": lambda x: jnp.abs(jnp.fft.fft(x)),
    "index": lambda x: jnp.asarray(x).at[0].multiply(x[1])[::-1],
    "while": lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x))[
        1
    ],
    "scan": lambda x: lax.scan(lambda c, _: (jnp.sin(c), c * x), x, None, length=3)[1],
    "cond": lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
    "jit": shardax.jit(lambda x: jnp.sin(x) * x),
}


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", FUNCTIONS)
def test_series_are_derivatives(name):
    f, order = FUNCTIONS[name], 4
    derivative = lambda t: f(X + D * t + E * t * t)
    want = []
    for _ in range(order):
        derivative = lambda t, d=derivative: shardax.jvp(d, (t,), (1.0,))[1]
        want.append(derivative(0.0))
    value, got = jet(f, (X,), ([D, 2 * E, 0 * E, 0 * E],))
    np.testing.assert_allclose(value, f(X))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_two_arguments_and_trees():
    value, terms = jet(lambda x, y: {"p": x * y, "n": 3}, (2.0, 3.0), ([1.0, 0.0], [1.0, 0.0]))
    assert (value["p"], terms["p"]) == (6, [5, 2]) and terms["n"] == [0, 0]
    assert jet2(lambda x: x * x, (2.0,), ([1.0, 0.0],))[1] == [4, 1]


def test_polynomials_of_high_order():
    _, terms = jet(lambda x: jnp.exp(x), (0.0,), ([1.0] + [0.0] * 19,))
    np.testing.assert_allclose(terms, 1, rtol=1e-9)
    _, terms = jet2(lambda x: jnp.log(1 + x), (0.0,), ([1.0] + [0.0] * 9,))
    np.testing.assert_allclose(terms, [(-1) ** k / (k + 1) for k in range(10)])


@pytest.mark.parametrize(
    "primals, series, text",
    [
        ((1.0, 1.0), ([1.0], [1.0, 2.0]), "inconsistent lengths"),
        (((1.0,), 1.0), ([1.0], [1.0]), "primal value at position 0 is not an array"),
        ((1.0,), ([(1.0,)],), "term 0 for argument 0 is not an array"),
    ],
)
def test_errors(primals, series, text):
    with pytest.raises(ValueError, match=text):
        jet(lambda *x: x[0], primals, series)
