# shardax/_base/dtypes.py - dtype objects that NumPy lacks.
import numpy as np

# Names of the dtypes of ml_dtypes, which is imported where one is first needed.
INTEGERS = ("int1", "int2", "int4", "uint1", "uint2", "uint4")
FLOATS = (
    "float4_e2m1fn",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "bfloat16",
)


def scalar_type(name):
    """The scalar type of ml_dtypes of that name."""
    import ml_dtypes

    if not hasattr(ml_dtypes, name):  # int1 and uint1 are those of 0.6
        raise AttributeError(
            f"ml_dtypes {ml_dtypes.__version__} has no type {name!r}. Install a newer one: "
            "pip install --upgrade ml_dtypes."
        )
    return getattr(ml_dtypes, name)


def __getattr__(name):
    if name in INTEGERS or name in FLOATS:
        return np.dtype(scalar_type(name))
    if name in KEYS:
        return KEYS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# The tangent type of integers and booleans: no data.
float0 = np.dtype([("float0", np.void, 0)])


class prng_key(np.generic):
    """The kind of all PRNG key dtypes, for `jnp.issubdtype`.

    Example:
      >>> jnp.issubdtype(random.key(0).dtype, shardax.dtypes.prng_key)
      True
    """


class KeyTy:
    """The dtype of typed PRNG keys: uint32 words that are no numbers."""

    type = prng_key
    kind = "V"

    definition = None  # the functions of a generator that the user defines (random/_custom_prng.py)

    def __init__(self, implementation, tag, words):
        self.implementation = implementation  # as jax.random.key's `impl` names it
        self.tag = tag
        self.name = f"key<{tag}>"
        self.words = words
        self.shape_of_words = (words,)
        self.itemsize = 4 * words

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return isinstance(other, KeyTy) and self.tag == other.tag

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        return __getattr__, (self.name,)


KEYS = {
    key.name: key
    for key in (
        KeyTy("threefry2x32", "fry", 2),
        KeyTy("rbg", "rbg", 4),
        KeyTy("unsafe_rbg", "urbg", 4),
        KeyTy("threefry4x32", "fry4", 4),
        KeyTy("philox2x32", "phx2", 1),
        KeyTy("philox4x32", "phx4", 2),
    )
}
