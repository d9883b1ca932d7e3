"""tests/shard_map/test_explicit.py - meshes of explicit axes: shardings in types, what follows from
them, what raises, and what has an answer where nobody asked for explicit axes."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import (
    AxisType,
    NamedSharding,
    P,
    ShardingTypeError,
    auto_axes,
    explicit_axes,
    reshard,
)

KINDS = {
    "explicit": (AxisType.Explicit,) * 2,
    "auto": (AxisType.Auto,) * 2,
    "implied": None,
}


def mesh(kind):
    return jax.make_mesh((4, 2), ("x", "y"), axis_types=KINDS[kind])


def split(kind, *spec):
    return jax.device_put(jnp.ones((8, 4)), NamedSharding(mesh(kind), P(*spec)))


def text(x):
    return jax.typeof(x).str_short()


# expression of b, split over ("x", "y"), and r, split over ("x",): the type that it has
TYPES = {
    "b * 2": (lambda b, r: b * 2, "float32[8@x,4@y]"),
    "b + r": (lambda b, r: b + r, "float32[8@x,4@y]"),
    "r + numpy": (lambda b, r: r + np.ones((8, 4), np.float32), "float32[8@x,4]"),
    "sum of rows": (lambda b, r: b.sum(1), "float32[8@x]"),
    "sum": (lambda b, r: b.sum(), "float32[]"),
    "transposed": (lambda b, r: b.T, "float32[4@y,8@x]"),
    "product": (lambda b, r: r @ b.T.sum(1), "float32[8@x]"),
    "product with a whole one": (lambda b, r: b @ jnp.ones((4, 4)), "float32[8@x,4]"),
    "joined": (lambda b, r: b.reshape(32), "float32[32@(x,y)]"),
    "split": (lambda b, r: r.reshape(8, 2, 2), "float32[8@x,2,2]"),
    "stacked": (lambda b, r: jnp.stack([b, b]), "float32[2,8@x,4@y]"),
    "concatenated": (lambda b, r: jnp.concatenate([b, b]), "float32[16@x,4@y]"),
    "argmax": (lambda b, r: jnp.argmax(b, 0), "int32[4@y]"),
    "compared": (lambda b, r: b > 0, "bool[8@x,4@y]"),
    "resharded": (
        lambda b, r: reshard(b, NamedSharding(mesh("explicit"), P("y"))),
        "float32[8@y,4]",
    ),
    "given": (
        lambda b, r: jnp.einsum(
            "ij,kj->ik", b, b, out_sharding=NamedSharding(mesh("explicit"), P("x"))
        ),
        "float32[8@x,8]",
    ),
    "mapped": (lambda b, r: jax.vmap(lambda v: v * 2)(b), "float32[8@x,4@y]"),
    "loop": (lambda b, r: lax.scan(lambda c, v: (c + v, c), r[0] * 0, r)[1], "float32[8,4]"),
}


@pytest.mark.parametrize("name", [n for n in TYPES if n != "loop"])
def test_type(name):
    f, expected = TYPES[name]
    b, r = split("explicit", "x", "y"), split("explicit", "x")
    found = []
    result = f(b, r)
    assert text(result) == expected
    staged = jax.jit(lambda b, r: found.append(f(b, r)) or found[0])
    compiled = staged(b, r)
    assert text(compiled) == expected
    whole = f(np.ones((8, 4), np.float32), np.ones((8, 4), np.float32)) if name in (
        "b * 2", "sum of rows") else None  # fmt: skip
    if whole is not None:
        np.testing.assert_allclose(compiled, whole)


def test_types_while_tracing():
    seen = []
    jax.jit(lambda b: seen.append((text(b), text(b.sum(0)))) or b)(split("explicit", "x", "y"))
    assert seen == [("float32[8@x,4@y]", "float32[4@y]")]
    assert "b:f32[4@y,8@x]" in str(jax.make_jaxpr(lambda b: b.T)(split("explicit", "x", "y")))
    assert text(split("auto", "x", "y")) == "float32[8,4]"
    assert jax.typeof(split("explicit", "x")).sharding.spec == P("x", None)


REFUSED = {
    "contraction": (lambda b: b @ b.T, "ambiguous how the output should be sharded"),
    "operands": (
        lambda b: b + reshard(b, NamedSharding(mesh("explicit"), P("y", "x"))),
        r"add got incompatible shardings for broadcasting: \('x', 'y'\), \('y', 'x'\)",
    ),
    "reshape": (lambda b: b.reshape(2, 4, 4), "This reshape is not supported"),
    "slice": (
        lambda b: lax.slice(b, (0, 0), (2, 4)),
        r"out dim \(2\) is not divisible by mesh axes \(4\)",
    ),
    "sort": (lambda b: jnp.sort(b, 0), "must be unsharded over the sorting dimension"),
    "cumsum": (lambda b: jnp.cumsum(b, 0), "unsharded over the axis being reduced"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_where_it_was_asked_for(name):
    f, message = REFUSED[name]
    for g in (f, jax.jit(f)):
        with pytest.raises(ShardingTypeError, match=message):
            g(split("explicit", "x", "y"))
    for kind in ("implied", "auto"):
        if name == "operands":
            continue
        np.testing.assert_array_equal(f(split(kind, "x", "y")), f(jnp.ones((8, 4))))


def test_plain_meshes_compute():
    """Steps of tutorials with the mesh that make_mesh gives."""
    m = jax.make_mesh((4,), ("x",))
    assert m.axis_types == (AxisType.Explicit,)
    f = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=m, in_specs=P("x"), out_specs=P())
    np.testing.assert_array_equal(f(jnp.arange(8.0)), [12, 16])
    x = jax.device_put(jnp.arange(8.0), NamedSharding(m, P("x")))
    np.testing.assert_array_equal(x @ x, 140)
    y = jax.jit(lambda x: lax.with_sharding_constraint(x * 2, NamedSharding(m, P())))(x)
    assert y.sharding.is_fully_replicated


def test_modes():
    m = mesh("explicit")
    with jax.set_mesh(m):
        b = split("explicit", "x", "y")
        assert text(auto_axes(lambda b: b @ b.T)(b, out_sharding=P("x"))) == "float32[8@x,8]"
        assert text(auto_axes(lambda b: b @ b.T, out_sharding=P(None, "y"))(b)) == "float32[8,8@y]"
        with pytest.raises(TypeError, match="Missing required keyword argument: 'out_sharding'"):
            auto_axes(lambda b: b)(b)
        assert text(jnp.zeros((8,), out_sharding=P("x"))) == "float32[8@x]"
        assert (
            text(jax.random.normal(jax.random.key(0), (8,), out_sharding=P("x"))) == "float32[8@x]"
        )
    with jax.set_mesh(mesh("auto")):
        with pytest.raises(ValueError, match="cannot contain axis names that are of type Auto"):
            jax.random.normal(jax.random.key(0), (8,), out_sharding=P("x"))
        f = explicit_axes(lambda b: b * 2)
        np.testing.assert_array_equal(f(jnp.ones(8), in_sharding=P("x")), np.full(8, 2.0))
        with pytest.raises(TypeError, match="Missing required keyword argument: 'in_sharding'"):
            f(jnp.ones(8))
        assert auto_axes(lambda b: b * 2, out_sharding=P("x"))(8) == 16  # they are automatic


def test_modes_without_a_mesh():
    assert auto_axes(lambda b: b * 2, out_sharding=P())(8) == 16
    with pytest.raises(ValueError, match="Context mesh cannot be empty"):
        explicit_axes(lambda b: b, in_sharding=P())(jnp.ones(8))
    m = mesh("explicit")

    def within(x):
        with pytest.raises(NotImplementedError, match="from `Manual` AxisType"):
            auto_axes(lambda b: b, out_sharding=P())(x)
        return x

    x = jax.device_put(jnp.ones(8), NamedSharding(m, P("x")))
    jax.shard_map(within, mesh=m, in_specs=P("x"), out_specs=P("x"))(x)


def test_axes_outside_of_shard_map():
    """Manual over one axis: within, types show the other, which the result keeps."""
    seen = []
    f = jax.shard_map(
        lambda b: seen.append(text(b)) or b * 2,
        mesh=mesh("explicit"), in_specs=P("x"), out_specs=P("x"), axis_names={"x"},
    )  # fmt: skip
    b = split("explicit", "x", "y")
    assert f(b).sharding.spec == P("x", "y") and text(jax.jit(f)(b)) == "float32[8@x,4@y]"
    assert seen[0] == "float32[2,4@y]{V:x}"


def test_batches_are_labelled():
    f = jax.shard_map(lambda v: v * 2, mesh=mesh("auto"), in_specs=P("x"), out_specs=P("x"))
    g = jax.vmap(f, spmd_axis_name="y")
    assert g(jnp.ones((2, 8))).sharding.spec == P("y", "x")
    assert jax.make_jaxpr(g)(jnp.ones((2, 8))).eqns[0].params["in_specs"] == (P("y", "x"),)
    with pytest.raises(ValueError, match="spmd_axis_name cannot appear in shard_map in_specs"):
        jax.vmap(f, spmd_axis_name="x")(jnp.ones((4, 8)))


def test_results_in_a_mesh_context():
    for kind, spec in (("auto", P()), ("explicit", P(None))):
        with jax.set_mesh(mesh(kind)):
            assert jnp.zeros((3,)).sharding == NamedSharding(mesh(kind), spec)
            assert jax.jit(lambda: jnp.zeros((3,)))().sharding == NamedSharding(mesh(kind), spec)
    assert len(jnp.zeros((3,)).sharding.device_set) == 1


def test_arrays_on_different_devices_do_not_meet():
    x, y = (jax.device_put(jnp.ones(2), d) for d in jax.devices()[:2])
    for f in (lambda: x + y, lambda: jax.jit(lambda a, b: a + b)(x, y)):
        with pytest.raises(
            ValueError, match="Received incompatible devices for jitted computation"
        ):
            f()
    np.testing.assert_array_equal(x + jnp.ones(2), [2, 2])


def test_gradients():
    b = split("explicit", "x", "y")
    slope = jax.grad(lambda b: (b * b).sum())(b)
    assert text(slope) == "float32[8@x,4@y]"
    np.testing.assert_array_equal(slope, np.full((8, 4), 2.0))
    np.testing.assert_array_equal(jax.jit(jax.grad(lambda b: jnp.sin(b).sum()))(b), jnp.cos(b))


def test_programs_are_kept_by_sharding():
    count = []
    f = jax.jit(lambda b: count.append(text(b)) or b)
    for spec in (("x",), ("x",), ("y",), (None, "y")):
        f(split("explicit", *spec))
    assert count == ["float32[8@x,4]", "float32[8@y,4]", "float32[8,4@y]"]


def test_specs_of_reshard_may_go_on_with_none(mesh):
    x = jnp.arange(4.0)
    assert jax.typeof(jax.sharding.reshard(x, P("x", None, None))).sharding.spec == P("x")
    tree = {"w": jnp.ones((4, 4)), "b": x}
    out = jax.jit(lambda t: jax.sharding.reshard(t, P(None, None)))(tree)
    np.testing.assert_array_equal(out["b"], x)
    with pytest.raises(ValueError, match="reshard"):
        jax.sharding.reshard(x, P(None, "x"))


def test_programs_show_the_current_mesh_without_devices():
    """Texts of JAX 0.10.2."""
    mesh = jax.make_mesh((2,), ("i",), devices=jax.devices()[:2])
    x = jax.device_put(jnp.arange(6.0), NamedSharding(mesh, P("i")))

    def text(**kwargs):
        mapped = jax.shard_map(lambda x: x * 2, in_specs=P("i"), out_specs=P("i"), **kwargs)
        return str(jax.make_jaxpr(mapped)(x))

    assert "mesh=Mesh('i': 2, axis_types=(Explicit,))\n" in text(mesh=mesh)
    with jax.set_mesh(mesh):
        assert "mesh=Mesh('i': 2, axis_types=(Explicit,))\n" in text(mesh=mesh)
        assert (
            "mesh=AbstractMesh('i': 2, axis_types=(Explicit,), device_kind=cpu, num_cores=None, "
            "platform=cpu)\n" in text()
        )
