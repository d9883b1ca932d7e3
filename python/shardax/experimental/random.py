"""shardax.experimental.random - a generator that moves on by itself."""

import dataclasses
import operator

import numpy as np

import shardax._core as _core
from shardax import numpy as jnp
from shardax import random, tree_util
from shardax._base.dtypes import KeyTy
from shardax._transform.refs import new_ref

__all__ = ["StatefulPRNG", "stateful_rng"]


def _shape(size, *parameters):
    if size is None:
        return np.broadcast_shapes(*map(np.shape, parameters))
    return tuple(map(operator.index, size if np.iterable(size) else (size,)))


@tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class StatefulPRNG:
    """A key and how many keys were made of it, a mutable reference; made by `stateful_rng`.

    It may be an argument of transformed functions, or closed over by them, but not a result.
    """

    _base_key: object
    _counter: object

    def __post_init__(self):
        key, counter = self._base_key, self._counter
        if isinstance(key, (_core.Array, np.ndarray)) and not isinstance(key.dtype, KeyTy):
            raise ValueError(f"Expected base_key to be a typed PRNG key; got {key}")
        if isinstance(counter, (int, float, np.ndarray)):
            raise ValueError(f"Expected counter to be a scalar integer ref; got {counter}")

    def key(self, shape=()):
        """A new key, or an array of them."""
        if self._base_key.shape:
            raise ValueError("cannot operate on split stateful generator")
        key = random.fold_in(self._base_key, self._counter[...])
        self._counter[...] = self._counter[...] + 1
        shape = _shape(shape)
        return random.split(key, shape) if shape else key

    def random(self, size=None, dtype=float):
        """Uniform in [0, 1)."""
        return random.uniform(self.key(), _shape(size), dtype)

    def uniform(self, low=0, high=1, size=None, *, dtype=float):
        """Uniform in [low, high)."""
        return random.uniform(self.key(), _shape(size, low, high), dtype, low, high)

    def normal(self, loc=0, scale=1, size=None, *, dtype=float):
        """Normal with mean `loc` and standard deviation `scale`."""
        draws = random.normal(self.key(), _shape(size, loc, scale), dtype)
        return (jnp.asarray(loc) + jnp.asarray(scale) * draws).astype(draws.dtype)

    def integers(self, low, high=None, size=None, *, dtype=int):
        """Integers from `low` on, below `high`; below `low` where that is None."""
        low, high = (0, low) if high is None else (low, high)
        return random.randint(self.key(), _shape(size, low, high), low, high, dtype)

    def split(self, num):
        """Independent generators as one, whose leaves `vmap` maps."""
        return StatefulPRNG(self.key(num), new_ref(jnp.zeros(num, int)))

    def spawn(self, n_children):
        """A list of independent generators."""
        return [StatefulPRNG(key, new_ref(0)) for key in self.key(n_children)]


def stateful_rng(seed=None, *, impl=None):
    """A generator whose draws change it, as NumPy's default_rng.

    Args:
      seed: an integer; None (not in transformed functions): one of the system's.
      impl: the name of the generator of its keys, as of `random.key`.

    >>> rng = stateful_rng(42)
    >>> rng.uniform(), rng.uniform()
    (Array(0.5302608, dtype=float32), Array(0.72766423, dtype=float32))
    """
    if seed is None:
        if _core.api.trace_depth():
            raise TypeError(
                "When used within transformed code, jax.experimental.random.stateful_rng() "
                "requires an explicit seed to be set."
            )
        seed = np.int64(np.random.SeedSequence().entropy & np.iinfo(np.int64).max)
    return StatefulPRNG(random.key(seed, impl=impl), new_ref(0))
