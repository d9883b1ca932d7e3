"""Writes what type checkers and editors read of names that are found at run time only: the `.pyi`
files of packages whose names are imported at first use, and of the extension module.

    python python/stubs.py            writes the stubs into python/shardax
    python python/stubs.py --check    says which of them are not up to date; the exit status says so

A function that gives an array is declared so in the packages of OTHER_RESULTS, with its signature
and the first line of its documentation; other names are imported from where they live, where the
checker reads their source. tests/test_stubs.py checks the stubs.
"""

import importlib
import inspect
import pathlib
import re
import sys
import types

# As a script, asks the package that is installed: the sources beside it may not be built.
if __name__ == "__main__":
    sys.path.pop(0)
ufunc = importlib.import_module("shardax.numpy").ufunc
doc_of = importlib.import_module("shardax._base.function_docs").doc_of

ROOT = pathlib.Path(__file__).resolve().parent / "shardax"
PACKAGES = [
    "shardax",
    "shardax.experimental",
    "shardax.extend",
    "shardax.lax",
    "shardax.nn",
    "shardax.numpy",
    "shardax.numpy.fft",
    "shardax.numpy.linalg",
    "shardax.random",
    "shardax.scipy",
]
HEAD = '"""Written by python/stubs.py."""\n\n'

# Of arrays: what is not a method that gives an array.
ARRAY_TYPES = {
    "shape": "tuple[int, ...]",
    "dtype": "np.dtype[Any]",
    "ndim": "int",
    "size": "int",
    "nbytes": "int",
    "itemsize": "int",
    "weak_type": "bool",
    "committed": "bool",
    "is_fully_addressable": "bool",
    "is_fully_replicated": "bool",
    **dict.fromkeys(("T", "mT", "real", "imag"), "Array"),
}
METHOD_TYPES = {
    "devices": "set[Any]",
    "is_deleted": "bool",
    "is_ready": "bool",
    "item": "Any",
    "nonzero": "tuple[Array, ...]",
    "on_device_size_in_bytes": "int",
    "tobytes": "bytes",
    "tolist": "Any",
    "unsafe_buffer_pointer": "int",
    "copy_to_host_async": "None",
    "delete": "None",
    "__array__": "np.ndarray[Any, Any]",
    "__bool__": "bool",
    "__complex__": "complex",
    "__contains__": "bool",
    "__divmod__": "tuple[Array, Array]",
    "__dlpack__": "Any",
    "__dlpack_device__": "tuple[int, int]",
    "__float__": "float",
    "__format__": "str",
    "__index__": "int",
    "__int__": "int",
    "__iter__": "Iterator[Array]",
    "__len__": "int",
    "__rdivmod__": "tuple[Array, Array]",
}
INHERITED = (
    "__class__ __delattr__ __delitem__ __dir__ __doc__ __getattribute__ __getstate__ __hash__ "
    "__init__ __init_subclass__ __module__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ "
    "__setitem__ __sizeof__ __str__ __subclasshook__ __array_priority__ __array_namespace__"
).split()
COMPARISONS = ("__eq__", "__ne__")  # object's take any operand

CORE = '''from collections.abc import Iterator
from typing import Any

import numpy as np

class Array:
    """An array: elements of one dtype in a shape."""

{methods}
ArrayImpl = Array

class Tracer(Array):
    """Stands for an array while a function is traced."""

api: Any
functions: Any
lax: Any
pytree: Any

def __getattr__(name: str) -> Any: ...
'''

# Functions of these packages give arrays, but for those of the list.
OTHER_RESULTS = {
    "shardax.numpy": (
        "apply_along_axis apply_over_axes array_repr array_split array_str atleast_1d atleast_2d "
        "atleast_3d average broadcast_arrays broadcast_shapes can_cast diag_indices "
        "diag_indices_from divmod dsplit einsum_path frexp frompyfunc get_printoptions gradient "
        "histogram histogram2d histogramdd hsplit indices intersect1d iscomplexobj isdtype "
        "isrealobj isscalar issubdtype iterable ix_ linspace load mask_indices meshgrid modf ndim "
        "nonzero piecewise polydiv polyfit printoptions promote_types result_type save savez "
        "set_printoptions shape size split tril_indices tril_indices_from triu_indices "
        "triu_indices_from unique unique_all unique_counts unique_inverse unravel_index unstack "
        "vectorize vsplit where"
    ),
    "shardax.lax": (
        "all_gather all_gather_invariant all_to_all approx_max_k approx_min_k associative_scan "
        "axis_size broadcast_shapes cond conv_dimension_numbers conv_general_permutations "
        "conv_general_shape_tuple conv_shape_tuple conv_transpose_shape_tuple custom_linear_solve "
        "custom_root composite dce_sink dtype fori_loop map optimization_barrier "
        "padtype_to_pads pbroadcast pcast platform_dependent pmax pmean pmin ppermute pshuffle "
        "psum psum_scatter pswapaxes pvary reduce reduce_window reduce_window_shape_tuple "
        "rng_bit_generator scan shape_as_value sort sort_key_val split stop_gradient switch "
        "tie_in top_k unstack while_loop with_sharding_constraint"
    ),
    "shardax.nn": "logsumexp",
    "shardax.numpy.fft": "",
    "shardax.numpy.linalg": "eig eigh lstsq qr slogdet svd",
    "shardax.random": "key_dtype key_impl",
}

