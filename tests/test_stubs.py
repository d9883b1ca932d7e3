"""tests/test_stubs.py - stubs for type checkers, against the package."""

import ast
import importlib
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

PYTHON = pathlib.Path(__file__).resolve().parent.parent / "python"
spec = importlib.util.spec_from_file_location("shardax_stubs", PYTHON / "stubs.py")
stubs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(stubs)

# Lines of a program, and what mypy says that they are; None: an error.
TYPES = {
    "shardax.jit(f)": "JitWrapped[[x: shardax._core.Array, n: int], shardax._core.Array]",
    "shardax.jit(f)(jnp.ones(3), 2)": "shardax._core.Array",
    "shardax.jit(static_argnums=1)(f).lower(jnp.ones(3), 2)": "shardax._transform.stages.Lowered",
    "shardax.pmap(f, 'i', in_axes=(0, None))(jnp.ones(8), 1)": "shardax._core.Array",
    "jnp.sum(jnp.ones(3), axis=0) + 1": "shardax._core.Array",
    "jnp.sin(2.0).shape": "tuple[int, ...]",
    "jnp.add(1, 2)": "shardax._core.Array",
    "jnp.linalg.norm(jnp.ones(3))": "shardax._core.Array",
    "lax.add(1.0, 2.0)": "shardax._core.Array",
    "random.normal(random.key(0), (2,))": "shardax._core.Array",
    "nn.relu(1.0)": "shardax._core.Array",
    "shardax.Array": "def () -> shardax._core.Array",
    "jnp.no_such_function": None,
    "shardax.jit(f)('text', 2)": None,
}
PROGRAM = """import shardax
import shardax.numpy as jnp
from shardax import lax, nn, random

def f(x: shardax.Array, n: int) -> shardax.Array:
    return jnp.sum(x) * n

"""


def package_of(file):
    """The name of the package or module that a stub is of."""
    parts = file.with_suffix("").relative_to(PYTHON).parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_stubs_are_up_to_date():
    command = [sys.executable, str(PYTHON / "stubs.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)  # nothing else is imported
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file, text", list(stubs.stubs()), ids=lambda x: getattr(x, "name", ""))
def test_what_stubs_name_is_there(file, text):
    module = importlib.import_module(package_of(file))
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module.startswith("shardax"):
            source = importlib.import_module(node.module)
            for item in node.names:
                assert hasattr(source, item.name), f"{node.module}.{item.name}"
        elif isinstance(node, ast.FunctionDef) and node.name != "__getattr__":
            assert callable(getattr(module, node.name))


@pytest.mark.parametrize("package", stubs.OTHER_RESULTS)
def test_functions_said_to_give_arrays_do(package):
    """Where their documentation has an example, it prints an array."""
    module = importlib.import_module(package)
    for name in dir(module):
        value = getattr(module, name)
        if stubs.gives_an_array(package, name, value):
            assert not stubs.prints_no_array(name, value), f"{package}.{name}"
    missing = [n for n in stubs.OTHER_RESULTS[package].split() if not hasattr(module, n)]
    assert not missing, f"{missing} are not in {package}"


def test_mypy_knows_types(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    file = tmp_path / "program.py"
    file.write_text(PROGRAM + "".join(f"reveal_type({line})\n" for line in TYPES))
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=PYTHON)
    first = PROGRAM.count("\n") + 1
    for number, (line, expected) in enumerate(TYPES.items(), first):
        said = re.findall(rf"program.py:{number}: (\w+): (.*)", done.stdout)
        if expected is None:
            assert "error" in [kind for kind, _ in said], f"{line}: {said}"
        else:
            assert len(said) == 1 and expected in said[0][1], f"{line}: {said}\n{done.stderr}"
