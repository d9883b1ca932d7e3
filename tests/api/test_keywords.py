"""tests/api/test_keywords.py - keywords, and kinds of arguments, that libraries use."""

import copy
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

x = jnp.arange(5.0)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: lax.sin(x=0.0), 0.0),
        (lambda: lax.add(x=1, y=2), 3),
        (lambda: lax.add(1, y=2), 3),
        (lambda: lax.sub(y=1, x=5), 4),
        (lambda: lax.nextafter(x1=np.float32(1), x2=np.float32(2)), 1.0000001),
        (lambda: lax.igamma(a=1.0, x=jnp.inf), 1.0),
        (lambda: lax.betainc(a=1.0, b=1.0, x=0.5), 0.5),
        (lambda: lax.polygamma(m=0.0, x=1.0), -0.5772157),
        (lambda: lax.exp(0.0, accuracy=None), 1.0),
        (lambda: lax.exp(x=0.0, accuracy=lax.AccuracyMode.HIGHEST), 1.0),
        (lambda: lax.tanh(0.0, accuracy=lax.Tolerance(atol=1e-3)), 0.0),
        (lambda: lax.mul(jnp.int8(100), jnp.int8(3), out_dtype=jnp.int32), 300),
        (lambda: lax.mul(1.5, 1.5, out_dtype=np.int32), 1),
        (lambda: jnp.trunc(x=1.5), 1.0),
        (lambda: jnp.fmax(x1=1, x2=2), 2),
        (lambda: jnp.fmin(x1=1, x2=2), 1),
    ],
)
def test_elementwise_functions_take_their_operands_by_name(call, expected):
    np.testing.assert_allclose(np.asarray(call()), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: lax.sin(y=1.0), "sin() got an unexpected keyword argument 'y'"),
        (lambda: lax.add(1.0, x=2.0), "add() got multiple values for argument 'x'"),
        (lambda: lax.add(1.0), "add() missing 1 required positional argument: 'y'"),
        (lambda: lax.add(), "add() missing 2 required positional arguments: 'x' and 'y'"),
        (lambda: lax.add(1.0, 2.0, 3.0), "add() takes 2 positional arguments but 3 were given"),
        (lambda: lax.add(1.0, 2.0, z=3.0), "add() got an unexpected keyword argument 'z'"),
        (
            lambda: jnp.sin(x=1.0),
            "sin() got some positional-only arguments passed as keyword arguments: 'x'",
        ),
    ],
)
def test_elementwise_functions_name_what_is_wrong(call, text):
    with pytest.raises(TypeError) as error:
        call()
    assert str(error.value) == text


def test_accuracies():
    with pytest.raises(NotImplementedError, match="Accuracy 3 not supported"):
        lax.exp(1.0, accuracy=3)
    with pytest.raises(ValueError, match="must be non-negative"):
        lax.Tolerance(atol=-1.0)
    with pytest.raises(ValueError, match="At least one of atol, rtol, or ulps"):
        lax.Tolerance()


def test_axes_of_any_kind_of_sequence():
    assert jnp.expand_dims(jnp.ones(3), range(1)).shape == (1, 3)
    assert jnp.expand_dims(jnp.ones(3), np.array([0, 2])).shape == (1, 3, 1)
    assert jnp.moveaxis(jnp.ones((1, 2, 3)), range(2), np.array([1, 2])).shape == (3, 1, 2)
    rows = jnp.arange(6).reshape(2, 3)
    assert jnp.roll(rows, np.array([1, 1]), range(2)).tolist() == [[5, 3, 4], [2, 0, 1]]
    assert jnp.roll(rows, range(2), np.array([0, 1])).tolist() == [[2, 0, 1], [5, 3, 4]]


def test_arrays_by_name():
    assert jnp.reshape(a=x[:4], shape=(2, 2)).shape == (2, 2) and jnp.ravel(a=x).shape == (5,)
    assert lax.reshape(operand=x[:4], new_sizes=(2, 2)).shape == (2, 2)
    assert jnp.bincount(x=jnp.array([0, 1, 1])).tolist() == [1, 2]
    whole = jax.NamedSharding(
        jax.make_mesh((2,), ("i",), (jax.sharding.AxisType.Explicit,)), jax.P()
    )
    assert jnp.reshape(a=x[:4], shape=(2, 2), out_sharding=whole).shape == (2, 2)
    assert jnp.bincount(x=jnp.array([0, 1, 1]), out_sharding=whole).tolist() == [1, 2]


