"""shardax.version - the version of the package; under the alias `jax`, that of the JAX whose names
it follows."""

import re
import sys

_package = sys.modules["shardax"]


def __getattr__(name):
    if name == "__version__":
        return _package.__version__
    if name == "__version_info__":
        return tuple(map(int, re.findall(r"\d+", _package.__version__)))[:3]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
