"""tests/mpi/test_collectives.py - collectives of several processes give what one process gives."""

import pathlib

import pytest

MESSAGES = {
    *("process_all_reduce", "process_all_gather", "process_all_to_all"),
    *("process_reduce_scatter", "process_permute", "process_agree"),
}
PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.mark.parametrize("count", [2, 3])
def test_collectives_of_pmap(start, count):
    ended = start((PROGRAMS / "collectives.py").read_text(encoding="utf-8"), count)
    lines = ended.out.splitlines()
    assert lines == ["36 programs; differ:"], ended.err


def test_devices_leave_nan_aside(start):
    """As JAX's devices do where one has a number."""
    ended = start(
        """
        import numpy as np, shardax
        from shardax import _core, lax
        me = _core.process_index()
        x = np.array([[np.nan, np.nan, me]], np.float32) if me else np.ones((1, 3), np.float32)
        most, least = shardax.pmap(lambda v: (lax.pmax(v, "i"), lax.pmin(v, "i")), "i")(x)
        if me == 0:
            print(most, least)
        """
    )
    assert ended.code == 0 and ended.out == "[[1. 1. 1.]] [[1. 1. 1.]]\n", ended.err


def test_sums_of_a_gradient_tree_are_one_message(start):
    ended = start(
        """
        import shardax, shardax.numpy as jnp
        from shardax import _core, lax

        def step(w, x):
            def loss(w):
                return sum(jnp.sum(jnp.tanh(x * v)) for v in w)
            value, gradients = shardax.value_and_grad(loss)(w)
            gradients = lax.pmean(gradients, "i")
            return [v - 0.1 * g for v, g in zip(w, gradients)], lax.pmean(value, "i")

        w = [jnp.ones(4) * k for k in range(300)]
        step = shardax.pmap(step, "i", in_axes=(None, 0), out_axes=None)
        step(w, jnp.ones((2, 4)))
        """,
        SHARDAX_DUMP="plan",
    )
    lines = ended.err.splitlines()
    messages = [line for line in lines if "process_" in line and "ends" not in line]
    assert ended.code == 0 and len(messages) == 2, ended.err  # one of each process


def test_sixteen_bit_sums_are_made_in_float32(start):
    """Bits of one process with all devices: partial sums are not rounded."""
    ended = start(
        """
        import numpy as np, shardax, shardax.numpy as jnp
        from shardax import _core, lax
        me = _core.process_index()
        terms = jnp.array([256, 1, 1, 1, 1, 1, 1, 1], jnp.bfloat16)
        own = terms[4 * me : 4 * me + 4]
        total = shardax.pmap(lambda v: lax.psum(v, "i"), "i")(own)[0]
        if me == 0:
            print(total)
        """
    )
    assert ended.code == 0 and ended.out == "264\n", ended.err


@pytest.mark.parametrize(
    "name, messages",
    [
        ('lax.ppermute(v, "i", [(k, (k + 1) % 4) for k in range(4)])', ["process_permute"]),
        ('lax.ppermute(v, "i", [(0, 1), (1, 0), (2, 3), (3, 2)])', []),
        ('lax.psum_scatter(v, "i")', ["process_reduce_scatter"]),
        ('lax.all_to_all(v, "i", 0, 0)', ["process_all_to_all"]),
        ('lax.all_gather(v, "i")', ["process_all_gather"]),
        ('lax.axis_index("i")', []),
    ],
)
def test_an_exchange_sends_what_others_need(start, name, messages):
    ended = start(
        f"""
        import numpy as np, shardax
        from shardax import lax
        shardax.pmap(lambda v: {name}, "i")(np.ones((2, 4), np.float32))
        """,
        SHARDAX_DUMP="plan",
    )
    steps = [word for word in ended.err.split() if word in MESSAGES]
    assert ended.code == 0 and sorted(steps) == sorted(messages * 2), ended.err
