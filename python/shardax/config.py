"""shardax.config - the flags; also the module that older programs import them from."""

import sys
import types

import shardax._core as _core


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
        """True: what old scripts ask before they rely on it."""
        return True

    def enable_omnistaging(self):
        """Nothing; kept for old scripts."""

    parse_flags_with_absl = config_with_absl = enable_omnistaging

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _core.config_read(name)

    def __setattr__(self, name, value):
        if name.startswith("__"):  # what the import system writes
            super().__setattr__(name, value)
        else:
            _core.config_update(name, value)

    def __dir__(self):
        return [*super().__dir__(), *_core.config_names()]


# `from jax.config import config` and `jax.config.update` mean the same object.
config = sys.modules[__name__]
config.__class__ = Config
