"""tests/bench/training.py - steps of training, against JAX and PyTorch, as a Markdown table.

    python tests/bench/training.py [--jax PYTHON] [--torch PYTHON] [--only NAME ...]
                                    [--optimizers NAME ...] [--dtypes NAME ...] [--rounds N] [--cpu]

Milliseconds of a step on the whole batch: shardax and JAX with `pmap` over 1, 4 and 8 simulated
devices and with `jit`, PyTorch in one process. AdamW clips gradients by their global norm, too.
bfloat16 is mixed precision: parameters of float32, as PyTorch's autocast has them. They are medians
of the rounds, in turns. `times` is the best of the others over ours, of 1, 4 and 8 devices. MB is
the most memory that a process takes in such a step of 8 devices (PyTorch: in any).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import rivals
import training_models

DEVICES = (1, 4, 8)
OPTIMIZERS = ("SGD", "Adam", "AdamW")
DTYPES = ("float32", "bfloat16")


def adam(tree_map, jnp, params, state, grads):
    m, v, t = state
    t = t + 1
    m = tree_map(lambda a, g: 0.9 * a + 0.1 * g, m, grads)
    v = tree_map(lambda a, g: 0.999 * a + 0.001 * g * g, v, grads)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return tree_map(lambda p, a, b: p - rate * a / (jnp.sqrt(b) + 1e-8), params, m, v), (m, v, t)


def clipped(jax, tree_map, grads):
    """The gradients, of a norm of 1 at most."""
    squares = [jax.numpy.square(g).sum() for g in jax.tree_util.tree_leaves(grads)]
    norm = jax.numpy.sqrt(sum(squares))
    return tree_map(lambda g: g * jax.numpy.minimum(1, 1 / (norm + 1e-6)), grads)


def step_of(jax, model, optimizer, dtype, devices):
    """A function without arguments: one step of training. devices=0: jit.

    Of bfloat16, the loss is that of rounded parameters and data; the parameters stay float32.
    """
    jnp, tree_map = jax.numpy, jax.tree_util.tree_map

    def rounded(tree):
        return tree_map(lambda a: a.astype(dtype) if a.dtype == jnp.float32 else a, tree)
    params, data = model.init(), model.data()
    state = ()
    if optimizer != "SGD":
        empty = tree_map(lambda p: p * 0, params)
        state = (empty, tree_map(lambda p: p * 0, params), jnp.float32(0))

    def step(params, state, *data):
        data = rounded(data)
        loss, grads = jax.value_and_grad(lambda p: model.loss(jax, rounded(p), *data))(params)
        if devices:
            loss, grads = jax.lax.pmean((loss, grads), "i")
        if optimizer == "AdamW":
            grads = clipped(jax, tree_map, grads)
            params = tree_map(lambda p: p * (1 - 1e-3 * 0.01), params)
        if optimizer != "SGD":
            return (*adam(tree_map, jnp, params, state, grads), loss)
        return tree_map(lambda p, g: p - 1e-3 * g, params, grads), state, loss

    if devices:
        f = jax.pmap(step, axis_name="i", donate_argnums=(0, 1))
        params, state = tree_map(lambda p: jnp.stack([jnp.asarray(p)] * devices), (params, state))
        data = [d.reshape(devices, len(d) // devices, *d.shape[1:]) for d in data]
    else:
        f = jax.jit(step, donate_argnums=(0, 1))
        params, state = tree_map(jnp.asarray, (params, state))
    data = [jnp.asarray(d) for d in data]
    kept = [params, state]

    def run():
        *kept[:], loss = f(*kept, *data)
        return float(loss if not devices else loss[0])

    return run


def peak_memory():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM"))


def measure(run):
    """(milliseconds of a step, most memory in MB)."""
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    losses = [run() for _ in range(3)]
    assert all(loss == loss for loss in losses), losses
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < 1 or len(times) < 5:
        began = rivals.clock()
        run()
        times.append(rivals.clock() - began)
    return statistics.median(times) * 1e3, peak_memory()


def child(system, name, optimizer, dtype):
    model, figures = training_models.MODELS[name], {}
    if system == "torch":
        import training_torch

        figures["torch"] = measure(training_torch.step_of(name, model, optimizer, dtype))
    else:
        jax = rivals.system()
        for devices in (0, *DEVICES):
            figures[str(devices)] = measure(step_of(jax, model, optimizer, dtype, devices))
    print(json.dumps(figures))


def row(name, optimizer, dtype, systems, rounds, more):
    found = {}
    for _ in range(rounds):
        for system, python in systems.items():
            env = {**os.environ, "BENCH_SYSTEM": system, **more}
            if system != "shardax":
                env.pop("PYTHONPATH", None)
            command = [python, __file__, "--child", system, name, optimizer, dtype]
            run = subprocess.run(command, env=env, capture_output=True, text=True)
            if run.returncode:
                sys.exit(run.stderr)
            for key, figure in json.loads(run.stdout).items():
                found.setdefault((system, key), []).append(figure)
    times = {key: statistics.median(t for t, _ in all_) for key, all_ in found.items()}
    memory = {key: max(m for _, m in all_) for key, all_ in found.items()}

    def cells(system):
        if system not in systems:
            return ["", ""]
        if system == "torch":
            return [f"{times[system, 'torch']:.1f}", str(memory[system, "torch"])]
        texts = [f"{times[system, str(d)]:.1f}" for d in (*DEVICES, 0)]
        return [" / ".join(texts), str(memory[system, str(DEVICES[-1])])]

    ratios = []
    for d in DEVICES:
        keys = [("jax", str(d)), ("jax", "0"), ("torch", "torch")]
        others = [times[key] for key in keys if key in times]
        ratios.append(f"{min(others) / times['shardax', str(d)]:.2f}" if others else "")
    columns = [c for system in ("shardax", "jax", "torch") for c in cells(system)]
    step = ", ".join([name, optimizer] + ([dtype] if dtype != DTYPES[0] else []))
    print("| " + " | ".join([step, *columns, " / ".join(ratios)]) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jax", help="an interpreter with jax")
    parser.add_argument("--torch", help="an interpreter with torch")
    parser.add_argument("--only", nargs="*", choices=training_models.MODELS, help="models")
    parser.add_argument("--optimizers", nargs="*", choices=OPTIMIZERS, default=OPTIMIZERS)
    parser.add_argument("--dtypes", nargs="*", choices=DTYPES, default=DTYPES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu", action="store_true", help="processor time, of all threads")
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(*options.child)
    given = {"shardax": sys.executable, "jax": options.jax, "torch": options.torch}
    systems = {name: python for name, python in given.items() if python}
    more = {"BENCH_CPU": "1"} if options.cpu else {}
    heads = ["model", "shardax 1 / 4 / 8 / jit", "MB", "JAX 1 / 4 / 8 / jit", "MB", "PyTorch", "MB"]
    print("| " + " | ".join([*heads, "times"]) + " |")
    print("| --- " + "| --- " * len(heads) + "|")
    for name in options.only or training_models.MODELS:
        for dtype in options.dtypes:
            for optimizer in options.optimizers:
                row(name, optimizer, dtype, systems, options.rounds, more)
    return None


if __name__ == "__main__":
    main()
