"""tests/shard_map/test_calls.py - calling forms, staging, programs and types of shard_map."""

import functools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental.shard_map import shard_map as older
from shardax.sharding import AbstractMesh, AxisType, NamedSharding, P

X = jnp.arange(8.0)


def mesh(*sizes, names="xyz"):
    kinds = (AxisType.Auto,) * len(sizes)
    return jax.make_mesh(sizes, tuple(names[: len(sizes)]), axis_types=kinds)


def total(x):
    return lax.psum(x, "x")


FORMS = {
    "keywords": lambda m: jax.shard_map(total, mesh=m, in_specs=P("x"), out_specs=P()),
    "positional": lambda m: jax.shard_map(total, m, P("x"), P()),
    "older": lambda m: older(total, m, in_specs=P("x"), out_specs=P(), check_rep=True),
    "older, unchecked": lambda m: older(total, m, P("x"), P(), check_rep=False),
    "older, auto": lambda m: older(total, m, P("x"), P(), auto=frozenset({"y"})),
    "decorator": lambda m: jax.shard_map(mesh=m, in_specs=P("x"), out_specs=P())(total),
    "partial": lambda m: functools.partial(jax.shard_map, mesh=m, in_specs=P("x"), out_specs=P())(
        total
    ),
    "some axes": lambda m: jax.shard_map(
        total, mesh=m, in_specs=P("x"), out_specs=P(), axis_names={"x"}
    ),
    "abstract mesh": lambda m: jax.shard_map(
        total, mesh=m.abstract_mesh, in_specs=P("x"), out_specs=P()
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_form(form):
    f = FORMS[form](mesh(4, 2))
    for g in (f, jax.jit(f)):
        np.testing.assert_array_equal(g(X), [12, 16])


def test_current_meshes():
    f = jax.shard_map(total, in_specs=P("x"), out_specs=P())
    with pytest.raises(ValueError, match="context mesh cannot be empty"):
        f(X)
    with jax.set_mesh(mesh(4)):
        np.testing.assert_array_equal(f(X), [12, 16])
    with mesh(2):  # JAX asks for set_mesh
        np.testing.assert_array_equal(f(X), [4, 6, 8, 10])
    with jax.set_mesh(mesh(8)):
        np.testing.assert_array_equal(f(X), [28])


def test_it_is_staged_once():
    count = []
    f = jax.shard_map(
        lambda x: count.append(x.shape) or x * 2, mesh=mesh(4), in_specs=P("x"), out_specs=P("x")
    )
    for _ in range(3):
        f(X)
    assert count == [(2,)]
    f(jnp.arange(16.0))
    assert count == [(2,), (4,)]


def test_values_where_nothing_is_staged():
    seen = []

    def f(x):
        if lax.psum(x, "x").sum() > 5:
            seen.append(np.asarray(lax.psum(x, "x")))
            return x
        return -x

    g = jax.shard_map(f, mesh=mesh(4), in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_array_equal(g(X), X)
    np.testing.assert_array_equal(seen[0], [12, 16])
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(g)(X)
    with jax.disable_jit():
        np.testing.assert_array_equal(g(X), X)


def test_arguments_without_a_spec_are_static():
    f = jax.shard_map(
        lambda x, k: x * k if k == 3 else None, mesh=mesh(4), in_specs=(P("x"), None),
        out_specs=P("x"),
    )  # fmt: skip
    np.testing.assert_array_equal(f(X, 3), 3 * X)


def test_axes_that_arguments_have():
    kinds = (AxisType.Explicit,) * 2
    m = jax.make_mesh((4, 2), ("x", "y"), axis_types=kinds)
    x = jax.device_put(X, NamedSharding(m, P("x")))
    np.testing.assert_array_equal(jax.shard_map(total, mesh=m, out_specs=P())(x), [12, 16])
    with pytest.raises(TypeError, match="shard_map in_specs argument must be a pytree"):
        jax.shard_map(total, mesh=mesh(4), out_specs=P())(X)


def test_closures_vary_over_nothing():
    w = jnp.ones(2)

    def loss(w):
        f = jax.shard_map(lambda x: (w * x).sum(keepdims=True), mesh=mesh(4), in_specs=P("x"),
                          out_specs=P("x"))  # fmt: skip
        return f(X).sum()

    np.testing.assert_array_equal(jax.grad(loss)(w), [12, 16])
    np.testing.assert_array_equal(jax.jit(jax.grad(loss))(w), [12, 16])


def test_types_within():
    found = {}

    def f(x, y):
        found["x"], found["y"] = str(jax.typeof(x)), str(jax.typeof(y))
        found["sum"] = jax.typeof(x + y).mat.varying
        found["psum"] = jax.typeof(lax.psum(x, "x")).mat.varying
        found["gather"] = jax.typeof(lax.all_gather(x, "x")).mat.varying
        found["invarying"] = jax.typeof(lax.all_gather(x, "x", to="invarying")).mat.varying
        found["mesh"] = jax.sharding.get_abstract_mesh().axis_types
        return x

    jax.shard_map(f, mesh=mesh(4, 2), in_specs=(P("x"), P(None, "y")), out_specs=P("x"))(
        X, jnp.ones((2, 2))
    )
    assert found == {
        "x": "float32[2]{V:x}",
        "y": "float32[2,1]{V:y}",
        "sum": {"x", "y"},
        "psum": frozenset(),
        "gather": {"x"},
        "invarying": frozenset(),
        "mesh": (AxisType.Manual, AxisType.Manual),
    }


def test_programs():
    m = mesh(4, 2)
    f = jax.shard_map(
        lambda x: lax.psum(x * x, "x"), mesh=m, in_specs=P("x", "y"), out_specs=P(None, "y")
    )
    (eqn,) = jax.make_jaxpr(f)(jnp.ones((8, 4))).eqns
    assert eqn.primitive.name == "shard_map"
    assert eqn.params["in_specs"] == (P("x", "y"),) and eqn.params["out_specs"] == (P(None, "y"),)
    assert eqn.params["mesh"] == m and eqn.params["check_vma"]
    assert eqn.params["newly_manual_axes"] == {"x", "y"}
    assert [e.primitive.name for e in eqn.params["jaxpr"].eqns] == ["mul", "psum_invariant"]
    closed = jax.make_jaxpr(f)(jnp.ones((8, 4)))
    np.testing.assert_array_equal(
        jax.core.eval_jaxpr(closed.jaxpr, (), jnp.ones((8, 4)))[0], np.full((2, 4), 4)
    )


def test_beside_pmap():
    f = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh(2), in_specs=P("x"), out_specs=P())
    out = jax.pmap(f, axis_name="i")(X.reshape(2, 4))
    np.testing.assert_array_equal(out, [[2, 4], [10, 12]])
    g = jax.shard_map(
        jax.pmap(lambda v: lax.psum(v, ("x", "i")), axis_name="i", out_axes=None),
        mesh=mesh(4), in_specs=P("x"), out_specs=P(), check_vma=False,
    )  # fmt: skip
    np.testing.assert_array_equal(g(X), 28)


def test_effects_happen_on_every_device(capfd):
    f = jax.shard_map(
        lambda x: (jax.debug.print("{}", x[0]), x)[1],
        mesh=mesh(4),
        in_specs=P("x"),
        out_specs=P("x"),
    )
    f(X)
    jax.effects_barrier()
    assert capfd.readouterr().out.split() == ["0.0", "2.0", "4.0", "6.0"]


def test_keywords_are_refused():
    f = jax.shard_map(total, mesh=mesh(4), in_specs=P("x"), out_specs=P())
    with pytest.raises(TypeError, match=r"shard_map: total got .*'x'.* by keyword"):
        f(x=X)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'out_specs'"):
        jax.shard_map(total, mesh=mesh(4), in_specs=P("x"))


def test_an_abstract_mesh_needs_devices_for_labels_only():
    abstract = AbstractMesh((4,), ("x",))
    f = jax.shard_map(lambda x: x, mesh=abstract, in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_array_equal(f(X), X)
    placed = jax.device_put(X, NamedSharding(mesh(4), P("x")))
    assert jax.shard_map(lambda x: x, mesh=mesh(4).abstract_mesh, in_specs=P("x"),
                         out_specs=P("x"))(placed).sharding == placed.sharding  # fmt: skip


@pytest.mark.parametrize("explicit", [False, True])
def test_results_show_the_spec_as_it_is_written(explicit):
    kind = AxisType.Explicit if explicit else AxisType.Auto
    mesh = jax.make_mesh((2,), ("x",), axis_types=(kind,))
    a = jnp.arange(32.0).reshape(8, 4)
    for spec in (P("x"), P("x", None), P(None, "x"), P(), P(None, None)):
        f = jax.shard_map(lambda a: a * 2, mesh=mesh, in_specs=spec, out_specs=spec)
        out = f(jax.device_put(a, NamedSharding(mesh, spec)))
        assert out.sharding == NamedSharding(mesh, spec)
        np.testing.assert_array_equal(out, a * 2)


def test_sums_show_the_spec_as_it_is_written():
    mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,))
    spec = P(unreduced={"x"})
    with jax.set_mesh(mesh):
        a = jax.device_put(jnp.arange(8.0), P("x"))
        f = jax.shard_map(lambda a: jax.lax.pcast(a, "x", to="unreduced"), out_specs=spec)
        out = f(a)
        assert out.sharding == NamedSharding(mesh, spec)
        assert [s.data.tolist() for s in out.addressable_shards] == [[0, 1, 2, 3], [4, 5, 6, 7]]
        assert jax.reshard(out, P()).tolist() == [4, 6, 8, 10]
        assert jax.typeof(jax.jit(f)(a)).sharding.spec == P(None, unreduced={"x"})


def summed_with(backward):
    """A sum over the axis x whose derivative is a rule."""
    f = jax.custom_vjp(lambda v: lax.psum(v, "x"))
    f.defvjp(lambda v: (f(v), None), lambda _, g: (backward(g),))
    return f


def test_rules_are_given_cotangents_of_the_types_of_results():
    """A value that all devices share does not vary if its cotangent goes to a rule."""
    found = []

    def spread(g):
        found.append(jax.typeof(g).mat.varying)
        return lax.pcast(g, "x", to="varying")

    f = jax.shard_map(summed_with(spread), mesh=mesh(4), in_specs=P("x"), out_specs=P())
    np.testing.assert_array_equal(jax.grad(lambda v: f(v).sum())(X), np.ones(8))
    assert found == [frozenset()]


@pytest.mark.parametrize("backward", [lambda g: g, lambda g: lax.psum(g, "x")])
def test_rules_whose_cotangents_do_not_vary_as_arguments_do_are_refused(backward):
    f = jax.shard_map(summed_with(backward), mesh=mesh(4), in_specs=P("x"), out_specs=P())
    text = (
        r"must produce an output with the same type .* float32\[2\] corresponding to an input of "
        r"type float32\[2\]\{V:x\}, so the manual axis types do not match.* vary the output"
    )
    with pytest.raises(ValueError, match=text):
        jax.grad(lambda v: f(v).sum())(X)


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
def test_functions_with_rules_that_run_op_by_op_give_shared_results(kind):
    g = lambda v: lax.psum(v, "x")
    f = summed_with(lambda g: lax.pcast(g, "x", to="varying"))
    if kind == "jvp":
        f = jax.custom_jvp(g)
        f.defjvp(lambda p, t: (g(*p), g(*t)))
    shown = []

    def body(v):
        out = f(v)
        shown.append(float(out.sum()))  # asks for a value, and is called op by op
        return out

    out = jax.shard_map(body, mesh=mesh(4), in_specs=P("x"), out_specs=P())(X)
    assert out.tolist() == [12, 16] and shown == [28.0]


def test_arrays_like_others_vary_as_they_do():
    def body(v):
        for like in (jnp.zeros_like(v), jnp.full_like(v, 2.0), lax.full_like(v, 1, "int32")):
            assert jax.typeof(like).mat.varying == {"x"}
        assert jax.typeof(jnp.full_like(v, jnp.arange(2.0))).mat.varying == set()
        assert jax.typeof(jnp.ones_like(lax.psum(v, "x"))).mat.varying == set()
        return lax.fori_loop(0, 3, lambda i, c: c + v, jnp.zeros_like(v))

    f = jax.shard_map(body, mesh=mesh(4), in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_array_equal(f(X), 3 * X)
