"""tests/bench/parallel.py - model-parallel steps on 8 devices, against the same step unsharded.

    python tests/bench/parallel.py [--jax PYTHON] [--rounds N] [--threads N] [--cpu]

Runs itself in one process per system, in turns, and prints the medians over the rounds. It compares
a step of training by shard_map over 8 devices with `jit` of the unsharded program on all of the
data. The promise is that the first costs what the second does. PYTHON is an interpreter that has
jax installed.
"""

import functools
import json

import numpy as np
import rivals

DEVICES = 8


def layers(jax, params, x):
    return jax.numpy.tanh(x @ params["up"]) @ params["down"]


def transformer(jax, params, x, total):
    jnp, nn = jax.numpy, jax.nn

    def normed(x):
        mean = jnp.mean(x, -1, keepdims=True)
        return (x - mean) / jnp.sqrt(jnp.mean((x - mean) ** 2, -1, keepdims=True) + 1e-5)

    z = normed(x)
    q, k, v = (jnp.einsum("bsd,dhk->bhsk", z, params[name]) for name in "qkv")
    weights = nn.softmax(q @ jnp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5, axis=-1)
    x = x + total(jnp.einsum("bhsk,hkd->bsd", weights @ v, params["o"]))
    return x + total(nn.gelu(normed(x) @ params["up"]) @ params["down"])


def trained(jax, loss):
    def step(params, *data):
        value, gradients = jax.value_and_grad(loss)(params, *data)
        return jax.tree_util.tree_map(lambda p, g: p - 0.01 * g, params, gradients), value

    return step


def measure(jax):
    jnp, lax, P = jax.numpy, jax.lax, jax.sharding.PartitionSpec
    rng = np.random.default_rng(0)
    figures = {}

    def array(*shape, scale=1.0):
        return jnp.asarray(scale * rng.standard_normal(shape), "float32")

    def compare(name, mesh, specs, data_specs, parallel, whole, params, *data):
        """Both steps, each on what its own last step gave; their losses have to agree."""
        put = jax.tree_util.tree_map(
            lambda p, s: jax.device_put(p, jax.sharding.NamedSharding(mesh, s)), params, specs
        )
        placed = [
            jax.device_put(d, jax.sharding.NamedSharding(mesh, s)) for d, s in zip(data, data_specs)
        ]
        mapped = jax.shard_map(
            trained(jax, parallel),
            mesh=mesh,
            in_specs=(specs, *data_specs),
            out_specs=(specs, P()),
        )
        values = []
        for label, step, state, given in (
            ("on 8 devices", jax.jit(mapped), put, placed),
            ("unsharded", jax.jit(trained(jax, whole)), params, data),
        ):
            values.append(float(step(state, *given)[1]))
            again = functools.partial(step, state, *given)
            figures[f"{name}, {label}"] = rivals.median_time(jax, again, 0.5)
        assert np.isclose(*values, rtol=1e-3), (name, values)

    auto = jax.sharding.AxisType.Auto
    one = jax.make_mesh((DEVICES,), ("i",), axis_types=(auto,))
    rows, width, hidden = 512, 512, 2048
    network = {
        "up": array(width, hidden, scale=width**-0.5),
        "down": array(hidden, width, scale=hidden**-0.5),
    }
    x, y = array(rows, width), array(rows, width)

    def error(out, y):
        return jnp.mean((out - y) ** 2)

    def whole_layers(params, x, y):
        return error(layers(jax, params, x), y)

    def tensor_parallel(params, x, y):
        return error(lax.psum(layers(jax, params, x), "i"), y)

    split = {"up": P(None, "i"), "down": P("i")}
    compare("tensor parallel", one, split, (P(), P()), tensor_parallel, whole_layers, network, x, y)

    def fully_sharded(params, x, y):
        full = {k: lax.all_gather(p, "i", tiled=True) for k, p in params.items()}
        return lax.pmean(error(layers(jax, full, x), y), "i")

    parts = {"up": P("i"), "down": P("i")}
    compare(
        "sharded parameters",
        one,
        parts,
        (P("i"), P("i")),
        fully_sharded,
        whole_layers,
        network,
        x,
        y,
    )

    micro = 2 * DEVICES
    stages = {"w": array(DEVICES, 256, 256, scale=1 / 16)}
    xs, ys = array(micro, 64, 256), array(micro, 64, 256)

    def pipeline(params, x, y):
        device, w = lax.axis_index("i"), params["w"][0]
        following = [(i, i + 1) for i in range(DEVICES - 1)]

        def tick(arriving, t):
            taken = jnp.where(device == 0, x[jnp.clip(t, 0, micro - 1)], arriving)
            busy = (t >= device) & (t < device + micro)
            out = lax.cond(busy, lambda x: jnp.tanh(x @ w), lambda x: x, taken)
            return lax.ppermute(out, "i", following), out

        start = lax.pcast(jnp.zeros_like(x[0]), "i", to="varying")
        _, outs = lax.scan(tick, start, jnp.arange(micro + DEVICES - 1))
        last = jnp.where(device == DEVICES - 1, error(outs[DEVICES - 1 :], y), 0.0)
        return lax.psum(last, "i")

    def whole_pipeline(params, x, y):
        for w in params["w"]:
            x = jnp.tanh(x @ w)
        return error(x, y)

    compare("pipeline", one, {"w": P("i")}, (P(), P()), pipeline, whole_pipeline, stages, xs, ys)

    two = jax.make_mesh((2, DEVICES // 2), ("data", "model"), axis_types=(auto, auto))
    batch, length, width, heads, head, hidden = 8, 128, 256, 8, 32, 1024
    shapes = {
        **dict.fromkeys("qkv", (width, heads, head)),
        "o": (heads, head, width),
        "up": (width, hidden),
        "down": (hidden, width),
    }
    params = {k: array(*shape, scale=width**-0.5) for k, shape in shapes.items()}
    by_head, by_unit = P(None, "model"), P("model")
    specs = {k: by_unit if k in ("o", "down") else by_head for k in shapes}
    x, y = array(batch, length, width), array(batch, length, width)

    def parallel_transformer(params, x, y):
        out = transformer(jax, params, x, lambda part: lax.psum(part, "model"))
        return lax.pmean(error(out, y), "data")

    def whole_transformer(params, x, y):
        return error(transformer(jax, params, x, lambda part: part), y)

    compare(
        "transformer, 2 x 4",
        two,
        specs,
        (P("data"), P("data")),
        parallel_transformer,
        whole_transformer,
        params,
        x,
        y,
    )
    print(json.dumps(figures))


if __name__ == "__main__":
    jax = rivals.system()
    measure(jax) if jax else rivals.compare(__file__, __doc__)
