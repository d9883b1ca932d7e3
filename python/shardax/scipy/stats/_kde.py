"""shardax/scipy/stats/_kde.py - estimates of densities from samples."""

import math
from typing import Any

import numpy as np

from shardax import lax, random, tree_util
from shardax import numpy as jnp
from shardax._base.arrays import check_arraylike
from shardax.scipy import special
from shardax.scipy._promote import inexact


class gaussian_kde:
    """A density out of a sample: the mean of normal densities around its points (Scott, 1992).

    Args:
      dataset: real, of shape (n,) or (d, n).
      bw_method: "scott", "silverman", a number or a function of the estimate: the width of each
        density in units of the sample's covariance.
      weights: of the points, of shape (n,).

    >>> density = shardax.scipy.stats.gaussian_kde(jnp.array([1.0, 2.0, 3.0]))
    >>> density.pdf(jnp.array([2.0])).round(3)
    Array([0.318], dtype=float32)
    """

    def __init__(self, dataset, bw_method=None, weights=None) -> None:
        check_arraylike("gaussian_kde", dataset)
        dataset = jnp.atleast_2d(dataset)
        if jnp.iscomplexobj(dataset):
            raise NotImplementedError("gaussian_kde does not support complex data")
        if dataset.size <= 1:
            raise ValueError("`dataset` input should have multiple elements.")
        d, n = dataset.shape
        if weights is None:
            (dataset,) = inexact(dataset)
            weights = jnp.full(n, 1 / n, dataset.dtype)
        else:
            check_arraylike("gaussian_kde", weights)
            dataset, weights = inexact(dataset, weights)
            weights = jnp.atleast_1d(weights)
            weights = weights / weights.sum()
            if weights.ndim != 1:
                raise ValueError("`weights` input should be one-dimensional.")
            if len(weights) != n:
                raise ValueError("`weights` input should be of length n")
        self.dataset, self.weights = dataset, weights
        self.neff = 1 / (weights**2).sum()
        factor = self._factor(d, "scott" if bw_method is None else bw_method)
        covariance = jnp.atleast_2d(jnp.cov(dataset, rowvar=True, bias=False, aweights=weights))
        self.covariance = covariance * factor**2
        self.inv_cov = jnp.linalg.inv(covariance) / factor**2

    def _factor(self, d, method):
        if method == "scott":
            return self.neff ** (-1 / (d + 4))
        if method == "silverman":
            return (self.neff * (d + 2) / 4) ** (-1 / (d + 4))
        if not isinstance(method, str) and jnp.isscalar(method):
            return method
        if callable(method):
            return method(self)
        raise ValueError("`bw_method` should be 'scott', 'silverman', a scalar, or a callable.")

    @property
    def d(self):
        """The dimensions of the points."""
        return self.dataset.shape[0]

    @property
    def n(self):
        """The number of points in the sample."""
        return self.dataset.shape[1]

    def _points(self, name, points):
        check_arraylike(name, points)
        if jnp.iscomplexobj(points):
            raise NotImplementedError("gaussian_kde does not support complex coordinates")
        points = jnp.atleast_2d(points)
        if points.shape[0] == self.d:
            return points
        if points.shape == (1, self.d):
            return points.reshape(self.d, 1)
        raise ValueError(f"points have dimension {points.shape[0]}, dataset has dimension {self.d}")

    def logpdf(self, x) -> Any:
        """The logarithm of the density at points (d, m), or (m,) where d is 1."""
        x = self._points("logpdf", x)
        points, x = inexact(self.dataset.T, x.T)
        whiten = jnp.linalg.cholesky(self.inv_cov).astype(x.dtype)
        apart = x[:, None] @ whiten - points[None] @ whiten
        norm = self.d / 2 * math.log(2 * math.pi) - jnp.log(jnp.diag(whiten)).sum()
        energy = -0.5 * (apart**2).sum(-1) - norm
        return special.logsumexp(energy, axis=-1, b=self.weights.astype(x.dtype))

    def evaluate(self, points) -> Any:
        """The density at points (d, m), or (m,) where d is 1."""
        return jnp.exp(self.logpdf(points))

    __call__ = evaluate

    def pdf(self, x) -> Any:
        """The density, as `evaluate`."""
        return self.evaluate(x)

    def _overlap(self, covariance, means):
        """Integrals of the density times normal ones around the columns of `means`."""
        factor = jnp.linalg.cholesky(covariance)
        apart = (self.dataset[:, :, None] - means[:, None, :]).reshape(self.d, -1)
        z = lax.linalg.triangular_solve(factor, apart, left_side=True, lower=True)
        norm = (2 * np.pi) ** (self.d / 2) * jnp.prod(jnp.diag(factor))
        energy = jnp.exp(-0.5 * (z**2).sum(0)).reshape(self.n, -1)
        return self.weights @ energy / norm

    def integrate_gaussian(self, mean, cov) -> Any:
        """The integral of the density times a normal one."""
        mean, cov = jnp.atleast_1d(jnp.squeeze(mean)), jnp.atleast_2d(cov)
        if mean.shape != (self.d,):
            raise ValueError(f"mean does not have dimension {self.d}")
        if cov.shape != (self.d, self.d):
            raise ValueError(f"covariance does not have dimension {self.d}")
        return self._overlap(self.covariance + cov, mean[:, None])[0]

    def integrate_kde(self, other):
        """The integral of the product of two densities."""
        if other.d != self.d:
            raise ValueError("KDEs are not the same dimensionality")
        parts = self._overlap(self.covariance + other.covariance, other.dataset)
        return (parts * other.weights).sum()

    def integrate_box_1d(self, low, high):
        """The integral of a density in one dimension from `low` to `high`."""
        if self.d != 1:
            raise ValueError("integrate_box_1d() only handles 1D pdfs")
        if np.ndim(low) != 0 or np.ndim(high) != 0:
            raise ValueError("the limits of integration in integrate_box_1d must be scalars")
        width = jnp.sqrt(self.covariance[0, 0])

        def share(end):
            return special.ndtr((end - self.dataset[0]) / width)

        return (self.weights * (share(high) - share(low))).sum()

    def resample(self, key, shape=()):
        """Draws from the density, of shape (d, *shape)."""
        key_point, key_noise = random.split(key)
        index = random.choice(key_point, self.n, shape=shape, p=self.weights)
        noise = random.multivariate_normal(
            key_noise,
            jnp.zeros(self.d, self.covariance.dtype),
            self.covariance,
            shape=shape,
            dtype=self.dataset.dtype,
        )
        return self.dataset[:, index] + noise.T

    def integrate_box(self, low_bounds, high_bounds, maxpts=None):
        """Not available, as in JAX."""
        raise NotImplementedError("only 1D box integrations are supported; use `integrate_box_1d`")

    def set_bandwidth(self, bw_method=None):
        """Not available, as in JAX: make another estimate."""
        raise NotImplementedError("dynamically changing the bandwidth method is not supported")


_FIELDS = ("neff", "dataset", "weights", "covariance", "inv_cov")


def _unflatten(_, children):
    kde = object.__new__(gaussian_kde)
    vars(kde).update(zip(_FIELDS, children))
    return kde


tree_util.register_pytree_node(
    gaussian_kde, lambda kde: (tuple(getattr(kde, f) for f in _FIELDS), None), _unflatten
)
