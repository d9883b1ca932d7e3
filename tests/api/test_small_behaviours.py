"""tests/api/test_small_behaviours.py - behaviours that programs written for JAX rely on, one by
one."""

import ml_dtypes
import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import ad_checkpoint, dtypes, lax
from shardax.errors import JaxRuntimeError
from shardax.experimental import mesh_utils, sparse
from shardax.experimental.layout import Format, Layout
from shardax.extend.core import Primitive
from shardax.interpreters import mlir
from shardax.sharding import NamedSharding, SingleDeviceSharding
from shardax.sharding import PartitionSpec as P


def test_device_put_gives_back_what_lies_there():
    x = jax.device_put(jnp.arange(8), NamedSharding(jax.make_mesh((8,), ("x",)), P("x")))
    assert jax.device_put(x, x.sharding) is x and jax.device_put(x) is x
    assert jax.device_put(x, jax.devices()[0]) is not x
    copy = jax.device_put(x, x.sharding, may_alias=False)
    assert copy is not x and copy.sharding == x.sharding
    assert copy.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    with pytest.raises(ValueError, match="may_alias and donate cannot be True"):
        jax.device_put(x, may_alias=True, donate=True)


def test_formats_have_to_fit():
    one = SingleDeviceSharding(jax.devices()[0])
    with pytest.raises(ValueError, match="should be concrete. Got layout: AUTO"):
        jax.device_put(np.ones(2), Format(Layout.AUTO, one))
    with pytest.raises(ValueError, match="Length of major_to_minor and the rank"):
        jax.device_put(np.ones(2), Format(Layout((0, 1, 2)), one))
    with pytest.raises(TypeError, match="`Layout.AUTO` cannot be used .* `ShapeDtypeStruct`"):
        jax.ShapeDtypeStruct((2,), "float32", sharding=Format(Layout.AUTO))
    with pytest.raises(TypeError, match="`Layout.AUTO` cannot be used"):
        jax.make_array_from_callback((2,), Format(Layout.AUTO, one), lambda i: np.ones(2))
    made = jax.make_array_from_callback((2,), Format(Layout((0,)), one), lambda i: np.ones(2))
    assert made.sharding == one


def test_the_program_of_a_linearized_function():
    _, linear = jax.linearize(lambda x: jnp.sin(x) * x, 2.0)
    (program,) = linear.func.args
    assert "mul" in str(program) and len(program.out_avals) == 1


def test_static_arguments_that_cannot_be_compared_or_hashed():
    class Other:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            raise NotImplementedError("of my own")

    f = jax.jit(lambda x, y: x, static_argnums=1)
    f(1, Other())
    with pytest.raises(ValueError, match="static arguments should be comparable using __eq__"):
        f(1, Other())

    class NoHash:
        def __hash__(self):
            raise ValueError("no hash of mine")

    with pytest.raises(ValueError, match="^no hash of mine"):
        f(1, NoHash())


def test_compiler_options():
    f = jax.jit(lambda x: x + 1, compiler_options={"exec_time_optimization_effort": 0.0})
    assert f(1) == 2
    with pytest.raises(JaxRuntimeError, match="No such compile option: 'exec_time'"):
        jax.jit(lambda x: x, compiler_options={"exec_time": 0.0})


def test_switches_among_compiler_options():
    lowered = jax.jit(lambda x: x + 1).lower(1)
    lowered.compile(compiler_options={"xla_embed_ir_in_executable": "true"})
    with pytest.raises(JaxRuntimeError, match="executable, 'maybe' is not a valid bool value"):
        lowered.compile(compiler_options={"xla_embed_ir_in_executable": "maybe"})


def test_compiled_functions_refuse_tracers_by_name():
    compiled = jax.jit(lambda x: x + 4).lower(1.0).compile()
    with pytest.raises(TypeError, match="Detected argument of Tracer type BatchTracer"):
        jax.vmap(compiled)(jnp.ones(3))


