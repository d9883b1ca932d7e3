"""tests/pmap/test_pmap.py - pmap: axes, sizes, devices, nesting, derivatives, errors."""

import functools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

X = np.arange(8, dtype=np.float32)


def test_slices_and_collectives():
    np.testing.assert_allclose(shardax.pmap(lambda x: x * 2)(X), 2 * X)
    np.testing.assert_allclose(
        shardax.pmap(lambda x: x / lax.psum(x, "i"), "i")(X), X / X.sum(), rtol=1e-6
    )
    np.testing.assert_allclose(
        shardax.pmap(lambda x: lax.pmean(x, "i"), axis_name="i")(X), np.full(8, 3.5)
    )


def test_one_trace_per_signature():
    calls = []

    @functools.partial(shardax.pmap, axis_name="i", static_broadcasted_argnums=(1,))
    def f(x, n):
        calls.append(n)
        return x * n

    f(X, 2)
    f(X + 1, 2)
    assert calls == [2]
    f(X, 3)
    f(X[:4], 3)
    assert calls == [2, 3, 3]


@pytest.mark.parametrize("in_axes", [(0, None), [0, None], (-1, None), (0, {"w": None})])
def test_in_axes(in_axes):
    out = shardax.pmap(lambda x, p: x * p["w"], in_axes=in_axes)(X, {"w": 2.0})
    np.testing.assert_allclose(out, 2 * X)


def test_in_axes_of_other_dimensions_and_keywords():
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    out = shardax.pmap(lambda x, *, k: x + k, in_axes=(1,), out_axes=-1)(x, k=np.float32([1, 2, 3]))
    np.testing.assert_allclose(out, np.moveaxis(x, 1, -1) + np.float32([1, 2, 3]))


def test_nothing_mapped_takes_all_devices():
    assert shardax.pmap(lambda x: x, in_axes=None)((1.0, jnp.ones(3)))[1].shape == (
        shardax.device_count(),
        3,
    )
    assert shardax.pmap(lambda x: x, in_axes=None, axis_size=3)(1.0).shape == (3,)
    assert shardax.pmap(lambda x: x, in_axes=None, devices=shardax.devices()[:2])(1.0).shape == (2,)


def test_in_axes_with_or_without_static_arguments():
    for in_axes in ((0, None), (0, 0), (0,)):
        f = shardax.pmap(lambda x, n: x * n, in_axes=in_axes, static_broadcasted_argnums=1)
        np.testing.assert_allclose(f(X, 3), 3 * X)


def test_out_axes():
    f = shardax.pmap(
        lambda x: {"a": x, "b": (lax.psum(x, "i"), x)}, "i", out_axes={"a": 0, "b": (None, 0)}
    )
    out = f(X)
    assert out["b"][0].shape == () and float(out["b"][0]) == 28
    with pytest.warns(shardax.debug.VaryingResultWarning):
        assert float(shardax.pmap(lambda x: x, out_axes=None)(X + 5)) == 5  # the first device's


def test_nested():
    x = X.reshape(2, 4)
    inner = lambda row: shardax.pmap(lambda v: lax.psum(v, ("i", "j")), "j")(row)  # noqa: E731
    np.testing.assert_allclose(shardax.pmap(inner, "i")(x), np.full((2, 4), 28))
    shadowing = lambda row: shardax.pmap(lambda v: lax.psum(v, "i"), "i")(row) + lax.psum(row, "i")  # noqa: E731
    np.testing.assert_allclose(shardax.pmap(shadowing, "i")(x), x.sum(1, keepdims=True) + x.sum(0))
    np.testing.assert_allclose(shardax.vmap(shardax.pmap(lambda v: v * 2))(x), 2 * x)
    np.testing.assert_allclose(shardax.jit(shardax.pmap(lambda v: v * 2))(X), 2 * X)
    in_vmap = shardax.pmap(shardax.vmap(lambda v: v - lax.pmean(v, ("i", "j")), axis_name="j"), "i")
    np.testing.assert_allclose(in_vmap(x), x - x.mean())


