"""tests/array/test_constraints.py - shardings that users ask for: of jit's arguments and results,
and of values within programs."""

import copy
import functools
import pickle

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental.pjit import pjit
from shardax.sharding import Mesh, NamedSharding, P, SingleDeviceSharding

U = P.UNCONSTRAINED
constrain = lax.with_sharding_constraint
X = jnp.arange(8.0)


def mesh():
    return Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y"))


def split(*spec):
    return NamedSharding(mesh(), P(*spec))


def specs(f, *args):
    """The specs of the results, the same from a cache."""
    first, second = (
        [leaf.sharding.spec for leaf in jax.tree_util.tree_leaves(f(*args))] for _ in range(2)
    )
    assert first == second
    return first


WITHIN = {
    "result": (lambda x: constrain(x, split("x")), [P("x")]),
    "before an op": (lambda x: constrain(x, split("x")) * 2, [P("x")]),
    "before a reshape": (lambda x: constrain(x, split("x")).reshape(2, 4), [P("x")]),
    "before a sum": (lambda x: constrain(x, split("x")).sum(), [P()]),
    "constant": (lambda x: constrain(jnp.zeros(8), split("x")), [P("x")]),
    "argument given back": (lambda x: (constrain(x, split("y")), x * 1), [P("y"), P()]),
    "tree": (lambda x: constrain({"a": x, "b": (x, x)}, split("y")), [P("y")] * 3),
    "prefix": (
        lambda x: constrain({"a": x, "b": (x, x)}, {"a": split("x"), "b": split("y")}),
        [P("x"), P("y"), P("y")],
    ),
    "two axes": (lambda x: constrain(x, split(("x", "y"))), [P(("x", "y"))]),
    "inner jit": (lambda x: jax.jit(lambda v: v + 1, out_shardings=split("y"))(x), [P("y")]),
    "inner jit's argument": (lambda x: jax.jit(lambda v: -v, in_shardings=split("y"))(x), [P("y")]),
    "device_put": (lambda x: jax.device_put(x, split("x")) * 2, [P("x")]),
    "vmap": (
        lambda x: jax.vmap(lambda v: constrain(v, split("x")))(jnp.stack([x] * 4)),
        [P(None, "x")],
    ),
    "grad": (jax.grad(lambda x: (constrain(x, split("x")) ** 2).sum()), [P("x")]),
    "jvp": (
        lambda x: jax.jvp(lambda v: constrain(v, split("y")), (x,), (x,)),
        [P("y"), P("y")],
    ),
    "scan": (
        lambda x: lax.scan(lambda c, _: (constrain(c * 2, split("x")), c.sum()), x, None, length=3),
        [P("x"), P()],
    ),
    "stacked": (
        lambda x: lax.scan(lambda c, v: (c, constrain(v, split("x"))), 0, jnp.ones((3, 8)))[1],
        [P(None, "x")],
    ),
    "fori_loop": (
        lambda x: lax.fori_loop(0, 3, lambda i, c: constrain(c, split("x")), x),
        [P("x")],
    ),
    "while_loop": (
        lambda x: lax.while_loop(lambda c: c[0] < 9, lambda c: constrain(c + 1, split("y")), x),
        [P("y")],
    ),
    "cond": (
        lambda x: lax.cond(x[0] > 0, lambda v: constrain(v, split("x")), lambda v: v + 0, x),
        [P("x")],
    ),
    "checkpoint": (jax.checkpoint(lambda x: constrain(jnp.sin(x), split("x"))), [P("x")]),
}


@pytest.mark.parametrize("name", WITHIN)
def test_labels_within_programs(name):
    f, expected = WITHIN[name]
    jitted = jax.jit(f)
    assert specs(jitted, X) == expected
    for got, want in zip(
        jax.tree_util.tree_leaves(jitted(X)), jax.tree_util.tree_leaves(f(X)), strict=True
    ):
        np.testing.assert_array_equal(got, want)


