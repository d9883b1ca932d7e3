"""tests/transforms/test_transposed_parts.py - transposes of loops and branches with fixed parts.

Parts of their results that do not depend on the linear arguments are known to later equations.
"""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

MATRIX = jnp.eye(3) + 1
VECTOR = jnp.arange(3.0)


def by_jit(t):
    return jax.jit(lambda c, t: (c * 2, t * 3))(MATRIX, t)


def by_cond(t):
    yes, no = (lambda t: (MATRIX * 2, t * 3)), (lambda t: (MATRIX, t))
    return lax.cond(MATRIX[0, 0] > 0, yes, no, t)


def by_cond_in_jit(t):
    return jax.jit(by_cond)(t)


def by_scan(t):
    step = lambda c, _: ((c[0] * 2, c[1] * 3), None)
    return lax.scan(step, (MATRIX, t), None, length=1)[0]


@pytest.mark.parametrize("parts", [by_scan, by_jit, by_cond, by_cond_in_jit])
@pytest.mark.parametrize("product", [lambda a, b: a @ b, lambda a, b: (a * b).sum(1)])
def test_products_of_both_parts(parts, product):
    (ct,) = jax.linear_transpose(lambda t: product(*parts(t)), VECTOR)(VECTOR)
    np.testing.assert_allclose(ct, 6 * (MATRIX.T @ VECTOR))


def test_functions_that_are_not_linear():
    for f in (lambda t: t @ t, lambda t: (t * t).sum()):
        with pytest.raises(ValueError, match="the function is not linear: '(dot_general|mul)'"):
            jax.linear_transpose(f, VECTOR)(jnp.float32(1))
