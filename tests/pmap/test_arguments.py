"""tests/pmap/test_arguments.py - arguments and results of pmap; static and donated arguments."""

import functools

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.pmap.test_features import F4, M44, same

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
