"""python/stubs.py - the writer of the `.pyi` files of public modules and of the extension module.

    python python/stubs.py            writes the stubs into python/shardax
    python python/stubs.py --check    says which of them are not up to date; the exit status says so

Functions are declared with types, by the tables of stub_types.py and stub_declarations.py. Classes
are imported from where they live, where the checker reads their source. tests/test_stubs.py writes
stubs that are not up to date, and fails then. Python 3.11 writes them: others tell other signatures
of classes that are built in.
"""

import ast
import enum
import importlib
import importlib.util
import inspect
import pathlib
import re
import sys
import types as python_types

# As a script, asks the package that is installed: the sources beside it may not be built.
if __name__ == "__main__":
    sys.path.pop(0)
ufunc = importlib.import_module("shardax.numpy").ufunc
doc_of = importlib.import_module("shardax._base.function_docs").doc_of
scalar_types = importlib.import_module("shardax.numpy._dtypes")._ScalarMeta

WRITER = (3, 11)
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE / "shardax"


def _beside(name):
    """The module of that name in this folder, which is on no path."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


types, declarations = _beside("stub_types"), _beside("stub_declarations")

PACKAGES = """
    shardax shardax.ad_checkpoint shardax.custom_batching shardax.custom_derivatives
    shardax.debug shardax.distributed shardax.dlpack shardax.dtypes shardax.experimental
    shardax.experimental.checkify shardax.experimental.checkpoints
    shardax.experimental.jet shardax.experimental.mesh_utils
    shardax.experimental.multihost_utils shardax.experimental.ode
    shardax.experimental.pjit shardax.experimental.shard_map shardax.export shardax.extend
    shardax.flatten_util shardax.image shardax.jax_utils shardax.lax shardax.lax.linalg
    shardax.memory shardax.nn shardax.nn.initializers shardax.numpy shardax.numpy.fft
    shardax.numpy.linalg shardax.ops shardax.profiler shardax.random shardax.ref shardax.scipy
    shardax.scipy.cluster shardax.scipy.cluster.vq shardax.scipy.fft shardax.scipy.interpolate
    shardax.scipy.linalg shardax.scipy.ndimage shardax.scipy.optimize shardax.scipy.signal
    shardax.scipy.sparse shardax.scipy.sparse.linalg shardax.scipy.spatial
    shardax.scipy.spatial.transform shardax.scipy.special shardax.scipy.stats
    shardax.scipy.stats.bernoulli shardax.scipy.stats.beta shardax.scipy.stats.betabinom
    shardax.scipy.stats.binom shardax.scipy.stats.cauchy shardax.scipy.stats.chi2
    shardax.scipy.stats.dirichlet shardax.scipy.stats.expon shardax.scipy.stats.gamma
    shardax.scipy.stats.gennorm shardax.scipy.stats.geom shardax.scipy.stats.gumbel_l
    shardax.scipy.stats.gumbel_r shardax.scipy.stats.laplace shardax.scipy.stats.logistic
    shardax.scipy.stats.multinomial shardax.scipy.stats.multivariate_normal
    shardax.scipy.stats.nbinom shardax.scipy.stats.norm shardax.scipy.stats.pareto
    shardax.scipy.stats.poisson shardax.scipy.stats.t shardax.scipy.stats.truncnorm
    shardax.scipy.stats.uniform shardax.scipy.stats.vonmises shardax.scipy.stats.wrapcauchy
    shardax.sharding shardax.tree shardax.tree_util
""".split()
HEAD = '"""Written by python/stubs.py."""\n\n'

def documentation(value):
    """The docstring; of elementwise functions as the sources have it, built or not."""
    if type(value).__name__ != "Function":
        return inspect.getdoc(value) or ""
    names = [name for name in inspect.signature(value).parameters if name not in types.OPTIONS]
    package = value.__module__.rpartition(".")[2]
    return doc_of(package, value.__name__, ", ".join(names), value.__doc__)


def first_line(value):
    """The first paragraph of the documentation, if it is a line."""
    text = documentation(value).strip().split("\n\n")[0].replace("\n", " ")
    return text.replace("\\", "\\\\").replace('"""', "'''")