def test_labels_of_arguments_and_results():
    f = jax.jit(lambda x: x * 2, in_shardings=split("x"))
    assert specs(f, X) == [P("x")]
    assert specs(f, jax.device_put(X, split("x"))) == [P("x")]
    f = jax.jit(lambda x: {"a": (x, x * 2), "b": x + 1}, out_shardings={"a": split("x"), "b": None})
    assert specs(f, X) == [P("x"), P("x"), P()]
    f = jax.jit(lambda n, x: x * n, static_argnums=0, in_shardings=[split("x")])
    assert specs(f, 2, X) == [P("x")]
    f = jax.jit(lambda: jnp.zeros(8), out_shardings=split("x"))
    assert specs(f) == [P("x")]
    f = jax.jit(out_shardings=split("y"))(lambda x: -x)
    assert specs(f, X) == [P("y")]
    assert X.sharding == SingleDeviceSharding(jax.devices()[0])


def test_a_single_device():
    where = SingleDeviceSharding(jax.devices()[2])
    assert jax.jit(lambda x: x * 2, out_shardings=where)(X).devices() == {jax.devices()[2]}
    assert jax.jit(lambda x: x * 2, device=jax.devices()[3])(X).devices() == {jax.devices()[3]}


def test_what_a_program_carries_and_its_other_results():
    w = jax.device_put(jnp.ones(8), split("x"))
    assert specs(jax.jit(lambda: (w * 2, jnp.zeros(3)))) == [P("x"), P()]
    on_two = jax.device_put(jnp.ones(8), jax.devices()[2])
    out = jax.jit(lambda a, b: (a, b + 1, jnp.arange(3)))(on_two, X)
    assert [o.devices() for o in out] == [{jax.devices()[2]}] * 3
    assert lax.full((8,), 1.0, sharding=split("x")).sharding == split("x")
    assert lax.full_like(w, 2).sharding == split("x")
    assert lax.full_like(X, 2, sharding=split("y")).sharding == split("y")


def test_dimensions_of_one_element_keep_their_axes():
    thin = Mesh(np.array(jax.devices()[:4]).reshape(1, 4), ("a", "b"))
    x = jax.device_put(jnp.ones((1, 4)), NamedSharding(thin, P("a", "b")))
    assert (x + 1).sharding.spec == P("a", "b")
    assert (x + jnp.ones((3, 1))).sharding.spec == P(None, "b")


def test_meshes_decorate_functions():
    @mesh()
    def put(x):
        return constrain(x, P("x"))

    assert put(X).sharding == split("x")
    assert put(X).sharding == split("x")
    with pytest.raises(RuntimeError, match="non-empty mesh"):
        constrain(X, P("x"))


def test_donated_arrays_that_are_put_elsewhere():
    x, y = jnp.arange(4.0), jnp.arange(2.0)
    placed, kept = jax.device_put((x, y), (split("x"), None), donate=True)
    assert x.is_deleted() and not y.is_deleted() and kept is y
    np.testing.assert_array_equal(placed, [0.0, 1.0, 2.0, 3.0])


def test_shardings_that_give_devices_the_same_parts():
    wide = Mesh(np.array(jax.devices()[:4]).reshape(4, 1), ("a", "b"))
    flat = Mesh(np.array(jax.devices()[:4]), ("x",))
    assert NamedSharding(wide, P("a", "b")).is_equivalent_to(NamedSharding(flat, P("x")), 2)
    assert split(("x", "y")).is_equivalent_to(NamedSharding(flat, P("x")), 1)
    assert not split(("y", "x")).is_equivalent_to(NamedSharding(flat, P("x")), 1)
    assert not split("x").is_equivalent_to(split(None, "x"), 2)
    one = NamedSharding(Mesh(np.array(jax.devices()[:1]), ("x",)), P("x"))
    assert one.is_equivalent_to(SingleDeviceSharding(jax.devices()[0]), 2)
    assert not one.is_equivalent_to(SingleDeviceSharding(jax.devices()[1]), 2)