def test_aliases_have_names_of_their_own():
    for name in ("amax", "amin", "around", "concat", "permute_dims"):
        assert getattr(jnp, name).__name__ == name
    x = jnp.array([[1.26, -2.0], [3.0, 0.5]])
    assert jnp.amax(x) == 3 and jnp.amin(x, axis=1)[0] == -2 and jnp.around(x, 1)[0, 0] == 1.3
    assert jnp.concat([x, x], axis=1).shape == (2, 4)
    np.testing.assert_array_equal(jnp.permute_dims(x, (1, 0)), x.T)


def test_elements_as_numpy_has_them():
    x = jnp.arange(3)
    assert isinstance(x._value, np.ndarray) and x._value.tolist() == [0, 1, 2]
    x._check_if_deleted()
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        x._check_if_deleted()


def test_unravel_index_of_sizes_that_are_traced():
    out = jax.jit(jnp.unravel_index)(jnp.array([5, -1]), (2, 3))
    np.testing.assert_array_equal(out, [[1, 1], [2, 2]])


def test_functions_of_ufuncs_cannot_be_replaced():
    with pytest.raises(AttributeError, match="cannot be set"):
        jnp.add._func = None


def test_ranks_of_vectorized_operands():
    f = jnp.vectorize(jnp.add, signature="(),()->()")
    with jax.numpy_rank_promotion("raise"):
        with pytest.raises(ValueError, match=r"operands with shapes \[\(2, 2\), \(2,\)\] require"):
            f(jnp.ones((2, 2)), jnp.ones(2))
    with jax.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="require rank"):
        f(jnp.ones((2, 2)), jnp.ones(2))


def test_policies_may_say_what_they_mean():
    says = {"sin": ad_checkpoint.Saveable, "mul": ad_checkpoint.Offloadable("device", "host")}
    policy = lambda primitive, *_, **__: says.get(primitive.name, ad_checkpoint.Recompute)
    f = jax.checkpoint(lambda x: jnp.exp(jnp.sin(x) * x), policy=policy)
    assert f"{jax.grad(f)(1.0):.5f}" == f"{jax.grad(lambda x: jnp.exp(jnp.sin(x) * x))(1.0):.5f}"
    kept = [text for _, text in ad_checkpoint.saved_residuals(f, 1.0)]
    assert any("sin" in text for text in kept) and any("mul" in text for text in kept)


def test_no_dtype_is_an_object():
    assert not dtypes.issubdtype("float32", object) and not dtypes.issubdtype("bfloat16", object)


def test_custom_rules_keep_no_tracers():
    for wrap, rules in ((jax.custom_jvp, 1), (jax.custom_vjp, 2)):
        f = wrap(lambda x: x)
        (f.defjvp if rules == 1 else f.defvjp)(*[lambda *_: None] * rules)
        with jax.checking_leaks():
            assert jax.jit(lambda x, f=f: f(x))(3) == 3


def test_checks_of_backward_rules_can_be_left_out():
    f = jax.custom_vjp(lambda x, y: x)
    f.defvjp(lambda x, y: (x, None), lambda _, g: (jnp.zeros(3), jnp.zeros(3)))
    loss = lambda x, y: f(x, y).sum()
    with pytest.raises(ValueError, match="must produce an output with the same type"):
        jax.grad(loss, 1)(jnp.ones(3), jnp.ones(4))
    jax.config.update("jax_disable_bwd_checks", True)
    try:
        assert jax.grad(loss, 1)(jnp.ones(3), jnp.ones(4)).shape == (3,)
    finally:
        jax.config.update("jax_disable_bwd_checks", False)


def test_types_of_primitives_come_as_many_as_results():
    primitive = Primitive("mine")
    primitive.def_impl(lambda x: x)
    primitive.def_abstract_eval(lambda x: [x])
    with pytest.raises(ValueError, match=r"^mine.abstract_eval\(\) method should return"):
        jax.jit(primitive.bind)(1.0)
    primitive.multiple_results = True
    assert [x.shape for x in jax.make_jaxpr(primitive.bind)(1.0).out_avals] == [()]


def test_gradients_that_nobody_wants_in_jit():
    _, pull = jax.vjp(lambda x, y: x * y, jnp.arange(3.0), jnp.ones(3))
    pull = pull.with_refs(jax.ad.DontWant(), jax.ad.GradValue())
    none, found = jax.jit(lambda: pull(jnp.ones(3)))()
    assert none == jax.ad.DidntWant()
    np.testing.assert_array_equal(found, jnp.arange(3.0))


