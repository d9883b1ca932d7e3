# tests/explain/test_docs.py - the examples in docstrings print what they say.
import doctest
import importlib

import pytest
import shardax
from shardax import debug, lax, sharding

MODULES = [
    "_base.svg",
    "_debug.assertions",
    "_debug.exchanges",
    "_debug.pictures",
    "_debug.replicas",
    "_explain.accelerators",
    "_explain.explanation",
    "_explain.messages",
    "experimental.roofline.results",
    "experimental.roofline.roofline",
]
NAMES = {
    "shardax": shardax,
    "Accelerators": shardax.Accelerators,
    "debug": debug,
    "devices": shardax.devices,
    "explain": shardax.explain,
    "grad": shardax.grad,
    "jnp": shardax.numpy,
    "lax": lax,
    "make_mesh": shardax.make_mesh,
    "NamedSharding": sharding.NamedSharding,
    "P": sharding.PartitionSpec,
    "pmap": shardax.pmap,
    "random": shardax.random,
    "ShapeDtypeStruct": shardax.ShapeDtypeStruct,
}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(f"shardax.{name}")
    result = doctest.testmod(module, extraglobs=NAMES, verbose=False)
    assert result.attempted > 0
    assert result.failed == 0
