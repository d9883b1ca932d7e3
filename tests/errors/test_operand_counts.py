"""tests/errors/test_operand_counts.py - ops refuse other numbers of operands than they take."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax._core import op_names
from shardax._core.api import bind

# Ops whose programs, or whose users, say how many operands they take.
ANY = set(
    "check composite concatenate cond custom_jvp_call custom_lin custom_linear_solve "
    "custom_vjp_call custom_vmap_call debug_callback inspect_sharding io_callback jit linear_call "
    "pmap pure_callback remat2 remat_opt scan shard_map sort stack while".split()
)


@pytest.mark.parametrize("name", sorted(set(op_names()) - ANY))
def test_every_op_counts_its_operands(name):
    said = []
    for count in (0, 9):
        with pytest.raises((TypeError, ValueError)) as error:
            bind(name, {}, [jnp.ones(())] * count)
        said.append(f"{name}: {count} operands; " in str(error.value))
    assert any(said)


def test_users_see_the_op():
    for call, text in (
        (lambda: lax.sin_p.bind(), "sin: 0 operands; 1 was expected"),
        (lambda: lax.add_p.bind(1.0), "add: 1 operand; 2 were expected"),
        (lambda: shardax.jit(lambda x: lax.add_p.bind(x, x, x))(1.0), "add: 3 operands; 2 were"),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def test_programs_take_what_they_take():
    """A program of others is called with operands of its own types only."""
    closed = shardax.make_jaxpr(shardax.jit(lambda x: x * 2))(jnp.ones(3))
    (equation,) = closed.jaxpr.eqns
    with pytest.raises(ValueError, match=r"jit: program 0 takes float32\[3\] as input 0"):
        equation.primitive.bind(jnp.ones(4), **equation.params)
    with pytest.raises(ValueError, match="jit: 2 operands; 1 expected"):
        equation.primitive.bind(jnp.ones(3), jnp.ones(3), **equation.params)
    loop = shardax.make_jaxpr(lambda x: lax.scan(lambda c, a: (c + a, c), x[0], x))(jnp.ones(3))
    (scan,) = [e for e in loop.jaxpr.eqns if e.primitive.name == "scan"]
    with pytest.raises(ValueError, match="sliced along axis 0 in 3 runs"):
        scan.primitive.bind(jnp.ones(()), jnp.ones(4), **scan.params)
    np.testing.assert_array_equal(equation.primitive.bind(jnp.ones(3), **equation.params)[0], 2)
