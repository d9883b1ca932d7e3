"""tests/transforms/test_linear_util.py - linear_util and api_util: functions with transformations
around
them, and their arguments."""

import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import api_util
from shardax.extend import linear_util

F32 = jnp.float32


def test_generators_around_functions():
    @linear_util.transformation
    def scaled(factor, *args):
        result = yield args, {}
        yield factor * result

    @linear_util.transformation_with_aux
    def counted(*args):
        result = yield args, {}
        yield result, len(args)

    f = scaled(linear_util.wrap_init(max), 10)
    assert f.call_wrapped(1, 2) == 20 and f.__name__ == "max"
    assert f == scaled(linear_util.wrap_init(max), 10) != scaled(linear_util.wrap_init(max), 11)
    assert hash(f) == hash(scaled(linear_util.wrap_init(max), 10))
    g, count = counted(linear_util.wrap_init(lambda *xs: 10 * max(xs)))
    with pytest.raises(linear_util.StoreException, match="Store empty"):
        count()
    assert g.call_wrapped(1, 2, 3) == 30 and count() == 3
    with pytest.raises(linear_util.StoreException, match="Store occupied"):
        g.call_wrapped(1)


def test_functions_around_functions():
    @linear_util.transformation_with_aux2
    def noted(f, store, note, *args, **kwargs):
        store.store(note)
        return f(*args, **kwargs)

    f, note = noted(linear_util.wrap_init(lambda x, y: x - y, {"y": 1}), "n")
    g, other = noted(linear_util.wrap_init(abs), "m")
    assert f.call_wrapped(3) == 2 and note() == "n"
    assert linear_util.merge_linear_aux(note, other) == (True, "n")
    assert linear_util.merge_linear_aux(other, note) == (False, "n")
    g.call_wrapped(1)
    with pytest.raises(linear_util.StoreException, match="both stores occupied"):
        linear_util.merge_linear_aux(note, other)


def test_remembered_calls():
    calls = []

    @linear_util.cache
    def run(fun, x):
        calls.append(x)
        return fun.call_wrapped(x)

    def f(x):
        return {"a": x}

    def flat():
        tree = jax.tree.structure(((1,), {}))
        return api_util.flatten_fun(linear_util.wrap_init(f), tree)

    (one, tree1), (two, tree2) = flat(), flat()
    assert run(one, 3) == run(two, 3) == [3] and calls == [3]
    assert tree1() == tree2() == jax.tree.structure({"a": 0})


def test_functions_of_leaves():
    args = ({"x": 1, "y": 2},)
    leaves, tree = jax.tree.flatten((args, {"z": 3}))
    f, out_tree = api_util.flatten_fun(
        linear_util.wrap_init(lambda d, z: (d["x"], [d["y"] + z])), tree
    )
    assert f.call_wrapped(*leaves) == [1, 5]
    assert jax.tree.unflatten(out_tree(), [1, 5]) == (1, [5])
    g, out_tree = api_util.flatten_fun_nokwargs(
        linear_util.wrap_init(lambda d: d), jax.tree.structure(args)
    )
    assert g.call_wrapped(7, 8) == [7, 8] and out_tree() == jax.tree.structure(args[0])


def test_what_is_said_of_arguments():
    def f(x, y, *, z):
        return x

    info = api_util.debug_info("jit", f, ({"a": 1}, 2), {"z": 3}, static_argnums=(1,))
    assert info.arg_names == ("x['a']", "z") and info.func_name == "f"
    assert info.traced_for == "jit" and __file__ in info.func_src_info
    assert info.with_unknown_names().arg_names is None
    tree = jax.tree.structure({"a": 1, "b": (1, 2)})
    assert api_util.flatten_axes("axes", tree, {"a": 0, "b": None}) == [0, None, None]
    assert api_util.flatten_axes("axes", tree, 0) == [0, 0, 0]
    with pytest.raises(ValueError, match="axes specification must be a tree prefix"):
        api_util.flatten_axes("axes", tree, {"a": 0})
    assert api_util.rebase_donate_argnums((0, 2, 2), (1,)) == (0, 1)
    with pytest.raises(ValueError, match=r"donate_argnums=\(0, 2\) cannot intersect"):
        api_util.rebase_donate_argnums((0, 2), (1, 2))
    tree = jax.tree.structure(((1, (2, 3)), {"z": 1}))
    assert api_util.donation_vector((0,), ("z",), tree) == (True, False, False, True)
    assert api_util.shaped_abstractify(1.0) == jax.typeof(1.0)
    assert api_util.shaped_abstractify(jax.ShapeDtypeStruct((2,), F32)).shape == (2,)


def test_some_arguments_fixed():
    f, args = api_util.argnums_partial(
        linear_util.wrap_init(lambda a, b, c: (a, b, c)), (0, 2), (1, 2, 3)
    )
    assert args == (1, 3) and f.call_wrapped(10, 30) == (10, 2, 30)
    with pytest.raises(ValueError, match="Non-hashable static arguments"):
        api_util.argnums_partial(linear_util.wrap_init(max), 0, (1, [2]))
    f, args = api_util.argnums_partial(
        linear_util.wrap_init(lambda a, b: b), 0, (1, [2]), require_static_args_hashable=False
    )
    assert f.call_wrapped(0) == [2]