# Parameters of elementwise functions that are no operands.
OPTIONS = ("accuracy", "out_dtype")

# jit and pmap keep the signature of what they are given.
TRANSFORMED = '''
_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)

class JitWrapped(Protocol[_P, _R]):
    """A function that jit or pmap made."""

    @property
    def __wrapped__(self) -> Callable[_P, _R]: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    def lower(self, *args: _P.args, **kwargs: _P.kwargs) -> stages.Lowered: ...
    def trace(self, *args: _P.args, **kwargs: _P.kwargs) -> stages.Traced: ...
    def eval_shape(self, *args: _P.args, **kwargs: _P.kwargs) -> Any: ...
    def clear_cache(self) -> None: ...
'''


def documentation(value):
    """The docstring; of elementwise functions as the sources have it, built or not."""
    if type(value).__name__ != "Function":
        return inspect.getdoc(value) or ""
    names = [name for name in inspect.signature(value).parameters if name not in OPTIONS]
    package = value.__module__.rpartition(".")[2]
    return doc_of(package, value.__name__, ", ".join(names), value.__doc__)


def first_line(value):
    """The first paragraph of the documentation, if it is a line."""
    text = documentation(value).strip().split("\n\n")[0].replace("\n", " ")
    return text.replace("\\", "\\\\").replace('"""', "'''")


def signature(value, annotations=False):
    """The parameters of a function, as in a definition; without types the checker takes any."""
    given = inspect.signature(value)
    if not annotations:
        parameters = [p.replace(annotation=p.empty) for p in given.parameters.values()]
        given = given.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    parts = []
    for part in given.parameters.values():
        if part.default is not part.empty and not _is_literal(part.default):
            part = part.replace(default=Ellipsis)
        parts.append(part)
    given = given.replace(parameters=parts)
    return str(given).replace("=Ellipsis", "=...")


def _is_literal(value):
    return value is None or isinstance(value, (bool, int, float, str)) and value == value


def prints_no_array(name, value):
    """Whether the first call of `name` in the examples of its documentation prints another value
    than an array."""
    call = rf"^ *>>> (?:\w+\.)*{name}\(.*\)\n( *\S.*)"
    found = re.search(call, documentation(value), re.M)
    return bool(found) and not re.match(r" *(Array\(|>>>|\.\.\.)", found[1])


def gives_an_array(package, name, value):
    if package not in OTHER_RESULTS or name in OTHER_RESULTS[package].split():
        return False
    if isinstance(value, type) or not callable(value):
        return False
    return not isinstance(value, ufunc)


def declaration(package, name, value):
    """The lines of a name that is not imported from its source; None for others."""
    if isinstance(value, types.ModuleType):
        parent, _, last = value.__name__.rpartition(".")
        return f"from {parent} import {last} as {name}"
    if isinstance(value, ufunc):
        return f"{name}: ufunc"
    if not gives_an_array(package, name, value):
        return None
    try:
        return f'def {name}{signature(value)} -> Array:\n    """{first_line(value)}"""'
    except (TypeError, ValueError):  # it is no function
        return None


# What modules without a table of names import for themselves.
HELPERS = (
    "Any asarray bind broadcast_shapes canonical_axis canonical_axes check_arraylike concatenate "
    "functions jit jnp known lax moveaxis promote_inexact result_type static_jit where"
).split()


def is_public(module, name, value):
    if name in HELPERS and not hasattr(module, "_NAMES"):
        return False
    if name in ("install_tracebacks", "load_core"):
        return False
    if name.startswith("_"):
        return name in ("__version__", "__array_api_version__")
    if isinstance(value, types.ModuleType):
        return value.__name__ == f"{module.__name__}.{name}"
    listed = getattr(module, "__all__", None) or getattr(module, "_NAMES", None)
    own = str(getattr(value, "__module__", "shardax")).startswith("shardax")
    return bool(listed) or own


def homes_of(module):
    """Where each name of a package is imported from: its table, and the imports of its source."""
    homes = dict(getattr(module, "_homes", {}))
    table = getattr(module, "_NAMES", {})
    for home, names in table.items():
        full = home if home.startswith("shardax.") else f"{module.__name__}.{home}"
        homes |= dict.fromkeys(names.split(), full)
    return homes