def test_the_default_device():
    two = jax.devices()[2]
    with jax.default_device(two):
        x = jnp.ones(3)
        assert x.devices() == {two} and x.device == two and not x.committed
        assert x.sharding == SingleDeviceSharding(two)
        assert x.addressable_shards[0].device == two
        assert (x + jax.device_put(1.0, jax.devices()[3])).devices() == {jax.devices()[3]}
        assert jax.pmap(lambda v: v)(jnp.arange(2)).devices() == set(jax.devices()[:2])
    assert jnp.ones(3).devices() == {jax.devices()[0]}


def test_meshes_of_mesh_utils():
    from shardax.experimental import mesh_utils

    grid = mesh_utils.create_device_mesh((2, 4))
    assert grid.shape == (2, 4) and [d.id for d in grid.flat] == list(range(8))
    assert Mesh(grid, ("x", "y")).shape == {"x": 2, "y": 4}


def test_partition_specs():
    assert P("x", None) != P("x") and P(("x",)) == P("x") and hash(P("x")) == hash(P("x"))
    assert P("x") + ("y",) == P("x", "y") and isinstance(P("x") + P("y"), P)
    assert repr(P(("x", "y"), None)) == "P(('x', 'y'), None)"


def test_equations_bind_again():
    program = jax.make_jaxpr(lambda x: constrain(x, split("x")))(X)
    (equation,) = program.eqns
    assert repr(equation.params["sharding"]) == repr(split("x"))
    again = jax.jit(lambda x: equation.primitive.bind(x, **equation.params))(X)
    assert again.sharding == split("x")


def test_equal_shardings_share_programs():
    traces = []

    def f(x):
        traces.append(x)
        return x * 2

    for _ in range(3):
        assert jax.jit(f, out_shardings=split("x"))(X).sharding.spec == P("x")
    assert jax.jit(f, out_shardings=split("y"))(X).sharding.spec == P("y")
    assert jax.jit(f)(X).committed is False
    assert len(traces) == 3


def test_lowered_functions():
    compiled = jax.jit(lambda x: x * 2, out_shardings=split("x")).lower(X).compile()
    assert compiled(X).sharding.spec == P("x")


def test_shardings_of_compiled_functions():
    f = jax.jit(
        lambda x, k, y: {"a": x * k + y, "b": y + 1},
        static_argnums=1,
        in_shardings=(split("x"), None),
        out_shardings={"a": None, "b": split("y")},
    )
    compiled = f.lower(X, 2, X).compile()
    one = SingleDeviceSharding(jax.devices()[0])
    assert compiled.input_shardings == ((split("x"), split()), {})
    assert [s.sharding for s in compiled.out_info.values()] == [split("x"), split("y")]
    given = jax.jit(lambda x, y: (x * 2, y.T)).lower(jax.device_put(X, split("x")), np.ones((2, 3)))
    assert given.compile().input_shardings == ((split("x"), split()), {})
    assert [s.sharding for s in given.compile().out_info] == [split("x"), split()]
    plain = jax.jit(lambda x: x).lower(X).compile()
    assert plain.input_shardings == ((one,), {}) and plain.out_info.sharding == one
    assert compiled.output_shardings == {"a": split("x"), "b": split("y")}
    mapped = jax.pmap(lambda x: x, "i").lower(X).compile()
    assert mapped.output_shardings == mapped(X).sharding


def test_specs_mean_the_current_mesh():
    f = jax.jit(lambda x: constrain(x, P("x")))
    other = Mesh(np.array(jax.devices()), ("x",))
    with mesh():
        assert f(X).sharding == split("x")
        assert jax.jit(lambda x: x, out_shardings=P("y"))(X).sharding == split("y")
    with jax.set_mesh(other):
        assert f(X).sharding == NamedSharding(other, P("x"))
        assert constrain(X, P("x")).sharding == NamedSharding(other, P("x"))
    with mesh():
        assert f(X).sharding == split("x")