def of_arrays(package):
    """Do the functions of a package take and give arrays?"""
    return package in types.ARRAY_PACKAGES or package.startswith("shardax.scipy.stats.")


def annotation(package, function, parameter):
    """The type of a parameter, as text."""
    name, default = parameter.name, parameter.default
    if parameter.annotation is not parameter.empty:
        return _text(parameter.annotation)
    given = types.PARAMETERS.get(f"{package}.{function}", {}).get(name)
    if given:
        return given
    by_name = {**types.NAMES, **types.NAMES_IN_PACKAGES.get(package, {})}.get(name)
    if not (package == "shardax" or of_arrays(package)):
        by_name = None
    if by_name is None and name == "axis":
        by_name = "int"
    if by_name is None and isinstance(default, bool):
        by_name = "bool"
    if by_name is None and isinstance(default, (int, float, str)):
        by_name = "ArrayLike" if isinstance(default, float) else type(default).__name__
    if by_name is None or (by_name == "ArrayLike" and package == "shardax"):
        return "Any"
    if isinstance(default, (bool, str)) and by_name in ("ArrayLike", "None"):
        by_name = type(default).__name__
    optional = default is None and "None" not in by_name and by_name != "Any"
    return f"{by_name} | None" if optional else by_name


def _text(given):
    """An annotation of the source as text that stubs understand."""
    text = given if isinstance(given, str) else inspect.formatannotation(given)
    text = text.replace("collections.abc.", "").replace("typing.", "")
    text = re.sub(r"\bCallable\b(?!\[)", "Callable[..., Any]", text)
    text = re.sub(r"\bSequence\b(?!\[)", "Sequence[Any]", text)
    text = re.sub(r"\bdict\b(?!\[)", "dict[str, Any]", text)
    return "Any" if re.search(r"shardax\.|TypeVar|~", text) else text


def signature(package, name, value, types_of=annotation):
    """The parameters of a function with their types, as in a definition."""
    given = inspect.signature(value)
    parts = []
    for part in given.parameters.values():
        variadic = part.kind in (part.VAR_POSITIONAL, part.VAR_KEYWORD)
        kind = "Any" if variadic and package != "shardax.numpy" else types_of(package, name, part)
        kind = "None" if kind == "None | None" else kind
        default = part.default
        if default is not part.empty and not _is_literal(default):
            default = Ellipsis
        parts.append(part.replace(annotation=_Plain(kind), default=default))
    given = given.replace(parameters=parts, return_annotation=inspect.Signature.empty)
    return str(given).replace("= Ellipsis", "= ...").replace("=Ellipsis", "=...")


class _Plain:
    """Prints as the text alone: an annotation within a signature."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def _is_literal(value):
    return value is None or type(value) in (bool, int, str) or repr(value)[-1:].isdigit()


def prints_no_array(name, value):
    """Does the first call of `name` in the examples of its documentation print another value than
    an array?"""
    call = rf"^ *>>> (?:\w+\.)*{name}\(.*\)\n( *\S.*)"
    found = re.search(call, documentation(value), re.M)
    return bool(found) and not re.match(r" *(Array\(|>>>|\.\.\.)", found[1])


def result(package, name):
    """The type of a function's result."""
    if name in types.RESULTS.get(package, {}):
        return types.RESULTS[package][name]
    return "Array" if of_arrays(package) else "Any"


def gives_an_array(package, name, value):
    if not of_arrays(package) or name in declarations.DECLARATIONS.get(package, {}):
        return False
    same = declarations.SAME_TREE.get(package, "").split()
    if isinstance(value, (type, ufunc)) or not callable(value) or name in same:
        return False
    return result(package, name) == "Array"


