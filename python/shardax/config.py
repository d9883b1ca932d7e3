"""shardax.config - the flags; also the module that older programs import them from."""

import itertools
import sys
import types

import shardax._core as _core


def _value(text):
    """The value of a flag's text on the command line."""
    words = {"true": True, "1": True, "false": False, "0": False}
    return int(text) if text.isdigit() and len(text) > 1 else words.get(text.lower(), text)


class Config(types.ModuleType):
    """Flags by JAX's names: `config.update("jax_enable_x64", True)`, `config.jax_enable_x64`.

    `jax_num_cpu_devices` (also `jax_cpu_device_count`) may be changed at any time.
    Environment variables of the same names in capitals give the initial values.
    """

    def update(self, name, value):
        """Sets a flag; AttributeError for unknown ones."""
        _core.config_update(name, value)

    def read(self, name):
        """The value of a flag; AttributeError for unknown ones."""
        return _core.config_read(name)

    @property
    def values(self):
        return {name: _core.config_read(name) for name in _core.config_names()}

    @property
    def FLAGS(self):
        """The flags as attributes: config itself."""
        return self

    @property
    def x64_enabled(self):
        return _core.config_read("jax_enable_x64")

    @property
    def omnistaging_enabled(self):
        """True: old scripts ask for it before they rely on it."""
        return True

    def enable_omnistaging(self):
        """Nothing; kept for old scripts."""

    config_with_absl = enable_omnistaging

    def parse_flags_with_absl(self):
        """Sets the flags that the command line gives as `--jax_name=value`; those that programs
        define with absl.flags count as parsed and have their defaults."""
        for argument in itertools.takewhile(lambda a: a != "--", sys.argv):
            if argument.startswith("--jax_"):
                name, given, value = argument[2:].partition("=")
                self.update(name, _value(value) if given else True)
        if "absl.flags" in sys.modules:
            sys.modules["absl.flags"].FLAGS([""], known_only=True)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _core.config_read(name)

    def __setattr__(self, name, value):
        if name.startswith("__"):  # the import system writes these
            super().__setattr__(name, value)
        else:
            _core.config_update(name, value)

    def __dir__(self):
        return [*super().__dir__(), *_core.config_names()]


# `from jax.config import config` and `jax.config.update` mean the same object.
config = sys.modules[__name__]
config.__class__ = Config
