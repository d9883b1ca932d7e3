# tests/api/test_docstrings.py - public functions have docstrings, whose examples are run.
import doctest
import functools
import importlib
import inspect
import types

import ml_dtypes
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax, nn, random
from shardax.sharding import Mesh, NamedSharding, PartitionSpec

DISTRIBUTIONS = (
    "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l "
    "gumbel_r laplace logistic multinomial multivariate_normal nbinom norm pareto poisson t "
    "truncnorm uniform vonmises wrapcauchy"
)
# Modules whose public callables have a docstring, an example and a signature; "" is the package.
MODULES = [
    "",
    "ad_checkpoint",
    "core",
    "custom_batching",
    "custom_derivatives",
    "debug",
    "dlpack",
    "dtypes",
    "experimental",
    "experimental.checkify",
    "experimental.jet",
    "experimental.mesh_utils",
    "experimental.ode",
    "experimental.pjit",
    "experimental.shard_map",
    "experimental.sparse",
    "experimental.sparse.linalg",
    "export",
    "flatten_util",
    "image",
    "jax_utils",
    "lax",
    "lax.linalg",
    "memory",
    "monitoring",
    "nn",
    "nn.initializers",
    "numpy",
    "numpy.fft",
    "numpy.linalg",
    "ops",
    "profiler",
    "random",
    "ref",
    "scipy.cluster.vq",
    "scipy.fft",
    "scipy.integrate",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.optimize",
    "scipy.signal",
    "scipy.sparse.linalg",
    "scipy.spatial.transform",
    "scipy.special",
    "scipy.stats",
    *(f"scipy.stats.{name}" for name in DISTRIBUTIONS.split()),
    "sharding",
    "stages",
    "tree",
    "tree_util",
]
# Callables of theirs without an example; exceptions and warnings need none.
WITHOUT_EXAMPLE = {
    "": "ShapeDtypeStruct install_as_jax install_tracebacks load_core",
    "ad_checkpoint": "Offloadable",
    "core": "ClosedJaxpr Jaxpr JaxprEqn Literal ShapedArray Var",
    "experimental.checkify": "Error",
    "experimental.jet": "fact",
    "experimental.mesh_utils": "create_hybrid_device_mesh",
    "export": "DisabledSafetyCheck Exported",
    "tree_util": "DictKey FlattenedIndexKey GetAttrKey PyTreeDef SequenceKey",
}
# Classes that are not called: a function makes their objects.
WITHOUT_SIGNATURE = {"core": "JaxprEqn Tracer"}
# Callables whose examples other tests run, with names of their own (tests/explain/test_docs.py).
RUN_ELSEWHERE = {
    "": (
        "Accelerators explain make_array_from_callback make_array_from_process_local_data "
        "make_array_from_single_device_arrays"
    ),
    "debug": "inspect_array_sharding visualize_array_sharding visualize_sharding",
}

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
        home = getattr(value, "__module__", None) or "shardax"
        imported = "__all__" not in dir(package) and module.startswith("scipy.stats.")
        own = home == package.__name__ if imported else home.startswith("shardax")
        error = isinstance(value, type) and issubclass(value, Exception)
        if own and callable(value) and not isinstance(value, types.ModuleType) and not error:
            yield name, value


def listed(table, name):
    """Has a table of this file the function?"""
    module, _, function = name.rpartition(".")
    return function in table.get(module, "").split()


FUNCTIONS = {
    f"{module}.{name}".lstrip("."): value
    for module in MODULES
    for name, value in public_callables(module)
    if name not in RUN_ELSEWHERE.get(module, "").split()
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_examples_print_what_they_say(name):
    doc = inspect.getdoc(FUNCTIONS[name])
    assert doc, f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(doc, dict(NAMES), name, None, 0)
    if name in ("numpy.int1", "numpy.uint1") and not hasattr(ml_dtypes, "int1"):
        pytest.skip("needs ml_dtypes 0.6")
    excused = listed(WITHOUT_EXAMPLE, name)
    assert bool(test.examples) != excused, f"{name}: needs an example, or has one and is excused"
    said = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not result.failed, "".join(said)


@pytest.mark.parametrize("module", MODULES)
def test_signatures_are_known(module):
    for name, value in public_callables(module):
        if not listed(WITHOUT_SIGNATURE, f"{module}.{name}"):
            assert inspect.signature(value) is not None


@pytest.mark.parametrize("table", [WITHOUT_EXAMPLE, WITHOUT_SIGNATURE, RUN_ELSEWHERE])
def test_tables_name_public_functions(table):
    for module, names in table.items():
        missing = set(names.split()) - {name for name, _ in public_callables(module)}
        assert not missing, f"{module}: {missing}"
