# shardax/_base/lazy_modules.py - packages that are tables of names.
import sys
from importlib import import_module


def at_first_use(package, names, submodules=(), hidden=()):
    """The names of a package that imports a module when one of its names is first used. Returns
    (the home of each name, __getattr__, __dir__); the first op of a process comes quickly.

    Args:
      package: its name; what it has already is left alone.
      names: for each module, in it or by its full name, the names that live there, between
        blanks.
      submodules: modules of the package that are public.
      hidden: modules of which nothing is listed: names of older years.
    """
    namespace = vars(sys.modules[package])
    homes = {
        name: module if module.startswith("shardax.") else f"{package}.{module}"
        for module, listed in names.items()
        for name in listed.split()
    }
    shown = [
        name for module, listed in names.items() if module not in hidden for name in listed.split()
    ]

    def __getattr__(name):
        if name in homes:
            value = namespace[name] = getattr(import_module(homes[name]), name)
            return value
        if name in submodules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    def __dir__():
        return sorted({*namespace, *shown, *submodules})

    return homes, __getattr__, __dir__
