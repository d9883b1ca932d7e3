"""tests/transforms/test_captured_scalars.py - arrays without dimensions that a function closes
over.

make_jaxpr lists them in the order of their first use, even if that use casts them. Libraries
exchange the constants of one program for those of another.
"""

import pytest
import shardax as jax
import shardax.numpy as jnp

WEAK, STRONG, VECTOR = jnp.array(3), jnp.float32(2), jnp.ones(5)


def constants(f, *args):
    program = jax.make_jaxpr(f)(*args)
    return [jnp.shape(c) for c in program.consts], [e.primitive.name for e in program.eqns]


def test_casts_of_captured_scalars_are_equations():
    x = jnp.arange(5)
    cast = "convert_element_type"
    assert constants(lambda x: x + WEAK, x) == ([()], [cast, "add"])
    assert constants(lambda x: x + STRONG, x) == ([()], [cast, "add"])
    assert constants(lambda x: VECTOR * 2 + WEAK, x) == ([(5,), ()], ["mul", cast, "add"])
    assert constants(lambda x: (jnp.arange(5) + WEAK) * VECTOR, x)[0] == [(), (5,)]


@pytest.mark.parametrize("number", [3, 3.0, jnp.array(3).item()])
def test_casts_of_numbers_are_numbers(number):
    assert constants(lambda x: x * number, jnp.ones(5)) == ([], ["mul"])
    assert constants(lambda x: x * jnp.array(number), jnp.ones(5)) == ([], ["mul"])
    assert str(jax.make_jaxpr(lambda x: x * number)(VECTOR)).count("3.0:f32[]") == 1
    in_loop = lambda x: jax.lax.scan(lambda c, _: (c * number, None), x, None, length=2)[0]
    assert constants(in_loop, 1.0)[1] == ["scan"]


def test_derivatives_of_functions_that_cast_captured_scalars():
    f = lambda x: jnp.sum(x * WEAK + jnp.arange(5) * STRONG)
    program = jax.make_jaxpr(jax.grad(f))(VECTOR)
    assert [c.shape for c in program.consts] == [(), ()]
    (gradient,) = jax.core.eval_jaxpr(program.jaxpr, program.consts, VECTOR)
    assert gradient.tolist() == [3] * 5


def test_programs_of_arrays_and_of_tracers_have_one_order():
    def operator(index, history):
        return lambda y: y * history[(index - jnp.arange(1, 6)) % 5].sum() + index

    def order(index, history):
        orders.append([c.shape for c in jax.make_jaxpr(operator(index, history))(1.0).consts])
        return index

    orders = []
    order(jnp.array(0), jnp.ones(5))
    jax.jit(order)(jnp.array(0), jnp.ones(5))
    jax.jit(lambda h: order(jnp.array(0), h))(jnp.ones(5))
    assert orders == [[(), (5,)]] * 3
