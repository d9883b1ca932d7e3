"""shardax.scipy.ndimage - images at places between their pixels."""

import functools
import itertools
import operator

from shardax import numpy as jnp
from shardax._base.arrays import asarray, check_arraylike

__all__ = ["map_coordinates"]


def _mirrored(index, size):
    """Indices beyond the edges, reflected at the middle of the edge pixels."""
    period = max(2 * (size - 1), 1)
    place = jnp.abs(index) % period
    return jnp.minimum(place, period - place) if size > 1 else jnp.zeros_like(index)


def _reflected(index, size):
    """The same, reflected at the outer side of the edge pixels."""
    place = index % (2 * size)
    return jnp.minimum(place, 2 * size - 1 - place)


# The pixel for an index beyond the edges; None: nowhere.
_PLACES = {
    "constant": None,
    "nearest": lambda index, size: jnp.clip(index, 0, size - 1),
    "wrap": lambda index, size: index % size,
    "mirror": _mirrored,
    "reflect": _reflected,
}


def _nearest(coordinate):
    if not jnp.issubdtype(coordinate.dtype, jnp.integer):
        away = jnp.where(coordinate < 0, jnp.ceil(coordinate - 0.5), jnp.floor(coordinate + 0.5))
        coordinate = away.astype(jnp.int32)
    return [(coordinate, 1)]


def _linear(coordinate):
    below = jnp.floor(coordinate)
    share = coordinate - below
    index = below.astype(jnp.int32)
    return [(index, 1 - share), (index + 1, share)]


def map_coordinates(input, coordinates, order, mode="constant", cval=0.0):
    """The values of an array at coordinates between its elements.

    Args:
      input: an array of d dimensions.
      coordinates: d arrays of one shape, that of the result.
      order: 0, the nearest element, or 1, linear interpolation.
      mode: beyond the edges: "constant" (`cval`), "nearest", "wrap", "mirror" or "reflect".
      cval: the value beyond the edges.

    Raises:
      ValueError: where there are not d coordinates.
      NotImplementedError: for other orders and modes.

    >>> shardax.scipy.ndimage.map_coordinates(jnp.array([1.0, 3.0]), [jnp.array([0.5, 1.0])], 1)
    Array([2., 3.], dtype=float32)
    """
    check_arraylike("map_coordinates", input)
    image = asarray(input)
    if len(coordinates) != image.ndim:
        raise ValueError(
            "coordinates must be a sequence of length input.ndim, but "
            f"{len(coordinates)} != {image.ndim}"
        )
    coordinates = [asarray(c) for c in coordinates]
    if mode not in _PLACES:
        raise NotImplementedError(
            f"jax.scipy.ndimage.map_coordinates does not yet support mode {mode}. Currently "
            f"supported modes are {set(_PLACES)}."
        )
    if order not in (0, 1):
        raise NotImplementedError("jax.scipy.ndimage.map_coordinates currently requires order<=1")
    neighbours, place = (_nearest, _linear)[order], _PLACES[mode]
    outside = asarray(cval).astype(image.dtype)
    choices = []
    for coordinate, size in zip(coordinates, image.shape):
        each = []
        for index, weight in neighbours(coordinate):
            inside = (index >= 0) & (index < size) if place is None else None
            fixed = jnp.clip(index, 0, size - 1) if place is None else place(index, size)
            each.append((fixed, inside, weight))
        choices.append(each)
    parts = []
    for items in itertools.product(*choices):
        indices, insides, weights = zip(*items)
        value = image[indices]
        if place is None:
            value = jnp.where(functools.reduce(operator.and_, insides), value, outside)
        parts.append(value * functools.reduce(operator.mul, weights))
    out = functools.reduce(operator.add, parts)
    if jnp.issubdtype(image.dtype, jnp.integer) and not jnp.issubdtype(out.dtype, jnp.integer):
        out = jnp.where(out < 0, jnp.ceil(out - 0.5), jnp.floor(out + 0.5))
    return out.astype(image.dtype)
