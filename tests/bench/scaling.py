"""tests/bench/scaling.py - strong scaling over processes, measured here and predicted for clusters.

    python tests/bench/scaling.py [--only NAME ...] [--rounds N] [--predict]

A step of training on a batch of one size, shared out over processes of one device and one thread
each. Prints medians of rounds in turns, as a Markdown table. `2 threads` is one process with two.
More processes than cores take turns on them. --predict: without measuring. The prediction is for
nodes of two sockets; a socket is a device of 1 teraflop and 100 GB/s.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import shardax
import training_models
from shardax import lax

MODELS = ("Mlp", "LeNet", "ResNet", "Transformer")
PROCESSES = (1, 2, 4)
SOCKETS = (1, 2, 4, 8, 16)
CLUSTER = shardax.Accelerators(
    flops=1e12,
    memory_bandwidth=1e11,
    link_bandwidth=4e10,
    latency=5e-7,
    topology="hierarchical",
    per_node=2,
    node_bandwidth=12.5e9,
    node_latency=2e-6,
)


def step_over(devices, model):
    """A mapped step of gradient descent, and its arguments: parameters, and this process's part of
    the batch."""
    tree_map = shardax.tree_util.tree_map

    def step(params, *data):
        loss, grads = shardax.value_and_grad(lambda p: model.loss(shardax, p, *data))(params)
        loss, grads = lax.pmean((loss, grads), "i")
        return tree_map(lambda p, g: p - 1e-3 * g, params, grads), loss

    local = devices // shardax.process_count()
    first = shardax.process_index() * local
    f = shardax.pmap(
        step, axis_name="i", in_axes=(None, 0, 0), out_axes=None, donate_argnums=0, axis_size=local
    )
    parts = [
        np.reshape(d, (devices, len(d) // devices, *d.shape[1:]))[first : first + local]
        for d in model.data()
    ]
    return f, tree_map(shardax.numpy.asarray, model.init()), parts


def measure(name, devices):
    """Prints the milliseconds of a step over all processes."""
    f, params, data = step_over(devices, getattr(training_models, name)())
    data = [shardax.numpy.asarray(d) for d in data]
    times = []
    while len(times) < 8 or sum(times) < 1.5:
        start = time.perf_counter()
        params, loss = f(params, *data)
        float(loss)
        times.append(time.perf_counter() - start)
    if shardax.process_index() == 0:
        print(statistics.median(times[3:]) * 1e3)


def measured(name, processes, threads):
    command = [sys.executable, "-m", "shardax", "--processes", str(processes)]
    done = subprocess.run(
        [*command, __file__, "--measure", name, str(processes)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "SHARDAX_NUM_THREADS": str(threads)},
    )
    return float(done.stdout)


def measure_all(names, rounds):
    ways = [(p, 1) for p in PROCESSES] + [(1, 2)]
    print("| ms a step | batch |", " | ".join(f"{p} processes" for p in PROCESSES), "| 2 threads |")
    print("| --- |", " | ".join(["---:"] * (len(ways) + 1)), "|")
    for name in names:
        taken = [[] for _ in ways]
        for _ in range(rounds):
            for way, times in zip(ways, taken):
                times.append(measured(name, *way))
        cells = [f"{statistics.median(times):.1f}" for times in taken]
        batch = getattr(training_models, name).batch
        print(f"| {name} | {batch} |", " | ".join(cells), "|", flush=True)


def predict_all(names):
    print("| times faster than one socket |", " | ".join(f"{n} sockets" for n in SOCKETS), "|")
    print("| --- |", " | ".join(["---:"] * len(SOCKETS)), "|")
    for name in names:
        shardax.config.update("jax_num_cpu_devices", 2)
        f, params, data = step_over(2, getattr(training_models, name)())
        rows = shardax.explain(f)(params, *data).on(CLUSTER).scaling(SOCKETS, "strong")
        cells = [f"{rows[0]['time'] / row['time']:.1f}" for row in rows]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", choices=MODELS, default=MODELS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        name, devices = arguments.measure
        shardax.config.update("jax_num_cpu_devices", 1)
        return measure(name, int(devices))
    if not arguments.predict:
        measure_all(arguments.only, arguments.rounds)
    predict_all(arguments.only)


if __name__ == "__main__":
    main()
