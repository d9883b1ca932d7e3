"""python/stub_types.py - the types of parameters and results that stubs.py writes into stubs.

A parameter has the type of its function's row in PARAMETERS, else that of its name in NAMES, else
that of its default. NAMES_IN_PACKAGES comes before NAMES.
"""

AXES = "int | Sequence[int] | None"
INTS = "int | Sequence[int]"
KEY = "Array | np.ndarray[Any, Any]"
SHAPE = "int | Sequence[Any]"
FUNCTION = "Callable[..., Any]"
INT_LIST = "Sequence[int]"


def _each(text, kind):
    return dict.fromkeys(text.split(), kind)


# The types of parameters of these names, of any function. A default of None adds None.
NAMES = {
    **_each(
        "A a a1 a2 a_matrix a_max a_min alpha append ar ar1 ar2 arr ary aweights b base bias c "
        "c_matrix concentration condition cov data df dfden dfnum dl du element epsilon fill_value "
        "filt fp fweights group_sizes idxs indices init_value initial key_bits_array "
        "key_value_seq_lengths lam left lhs lhs_scale lhs_scales like_arr lmbda loc logits lower m "
        "mask max maxval mean min minval on_false on_true operand p padding_value phi pivots pred "
        "prepend q query query_seq_lengths r_matrix repeats rhs rhs_scale rhs_scales right scale "
        "scatter_indices seq_of_zeros sigma start stddev step stop taus test_elements theta "
        "to_begin to_end u update updates upper v val vals value values variance w w_vector "
        "weights where which x x1 x2 xp y z",
        "ArrayLike",
    ),
    **_each("dtype index_dtype new_dtype out_dtype preferred_element_type", "DTypeLike"),
    **_each("key keys", KEY),
    **_each("new_shape new_sizes shape", SHAPE),
    **_each("argnums broadcast_dimensions dimensions permutation slice_sizes", INTS),
    **_each("axis1 axis2 axisa axisb axisc decimals deg dimension length minlength ndim", "int"),
    **_each("ndmin nin nout num num_classes num_keys rank size total_repeat_length", "int"),
    **_each("kind order out", "None"),
    **_each("body_fun callback computation cond_fun decomposition f fn fun func func1d", FUNCTION),
    **_each("function mask_func matvec pyfunc solve tangent_solve transpose_solve", FUNCTION),
    **_each("bitorder casting distribution indexing method mode name sep side trim", "str"),
    **_each("base_dilation filter_shape lhs_dilation lhs_shape rhs_dilation rhs_shape", INT_LIST),
    **_each("sizes strides window_dilation window_dimensions", INT_LIST),
    **_each("window_shape window_strides", INT_LIST),
    "is_leaf": "Callable[[Any], bool]",
    "padding": "str | Sequence[tuple[int, int]]",
}

# The types of parameters of these names in a package.
NAMES_IN_PACKAGES = {
    "shardax": {"new_val": "Any"},
    "shardax.lax": {
        "start_indices": "Any",
        "limit_indices": "Sequence[int]",
        "start_index": "Any",
        "limit_index": "int | None",
        "padding_config": "Sequence[tuple[int, int, int]]",
        "operands": "Any",
        "init_values": "Any",
        "operand": "Any",
        "axes": "Sequence[int]",
        "perm": "Sequence[tuple[int, int]] | Sequence[int]",
        "mode": "Any",
        "value": "Any",
        "values": "Any",
        "key": "ArrayLike",
        "x": "ArrayLike",
    },
    "shardax.random": {"axis": "int", "n": "ArrayLike", "mode": "str", "k": "int"},
    "shardax.nn": {"axis": AXES, "key": "ArrayLike"},
    "shardax.numpy": {"n": "int", "mode": "Any", "N": "int", "M": "int", "k": "int", "axes": INTS},
    "shardax.numpy.fft": {"axes": INTS, "s": "Sequence[int]", "norm": "str", "n": "int"},
    "shardax.scipy.special": {"n": "ArrayLike", "k": "ArrayLike", "N": "ArrayLike"},
}