def test_older_names():
    with mesh():
        f = pjit(lambda x, y: (x + y, y), (P("x"), None), (P("y"), P()))
        assert specs(f, X, X) == [P("y"), P()]
        named = pjit(lambda x: x, in_axis_resources=P("x"), out_axis_resources=None)
        assert specs(named, X) == [P()]  # None is the whole on each device
        assert specs(pjit(lambda x: x, in_axis_resources=P("x")), X) == [P("x")]


def test_specs_of_assembled_arrays():
    from shardax.experimental import maps

    data = np.arange(8.0, dtype=np.float32)
    with maps.mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("x", "y")):
        whole = jax.make_array_from_process_local_data(P("y"), data)
        made = jax.make_array_from_callback((8,), P("x"), lambda index: data[index])
    assert whole.sharding == split("y") and made.sharding == split("x")
    np.testing.assert_array_equal(made, data)


def test_dimensions_left_open():
    x = jax.device_put(jnp.ones((8, 4)), split("y"))
    assert constrain(x, split(U, "x")).sharding.spec == P("y", "x")
    assert jax.jit(lambda x: constrain(x * 2, split(U, "x")))(x).sharding.spec == P("y", "x")
    assert jax.jit(lambda x: constrain(x, split("x", U)))(x).sharding.spec == P("x")
    assert jax.jit(jax.vmap(lambda x: constrain(x, split(U))))(x).sharding.spec == P("y")
    assert repr(P(U, "x")) == "P(UNCONSTRAINED, 'x')"
    assert pickle.loads(pickle.dumps(P(U, "x"))) == P(U, "x") == copy.deepcopy(P(U, "x"))


def test_uneven_dimensions_within_programs_stay_whole():
    assert jax.jit(lambda x: constrain(x, split("x")))(jnp.ones(3)).sharding.spec == P()


def test_programs_show_constraints():
    program = jax.make_jaxpr(lambda x: constrain(x, split(U, ("x", "y"))))(jnp.ones((2, 4)))
    assert str(program).splitlines()[1:-1] == [
        "    b:f32[2,4] = sharding_constraint[",
        "      context_mesh=Mesh()",
        "      layout=None",
        "      sharding=NamedSharding(mesh=Mesh('x': 2, 'y': 2, axis_types=(Auto, Auto)), "
        "spec=P(UNCONSTRAINED, ('x', 'y')), memory_kind=device)",
        "      unconstrained_dims=frozenset({0})",
        "    ] a",
    ]


def test_pmaps_without_arguments_in_jit():
    mapped = jax.pmap(lambda x: x * 2, "i")
    result = jax.jit(lambda: mapped(jnp.arange(4.0)))()
    np.testing.assert_array_equal(result, [0.0, 2.0, 4.0, 6.0])
    assert result.sharding.spec == P("i")


def jitted(**options):
    return jax.jit(lambda *args: args[0], **options)


