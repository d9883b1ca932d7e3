"""tests/test_stubs.py - stubs for type checkers, against the package."""

import ast
import doctest
import importlib
import importlib.util
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

PYTHON = pathlib.Path(__file__).resolve().parent.parent / "python"
FOLDER = PYTHON.parent / "tests" / "types"


def module_of(file):
    spec = importlib.util.spec_from_file_location(f"shardax_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


stubs = module_of(PYTHON / "stubs.py")
book = module_of(PYTHON.parent / "tests" / "test_book.py")
docstrings = module_of(PYTHON.parent / "tests" / "api" / "test_docstrings.py")

# Lines of a program, and what mypy says that they are.
TYPES = {
    "shardax.jit(f)": "JitWrapped[[x: shardax._core.Array, n: int], shardax._core.Array]",
    "shardax.jit(f)(jnp.ones(3), 2)": "shardax._core.Array",
    "shardax.jit(static_argnums=1)(f).lower(jnp.ones(3), 2)": "shardax._transform.stages.Lowered",
    "shardax.pmap(f, 'i', in_axes=(0, None))(jnp.ones(8), 1)": "shardax._core.Array",
    "shardax.vmap(f)(jnp.ones(8), 1)": "shardax._core.Array",
    "shardax.value_and_grad(f)(x, 1)": "tuple[Any, Any]",
    "shardax.explain(f)(x, 1).collectives": "list[dict[str, Any]]",
    "shardax.devices()[0].id": "int",
    "shardax.make_mesh((2,), ('x',))": "shardax._devices.mesh.Mesh",
    "jnp.sum(jnp.ones(3), axis=0) + 1": "shardax._core.Array",
    "jnp.sin(2.0).shape": "tuple[int, ...]",
    "jnp.add(1, 2)": "shardax._core.Array",
    "jnp.float32(0)": "shardax._core.Array",
    "jnp.where(x > 0, x, 1.0)": "shardax._core.Array",
    "jnp.where(x > 0)": "tuple[shardax._core.Array, ...]",
    "jnp.linspace(0, 1, retstep=True)": "tuple[shardax._core.Array, shardax._core.Array]",
    "jnp.linalg.norm(jnp.ones(3))": "shardax._core.Array",
    "jnp.linalg.svd(x).S": "shardax._core.Array",
    "jnp.linalg.svd(x, compute_uv=False)": "shardax._core.Array",
    "jnp.linalg.eigh(x)": "EighResult",
    "jnp.unique(x)": "shardax._core.Array",
    "x.at[0].set(1)": "shardax._core.Array",
    "lax.add(1.0, 2.0)": "shardax._core.Array",
    "lax.psum({'w': x}, 'i')": "dict[str, shardax._core.Array]",
    "lax.scan(step, x, x)": "tuple[shardax._core.Array, int]",
    "lax.while_loop(lambda v: v > 0, lambda v: v - 1, x)": "shardax._core.Array",
    "random.normal(random.key(0), (2,))": "shardax._core.Array",
    "nn.relu(1.0)": "shardax._core.Array",
    "shardax.Array": "def () -> shardax._core.Array",
}
PROGRAM = """import shardax
import shardax.numpy as jnp
from shardax import lax, nn, random

def f(x: shardax.Array, n: int) -> shardax.Array:
    return jnp.sum(x) * n

def step(c: shardax.Array, x: shardax.Array) -> tuple[shardax.Array, int]:
    return c + x, 1

x = jnp.ones(3)

"""


def package_of(file):
    """The name of the package or module that a stub is of."""
    parts = file.with_suffix("").relative_to(PYTHON).parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.skipif(sys.version_info[:2] != stubs.WRITER, reason="Python 3.11 writes stubs")
def test_stubs_are_up_to_date():
    """Stubs that are not are written: the next run of the test passes."""
    command = [sys.executable, str(PYTHON / "stubs.py")]  # nothing else is imported there
    done = subprocess.run([*command, "--check"], capture_output=True, text=True)
    if done.returncode:
        subprocess.run(command, check=True)
        pytest.fail(f"{done.stdout}{done.stderr}They are written now: commit them.")


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


@pytest.mark.parametrize("package", stubs.types.ARRAY_PACKAGES)
def test_functions_said_to_give_arrays_do(package):
    """If their documentation has an example, it prints an array."""
    module = importlib.import_module(package)
    for name in dir(module):
        value = getattr(module, name)
        if stubs.gives_an_array(package, name, value):
            assert not stubs.prints_no_array(name, value), f"{package}.{name}"


@pytest.mark.parametrize("package", stubs.PACKAGES)
def test_tables_of_types_name_what_is_there(package):
    module = importlib.import_module(package)
    tables = stubs.types.RESULTS, stubs.declarations.DECLARATIONS
    names = {name for table in tables for name in table.get(package, {})}
    names |= set(stubs.declarations.SAME_TREE.get(package, "").split())
    names |= {
        key.removeprefix(f"{package}.")
        for key in stubs.types.PARAMETERS
        if key.rpartition(".")[0] == package
    }
    missing = [name for name in names if not hasattr(module, name)]
    assert not missing, f"{missing} are not in {package}"


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """A function: the lines that mypy prints. It is in the extra `test`, and no test is skipped."""
    cache = tmp_path_factory.mktemp("mypy")

    def run(*arguments):
        command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", cache]
        done = subprocess.run(
            [*map(str, (*command, *arguments))], capture_output=True, text=True, cwd=PYTHON
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return done.stdout.splitlines()

    return run


def test_mypy_knows_types(mypy, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM + "".join(f"reveal_type({line})\n" for line in TYPES))
    said = mypy(file)
    first = PROGRAM.count("\n") + 1
    for number, (line, expected) in enumerate(TYPES.items(), first):
        of_line = [text for text in said if f"program.py:{number}:" in text]
        assert len(of_line) == 1 and expected in of_line[0], f"{line}: {of_line}"


def test_stubs_are_well_typed(mypy):
    said = mypy(*(file for file, _ in stubs.stubs()))
    assert said[-1].startswith("Success"), "\n".join(said)


def test_correct_programs_pass_in_strict_mode(mypy):
    said = mypy("--strict", FOLDER / "correct.py")
    assert said[-1].startswith("Success"), "\n".join(said)


def test_mistakes_are_pointed_out(mypy):
    """In tests/types/wrong.py, just the lines that say so."""
    said = mypy(FOLDER / "wrong.py")
    flagged = {int(match[1]) for match in re.finditer(r"wrong\.py:(\d+): error", "\n".join(said))}
    lines = (FOLDER / "wrong.py").read_text(encoding="utf-8").splitlines()
    assert flagged == {n for n, line in enumerate(lines, 1) if line.endswith("# wrong")}


@pytest.mark.parametrize("folder", ["examples", "examples/processes"])
def test_examples_pass(folder, mypy):
    files = sorted((PYTHON.parent / folder).glob("*.py"))
    said = mypy("--ignore-missing-imports", "--disable-error-code=var-annotated", *files)
    assert said[-1].startswith("Success"), "\n".join(said)


def code_of_the_book(folder):
    """Files of the code of each page, on the same lines, and of each script that runs alone."""
    for page in book.WITH_CODE:
        code = ""
        for line, block, _, note in book.blocks_of(page):
            if note.startswith("run: "):
                file = folder / f"{page.stem}_{line}.py"
                file.write_text("\n" * (line - 1) + block, encoding="utf-8")
                yield file
            elif not note:
                code += "\n" * (line - 1 - code.count("\n")) + block
        file = folder / f"{page.stem}.py"
        file.write_text(code, encoding="utf-8")
        yield file


def test_code_of_the_book_passes(mypy, tmp_path):
    options = "--ignore-missing-imports", "--disable-error-code=var-annotated"
    said = mypy(*options, *code_of_the_book(tmp_path))
    assert said[-1].startswith("Success"), "\n".join(said)


def test_examples_of_docstrings_pass(mypy, tmp_path):
    names = "functools, partial, np, shardax, jax, jnp, lax, nn, random, Mesh, NamedSharding, P"
    text = f"""import functools
from functools import partial

import numpy as np
import shardax
import shardax as jax
import shardax.numpy as jnp
from shardax import lax, nn, random
from shardax.sharding import Mesh, NamedSharding
from shardax.sharding import PartitionSpec as P

{names}
"""
    for number, (name, value) in enumerate(docstrings.FUNCTIONS.items()):
        examples = doctest.DocTestParser().get_examples(stubs.documentation(value))
        source = "".join(example.source for example in examples if not example.exc_msg)
        text += f"\n\ndef f{number}() -> None:  # {name}\n"
        text += textwrap.indent(source or "pass\n", "    ")
    file = tmp_path / "examples.py"
    file.write_text(text, encoding="utf-8")
    said = mypy("--disable-error-code=var-annotated", file)
    assert said[-1].startswith("Success"), "\n".join(said)
