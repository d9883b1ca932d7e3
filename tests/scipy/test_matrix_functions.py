"""tests/scipy/test_matrix_functions.py - functions of matrices where debugging flags watch."""

import numpy as np
import shardax
import shardax.numpy as jnp


def test_the_exponential_of_zero_has_no_infinity_on_the_way():
    shardax.config.update("jax_debug_infs", True)
    try:
        batch = shardax.vmap(shardax.scipy.linalg.expm)(jnp.zeros((1, 3, 3)))
    finally:
        shardax.config.update("jax_debug_infs", False)
    np.testing.assert_array_equal(batch[0], np.eye(3))
