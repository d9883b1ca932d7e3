"""tests/codegen/test_pages.py - the memory that machine code lies in.

Pages are written before they may run, and not after; they go with the plans that they belong to. If
a system refuses them, tile kernels run.
"""

import os
import subprocess
import sys

import pytest

from tests.codegen.machines import runs_loops

LOOPS = """
import gc
import numpy as np
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

def executable():
    lines = [line.split() for line in open("/proc/self/maps")]
    return {line[0]: line[1] for line in lines if len(line) == 5 and "x" in line[1]}

others = executable()  # an emulator's, say

def pages():
    '''The permissions of private memory without a file that may run.'''
    return [kind for at, kind in executable().items() if at not in others]

def results(k):
    x = jnp.linspace(-3, 3, 1000)
    chain = jax.jit(lambda x: jnp.exp(x * k) + jnp.tanh(x) * 0.5)
    loop = jax.jit(lambda x: lax.fori_loop(0, 9, lambda i, c: jnp.sin(c) * k + i, x))
    return [np.asarray(chain(x)), np.asarray(loop(jnp.float32(0.5)))]
"""


def run(program, **settings):
    done = subprocess.run(
        [sys.executable, "-c", LOOPS + program],
        env={**os.environ, "SHARDAX_CODEGEN": "1", **settings},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@runs_loops
def test_pages_are_never_to_be_written_and_run():
    program = "results(2.0)\nprint(*set(pages()), len(pages()) > 0)"
    assert run(program) == "r-xp True\n"
    assert run("results(2.0)\nprint(len(pages()))", SHARDAX_CODEGEN="0") == "0\n"


def test_pages_go_with_their_plans():
    """Functions that are no longer there leave no code, nor do variants without end."""
    program = """
for k in range(4):
    results(float(k))
jax.clear_caches()
gc.collect()
few = len(pages())
for k in range(200):
    results(float(k))
    if k % 50 == 49:
        jax.clear_caches()
        gc.collect()
print(few, len(pages()))
"""
    few, many = map(int, run(program).split())
    assert many <= few + 2


REFUSED = """
import ctypes
refuse_to_gain_execution = 65, 1  # PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN
if ctypes.CDLL(None).prctl(*refuse_to_gain_execution, 0, 0, 0) != 0:
    print("unknown")
    raise SystemExit
"""


def test_systems_that_refuse_pages_run_tile_kernels():
    program = "print(len(pages()), [r.tobytes().hex() for r in results(2.0)])"
    refused = run(REFUSED + program)
    if refused == "unknown\n":
        pytest.skip("this kernel refuses no pages")
    assert refused.startswith("0 ")
    assert refused == run(program, SHARDAX_CODEGEN="0")