def _first_is(variable):
    """As `annotation`, but of the first parameter the variable."""
    calls = []

    def types_of(package, function, parameter):
        calls.append(parameter)
        return variable if len(calls) == 1 else annotation(package, function, parameter)

    return types_of


def declaration(package, name, value):
    """The lines of a function that is declared with types; None for other values."""
    doc = f'    """{first_line(value)}"""'
    if package == "shardax" and name in ("jit", "pmap"):
        return keeping(name, value)
    own = declarations.DECLARATIONS.get(package, {}).get(name)
    if own:
        return f"{own}\n{doc}"
    if isinstance(value, ufunc):
        return f"{name}: ufunc"
    if isinstance(value, scalar_types):
        return f"{name}: _ScalarType"
    if isinstance(value, type) or not callable(value):
        return None
    kind, types_of = result(package, name), annotation
    for table, variable in ((declarations.SAME_TREE, "_T"), (declarations.SAME_FUNCTION, "_F")):
        if name in table.get(package, "").split():
            kind, types_of = variable, _first_is(variable)
    try:
        parameters = signature(package, name, value, types_of)
    except (TypeError, ValueError):  # it is no function
        return None
    return f"def {name}{parameters} -> {kind}:\n{doc}"


def table_of(module):
    """The table of a package whose names are imported at first use: module -> names."""
    table = getattr(module, "_NAMES", {})
    return table if all(isinstance(names, str) for names in table.values()) else {}


def is_public(module, name, value):
    elsewhere = getattr(value, "__module__", "") != module.__name__
    if elsewhere and module.__name__.startswith("shardax.scipy.stats."):
        return False
    if elsewhere and module.__name__ in types.LISTED and name not in module.__all__:
        return False
    if name in types.HELPERS and not table_of(module) and elsewhere:
        return False
    if name in ("install_tracebacks", "load_core"):
        return False
    if name.startswith("_"):
        return name in ("__version__", "__array_api_version__")
    if isinstance(value, python_types.ModuleType):
        return value.__name__ == f"{module.__name__}.{name}"
    listed = getattr(module, "__all__", table_of(module) and dir(module)) or ()
    return name in listed or str(getattr(value, "__module__", "shardax")).startswith("shardax")


def homes_of(module):
    """The module from which each name of a package is imported, by its table and the imports of its
    source."""
    homes = dict(getattr(module, "_homes", {}))
    for home, names in table_of(module).items():
        full = home if home.startswith("shardax.") else f"{module.__name__}.{home}"
        homes |= dict.fromkeys(names.split(), full)
    return homes


def imported(module):
    """name -> (module, name there) of the imports at the top of the package's source."""
    found = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom):
            for item in node.names:
                found[item.asname or item.name] = node.module, item.name
    return found


def class_stub(package, name, value):
    """The declaration of a class that the module of a stub defines."""
    if issubclass(value, enum.Enum):
        members = [f"    {member} = ..." for member in value.__members__]
        return "\n".join([f"class {name}(enum.Enum):", *members])
    bases = [base.__name__ for base in value.__bases__ if base.__module__ == "builtins"]
    base = f"({bases[0]})" if bases and bases[0] not in ("object", "tuple") else ""
    lines = [f"class {name}{base}:", f'    """{first_line(value)}"""', ""]
    if not base and not inspect.isfunction(getattr(value, "__init__", None)):
        lines.append("    def __init__(self, *args: Any, **kwargs: Any) -> None: ...")
    kinds = [kind for kind in value.__mro__[:-1] if not (base and kind.__module__ == "builtins")]
    for member in sorted({m for kind in kinds for m in vars(kind)}):
        part = inspect.getattr_static(value, member)
        if member == "__init__" or not member.startswith("_") or member in types.SPECIAL_METHODS:
            lines += ["    " + line for line in _member(package, name, member, part)]
    return "\n".join(lines)


