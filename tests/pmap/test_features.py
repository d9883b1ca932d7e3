"""tests/pmap/test_features.py - devices, forms of functions, traces and errors of pmap."""

import contextlib
import functools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

F4 = np.arange(4, dtype=np.float32)
M44 = np.arange(16, dtype=np.float32).reshape(4, 4)


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
            "psum: Found an unbound axis name: batch. The axes in scope are: one without a name. "
            "To fix this, please call psum inside a function mapped with pmap, vmap or shard_map "
            "and axis_name='batch'",
        ),
        (
            lambda: jax.pmap(lambda x: lax.psum(x, "bach"), "batch")(F4),
            NameError,
            "The axes in scope are: batch; did you mean 'batch'\\? To fix this",
        ),
        (lambda: lax.psum(F4, "batch"), NameError, "No mapped axis is in scope here. To fix"),
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
