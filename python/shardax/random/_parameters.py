# shardax/random/_parameters.py - shapes, dtypes and parameters of draws, checked.
import operator

import numpy as np

import shardax._core as _core
from shardax import numpy as jnp
from shardax._base.arrays import asarray, check_arraylike, result_type
from shardax._devices.full_like import shape_tuple
from shardax.errors import TypePromotionError


def to_shape(shape):
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    try:
        shape = tuple(operator.index(d) for d in shape)
    except TypeError:
        shape = shape_tuple(shape)  # raises, and names the values that the shape depends on
    if any(d < 0 for d in shape):
        raise ValueError(f"random: shape {shape} has a negative size; sizes must be 0 or more.")
    return shape


def float_dtype(dtype, name):
    dtype = _core.canonical_dtype(float) if dtype is None else _core.requested_dtype(dtype, name)
    if not jnp.issubdtype(dtype, np.floating):
        raise ValueError(f"dtype argument to `{name}` must be a float dtype, got {dtype}")
    return np.dtype(dtype)


def drawn_shape(name, shape, *others):
    """`shape`, to which the parameters' shapes must broadcast; ValueError where they do not."""
    joined = _core.broadcast_shapes(shape, *others)
    if joined != tuple(shape):
        raise ValueError(
            f"{name} parameter shapes must be broadcast-compatible with shape argument, and the "
            "result of broadcasting the shapes must equal the shape argument, but got result "
            f"{joined} for shape argument {shape}."
        )
    return joined


def check_numbers(name, *parameters):
    """ValueError where a parameter is None, TypeError where it is a sequence."""
    if any(parameter is None for parameter in parameters):
        raise ValueError(f"{name}: None is not a valid parameter; it takes numbers or arrays.")
    check_arraylike(name, *parameters)


def check_parameters(name, dtype, *parameters):
    """As check_numbers; TypePromotionError where one does not promote to the dtype of the draw."""
    check_numbers(name, *parameters)
    for parameter in parameters:
        if result_type(parameter, dtype) != dtype:
            raise TypePromotionError(
                f"In arguments to {name}, cannot safely cast argument of type "
                f"{asarray(parameter).dtype} to {dtype}. Convert it with astype, or ask for a "
                "wider dtype."
            )


def parameter_shape(name, shape, *parameters):
    shapes = [np.shape(p) for p in parameters]
    return (
        _core.broadcast_shapes(*shapes)
        if shape is None
        else drawn_shape(name, to_shape(shape), *shapes)
    )