def _member(package, owner, name, part):
    """The lines of a member of a class."""
    kind = type(part).__name__
    function = getattr(part, "__func__", part)
    if not inspect.isfunction(function):
        as_property = ["@property", f"def {name}(self) -> Any: ..."]
        return as_property if kind == "property" else [f"{name}: Any"]
    first = "" if kind == "staticmethod" else "cls" if kind == "classmethod" else "self"
    text = signature(package, f"{owner}.{name}", function)
    text = re.sub(r"^\(\w+: [^,)]*", f"({first}", text) if first else text
    result = "None" if name == "__init__" else f"{owner}" if kind == "classmethod" else "Any"
    decorators = [f"@{kind}"] if kind in ("classmethod", "staticmethod") else []
    return [*decorators, f"def {name}{text} -> {result}: ..."]


def defined(module):
    """The names of the classes that the source of a module defines."""
    body = ast.parse(inspect.getsource(module)).body
    return {node.name for node in body if isinstance(node, ast.ClassDef)}


def other(name, value, homes, imports):
    """The line of a name that is no function: an import, or its type."""
    if isinstance(value, python_types.ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        hidden = "_compat" in str(value.__file__)  # checkers do not look there
        return f"{name}: Any" if hidden else f"from {parent} import {last} as {name}"
    if name in homes:
        return f"from {homes[name]} import {name} as {name}"
    if name in imports:
        home, original = imports[name]
        if home.startswith("shardax._core."):
            return class_stub("", name, value) if isinstance(value, type) else f"{name}: Any"
        return f"from {home} import {original} as {name}"
    if name == "partial":
        return "from functools import partial as partial"
    plain = isinstance(value, (bool, int, float, str, tuple, dict))
    kept = {dict: "dict[Any, Any]", tuple: "tuple[Any, ...]"}
    return f"{name}: {kept.get(type(value), type(value).__name__) if plain else 'Any'}"


def stub_of(package):
    """The text of a package's stub."""
    module = importlib.import_module(package)
    homes, imports, classes = homes_of(module), imported(module), defined(module)
    own = declarations.CLASSES.get(package, "")
    lines, definitions = [], []
    for name in sorted(set(dir(module)) | set(getattr(module, "__all__", ()))):
        value = getattr(module, name)
        if is_public(module, name, value) and not re.search(rf"\bclass {name}\b", own):
            text = declaration(package, name, value)
            if text is None and name in classes:
                text = class_stub(package, name, value)
            text = text or other(name, value, homes, imports)
            (lines if text.startswith("from ") else definitions).append(text)
    body = _without_clashes("\n".join([own, *definitions]).strip(), dir(module))
    lines = [line for line in lines if not line.startswith("from  import")]
    code = re.sub(r'""".*?"""', "", body, flags=re.DOTALL)
    for name, home in declarations.HOMES.items():
        there = any(line.endswith(f" as {name}") for line in lines)
        if re.search(rf"\b{name}\b", code) and not there and package != home:
            lines.append(f"from {home} import {name}")
    variables = declarations.TYPE_VARIABLES.splitlines()
    variables = [line for line in variables if line.split()[0] in body]
    text = HEAD + imports_of_types("\n".join([body, *variables]))
    text += "\n".join(sorted(lines)) + "\n"
    return text + "".join(f"\n{part}\n" for part in ("\n".join(variables), body) if part)


def _without_clashes(body, names):
    """Names of Python's own types that the package gives other meanings stand for Python's."""
    for kind in ("bool", "float", "int", "str", "tuple", "list", "dict", "set", "complex", "slice"):
        if kind in names:
            body = re.sub(rf"(?<=[:\[|>] ){kind}\b(?!\()|(?<=\[){kind}\b", f"builtins.{kind}", body)
    return body


def imports_of_types(body):
    """The import lines of the names of other modules that the body's types use."""
    modules = "builtins", "enum", "os"
    text = "".join(f"import {name}\n" for name in modules if re.search(rf"\b{name}\.\w", body))
    sources = {
        "collections.abc": "Callable Iterable Iterator Mapping Sequence",
        "contextlib": "AbstractContextManager",
        "typing": "Any Literal NamedTuple ParamSpec Protocol TypeVar overload",
    }
    for source, names in sources.items():
        used = [name for name in names.split() if re.search(rf"\b{name}\b", body)]
        if used:
            text += f"from {source} import {', '.join(used)}\n"
    if "np." in body:
        text += "\nimport numpy as np\n"
    return text + "\n"


def keeping(name, value):
    """jit and pmap, with and without the function: that with it first, which functools.partial of
    type checkers takes."""
    parameters = list(inspect.signature(value).parameters.values())[1:]
    rest = ", ".join(str(p.replace(annotation=p.empty)) for p in parameters)
    rest = re.sub(r"(\w+)=(\S+?)(, |$)", r"\1: Any = \2\3", rest)
    first, others = rest.split(", ", 1) if name == "pmap" else ("", rest)
    first = f"{first}, *, {others}" if first else f"*, {others}"
    return (
        f"@overload\ndef {name}(fun: Callable[_P, _R], {first}) -> JitWrapped[_P, _R]: ...\n"
        f"@overload\ndef {name}(*, {rest}) -> "
        f'Callable[[Callable[_P, _R]], JitWrapped[_P, _R]]:\n    """{first_line(value)}"""'
    )


def core_stub():
    """The text of the extension module's stub."""
    array = importlib.import_module("shardax._core").Array
    methods = []
    for name in sorted(dir(array)):
        if name in types.INHERITED or (name.startswith("_") and not name.startswith("__")):
            continue
        value = getattr(array, name)
        if not callable(value):
            kind = types.ARRAY_TYPES.get(name, "Any")
            methods.append(f"    @property\n    def {name}(self) -> {kind}: ...")
            continue
        try:
            parameters = signature("shardax.numpy", name, value, method_annotation)
            parameters = re.sub(r"self: Any(, /)?", "self", parameters, count=1)
        except (TypeError, ValueError):
            parameters = "(self, *args: Any, **kwargs: Any)"
        if name in types.COMPARISONS:
            parameters = "(self, other: Any, /)"
        ignore = "  # type: ignore[override]" if name in types.COMPARISONS else ""
        kind = types.METHOD_TYPES.get(name, "Array")
        methods.append(f"    def {name}{parameters} -> {kind}: ...{ignore}")
    return HEAD + declarations.CORE.replace("{methods}", "\n".join(methods))


def method_annotation(package, function, parameter):
    """As `annotation`, for a method of arrays; operators take array-like values."""
    if function.startswith("__") or parameter.name in ("self", "args", "shape"):
        return "Any"
    return annotation(package, function, parameter)


def stubs():
    """Pairs of a file and its text."""
    yield ROOT / "_core.pyi", core_stub()
    yield ROOT / "config.pyi", HEAD + declarations.CONFIG
    for package in PACKAGES:
        path = ROOT.joinpath(*package.split(".")[1:])
        is_package = hasattr(importlib.import_module(package), "__path__")
        yield path / "__init__.pyi" if is_package else path.with_suffix(".pyi"), stub_of(package)


def stale_stubs():
    """The files that are missing or differ from `stubs`, and their texts."""
    return [
        (file, text)
        for file, text in stubs()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    ]


def write(files):
    for file, text in files:
        file.write_text(text, encoding="utf-8")


def main():
    if sys.version_info[:2] != WRITER:
        running = ".".join(str(n) for n in sys.version_info[:2])
        sys.exit(f"python/stubs.py: this is Python {running}; 3.11 writes stubs.")
    stale = stale_stubs()
    if "--check" in sys.argv:
        for file, _ in stale:
            print(f"{file.relative_to(ROOT.parent)} is not up to date: run python python/stubs.py")
        sys.exit(bool(stale))
    write(stale)


if __name__ == "__main__":
    main()
