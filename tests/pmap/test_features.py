"""tests/pmap/test_features.py - pmap's arguments, results and options, one property a test."""

import collections
import contextlib
import enum
import functools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

F4 = np.arange(4, dtype=np.float32)
M44 = np.arange(16, dtype=np.float32).reshape(4, 4)
Pair = collections.namedtuple("Pair", "x y")


class Axis(enum.Enum):
    rows = 1


class Alike:
    def __repr__(self):
        return "alike"


@contextlib.contextmanager
def devices(count):
    before = jax.device_count()
    jax.config.update("jax_num_cpu_devices", count)
    try:
        yield
    finally:
        jax.config.update("jax_num_cpu_devices", before)


def same(got, want):
    got, tree = jax.tree_util.tree_flatten(got)
    want, expected = jax.tree_util.tree_flatten(want)
    assert tree == expected
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=1e-6)


# ---- axis_name ---------------------------------------------------------------------------------


NAMES = ["i", 7, -1, True, 2.5, Axis.rows, ("a", "b"), frozenset([1]), object(), b"i"]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: type(name).__name__)
def test_axis_name_is_any_hashable(name):
    for make in (jax.pmap, jax.vmap):
        f = make(lambda v: v / lax.psum(v, name) + lax.axis_index(name), axis_name=name)
        same(f(F4), F4 / 6 + F4)
    assert jax.pmap(lambda v: lax.axis_size(name) * v, name)(F4)[1] == 4


def test_names_that_look_alike_are_distinct():
    first, second = Alike(), Alike()
    inner = jax.pmap(lambda v: lax.psum(v, first) * 100 + lax.psum(v, second), axis_name=second)
    same(
        jax.pmap(inner, axis_name=first)(M44[:2]),
        M44[:2].sum(0) * 100 + M44[:2].sum(1, keepdims=True),
    )


def test_axis_name_that_cannot_be_hashed():
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        jax.pmap(lambda v: v, axis_name=["i"])


def test_integers_are_dimensions_unless_an_axis_has_that_name():
    same(jax.pmap(lambda v: lax.psum(v, 0))(M44), M44.sum(1))
    same(jax.pmap(lambda v: lax.psum(v, 0), axis_name=0)(M44), np.tile(M44.sum(0), (4, 1)))
    same(jax.pmap(lambda v: lax.psum(v, (0, "i")), "i")(M44), np.full(4, M44.sum()))


# ---- in_axes, out_axes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "in_axes",
    [
        ({"a": 0, "b": (None, 1)},),
        [{"a": 0, "b": (None, 1)}],
        ({"a": -1, "b": (None, -1)},),
    ],
)
def test_in_axes_are_prefixes_of_trees(in_axes):
    f = jax.pmap(lambda d: d["a"] + d["b"][0] + d["b"][1].sum(), in_axes=in_axes)
    argument = {"a": F4, "b": (np.float32(10), M44)}
    same(f(argument), F4 + 10 + M44.sum(0))


def test_in_axes_cover_subtrees_named_tuples_and_none():
    same(
        jax.pmap(lambda p, x: p["w"] * x + p["b"][0], in_axes=(None, 0))(
            {"w": 2.0, "b": [1.0]}, F4
        ),
        2 * F4 + 1,
    )
    same(jax.pmap(lambda p: p.x + p.y, in_axes=(Pair(0, None),))(Pair(F4, 2.0)), F4 + 2)
    same(
        jax.pmap(lambda d: d, in_axes=({"x": 0, "y": None},))({"x": F4, "y": None}),
        {"x": F4, "y": None},
    )
    ordered = collections.OrderedDict(x=F4)
    same(jax.pmap(lambda d: d["x"], in_axes=(collections.OrderedDict(x=0),))(ordered), F4)


