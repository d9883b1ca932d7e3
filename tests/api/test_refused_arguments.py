"""tests/api/test_refused_arguments.py - values of arguments that are refused with JAX's errors,
and the effects of others."""

import inspect

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
import shardax.scipy.optimize
from shardax import lax, random

x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
v = jnp.arange(4.0)

# Operands of functions of jnp that take `out`, where one array does not do.
OPERANDS = {
    "choose": (jnp.array([0, 1]), [v[:2], v[:2]]),
    "compress": (jnp.array([True, False]), v),
    "einsum": ("i->", v),
    "nanpercentile": (v, 50),
    "nanquantile": (v, 0.5),
    "outer": (v, v),
    "percentile": (v, 50),
    "quantile": (v, 0.5),
    "take": (v, jnp.array([1])),
}


def takes_out(function):
    try:
        return "out" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


WITH_OUT = [name for name in dir(jnp) if name[0] != "_" and takes_out(getattr(jnp, name))]


def test_functions_with_out_are_known():
    assert len(WITH_OUT) > 45
    assert {"sum", "cumsum", "nanmean", "stack", "round", "ptp"} <= set(WITH_OUT)


@pytest.mark.parametrize("name", WITH_OUT)
@pytest.mark.parametrize("out", [np.zeros(2), jnp.zeros(2)], ids=["numpy", "jax"])
def test_no_function_writes_into_out(name, out):
    operands = OPERANDS.get(name, (x, x))
    if isinstance(getattr(jnp, name), jnp.ufunc):
        operands = operands[: getattr(jnp, name).nin]
    elif name not in OPERANDS:
        operands = (x,)
    error = ValueError if "quantile" in name or name[-6:] in ("median", "entile") else None
    with pytest.raises(error or NotImplementedError, match="out"):
        getattr(jnp, name)(*operands, out=out)


