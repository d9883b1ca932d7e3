"""Written by python/stubs.py."""

from typing import Any

from shardax.scipy import cluster as cluster
from shardax.scipy import fft as fft
from shardax.scipy import integrate as integrate
from shardax.scipy import interpolate as interpolate
from shardax.scipy import linalg as linalg
from shardax.scipy import ndimage as ndimage
from shardax.scipy import optimize as optimize
from shardax.scipy import signal as signal
from shardax.scipy import sparse as sparse
from shardax.scipy import spatial as spatial
from shardax.scipy import special as special
from shardax.scipy import stats as stats

def at_first_use(package: Any, names: Any, submodules: Any = ..., hidden: Any = ...) -> Any:
    """The names of a package that imports a module when one of its names is first used. Returns (the home of each name, __getattr__, __dir__); the first op of a process comes quickly."""