ERRORS = [
    (
        lambda: split("x").check_compatible_aval(()),
        ValueError,
        r"was applied to a value of rank 0. For scalars the PartitionSpec should be P\(\)",
    ),
    (
        lambda: jax.make_mesh(((2,), 4), ("x", "y")),
        ValueError,
        r"`axis_shapes` passed to `make_mesh` should be a sequence of ints, got \(\(2,\), 4\)",
    ),
    (
        lambda: constrain(jnp.ones(3), split("x")),
        ValueError,
        "axis 0 is partitioned 2 times, but the dimension size is 3",
    ),
    (
        lambda: jitted(in_shardings=split("x"))(jnp.ones(3)),
        ValueError,
        r"One of jit arguments, at in_shardings\[0\], cannot be split so: Sharding .* dimension "
        "size is 3",
    ),
    (
        lambda: jitted(out_shardings=split("x"))(jnp.ones(3)),
        ValueError,
        "One of jit outputs, at out_shardings, cannot be split so",
    ),
    (
        lambda: jitted(in_shardings=split("x", "y"))(X),
        ValueError,
        r"One of jit arguments, at in_shardings\[0\], is incompatible with its sharding annotation "
        ".* only valid for values of rank at least 2, but was applied to a value of rank 1",
    ),
    (
        lambda: jax.jit(lambda x: constrain(x, split("x", "y")))(X),
        ValueError,
        "One of with_sharding_constraint arguments is incompatible with its sharding annotation",
    ),
    (
        lambda: constrain(X, "x"),
        TypeError,
        "with_sharding_constraint: shardings leaf specifications are expected to be Shardings, "
        "PartitionSpec instances or None, but got 'x'",
    ),
    (
        lambda: jitted(out_shardings=3)(X),
        TypeError,
        "out_shardings leaf specifications are expected to be .*, but got 3",
    ),
    (
        lambda: constrain(X, P("x")),
        RuntimeError,
        "with_sharding_constraint requires a non-empty mesh in context if you are passing "
        "`PartitionSpec`s to shardings",
    ),
    (
        lambda: jitted(in_shardings=P("x"))(X),
        RuntimeError,
        "jit requires a non-empty mesh in context .* to in_shardings",
    ),
    (
        lambda: jitted(in_shardings=(split("x"),))(X, X),
        ValueError,
        "got a tuple or list of length 1 for an args tuple of length 2",
    ),
    (
        lambda: jitted(out_shardings=(split("x"), split()))(X),
        ValueError,
        "jit out_shardings specification must be a tree prefix",
    ),
    (
        lambda: constrain((X, X), (split("x"),)),
        ValueError,
        "with_sharding_constraint shardings specification must be a tree prefix",
    ),
    (
        lambda: jax.jit(lambda x: x, in_shardings=split("x"))(x=X),
        ValueError,
        "in_shardings are for positional arguments, but 'x' came by keyword .*pjit does not "
        "support kwargs",
    ),
    (
        lambda: jitted(in_shardings=split(U))(X),
        ValueError,
        "Unconstrained dims are not allowed when passed to in_shardings",
    ),
    (
        lambda: jitted(out_shardings=split(U))(X),
        ValueError,
        "Unconstrained dims are not allowed when passed to out_shardings",
    ),
    (
        lambda: jax.device_put(X, split(U)),
        ValueError,
        "device_put: Unconstrained dims are not allowed",
    ),
]


@pytest.mark.parametrize("call, error, text", ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_errors_name_the_function_of_the_user():
    @functools.partial(jax.jit, in_shardings=split("x"))
    def decide(value):
        return value if value[0] > 0 else -value

    with pytest.raises(jax.errors.TracerBoolConversionError, match="function decide at"):
        decide(X)


def test_kinds_of_memory_are_shown():
    here = split("x")
    host = here.with_memory_kind("pinned_host")
    assert here.memory_kind == "device" and host.memory_kind == "pinned_host"
    assert repr(host) == repr(here).replace("device)", "pinned_host)")
    assert host.update(spec=P()).memory_kind == "pinned_host"
    single = jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="unpinned_host")
    assert repr(single).endswith("memory_kind=unpinned_host)")
    assert single.with_memory_kind("device").memory_kind == "device"
    np.testing.assert_array_equal(jax.device_put(X, host), X)
    for make in (here.with_memory_kind, single.with_memory_kind):
        with pytest.raises(ValueError, match="Could not find memory addressable by device cpu"):
            make("tape")
    abstract = jax.sharding.NamedSharding(here.mesh.abstract_mesh, here.spec)
    assert abstract.memory_kind is None and "memory_kind" not in repr(abstract)
