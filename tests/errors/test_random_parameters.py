"""tests/errors/test_random_parameters.py - parameters, dtypes and shapes that draws refuse."""

import numpy as np
import pytest
import shardax.numpy as jnp
from shardax import random
from shardax.dtypes import TypePromotionError

KEY = random.PRNGKey(0)

WITH_PARAMETERS = {
    "beta": lambda p, **k: random.beta(KEY, p, 1.0, **k),
    "chisquare": lambda p, **k: random.chisquare(KEY, p, **k),
    "f": lambda p, **k: random.f(KEY, 2.0, p, **k),
    "lognormal": lambda p, **k: random.lognormal(KEY, p, **k),
    "pareto": lambda p, **k: random.pareto(KEY, p, **k),
    "rayleigh": lambda p, **k: random.rayleigh(KEY, p, **k),
    "t": lambda p, **k: random.t(KEY, p, **k),
    "triangular": lambda p, **k: random.triangular(KEY, 0.0, p, 3.0, **k),
    "wald": lambda p, **k: random.wald(KEY, p, **k),
}


@pytest.mark.parametrize("name", WITH_PARAMETERS)
def test_parameters_promote_to_the_dtype_of_the_draw(name):
    draw = WITH_PARAMETERS[name]
    text = f"In arguments to {name}, cannot safely cast argument of type "
    with pytest.raises(TypePromotionError, match=f"{text}complex64 to float32"):
        draw(1 + 1j)
    with pytest.raises(TypePromotionError, match=f"{text}float32 to float16"):
        draw(jnp.float32(1.5), dtype="float16")
    assert draw(1.5, dtype="float16").dtype == np.float16
    assert draw(jnp.int32(2), dtype="float16").dtype == np.float16


SEQUENCES = {
    **WITH_PARAMETERS,
    "categorical": lambda p: random.categorical(KEY, p),
    "choice": lambda p: random.choice(KEY, p),
    "dirichlet": lambda p: random.dirichlet(KEY, p),
    "double_sided_maxwell": lambda p: random.double_sided_maxwell(KEY, p, 1.0),
    "gamma": lambda p: random.gamma(KEY, p),
    "generalized_normal": lambda p: random.generalized_normal(KEY, p),
    "loggamma": lambda p: random.loggamma(KEY, p),
    "multivariate_normal": lambda p: random.multivariate_normal(KEY, p, jnp.eye(2)),
    "poisson": lambda p: random.poisson(KEY, p),
    "randint": lambda p: random.randint(KEY, (2,), p, 9),
    "truncated_normal": lambda p: random.truncated_normal(KEY, p, 9.0),
    "uniform": lambda p: random.uniform(KEY, (2,), minval=p),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_parameters_are_no_sequences(name):
    with pytest.raises(TypeError, match=f"{name} requires ndarray or scalar arguments, got <class"):
        SEQUENCES[name]([1.0, 2.0])


@pytest.mark.parametrize("name", ["beta", "gamma", "truncated_normal", "t", "uniform"])
def test_parameters_are_not_none(name):
    with pytest.raises(ValueError, match=f"{name}: None is not a valid parameter"):
        SEQUENCES[name](None)


@pytest.mark.parametrize("name", ["poisson", "geometric"])
@pytest.mark.parametrize("dtype", [np.float32, bool])
def test_counts_are_integers(name, dtype):
    with pytest.raises(ValueError, match=f"dtype argument to `{name}` must be an int dtype"):
        getattr(random, name)(KEY, 0.5, dtype=dtype)


@pytest.mark.parametrize("axis", [1, -2])
def test_categories_lie_along_an_axis(axis):
    with pytest.raises(IndexError, match=f"categorical: axis {axis} is out of bounds"):
        random.categorical(KEY, jnp.zeros(3), axis=axis)


@pytest.mark.parametrize("p", [0, 0.0, False, np.float32(0)])
def test_powers_of_zero(p):
    """Python's numbers divide as arrays do: 1 / p is infinite."""
    assert np.isinf(random.generalized_normal(KEY, p, (3,))).all()
    assert np.isnan(random.ball(KEY, 2, p, (3,))).all()


def test_dtypes_of_counts_and_vectors():
    counts = random.multinomial(KEY, 5.0, jnp.full(3, 1 / 3), dtype=np.int32)
    assert counts.dtype == np.int32 and counts.sum() == 5
    mean = jnp.zeros(2)
    assert random.multivariate_normal(KEY, mean, jnp.eye(2), dtype="float16").dtype == np.float32