def test_shardings_of_results():
    assert float(jnp.tensordot(x[:3], jnp.ones(3), 1, out_sharding=None)) == 3
    assert jnp.bincount(jnp.array([0, 1, 1]), out_sharding=None).tolist() == [1, 2]
    assert float(jnp.percentile(x, 50, out_sharding=None)) == 2
    assert jnp.broadcast_to(array=1, shape=(2,), out_sharding=None).tolist() == [1, 1]
    spread = jax.NamedSharding(jax.make_mesh((2,), ("i",)), jax.P("i"))
    ids = jnp.array([0, 1, 1])
    for out in (
        jnp.broadcast_to(1.0, (2,), out_sharding=spread),
        jnp.tensordot(jnp.ones((2, 3)), jnp.ones(3), 1, out_sharding=spread),
        jax.ops.segment_sum(jnp.ones(3), ids, 2, out_sharding=spread),
        jnp.bincount(ids, out_sharding=spread),
        jnp.percentile(x, jnp.array([0, 50]), out_sharding=spread),
    ):
        assert out.sharding == spread


def test_segments_of_a_scalar():
    assert jax.ops.segment_sum(1.0, jnp.array([0, 1, 1]), 2).tolist() == [1, 2]
    assert jax.ops.segment_sum(1.0, jnp.array(0), 2).tolist() == [1, 0]


def test_slices_whose_indices_do_not_count_from_the_end():
    for call in (
        lambda: lax.dynamic_slice(x, (-2,), (2,), allow_negative_indices=False),
        lambda: lax.dynamic_slice_in_dim(x, -2, 2, allow_negative_indices=False),
        lambda: lax.dynamic_update_slice(x, x[:2], (-2,), allow_negative_indices=False),
        lambda: lax.dynamic_update_slice_in_dim(x, x[:2], -2, 0, allow_negative_indices=False),
    ):
        with pytest.raises(ValueError, match="Index -2 is out of bounds for dimension 5"):
            call()
    assert lax.dynamic_slice(x, (-2,), (2,), allow_negative_indices=[True]).tolist() == [3, 4]
    traced = jax.jit(lambda i: lax.dynamic_slice(x, (i,), (2,), allow_negative_indices=False))
    assert traced(-2).tolist() == [0, 1]
    assert lax.dynamic_index_in_dim(x, -2, allow_negative_indices=False).tolist() == [0]
    with pytest.raises(ValueError, match="2 entries for 1 dimensions"):
        lax.dynamic_slice(x, (0,), (2,), allow_negative_indices=(True, False))


def test_matrices():
    eye = jnp.eye(2)
    linalg = jax.scipy.linalg
    assert linalg.inv(eye, overwrite_a=True, check_finite=False).tolist() == eye.tolist()
    assert linalg.det(eye, overwrite_a=True, check_finite=False) == 1
    assert linalg.eigh(eye, type=1, check_finite=False)[0].tolist() == [1, 1]
    with pytest.raises(NotImplementedError, match="Only the type=1 case of eigh"):
        linalg.eigh(eye, type=2)
    assert int(jnp.linalg.matrix_rank(jnp.ones((3, 3)), hermitian=True)) == 1


def test_strict_promotion_with_x64():
    a = jnp.array([[4.0, 1], [2, 3]], jnp.float32)
    with jax.enable_x64(True), jax.numpy_dtype_promotion("strict"):
        for f in (jnp.linalg.inv, jnp.linalg.det, jnp.linalg.slogdet):
            assert jax.tree.leaves(f(a))[0].dtype == np.float32
        assert jnp.linalg.solve(a, a[0]).dtype == np.float32
        assert jnp.linalg.solve(a, a).dtype == np.float32


def test_dtypes():
    assert jax.dtypes.canonicalize_dtype(None) == np.float32
    assert jnp.issubdtype(arg1=jnp.float32, arg2=np.floating)
    assert jnp.iinfo(int_type="int8").max == 127


def test_context_managers_take_their_values_by_name():
    f = jax.jit(lambda x: x + 1)
    with jax.disable_jit(disable=False):
        assert not jax.config.jax_disable_jit and f(1) == 2
    with jax.disable_jit(disable=True):
        assert jax.config.jax_disable_jit
    with jax.debug_nans(new_val=False):
        assert not jax.config.jax_debug_nans


def test_checkpoint_with_static_names():
    def f(x, square):
        return jnp.sin(x) ** 2 if square else x

    checked = jax.checkpoint(f, static_argnames="square")
    for call in (
        lambda x: checked(x, square=True),
        lambda x: checked(x, True),
        lambda x: jax.checkpoint(f, static_argnames=("square",), static_argnums=1)(x, True),
    ):
        np.testing.assert_allclose(jax.grad(call)(1.0), np.sin(2.0), rtol=1e-6)


def test_shapes_of_shapes():
    struct = jax.ShapeDtypeStruct((2,), jnp.float32)
    assert jax.eval_shape(lambda: struct) == struct
    out = jax.eval_shape(lambda x: {"x": x, "s": struct}, 1.0)
    assert out["s"] is struct and out["x"].shape == () and out["x"].weak_type


