# shardax/_base/load.py - the extension module, where its library of threads is not on its path.
import importlib
import sys

_LIBRARY = "libtbb.so.12"


def load_core():
    """Imports shardax._core.

    It looks for oneTBB where pip puts it in an environment. In a folder made by `pip install
    --target`, which leaves libraries out, in a copy, and in a folder on PYTHONPATH it lies
    elsewhere: the copies that installed distributions list are tried before giving up.

    Raises:
      ImportError: where no oneTBB is found, with the remedy.
    """
    try:
        return importlib.import_module("shardax._core")
    except ImportError as e:
        if _LIBRARY not in str(e):
            raise
        if not _preload():
            raise ImportError(
                f"shardax: {_LIBRARY} (oneTBB) was not found. Install it with `pip install tbb` "
                "into the environment of this Python; `pip install --target` leaves it out."
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
    """Loads oneTBB for all modules of the process; whether one was found."""
    import contextlib
    import ctypes

    for path in _candidates():
        with contextlib.suppress(OSError):
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
            return True
    return False