def test_nothing_is_broadcast():
    assert not jax.make_jaxpr(lambda: lax.broadcast(np.float32(3), ()))().eqns
    assert jax.jit(lambda x: x + 1).lower(1.0).compile().runtime_executable() is not None


def test_functions_of_sparse_arrays_lie_beside_their_class_too():
    assert sparse.bcoo.bcoo_dot_general is sparse.bcoo_dot_general


def test_objects_that_are_arrays():
    class Wrapped:
        def __init__(self, x):
            self.x = jnp.asarray(x)

        def __jax_array__(self):
            return self.x

    assert jnp.iscomplexobj(Wrapped(1j)) and not jnp.iscomplexobj(Wrapped(1.0))
    assert jax.jit(lambda x: jnp.array(jnp.iscomplexobj([1.0, x])))(1j)
    np.testing.assert_array_equal(jnp.delete(Wrapped([4, 5, 6]), Wrapped([0, 2])), [5])

    for stage in (jax.jit, jax.vmap, jax.make_jaxpr):
        with pytest.raises(ValueError, match=r"__jax_array__\(\) during abstractification.*: x is"):
            stage(lambda x: x)(Wrapped([1.0]))
    np.testing.assert_array_equal(jax.nn.relu(Wrapped([-1.0, 1.0])), [0.0, 1.0])


def test_what_is_no_array_and_no_dtype():
    with pytest.raises(
        TypeError, match=r"Argument '\[1 2\]' of type .*ndarray'> is not a valid JAX"
    ):
        jax.grad(lambda x: x)(np.array([1, 2], object))
    with pytest.raises(TypeError, match="data type 'nonsense' not understood; expected the name"):
        jnp.zeros(3, "nonsense")
    with pytest.raises(ValueError, match="an array as a dtype argument.* use dtype=arr.dtype"):
        jnp.zeros(3, jnp.arange(4))
    assert jnp.result_type(None) == dtypes.result_type(None) == jnp.float32


def test_arrays_like_others_stay_on_their_device():
    x = jax.device_put(jnp.ones((2, 3)), jax.devices()[1])
    assert lax.full_like(x, 1, shape=()).devices() == {jax.devices()[1]}


def test_names_that_nobody_knows():
    with pytest.raises(ValueError, match="Got invalid memory kind: odd. Valid memory kinds are: d"):
        NamedSharding(jax.sharding.AbstractMesh((2,), ("x",)), P(), memory_kind="odd")
    with pytest.raises(NotImplementedError, match="unknown platform abacus. Known platforms are"):
        mlir.register_lowering(Primitive("p"), None, platform="abacus")
    with pytest.raises(ValueError, match="`create_device_mesh` should be a sequence of ints, got"):
        mesh_utils.create_device_mesh(((2,), 2))


def test_versions_in_reports():
    report = jax.print_environment_info(return_string=True)
    assert "shardax: " in report and "jax:    0.10.2" in report and "jaxlib: 0.10.2" in report


def test_sizes_that_are_fractions():
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        jax.nn.one_hot(jnp.array([1, 2]), 3.0)
    for method in ("linear", "nearest"):
        with pytest.raises(TypeError, match="Shapes must be 1D sequences of concrete values of in"):
            jax.image.resize(jnp.ones((2, 2)), (4, 2.5), method)


def test_bfloat16_is_a_class():
    assert isinstance(ml_dtypes.bfloat16(1), jax.dtypes.bfloat16)
    assert not isinstance(1.0, jax.dtypes.bfloat16)


@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape_leaves_arrays_of_numpy_to_numpy(order):
    """So that checks of values that are known run within jit."""
    x = np.arange(6.0).reshape(2, 3)
    seen = []
    for f in (lambda f: f(), lambda f: jax.jit(lambda: (f(), 0.0)[1])()):
        f(lambda: seen.append(jnp.reshape(x, (3, 2), order)))
    for y in seen:
        assert type(y) is np.ndarray and y.dtype == np.float64
        np.testing.assert_array_equal(y, jnp.reshape(jnp.asarray(x), (3, 2), order))
    assert isinstance(jnp.reshape(1.0, (1,)), jax.Array)