# The types of parameters of single functions.
_ONE_AXIS = (
    "argmax argmin nanargmax nanargmin cumsum cumprod nancumsum nancumprod cumulative_sum "
    "cumulative_prod sort argsort take take_along_axis put_along_axis repeat append delete insert "
    "compress unique packbits unpackbits concatenate"
)
_SEVERAL_AXES = (
    "sum prod max min amax amin all any mean var std ptp count_nonzero average nansum nanprod "
    "nanmax nanmin nanmean nanvar nanstd median nanmedian quantile nanquantile percentile "
    "nanpercentile squeeze flip roll size expand_dims"
)
PARAMETERS = {
    **{f"shardax.numpy.{name}": {"axis": "int | None"} for name in _ONE_AXIS.split()},
    **{f"shardax.numpy.{name}": {"axis": AXES} for name in _SEVERAL_AXES.split()},
    "shardax.make_array_from_callback": {"data_callback": "Callable[[Any], Any]"},
    "shardax.make_array_from_single_device_arrays": {"arrays": "Sequence[Array]"},
    "shardax.dlpack.from_dlpack": {"copy": "bool | None"},
    "shardax.experimental.multihost_utils.assert_equal": {"fail_message": "str"},
    "shardax.experimental.multihost_utils.broadcast_one_to_all": {"is_source": "bool | None"},
    "shardax.experimental.multihost_utils.live_devices": {"devices": "Sequence[Device]"},
    "shardax.experimental.multihost_utils.reached_preemption_sync_point": {"step_id": "int"},
    "shardax.experimental.multihost_utils.sync_global_devices": {"name": "str"},
    "shardax.numpy.promote_types": {"a": "Any", "b": "Any"},
    "shardax.numpy.array": {"object": "Any", "order": "str | None", "copy": "bool | None"},
    "shardax.numpy.asarray": {"a": "Any", "order": "str | None", "copy": "bool | None"},
    "shardax.numpy.copy": {"a": "Any", "order": "str | None"},
    "shardax.numpy.reshape": {"order": "str", "copy": "bool | None"},
    "shardax.numpy.ravel": {"order": "str"},
    "shardax.numpy.ravel_multi_index": {"multi_index": "Any", "dims": "Any", "order": "str"},
    "shardax.numpy.isdtype": {"dtype": "Any", "kind": "Any"},
    "shardax.numpy.issubdtype": {"arg1": "Any", "arg2": "Any"},
    "shardax.numpy.finfo": {"dtype": "Any"},
    "shardax.numpy.iinfo": {"int_type": "Any"},
    "shardax.numpy.moveaxis": {"source": INTS, "destination": INTS},
    "shardax.numpy.transpose": {"axes": "Sequence[int] | None"},
    "shardax.numpy.rot90": {"axes": "tuple[int, int]"},
    "shardax.numpy.tensordot": {"axes": "Any"},
    "shardax.numpy.gradient": {"f": "ArrayLike", "axis": AXES, "edge_order": "int | None"},
    "shardax.numpy.apply_over_axes": {"axes": INTS},
    "shardax.numpy.stack": {"arrays": "Any"},
    "shardax.numpy.concatenate": {"arrays": "Any", "axis": "int | None"},
    "shardax.numpy.load": {"file": "Any"},
    "shardax.numpy.lexsort": {"keys": "Any"},
    "shardax.numpy.histogram_bin_edges": {"bins": "Any", "range": "Any"},
    "shardax.numpy.zeros_like": {"a": "Any"},
    "shardax.numpy.ones_like": {"a": "Any"},
    "shardax.numpy.full_like": {"a": "Any"},
    "shardax.numpy.shape": {"a": "Any"},
    "shardax.numpy.ndim": {"a": "Any"},
    "shardax.numpy.size": {"a": "Any", "axis": AXES},
    "shardax.numpy.pad": {"pad_width": "Any", "mode": "Any"},
    "shardax.numpy.fromfunction": {"shape": "Sequence[int]"},
    "shardax.numpy.frombuffer": {"buffer": "Any", "dtype": "DTypeLike"},
    "shardax.numpy.fromstring": {"dtype": "DTypeLike"},
    "shardax.numpy.polyint": {"k": "ArrayLike | None"},
    "shardax.numpy.polyfit": {"cov": "Any", "rcond": "float | None"},
    "shardax.numpy.interp": {"left": "Any", "right": "Any", "period": "ArrayLike | None"},
    "shardax.numpy.diag": {"v": "ArrayLike"},
    "shardax.numpy.diag_indices": {"n": "int"},
    "shardax.numpy.histogram": {"range": "Any"},
    "shardax.numpy.linalg.norm": {"ord": "Any", "axis": AXES},
    "shardax.numpy.linalg.vector_norm": {"ord": "Any", "axis": AXES},
    "shardax.numpy.linalg.matrix_norm": {"ord": "Any"},
    "shardax.numpy.linalg.cond": {"p": "Any"},
    "shardax.numpy.linalg.matrix_power": {"n": "int"},
    "shardax.numpy.linalg.multi_dot": {"arrays": "Sequence[ArrayLike]"},
    "shardax.numpy.linalg.tensorsolve": {"axes": "Sequence[int] | None"},
    "shardax.random.split": {"num": INTS},
    "shardax.random.fold_in": {"data": "ArrayLike"},
    "shardax.random.PRNGKey": {"seed": "ArrayLike"},
    "shardax.random.key": {"seed": "ArrayLike", "dtype": "Any"},
    "shardax.random.wrap_key_data": {"dtype": "Any"},
    "shardax.random.choice": {"axis": "int", "mode": "str | None"},
    "shardax.random.triangular": {"mode": "ArrayLike"},
    "shardax.random.ball": {"d": "int", "p": "float"},
    "shardax.random.orthogonal": {"n": "int", "m": "int | None"},
    **{
        f"shardax.nn.initializers.{name}": {"key": "Any", "shape": "Sequence[Any]"}
        for name in ("ones", "zeros")
    },
    "shardax.nn.one_hot": {"axis": "Any"},
    "shardax.nn.dot_product_attention": {"scale": "float | None", "value": "ArrayLike"},
    "shardax.lax.conv_with_general_padding": {
        "lhs_dilation": "Sequence[int] | None",
        "rhs_dilation": "Sequence[int] | None",
    },
    "shardax.lax.index_take": {"idxs": "Sequence[ArrayLike]"},
    "shardax.lax.iota": {"size": "int"},
    "shardax.lax.dtype": {"x": "Any"},
    "shardax.lax.split": {"sizes": "Sequence[int]"},
    "shardax.lax.broadcasted_iota": {"dimension": "int"},
}

