# shardax/random/_custom_prng.py - generators that users define by functions on words.
#
# A key has four words in memory. If it has more, these are the number of an entry of a table.
import math
import threading
from typing import NamedTuple

import numpy as np

import shardax._core as _core
from shardax._base.arrays import bind
from shardax._base.dtypes import KeyTy
from shardax._base.forks import held_over_forks

_STORED = 4  # words of such a key in memory, of which the last may be unused


class _Table:
    """Words of keys that have more than four, by number. Equal ones have the same; they are kept
    for as long as the process lives, as arrays of keys may."""

    def __init__(self):
        self._numbers, self._words = {}, []
        self._lock = held_over_forks(threading.RLock())

    def numbers(self, words):
        """uint32[..., 4] for uint32[..., n]."""
        words = np.ascontiguousarray(words)
        out = np.zeros((*words.shape[:-1], _STORED), np.uint32)
        with self._lock:
            for index in np.ndindex(words.shape[:-1]):
                row = words[index].tobytes()
                number = self._numbers.setdefault(row, len(self._words))
                if number == len(self._words):
                    self._words.append(row)
                out[index][:2] = number >> 32, number & 0xFFFFFFFF
        return out

    def words(self, numbers, count):
        """uint32[..., count] for the result of `numbers`."""
        numbers = np.asarray(numbers)
        out = np.empty((*numbers.shape[:-1], count), np.uint32)
        for index in np.ndindex(numbers.shape[:-1]):
            high, low = map(int, numbers[index][:2])
            out[index] = np.frombuffer(self._words[high << 32 | low], np.uint32)
        return out


_table = _Table()


def _from_table(function, operand, count):
    """The result of a function of the table, uint32[..., count], at once or when a program runs."""
    if not isinstance(operand, _core.Tracer):
        return _core.asarray(function(np.asarray(operand)))
    from shardax._transform.callbacks import pure_callback  # at first use: quick import
    from shardax._transform.shape_structs import ShapeDtypeStruct  # likewise

    kind = ShapeDtypeStruct((*operand.shape[:-1], count), np.uint32)
    return pure_callback(function, kind, operand, vmap_method="broadcast_all")


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
    """The dtype of keys of a generator that the user defines; also the generator's name."""

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
        if self.words > _STORED:
            flat = _from_table(_table.numbers, flat, _STORED)
        elif self.words < _STORED:
            unused = _core.broadcast_to(
                _core.array(np.zeros((), np.uint32)), (*batch, _STORED - self.words)
            )
            flat = bind("concatenate", (flat, unused), dimension=len(batch))
        return bind("random_wrap", (flat,), impl=self)

    def unwrapped(self, keys):
        """The words of keys, uint32[..., *key_shape]."""
        words = bind("random_unwrap", (keys,))
        if self.words > _STORED:
            words = _from_table(lambda rows: _table.words(rows, self.words), words, self.words)
        return words[..., : self.words].reshape((*keys.shape, *self.shape_of_words))


_known, _lock = {}, held_over_forks(threading.RLock())


def defined_generator(definition):
    """The dtype of the keys of a generator: one object for equal definitions."""
    with _lock:
        if definition not in _known:
            made = DefinedKeyTy(definition)
            _core.define_key(made.tag, made)
            _known[definition] = made
        return _known[definition]
