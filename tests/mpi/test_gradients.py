"""tests/mpi/test_gradients.py - gradients around mapped functions of several processes."""

PROGRAM = """
import numpy as np, shardax, shardax.numpy as jnp
from shardax import lax

ME, COUNT = shardax.process_index(), shardax.process_count()
full = np.arange(4 * 3, dtype=np.float32).reshape(4, 3)
x = full[2 * ME : 2 * ME + 2]
mapped = shardax.pmap(lambda v, w: lax.psum((w * v).sum(), "i"), "i", in_axes=(0, None))

def show(*values):
    if ME == 0:
        print(*values)
"""


def test_outside_of_pmap_they_are_refused(start):
    ended = start(
        PROGRAM
        + """
try:
    shardax.grad(lambda w: mapped(x, w).sum())(2.0)
except NotImplementedError as error:
    show(error)
"""
    )
    assert ended.code == 0 and ended.out.startswith(
        "gradient of a pmapped function that communicates with other processes: "
    ), ended.err


def test_a_pmapped_function_without_messages_has_them(start):
    ended = start(
        PROGRAM
        + """
square = shardax.pmap(lambda v, w: (w * v) ** 2, in_axes=(0, None))
show(shardax.grad(lambda w: square(x, w).sum())(1.0))
"""
    )
    assert ended.code == 0 and ended.out == "110.0\n", ended.err  # 2 * (0 + 1 + 4 + 9 + 16 + 25)


def test_tangents_and_maps_go_through(start):
    """A tangent follows the messages; jit and vmap do as in one process."""
    ended = start(
        PROGRAM
        + """
whole = full.sum()
value, tangent = shardax.jvp(lambda w: mapped(x, w), (2.0,), (1.0,))
assert np.allclose(value, 2 * whole) and np.allclose(tangent, whole)
assert np.allclose(shardax.jit(mapped)(x, 2.0), 2 * whole)
assert np.allclose(shardax.vmap(mapped, (None, 0))(x, jnp.arange(2.0)), [[0, 0], [whole] * 2])
show("all")
"""
    )
    assert (ended.code, ended.out) == (0, "all\n"), ended.err
