# shardax/_compat/_src/aliases.py - names that libraries import from JAX's private modules.
"""A row for each group of names: (module, names, module of this package, libraries that use them).

A name may be followed by "=" and its name here. Under the alias `jax`, modules of these rows exist;
each name is looked up when it is first used. tests/ecosystem resolves every row.
"""

import importlib
import types

ALIASES = (
    ("jax._src.ad_util", "add_any_p=add_jaxvals_p", "extend.core.primitives", "folx"),
    ("jax._src.ad_util", "stop_gradient_p", "extend.core.primitives", "lineax"),
    ("jax._src.api", "grad jvp value_and_grad vjp", "_transform.derivatives", "tutorials"),
    ("jax._src.api", "jit", "_transform.jit", "tutorials"),
    ("jax._src.api", "vmap", "_transform.pmap_vmap", "tutorials"),
    ("jax._src.api_util", "infer_argnums_and_argnames", "_src.private_names", "e3nn_jax"),
    (
        "jax._src.checkify",
        "Error JaxException checkify user_checks",
        "experimental.checkify",
        "flax",
    ),
    ("jax._src.checkify", "Out", "_src.private_names", "flax"),
    ("jax._src.compiler", "backend_compile_and_load", "_src.private_names", "chex"),
    (
        "jax._src.core",
        "AbstractValue ShapedArray Trace TraceTag Tracer jaxpr_as_fun physical_aval "
        "set_current_trace take_current_trace trace_state_clean",
        "core",
        "flax numpyro quax",
    ),
    ("jax._src.core", "Primitive", "_transform.primitives", "jax_md"),
    ("jax._src.core", "full_lower", "_src.private_names", "quax"),
    ("jax._src.dispatch", "wait_for_tokens=effects_barrier", "_transform.callbacks", "equinox"),
    ("jax._src.distributed", "global_state", "_src.private_names", "orbax"),
    (
        "jax._src.dtypes",
        "TypePromotionError canonicalize_dtype extended finfo issubdtype result_type",
        "dtypes",
        "equinox flax optree",
    ),
    (
        "jax._src.dtypes",
        "DType ExtendedDType supports_inf to_complex_dtype",
        "_src.private_names",
        "flax optree tinygp",
    ),
    ("jax._src.dtypes", "dtype", "lax", "optree"),
    ("jax._src.flatten_util", "ravel_pytree", "flatten_util", "blackjax"),
    (
        "jax._src.interpreters.ad",
        "CustomVJPException=UnexpectedTracerError",
        "errors",
        "diffrax jaxopt",
    ),
    ("jax._src.lax", "lax", "_src.private_names", "tutorials"),
    (
        "jax._src.literals",
        "TypedNdArray TypedInt TypedFloat TypedComplex",
        "_src.private_names",
        "equinox quax",
    ),
    ("jax._src.pjit", "jit_p", "extend.core.primitives", "quax"),
    ("jax._src.public_test_util", "check_close=close check_grads", "test_util", "tinygp"),
    (
        "jax._src.random.threefry2x32",
        "threefry_fold_in threefry_random_bits threefry_seed threefry_split",
        "_src.private_names",
        "quax",
    ),
    ("jax._src.source_info_util", "summarize", "extend.source_info_util", "folx"),
    ("jax._src.state.types", "AbstractRef", "_transform.refs", "flax"),
    ("jax._src.test_util", "is_cuda_compute_capability_at_least", "_src.private_names", "flax"),
    (
        "jax._src.traceback_util",
        "_exclude_paths=excluded api_boundary include_frame register_exclusion=exclude",
        "_base.tracebacks",
        "equinox flax jaxtyping",
    ),
    ("jax._src.tree_util", "_registry=node_types", "_src.private_names", "flax jaxlie"),
    ("jax._src.tree_util", "flatten_one_level prefix_errors", "tree_util", "flax orbax"),
    ("jax._src.typing", "DTypeLike ArrayLike Array", "typing", "haliax"),
    ("jax._src.util", "HashablePartial safe_map safe_zip unzip2", "_src.util", "optree"),
    (
        "jax._src.xla_bridge",
        "_backends=backends_by_name backends_are_initialized",
        "_src.private_names",
        "chex flax",
    ),
    ("jax._src.xla_bridge", "get_backend", "lib.xla_bridge", "brax"),
    ("jaxlib", "__version__=jaxlib_version", "_src.private_names", "jaxlie"),
    ("jaxlib._jax", "PjitFunction ArrayImpl", "_src.private_names", "gpjax"),
    ("jaxlib.xla_client", "Device", "_src.private_names", "jaxlie"),
    ("jaxlib.xla_extension", "PjitFunction ArrayImpl", "_src.private_names", "gpjax treescope"),
)


def _rows(module):
    return [row for row in ALIASES if row[0] == module]


def is_module(name):
    """True if the table names the module, or one within it, beside those that exist here."""
    return any(row[0] == name or row[0].startswith(name + ".") for row in ALIASES) and (
        name not in ("jax", "jax._src", "jax._src.util")
    )


class _Module(types.ModuleType):
    """A module whose names are looked up in the table."""

    def __getattr__(self, name):
        for _, names, home, _ in _rows(self.__name__):
            for item in names.split():
                shown, _, own = item.partition("=")
                if shown == name:
                    found = getattr(importlib.import_module(f"shardax.{home}"), own or shown)
                    self.__dict__[name] = found
                    return found
        inner = f"{self.__name__}.{name}"
        if not name.startswith("__") and is_module(inner):
            return module(inner)
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'")

    def __dir__(self):
        return sorted(
            item.partition("=")[0] for row in _rows(self.__name__) for item in row[1].split()
        )


_made = {}


def module(name):
    """The module of that name; always the same object."""
    if name not in _made:
        made = _Module(
            name, "Names of JAX's, as the table of shardax/_compat/_src/aliases.py has it."
        )
        made.__path__ = []
        _made.setdefault(name, made)
    return _made[name]
