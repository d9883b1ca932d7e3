"""tests/pmap/test_uniform.py - replicated values are kept once and computed once."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import _core

sys.path.append(str(pathlib.Path(__file__).parents[1]))
import peak_memory  # noqa: E402


def address(x):
    return x.unsafe_buffer_pointer()


def test_stacking_one_array_keeps_it_once():
    w = jnp.ones((1000, 10)) * 2
    for stacked in (jnp.stack([w] * 8), jnp.array([w] * 8), jnp.broadcast_to(w, (8, 1000, 10))):
        assert _core.strides(stacked)[0] == 0
        assert address(stacked[0]) == address(stacked[7])


def test_in_axes_none_gives_results_that_are_kept_once():
    w = jnp.arange(6.0)
    out = jax.pmap(lambda w, x: (w * 2, w + x), in_axes=(None, 0))(w, jnp.arange(8.0))
    assert _core.strides(out[0]) == (0, 1)
    assert np.asarray(out[0]).shape == (8, 6)
    assert _core.strides(out[1])[0] != 0


def test_systems_that_all_devices_solve_are_solved_once():
    a, b = jnp.eye(6) * 3 + 1, jnp.arange(6.0)
    solve = jax.pmap(lambda a, b, x: (jnp.linalg.solve(a, b), x), in_axes=(None, None, 0))
    out = solve(a, b, jnp.arange(8.0))[0]
    assert _core.strides(out) == (0, 1)
    np.testing.assert_allclose(out[7], np.linalg.solve(a, b), rtol=1e-5)
    varying = jax.pmap(lambda a, b: jnp.linalg.solve(a, b), in_axes=(None, 0))
    np.testing.assert_allclose(varying(a, jnp.eye(6)), np.linalg.inv(a).T, rtol=1e-5, atol=1e-6)


def step(w, x):
    g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * jax.lax.pmean(g, "i")


def test_parameters_stacked_anew_take_one_copy():
    x = jnp.asarray(np.random.default_rng(0).standard_normal((8, 20, 5)), dtype=jnp.float32)
    w = np.random.default_rng(1).standard_normal(5).astype(np.float32)
    f = jax.pmap(step, axis_name="i")
    # Separate, equal slices: recognised by their bits.
    out = f(np.stack([w] * 8), x)
    assert _core.strides(out)[0] == 0
    again = f(out, x)
    assert _core.strides(again)[0] == 0
    # Elementwise work between calls keeps the one copy.
    assert _core.strides(out * 0.5 + 1.0)[0] == 0
    assert _core.strides(jax.jit(lambda v: v * 0.5)(out))[0] == 0
    reference = f(jnp.asarray(np.stack([w] * 7 + [w + 1])), x)
    assert _core.strides(reference)[0] != 0


def test_uniformity_never_changes_values_or_traces():
    traces = []

    def f(w, x):
        traces.append(1)
        return step(w, x)

    rng = np.random.default_rng(2)
    x = rng.standard_normal((8, 20, 5)).astype(np.float32)
    equal = np.stack([rng.standard_normal(5).astype(np.float32)] * 8)
    unequal = rng.standard_normal((8, 5)).astype(np.float32)
    mapped = jax.pmap(f, axis_name="i")
    expected = {}
    for name, w in (("equal", equal), ("unequal", unequal), ("equal", equal), ("unequal", unequal)):
        out = np.asarray(mapped(w, x))
        reference = np.asarray(jax.vmap(step, axis_name="i")(w, x))
        np.testing.assert_allclose(out, reference, rtol=2e-5, atol=1e-6)
        expected.setdefault(name, out)
        np.testing.assert_allclose(out, expected[name], rtol=2e-5, atol=1e-6)
    assert len(traces) == 1


def test_gradients_of_equal_and_of_unmapped_parameters():
    x = jnp.arange(1.0, 5.0)
    stacked = jax.grad(lambda w: jax.pmap(lambda w, x: w * x)(w, x).sum())(jnp.ones(4))
    assert np.asarray(stacked).tolist() == [1.0, 2.0, 3.0, 4.0]
    unmapped = jax.grad(lambda w: jax.pmap(lambda w, x: w * x, in_axes=(None, 0))(w, x).sum())(1.0)
    assert float(unmapped) == 10.0


def test_numpy_memory_may_change_between_calls():
    w = np.ones((4, 3), np.float32)
    f = jax.pmap(lambda v: v * 2)
    first = f(w)
    w[2] = 5
    assert np.asarray(f(w)).tolist() == (w * 2).tolist()
    assert np.asarray(first).tolist() == np.full((4, 3), 2.0).tolist()


def training_step(params, frozen, mask, x, y):
    def loss(w):
        h = jnp.tanh(x @ w["a"] + frozen)
        return jnp.mean((h @ w["b"] - y) ** 2)

    value, grads = jax.value_and_grad(loss)(params)
    grads = jax.lax.pmean(grads, "i")
    new = jax.tree_util.tree_map(lambda w, g: jnp.where(mask, w - 0.1 * g, w), params, grads)
    return new, jax.lax.pmean(value, "i")


def training_arguments(n=8, seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)  # noqa: E731
    stack = lambda v: np.stack([v] * n)  # noqa: E731
    params = {"a": stack(draw(5, 4)), "b": stack(draw(4))}
    return params, stack(draw(4)), stack(np.bool_(True)), draw(n, 6, 5), draw(n, 6)


def pmap_of_training_step(**options):
    """Shares nothing with the maps of other tests: inputs that varied are not compared again."""
    return jax.pmap(lambda *arguments: training_step(*arguments), axis_name="i", **options)


def check_training_step(mapped, arguments):
    got = mapped(*arguments)
    want = jax.vmap(training_step, axis_name="i")(*arguments)
    for g, w in zip(jax.tree_util.tree_leaves(got), jax.tree_util.tree_leaves(want), strict=True):
        np.testing.assert_allclose(np.asarray(g), np.asarray(w), rtol=2e-5, atol=1e-6)
    return got


def test_parameters_may_change_from_equal_to_unequal_and_back():
    mapped = pmap_of_training_step()
    params, frozen, mask, x, y = training_arguments()
    new, _ = check_training_step(mapped, (params, frozen, mask, x, y))
    assert all(_core.strides(leaf)[0] == 0 for leaf in jax.tree_util.tree_leaves(new))
    unequal = {**params, "b": params["b"] + np.arange(8, dtype=np.float32)[:, None]}
    new, _ = check_training_step(mapped, (unequal, frozen, mask, x, y))
    assert _core.strides(new["b"])[0] != 0
    new, _ = check_training_step(mapped, (params, frozen, mask, x, y))
    # Values kept once are seen as such again, whatever came between.
    again, _ = check_training_step(
        mapped, (jax.device_put_replicated(params_of(params), jax.devices()), frozen, mask, x, y)
    )
    assert all(_core.strides(leaf)[0] == 0 for leaf in jax.tree_util.tree_leaves(again))


def params_of(stacked):
    return jax.tree_util.tree_map(lambda leaf: leaf[0], stacked)


def test_masks_that_are_equal_and_parameters_that_are_frozen():
    mapped = pmap_of_training_step()
    params, frozen, mask, x, y = training_arguments()
    for given in (mask, ~mask, np.arange(8) % 2 == 0, mask):
        new, _ = check_training_step(mapped, (params, frozen, given, x, y))
    check_training_step(
        mapped, (params, frozen * np.arange(8)[:, None].astype(np.float32), mask, x, y)
    )
    whole = pmap_of_training_step(in_axes=(0, None, None, 0, 0))
    new, _ = whole(params, frozen[0], True, x, y)
    reference, _ = mapped(params, frozen, mask, x, y)
    np.testing.assert_allclose(np.asarray(new["a"]), np.asarray(reference["a"]), rtol=1e-6)


def test_derivatives_do_not_depend_on_uniformity():
    f = jax.pmap(lambda w, x: jnp.sin(w * x) * jax.lax.psum(w, "i"), axis_name="i")
    x = jnp.arange(1.0, 5.0)
    gradient = jax.grad(lambda w: f(w, x).sum())
    reference = jax.grad(
        lambda w: jax.vmap(lambda w, x: jnp.sin(w * x) * jax.lax.psum(w, "i"), axis_name="i")(
            w, x
        ).sum()
    )
    for w in (
        jnp.full(4, 0.7),
        jnp.asarray([0.1, 0.2, 0.3, 0.4]),
        jnp.stack([jnp.float32(0.7)] * 4),
    ):
        np.testing.assert_allclose(np.asarray(gradient(w)), np.asarray(reference(w)), rtol=1e-5)
        t = jnp.asarray([1.0, -1.0, 2.0, 0.5])
        _, tangent = jax.jvp(lambda w: f(w, x), (w,), (t,))
        _, expected = jax.jvp(lambda w: jax.vmap(f.__wrapped__, axis_name="i")(w, x), (w,), (t,))
        np.testing.assert_allclose(np.asarray(tangent), np.asarray(expected), rtol=1e-5)


def test_donated_parameters_that_are_kept_once():
    f = jax.pmap(lambda w, x: (w + 1, x.sum()), axis_name="i", donate_argnums=0)
    w = jax.device_put_replicated(np.zeros(3, np.float32), jax.devices())
    view = w[2]
    for step in range(1, 4):
        old = w
        w, _ = f(w, jnp.arange(8.0))
        assert old.is_deleted() and not w.is_deleted()
        assert _core.strides(w)[0] == 0
        assert np.asarray(w).tolist() == [[step] * 3] * 8
    assert np.asarray(view).tolist() == [0, 0, 0]


def test_views_of_donated_arrays_stay_valid():
    f = jax.pmap(lambda w: w * 2, donate_argnums=0)
    for w in (jnp.arange(24.0).reshape(8, 3), jnp.broadcast_to(jnp.arange(3.0), (8, 3))):
        expected = np.asarray(w).copy()
        row, flat, exported, turned = w[1], w.reshape(-1), np.asarray(w), w.T
        out = f(w)
        assert w.is_deleted()
        np.testing.assert_array_equal(out, expected * 2)
        np.testing.assert_array_equal(row, expected[1])
        np.testing.assert_array_equal(flat, expected.reshape(-1))
        np.testing.assert_array_equal(exported, expected)
        np.testing.assert_array_equal(turned, expected.T)
        with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[8,3\]"):
            f(w)


def test_numpy_parameters_may_become_unequal_in_place():
    f = jax.pmap(lambda w, x: jax.lax.pmean(w * x, "i"), axis_name="i")
    w, x = np.ones((8, 3), np.float32), np.arange(8, dtype=np.float32)[:, None]
    kept = []
    for change in (lambda: None, lambda: w.__setitem__(5, 7), lambda: w.fill(2), lambda: None):
        change()
        out = f(w, x)
        np.testing.assert_allclose(np.asarray(out), np.broadcast_to((w * x).mean(0), (8, 3)))
        kept.append((out, np.asarray(out).copy()))
    identity = jax.pmap(lambda w: w)(w)
    w[:] = -1
    assert np.asarray(identity).tolist() == np.full((8, 3), 2.0).tolist()
    for out, copy in kept:
        np.testing.assert_array_equal(out, copy)


VARIANTS = """
import itertools, numpy as np, shardax as jax, shardax.numpy as jnp
traces = []
def f(a, b, c):
    traces.append(1)
    return a * 2 + b, jax.lax.psum(b * c, "i"), c