# Packages whose functions take and give arrays; of others, results without a row are Any.
ARRAY_PACKAGES = (
    "shardax.lax shardax.lax.linalg shardax.nn shardax.nn.initializers shardax.numpy "
    "shardax.numpy.fft shardax.numpy.linalg shardax.random shardax.scipy.special"
).split()

# Results that are no array.
_LIST, _TUPLE, _PAIR = "list[Array]", "tuple[Array, ...]", "tuple[Array, Array]"
RESULTS = {
    "shardax": {
        **_each("grad hessian jacfwd jacobian jacrev linear_transpose make_jaxpr", FUNCTION),
        **_each("custom_gradient soft_pmap", FUNCTION),
        "value_and_grad": "Callable[..., tuple[Any, Any]]",
        "explain": "Callable[..., Explanation]",
        **_each("device_count host_count host_id local_device_count process_count", "int"),
        **_each("process_index thread_count", "int"),
        **_each("devices local_devices", "list[Device]"),
        **_each("default_backend", "str"),
        **_each("live_arrays", "list[Array]"),
        **_each("tree_leaves", "list[Any]"),
        **_each("make_mesh", "Mesh"),
        **_each("make_array_from_callback make_array_from_single_device_arrays", "Array"),
        "profile": "AbstractContextManager[Profile]",
        **_each("tree_all", "bool"),
    },
    "shardax.sharding": {"make_mesh": "Mesh"},
    "shardax.debug": {"check_replicas": "AbstractContextManager[list[Divergence]]"},
    "shardax.dlpack": {"from_dlpack": "Array"},
    "shardax.distributed": {"is_initialized": "bool", "shutdown": "None"},
    "shardax.experimental.mesh_utils": {
        **_each("create_device_mesh create_hybrid_device_mesh", "np.ndarray[Any, Any]"),
    },
    "shardax.experimental.multihost_utils": {
        **_each("assert_equal sync_global_devices", "None"),
        "live_devices": "AbstractContextManager[list[Device]]",
        "reached_preemption_sync_point": "bool",
    },
    "shardax.tree": {"leaves": "list[Any]", "all": "bool"},
    "shardax.numpy": {
        **_each("array_repr array_str", "str"),
        **_each("array_split split hsplit vsplit dsplit meshgrid broadcast_arrays", _LIST),
        **_each("nonzero diag_indices diag_indices_from ix_ unravel_index unstack", _TUPLE),
        **_each("divmod frexp modf polydiv histogram tril_indices triu_indices", _PAIR),
        **_each("tril_indices_from triu_indices_from mask_indices", _PAIR),
        **_each("can_cast iscomplexobj isdtype isrealobj isscalar issubdtype iterable", "bool"),
        **_each("broadcast_shapes shape", "tuple[int, ...]"),
        **_each("ndim size", "int"),
        **_each("promote_types result_type", "np.dtype[Any]"),
        "histogram2d": "tuple[Array, Array, Array]",
        "histogramdd": "tuple[Array, list[Array]]",
        "einsum_path": "tuple[list[tuple[int, ...]], str]",
        **_each("save savez set_printoptions", "None"),
        **_each("atleast_1d atleast_2d atleast_3d", "Any"),
        **_each("get_printoptions", "dict[str, Any]"),
        **_each("printoptions", "Any"),
        **_each("finfo iinfo unique_all unique_counts unique_inverse", "Any"),
        "frompyfunc": "ufunc",
        "vectorize": "Callable[..., Any]",
        "apply_along_axis": "Array",
        "apply_over_axes": "Array",
        "piecewise": "Array",
    },
    "shardax.numpy.linalg": {
        "eig": "EigResult",
        "eigh": "EighResult",
        "slogdet": "SlogdetResult",
        "lstsq": "tuple[Array, Array, Array, Array]",
    },
    "shardax.numpy.fft": {},
    "shardax.lax": {
        **_each("axis_size", "int"),
        **_each("dtype", "np.dtype[Any]"),
        **_each("broadcast_shapes conv_shape_tuple conv_general_shape_tuple", "tuple[int, ...]"),
        **_each("conv_transpose_shape_tuple reduce_window_shape_tuple", "tuple[int, ...]"),
        **_each("split unstack", "Any"),
        **_each("approx_max_k approx_min_k top_k", _LIST),
        **_each("shape_as_value", "Array"),
        **_each("dce_sink", "None"),
        **_each("tie_in", "Any"),
        **_each("conv_dimension_numbers conv_general_permutations padtype_to_pads", "Any"),
        **_each("composite", "Callable[..., Any]"),
        **_each("platform_dependent reduce reduce_window sort custom_root", "Any"),
        **_each("custom_linear_solve all_gather all_gather_invariant all_to_all", "Any"),
        **_each("psum_scatter pswapaxes", "Any"),
        "sort_key_val": _PAIR,
        "rng_bit_generator": _PAIR,
    },
    "shardax.lax.linalg": {
        **_each("cholesky cholesky_update householder_product ormqr", "Array"),
        **_each("symmetric_product triangular_solve tridiagonal_solve", "Array"),
        **_each("eig eigh lu qdwh qr schur svd tridiagonal", "Any"),
    },
    "shardax.nn": {
        **_each("logsumexp dot_product_attention get_scaled_dot_general_config", "Any"),
    },
    "shardax.scipy.special": {
        **_each("sici fresnel lpmn", "tuple[Array, Array]"),
        "logsumexp": "Any",
    },
    "shardax.nn.initializers": {
        **_each("constant delta_orthogonal glorot_normal glorot_uniform he_normal", "Initializer"),
        **_each("he_uniform kaiming_normal kaiming_uniform lecun_normal", "Initializer"),
        **_each("lecun_uniform", "Initializer"),
        **_each("normal orthogonal truncated_normal uniform variance_scaling", "Initializer"),
        **_each("xavier_normal xavier_uniform", "Initializer"),
    },
    "shardax.random": {"key_dtype": "Any", "key_impl": "Any"},
}

