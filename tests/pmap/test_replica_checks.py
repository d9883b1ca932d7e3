# tests/pmap/test_replica_checks.py - noticing that devices which should be alike are not.
import functools
import gc
import inspect
import warnings
import weakref

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import debug, lax, random
from shardax.sharding import NamedSharding
from shardax.sharding import PartitionSpec as P

N = 8
X = random.normal(random.key(0), (N, 4, 3))
Y = random.normal(random.key(1), (N, 4))
PARAMS = {"w": jnp.ones((N, 3)), "b": jnp.zeros(N)}


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return f"test_replica_checks.py:{first + next(i for i, x in enumerate(lines) if text in x)}"


def loss(params, x, y):
    return jnp.mean((x @ params["w"] + params["b"] - y) ** 2)


def forgetful(params, x, y):
    gradient = shardax.grad(loss)(params, x, y)
    return {name: params[name] - 0.1 * gradient[name] for name in params}  # the update


def careful(params, x, y):
    gradient = lax.pmean(shardax.grad(loss)(params, x, y), "i")
    return {name: params[name] - 0.1 * gradient[name] for name in params}  # the update


def train(step, params=PARAMS, steps=3):
    for _ in range(steps):
        params = step(params, X, Y)
    return params


def found_in(run):
    with debug.check_replicas(raises=False) as found:
        run()
    return found


# ---- assert_replicated ---------------------------------------------------------------------------


def test_replicated_trees():
    debug.assert_replicated(train(shardax.pmap(careful, axis_name="i")))
    debug.assert_replicated({"a": jnp.arange(3), "b": 1.0, "c": None})
    mesh = shardax.make_mesh((2, 4), ("x", "y"))
    tiles = jnp.tile(jnp.arange(3.0), (2, 4))
    debug.assert_replicated(shardax.device_put(tiles, NamedSharding(mesh, P("x", "y"))))


def test_bits_are_compared():
    nan = np.full((N, 2), np.nan, np.float32)
    split = shardax.pmap(lambda x: x)
    debug.assert_replicated(split(nan))
    signed = np.zeros((N, 2), np.float32)
    signed[5, 1] = -0.0
    with pytest.raises(
        debug.ReplicasDiverged, match=r"device 5 has -0.0 at \[5, 1\], where device 0"
    ):
        debug.assert_replicated(split(signed))


def test_leaf_device_and_element_are_named():
    said = (
        r"assert_replicated: leaf \['w'\] differs between devices: device 3 has 7.0 at \[3, 1, 0\]"
    )
    values = np.ones((N, 2, 2), np.float32)
    values[3, 1, 0] = 7
    with pytest.raises(debug.ReplicasDiverged, match=said):
        debug.assert_replicated({"b": 1, "w": shardax.pmap(lambda x: x)(values)})


def test_parts_of_two_dimensions():
    mesh = shardax.make_mesh((2, 4), ("x", "y"))
    values = np.zeros((4, 8), np.int32)
    values[3, 6] = 5
    x = shardax.device_put(values, NamedSharding(mesh, P("x", "y")))
    with pytest.raises(debug.ReplicasDiverged, match=r"device 7 has 5 at \[3, 6\], where device 0"):
        debug.assert_replicated(x)
    with pytest.raises(debug.ReplicasDiverged, match="the value differs"):
        debug.assert_replicated(x.T)
    debug.assert_replicated(shardax.device_put(values, NamedSharding(mesh, P())))


@pytest.mark.parametrize("outer", ["pmap", "shard_map", "jit of pmap"])
def test_within_mapped_functions(outer):
    def f(x):
        debug.assert_replicated({"sum": lax.psum(x, "i")})
        debug.assert_replicated({"x": x})
        return x

    mapped = shardax.pmap(f, axis_name="i")
    if outer == "shard_map":
        mesh = shardax.make_mesh((N,), ("i",))
        mapped = shardax.shard_map(f, mesh=mesh, in_specs=P("i"), out_specs=P("i"))
    if outer == "jit of pmap":
        mapped = shardax.jit(mapped)
    mapped(jnp.ones((N, 2)))
    said = r"leaf \['x'\] differs between devices: device 1 has"
    with pytest.raises(Exception, match=said):
        shardax.block_until_ready(mapped(jnp.arange(2.0 * N).reshape(N, 2)))


# ---- results that are returned once --------------------------------------------------------------


def test_varying_results_warn_once():
    f = shardax.pmap(lambda x: {"a": x * 2, "b": lax.psum(x, "i")}, axis_name="i", out_axes=None)
    with pytest.warns(debug.VaryingResultWarning) as seen:
        f(jnp.arange(N))
    assert len(seen) == 1 and seen[0].filename == __file__
    text = str(seen[0].message)
    assert text.startswith("result['a'] differs between devices")
    assert "over 'i' in line test_replica_checks.py:" in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(jnp.arange(N))