def imported(module):
    """name -> (module, name there) of what the package's source imports at its top."""
    import ast

    found = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ImportFrom):
            for item in node.names:
                found[item.asname or item.name] = node.module, item.name
    return found


def stub_of(package):
    """The text of a package's stub."""
    module = importlib.import_module(package)
    homes, imports = homes_of(module), imported(module)
    lines, definitions = [], []
    for name in sorted(set(dir(module)) | set(getattr(module, "__all__", ()))):
        value = getattr(module, name)
        if not is_public(module, name, value):
            continue
        text = declaration(package, name, value)
        if package == "shardax" and name in ("jit", "pmap"):
            definitions.append(keeping(name, value))
        elif text and not text.startswith("from "):
            definitions.append(text)
        elif text:
            lines.append(text)
        elif name in homes:
            lines.append(f"from {homes[name]} import {name} as {name}")
        elif name in imports:
            home, original = imports[name]
            lines.append(f"from {home} import {original} as {name}")
        elif name == "partial":
            lines.append("from functools import partial as partial")
        elif isinstance(value, types.FunctionType):
            definitions.append(f'def {name}{signature(value)}:\n    """{first_line(value)}"""')
        else:
            definitions.append(f"{name}: {type(value).__name__}")
    text = HEAD
    lines = [line for line in lines if not line.startswith("from  import")]
    body = "\n".join(definitions)
    if package == "shardax":
        text += "from collections.abc import Callable, Iterable, Sequence\n"
        text += "from typing import Any, ParamSpec, Protocol, TypeVar, overload\n\n"
    elif "Any" in body:
        text += "from typing import Any\n\n"
    if "-> Array" in body and not any(line.endswith(" as Array") for line in lines):
        lines.append("from shardax._core import Array")
    if package == "shardax":
        definitions.insert(0, TRANSFORMED)
    text += "\n".join(sorted(lines)) + "\n"
    if definitions:
        text += "\n" + "\n".join(definitions) + "\n"
    return text


def keeping(name, value):
    """jit and pmap, with and without the function."""
    parameters = list(inspect.signature(value).parameters.values())
    rest = ", ".join(
        str(p.replace(annotation=inspect.Parameter.empty)) for p in parameters[1:]
    ).replace("=None", ": Any = None")
    rest = re.sub(r"(\w+)=(\S+?)(, |$)", r"\1: Any = \2\3", rest)
    positional = "" if name == "pmap" else "*, "
    if name == "pmap":
        first, others = rest.split(", ", 1)
        rest = f"{first}, *, {others}"
    doc = f'    """{first_line(value)}"""'
    return (
        f"@overload\ndef {name}(fun: None = None, {positional}{rest}) -> "
        f"Callable[[Callable[_P, _R]], JitWrapped[_P, _R]]: ...\n"
        f"@overload\ndef {name}(fun: Callable[_P, _R], {positional}{rest}) -> "
        f"JitWrapped[_P, _R]:\n{doc}"
    )


def core_stub():
    """The text of the extension module's stub."""
    array = importlib.import_module("shardax._core").Array
    methods = []
    for name in sorted(dir(array)):
        if name in INHERITED or (name.startswith("_") and not name.startswith("__")):
            continue
        value = getattr(array, name)
        if not callable(value):
            methods.append(
                f"    @property\n    def {name}(self) -> {ARRAY_TYPES.get(name, 'Any')}: ..."
            )
            continue
        try:
            parameters = signature(value).replace("self, /", "self", 1)
        except (TypeError, ValueError):
            parameters = "(self, *args: Any, **kwargs: Any)"
        if name in COMPARISONS:
            parameters = "(self, other: Any, /)"
        ignore = "  # type: ignore[override]" if name in COMPARISONS else ""
        result = METHOD_TYPES.get(name, "Array")
        methods.append(f"    def {name}{parameters} -> {result}: ...{ignore}")
    return HEAD + CORE.replace("{methods}", "\n".join(methods))


def stubs():
    """Pairs of a file and its text."""
    yield ROOT / "_core.pyi", core_stub()
    for package in PACKAGES:
        path = ROOT.joinpath(*package.split(".")[1:])
        is_package = hasattr(importlib.import_module(package), "__path__")
        yield path / "__init__.pyi" if is_package else path.with_suffix(".pyi"), stub_of(package)


def main():
    stale = [f for f, text in stubs() if not f.exists() or f.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        for file in stale:
            print(f"{file.relative_to(ROOT.parent)} is not up to date: run python python/stubs.py")
        sys.exit(bool(stale))
    for file, text in stubs():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
