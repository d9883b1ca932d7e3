"""tests/ecosystem/tables.py - the libraries, and what they use that is not there yet."""

# The first part of a program's name, and the package that it needs.
LIBRARIES = {
    "optax": "optax",
    "chex": "chex",
    "flax": "flax",
    "haiku": "haiku",
    "equinox": "equinox",
    "diffrax": "diffrax",
    "lineax": "lineax",
    "optimistix": "optimistix",
    "jaxopt": "jaxopt",
    "jraph": "jraph",
    "tinygp": "tinygp",
    "distrax": "distrax",
    "rlax": "rlax",
    "mctx": "mctx",
    "dm_pix": "dm_pix",
    "evosax": "evosax",
    "penzai": "penzai",
    "treescope": "treescope",
    "einops": "einops",
    "jaxtyping": "jaxtyping",
    "orbax": "orbax",
    "clu": "clu",
    "folx": "folx",
    "jaxlie": "jaxlie",
    "tfp": "tensorflow_probability",
    "jmp": "jmp",
    "numpyro": "numpyro",
    "optree": "optree",
    "quax": "quax",
}

# Programs that need what is not there yet, and what that is.
NOT_YET = {}

# Names of names.txt that are not there yet: how they start, and what they are part of.
LATER = {
    "jax._src.cudnn.": "kernels of GPUs",
    "jax._src.earray.": "arrays of other dtypes",
    "jax._src.interpreters.pxla": "arrays of other dtypes",
    "jax._src.numpy.lax_numpy": "haliax, which fails with JAX 0.10.2 too",
    "jax._src.pretty_printer.": "haliax, which fails with JAX 0.10.2 too",
    "jax.experimental.colocated_python.func._": "several processes",
    "jax.experimental.colocated_python.serialization._": "several processes",
    "jax.experimental.colocated_python.serialization.xb": "several processes",
    "jax.experimental.pallas.dot": "an older name, which JAX 0.10.2 has not either",
    "jax.interpreters.mlir.emit_python_callback": "lowering to MLIR",
    "jax.interpreters.pxla.global_avals": "several processes",
}
