"""tests/programs/test_name_stacks.py - the names that equations keep of named_scope."""

import re

import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.extend import source_info_util


def names(f, *args):
    return [str(eqn.source_info.name_stack) for eqn in jax.make_jaxpr(f)(*args).eqns]


def inner(f, *args, param="jaxpr", eqn=0):
    program = jax.make_jaxpr(f)(*args).eqns[eqn].params[param]
    return [str(e.source_info.name_stack) for e in program.eqns]


def sine(x):
    with jax.named_scope("bar"):
        return lax.sin(x)


def test_scopes():
    @jax.named_scope("foo")
    def f(x):
        with jax.named_scope("bar"), jax.named_scope("baz"):
            y = lax.sin(x)
        return lax.cos(y)

    assert names(f, 1.0) == ["foo/bar/baz", "foo"]
    assert names(jax.named_call(lax.sin, name="call"), 1.0) == ["call"]
    assert names(lax.sin, 1.0) == [""]
    with pytest.raises(ValueError, match="stop"), jax.named_scope("left by an error"):
        raise ValueError("stop")
    assert names(lax.sin, 1.0) == [""]


def test_transformations():
    foo = jax.named_scope("foo")
    assert names(foo(jax.vmap(sine)), jnp.ones(2)) == ["foo/vmap(bar)"]
    assert names(foo(jax.grad(sine)), 1.0)[:2] == ["foo/jvp(bar)"] * 2
    assert names(foo(jax.grad(sine)), 1.0)[-1] == "foo/transpose(jvp(bar))"
    assert set(names(lambda x: jax.jvp(sine, (x,), (x,)), 1.0)) == {"jvp(bar)"}
    assert names(jax.vmap(jax.grad(sine)), jnp.ones(2))[-1] == "vmap(transpose(jvp(bar)))"
    _, pull = jax.vjp(sine, 1.0)
    assert names(pull, 1.0) == ["transpose(jvp(bar))"]


def test_programs_within_start_anew():
    foo = jax.named_scope("foo")
    assert names(foo(jax.jit(sine)), 1.0) == ["foo"]
    assert inner(foo(jax.jit(sine)), 1.0) == ["bar"]
    assert names(foo(jax.vmap(jax.jit(sine))), jnp.ones(2)) == ["foo/vmap()"]
    assert inner(foo(jax.vmap(jax.jit(sine))), jnp.ones(2)) == ["bar"]
    assert inner(jax.grad(jax.jit(sine)), 1.0) == ["bar", "bar"]

    def loop(x):
        return lax.while_loop(lambda c: c < 5, sine, x)

    assert inner(foo(loop), 1.0, param="body_jaxpr") == ["bar"]
    assert inner(jax.pmap(foo(sine)), jnp.ones(1)) == ["foo/bar"]


def test_names_of_equations_that_are_bound_again():
    closed = jax.make_jaxpr(sine)(1.0)

    def again(x):
        with jax.named_scope("again"):
            return jax.core.eval_jaxpr(closed.jaxpr, closed.consts, x)

    assert names(again, 1.0) == ["again/bar"]
    stack = closed.eqns[0].source_info.name_stack

    def under(x):
        with source_info_util.user_context(None, name_stack=stack.extend("inside")):
            return lax.cos(x)

    assert names(under, 1.0) == ["bar/inside"] and bool(stack)
    assert repr(stack) == "NameStack('bar')" and stack + stack.transform("vmap") != stack


def paths(f, *args):
    text = jax.jit(f).lower(*args).as_text("hlo", debug_info=True)
    return re.findall(r'op_name="([^"]*)"', text)


def test_paths_in_text():
    foo = jax.named_scope("foo")

    def f(x):
        return jax.jit(sine)(x)

    assert "jit(f)/jvp(foo)/jit(sine)/bar/sin" not in paths(f, 1.0)
    assert "jit(f)/jit(sine)/bar/sin" in paths(f, 1.0)
    gradient = paths(jax.grad(foo(f)), 1.0)
    assert "jit(f)/jvp(foo)/jit(sine)" in gradient
    assert "jit(f)/transpose(jvp(foo))/jit(sine)/bar/mul" in gradient
    assert "jit(f)/vmap(jit(sine))" in paths(jax.vmap(f), jnp.ones(2))

    def loop(x):
        return lax.while_loop(lambda c: c < 5, sine, x)

    assert "jit(loop)/foo/while/body/bar/sin" in paths(foo(loop), 1.0)
    branches = paths(lambda p, x: lax.cond(p, sine, lambda x: x * 2, x), True, 1.0)
    assert any(p.endswith("cond/branch_1_fun/bar/sin") for p in branches)
    again = paths(jax.grad(jax.checkpoint(sine)), 1.0)
    assert any("rematted_computation" in p for p in again)
    assert "op_name" not in jax.jit(f).lower(1.0).as_text("hlo")


def test_locations_name_their_scopes():
    @jax.named_scope("foo")
    def f(x):
        return jnp.sin(x)

    text = jax.jit(f).lower(1.0).as_text(debug_info=True)
    assert re.search(r'stablehlo.sine .* loc\("jit\(f\)/foo/sin"\(".*test_name_stacks.py:\d+', text)


def test_names_that_interpreters_give():
    siu = jax.extend.source_info_util
    outer = siu.new_name_stack("outer")

    def stack(f):
        return str(jax.make_jaxpr(f)(1.0).eqns[-1].source_info.name_stack)

    assert str(siu.new_name_stack()) == "" and str(outer) == "outer"
    assert stack(siu.extend_name_stack("foo")(jnp.sin)) == "foo"
    assert stack(siu.set_name_stack(outer)(jnp.sin)) == "outer"

    def f(x):
        with siu.extend_name_stack("foo") as names, siu.transform_name_stack("jvp"):
            assert str(names) == "foo"
            with siu.extend_name_stack("bar"):
                y = jnp.sin(x)
            with siu.reset_name_stack():
                assert not siu.current_name_stack()
                return y + jnp.cos(x)

    names = [str(e.source_info.name_stack) for e in jax.make_jaxpr(f)(1.0).eqns]
    assert names == ["foo/jvp(bar)", "", ""]
