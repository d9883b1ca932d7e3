"""tests/bench/many_cores.py - steps of training on more cores than this machine has, by simulation.

    python tests/bench/many_cores.py [--only NAME ...] [--rounds N]

One thread runs a step of each model of training.py, 8 devices, Adam. Loops are cut into chunks as
for so many cores, and every chunk is timed. A simulation gives each chunk of a loop to the first
core that is free. It adds the time in which a loop starts and ends. The table has, for each number
of cores, how many times as fast a step is as on one.

- alone: the share of the step that no loop shares, which is one thread's.
- loops, chunks: how many shared loops a step has, and chunks in all, for 32 cores.
- measured: this machine's speed with two threads beside one; the simulation's stands next to it.
- 32 cores, lost: the program's step that loses the most time there, and its share of all losses.
  A loop of 32 equal chunks would lose none.

Memory and caches are not simulated: a core is as fast as it is alone. Loops that read and write
much for little arithmetic are slower than that where cores share their memory.
"""

import argparse
import collections
import heapq
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import training
import training_models

CORES = (2, 8, 32, 128)
# Seconds of a loop that start and end take: measured with two threads (tests/bench/parallel.py),
# and as much again for every doubling of the threads.
HANDOVER = 2e-6


def loops_of(events):
    """(seconds in all, loops) of a program's events. A loop is its step and its chunks' seconds."""
    programs = [e for e in events if e["cat"] == "program"]
    total = sum(e["dur"] for e in programs) / 1e6
    loops, end, step = [], 0.0, ""
    for event in events:
        if event["cat"] == "step":
            step = event["name"].split("  [")[0]
        if event["cat"] != "chunk" or event["ts"] < end:
            continue  # a loop within a chunk runs on that chunk's thread
        end = event["ts"] + event["dur"] - 0.0005
        number, count = (int(word) for word in event["name"].split()[1::2])
        if number == 1:
            loops.append((step, []))
        chunks = loops[-1][1]
        assert len(chunks) == number - 1, event["name"]
        chunks.append(event["dur"] / 1e6)
        assert number < count or len(chunks) == count
    return total, loops


def makespan(chunks, cores):
    free = [0.0] * min(cores, len(chunks))
    for seconds in chunks:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def loop_seconds(chunks, cores):
    handover = HANDOVER * (cores - 1).bit_length()
    return min(sum(chunks), makespan(chunks, cores) + handover)


def simulated(total, loops, cores):
    alone = total - sum(sum(chunks) for _, chunks in loops)
    return alone + sum(loop_seconds(chunks, cores) for _, chunks in loops)


def most_lost(loops, cores):
    lost = collections.Counter()
    for step, chunks in loops:
        lost[step] += loop_seconds(chunks, cores) - sum(chunks) / cores
    ((step, seconds),) = lost.most_common(1)
    return f"{step}: {seconds / sum(lost.values()):.0%}"


def record(name, cores):
    """The events of one step on one thread, cut for so many cores: the fastest of some."""
    import shardax

    # A forked child has no workers: it runs every chunk itself.
    shardax.set_thread_count(max(cores, 2))
    (shardax.numpy.ones((999, 999)) @ shardax.numpy.ones((999, 999))).block_until_ready()
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    shardax.set_thread_count(cores)
    run = training.step_of(shardax, training_models.MODELS[name], "Adam", "float32", 8)
    for _ in range(3):
        run()
    best = None
    for _ in range(7):
        with shardax.profile() as times:
            run()
        with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
            times.save(file.name)
            found = loops_of(json.load(file)["traceEvents"])
        best = min(best or found, found, key=lambda f: f[0])
    return best


def step_seconds(name, threads):
    import shardax

    shardax.set_thread_count(threads)
    run = training.step_of(shardax, training_models.MODELS[name], "Adam", "float32", 8)
    for _ in range(3):
        run()
    times = []
    for _ in range(15):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def child(what, name, threads):
    measure = record if what == "record" else step_seconds
    print(json.dumps(measure(name, int(threads))), flush=True)
    os._exit(0)


def asked(*arguments, threads):
    command = [sys.executable, __file__, "--child", *arguments, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def row(name, rounds):
    total, _ = asked("record", name, threads=1)
    recorded = {cores: asked("record", name, threads=cores) for cores in CORES}
    step, loops = recorded[32]
    shared = [chunks for _, chunks in loops]
    alone = 1 - sum(map(sum, shared)) / step
    measured = [
        asked("time", name, threads=1) / asked("time", name, threads=2) for _ in range(rounds)
    ]
    speeds = [total / simulated(*recorded[cores], cores) for cores in CORES]
    return [
        name,
        f"{total * 1e3:.1f}",
        f"{alone:.1%}",
        str(len(shared)),
        str(sum(map(len, shared))),
        f"{statistics.median(measured):.2f}",
        *(f"{speed:.3g}" for speed in speeds),
        most_lost(loops, 32),
    ]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", choices=training_models.MODELS, help="models")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(*options.child)
    heads = ["step, 8 devices, Adam", "ms, 1 core", "alone", "loops", "chunks", "2 cores, measured"]
    heads += [f"{cores} cores" for cores in CORES] + ["32 cores, lost"]
    print("| " + " | ".join(heads) + " |")
    print("| --- " * len(heads) + "|")
    for name in options.only or training_models.MODELS:
        print("| " + " | ".join(row(name, options.rounds)) + " |", flush=True)
    return None


if __name__ == "__main__":
    main()
