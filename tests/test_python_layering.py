"""The Python sources: dependencies point one way, imports stand at the top of a module, and what
the core calls by name exists."""

import ast
import importlib
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "shardax"

# Modules and folders of the package. One may import those before it; those of one row may import
# each other, but never in a circle.
LAYERS = [
    ["_base", "config", "dtypes", "errors", "tree_util", "typing"],
    ["_stablehlo"],
    ["_devices", "sharding"],
    ["_transform"],
    ["lax"],
    ["_debug"],
    ["_explain"],
    ["numpy"],
    ["flatten_util", "random"],
    ["image", "nn", "ops", "scipy"],
    # Public modules that are made of all of these.
    [
        "_src",
        "ad",
        "ad_checkpoint",
        "api_util",
        "common_utils",
        "core",
        "custom_batching",
        "custom_derivatives",
        "debug",
        "distributed",
        "dlpack",
        "example_libraries",
        "experimental",
        "export",
        "extend",
        "interpreters",
        "jax_utils",
        "lib",
        "memory",
        "monitoring",
        "profiler",
        "ref",
        "stages",
        "test_util",
        "tools",
        "tree",
        "version",
    ],
    ["", "__main__", "_alias", "_launch"],  # the package itself
    ["_as_jax"],  # its other name
]
# Private modules that lie beside the public ones: those that concern the package as a whole.
AT_THE_TOP = {"__init__.py", "__main__.py", "_alias.py", "_launch.py"}
MAX_LINES = 400  # of a module of the package, docstrings of its functions and classes apart
MAX_LINES_ANYWHERE = 450  # of tests and examples too
TABLES_OF_TEXT = {"lax_docs.py", "numpy_docs.py"}  # documentation, an entry a function

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def module_name(path):
    """The dotted name of a file within the package; "" for the package. The folder `_compat` is on
    the paths of the package and of `experimental`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    parts = parts[1:] if parts[0] == "_compat" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def imports(name):
    """(module of the package, node) of each import in a module, in functions too."""
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: line {node.lineno} is a relative import"
            targets = [
                f"{node.module}.{alias.name}"
                if f"{node.module}.{alias.name}".removeprefix("shardax.") in MODULES
                else node.module
                for alias in node.names
            ]
        else:
            continue
        for target in targets:
            head, _, rest = target.partition(".")
            if head == "shardax" and not rest.startswith("_core"):
                yield rest, node


def table(name):
    """The modules that the table `_NAMES` of a package names."""
    for node in ast.parse(MODULES[name].read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NAMES":
            for home, names in ast.literal_eval(node.value).items():
                outside = home.startswith("shardax.")
                here = home.removeprefix("shardax.") if outside else f"{name}.{home}".lstrip(".")
                yield here, names


GRAPH = {name: {target for target, _ in imports(name)} for name in MODULES}
TABLES = ["", "lax", "numpy"]


def level(name):
    return LEVEL[name.partition(".")[0]]


def test_every_module_has_a_layer():
    assert {name.partition(".")[0] for name in MODULES} == set(LEVEL)


def test_private_modules_lie_in_folders():
    assert {path.name for path in PACKAGE.glob("_*.py")} <= AT_THE_TOP


def test_imports_exist():
    missing = [f"{name} imports {t}" for name in GRAPH for t in GRAPH[name] if t not in MODULES]
    assert not missing, missing


def test_imports_point_one_way():
    upward = [
        f"{name}: line {node.lineno} imports {target}, of a later layer"
        for name in MODULES
        for target, node in imports(name)
        if level(target) > level(name)
    ]
    assert not upward, "\n".join(upward)


def test_no_circles():
    """With what packages import when one of their names is first used."""
    graph = {
        name: targets | {home for home, _ in (table(name) if name in TABLES else ())}
        for name, targets in GRAPH.items()
    }
    done = set()

    def visit(name, way):
        assert name not in way, " -> ".join([*way[way.index(name) :], name])
        if name not in done:
            for target in sorted(graph[name] - {name}):
                visit(target, [*way, name])
            done.add(name)

    for name in graph:
        visit(name, [])


def test_imports_in_functions_have_a_reason():
    """A comment on the line says why: the module is heavy and rarely needed, for example."""
    bare = []
    for name, path in MODULES.items():
        lines = path.read_text(encoding="utf-8").splitlines()
        bare += [
            f"{name}: line {node.lineno}: {lines[node.lineno - 1].strip()}"
            for node in {id(node): node for _, node in imports(name)}.values()
            if node.col_offset and "#" not in lines[node.lineno - 1]
        ]
    assert not bare, "\n".join(bare)


@pytest.mark.parametrize("package", TABLES)
def test_tables_name_what_exists(package):
    found = dict(table(package))
    assert found
    for home, names in found.items():
        module = importlib.import_module(f"shardax.{home}")
        lacking = [name for name in names.split() if not hasattr(module, name)]
        assert not lacking, (home, lacking)


def test_what_the_core_calls_exists():
    """Functions that C++ sources name, as in `call_python("_transform.stages", "lower", ...)`."""
    text = "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "cpp").rglob("*.cpp"))
    pattern = r'"((?:_\w+|numpy)\.\w+)",\s*"(\w+)"(?:,\s*(?:nullptr|"[^"]*"),\s*"(\w+)"})?'
    named = re.findall(pattern, text)
    assert len(named) > 20
    for module, name, other in named:
        function = other or name
        assert hasattr(importlib.import_module(f"shardax.{module}"), function), (module, function)
    for module in re.findall(r'Import(?:Module)?\("shardax\.([\w.]+)"\)', text):
        assert module in MODULES, module


def lines_of_code(path):
    """The number of a file's lines that do not belong to docstrings of functions and classes."""
    if path.name in TABLES_OF_TEXT:
        return 0
    text = path.read_text(encoding="utf-8")
    count = len(text.splitlines())
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            count -= node.body[0].end_lineno - node.body[0].lineno + 1
    return count


def test_files_are_short():
    long = [
        f"{name}: {lines} lines"
        for name, path in MODULES.items()
        if (lines := lines_of_code(path)) > MAX_LINES
    ]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("folder", ["python", "tests", "examples"])
def test_no_file_is_long(folder):
    sources = sorted((ROOT / folder).rglob("*.py"))
    assert sources
    long = [
        f"{path.relative_to(ROOT)}: {lines} lines"
        for path in sources
        if (lines := lines_of_code(path)) > MAX_LINES_ANYWHERE
    ]
    assert not long, "\n".join(["Split by topic each of:", *long])