def test_out_axes_place_the_mapped_axis():
    x = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    for axis in (0, 1, 2, -1, -2, -3):
        same(jax.pmap(lambda v: v, out_axes=axis)(x), np.moveaxis(x, 0, axis))
    f = jax.pmap(
        lambda v: [v, {"a": v, "b": (v.sum(), None)}], out_axes=[1, {"a": -1, "b": (None, None)}]
    )
    with pytest.warns(jax.debug.VaryingResultWarning):
        result = f(x)
    same(result, [np.moveaxis(x, 0, 1), {"a": np.moveaxis(x, 0, -1), "b": (x[0].sum(), None)}])


def test_every_axis_in_and_out_with_derivatives():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10
    for into in (0, 1, 2, -1, -2):
        for out in (0, 1, 2, -1):
            f = jax.pmap(lambda v: jnp.sin(v), in_axes=into, out_axes=out)
            moved = np.moveaxis(x, into, out)
            same(f(x), np.sin(moved))
            same(jax.grad(lambda v, f=f: (f(v) ** 2).sum())(x), 2 * np.sin(x) * np.cos(x))
            same(jax.jvp(f, (x,), (x,))[1], np.cos(moved) * moved)
            batched = jax.vmap(f, in_axes=1, out_axes=1)(np.stack([x, 2 * x], 1))
            same(batched, np.stack([np.sin(moved), np.sin(2 * moved)], 1))


def test_keyword_arguments_are_mapped_over_their_first_axis():
    f = jax.pmap(lambda x, *, y, z: x + y + z["k"], in_axes=(None,))
    same(f(np.float32(1), y=F4, z={"k": F4}), 1 + 2 * F4)


# ---- arguments ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, dtype, weak",
    [
        (2, "int32", True),
        (2.5, "float32", True),
        (True, "bool", False),
        (1j, "complex64", True),
        (np.float32(2.5), "float32", False),
        (np.int64(3), "int32", False),
        (np.bool_(True), "bool", False),
        (np.float64(2.5), "float32", False),
    ],
    ids=repr,
)
def test_scalars_that_all_devices_share(value, dtype, weak):
    seen = []
    out = jax.pmap(
        lambda x, s: (seen.append((str(s.dtype), s.weak_type)), s)[1], in_axes=(0, None)
    )(F4, value)
    assert seen == [(dtype, weak)]
    assert np.asarray(out).tolist() == [np.asarray(value).item()] * 4


def test_numpy_arrays_of_any_layout():
    x = np.arange(24, dtype=np.float64).reshape(4, 6)
    for view in (
        x,
        x[::-1],
        x[:, ::2],
        np.asfortranarray(x),
        x[:, ::-1],
        np.broadcast_to(x[0], (4, 6)),
    ):
        same(jax.pmap(lambda v: v * 2)(view), view * 2)
    same(jax.pmap(lambda v: v + 1)(x.astype(">f4")), x + 1)
    readonly = x.copy()
    readonly.setflags(write=False)
    same(jax.pmap(lambda v: v)(readonly), x)


def test_typed_keys():
    keys = jax.random.split(jax.random.key(0), 4)
    want = np.stack([jax.random.uniform(k, (2,)) for k in keys])
    same(jax.pmap(lambda k: jax.random.uniform(k, (2,)))(keys), want)
    both = jax.pmap(lambda k: jax.random.split(k))(keys)
    assert both.shape == (4, 2) and jax.dtypes.issubdtype(both.dtype, jax.dtypes.prng_key)
    one = jax.random.key(1)
    folded = jax.pmap(lambda k, i: jax.random.uniform(jax.random.fold_in(k, i)), in_axes=(None, 0))
    want = np.stack([jax.random.uniform(jax.random.fold_in(one, i)) for i in range(4)])
    same(folded(one, np.arange(4)), want)
    same(jax.pmap(lambda i: jax.random.uniform(jax.random.fold_in(one, i)))(np.arange(4)), want)
    shifted = jax.pmap(lambda k: lax.ppermute(k, "i", [(k, (k + 1) % 4) for k in range(4)]), "i")
    data = np.asarray(jax.random.key_data(keys))
    same(jax.random.key_data(shifted(keys)), np.roll(data, 1, 0))
    every = jax.pmap(lambda k: lax.all_gather(k, "i"), "i")(keys)
    same(jax.random.key_data(every), np.stack([data] * 4))
    assert jax.pmap(lambda k, x: x, in_axes=(1, 0))(keys.reshape(1, 4), F4).shape == (4,)


