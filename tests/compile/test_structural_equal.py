"""tests/compile/test_structural_equal.py - equal functions are compiled once."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

X = jnp.arange(4.0)

FRESH = {
    "cond": "lax.cond(True, lambda v: v * 2, lambda v: v + 1, x)",
    "while_loop": "lax.while_loop(lambda v: v[0] < 5, lambda v: v + 1, x)",
    "fori_loop": "lax.fori_loop(0, 3, lambda i, v: v * 2 + i, x)",
    "scan": "lax.scan(lambda c, a: (c + a, c), 0.0, x)",
    "nested": "lax.scan(lambda c, a: (lax.fori_loop(0, 2, lambda i, v: v + a, c), a), 0.0, x)",
}


@pytest.mark.parametrize("name", FRESH)
def test_compiled_once(dump_of, name):
    program = (
        "import sys, shardax as jax, shardax.numpy as jnp\n"
        "from shardax import lax\n"
        "x = jnp.arange(4.0)\n"
        "for turn in range(5):\n"
        f"    {FRESH[name]}\n"
        "    print('turn', file=sys.stderr, flush=True)\n"
    )
    first, *others = dump_of(program, "time").split("turn")
    assert "compile" in first and "compile" not in "".join(others)


def values(call):
    return [np.asarray(call(n)).tolist() for n in (1, 2, 1, 3)]


def by(n):
    return np.float32(n)


CLOSED = {
    "a number": lambda n: lax.scan(lambda c, a: (c + n * a, c), 0.0, X)[0],
    "a NumPy number": lambda n: lax.fori_loop(0, 3, lambda i, v: v + by(n), X),
    "an array": lambda n: lax.cond(True, lambda v: v + n * X, lambda v: v, X),
    "a scalar array": lambda n: lax.cond(True, lambda v: v * jnp.float32(n), lambda v: v, X),
    "a length": lambda n: lax.fori_loop(0, n, lambda i, v: v + 1, X),
    "a shape": lambda n: lax.cond(True, lambda v: v[:n].sum(), lambda v: v[0], X),
    "a function of the host": lambda n: lax.cond(
        True, lambda v: jax.pure_callback(lambda w: w + by(n), v, v), lambda v: v, X
    ),
    "a custom rule": lambda n: jax.grad(
        lambda v: lax.scan(lambda c, a: (scaled(n)(c), a), v, X)[0]
    )(1.0),
}


def scaled(n):
    @jax.custom_vjp
    def f(c):
        return c

    f.defvjp(lambda c: (c, None), lambda _, ct: (ct * n,))
    return f


EXPECTED = {
    "a number": lambda n: 6.0 * n,
    "a NumPy number": lambda n: np.arange(4.0) + 3 * n,
    "an array": lambda n: np.arange(4.0) * (n + 1),
    "a scalar array": lambda n: np.arange(4.0) * n,
    "a length": lambda n: np.arange(4.0) + n,
    "a shape": lambda n: sum(range(n)),
    "a function of the host": lambda n: np.arange(4.0) + n,
    "a custom rule": lambda n: float(n**4),
}


@pytest.mark.parametrize("name", CLOSED)
def test_functions_that_differ_in_what_they_close_over(name):
    assert values(CLOSED[name]) == values(EXPECTED[name])


def test_effects_happen_on_each_call():
    seen = []
    for n in range(3):
        lax.fori_loop(0, 2, lambda i, v, n=n: (jax.debug.callback(seen.append, n), v)[1], X)
    jax.effects_barrier()
    assert [int(n) for n in seen] == [0, 0, 1, 1, 2, 2]


def test_errors_name_the_line_of_the_call(capfd):
    lines = []
    with jax.debug_nans(True):
        for call in (
            lambda: lax.fori_loop(0, 2, lambda i, v: v / v, X),
            lambda: lax.fori_loop(0, 2, lambda i, v: v / v, X),
        ):
            with pytest.raises(FloatingPointError) as error:
                call()
            lines.append(str(error.value))
    assert "test_structural_equal.py" in lines[0] and lines[0] != lines[1]
