"""tests/array/test_split_keys.py - keys, and what is drawn with them, stay split as they were."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import AxisType, NamedSharding, P


def seeds(*spec):
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    values = np.arange(16, dtype=np.uint32).reshape(8, 2)
    return jax.device_put(values, NamedSharding(mesh, P(*spec)))


def made(seed):
    return jax.vmap(jax.vmap(jax.random.key))(seed)


CASES = {
    "made": (made, P("x", "y")),
    "transposed": (lambda s: made(s).T, P("y", "x")),
    "words": (lambda s: jax.random.key_data(made(s)), P("x", "y")),
    "raw": (jax.vmap(jax.vmap(jax.random.PRNGKey)), P("x", "y")),
    "wrapped": (
        lambda s: jax.random.wrap_key_data(jax.vmap(jax.vmap(jax.random.PRNGKey))(s)),
        P("x", "y"),
    ),
    "split": (lambda s: jax.vmap(jax.vmap(jax.random.split))(made(s)), P("x", "y")),
    "folded": (
        lambda s: jax.vmap(jax.vmap(lambda k: jax.random.fold_in(k, 3)))(made(s)),
        P("x", "y"),
    ),
    "drawn": (
        lambda s: jax.vmap(lambda k: jax.random.normal(k, (8,)))(made(s)[:, 0]),
        P("x"),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("jitted", [False, True])
def test_keys(name, jitted):
    f, expected = CASES[name]
    out = (jax.jit(f) if jitted else f)(seeds("x", "y"))
    at_once = name == "words" and not jitted  # words of a key lie together, which is said then
    assert out.sharding.spec == (P(*expected, None) if at_once else expected)
    whole = f(np.arange(16, dtype=np.uint32).reshape(8, 2))
    words = [
        jax.random.key_data(k) if jnp.issubdtype(k.dtype, jax.dtypes.prng_key) else k
        for k in (out, whole)
    ]
    np.testing.assert_array_equal(*words)
