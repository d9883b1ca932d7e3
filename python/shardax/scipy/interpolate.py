"""shardax.scipy.interpolate - interpolation between the points of a grid."""

import itertools

import numpy as np

from shardax import numpy as jnp
from shardax import tree_util
from shardax._base.arrays import check_arraylike
from shardax.scipy._promote import inexact

__all__ = ["RegularGridInterpolator"]


def _coordinates(points, ndim):
    """An array (..., ndim) from one, or from a tuple of arrays of coordinates."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    if isinstance(points, tuple):
        return jnp.stack(jnp.broadcast_arrays(*points), -1)
    check_arraylike("RegularGridInterpolator", points)
    points = jnp.asarray(points)
    return points.reshape(-1, ndim) if points.ndim == 1 else points


class RegularGridInterpolator:
    """Values between the points of a rectangular grid; differentiable by values and coordinates.

    Args:
      points: for each dimension the coordinates of the grid, strictly increasing.
      values: array of shape (len(points[0]), len(points[1]), ...) and more dimensions.
      method: "linear" or "nearest".
      bounds_error: must be False.
      fill_value: for coordinates outside; None extrapolates.

    >>> grid = (jnp.array([1.0, 2.0]), jnp.array([4.0, 5.0]))
    >>> values = jnp.array([[10.0, 20.0], [30.0, 40.0]])
    >>> f = shardax.scipy.interpolate.RegularGridInterpolator(grid, values)
    >>> f(jnp.array([[1.5, 4.5]]))
    Array([25.], dtype=float32)
    """

    def __init__(self, points, values, method="linear", bounds_error=False, fill_value=np.nan):
        if method not in ("linear", "nearest"):
            raise ValueError(f"method {method!r} is not defined")
        if bounds_error:
            raise NotImplementedError("`bounds_error` takes no effect under JIT")
        check_arraylike("RegularGridInterpolator", values)
        values = jnp.asarray(values)
        if len(points) > values.ndim:
            raise ValueError(
                f"there are {len(points)} point arrays, but values has {values.ndim} dimensions"
            )
        check_arraylike("RegularGridInterpolator", *points)
        grid = tuple(inexact(p)[0] for p in points)
        for i, p in enumerate(grid):
            if p.ndim != 1:
                raise ValueError(f"the points in dimension {i} must be 1-dimensional")
            if values.shape[i] != p.shape[0]:
                raise ValueError(
                    f"there are {p.shape[0]} points and {values.shape[i]} values in dimension {i}"
                )
        if fill_value is not None:
            check_arraylike("RegularGridInterpolator", fill_value)
            fill_value = jnp.asarray(fill_value)
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        self.grid, self.values = grid, values

    def __call__(self, xi, method=None):
        """Values at the points `xi`, an array (..., ndim) or a tuple of arrays of coordinates."""
        method = self.method if method is None else method
        if method not in ("linear", "nearest"):
            raise ValueError(f"method {method!r} is not defined")
        ndim = len(self.grid)
        xi = _coordinates(xi, ndim)
        if xi.shape[-1] != ndim:
            raise ValueError(
                f"the requested sample points xi have dimension {xi.shape[-1]}, but this "
                f"RegularGridInterpolator has dimension {ndim}"
            )
        flat = xi.reshape(-1, ndim)
        result = (self._nearest if method == "nearest" else self._linear)(flat)
        if self.fill_value is not None:
            outside = jnp.zeros(flat.shape[0], bool)
            for i, p in enumerate(self.grid):
                outside |= (flat[:, i] < p[0]) | (flat[:, i] > p[-1])
            outside = outside.reshape(-1, *[1] * (result.ndim - 1))
            result = jnp.where(outside, self.fill_value, result)
        return result.reshape(xi.shape[:-1] + self.values.shape[ndim:])

    def _cells(self, points):
        """For each dimension the cell of each point, and where in it, from 0 to 1."""
        for i, p in enumerate(self.grid):
            x = points[:, i]
            cell = jnp.clip(jnp.searchsorted(p, x) - 1, 0, p.size - 2)
            yield cell, (x - p[cell]) / (p[cell + 1] - p[cell])

    def _linear(self, points):
        cells = list(self._cells(points))
        more = [1] * (self.values.ndim - len(self.grid))
        total = 0
        for corner in itertools.product((0, 1), repeat=len(cells)):
            weight = 1.0
            for (_, share), side in zip(cells, corner):
                weight = weight * (share if side else 1 - share)
            index = tuple(cell + side for (cell, _), side in zip(cells, corner))
            total = total + self.values[index] * weight.reshape(-1, *more)
        return total

    def _nearest(self, points):
        return self.values[tuple(jnp.where(s <= 0.5, c, c + 1) for c, s in self._cells(points))]


def _flatten(f):
    return (f.grid, f.values, f.fill_value), (f.method, f.bounds_error)


def _unflatten(aux, children):
    f = object.__new__(RegularGridInterpolator)
    f.grid, f.values, f.fill_value = children
    f.method, f.bounds_error = aux
    return f


tree_util.register_pytree_node(RegularGridInterpolator, _flatten, _unflatten)
