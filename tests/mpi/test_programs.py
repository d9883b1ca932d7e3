"""tests/mpi/test_programs.py - programs that send messages are compared before they run."""

import pytest

PROGRAM = """
import numpy as np
import shardax
import shardax.numpy as jnp
from shardax import lax

me, n = shardax.process_index(), shardax.local_device_count()
x = np.ones((n, 3), np.float32)
total = shardax.pmap(lambda x: lax.psum(x, "i"), "i")
count = shardax.pmap(lambda x: lax.psum(x * 1, "i"), "i")
{program}
"""
# Each of a program, and parts of the error of both processes.
DIFFERENT = {
    "another function between collectives": (
        """
f = jnp.tanh if me else jnp.sin
shardax.pmap(lambda x: f(lax.psum(x, "i")), "i")(x)""",
        ["before the first run of '<lambda>' the programs of the processes differ: at equation 3, "]
        + ["process 0 has 'sin[", "] f32[3]' at program.py:13 (<lambda>), but process 1 has 'tanh"],
    ),
    "another axis of a local sum": (
        'shardax.pmap(lambda x: lax.psum(jnp.cumsum(x.reshape(3, 1), axis=me), "i"), "i")(x)',
        ["process 0 has 'cumsum[axis=0 ", "but process 1 has 'cumsum[axis=1 "],
    ),
    "a longer program": (
        """
def f(x):
    x = lax.psum(x, "i")
    return jnp.exp(x) if me else x
shardax.pmap(f, "i")(x)""",
        ["process 0 has its end, but process 1 has 'exp["],
    ),
    "another shape": (
        'shardax.pmap(lambda x: lax.psum(x, "i"), "i")(x[:, : 3 - me])',
        [": process 0 has 'inputs f32["],
    ),
    "programs that have run before, in another order": (
        """
total(x), count(x)
(count if me else total)(x)""",
        # In this order, or the other: a process names itself first, and ends the others.
        ["process 0 is at 'process_all_reduce[add i@process] f32[3] at program.py:9 (<lambda>)'"]
        + ["process 1 is at 'process_all_reduce[add i@process] f32[3] at program.py:10 (<lam"],
    ),
    "in jit over a mesh": (
        """
from shardax.sharding import NamedSharding, PartitionSpec as P
mesh = shardax.make_mesh((shardax.device_count(),), ("x",))
rows = np.ones((shardax.device_count(), 3), np.float32)
y = shardax.device_put(rows, NamedSharding(mesh, P("x")))
shardax.jit(lambda y: (jnp.cos if me else jnp.sin)(y).sum(0))(y)""",
        ["process 0 has 'sin[", "but process 1 has 'cos["],
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("window", ["1", "0"])
def test_different_programs_are_an_error_in_all(start, name, window):
    program, texts = DIFFERENT[name]
    ended = start(PROGRAM.format(program=program), SHARDAX_NODE_WINDOW=window)
    assert ended.code == 1
    for text in texts:
        assert text in ended.err, ended.err


def test_values_of_constants_and_callbacks_may_differ(start):
    ended = start(
        PROGRAM.format(
            program="""
def f(x):
    if me == 0:
        shardax.debug.callback(lambda v: print("seen", v[0]), x)
    return lax.psum(x * (me + 1.0), "i")
y = shardax.pmap(f, "i")(x[:1])
np.testing.assert_allclose(y, np.full((1, 3), 3.0))
"""
        )
    )
    assert (ended.code, ended.out) == (0, "seen 1.0\n"), ended.err


def test_one_process_may_trace_again(start):
    """The program is known: nothing is compared, and nobody waits."""
    ended = start(
        PROGRAM.format(
            program="""
total(x)
for turn in range(3):
    if me == 1:
        shardax.clear_caches()
        total = shardax.pmap(lambda x: lax.psum(x, "i"), "i")
    np.testing.assert_allclose(total(x), shardax.device_count())
"""
        ),
        JAX_MESSAGE_TIMEOUT="20",
    )
    assert ended.code == 0, ended.err
