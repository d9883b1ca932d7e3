"""tests/codegen/test_recorded.py - elementwise ops without machine code for float32.

Kernels that loop until something converges, or read long tables, stay calls of tile kernels. A loop
with one of them runs on tile kernels altogether. An op that is added here is slower in chains.
"""

import re
from pathlib import Path

from tests.codegen.machines import runs_loops

CALLS = {
    "cbrt", "cosine_integral", "dawson", "erfcx", "expi", "expn", "fresnel_cosine",
    "fresnel_sine", "gamma_variate", "hyp1f1", "hyp1f1_by_a", "hyp1f1_by_b", "hyp1f1_by_two",
    "hyp2f1", "hyp2f1_by_a", "hyp2f1_by_c", "hyp2f1_by_two", "igamma", "igamma_grad_a", "igammac",
    "owens_t", "polygamma", "random_gamma_grad", "random_gamma_grad_a", "reduce_precision",
    "regularized_incomplete_beta", "rem", "sine_integral", "spence", "zeta",
}  # fmt: skip

PROGRAM = """
import sys
sys.path.insert(0, "tests/ops")
import numpy as np
import shardax
import shardax.numpy as jnp
from running import CASES, call, operands
from shardax import _core

for case in CASES:
    name, sample = case.values
    if not sample.elementwise or "float32" not in sample.dtypes:
        continue
    args = [jnp.asarray(np.resize(a, 1000)) for a in operands(sample, "float32")]
    print("== " + name, file=sys.stderr, flush=True)
    chain = lambda *a: call(name, sample, a).astype("float32") * 2 + a[0] * a[0]
    shardax.jit(chain)(*args)
"""


@runs_loops
def test_ops_without_machine_code_are_known(dump_of):
    dump = dump_of(PROGRAM, folder=Path(__file__).parents[2], SHARDAX_CODEGEN="1")
    found, native = set(), set()
    for part in dump.split("== ")[1:]:
        name, plan = part.split("\n", 1)
        for code in re.findall(rf"^  (native )?loop \(1000,\)[^\[]* {name} ", plan, re.MULTILINE):
            found.add(name)
            if code:
                native.add(name)
    calls = found - native
    assert len(native) > 50
    assert calls == CALLS, " ".join(sorted(calls ^ CALLS))
