# shardax/random/_defined.py - generators that users define by functions on words.
import math
from typing import NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.arrays import bind
from shardax._base.dtypes import KeyTy

_STORED = 4  # words of such a key in memory, of which the last may be unused


class Definition(NamedTuple):
    """The words of a generator's keys, and its functions on them."""

    key_shape: tuple
    seed: object
    split: object
    random_bits: object
    fold_in: object
    name: str
    tag: str


class DefinedKeyTy(KeyTy):
    """The dtype of keys of a generator that the user defines; also what names the generator."""

    def __init__(self, definition):
        super().__init__(self, definition.tag, math.prod(definition.key_shape))
        self.shape_of_words = definition.key_shape
        self.definition = definition
        self.itemsize = 4 * _STORED

    def __eq__(self, other):
        return isinstance(other, DefinedKeyTy) and self.definition == other.definition

    __hash__ = KeyTy.__hash__

    def __reduce__(self):
        return defined_generator, (self.definition,)

    def wrapped(self, words):
        """Words uint32[..., *key_shape] as keys."""
        rank = len(self.shape_of_words)
        if words.dtype != np.uint32 or words.shape[words.ndim - rank :] != self.shape_of_words:
            raise TypeError(
                "JAX encountered invalid PRNG key data: expected uint32 words of a shape that ends "
                f"with {self.shape_of_words}; got {words.dtype} of shape {words.shape} for "
                f"impl={self.tag}"
            )
        batch = words.shape[: words.ndim - rank]
        flat = words.reshape((*batch, self.words))
        if self.words < _STORED:
            unused = _core.broadcast_to(
                _core.array(np.zeros((), np.uint32)), (*batch, _STORED - self.words)
            )
            flat = bind("concatenate", (flat, unused), dimension=len(batch))
        return bind("random_wrap", (flat,), impl=self)

    def unwrapped(self, keys):
        """The words of keys, uint32[..., *key_shape]."""
        words = bind("random_unwrap", (keys,))
        return words[..., : self.words].reshape((*keys.shape, *self.shape_of_words))


_known = {}


def defined_generator(definition):
    """The dtype of the keys of a generator: one object for equal definitions."""
    if definition not in _known:
        made = DefinedKeyTy(definition)
        if not 1 <= made.words <= _STORED:
            raise ValueError(
                f"define_prng_impl: keys of shape {made.shape_of_words} have {made.words} words; "
                f"1 to {_STORED} were expected."
            )
        _core.define_key(made.tag, made)
        _known[definition] = made
    return _known[definition]
