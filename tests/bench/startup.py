"""The cost of a fresh process: import, first op, a whole training page, its calls.

python tests/bench/startup.py [--rounds N] [--devices N] [--script PAGE] [--jax PYTHON]

Every figure comes from new processes without warm-up; rounds interleave all of them, and the table
gives medians. With --jax, an interpreter that has JAX, the same is measured there, with ratios.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

NUMPY = "import numpy"

# The library under the name `jax`, and what scripts import of it.
SHARDAX = """
import sys
{alias}
"""
JAX = """
import sys
import jax, jax.numpy, jax.lax, jax.random, jax.tree, jax.sharding
if not hasattr(jax, "tree_map"):
    jax.tree_map = jax.tree.map
sys.modules.update({name.replace("jax", "shardax", 1): module
                    for name, module in list(sys.modules.items())
                    if name.split(".")[0] == "jax"})
"""

FIRST_OP = """
import {library} as jax
import {library}.numpy as jnp
(jnp.arange(3) + 1).block_until_ready()
"""

PAGE = """
import runpy
sys.argv = [{script!r}]
runpy.run_path({script!r}, run_name="__main__")
"""

# The longest-running mapped function of the page is its training step; its calls are timed up to
# the arrival of the results.
TIMED_PAGE = (
    """
import json, time
import {library} as library

functions = []
plain_pmap = library.pmap

def pmap(*args, **kwargs):
    function = plain_pmap(*args, **kwargs)
    times = []
    functions.append(times)
    def call(*args, **kwargs):
        start = time.perf_counter()
        result = library.block_until_ready(function(*args, **kwargs))
        times.append(time.perf_counter() - start)
        return result
    return call

library.pmap = pmap
"""
    + PAGE
    + """
times = max(functions, key=len)
print("\\n" + json.dumps([times[0], sorted(times[1:])[len(times[1:]) // 2]]))
"""
)


class Library:
    """One of the two systems, as code to run in an interpreter of its own."""

    def __init__(self, name, python, devices, script):
        self.name, self.python = name, python
        self.environment = {**os.environ, "SHARDAX_NUM_DEVICES": str(devices)}
        if name == "jax":
            flags = f"--xla_force_host_platform_device_count={devices}"
            self.environment |= {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
            for key in ("PYTHONPATH", "LD_LIBRARY_PATH"):
                self.environment.pop(key, None)
            alias = JAX
        else:
            imports_jax = "import jax" in pathlib.Path(script).read_text(encoding="utf-8")
            alias = SHARDAX.format(
                alias="import shardax; shardax.install_as_jax()" if imports_jax else ""
            )
        self.first_op = FIRST_OP.format(library=name)
        self.page = alias + PAGE.format(script=script)
        self.timed_page = alias + TIMED_PAGE.format(library=name, script=script)

    def run(self, code):
        """(seconds from start to end, what was printed)."""
        start = time.perf_counter()
        done = subprocess.run(
            [self.python, "-c", code], env=self.environment, capture_output=True, text=True
        )
        elapsed = time.perf_counter() - start
        if done.returncode != 0:
            raise SystemExit(f"{self.name} failed:\n{done.stderr}")
        return elapsed, done.stdout

    def round(self):
        """One value of each figure, in seconds."""
        empty = self.run("pass")[0]
        numpy = self.run(NUMPY)[0]
        first_op = self.run(self.first_op)[0]
        page = self.run(self.page)[0]
        first_call, further_call = json.loads(self.run(self.timed_page)[1].splitlines()[-1])
        return {
            "python alone": empty,
            "import numpy": numpy - empty,
            "import + first op": first_op - empty,
            "  beyond numpy": first_op - numpy,
            "training page, start to end": page,
            "  its first compiled call": first_call,
            "  each further call": further_call,
        }


def shown(seconds):
    return f"{seconds * 1e6:.0f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--script", default=str(ROOT / "examples" / "training_loop.py"))
    parser.add_argument("--jax", metavar="PYTHON", help="an interpreter that has JAX")
    options = parser.parse_args()

    libraries = [Library("shardax", sys.executable, options.devices, options.script)]
    if options.jax:
        libraries.append(Library("jax", options.jax, options.devices, options.script))
    rounds = {library.name: [] for library in libraries}
    for library in libraries:
        library.run(library.page)  # byte-compiles the packages, reads them from disk
    for _ in range(options.rounds):
        for library in libraries:
            rounds[library.name].append(library.round())

    header = f"{'':30s}{'shardax':>12s}"
    print(header + (f"{'JAX':>12s}{'ratio':>9s}" if options.jax else ""))
    for figure in rounds["shardax"][0]:
        median = {name: statistics.median(r[figure] for r in rows) for name, rows in rounds.items()}
        line = f"{figure:30s}{shown(median['shardax']):>12s}"
        if options.jax:
            line += f"{shown(median['jax']):>12s}{median['jax'] / median['shardax']:8.1f}x"
        print(line)


if __name__ == "__main__":
    main()
