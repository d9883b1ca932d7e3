"""shardax/_base/lapack.py - the path of LAPACK's library, which the core loads at first use."""

import importlib.util
import pathlib

__all__ = ["library"]


def library():
    """The path of OpenBLAS in the package scipy-openblas32, which is not imported for it.

    Raises:
      ImportError: it is not there.
    """
    spec = importlib.util.find_spec("scipy_openblas32")
    folders = spec.submodule_search_locations or () if spec else ()
    for folder in folders:
        for path in sorted(pathlib.Path(folder, "lib").glob("libscipy_openblas*")):
            if path.suffix in (".so", ".dylib"):
                return str(path)
    raise ImportError(
        "shardax: decompositions of matrices need OpenBLAS, which the package scipy-openblas32 "
        "holds; it was not found. Install it with pip install scipy-openblas32."
    )