# Members of arrays other than methods that give an array.
ARRAY_TYPES = {
    "shape": "tuple[int, ...]",
    "dtype": "np.dtype[Any]",
    "ndim": "int",
    "size": "int",
    "nbytes": "int",
    "itemsize": "int",
    "weak_type": "bool",
    "committed": "bool",
    "is_fully_addressable": "bool",
    "is_fully_replicated": "bool",
    **dict.fromkeys(("T", "mT", "real", "imag"), "Array"),
    "at": "IndexUpdateHelper",
}
METHOD_TYPES = {
    "devices": "set[Any]",
    "is_deleted": "bool",
    "is_ready": "bool",
    "item": "Any",
    "nonzero": "tuple[Array, ...]",
    "on_device_size_in_bytes": "int",
    "tobytes": "bytes",
    "tolist": "Any",
    "unsafe_buffer_pointer": "int",
    "copy_to_host_async": "None",
    "delete": "None",
    "__array__": "np.ndarray[Any, Any]",
    "__bool__": "bool",
    "__complex__": "complex",
    "__contains__": "bool",
    "__divmod__": "tuple[Array, Array]",
    "__dlpack__": "Any",
    "__dlpack_device__": "tuple[int, int]",
    "__float__": "float",
    "__format__": "str",
    "__index__": "int",
    "__int__": "int",
    "__iter__": "Iterator[Array]",
    "__len__": "int",
    "__rdivmod__": "tuple[Array, Array]",
}
INHERITED = (
    "__class__ __delattr__ __delitem__ __dir__ __doc__ __getattribute__ __getstate__ __hash__ "
    "__init__ __init_subclass__ __module__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ "
    "__setitem__ __sizeof__ __str__ __subclasshook__ __array_priority__ __array_namespace__"
).split()
COMPARISONS = ("__eq__", "__ne__")  # object's take any operand

# Parameters of elementwise functions that are no operands.
OPTIONS = ("accuracy", "out_dtype")

# Names that modules without a table of names import for themselves.
HELPERS = (
    "Any asarray bind broadcast_shapes canonical_axis canonical_axes check_arraylike concatenate "
    "functions in_one_program jit jnp known lax moveaxis promote_inexact result_type static_jit "
    "where"
).split()

# Modules whose stubs have the names of `__all__` alone: others are helpers of their sources.
LISTED = (
    "shardax.distributed shardax.dlpack shardax.experimental.checkpoints "
    "shardax.experimental.multihost_utils"
).split()

# Methods with such names that class stubs have, where classes do.
SPECIAL_METHODS = "__call__ __enter__ __exit__ __getitem__ __iter__ __len__ __mul__".split()
