# shardax/_transform/array_classes.py - classes whose instances are operands of ops.
import numpy as np

import shardax._core as _core
from shardax._core import api as _api

# NumPy's classes, and the package's own.
array_types = {
    np.ndarray,
    _core.ArrayImpl,
    *(np.dtype(code).type for code in "?bBhHiIlLefdFD"),
}


class _Registered(dict):
    """The type of an instance, by class. Classes that are added become operands, by their
    `__array__`."""

    def __setitem__(self, cls, type_of):
        super().__setitem__(cls, type_of)
        _core.register_array_class(cls)


pytype_aval_mappings = _Registered()
canonicalize_dtype_handlers = _Registered()
for _class in (*array_types, bool, int, float, complex):
    dict.__setitem__(pytype_aval_mappings, _class, _api.typeof)
    dict.__setitem__(canonicalize_dtype_handlers, _class, _api.asarray)
dict.__setitem__(pytype_aval_mappings, _core.Tracer, _api.typeof)
