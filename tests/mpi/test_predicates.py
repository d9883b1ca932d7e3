"""tests/mpi/test_predicates.py - control flow around collectives: processes agree, or all raise."""

import pytest

PROGRAM = """
import numpy as np, shardax, shardax.numpy as jnp
from shardax import lax

ME = shardax.process_index()
x = np.ones((2, 3), np.float32) * (1 + ME)

def cond(v, p):
    return lax.cond(p[0] > 0, lambda: lax.psum(v, "i"), lambda: v)

def switch(v, p):
    return lax.switch(p[0], [lambda: v, lambda: lax.pmean(v, "i"), lambda: -v])

def loop(v, p):
    turn = lambda c: (c[0] + 1, lax.psum(c[1], "i"))
    return lax.while_loop(lambda c: c[0] < p[0], turn, (0, v))[1]

def within_scan(v, p):
    return lax.scan(lambda c, _: (cond(c, p), None), v, None, length=2)[0]

def run(function, mine):
    try:
        return shardax.pmap(function, "i")(x, np.full((2, 1), mine, np.int32))[0, 0]
    except RuntimeError as error:
        return str(error)

def show(*values):
    if ME == 0:
        print(*values, sep="\\n")
"""


@pytest.mark.parametrize("name", ["cond", "switch", "loop", "within_scan"])
def test_a_predicate_that_differs_is_an_error_in_all_processes(start, name):
    ended = start(PROGRAM + f"text = run({name}, ME)\nassert 'differs' in text, text\nshow(text)")
    construct = "while_loop" if name == "loop" else "cond"
    assert ended.code == 0, ended.err
    assert ended.code == 0 and ended.out.startswith(
        f"{construct}: the predicate differs between processes, and psum at "
    ), ended.out
    assert "process 0 goes one way, process 1 another" in ended.out


@pytest.mark.parametrize(
    "name, value", [("cond", 6), ("switch", 1.5), ("loop", 24), ("within_scan", 24)]
)
def test_processes_that_agree_go_on(start, name, value):
    ended = start(PROGRAM + f"show(run({name}, {2 if name == 'loop' else 1}))")
    assert (ended.code, ended.out) == (0, f"{float(value)}\n"), ended.err


def test_predicates_of_sums_are_not_compared(start):
    ended = start(
        PROGRAM
        + """
def known(v):
    goes_on = lambda c: lax.psum(c.sum(), "i") < 1e3
    return lax.while_loop(goes_on, lambda c: c + lax.pmean(c, "i"), v)

def counted(v):
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, lax.psum(c[1], "i")), (0, v))[1]

for function in (known, counted):
    show(shardax.pmap(function, "i")(x).shape)
""",
        SHARDAX_DUMP="plan",
    )
    assert (ended.code, ended.out) == (0, "(2, 3)\n(2, 3)\n"), ended.err
    assert "process_agree" not in ended.err, ended.err


def test_the_text_names_the_line_of_the_collective(start):
    ended = start(PROGRAM + "show(run(cond, ME))")
    assert "psum at " in ended.out and "program.py:9" in ended.out, ended.out
