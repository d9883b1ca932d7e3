# tests/programs/test_export.py - functions written to files, read and called.
import collections
import functools
import subprocess
import sys

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import export, lax
from shardax.sharding import PartitionSpec as P

Pair = collections.namedtuple("Pair", "a b")
export.register_namedtuple_serialization(Pair, serialized_name="tests.Pair")


def again(f, *args, order=0, **kwargs):
    """The function f after a round trip through a file, for these arguments."""
    exported = export.export(f if hasattr(f, "lower") else shardax.jit(f))(*args, **kwargs)
    return export.deserialize(exported.serialize(order))


@shardax.custom_vjp
def seven_times_sine(x):
    return jnp.sin(x)


seven_times_sine.defvjp(lambda x: (jnp.sin(x), x), lambda x, g: (7 * g * jnp.cos(x),))

FUNCTIONS = {
    "constants": lambda x: x @ np.arange(6.0, dtype="float32").reshape(3, 2),
    "scan": lambda x: lax.scan(lambda c, a: (c + a, c * a), x.sum(), x),
    "while": lambda x: lax.while_loop(lambda c: c[1] < 5, lambda c: (c[0] * 2, c[1] + 1), (x, 0)),
    "cond": lambda x: lax.cond(x[0] > 1, jnp.sin, jnp.cos, x),
    "custom rule": seven_times_sine,
    "custom rule in a loop": lambda x: lax.fori_loop(0, 3, lambda _, c: seven_times_sine(c), x),
    "checkpoint policy": shardax.checkpoint(
        jnp.sin, policy=shardax.checkpoint_policies.everything_saveable
    ),
    "random": lambda x: x + shardax.random.normal(shardax.random.key(3), x.shape),
    "gather and scatter": lambda x: x.at[jnp.array([0, 0])].add(x[jnp.array([2, 1])]),
    "sort": lambda x: jnp.sort(-x),
    "low precision": lambda x: (x.astype("bfloat16") * 2, x.astype("float8_e4m3fn")),
    "complex": lambda x: jnp.fft.fft(x * 1j),
    "jit of pmap": lambda x: shardax.pmap(lambda a: a - lax.pmean(a, "i"), axis_name="i")(x),
    "keys": lambda x: {(1, 2): x, (0, 1): -x},
    "a tree": lambda x: {"b": [x, None], "a": Pair(x + 1, (x,)), "o": collections.OrderedDict(z=x)},
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_computes_the_same(name):
    f, x = shardax.jit(FUNCTIONS[name]), jnp.array([1.0, 2.0, 3.0])
    wanted, found = f(x), again(f, x).call(x)
    assert shardax.tree.structure(found) == shardax.tree.structure(wanted)
    for a, b in zip(shardax.tree.leaves(wanted), shardax.tree.leaves(found), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_attributes():
    exported = export.export(shardax.jit(jnp.sin))(shardax.ShapeDtypeStruct((3,), jnp.float32))
    assert repr(exported) == "Exported(fun_name=sin, ...)"
    assert str(exported.in_avals) == str(exported.out_avals) == "(ShapedArray(float32[3]),)"
    assert str(exported.in_tree) == "PyTreeDef(((*,), {}))"
    assert exported.platforms == ("cpu",) and exported.nr_devices == 1
    assert exported.module_kept_var_idx == (0,)
    assert "stablehlo.sine" in exported.mlir_module()
    tpu = export.export(shardax.jit(jnp.sin), platforms=["tpu"])(1.0)
    assert export.deserialize(tpu.serialize()).platforms == ("tpu",)
    named = export.DisabledSafetyCheck.custom_call("mine")
    checks = [export.DisabledSafetyCheck.platform(), named]
    read = export.export(shardax.jit(jnp.sin), disabled_checks=checks)(1.0).serialize()
    assert export.deserialize(read).disabled_safety_checks == tuple(checks)
    assert named.is_custom_call() == "mine" and checks[0].is_custom_call() is None


def test_platforms_are_checked():
    tpu = export.export(shardax.jit(jnp.sin), platforms=["tpu"])(0.0)
    with pytest.raises(
        ValueError, match=r"'sin' was exported for platforms \('tpu',\) but it is used on 'cpu'"
    ):
        tpu.call(0.0)
    unchecked = [export.DisabledSafetyCheck.platform()]
    f = export.export(shardax.jit(jnp.sin), platforms=["tpu"], disabled_checks=unchecked)(0.0)
    assert export.deserialize(f.serialize()).call(0.0) == 0
    both = export.export(shardax.jit(jnp.sin), platforms=["tpu", "cpu"])(0.0)
    assert both.call(0.0) == 0


def test_derivatives_by_order():
    cube = lambda x: x**3  # noqa: E731
    assert not again(cube, 2.0).has_vjp()
    first, third = again(cube, 2.0, order=1).call, again(cube, 2.0, order=3).call
    assert shardax.grad(first)(2.0) == 12
    assert shardax.jit(shardax.grad(shardax.grad(third)))(2.0) == 12
    with pytest.raises(ValueError, match="No VJP is available"):
        shardax.grad(shardax.grad(first))(2.0)
    assert shardax.grad(again(seven_times_sine, 0.0, order=1).call)(0.0) == 7


def test_derivatives_of_integers_are_float0():
    f = again(lambda x, n: (x * n, n + 1), jnp.ones(3), jnp.int32(2), order=1)
    pulled = f.vjp()
    assert [str(a.dtype) for a in pulled.in_avals[2:]] == ["float32", "[('float0', 'V')]"]
    gradient = shardax.grad(lambda x: f.call(x, jnp.int32(2))[0].sum())(jnp.ones(3))
    assert gradient.tolist() == [2, 2, 2]


def test_primitives_that_lower_to_programs():
    from shardax.interpreters import mlir

    double = shardax.extend.core.Primitive("double_of_x")
    double.def_abstract_eval(lambda x: x)
    mlir.register_lowering(double, mlir.lower_fun(lambda x: 2 * x, multiple_results=False))
    assert again(lambda x: double.bind(x) + 1, 3.0).call(3.0) == 7
    assert again(jnp.sin, 0.0).call(0.0) == 0


def test_static_arguments_and_keywords():
    @functools.partial(shardax.jit, static_argnums=1, static_argnames="scale")
    def f(x, n, *, y, scale):
        return x * n + y * scale

    exported = export.export(f)(1.0, 3, y=2.0, scale=10)
    read = export.deserialize(exported.serialize(1))
    assert read.call(1.0, y=2.0) == 23
    assert shardax.grad(lambda x: read.call(x, y=2.0))(1.0) == 3


def test_refuses_other_arguments():
    call = again(lambda x, y: x + y["w"], jnp.ones(3), {"w": jnp.ones(3)}).call
    one = jnp.ones(3)
    for args, message in [
        ((one, {"w": 1.0}), r"Rank mismatch for args\[1\]\['w'\]: expected \(3,\) and called with"),
        ((jnp.ones(4), {"w": one}), r"Shape mismatch for args\[0\].shape\[0\] \(expected same con"),
        ((one, {"w": jnp.arange(3)}), "Dtype mismatch.*expected float32 and called with int32"),
        ((one,), r"args is a tuple of length 1 in the invocation and a tuple of length 2 when"),
    ]:
        with pytest.raises(ValueError, match=message):
            call(*args)


def test_refuses_what_no_file_holds():
    with pytest.raises(ValueError, match="must be the result of `jit`"):
        export.export(lambda x: x)
    with pytest.raises(ValueError, match="platforms must be a sequence of names, got 'cpu'"):
        export.export(shardax.jit(jnp.sin), platforms="cpu")
    ask = shardax.jit(lambda x: shardax.pure_callback(np.sin, x, x))
    exported = export.export(ask)(jnp.float32(1))
    assert exported.call(jnp.float32(0)) == 0
    with pytest.raises(ValueError, match="pure_callback calls the Python function sin"):
        exported.serialize()
    mine = shardax.extend.core.Primitive("mine")
    mine.def_impl(lambda x: x)
    mine.def_abstract_eval(lambda x: x)
    with pytest.raises(ValueError, match="calls the Python function <lambda>"):
        export.export(shardax.jit(mine.bind))(1.0).serialize()
    plain = export.export(shardax.jit(jnp.sin))(1.0)
    with pytest.raises(ValueError, match="must be non-negative, got -1"):
        plain.serialize(vjp_order=-1)
    with pytest.raises(ValueError, match="does not have vjps of high-enough order"):
        export.deserialize(plain.serialize()).serialize(vjp_order=1)
    with pytest.raises(ValueError, match="only dicts whose keys are strings, numbers or tuples"):
        export.export(shardax.jit(lambda x: {shardax.jit: x}))(1.0).serialize()


def test_bytes_that_are_none_of_ours():
    data = bytes(export.export(shardax.jit(jnp.sin))(1.0).serialize(1))
    with pytest.raises(ValueError, match="not written by Exported.serialize"):
        export.deserialize(b"something else")
    for end in range(0, len(data), 7):
        with pytest.raises(ValueError, match="export"):
            export.deserialize(data[:end])
    for at in range(0, len(data), 11):
        with pytest.raises(ValueError, match="export"):
            export.deserialize(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    archive = shardax.make_jaxpr(lambda x: jnp.sin(x) * np.arange(3.0))(1.0)
    program = shardax._core.api.serialize(archive)
    for at in range(len(program)):
        changed = program[:at] + bytes([program[at] ^ 4]) + program[at + 1 :]
        try:
            shardax._core.api.deserialize(changed)
        except ValueError:
            pass  # a changed name or number may also be another program
        with pytest.raises(ValueError):
            shardax._core.api.deserialize(program[:at])


def test_registrations():
    class Node:
        pass

    options = {"serialize_auxdata": lambda _: b"", "deserialize_auxdata": lambda _: None}
    register = export.register_pytree_node_serialization
    with pytest.raises(ValueError, match="you must call first"):
        register(Node, serialized_name="tests.Node", **options)
    with pytest.raises(ValueError, match="for types other than `collections.namedtuple`"):
        export.register_namedtuple_serialization(Node, serialized_name="tests.Node")
    with pytest.raises(ValueError, match="Duplicate.*for type.*Pair.*`tests.Pair`"):
        export.register_namedtuple_serialization(Pair, serialized_name="another")
    other = collections.namedtuple("Other", "a")
    with pytest.raises(ValueError, match="Duplicate.*serialized_name `tests.Pair`"):
        export.register_namedtuple_serialization(other, serialized_name="tests.Pair")
    with pytest.raises(ValueError, match="unregistered type.*Other"):
        export.export(shardax.jit(lambda x: other(x)))(1.0).serialize()


def test_in_another_process(tmp_path):
    path = tmp_path / "function"
    key = shardax.random.key(0)
    f = shardax.jit(lambda k, x: x + shardax.random.uniform(k, x.shape))
    path.write_bytes(export.export(f)(key, jnp.ones(3)).serialize())
    program = (
        "import sys, shardax; from shardax import export, numpy as jnp\n"
        "f = export.deserialize(open(sys.argv[1], 'rb').read())\n"
        "print(f.call(shardax.random.key(0), jnp.ones(3)).tolist())"
    )
    out = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    assert out.stdout.strip() == str(f(key, jnp.ones(3)).tolist()), out.stderr


def test_second_derivatives_with_integers():
    xi = np.arange(6, dtype=np.int32).reshape(2, 3)
    xf = xi.astype("float32")
    f = export.export(shardax.jit(lambda i, x: (2 * i, i * x)))(xi, xf)
    _, pull = shardax.vjp(export.deserialize(f.serialize(vjp_order=2)).call, xi, xf)
    cotangents = np.zeros((2, 3), shardax.dtypes.float0), np.ones((2, 3), "float32")
    pulled, again = shardax.vjp(pull, cotangents)
    np.testing.assert_array_equal(pulled[1], xi)
    ((none, out),) = again(pulled)
    assert none.dtype == shardax.dtypes.float0
    np.testing.assert_array_equal(out, xi * xi)


def test_shardings_over_another_mesh():
    mesh, other = (shardax.make_mesh((2,), (name,)) for name in "xy")
    rows, columns = (shardax.NamedSharding(mesh, spec) for spec in (P("x", None), P(None, "x")))
    f = shardax.jit(lambda a, b: 2 * a, in_shardings=(rows, None), out_shardings=columns)
    a = np.arange(16.0, dtype=np.float32).reshape(4, 4)
    for exported in (export.export(f)(a, a), again(f, a, a)):
        assert exported.nr_devices == 2
        given = exported.in_shardings_jax(other)
        assert given == tuple(shardax.NamedSharding(other, spec) for spec in (P("y", None), P()))
        (found,) = exported.out_shardings_jax(other)
        assert found == shardax.NamedSharding(other, P(None, "y"))
        np.testing.assert_array_equal(exported.call(shardax.device_put(a, given[0]), a), 2 * a)
        with pytest.raises(ValueError, match="for 2 devices and is called in a context with 1 dev"):
            exported.call(a, a)
        with shardax.set_mesh(mesh):
            np.testing.assert_array_equal(exported.call(a, a), 2 * a)
        with pytest.raises(ValueError, match=r"sizes \(4,\), but .* exported for \(2,\)"):
            exported.in_shardings_jax(shardax.make_mesh((4,), ("x",)))
    plain = export.export(shardax.jit(jnp.sin))(a)
    assert plain.nr_devices == 1 and plain.in_shardings_jax(other) == (None,)


def test_results_lie_where_arguments_do():
    mesh = shardax.make_mesh((2,), ("x",))
    rows = shardax.NamedSharding(mesh, P("x", None))
    f = shardax.jit(lambda a, b: jnp.sin(a), in_shardings=(rows, None), out_shardings=rows)
    a = np.arange(16.0, dtype=np.float32).reshape(4, 4)
    exported = again(f, a, a)
    devices = shardax.devices()[5:3:-1]
    given = exported.in_shardings_jax(shardax.sharding.Mesh(devices, "y"))
    result = exported.call(*(shardax.device_put(a, where) for where in given))
    assert [shard.device for shard in result.addressable_shards] == devices
    np.testing.assert_allclose(result, np.sin(a), rtol=1e-6)


def test_arguments_are_named_by_their_symbolic_shape():
    b = export.symbolic_shape("b, 3")
    exported = export.export(shardax.jit(jnp.sin))(shardax.ShapeDtypeStruct(b, jnp.float32))
    with pytest.raises(ValueError, match=r"expected \(b, 3\) and called with \(2, 4\)"):
        exported.call(np.ones((2, 4), np.float32))
    specs = export.symbolic_args_specs((np.ones((3, 4)),), "a, ...")
    assert specs[0].dtype == np.float32
    assert str(export.DisabledSafetyCheck.custom_call("f")) == "custom_call:f"


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("asked", [False, True])
def test_derivatives_are_split_as_arguments_and_results(given, asked):
    mesh = shardax.make_mesh((2,), ("x",), axis_types=(shardax.sharding.AxisType.Auto,))
    columns, rows = (shardax.NamedSharding(mesh, spec) for spec in (P(None, "x"), P("x", None)))
    options = {"in_shardings": columns} if given else {}
    options |= {"out_shardings": rows} if asked else {}
    x = np.ones((2, 4), np.float32)
    exported = again(shardax.jit(lambda x: jnp.sin(x.T), **options), x, order=1)
    pulled = exported.vjp()
    assert not given or pulled.in_shardings_jax(mesh)[0] == columns
    assert not given or pulled.out_shardings_jax(mesh)[0] == columns
    first, second = (f"args_and_out_cts_flat_jax[{i}]" for i in range(2))
    text = pulled.mlir_module()
    assert f'loc("{first}"), %arg1' in text and f'loc("{second}")) ->' in text
    assert ('[{}, {"x"}]>} loc' in text, '[{"x"}, {}]>} loc' in text) == (given, asked)


def test_modules_name_their_arguments():
    f = shardax.jit(lambda x, y: x["a"] + y)
    for exported in (export.export(f)({"a": 1.0}, 2.0), again(f, {"a": 1.0}, 2.0)):
        text = exported.mlir_module()
        assert '%arg0: tensor<f32> loc("x[\'a\']"), %arg1: tensor<f32> loc("y")' in text
        assert "{jax.uses_shape_polymorphism = false, mhlo" in text


def test_names_follow_keywords_and_leave_out_static_arguments():
    f = shardax.jit(lambda x, n, *, z, a: x * z * n + a, static_argnums=1)
    exported = export.export(f)(jnp.ones(3), 2, z=jnp.ones(3), a=1.0)
    text = exported.mlir_module()
    for name, kind in (("x", "3xf32"), ("a", "f32"), ("z", "3xf32")):
        assert f'tensor<{kind}> loc("{name}")' in text
    assert text.index('loc("a")') < text.index('loc("z")')
