"""tests/parity/cases_flow.py - control flow, collectives and maps: one in thirty combinations."""

import random

import corpus as parity
import flow


def setup(names):
    x = names["jnp"].array([0.3, -0.7, 1.2, 0.5])
    names["x4"] = x
    names["x24"] = names["jnp"].stack([x, x * 0.5 + 0.1])
    names["x42"] = names["x24"].T


corpus = parity.Corpus(setup, rtol=2e-3, atol=2e-4)
for combination in sorted(random.Random(0).sample(list(flow.combinations()), 220)):
    corpus.named_expression(" / ".join(combination), flow.expression(*combination))