def test_deleted_arguments():
    x = jnp.arange(float(N))
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        shardax.pmap(lambda x: x, out_axes=None)(x)
    with pytest.raises(RuntimeError, match="deleted"):
        shardax.explain(shardax.pmap(lambda x: x))(x)


def test_equal_results_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shardax.pmap(lambda x: x * 2, out_axes=None)(np.ones(N))
        shardax.pmap(lambda x: lax.pmean(x, "i"), "i", out_axes=None)(jnp.arange(N))
        shardax.pmap(lambda x: x * 2)(jnp.arange(N))


# ---- check_replicas ------------------------------------------------------------------------------


def test_forgotten_mean():
    step = shardax.pmap(forgetful, axis_name="i")
    with pytest.raises(debug.ReplicasDiverged) as error, debug.check_replicas():
        train(step)
    text = str(error.value)
    assert text.startswith(
        "check_replicas: devices diverged at call 1 of forgetful, in leaf params"
    )
    assert f"from line {line_of(forgetful, 'the update')}" in text
    assert f"of line {line_of(forgetful, 'shardax.grad')}" in text
    assert text.endswith("Is a psum or pmean missing?")


def test_every_leaf_is_found():
    found = found_in(lambda: train(shardax.pmap(forgetful, axis_name="i")))
    assert [(d.call, d.leaf, d.function) for d in found] == [
        (1, "params['b']", "forgetful"),
        (1, "params['w']", "forgetful"),
    ]
    assert {d.line for d in found} == {line_of(forgetful, "the update")}


def test_one_call_is_enough_for_trees():
    found = found_in(lambda: train(shardax.pmap(forgetful, axis_name="i"), steps=1))
    assert [(d.call, d.leaf) for d in found] == [(1, "params['b']"), (1, "params['w']")]


def test_arrays_are_followed_from_call_to_call():
    step = shardax.pmap(lambda w, x: w - 0.1 * w * x)

    def run():
        w = jnp.ones(N)
        for _ in range(2):
            w = step(w, jnp.arange(float(N)))

    found = found_in(run)
    assert [(d.call, d.leaf) for d in found] == [(1, "w")]


def shrink(w, x):
    return w - 0.1 * w * x  # the update


def test_each_divergence_raises():
    """As a test of hypothesis runs its examples several times within one block."""
    step = shardax.pmap(shrink)

    def diverge(params):
        for _ in range(2):
            params = {"w": step(params["w"], jnp.arange(float(N)))}

    with debug.check_replicas():
        for _ in range(2):
            with pytest.raises(debug.ReplicasDiverged, match="in leaf w, from line"):
                diverge({"w": jnp.ones(N)})


@pytest.mark.parametrize("fresh", [lambda: shrink, lambda: functools.partial(shrink)])
def test_functions_mapped_anew_for_each_call(fresh):
    def run():
        w = jnp.ones(N)
        for _ in range(3):
            w = shardax.pmap(fresh())(w, jnp.arange(float(N)))

    found = found_in(run)
    assert [(d.call, d.leaf, d.line) for d in found] == [(1, "w", line_of(shrink, "the update"))]


def test_a_function_may_be_mapped_anew_for_other_values():
    def twice(x):
        return shardax.pmap(lambda v: 2 * v)(x)

    def run():
        twice(twice(jnp.ones(N)))
        twice(twice(jnp.arange(float(N))))  # values of its own, no result of the calls before

    assert found_in(run) == []


def test_later_calls():
    step = shardax.pmap(lambda p, x: {"w": p["w"] + x})
    p = {"w": np.zeros(N)}

    def run():
        step(p, np.ones(N))
        step(step(p, np.ones(N)), np.arange(float(N)))

    assert [(d.call, d.leaf) for d in found_in(run)] == [(3, "p['w']")]


@pytest.mark.parametrize("steps", [1, 3])  # found at the end of the block; in a later call
def test_donated_arguments_are_followed(steps):
    """Messages on arrays that a call has deleted are those on arrays that are kept."""
    keeping, donating = (shardax.pmap(forgetful, "i", donate_argnums=which) for which in ((), 0))
    kept = found_in(lambda: train(keeping, copy(), steps))
    assert kept and found_in(lambda: train(donating, copy(), steps)) == kept
    assert not found_in(lambda: train(shardax.pmap(careful, "i", donate_argnums=0), copy()))


def copy():
    return {name: jnp.array(x) for name, x in PARAMS.items()}


def test_results_may_be_donated_before_the_end():
    step = shardax.pmap(forgetful, "i")
    double = shardax.jit(lambda params: [2 * x for x in params.values()], donate_argnums=0)
    found = found_in(lambda: double(train(step, steps=1)))
    assert [divergence.leaf for divergence in found] == ["params['b']", "params['w']"]