def test_empty_trees_none_and_arrays_without_elements():
    f = jax.pmap(lambda *a: a)
    same(f(F4, None, {}, (), [None], {"a": None}), (F4, None, {}, (), [None], {"a": None}))
    same(f(np.zeros((4, 0)), np.zeros((4, 2, 0, 3))), (np.zeros((4, 0)), np.zeros((4, 2, 0, 3))))
    same(
        jax.pmap(lambda x: (x.sum(), x.reshape(0, 5)))(np.zeros((4, 0))),
        (np.zeros(4), np.zeros((4, 0, 5))),
    )


def test_results_that_are_no_traced_arrays():
    captured = jnp.arange(3.0)
    f = jax.pmap(lambda x: (x, 1, 2.5, True, None, np.ones(2), captured, 1j, np.float32(3)))
    out = f(F4)
    assert [str(v.dtype) for v in out if v is not None] == [
        "float32", "int32", "float32", "bool", "float32", "float32", "complex64", "float32",
    ]  # fmt: skip
    assert out[1].weak_type and out[2].weak_type and not out[8].weak_type
    same(out[5:7], (np.ones((4, 2)), np.tile(np.arange(3.0), (4, 1))))


# ---- static and donated arguments --------------------------------------------------------------


@pytest.mark.parametrize("statics", [1, (1,), [1], -1, range(1, 2), (1, 1)], ids=repr)
def test_forms_of_static_broadcasted_argnums(statics):
    same(jax.pmap(lambda x, n: x * n, static_broadcasted_argnums=statics)(F4, 3), 3 * F4)


def test_static_arguments_are_python_values():
    f = jax.pmap(
        lambda n, x, g: g(x) if n == "a" else x.reshape(n), static_broadcasted_argnums=(0, 2)
    )
    same(f("a", F4, jnp.sin), np.sin(F4))
    same(f((2, 2), M44, None), M44.reshape(4, 2, 2))
    whole = jax.pmap(
        lambda n, x, y: x * n + y, static_broadcasted_argnums=0, in_axes=(None, 0, None)
    )
    same(whole(2, F4, 1.0), 2 * F4 + 1)
    short = jax.pmap(lambda n, x, y: x * n + y, static_broadcasted_argnums=0, in_axes=(0, None))
    same(short(2, F4, 1.0), 2 * F4 + 1)


def test_static_arguments_of_methods():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @functools.partial(jax.pmap, static_broadcasted_argnums=(0, 2), axis_name="i")
        def apply(self, x, power):
            return lax.psum(x * self.scale, "i") ** power

    same(Model(2.0).apply(F4, 2), np.full(4, 144.0))
    same(Model(1.0).apply(F4, 1), np.full(4, 6.0))


def test_donation_of_trees_and_of_unusable_arrays():
    tree = {"a": jnp.arange(4.0), "b": jnp.ones(4)}
    kept = jnp.arange(4.0)
    out = jax.pmap(lambda d, k: {"a": d["a"] + k, "b": d["b"]}, donate_argnums=0)(tree, kept)
    assert tree["a"].is_deleted() and tree["b"].is_deleted() and not kept.is_deleted()
    same(out, {"a": 2 * F4, "b": np.ones(4)})
    x = jnp.arange(4.0)
    with pytest.warns(UserWarning, match=r"Some donated buffers were not usable: float32\[4\]"):
        jax.pmap(lambda v: jnp.stack([v, v]), donate_argnums=0)(x)
    assert not x.is_deleted()
    numpy = np.arange(4, dtype=np.float32)
    same(jax.pmap(lambda v: v * 2, donate_argnums=(0,))(numpy), 2 * F4)
    same(numpy, F4)


def test_donation_under_transformations_deletes_nothing():
    f = jax.pmap(lambda v: v * 2, donate_argnums=0)
    x = jnp.arange(4.0)
    jax.jit(f)(x)
    jax.vmap(f)(jnp.stack([x, x]))
    jax.grad(lambda v: f(v).sum())(x)
    assert not x.is_deleted()