REFUSED = [
    (lambda: jnp.sort(v, kind="quicksort"), TypeError, "'kind' argument to sort"),
    (lambda: jnp.sort(v, order="name"), TypeError, "'order' argument to sort"),
    (lambda: jnp.argsort(v, kind="stable"), TypeError, "'kind' argument to argsort"),
    (lambda: jnp.argsort(v, order="name"), TypeError, "'order' argument to argsort"),
    (lambda: v.sort(kind="stable"), TypeError, "'kind' argument to sort"),
    (lambda: jnp.copy(v, order="F"), NotImplementedError, "Only implemented for order='K'"),
    (lambda: jnp.array(v, order="F"), NotImplementedError, "Only implemented for order='K'"),
    (lambda: jnp.asarray(v, order="C"), NotImplementedError, "Only implemented for order='K'"),
    (lambda: jnp.meshgrid(v, copy=False), ValueError, "only supports copy=True"),
    (lambda: jnp.reshape(v, (2, 2), order="A"), NotImplementedError, "order=A"),
    (lambda: jnp.quantile(v, 0.5, overwrite_input=True), ValueError, "overwrite_input=True"),
    (lambda: jnp.median(v, overwrite_input=True), ValueError, "overwrite_input=True"),
    (lambda: jnp.searchsorted(v, v, method="nope"), ValueError, "method='nope'"),
    (lambda: jnp.digitize(v, v, method="nope"), ValueError, "method='nope'"),
    (lambda: jnp.polyval(v, v, unroll=-1), ValueError, "unroll is -1"),
    (lambda: jnp.take(v, jnp.array([0]), mode="nope"), ValueError, "Invalid mode 'nope'"),
    (lambda: jnp.einsum("ij,jk", x, x, precision="nope"), ValueError, "Precision argument"),
    (lambda: jnp.einsum("ij,jk", x, x, optimize="nope"), KeyError, "'nope' not found"),
    (lambda: v.to_device(jax.devices()[0], stream=3), NotImplementedError, "stream"),
    (lambda: jax.grad(jnp.sum, reduce_axes=("i",)), NotImplementedError, "reduce_axes"),
    (lambda: jax.value_and_grad(jnp.sum, reduce_axes="i"), NotImplementedError, "reduce_axes"),
    (lambda: jax.vjp(jnp.sum, v, reduce_axes=("i",)), NotImplementedError, "reduce_axes"),
    (lambda: jax.linear_transpose(jnp.sum, v, reduce_axes=("i",)), NotImplementedError, "reduce_"),
    (lambda: jax.jit(jnp.sum, abstracted_axes=({0: "n"},)), TypeError, "abstracted_axes"),
    (lambda: jax.make_jaxpr(jnp.sum, abstracted_axes=({0: "n"},)), TypeError, "abstracted_axes"),
    (lambda: jax.pmap(jnp.sum, global_arg_shapes=((3,),)), TypeError, "global_arg_shapes"),
    (lambda: jax.vmap(jnp.sum, sum_match=True), NotImplementedError, "sum_match"),
    (lambda: jax.new_ref(v, memory_space="nope"), NotImplementedError, "memory_space"),
    (lambda: jax.empty_ref(v, memory_space="nope"), NotImplementedError, "memory_space"),
    (lambda: lax.approx_max_k(v, 2, recall_target=2.0), jax.errors.JaxRuntimeError, "out of range"),
    (lambda: lax.approx_min_k(v, 2, recall_target=0.0), jax.errors.JaxRuntimeError, "out of range"),
    (lambda: lax.approx_max_k(v, 2, aggregate_to_topk=False), NotImplementedError, "aggregate"),
    (lambda: lax.approx_max_k(v, 2, reduction_input_size_override="a"), TypeError, "integer"),
    (lambda: lax.linalg.schur(x, select_callable=abs), NotImplementedError, "sort"),
    (lambda: jax.scipy.special.log_ndtr(v, 99), ValueError, "series_order must be <= 30"),
    (lambda: jax.scipy.special.log_ndtr(v, -1), ValueError, "series_order must be non-negative"),
    (lambda: jax.scipy.special.log_ndtr(v, "a"), TypeError, "series_order"),
    (lambda: jax.ops.segment_sum(v, jnp.arange(4), bucket_size=0), ValueError, "bucket_size is 0"),
    (lambda: jax.distributed.initialize(nope=1), TypeError, "nope"),
    (lambda: jax.profiler.device_memory_profile("nope"), RuntimeError, "nope"),
    (lambda: jax.dtypes.canonicalize_dtype(random.key(0).dtype), ValueError, "extended dtype"),
    (lambda: jax.nn.softmax(v, initial=1.0), TypeError, "initial"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_what_has_no_meaning_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("callback", [jax.pure_callback, jax.experimental.io_callback])
@pytest.mark.parametrize("run", [jax.jit, lambda f: f], ids=["jit", "eager"])
def test_callbacks_run_on_one_device(callback, run):
    result = jax.ShapeDtypeStruct((), np.float32)

    def call(sharding):
        return run(lambda y: callback(np.cos, result, y, sharding=sharding))(0.0)

    assert call(None) == call(jax.sharding.SingleDeviceSharding(jax.devices()[0])) == 1
    mesh = jax.make_mesh((8,), ("a",))
    for sharding in ("nonsense", jax.NamedSharding(mesh, jax.P())):
        with pytest.raises(NotImplementedError, match="only supports SingleDeviceSharding"):
            call(sharding)


# ---- functions of the core ----------------------------------------------------------------------

# The parameters of each elementwise function of the core besides operands, and values it does not
# take.
NONSENSE = {"accuracy": "nope", "out_dtype": "nope", "nope": 1}


def core_functions():
    for module in (lax, jnp):
        for name in dir(module):
            function = getattr(module, name)
            if type(function).__name__ == "Function":
                yield f"{module.__name__}.{name}", function


CORE = dict(core_functions())


def test_functions_of_the_core_are_known():
    assert len(CORE) > 140


@pytest.mark.parametrize("name", CORE)
def test_functions_of_the_core_refuse_nonsense(name):
    """For each parameter: operands that are no arrays, unknown options and values."""
    function = CORE[name]
    parameters = inspect.signature(function).parameters.values()
    operands = [p for p in parameters if p.default is p.empty]
    options = [p.name for p in parameters if p.default is not p.empty]
    assert operands
    assert set(options) <= NONSENSE.keys(), options
    for position in range(len(operands)):
        values = ["text" if i == position else 1.0 for i in range(len(operands))]
        with pytest.raises((TypeError, ValueError)):
            function(*values)
    for option in [*options, "nope"]:
        with pytest.raises((TypeError, ValueError, NotImplementedError)):
            function(*[1.0] * len(operands), **{option: NONSENSE[option]})


BUILTINS = [
    (jnp.array, (v,), {"dtype": "nope", "order": "F", "ndmin": "a", "device": "nope"}),
    (jnp.asarray, (v,), {"dtype": "nope", "order": "F", "device": "nope"}),
    (jnp.array, (v,), {"out_sharding": "nope"}),
    (jnp.asarray, (v,), {"out_sharding": "nope"}),
    (jnp.broadcast_to, (v,), {"shape": "nope"}),
]


@pytest.mark.parametrize(("function", "operands", "options"), BUILTINS)
def test_constructors_refuse_nonsense(function, operands, options):
    for option, value in options.items():
        with pytest.raises((TypeError, ValueError, NotImplementedError, AttributeError)):
            function(*operands, **{option: value})


# ---- arguments that have an effect --------------------------------------------------------------


def test_buckets_keep_sums_exact():
    many = jnp.full(2**16, 0.1, jnp.float32)
    ids = jnp.zeros(2**16, jnp.int32)
    plain = jax.ops.segment_sum(many, ids, 1)[0]
    in_buckets = jax.ops.segment_sum(many, ids, 1, bucket_size=256)[0]
    exact = 2**16 * float(np.float32(0.1))
    assert abs(float(in_buckets) - exact) <= abs(float(plain) - exact)
    data = jnp.arange(7, dtype=jnp.int8)
    ids = jnp.array([0, 0, 1, 1, 3, 1, 9])
    for function in (jax.ops.segment_sum, jax.ops.segment_prod, jax.ops.segment_max):
        expected = function(data, ids, 4)
        found = jax.jit(lambda d, i, f=function: f(d, i, 4, bucket_size=2))(data, ids)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    square = jax.ops.segment_min(x, jnp.array([1, 1]), 2, bucket_size=1)
    np.testing.assert_array_equal(square, jax.ops.segment_min(x, jnp.array([1, 1]), 2))


def test_einsum_takes_its_options():
    a, b, c = jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones((4, 5))
    whole = np.full((2, 5), 12.0)
    for optimize in ("auto", "optimal", "greedy", True, False, [(1, 2), (0, 1)]):
        np.testing.assert_array_equal(jnp.einsum("ij,jk,kl", a, b, c, optimize=optimize), whole)

    def shapes(optimize):
        program = jax.make_jaxpr(lambda *o: jnp.einsum("ij,jk,kl", *o, optimize=optimize))
        eqns = program(a, b, c).eqns
        return [e.outvars[0].aval.shape for e in eqns if e.primitive.name == "dot_general"]

    assert shapes([(1, 2), (0, 1)])[0] in ((3, 5), (5, 3))
    assert shapes([(0, 1), (0, 1)])[0] in ((2, 4), (4, 2))
    text = str(jax.make_jaxpr(lambda *o: jnp.einsum("ij,jk", *o, precision="highest"))(a, b))
    assert "HIGHEST" in text
    seen = []

    def product(*args, **options):
        seen.append((args[3], options))
        return lax.dot_general(*args, **options)

    np.testing.assert_array_equal(jnp.einsum("ij,jk", a, b, _dot_general=product), a @ b)
    assert seen == [(None, {"preferred_element_type": None})]


def test_array_repr_takes_numpy_options():
    thirds = jnp.arange(3.0) / 3
    assert jnp.array_repr(thirds, precision=2) == "Array([0.  , 0.33, 0.67], dtype=float32)"
    assert jnp.array_repr(thirds, max_line_width=12).count("\n") >= 2
    assert jnp.array_repr(thirds) == repr(thirds)
    assert "e-" not in jnp.array_repr(thirds * 1e-6, suppress_small=True)


def test_minimize_ends_at_the_tolerance():
    def bowl(y):
        return jnp.sum((y - 1) ** 4)

    loose, tight = (
        shardax.scipy.optimize.minimize(bowl, jnp.zeros(3), method="BFGS", tol=tol)
        for tol in (1.0, 1e-6)
    )
    assert int(loose.nit) < int(tight.nit)
    given = shardax.scipy.optimize.minimize(
        bowl, jnp.zeros(3), method="BFGS", tol=1e-6, options={"gtol": 1.0}
    )
    assert int(given.nit) == int(loose.nit)
