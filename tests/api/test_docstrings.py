# tests/api/test_docstrings.py - public functions have docstrings, whose examples are run.
import doctest
import functools
import importlib
import inspect
import types

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax, nn, random
from shardax.sharding import Mesh, NamedSharding, PartitionSpec

# Modules whose every public callable has a docstring, an example and a signature.
MODULES = [
    "lax",
    "nn",
    "nn.initializers",
    "numpy",
    "random",
]
# Callables of theirs that have no example yet.
WITHOUT_EXAMPLE = {}

# Names as users bind them; examples import anything else themselves.
NAMES = {
    "jax": shardax,
    "jnp": jnp,
    "lax": lax,
    "Mesh": Mesh,
    "NamedSharding": NamedSharding,
    "nn": nn,
    "np": np,
    "P": PartitionSpec,
    "partial": functools.partial,
    "random": random,
    "shardax": shardax,
}


def public_callables(module):
    """Pairs (name, value) of what a module makes public and can be called."""
    package = importlib.import_module(f"shardax.{module}".rstrip("."))
    names = getattr(package, "__all__", None) or [n for n in dir(package) if n[0] != "_"]
    for name in sorted(names):
        value = getattr(package, name)
        own = (getattr(value, "__module__", None) or "shardax").startswith("shardax")
        if own and callable(value) and not isinstance(value, types.ModuleType):
            yield name, value


FUNCTIONS = {
    f"{module}.{name}".lstrip("."): value
    for module in MODULES
    for name, value in public_callables(module)
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_print_what_they_say(name):
    doc = inspect.getdoc(FUNCTIONS[name])
    assert doc, f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(doc, dict(NAMES), name, None, 0)
    excused = name in WITHOUT_EXAMPLE.get(name.rpartition(".")[0], "").split()
    assert bool(test.examples) != excused, f"{name}: needs an example, or has one and is excused"
    said = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not result.failed, "".join(said)


@pytest.mark.parametrize("module", MODULES)
def test_signatures_are_known(module):
    for _, value in public_callables(module):
        if not (isinstance(value, type) and issubclass(value, Exception)):
            assert inspect.signature(value) is not None