def test_equal_functions_with_other_donations_do_not_mix():
    def f(v):
        return v * 2

    for make in (jax.pmap, jax.jit):
        kept, given = jnp.arange(4.0), jnp.arange(4.0)
        make(f)(kept)
        make(f, donate_argnums=0)(given)
        assert given.is_deleted() and not kept.is_deleted()


# ---- devices -----------------------------------------------------------------------------------


def test_devices_label_the_results():
    all_devices = jax.devices()
    for chosen in (all_devices[2:6], all_devices[::-1][:4], all_devices):
        out = jax.pmap(lambda x: x + lax.axis_index("i"), "i", devices=chosen)(F4)
        same(out, 2 * F4)
        assert [s.device for s in out.addressable_shards] == chosen[:4]
        assert out.devices() == set(chosen[:4])
    assert jax.pmap(lambda x: x, in_axes=None, devices=all_devices[:3])(1.0).shape == (3,)
    assert jax.pmap(lambda x: x, in_axes=None, axis_size=2, devices=all_devices[:3])(1.0).shape == (
        2,
    )


def test_results_name_their_axis():
    x = np.arange(4.0)
    named = jax.pmap(lambda v: v * 2, "i")(x)
    text = "NamedSharding(mesh=Mesh('i': 4, axis_types=(Auto,)), spec=P('i',), memory_kind=device)"
    assert repr(named.sharding) == text
    assert named[0].sharding.spec == jax.P() and named[:2].sharding.spec == jax.P()
    unnamed = jax.pmap(lambda v: v * 2)(x)
    assert unnamed.sharding.spec == jax.P("_internal_pmap_axis_name")
    later = jax.pmap(lambda v: (v, v), out_axes=(1, None))(np.ones((4, 3)))
    name = "_internal_pmap_axis_name"
    assert [y.sharding.spec for y in later] == [jax.P(None, name), jax.P()]


def test_results_of_any_devices_combine():
    two = jax.pmap(lambda x: x, devices=jax.devices()[6:])(F4[:2])
    four = jax.pmap(lambda x: x)(F4)
    other = jax.pmap(lambda x: x, devices=jax.devices()[4:])(F4)
    same(two[1] + four[3], 4.0)
    same(other + four, 2 * F4)
    same(jax.jit(lambda a, b: a * b)(other, four), F4 * F4)
    same(jax.pmap(lambda a, b: a - b)(other, four), 0 * F4)
    same(jnp.concatenate([two, four, other]), np.concatenate([F4[:2], F4, F4]))
    same(
        jax.pmap(lambda x: x.sum())(jax.pmap(lambda x: x)(M44[:2]).reshape(4, 2)),
        M44[:2].reshape(4, 2).sum(1),
    )


def test_the_device_count_may_change_between_calls():
    f = jax.pmap(lambda x: lax.psum(x, "i"), "i")
    out = f(np.ones(8))
    with devices(12):
        same(f(np.ones(12)), np.full(12, 12))
        same(out + 1, np.full(8, 9))
    with devices(3):
        same(f(np.ones(3)), np.full(3, 3))
        with pytest.raises(ValueError, match="pmap: 8 mapped slices need 8 devices, but 3 exist"):
            f(np.ones(8))
        same(out + 1, np.full(8, 9))
    same(f(out), np.full(8, 64))


# ---- forms of functions ------------------------------------------------------------------------


def test_forms_of_functions():
    class Callable:
        def __call__(self, x):
            return x + 1

    same(jax.pmap(Callable())(F4), F4 + 1)
    same(jax.pmap(functools.partial(lambda a, x: a * x, 3.0))(F4), 3 * F4)
    same(jax.pmap(abs)(F4 - 2), np.abs(F4 - 2))
    same(jax.pmap(jnp.sin)(F4), np.sin(F4))

    @jax.pmap
    def plain(x):
        """Doubles."""
        return x * 2

    @functools.partial(jax.pmap, axis_name="i", in_axes=(0, None), out_axes=None)
    def total(x, w):
        return lax.psum(x * w, "i")

    @jax.pmap(axis_name="i")
    def mean(x):
        return lax.pmean(x, "i")

    same((plain(F4), total(F4, 2.0), mean(F4)), (2 * F4, 12.0, np.full(4, 1.5)))
    assert plain.__name__ == "plain" and plain.__doc__ == "Doubles."
    assert plain.__wrapped__.__name__ == "plain"


