"""tests/codegen/machines.py - the kinds of instructions whose text SHARDAX_DUMP=asm prints here.

NEON's are written on every processor, those of AVX2 on x86-64.
"""

import platform
import re

import pytest
from shardax import _core

KERNELS = _core.target_info()["kernels"]
RUNS_LOOPS = KERNELS != "baseline"  # an x86-64 processor without AVX2 runs no machine code of loops
runs_loops = pytest.mark.skipif(not RUNS_LOOPS, reason="loops run on tile kernels")
X86 = ["avx2"] if platform.machine() == "x86_64" else []
MACHINES = [*X86, "neon"]


def instructions(listing):
    """The names of a listing's instructions, in order."""
    return re.findall(r"^ *[0-9a-f]+: ([\w.]+)", listing, re.MULTILINE)
