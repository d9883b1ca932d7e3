"""tests/compile/test_simplify.py - local rewritings of programs."""

import numpy as np
import shardax as jax
import shardax.numpy as jnp
from shardax import lax


def test_the_logarithm_of_an_exponential_is_what_it_was_of():
    f = jax.jit(lambda x: jnp.log(jnp.exp(x)))
    x = jnp.array([-200.0, 0.1, 88.0, 200.0, jnp.inf, -jnp.inf, jnp.nan])
    np.testing.assert_array_equal(f(x), x)  # exp(200) overflows, exp(-200) is 0
    z = f(jnp.array(1 + 4j))
    np.testing.assert_allclose(z, 1 + (4 - 2 * np.pi) * 1j, rtol=1e-6)
