"""tests/fuzz/hostile.py - calls with arguments that do not belong there.

The outcomes that must never happen: the process ends or hangs, or the error comes from the inside
(SystemError, "internal error", a C++ exception's text).
"""

import random

VALUES = (
    "None", "-1", "0", "1", "2**31", "2**63", "-2**63 - 1", "2**100", "1.5", "float('nan')",
    "float('inf')", "1j", "True", "'x'", "b'x'", "()", "[]", "{}", "(1, 2)", "[[1.0], [2.0]]",
    "[1, 'x']", "object()", "slice(None)", "...", "np.array('x')", "np.array(None)", "np.float32",
    "jnp.float32", "'float32'", "'nonsense'", "jnp.zeros(())", "jnp.ones(3)", "jnp.ones((2, 3))",
    "jnp.ones((0, 3))", "jnp.ones((1, 1, 1))", "jnp.arange(4)", "jnp.arange(3, dtype='int8')",
    "jnp.array([True, False])", "jnp.array([1j, 2])", "jnp.array([jnp.nan, jnp.inf])",
    "jnp.ones(2, 'bfloat16')", "jnp.ones(2, 'float16')", "np.ones((3, 2))", "np.arange(3)",
    "jax.random.key(0)", "jnp.ones((3, 3))", "range(3)", "(0,)", "(-1,)", "(0, 0)", "(99,)",
    "lambda *a: a[0]", "lambda: None", "print", "jnp.sin", "np.zeros((2, 0))", "[-1]", "(3, -1)",
    "jnp.uint32(2**32 - 1)", "np.int64(2**40)", "'i'", "dict(a=1)", "1e-45", "1e308", "-0.0",
)  # fmt: skip
MODULES = (
    "jnp",
    "lax",
    "jax.nn",
    "jax.random",
    "jnp.linalg",
    "jnp.fft",
    "jax.scipy.special",
    "jax",
)
# They wait for someone, write files, or change what later calls do.
LEFT_OUT = {
    "save", "savez", "load", "make_user_context", "fromfile", "clear_caches", "distributed",
    "print_environment_info", "live_arrays", "clear_backends", "set_mesh", "set_printoptions",
    "printoptions", "install_as_jax", "config", "block_until_ready", "effects_barrier", "debug",
    "profiler", "monitoring", "default_matmul_precision", "debug_nans", "debug_infs",
    "log_compiles", "disable_jit", "enable_x64", "experimental_disable_x64", "info",
}  # fmt: skip


def functions(jax):
    """The names of public functions, with their modules."""
    found = []
    for module in MODULES:
        namespace = eval(module, {"jax": jax, "jnp": jax.numpy, "lax": jax.lax})
        for name in sorted(dir(namespace)):
            value = getattr(namespace, name, None)
            if name.startswith("_") or name in LEFT_OUT or not callable(value):
                continue
            if not isinstance(value, type):
                found.append(f"{module}.{name}")
    return found


def call(seed, names):
    """The source of a call."""
    r = random.Random(seed)
    count = r.choice((1, 1, 2, 2, 3, 4))
    arguments = [r.choice(VALUES) for _ in range(count)]
    if r.random() < 0.3:
        arguments[-1] = f"{r.choice(('axis', 'dtype', 'shape', 'size', 'k', 'n'))}={arguments[-1]}"
    return f"{r.choice(names)}({', '.join(arguments)})"


def inside(error):
    """Is this error one of the inside?"""
    kind, text = error
    marks = ("internal error", "std::", "basic_string", "vector::", "bad_alloc", "_core.")
    return kind == "SystemError" or any(mark in text for mark in marks)