# ---- traces ------------------------------------------------------------------------------------


class Counted:
    """A function that counts how often it is traced."""

    def __init__(self, f=lambda *a, **k: jax.tree_util.tree_map(lambda x: x * 2, (a, k))):
        self.f, self.traces = f, 0

    def __call__(self, *args, **kwargs):
        self.traces += 1
        return self.f(*args, **kwargs)


def test_no_trace_for_equal_signatures():
    f = Counted()
    mapped = jax.pmap(f)
    for x in (
        jnp.arange(4.0), F4, F4[::-1], np.asfortranarray(M44)[1], jnp.ones(4), jnp.zeros(4),
        jnp.broadcast_to(jnp.float32(1), (4,)), mapped(F4)[0][0], M44[:, 1],
        jax.pmap(lambda v: v)(F4),
        jax.pmap(lambda v: v, devices=jax.devices()[4:])(F4),
    ):  # fmt: skip
        mapped(x)
    assert f.traces == 1
    mapped(np.arange(4))
    mapped(jnp.arange(4) * 3)
    assert f.traces == 2
    mapped({"a": F4}, b=F4)
    mapped({"a": F4 + 1}, b=F4)
    assert f.traces == 3
    mapped(F4[:3])
    mapped(F4)
    assert f.traces == 4


def test_no_trace_for_other_values_of_scalars():
    f = Counted()
    mapped = jax.pmap(f, in_axes=(0, None))
    for scale in (1.0, 2.5, -3.0):
        mapped(F4, scale)
    assert f.traces == 1
    mapped(F4, np.float32(2))
    mapped(F4, jnp.float32(3))
    assert f.traces == 2


def test_one_trace_serves_all_transformations():
    f = Counted(lambda x: jnp.sin(x) * lax.psum(x, "i"))
    mapped = jax.pmap(f, axis_name="i")
    mapped(F4)
    for _ in range(2):
        jax.jit(mapped)(F4)
        jax.grad(lambda x: mapped(x).sum())(F4)
        jax.jvp(mapped, (F4,), (F4,))
        jax.vmap(mapped)(M44)
        jax.vmap(jax.grad(lambda x: mapped(x).sum()))(M44)
        lax.scan(lambda c, _: (mapped(c) * 0.1, None), jnp.asarray(F4), None, length=3)
        jax.pmap(mapped, axis_name="o")(M44[:2])
    assert f.traces == 2  # in the scope of another axis it may mean something else


def test_maps_of_one_function_share_their_programs():
    f = Counted(lambda x: x * 2)

    def g(x):
        return f(x)

    for _ in range(3):
        jax.pmap(g)(F4)
        jax.pmap(g, in_axes=(0,))(F4)
    assert f.traces == 2
    jax.pmap(g, axis_name="i")(F4)
    assert f.traces == 3


def test_a_static_value_traces_its_own_function_only():
    inner = Counted(lambda x: jnp.tanh(x) * 2)
    jitted = jax.jit(inner)
    outer = Counted(lambda x, rate: jitted(x) * rate)
    mapped = jax.pmap(outer, static_broadcasted_argnums=1)
    for rate in (0.1, 0.2, 0.3, 0.1):
        same(mapped(F4, rate), np.tanh(F4) * 2 * rate)
    assert outer.traces == 3 and inner.traces == 1


