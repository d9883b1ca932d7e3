"""tests/parity/cases_programs.py - random programs of the fuzz, nested transformations over random
ops."""

import pathlib
import sys

import corpus as parity

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))
import evaluate  # noqa: E402
import grammar  # noqa: E402


def setup(names):
    names.update(evaluate.names(names["jax"]))
    names["x"] = names["jnp"].asarray(evaluate.X)


def way_of(seed, source):
    """JAX has no map of a map over devices."""
    ways = [way for way in evaluate.WAYS if seed % 2 == 0 or way not in evaluate.REVERSE]
    way = ways[seed // 2 % len(ways)]
    return "value" if "vmap" in way and "pmap" in source else way


# Inside its pmap, in its compiler, and in the type of an all_to_all of what all devices share.
FAILS_IN_JAX = {12, 55, 46}
corpus = parity.Corpus(setup, rtol=2e-3, atol=2e-4)
for seed in sorted(set(range(62)) - FAILS_IN_JAX):
    source = grammar.program(seed).text()
    if "float16" not in source:
        program = evaluate.WAYS[way_of(seed, source)]
        corpus.named_expression(f"seed {seed}", f"(lambda f: {program})(lambda x: {source})")