def test_derivatives():
    np.testing.assert_allclose(shardax.pmap(shardax.grad(lambda v: v * v))(X), 2 * X)
    np.testing.assert_allclose(
        shardax.grad(lambda x: shardax.pmap(lambda v: v * v)(x).sum())(X), 2 * X
    )
    scaled = shardax.pmap(lambda v, w: v * w, in_axes=(0, None))
    assert float(shardax.grad(lambda w: scaled(X, w).sum())(2.0)) == 28
    stacked = shardax.pmap(lambda v, w: v * w)
    np.testing.assert_allclose(shardax.grad(lambda w: stacked(X, w).sum())(jnp.ones(8)), X)


def test_psum_of_a_constant_is_a_python_int():
    seen = []
    shardax.pmap(lambda x: seen.append((lax.psum(1, "i"), lax.axis_size("i"))) or x, "i")(X)
    assert seen == [(8, 8)] and all(type(v) is int for v in seen[0])


def test_results_say_where_their_slices_lie():
    out = shardax.pmap(lambda x: x + 1)(X)
    assert [d.id for d in sorted(out.devices(), key=lambda d: d.id)] == list(range(8))


def test_donation():
    x = jnp.array(X)
    shardax.pmap(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted()


def test_methods():
    class C:
        scale = 3.0

        @functools.partial(shardax.pmap, static_broadcasted_argnums=0)
        def f(self, x):
            return x * self.scale

    np.testing.assert_allclose(C().f(X), 3 * X)


@pytest.mark.parametrize(
    "make, error, text",
    [
        (
            lambda: shardax.pmap(lambda x: x)(np.ones(9)),
            ValueError,
            "9 mapped slices need 9 devices, but 8 exist. Raise it with "
            r'shardax.config.update\("jax_num_cpu_devices", 9\)'
            r".*requires 9 logical devices, but only 8 XLA devices are available",
        ),
        (
            lambda: shardax.pmap(lambda x, y: x)(np.ones(4), np.ones((5, 2))),
            ValueError,
            r"axis 0 of argument x of type float32\[4\];\n.*axis 0 of argument y of type "
            r"float32\[5,2\]",
        ),
        (
            lambda: shardax.pmap(lambda x: x, axis_size=3)(X),
            ValueError,
            "Specified axis_size 3 doesn't match received axis_size 8",
        ),
        (
            lambda: shardax.pmap(lambda x, y: x, in_axes=(0,))(X, X),
            ValueError,
            r"(?s)pmap in_axes\[0\].*tree prefix",
        ),
        (
            lambda: shardax.pmap(lambda x, y: x, in_axes=(0, 0))(X, y=X),
            ValueError,
            "each argument passed by keyword is mapped",
        ),
        (
            lambda: shardax.pmap(lambda x: x, in_axes=({"a": 0},))({"b": X}),
            ValueError,
            r"pmap in_axes\[0\]\[0\]",
        ),
        (
            lambda: shardax.pmap(lambda x: x, in_axes=True),
            TypeError,
            "pmap in_axes must be an int, None, or",
        ),
        (
            lambda: shardax.pmap(lambda x: x, out_axes="a"),
            TypeError,
            "pmap out_axes must be an int, None, or",
        ),
        (
            lambda: shardax.pmap(lambda x: x, out_axes=3)(X),
            ValueError,
            "axis 3 is out of bounds for array of dimension 1",
        ),
        (lambda: shardax.pmap(lambda x: x, out_axes=(0, 0))(X), ValueError, "pmap out_axes"),
        (
            lambda: shardax.pmap(lambda x, n: x, static_broadcasted_argnums=(1,))(X),
            ValueError,
            r"static_broadcasted_argnums=\(1,\) but was called with only 1 positional argument",
        ),
        (
            lambda: shardax.pmap(lambda x, n: x, static_broadcasted_argnums=(1,))(X, jnp.ones(2)),
            ValueError,
            r"Non-hashable static arguments are not supported, .*index 1",
        ),
        (lambda: shardax.pmap(lambda x: x, devices=[]), ValueError, "must be non-empty, or None"),
        (
            lambda: shardax.pmap(lambda x: x, devices=shardax.devices()[:2])(X),
            ValueError,
            "num_local_devices=2",
        ),
        (
            lambda: shardax.pmap(lambda x: x, backend="gpu"),
            RuntimeError,
            "Unknown backend: 'gpu' requested",
        ),
        (
            lambda: shardax.pmap(lambda x: x)(),
            (TypeError, ValueError),
            "at least one argument with a mapped axis",
        ),
        (
            lambda: shardax.pmap(lambda x: "abc")(X),
            TypeError,
            "<class 'str'>, which is not a valid JAX type",
        ),
        (
            lambda: shardax.pmap(lambda x: lax.psum(x, "j"), "i")(X),
            NameError,
            "(?s)unbound axis name: j.*in scope are: i",
        ),
        (lambda: lax.psum(X, "batch"), NameError, "unbound axis name: batch"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_nested_axes_need_their_product_of_devices():
    with pytest.raises(
        ValueError,
        match="requires 12 local devices to run due to nested pmapped .* only 8 are available",
    ):
        shardax.pmap(lambda x: shardax.pmap(lambda y: y)(x))(np.ones((4, 3)))


def test_the_number_of_devices_may_change():
    f = shardax.pmap(lambda x: x + 1)
    before = shardax.device_count()
    try:
        shardax.config.update("jax_num_cpu_devices", 12)
        np.testing.assert_allclose(f(np.ones(12)), np.full(12, 2))
        shardax.config.update("jax_num_cpu_devices", 2)
        with pytest.raises(ValueError, match="need 12 devices, but 2 exist"):
            f(np.ones(12))
    finally:
        shardax.config.update("jax_num_cpu_devices", before)


def test_names_of_older_versions():
    x = jnp.arange(24.0).reshape(24)  # more slices than devices
    out = shardax.soft_pmap(lambda v: v - lax.pmean(v, "i"), axis_name="i")(x)
    np.testing.assert_allclose(out, x - 11.5)
    both = shardax.soft_pmap(lambda a, b: a + b, in_axes=(0, None))(x, 1.0)
    np.testing.assert_allclose(both, x + 1)
    a, b = np.arange(8.0).reshape(4, 2), np.ones((4, 2))
    dot = shardax.pmap(lambda u, v: lax.pdot(u, v, "i", ((0,), (0,))), axis_name="i")
    np.testing.assert_allclose(dot(a, b), [28.0] * 4)
    assert [s.shape for s in dot(a, b).device_buffers] == [(1,)] * 4
    shardax.config.update("jax_eager_pmap", True)
    assert shardax.config.omnistaging_enabled


def test_modules_of_older_versions():
    from shardax.experimental import PartitionSpec
    from shardax.interpreters import pxla, xla
    from shardax.lib import xla_bridge

    x = shardax.pmap(lambda v: v)(jnp.arange(2.0))
    assert isinstance(x, pxla.ShardedDeviceArray) and isinstance(x, xla.DeviceArray)
    assert PartitionSpec is pxla.PartitionSpec is shardax.sharding.PartitionSpec
    backend = xla_bridge.get_backend()
    assert (backend.platform, backend.device_count()) == ("cpu", xla_bridge.device_count())
    assert shardax.devices()[0].client is backend
    assert xla_bridge.get_backend("cpu") is backend
    xla_bridge.get_backend.cache_clear()
    assert xla_bridge.get_backend() is backend
    with pytest.raises(RuntimeError, match="Unknown backend: 'tpu' requested"):
        xla_bridge.get_backend("tpu")


def test_the_sharding_of_older_versions():
    PmapSharding = shardax.sharding.PmapSharding
    where = PmapSharding.default((2, 4), sharded_dim=1)
    assert where.shard_shape((2, 4)) == (2, 1)
    x = shardax.device_put(jnp.ones((2, 4)), where)
    assert [s.data.shape for s in x.addressable_shards] == [(2, 1)] * 4
    chosen = PmapSharding.default((2,), devices=shardax.devices()[2:4])
    assert [d.id for d in chosen.devices] == [2, 3]
    mapped = shardax.pmap(lambda v: v)(jnp.arange(2.0))
    assert mapped.sharding == PmapSharding(shardax.devices()[:2])
