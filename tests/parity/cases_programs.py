"""tests/parity/cases_programs.py - random small programs, nested transformations over random ops."""

import corpus as parity
import programs


def setup(names):
    jnp = names["jnp"]
    names["x4"] = jnp.array([0.3, -0.7, 1.1, 0.05])
    names["m44"] = jnp.sin(jnp.arange(16.0)).reshape(4, 4)


corpus = parity.Corpus(setup, rtol=2e-3, atol=2e-4)
for seed in range(210):
    corpus.named_expression(f"seed {seed}", programs.expression(seed))