# ---- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda: jax.pmap(lambda x, y: x + y)(F4, 1.0),
            ValueError,
            r"rank should be at least 1, but is only 0 \(its shape is \(\)\): argument y. Pass an "
            "array that has the axis; a value that is the same for all goes with None in in_axes",
        ),
        (
            lambda: jax.pmap(lambda x: x)([1.0, 2.0]),
            ValueError,
            r"pmap was requested to map its argument along axis 0, .*: argument x\[0\]",
        ),
        (
            lambda: jax.pmap(lambda x: x, in_axes=2)(M44),
            ValueError,
            r"along axis 2, which implies that its rank should be at least 3, but is only 2 \(its "
            r"shape is \(4, 4\)\): argument x",
        ),
        (
            lambda: jax.pmap(lambda x: x, in_axes=-3)(M44),
            ValueError,
            "along axis -3, which implies that its rank should be at least 3, but is only 2",
        ),
        (
            lambda: jax.pmap(lambda: 3)(),
            ValueError,
            "pmap requires at least one argument with a mapped axis: in_axes maps no array of this "
            "call of <lambda>. Pass one, or say the size with axis_size= and in_axes=None",
        ),
        (
            lambda: jax.pmap(lambda x: x, axis_size=3)(F4),
            ValueError,
            "Specified axis_size 3 doesn't match received axis_size 4, the size of the arguments' "
            "mapped axes. Leave axis_size out, or pass arguments of that size",
        ),
        (lambda: jax.pmap(lambda x: x, axis_size=-2), ValueError, "must not be negative, got -2"),
        (
            lambda: jax.pmap(lambda x: x, out_axes=2)(F4),
            ValueError,
            r"pmap: out_axes has 2 for leaf 0 of the result, whose shape is \(\) on each device: "
            "axis 2 is out of bounds for array of dimension 1",
        ),
        (
            lambda: jax.pmap(lambda x: {"x": x}, out_axes={"y": 0})(F4),
            ValueError,
            "pmap out_axes specification must be a tree prefix of the corresponding value",
        ),
        (
            lambda: jax.pmap(lambda x, n: x, donate_argnums=1, static_broadcasted_argnums=1),
            ValueError,
            r"`static_broadcasted_argnums` \[1\] and `donate_argnums` \[1\] cannot intersect",
        ),
        (
            lambda: jax.pmap(lambda x: x, devices=jax.devices()[0]),
            TypeError,
            r"'devices' must be a sequence of devices, or None, got CpuDevice\(id=0\)",
        ),
        (
            lambda: jax.pmap(lambda x: x, devices=[0, 1]),
            TypeError,
            "'devices' must be a sequence of devices, got 0 in it; take them from shardax.devices",
        ),
        (
            lambda: jax.pmap(lambda x: x, devices=jax.devices()[:1] * 2),
            ValueError,
            "'devices' must be distinct",
        ),
        (
            lambda: jax.pmap(lambda x, s: x, in_axes=(0, None))(F4, "abc"),
            TypeError,
            r"(?s)path s.*static_broadcasted_argnums of shardax.pmap",
        ),
        (
            lambda: jax.pmap(lambda x: lax.psum(x, "batch"))(F4),
            NameError,
            "psum: Found an unbound axis name: batch. To fix this, please call psum under "
            "`jax.shard_map`. The axes in scope are: one without a name; or call it inside a "
            "function mapped with pmap or vmap and axis_name='batch'",
        ),
        (
            lambda: jax.pmap(lambda x: x, static_broadcasted_argnums=1.5),
            TypeError,
            "'float' object is not iterable",
        ),
        (lambda: jax.pmap(3), TypeError, "Expected a callable value, got 3"),
        (lambda: jax.pmap(lambda x: x)(F4, F4), TypeError, "takes 1 positional argument but 2"),
        (lambda: jax.pmap(lambda x: x, foo=1), TypeError, "unexpected keyword argument 'foo'"),
    ],
)  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_errors_leave_the_function_usable():
    f = jax.pmap(lambda x: x / lax.psum(x, "i") if x.ndim == 0 else undefined(x), axis_name="i")  # noqa: F821
    for _ in range(2):
        with pytest.raises(NameError, match="undefined"):
            f(M44)
        same(f(F4 + 1), (F4 + 1) / 10)
    with pytest.raises(NameError, match="unbound axis name: i"):
        lax.psum(1.0, "i")
