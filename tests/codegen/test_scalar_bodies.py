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

from tests.codegen.machines import runs_loops
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


@runs_loops
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


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_in_loops_of_few(dtype):
    """Powers of a number, their parts and sizes, one turn after the other."""

    def step(z, w):
        z = jnp.conj(z * w) + lax.complex(w.imag, z.real)
        return z, (z, z.real + w.imag, jnp.abs(z) > 1, jnp.where(z == w, z, -w))

    with jax.enable_x64(True):
        w = (np.linspace(-1, 1, 24) + 1j * np.linspace(0.5, -0.7, 24)).astype(dtype)
        for shape in ((24,), (8, 3)):
            each = jnp.asarray(w).reshape(shape)
            start = jnp.full(shape[1:], 0.3 + 0.1j, dtype)
            z, found = jax.jit(lambda z, w: lax.scan(step, z, w))(start, each)
            expected, after = [], np.asarray(start)
            for v in np.asarray(each):
                after, out = numpy_step(after, v)
                expected.append(out)
            np.testing.assert_allclose(z, after, rtol=1e-5)
            for a, b in zip(found, zip(*expected)):
                np.testing.assert_allclose(a, np.stack(b), rtol=1e-5)


def numpy_step(z, w):
    z = np.conj(z * w) + (w.imag + 1j * z.real).astype(w.dtype)
    return z, (z, z.real + w.imag, np.abs(z) > 1, np.where(z == w, z, -w))
