"""shardax/experimental/pallas/ops/tpu/splash_attention/splash_attention_mask.py - which key each
query sees."""

import numpy as np

__all__ = ["CausalMask", "FullMask", "LocalMask", "Mask", "MultiHeadMask", "NumpyMask"]


class Mask:
    """Booleans by query and key; masks combine with | and &, `mask[i]` is a NumPy array.

    Example:
      >>> (CausalMask((2, 2)) & FullMask((2, 2)))[:, :]
      array([[ True, False],
             [ True,  True]])
    """

    def __init__(self, shape):
        self._shape = tuple(shape)

    @property
    def shape(self):
        """The number of queries and of keys."""
        return self._shape

    def whole(self):
        """All of it."""
        raise NotImplementedError

    def __getitem__(self, index):
        return self.whole()[index]

    def __or__(self, other):
        return _combined(self, other, np.logical_or)

    def __and__(self, other):
        return _combined(self, other, np.logical_and)


def _combined(left, right, join):
    if left.shape != right.shape:
        raise ValueError(f"Invalid shape for other: {right.shape}, expected: {left.shape}")
    return NumpyMask(join(left.whole(), right.whole()))


class NumpyMask(Mask):
    """A mask that is a NumPy array of booleans."""

    def __init__(self, array):
        if array.dtype != np.bool_ or array.ndim != 2:
            raise ValueError(f"NumpyMask: 2 dimensions of bool are needed; got {array.dtype}, "
                             f"{array.ndim}.")  # fmt: skip
        super().__init__(array.shape)
        self.array = array

    def whole(self):
        return np.asarray(self.array)


class FullMask(Mask):
    """Each query sees each key."""

    def whole(self):
        return np.ones(self.shape, np.bool_)


class LocalMask(Mask):
    """A query sees keys at most window_size[0] before and window_size[1] after it; None is no
    limit. Queries are counted from `offset`; `shard_count` has no effect."""

    def __init__(self, shape, window_size, offset, shard_count=1):
        super().__init__(shape)
        self.window_size, self.offset = tuple(window_size), offset

    def whole(self):
        queries = np.arange(self.shape[0])[:, None] + self.offset
        distance = np.arange(self.shape[1]) - queries
        before, after = self.window_size
        low = True if before is None else distance >= -before
        high = True if after is None else distance <= after
        return np.broadcast_to(low & np.asarray(high), self.shape)


class CausalMask(LocalMask):
    """A query sees the keys up to its own place, which is counted from `offset`; `shard_count` has
    no effect."""

    def __init__(self, shape, offset=0, shard_count=1):
        super().__init__(shape, (None, 0), offset)


class MultiHeadMask(Mask):
    """A mask for each head."""

    def __init__(self, masks):
        self.masks = tuple(masks)
        if not self.masks:
            raise ValueError("MultiHeadMask: at least one mask is needed.")
        if len({mask.shape for mask in self.masks}) > 1:
            raise ValueError("MultiHeadMask: the masks must have one shape; got "
                             f"{[mask.shape for mask in self.masks]}.")  # fmt: skip
        super().__init__((len(self.masks), *self.masks[0].shape))

    def whole(self):
        return np.stack([mask.whole() for mask in self.masks])
