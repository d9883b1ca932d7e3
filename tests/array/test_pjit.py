"""tests/array/test_pjit.py - the older jit, which runs on the mesh of a `with` block."""

import threading

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax._devices.specs import DuplicateSpecError
from shardax.experimental.layout import Format, Layout
from shardax.experimental.pjit import pjit
from shardax.sharding import Mesh, NamedSharding, SingleDeviceSharding
from shardax.sharding import PartitionSpec as P

X = jnp.arange(8.0)


def mesh(*shape):
    devices = np.array(jax.devices()[: int(np.prod(shape or (2, 2)))])
    return Mesh(devices.reshape(shape or (2, 2)), ("x", "y"))


FUNCTIONS = {
    "of an array": lambda: pjit(lambda x: 2 * x)(X),
    "of no array": lambda: pjit(lambda: 1)(),
    "split and whole again": lambda: pjit(lambda x: x, P("x"), None)(X),
    "None for the result": lambda: pjit(lambda x: x, in_shardings=P("x"), out_shardings=None)(X),
    "nested": lambda: pjit(lambda x: pjit(lambda v: v + 1)(x))(X),
    "decorated": lambda: pjit(static_argnums=0)(lambda n, x: n * x)(3, X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_lie_on_the_mesh(name):
    with mesh():
        out = FUNCTIONS[name]()
    assert out.sharding == NamedSharding(mesh(), P())
    assert [s.data.shape for s in out.addressable_shards] == [out.shape] * 4


def test_without_a_mesh_it_is_jit():
    f = pjit(lambda x: x + 1, in_shardings=None)
    assert isinstance(f(X).sharding, SingleDeviceSharding)
    with mesh():
        assert f(X).sharding == NamedSharding(mesh(), P())
    assert isinstance(f(X).sharding, SingleDeviceSharding)


def test_stages_transformations_and_methods():
    class Model:
        @pjit
        def double(self, x):
            return 2 * x

    jax.tree_util.register_pytree_node(Model, lambda m: ((), None), lambda aux, children: Model())
    f = pjit(lambda x: (x**2).sum())
    with mesh():
        assert f.lower(X).compile()(X) == f(X) == 140
        assert f.eval_shape(X).shape == () and "jit" in str(jax.make_jaxpr(f)(X))
        np.testing.assert_array_equal(jax.grad(f)(X), 2 * X)
        np.testing.assert_array_equal(jax.vmap(f)(X), X**2)
        np.testing.assert_array_equal(Model().double(X), 2 * X)
    f.clear_cache()
    assert f.__name__ == "<lambda>" and "jit" in repr(f).lower()


def test_shapes_of_results_say_how_they_are_split():
    split = NamedSharding(mesh(), P("x"))
    f = jax.jit(lambda x, y: {"a": 2 * x, "b": y}, out_shardings={"a": split, "b": None})
    for shapes in (jax.eval_shape(f, X, X), f.trace(X, X).out_info, f.lower(X, X).out_info):
        assert shapes["a"].sharding == split and shapes["b"].sharding is None
    assert jax.eval_shape(lambda x: f(x, x), X)["a"].sharding is None
    g = jax.jit(lambda x: x, out_shardings=P("y"))
    with jax.set_mesh(mesh()):
        shape = jax.eval_shape(g, X)
    assert shape.sharding == NamedSharding(mesh(), P("y"))
    as_asked = Format(Layout((0,)), split)
    assert jax.eval_shape(jax.jit(lambda x: x, out_shardings=as_asked), X).format == as_asked


@pytest.mark.parametrize("name", ["in_shardings", "out_shardings"])
def test_shardings_are_checked_where_they_are_given(name):
    with pytest.raises(TypeError, match=f"{name} leaf specifications are expected .* got x"):
        jax.jit(lambda x: x, **{name: "x"})
    with pytest.raises(ValueError, match="does not accept device-local layouts directly"):
        jax.jit(lambda x: x, **{name: Layout.AUTO})


def on(where):
    return NamedSharding(where, P("x", "y"))


def nested_on_another_mesh():
    with mesh():
        pjit(lambda x: inner(x))(X)


def inner(x):
    with mesh(1, 1):
        return pjit(lambda x: x)(x)


def with_mesh(f):
    with mesh():
        return f()


TWO = jnp.ones((8, 2))
NO_MESH = Mesh(np.empty((), dtype=object), ())


def on_device(i):
    return jax.device_put(TWO, jax.devices()[i])


ERRORS = [
    (lambda: pjit(lambda x: x, device=jax.devices()[0], backend="cpu"), "both a device and a back"),
    (
        lambda: jax.jit(lambda x: x, in_shardings=on(mesh()), backend="cpu"),
        "If backend or device is specified on jit, then in_shardings should not be specified",
    ),
    (
        lambda: jax.jit(lambda x: x, out_shardings=on(mesh()), device=jax.devices()[0]),
        "then out_shardings should not be specified",
    ),
    (
        lambda: with_mesh(lambda: pjit(lambda x: x, device=jax.devices()[0])(X)),
        "Mesh context manager should not be used with jit when backend or device",
    ),
    (
        lambda: pjit(lambda x: x, in_shardings=P("x", "x")),
        r"single in_shardings specification .* P\('x', 'x'\) has duplicate entries for `x`",
    ),
    (
        lambda: jax.jit(lambda x: x, out_shardings=P(("x", "x"))),
        r"single out_shardings specification .* has duplicate entries for `x`",
    ),
    (
        lambda: jax.jit(lambda x: x, out_shardings=NamedSharding(NO_MESH, P())),
        "out_shardings got an empty NamedSharding",
    ),
    (
        lambda: with_mesh(lambda: pjit(lambda x: x, in_shardings=P("x", "y"))(X)),
        r"One of pjit arguments, at in_shardings\[0\], is incompatible .* rank at least 2",
    ),
    (nested_on_another_mesh, "cannot change the size of the mesh"),
    (
        lambda: jax.jit(lambda x: x, in_shardings=on(mesh()), out_shardings=on(mesh(4, 2)))(TWO),
        r"Received incompatible devices for jitted computation. Got in_shardings .* ids \[0, 1, 2, "
        r"3\] and out_shardings .* ids \[0, 1, 2, 3, 4, 5, 6, 7\]",
    ),
    (
        lambda: jax.jit(lambda x: (x, x), out_shardings=(on(mesh()), on(mesh(4, 2))))(TWO),
        "Got out_shardings .* and out_shardings .* must lie on the same devices",
    ),
    (
        lambda: jax.jit(lambda *x: x)(on_device(0), on_device(1)),
        r"Got argument x\[0\] of <lambda> with shape .* and argument x\[1\] of <lambda>",
    ),
    (
        lambda: jax.jit(lambda pair: pair)({"a": on_device(0), "b": (on_device(1),)}),
        r"Got argument pair\['a'\] of .* and argument pair\['b'\]\[0\] of .* device ids \[1\]",
    ),
    (
        lambda: with_mesh(lambda: pjit(lambda x: x)(jax.device_put(TWO, on(mesh(4, 2))))),
        r"Got argument x of <lambda> with shape .* ids \[0, .* 7\] .* and pjit's context mesh with",
    ),
    (
        lambda: with_mesh(lambda: pjit(lambda x, y: x, [None] * 3, None)(X, X)),
        "pjit in_shardings is the wrong length: got a tuple or list of length 3 for an args tuple "
        "of length 2",
    ),
]


@pytest.mark.parametrize("case", range(len(ERRORS)))
def test_errors(case):
    call, text = ERRORS[case]
    with pytest.raises((ValueError, DuplicateSpecError), match=text):
        call()


def test_threads_do_not_see_each_other_s_calls():
    inside, done, texts = threading.Event(), threading.Event(), []

    def waits(x):
        inside.set()
        assert done.wait(60)
        return x

    def other():
        assert inside.wait(60)
        try:
            jax.jit(lambda x: x, in_shardings=NamedSharding(mesh(), P("x", "y")))(X)
        except ValueError as e:
            texts.append(str(e))
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with_mesh(lambda: pjit(waits)(X))
    thread.join()
    assert texts and texts[0].startswith("One of jit arguments")


def test_compiled_functions_name_the_arguments_that_lie_elsewhere():
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    wanted, other = (jax.NamedSharding(mesh, spec) for spec in (P("x", "y"), P("x")))
    shape = jax.ShapeDtypeStruct((8, 2), np.float32)
    compiled = jax.jit(lambda x, y: x + y, in_shardings=wanted).lower(shape, shape).compile()
    given = jnp.ones((8, 2))
    good, bad = jax.device_put(given, wanted), jax.device_put(given, other)
    np.testing.assert_array_equal(compiled(good, given), 2 * given)
    with pytest.raises(ValueError) as error:
        compiled(bad, bad)
    assert str(error.value).startswith(
        "Computation was compiled for input shardings that disagree with the shardings of "
        "arguments passed to it. Here are the 2 mismatches:\nArgument x with shape float32[8,2]:\n"
        f"  Passed sharding: {other}\n  Required sharding: {wanted}\nArgument y with"
    )
    lowered = jax.jit(lambda x: x + 1).lower(good)
    with pytest.raises(ValueError, match="the 1 mismatches:\nArgument x"):
        lowered.compile()(bad)
    parts = jax.pmap(lambda x: x).lower(given).compile()
    np.testing.assert_array_equal(parts(jax.device_put(given, jax.devices()[1])), given)
