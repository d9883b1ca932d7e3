"""tests/lax/test_grouped_convolution_gradients.py - gradients of batched grouped convolutions."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

SPECS = [("NCH", "OIH", "NCH"), ("NHC", "HIO", "NCH"), ("NHC", "HIO", "NHC")]


@pytest.mark.parametrize("spec", SPECS, ids="-".join)
@pytest.mark.parametrize("mapped", [(0, 0), (None, 0), (0, None)], ids=str)
@pytest.mark.parametrize("groups", ["feature", "batch"])
@pytest.mark.parametrize("transform", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_gradients_of_a_batch_are_those_of_its_elements(spec, mapped, groups, transform):
    rng = np.random.default_rng(0)
    sizes = {"N": 4 if groups == "batch" else 1, "H": 5, "C": 6 if groups == "feature" else 3}
    kernel = {"O": 4, "I": 3, "H": 2}
    x = jnp.asarray(rng.normal(size=(2, *(sizes[d] for d in spec[0]))), jnp.float32)
    w = jnp.asarray(rng.normal(size=(2, *(kernel[d] for d in spec[1]))), jnp.float32)
    count = {f"{groups}_group_count": 2}

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (2,), "SAME", dimension_numbers=spec, **count)

    operands = [v if m == 0 else v[0] for v, m in zip((x, w), mapped)]
    weights = jnp.cos(jnp.arange(jax.vmap(conv, mapped)(*operands).size, dtype=jnp.float32))

    def batch(x, w):
        out = jax.vmap(conv, mapped)(x, w)
        return (out * weights.reshape(out.shape)).sum()

    def elements(x, w):
        each = [conv(*(v[i] if m == 0 else v for v, m in zip((x, w), mapped))) for i in range(2)]
        out = jnp.stack(each)
        return (out * weights.reshape(out.shape)).sum()

    got = transform(jax.grad(batch, (0, 1)))(*operands)
    for ours, theirs in zip(got, jax.grad(elements, (0, 1))(*operands)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