mapped = jax.pmap(f, axis_name="i")
rng = np.random.default_rng(0)
def argument(kind):
    one = rng.standard_normal(3).astype(np.float32)
    if kind == "unequal": return rng.standard_normal((4, 3)).astype(np.float32)
    if kind == "equal": return np.stack([one] * 4)
    return jnp.broadcast_to(one, (4, 3))
kinds = list(itertools.product(("equal", "unequal", "once"), repeat=3))
for i in rng.permutation(len(kinds) * 3):
    a, b, c = (argument(k) for k in kinds[i % len(kinds)])
    out = mapped(a, b, c)
    a, b, c = (np.asarray(v) for v in (a, b, c))
    want = a * 2 + b, np.broadcast_to((b * c).sum(0), (4, 3)), c
    for o, w in zip(out, want):
        np.testing.assert_allclose(np.asarray(o), w, rtol=1e-5, atol=1e-5)
assert len(traces) == 1
"""


def compiled(script, name):
    """The number of times that a function of that name is compiled while a script runs."""
    out = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "SHARDAX_DUMP": "time"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert out.returncode == 0, out.stderr[-2000:]
    return out.stderr.count(f"-- compile {name}:")


def test_at_most_one_variant_more_than_arguments():
    assert 2 <= compiled(VARIANTS, "f") <= 4


MEMORY = """
import numpy as np, shardax as jax, shardax.numpy as jnp
jax.config.update("jax_num_cpu_devices", 64)
loss = lambda w, x: jnp.mean((x @ w) ** 2)
def step(w, m, x):
    m = 0.9 * m + jax.lax.pmean(jax.grad(loss)(w, x), "i")
    return w - 0.1 * m, m
