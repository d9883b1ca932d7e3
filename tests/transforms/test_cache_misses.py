"""tests/transforms/test_cache_misses.py - jax_explain_cache_misses and jax_no_tracing."""

import re
import sys

import pytest
import shardax as jax
import shardax.numpy as jnp

X = jnp.arange(4.0)


def explained(caplog, *calls):
    """The texts of the calls' misses, without the place, or '' for a call without one."""
    texts = []
    with jax.explain_cache_misses():
        for call in calls:
            caplog.clear()
            call()
            texts.append("\n".join(caplog.messages))
    column = r":\d+" if sys.version_info >= (3, 11) else ""
    place = rf"TRACING CACHE MISS at {re.escape(__file__)}:\d+{column} \(\S+\):\n"
    assert all(text == "" or re.match(place, text) for text in texts)
    return [text.partition(":\n")[2] for text in texts]


def test_new_functions(caplog):
    def make():
        return jax.jit(lambda x: x)

    first, second = explained(caplog, lambda: make()(1.0), lambda: make()(1.0))
    here = re.escape(__file__)
    pattern = rf"  never seen function:\n    <lambda> id=\d+ defined at {here}:\d+"
    assert re.fullmatch(pattern, first)
    assert re.match(pattern, second) and "another function defined on the same line" in second


def test_what_differs_from_the_closest_call(caplog):
    @jax.jit
    def f(x, y=0):
        return x["a"] + y

    _, again, dtype, shape, weak, tree, config = explained(
        caplog,
        lambda: f({"a": X}),
        lambda: f({"a": X}),
        lambda: f({"a": X.astype(int)}),
        lambda: f({"a": X[:2]}),
        lambda: f({"a": X}, 1.0),
        lambda: f({"a": X, "b": 1.0}),
        lambda: threefry(f),
    )
    assert again == ""
    assert "for f defined at" in dtype and "different input types" in dtype
    assert "* at x['a'], now i32[4] and before f32[4]" in dtype
    assert "* at x['a'], now f32[2] and before " in shape
    assert "different input pytree" in weak and "different input pytree" in tree
    assert "Tracing context doesn't match" in config


def threefry(f):
    with jax.threefry_partitionable(False):
        return f({"a": X})


def test_weak_types_and_static_arguments(caplog):
    f = jax.jit(lambda x, n: x, static_argnums=1)
    _, weak, static = explained(
        caplog, lambda: f(jnp.float32(1), "a"), lambda: f(1.0, "a"), lambda: f(1.0, "b")
    )
    assert "now f32[]{weak_type=True} and before f32[]{weak_type=False}" in weak
    assert "type_promotion.html#weak-types" in weak
    assert "different value of static args:\n  * now 'b' and before 'a'" in static


def test_no_tracing():
    f = jax.jit(lambda x: x + 1)
    f(1.0)
    with jax.no_tracing():
        assert f(2.0) == 3.0
        with pytest.raises(RuntimeError, match=r"re-tracing function <lambda> at .*for `jit`"):
            f(1)
    assert f(1) == 2
