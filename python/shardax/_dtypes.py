# shardax/_dtypes.py - dtype objects that NumPy lacks.
import numpy as np


def __getattr__(name):
    if name == "bfloat16_dtype":  # imported where it is first needed
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# The tangent type of integers and booleans: no data.
float0 = np.dtype([("float0", np.void, 0)])


class prng_key(np.generic):
    """The kind of all PRNG key dtypes, for issubdtype."""


class KeyTy:
    """The dtype of typed PRNG keys: two uint32 words that are no numbers."""

    name = "key<fry>"
    itemsize = 8
    type = prng_key
    kind = "V"

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, KeyTy)

    def __hash__(self):
        return hash(self.name)


key_dtype = KeyTy()