def train():
    f = jax.pmap(step, axis_name="i", donate_argnums=(0, 1))
    w = jax.device_put_replicated(one, jax.devices())
    m = jax.tree_util.tree_map(jnp.zeros_like, w)
    for _ in range(3):
        w, m = f(w, m, x)
each = jax.pmap(loss, axis_name="i", in_axes=(None, 0))
total = lambda w: each(w, x).mean()
cases = {
    "train": train,
    "grad": lambda: jax.grad(total)(one),
    "jit of grad": lambda: jax.jit(jax.grad(total))(one),
    "vjp": lambda: jax.vjp(lambda w: each(w, x), one)[1](jnp.ones(64)),
    "jvp of grad": lambda: jax.jvp(jax.grad(total), (one,), (one,)),
    "gather": lambda: jax.pmap(lambda w, x: jax.lax.all_gather(x, "i"), "i")(one[:64], x),
}
one = jnp.ones((1000, 1000))
x = np.random.default_rng(0).standard_normal((64, 2, 1000)).astype(np.float32)
peak = Peak()
cases[sys.argv[1]]()
print(peak.kilobytes() // 1024)
"""


@peak_memory.linux_only
@pytest.mark.parametrize("case", ["train", "grad", "jit of grad", "vjp", "jvp of grad", "gather"])
def test_no_memory_for_replicas(case):
    """64 replicas of 4 MB parameters, gradients and momenta: 256 MB each if they were copies."""
    out = subprocess.run(
        [sys.executable, "-c", peak_memory.IMPORT + MEMORY, case],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(out.stdout) < 64


@pytest.mark.parametrize("devices", [1, 3, 1000])
def test_any_number_of_devices(devices):
    before = jax.device_count()
    jax.config.update("jax_num_cpu_devices", devices)
    try:
        out = jax.pmap(lambda x: jax.lax.pmean(x, "i"), axis_name="i")(jnp.arange(float(devices)))
        assert out.shape == (devices,)
        assert float(out[devices - 1]) == pytest.approx((devices - 1) / 2)
    finally:
        jax.config.update("jax_num_cpu_devices", before)
