"""tests/codegen/test_far_numbers.py - functions of which machine code has several forms.

Far angles are reduced with more steps, which loops of single numbers skip for others, and vectors
take for all. Powers of two are products, or an instruction.
"""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.machines import MACHINES, instructions

FUNCTIONS = {
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "exp": jnp.exp,
    "exp2": jnp.exp2,
    "expm1": jnp.expm1,
    "tanh": jnp.tanh,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "logistic": lax.logistic,
    "erfc": lax.erfc,
    "softplus": lambda x: jnp.logaddexp(x, 0),
    "power": lambda x: x ** x.dtype.type(2.5),
    "several": lambda x: jnp.sin(x) * jnp.cos(x * 1e12) + jnp.exp(-x * x) * jnp.sin(x + 1),
}


def numbers(dtype):
    rng = np.random.default_rng(0)
    largest = np.log2(float(np.finfo(dtype).max))
    sizes = 2.0 ** rng.uniform(-largest, largest, 300)
    border = [2.0**p * f for p in (43, 44, 45, 65, 86, 107) for f in (0.999, 1, 1.001)]
    powers = np.concatenate([rng.uniform(-760, 720, 400), rng.uniform(-110, 95, 400)])
    special = [0, 1e-310, 1e-42, np.inf, np.nan, np.pi / 2, np.pi, 88.8, 104, 709.8, 745.2]
    x = np.concatenate([sizes, border, special])
    return np.concatenate([x, -x, powers]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_loops_of_numbers_have_the_bits_of_arrays(name, dtype):
    with jax.enable_x64(dtype == "float64"):
        f, x = FUNCTIONS[name], jnp.asarray(numbers(dtype))
        one_by_one = jax.jit(lambda x: lax.scan(lambda c, x: (c + 1, f(x)), 0, x)[1])
        np.testing.assert_array_equal(np.asarray(one_by_one(x)), np.asarray(jax.jit(f)(x)))


def test_what_a_branch_needs_lives_on_behind_it():
    """Numbers that both sides read, that only one does, and that neither does."""

    def turn(i, c):
        x, y, z = c
        s = jnp.sin(x * y)
        return jnp.cos(s + x * 1e15) + y, s * z, z + jnp.sin(z) * s

    def run(turn, c):
        for i in range(50):
            c = turn(i, c)
        return c

    start = jnp.float32(0.3), jnp.float32(1.7), jnp.float32(-2.5)
    looped = jax.jit(lambda *c: lax.fori_loop(0, 50, turn, c))(*start)
    np.testing.assert_array_equal(looped, run(jax.jit(turn, static_argnums=0), start))


CHOICES = {"avx2": {"vblendvpd"}, "neon": {"bsl", "bit", "bif"}}
JUMPS = {"avx2": {"jmp", "jz", "je"}, "neon": {"b", "cbz"}}


@pytest.mark.parametrize("machine", MACHINES)
def test_near_angles_jump_over_the_steps_of_far_ones(dump_of, machine):
    program = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "jax.jit(lambda x: jax.lax.fori_loop(0, 9, lambda i, x: jnp.sin(x), x))(1.0)"
    )
    code = instructions(dump_of(program, "asm", SHARDAX_CODEGEN=machine))
    choices = [i for i, name in enumerate(code) if name in CHOICES[machine]]
    jumps = [i for i, name in enumerate(code) if name in JUMPS[machine]]
    assert choices and any(i < choices[0] for i in jumps), code
