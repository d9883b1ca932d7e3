# shardax/_base/load.py - imports the extension module, wherever its library oneTBB lies.
import importlib
import sys

_LIBRARY = "libtbb.12.dylib" if sys.platform == "darwin" else "libtbb.so.12"


def load_core():
    """Imports shardax._core.

    The module finds oneTBB in the environment that pip installed both into, and a system's. A
    package made by `pip install --target`, a copy, or a folder on PYTHONPATH lies elsewhere: then
    the libraries that installed distributions list are tried.

    Raises:
      ImportError: no oneTBB is found, and the text says how to install it, or the interpreter is a
        subinterpreter.
    """
    try:
        return importlib.import_module("shardax._core")
    except ImportError as e:
        if "subinterpreters" in str(e):
            raise ImportError(
                "shardax: the extension module cannot be imported in a subinterpreter, as its "
                "state belongs to the main interpreter of the process. Import it there, or use a "
                "process (multiprocessing) in place of the subinterpreter."
            ) from e
        if _LIBRARY not in str(e):
            raise
        if not _preload():
            raise ImportError(
                f"shardax: {_LIBRARY} (oneTBB), which runs parallel loops, was not found. Install "
                "it with `pip install tbb` into the environment of this Python, or with the "
                "system's package manager (libtbb12 of Debian and Ubuntu)."
            ) from e
    return importlib.import_module("shardax._core")


def _candidates():
    import importlib.metadata
    import pathlib

    for distribution in importlib.metadata.distributions(name="tbb"):
        for file in distribution.files or []:
            if file.name == _LIBRARY:
                yield pathlib.Path(distribution.locate_file(file))
    for prefix in (sys.prefix, sys.base_prefix):
        yield pathlib.Path(prefix, "lib", _LIBRARY)


def _preload():
    """Loads oneTBB for all modules of the process. Returns whether one was found."""
    import contextlib
    import ctypes

    for path in _candidates():
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
            return True
    return False
