"""shardax.experimental.colocated_python.func - functions that run beside the devices."""

import functools

from shardax import tree_util
from shardax._core import api as _api


class ColocatedFunction:
    def __init__(self, fun, in_specs=None, out_specs_fn=None, devices=None):
        functools.update_wrapper(self, fun)
        self._fun = fun
        self._options = {"in_specs": in_specs, "out_specs_fn": out_specs_fn, "devices": devices}

    def specialize(self, **options):
        """The same function, of arguments of those types, and results that `out_specs_fn` tells."""
        unknown = options.keys() - self._options.keys()
        if unknown:
            raise TypeError(f"specialize() got unexpected keyword arguments {sorted(unknown)}")
        given = {name: value for name, value in options.items() if value is not None}
        for name in given:
            if self._options[name] is not None:
                raise ValueError(f"{name} already specified")
        return ColocatedFunction(self._fun, **{**self._options, **given})

    def __call__(self, *args, **kwargs):
        if self._options["in_specs"] is not None:
            _check("argument", self._options["in_specs"], (args, kwargs))
        out = self._fun(*args, **kwargs)
        if self._options["out_specs_fn"] is not None:
            _check("result", self._options["out_specs_fn"](*args, **kwargs), out)
        return out


def _check(what, specs, values):
    wanted, got = tree_util.tree_leaves(specs), tree_util.tree_leaves(values)
    for spec, value in zip(wanted, got, strict=True):
        aval = _api.typeof(value)
        if (tuple(spec.shape), spec.dtype) != (aval.shape, aval.dtype):
            raise ValueError(
                f"colocated_python: {what} is {aval.str_short()}; "
                f"{spec.dtype}{list(spec.shape)} was specified."
            )
