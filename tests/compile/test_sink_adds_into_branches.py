"""tests/compile/test_sink_adds_into_branches.py - additions sink into branches."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

SUMS = """
import shardax as jax, shardax.numpy as jnp
from shardax import lax

def turn(total, x):
    given = lax.cond(x[0, 0] > 0, {busy}, lambda x: jnp.zeros(({n}, {n})), x)
    return total + given, None

x = jnp.arange(5.0 * 8 * {n}).reshape(5, 8, {n}) - 99
jax.jit(lambda x: lax.scan(turn, jnp.ones(({n}, {n})), x)[0])(x)
"""


def branches_of(plan):
    """The steps of each branch of the only cond."""
    parts = plan.split("-- plan: ")[1:]
    at = next(i for i, part in enumerate(parts) if "cond of 2 branches" in part)
    return [int(part.split(" ")[0]) for part in parts[at - 2 : at]], parts[at]


@pytest.mark.parametrize("busy", ["lambda x: x.T @ x", "lambda x: jnp.sin(x.T) @ x * 2.0"])
def test_the_branch_of_zeros_does_nothing(dump_of, busy):
    steps, outside = branches_of(dump_of(SUMS.format(n=128, busy=busy)))
    assert 0 in steps
    assert " add" not in outside


def test_no_branch_gives_zeros(dump_of):
    source = SUMS.format(n=128, busy="lambda x: x.T @ x").replace("jnp.zeros", "jnp.ones")
    steps, outside = branches_of(dump_of(source))
    assert 0 not in steps
    assert " add" in outside


def test_devices_add_to_their_slices_of_what_a_loop_carries(dump_of):
    steps, outside = branches_of(
        dump_of("""
import shardax as jax, shardax.numpy as jnp
from shardax import lax

def device(x):
    def turn(total, t):
        return total + lax.cond(t >= lax.axis_index("i"), lambda: x.T @ x * t,
                                lambda: jnp.zeros((128, 128))), None
    return lax.scan(turn, jnp.zeros((128, 128)), jnp.arange(5))[0]

jax.jit(jax.pmap(device, axis_name="i"))(jnp.ones((4, 16, 128)))
""")
    )
    assert 0 in steps
    assert " add" not in outside


@pytest.mark.parametrize("n", [3, 128])
@pytest.mark.parametrize("swap", [False, True])
def test_sums_have_the_bits_of_sums_outside(n, swap):
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(7, 8, n)), "float32")

    def turn(total, x):
        given = lax.cond(x[0, 0] > 0, lambda x: x.T @ x, lambda x: jnp.zeros((n, n)), x)
        return (given + total if swap else total + given), jnp.sum(total)

    total, sums = jnp.ones((n, n)), []
    for one in x:
        sums.append(jnp.sum(total))
        total = total + (one.T @ one if one[0, 0] > 0 else jnp.zeros((n, n)))
    got, got_sums = jax.jit(lambda x: lax.scan(turn, jnp.ones((n, n)), x))(x)
    np.testing.assert_array_equal(got, total)
    np.testing.assert_allclose(got_sums, jnp.stack(sums), rtol=1e-6)


def test_what_is_used_twice_stays_as_it_was():
    """The sum does not overwrite what is read later, nor results that others need."""
    x = jnp.arange(5.0 * 64 * 64).reshape(5, 64, 64) / 1e4

    def turn(total, x):
        given = lax.cond(x[0, 0] > 0.5, lambda x: x @ x, lambda x: jnp.zeros_like(x), x)
        after = total + given
        return after, (total[0] + after[1], given[0])

    total, rows = jnp.ones((64, 64)), []
    for one in x:
        given = one @ one if one[0, 0] > 0.5 else jnp.zeros_like(one)
        rows.append((total[0] + (total + given)[1], given[0]))
        total = total + given
    got, got_rows = jax.jit(lambda x: lax.scan(turn, jnp.ones((64, 64)), x))(x)
    np.testing.assert_allclose(got, total, rtol=1e-6)
    for got_one, one in zip(got_rows, zip(*rows)):
        np.testing.assert_allclose(got_one, jnp.stack(one), rtol=1e-6)


def test_operands_that_are_needed_again_are_not_overwritten():
    """A loop that gives slices back changed, and its operand afterwards."""
    x = jnp.arange(4.0 * 5000).reshape(4, 5000)

    @jax.jit
    def both(x, go):
        y = x * 2.0
        z = lax.map(lambda row: lax.cond(go, lambda r: r + 1.0, lambda r: r, row), y)
        return y, z, lax.map(lambda row: lax.cond(go, lambda r: r, lambda r: r - 1.0, row), y)

    for go in (True, False):
        y, z, w = both(x, go)
        np.testing.assert_array_equal(y, x * 2)
        np.testing.assert_array_equal(z, x * 2 + 1 if go else x * 2)
        np.testing.assert_array_equal(w, x * 2 if go else x * 2 - 1)