def test_structs_are_operands_under_eval_shape():
    struct = jax.ShapeDtypeStruct((2, 3), jnp.float32)
    inner = jax.jit(lambda x: x.sum(0))
    assert jax.eval_shape(lambda: inner(struct)).shape == (3,)
    assert jax.eval_shape(lambda x: jnp.sin(x @ struct), jnp.ones((4, 2))).shape == (4, 3)
    assert jax.eval_shape(lambda: jax.eval_shape(inner, struct)).shape == (3,)
    for f in (jnp.sin, inner):
        with pytest.raises(TypeError):
            f(struct)
    assert not hasattr(struct, "__jax_array__")
    assert type(struct).__module__ == jax.__name__


def double(x):
    return 2 * x


@jax.jit
def triple(x):
    return 3 * x


def test_copies_and_pickles_of_functions():
    for f in (triple, jax.grad(double), jax.vmap(double), jax.pmap(double)):
        assert copy.deepcopy(f) is copy.copy(f) is f
    assert pickle.loads(pickle.dumps(jax.nn.gelu)) is jax.nn.gelu
    assert pickle.loads(pickle.dumps(triple)) is triple
    other = pickle.loads(pickle.dumps(jax.jit(double, donate_argnames="x", inline=True)))
    assert other(3) == 6
    assert other.__wrapped__ is double
    assert pickle.loads(pickle.dumps(jax.grad(double)))(3.0) == 2
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(jax.grad(lambda x: x))


def test_a_pickled_function_in_another_process():
    data = pickle.dumps(jax.jit(jnp.sin, static_argnames=()))
    code = f"import pickle; print(pickle.loads({data!r})(0.0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "0.0\n", done.stderr


def test_cloudpickle_of_a_function():
    cloudpickle = pytest.importorskip("cloudpickle")
    shift = 3
    f = pickle.loads(cloudpickle.dumps(jax.jit(lambda x: x + shift)))
    assert f(1) == 4


@pytest.mark.parametrize(
    "fun",
    [
        jnp.array,
        jnp.asarray,
        jnp.array_str,
        jnp.broadcast_to,
        jax.typeof,
        jax.core.ShapedArray,
        lax.sin,
        lax.mul,
        jnp.add,
        x.sum,
        x.astype,
        x.reshape,
        jnp.ndarray.mean,
    ],
)
def test_signatures_are_known(fun):
    assert inspect.signature(fun).parameters


def test_signatures_of_elementwise_functions():
    assert str(inspect.signature(lax.sin)) == "(x, *, accuracy=None)"
    assert str(inspect.signature(lax.zeta)) == "(x, q)"
    assert str(inspect.signature(lax.mul)) == "(x, y, *, out_dtype=None)"
    assert str(inspect.signature(jnp.arctan2)) == "(x1, x2, /)"


METHODS = [
    name
    for name in dir(jnp.ndarray)
    if "shardax.numpy." in (getattr(jnp.ndarray, name).__doc__ or "") and name[0] != "_"
]


@pytest.mark.parametrize("name", METHODS)
def test_methods_have_the_parameters_of_their_functions(name):
    method = getattr(jnp.ndarray, name)
    function = method.__doc__.split()[0].removeprefix("shardax.numpy.")
    if function.startswith("_"):
        return
    own = [p.replace(annotation=p.empty) for p in inspect.signature(method).parameters.values()]
    full = inspect.signature(getattr(jnp, function)).parameters.values()
    shown = [(p.name, p.default) for p in own[1:]]
    assert shown == [(p.name, p.default) for p in full][1:]


def test_methods_are_documented():
    assert len(METHODS) > 25
    assert jnp.ndarray.sum.__doc__ == "shardax.numpy.sum of the array."


def test_shaped_arrays_with_all_arguments():
    aval = jax.core.ShapedArray((2,), jnp.float32, sharding=None, memory_space=None)
    assert aval == jax.core.ShapedArray((2,), "float32")
    with pytest.raises(TypeError, match="unexpected keyword argument 'shard'"):
        jax.core.ShapedArray((2,), jnp.float32, shard=None)


def test_meshes_say_of_what_kind_their_axes_are():
    assert jax.make_mesh((2,), ("i",)).are_all_axes_explicit
    mesh = jax.make_mesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    assert mesh.are_all_axes_auto and not mesh.are_all_axes_explicit
    assert mesh.auto_axes == ("i",) and mesh.explicit_axes == mesh.manual_axes == ()
    assert not jax.typeof(x).sharding.mesh.are_all_axes_explicit


def test_the_text_of_a_lowered_program():
    text = jax.jit(lambda x: x + 1).lower(1.0).compiler_ir("hlo").as_hlo_text()
    assert text.startswith("HloModule jit_") and "add" in text