def test_arguments_are_let_go():
    """A watch does not keep an argument that nobody else has any more."""
    params = copy()
    held = [weakref.ref(x) for x in params.values()]
    with debug.check_replicas():
        params = shardax.pmap(careful, "i")(params, X, Y)
        gc.collect()
        assert [ref() for ref in held] == [None, None]


def test_averaged_training_is_clean():
    assert found_in(lambda: train(shardax.pmap(careful, axis_name="i"))) == []
    once = shardax.pmap(careful, axis_name="i", in_axes=(None, 0, 0), out_axes=None)
    params = {"w": jnp.ones(3), "b": jnp.zeros(())}
    assert found_in(lambda: train(once, params)) == []


def test_parameters_returned_once():
    once = shardax.pmap(forgetful, axis_name="i", in_axes=(None, 0, 0), out_axes=None)
    params = {"w": jnp.ones(3), "b": jnp.zeros(())}
    with pytest.warns(debug.VaryingResultWarning):
        found = found_in(lambda: train(once, params))
    assert [(d.call, d.leaf) for d in found] == [(1, "result['b']"), (1, "result['w']")]
    assert (
        "devices diverged at call 1 of forgetful: result['b'] differs between" in found[0].message
    )


def test_keys_that_differ_between_devices():
    def init(key):
        return {"w": random.normal(key, (3,)), "b": 0.0}  # the draw

    step = shardax.pmap(careful, axis_name="i")
    own, same = shardax.pmap(init), shardax.pmap(init, in_axes=None, axis_size=N)
    found = found_in(lambda: train(step, own(random.split(random.key(0), N))))
    assert [(d.leaf, d.call) for d in found] == [("params['w']", 1)]
    assert found[0].line == line_of(init, "the draw")
    assert (
        "from a random key that differs between devices: give all the same key" in found[0].message
    )
    assert "the collective in line " + line_of(careful, "lax.pmean") in found[0].message
    assert found_in(lambda: train(step, same(random.key(0)))) == []


def test_draws_that_are_meant_to_differ():
    points = shardax.pmap(lambda key: random.uniform(key, (5,)))
    assert found_in(lambda: points(random.split(random.key(0), N))) == []


def test_shard_mapped_functions():
    mesh = shardax.make_mesh((N,), ("i",))
    step = shardax.shard_map(
        lambda w, x: w - x.sum(), mesh=mesh, in_specs=(P(), P("i")), out_specs=P(), check_vma=False
    )
    with pytest.warns(debug.VaryingResultWarning, match="result differs between devices over 'i'"):
        found = found_in(lambda: step(jnp.ones(3), jnp.arange(16.0)))
    assert [(d.call, d.leaf) for d in found] == [(1, "result")]


def test_outside_nothing_is_watched():
    step = shardax.pmap(forgetful, axis_name="i")
    train(step)
    with debug.check_replicas(raises=False) as outer:
        with debug.check_replicas(raises=False) as inner:
            train(step, steps=2)
        train(shardax.pmap(forgetful, axis_name="i"), steps=2)
    train(step)
    assert len(inner) == 2 and len(outer) == 2


def test_errors_of_the_function_pass_through():
    def fail(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), debug.check_replicas():
        shardax.pmap(fail)(jnp.ones(N))
    assert train(shardax.pmap(careful, axis_name="i")) is not None


def test_rings_that_reduce():
    """Types cannot tell that what has gone around a ring is the same everywhere; values can."""
    ring = [(i, (i + 1) % N) for i in range(N)]

    def total(x):
        sent = out = x
        for _ in range(N - 1):
            sent = lax.ppermute(sent, "i", ring)
            out = out + sent
        return out

    def step(p, x):
        return {"w": p["w"] - total(x)}

    x, p = jnp.arange(N), {"w": jnp.zeros(N, int)}
    mesh = shardax.make_mesh((N,), ("i",))
    once = shardax.pmap(total, axis_name="i", out_axes=None)
    blocks = shardax.shard_map(total, mesh=mesh, in_specs=P("i"), out_specs=P(), check_vma=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with debug.check_replicas():
            assert once(x) == 28
            assert blocks(x)[0] == 28
            shardax.pmap(step, axis_name="i")(p, x)


@pytest.mark.filterwarnings("ignore::shardax.debug.VaryingResultWarning")
def test_blocks_of_which_one_is_returned():
    mesh = shardax.make_mesh((2, 4), ("a", "b"))

    def run(specs, f):
        g = shardax.shard_map(f, mesh=mesh, in_specs=P("a", "b"), out_specs=specs, check_vma=False)
        return found_in(lambda: g(jnp.arange(32.0).reshape(4, 8)))

    assert len(run(P("a"), lambda x: x)) == 1
    assert run(P("a"), lambda x: lax.psum(x, "b")) == []
    assert len(run(P(), lambda x: lax.psum(x, "b"))) == 1
    assert run(P(), lambda x: lax.psum(x, ("a", "b"))) == []
    assert len(run(P(), lambda x: x.sum())) == 1
