"""tests/mpi/test_overlap.py - programs compute while their messages are under way."""

import pytest

# A step of a ring: the blocks go on to the next device while they are computed with.
RING = """
import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import lax

n, total = shardax.local_device_count(), shardax.device_count()
ring = [(i, (i + 1) % total) for i in range(total)]


def turn(k, v, q):
    own = jnp.tanh(q @ k) @ v
    k, v = lax.ppermute(k, "i", ring), lax.ppermute(v, "i", ring)
    {between}
    return own + jnp.tanh(q @ k) @ v


first = shardax.process_index() * n
x = np.stack([np.full((8, 8), 0.1 * (first + i), np.float32) for i in range(n)])
y = shardax.pmap(turn, axis_name="i")(x, 2 * x, x + 1)
for i in range(n):
    here, before = 0.1 * (first + i), 0.1 * ((first + i - 1) % total)
    expected = sum(8 * np.tanh(8 * (here + 1) * b) * 2 * b for b in (here, before))
    np.testing.assert_allclose(y[i], np.full((8, 8), expected), rtol=1e-5)
"""


@pytest.mark.parametrize("window", ["1", "0"])
def test_products_run_while_blocks_travel(start, window):
    ended = start(RING.format(between=""), SHARDAX_DUMP="plan", SHARDAX_NODE_WINDOW=window)
    assert ended.code == 0, ended.err
    plan = ended.err[ended.err.rindex("-- plan") :].splitlines()[1:]
    steps = [line.removeprefix("[1]").split()[:2] for line in plan]
    assert steps[:3] == [["process_permute", "begins"]] * 2 + [["dot_general", "->"]], plan
    assert steps.index(["process_permute", "ends"]) > 4, plan


def test_an_error_while_blocks_travel_ends_all(start):
    """The callback runs after both messages have begun; process 1 raises in it."""
    between = """
    def late(x):
        if shardax.process_index() == 1:
            raise ValueError("too late")
    shardax.debug.callback(late, own[0, 0])"""
    ended = start(RING.format(between=between))
    assert ended.code != 0 and "too late" in ended.err


def test_more_messages_than_may_be_under_way(start):
    ended = start(
        """
        import numpy as np, shardax
        from shardax import lax
        n, total = shardax.local_device_count(), shardax.device_count()

        def f(x):
            moved = [lax.ppermute(x * k, "i", [(i, (i + k) % total) for i in range(total)])
                     for k in range(12)]
            least = [lax.all_gather(x - k, "i")[0] for k in range(3)]
            return sum(m * 10.0**-k for k, m in enumerate(moved)) + sum(least)

        first = shardax.process_index() * n
        x = np.arange(first, first + n, dtype=np.float32)
        y = shardax.pmap(f, "i")(x)
        expected = [sum(k * ((i - k) % total) * 10.0**-k for k in range(12)) - 3 for i in x]
        np.testing.assert_allclose(y, expected, rtol=1e-5)
        """,
        count=3,
    )
    assert ended.code == 0, ended.err


def test_loops_that_send_run_between_a_message_and_its_end(start):
    ended = start(
        """
        import numpy as np, shardax
        from shardax import lax
        n, total = shardax.local_device_count(), shardax.device_count()

        def f(x, y):
            far = lax.ppermute(x, "i", [(i, (i + 1) % total) for i in range(total)])
            turns = lax.fori_loop(0, 5, lambda _, v: lax.pmean(v, "i") + 1, y)
            return far + lax.psum(turns, "i")

        first = shardax.process_index() * n
        x = np.arange(first, first + n, dtype=np.float32)
        y = shardax.pmap(f, "i")(x, x)
        mean = (total - 1) / 2 + 5
        np.testing.assert_allclose(y, (x - 1) % total + total * mean, rtol=1e-5)
        """
    )
    assert ended.code == 0, ended.err
