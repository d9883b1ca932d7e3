"""tests/bench/rivals.py - one benchmark in a process per system, in turns, as ratios."""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
import types


def system():
    """The module under test, in a process that `compare` has started; None outside of one."""
    name = os.environ.get("BENCH_SYSTEM")
    if name == "jax":
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
        import jax

        return jax
    if name == "shardax":
        import shardax

        return shardax
    if name == "numpy":
        import numpy

        same = {"jit": lambda f: f, "block_until_ready": lambda x: x}
        return types.SimpleNamespace(numpy=numpy, enable_x64=contextlib.nullcontext, **same)
    return None


def eager():
    """Gives functions that are complete when they return the form that median_time takes."""
    return types.SimpleNamespace(block_until_ready=lambda x: x)


# Processor time is what a busy machine can tell.
clock = time.process_time if os.environ.get("BENCH_CPU") else time.perf_counter


def median_time(jax, f, budget=0.15):
    """Microseconds of a call of `f`, warm."""
    jax.block_until_ready(f())
    start, times = time.perf_counter(), []
    while time.perf_counter() - start < budget or len(times) < 5:
        t = clock()
        jax.block_until_ready(f())
        times.append(clock() - t)
    return statistics.median(times) * 1e6


def compare(script, text, numpy=False, torch=False):
    """Runs `script`, which prints its figures as JSON, in turns, and prints medians and ratios.
    `numpy` adds a run on NumPy alone, `torch` one on an interpreter with PyTorch.
    """
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jax", help="an interpreter with jax")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, help="as many cores for each system")
    parser.add_argument("--cpu", action="store_true", help="processor time, of all threads")
    if torch:
        parser.add_argument("--torch", help="an interpreter with torch")
    options = parser.parse_args()
    systems = {"shardax": sys.executable, **({"jax": options.jax} if options.jax else {})}
    threads = {}
    if torch and options.torch:
        systems["torch"] = options.torch
    if options.threads:
        os.sched_setaffinity(0, range(options.threads))
        threads["BENCH_THREADS"] = str(options.threads)
    if options.cpu:
        threads["BENCH_CPU"] = "1"
    if numpy:
        systems["numpy"] = sys.executable
    figures = {name: [] for name in systems}
    for _ in range(options.rounds):
        for name, python in systems.items():
            env = {**os.environ, "BENCH_SYSTEM": name, **threads}
            if name in ("jax", "torch"):
                env.pop("PYTHONPATH", None)
            run = subprocess.run([python, script], env=env, capture_output=True, text=True)
            if run.returncode:
                sys.exit(run.stderr)
            figures[name].append(json.loads(run.stdout))
    rivals = [name for name in systems if name != "shardax"]
    print(f"{'':52}{'shardax':>12}" + "".join(f"{name:>14}{'ratio':>9}" for name in rivals))
    for row in figures["shardax"][0]:
        medians = {
            name: statistics.median(r[row] for r in rounds) for name, rounds in figures.items()
        }
        line = f"{row:52}{medians['shardax']:>9.1f} us"
        for name in rivals:
            line += f"{medians[name]:>11.1f} us{medians[name] / medians['shardax']:>8.1f}x"
        print(line)
