"""tests/codegen/test_scalar_bodies.py - loops whose bodies call what the user has made, and batched
ones that update arrays, are machine code too."""

import re
from pathlib import Path

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.extend.core import Primitive
from shardax.interpreters import mlir

from tests.codegen.test_scalar_loops import same

double_p = Primitive("double")
double_p.def_impl(lambda x: x + x)
double_p.def_abstract_eval(lambda x: x)
mlir.register_lowering(double_p, mlir.lower_fun(lambda x: x + x, multiple_results=False))


@jax.custom_jvp
def half(x):
    return x * 0.5


half.defjvp(lambda primals, tangents: (half(*primals), tangents[0] * 0.5))


def counted(step):
    return lambda n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, step(*c)), (0, 1.0))[1]


def filled(update):
    """A loop over two rows of different lengths, as vmap makes of one."""

    def f(lengths, rows):
        def fill(n, row):
            return lax.while_loop(
                lambda c: c[0] < n, lambda c: (c[0] + 1, update(c[1], c[0])), (0, row)
            )

        return jax.vmap(fill)(lengths, rows)

    return f


LOOPS = {
    "primitive": (counted(lambda i, x: half(double_p.bind(x)) + i), 9),
    "custom rule": (counted(lambda i, x: jax.nn.relu(half(x) - i)), 9),
    "scatter": (filled(lambda x, i: x.at[i].set(i * 2.0)), jnp.array([3, 50]), jnp.ones((2, 40))),
    "slice": (
        filled(lambda x, i: lax.dynamic_update_index_in_dim(x, i * 2.0, i, 0)),
        jnp.array([7, 30]),
        jnp.ones((2, 40)),
    ),
    "one row": (filled(lambda x, i: x.at[i].add(2.0)), jnp.array([35]), jnp.ones((1, 40))),
    "all": (
        lambda x: lax.while_loop(lambda c: jnp.all(c < 100), lambda c: c * 2 + 1, x),
        jnp.arange(5),
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_compute_the_same(name):
    f, *args = LOOPS[name]
    same(f, *args)


def test_loops_are_machine_code(dump_of):
    program = (
        "import shardax as jax\n"
        "from tests.codegen.test_scalar_bodies import LOOPS\n"
        "for f, *args in LOOPS.values(): jax.jit(f)(*args)\n"
    )
    plan = dump_of(program, folder=Path(__file__).parents[2], SHARDAX_CODEGEN="1")
    steps = re.findall(r"^  (.*while .*)$", plan, re.MULTILINE)
    assert len(steps) == len(LOOPS), steps
    assert all(step.startswith("native while") and "calls" not in step for step in steps), steps


def test_rows_are_filled():
    f, lengths, rows = LOOPS["slice"]
    counts, out = jax.jit(f)(lengths, rows)
    np.testing.assert_array_equal(counts, lengths)
    for n, row in zip((7, 30), out):
        np.testing.assert_array_equal(row, np.where(np.arange(40) < n, np.arange(40) * 2.0, 1))
