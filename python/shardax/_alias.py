"""shardax/_alias.py - `import jax` meaning shardax."""

import importlib
import importlib.abc
import importlib.metadata
import importlib.util
import logging
import pathlib
import sys

from shardax._base.version import JAX_VERSION
from shardax._src import aliases

# A folder with a package `jax`, for the processes that this one starts.
_FOLDER = str(pathlib.Path(__file__).parent / "_as_jax")


class _Metadata(importlib.metadata.Distribution):
    """The metadata of an installed package: jax or jaxlib of that version."""

    def __init__(self, name):
        self._text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {JAX_VERSION}\n"

    def read_text(self, filename):
        return self._text if filename == "METADATA" else None

    def locate_file(self, path):
        raise FileNotFoundError(path)


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds jax and jax.x.y as the modules shardax and shardax.x.y themselves, and the modules that
    the table of aliases names."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in ("jax", "jaxlib"):
            return None
        if aliases.is_module(fullname):
            return importlib.util.spec_from_loader(fullname, self, is_package=True)
        if not fullname.startswith("jax"):
            return None
        own = "shardax" + fullname[3:]
        if fullname.startswith("jaxlib") or not self._exists(own):
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def _exists(self, own):
        try:
            return importlib.util.find_spec(own) is not None
        except ModuleNotFoundError:  # of the package that it would lie in
            return False

    def create_module(self, spec):
        if aliases.is_module(spec.name):
            self._own = None
            return aliases.module(spec.name)
        module = importlib.import_module("shardax" + spec.name[3:])
        self._own = (
            module,
            module.__spec__,
            module.__loader__,
            module.__name__,
            module.__package__,
        )
        return module

    def exec_module(self, module):
        if self._own is None:
            return
        if module.__spec__.name == "jax":
            _name_imported()
        # The import system has written the alias's names into the module: put its own back.
        own, spec, loader, name, package = self._own
        own.__spec__, own.__loader__, own.__name__, own.__package__ = spec, loader, name, package

    def find_distributions(self, context=None):
        name = getattr(context, "name", None)
        names = ("jax", "jaxlib") if name is None else (name,)
        return [_Metadata(name) for name in names if name in ("jax", "jaxlib")]


def _name_imported():
    """Modules that come with `import jax` are in sys.modules under that name too."""
    for name in ("numpy", "lax", "sharding", "tree", "tree_util"):
        sys.modules[f"jax.{name}"] = importlib.import_module(f"shardax.{name}")


def install():
    present = sys.modules.get("jax")
    if present is not None:
        if present.__name__ == "shardax":
            return
        raise RuntimeError(
            "shardax.install_as_jax: the real jax is imported already; call it before anything "
            "imports jax."
        )
    sys.meta_path.insert(0, _Alias())
    if _FOLDER not in sys.path:
        sys.path.insert(1, _FOLDER)  # behind the folder of the script, which comes first
    shardax = importlib.import_module("shardax")
    shardax.__version_info__ = tuple(map(int, JAX_VERSION.split(".")))
    shardax.__version__ = JAX_VERSION
    # Settings of a script for the logger "jax" hold for this package's messages.
    logging.getLogger("shardax").parent = logging.getLogger("jax")
