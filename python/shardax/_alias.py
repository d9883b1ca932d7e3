"""shardax/_alias.py - `import jax` meaning shardax."""

import importlib
import importlib.abc
import importlib.util
import logging
import pathlib
import sys

# The version whose names and behaviour this package follows: programs compare it with others to
# choose between spellings.
_JAX = (0, 10, 2)
# A folder with a package `jax`, for the processes that this one starts.
_FOLDER = str(pathlib.Path(__file__).parent / "_as_jax")


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds jax and jax.x.y as the modules shardax and shardax.x.y themselves."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "jax" and not fullname.startswith("jax."):
            return None
        own = "shardax" + fullname[3:]
        if importlib.util.find_spec(own) is None:
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def create_module(self, spec):
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
        # The import system has written the alias's names into the module: put its own back.
        own, spec, loader, name, package = self._own
        own.__spec__, own.__loader__, own.__name__, own.__package__ = spec, loader, name, package


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
    shardax.__version_info__ = _JAX
    shardax.__version__ = ".".join(map(str, _JAX))
    # What a script asks of the logger "jax" holds for this package's messages.
    logging.getLogger("shardax").parent = logging.getLogger("jax")
