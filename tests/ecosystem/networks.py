"""tests/ecosystem/networks.py - programs of libraries for networks and their state."""

import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from data import X, Y


def flax_linen_mlp_and_training():
    import flax.linen as nn
    import optax
    from flax.training.train_state import TrainState

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x, train=False):
            x = nn.relu(nn.Dense(8)(x))
            x = nn.BatchNorm(use_running_average=not train)(x)
            x = nn.Dropout(0.3, deterministic=not train)(x)
            return nn.LayerNorm()(nn.Dense(1)(x))

    net = Net()
    variables = net.init(jax.random.key(0), X)
    state = TrainState.create(
        apply_fn=net.apply, params=variables["params"], tx=optax.sgd(0.1, momentum=0.9)
    )

    @jax.jit
    def step(state, stats, key):
        def loss(params):
            out, new = net.apply(
                {"params": params, "batch_stats": stats},
                X,
                train=True,
                rngs={"dropout": key},
                mutable=["batch_stats"],
            )
            return jnp.mean((out - Y) ** 2), new["batch_stats"]

        (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
        return state.apply_gradients(grads=grads), stats, value

    stats = variables["batch_stats"]
    values = []
    for i in range(3):
        state, stats, value = step(state, stats, jax.random.key(i))
        values.append(value)
    return values, state.params, stats, jax.tree.map(jnp.shape, variables)


def flax_linen_lifted_transformations():
    import flax.linen as nn

    class Cell(nn.Module):
        @nn.compact
        def __call__(self, carry, x):
            carry = jnp.tanh(nn.Dense(4)(jnp.concatenate([carry, x], -1)))
            return carry, carry

    class Net(nn.Module):
        @nn.compact
        def __call__(self, xs):
            scan = nn.scan(
                nn.remat(Cell),
                variable_broadcast="params",
                split_rngs={"params": False},
                in_axes=0,
                out_axes=0,
            )
            _, ys = scan()(jnp.zeros(4), xs)
            heads = nn.vmap(
                nn.Dense,
                variable_axes={"params": 0},
                split_rngs={"params": True},
                in_axes=None,
                axis_size=2,
            )
            return heads(3)(ys)

    variables = Net().init(jax.random.key(1), X)
    grads = jax.grad(lambda v: jnp.sum(Net().apply(v, X) ** 2))(variables)
    return Net().apply(variables, X), grads


def flax_linen_attention_and_convolution():
    import flax.linen as nn

    image = jnp.asarray(np.linspace(0, 1, 2 * 8 * 8 * 3, dtype=np.float32).reshape(2, 8, 8, 3))
    conv = nn.Sequential([nn.Conv(4, (3, 3), strides=2), nn.gelu, nn.GroupNorm(2)])
    attention = nn.MultiHeadDotProductAttention(num_heads=2, qkv_features=8)
    lstm = nn.RNN(nn.LSTMCell(4))
    a = conv.init(jax.random.key(0), image)
    b = attention.init(jax.random.key(1), X[None])
    c = lstm.init(jax.random.key(2), X[None])
    embedded = nn.Embed(5, 3)
    d = embedded.init(jax.random.key(3), jnp.arange(4))
    return (
        conv.apply(a, image),
        attention.apply(b, X[None]),
        lstm.apply(c, X[None]),
        embedded.apply(d, jnp.arange(4)),
    )


def flax_linen_checkpoints_and_tables():
    import flax.linen as nn
    from flax import serialization, traverse_util
    from flax.training import checkpoints

    params = nn.Dense(2).init(jax.random.key(0), X)
    restored = serialization.from_bytes(params, serialization.to_bytes(params))
    with tempfile.TemporaryDirectory() as folder:
        checkpoints.save_checkpoint_multiprocess(folder, params, 1)
        again = checkpoints.restore_checkpoint(folder, params)
    table = nn.tabulate(nn.Dense(2), jax.random.key(0))(X)
    return (
        restored,
        again,
        sorted(map("/".join, traverse_util.flatten_dict(params))),
        "Dense" in table,
    )


def flax_nnx_training():
    import optax
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.a = nnx.Linear(3, 8, rngs=rngs)
            self.norm = nnx.BatchNorm(8, rngs=rngs)
            self.drop = nnx.Dropout(0.1, rngs=rngs)
            self.b = nnx.Linear(8, 1, rngs=rngs)

        def __call__(self, x):
            return self.b(self.drop(nnx.relu(self.norm(self.a(x)))))

    net = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)

    @nnx.jit
    def step(net, optimizer):
        value, grads = nnx.value_and_grad(lambda net: jnp.mean((net(X) - Y) ** 2))(net)
        optimizer.update(net, grads)
        return value

    values = [step(net, optimizer) for _ in range(3)]
    graph, state = nnx.split(net)
    merged = nnx.merge(graph, state)
    merged.eval()
    return values, nnx.to_pure_dict(nnx.state(net, nnx.Param)), merged(X)


def flax_nnx_transformations():
    from flax import nnx

    @nnx.vmap(in_axes=(0,), out_axes=0)
    def make(key):
        return nnx.Linear(3, 3, rngs=nnx.Rngs(key))

    stack = make(jax.random.split(jax.random.key(0), 4))

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    def forward(x, layer):
        return nnx.tanh(layer(x))

    return forward(jnp.asarray(X), stack)


def haiku_network():
    import haiku as hk

    def forward(x, training):
        x = hk.Linear(8)(x)
        x = hk.BatchNorm(True, True, 0.9)(x, training)
        x = jax.nn.relu(x)
        if training:
            x = hk.dropout(hk.next_rng_key(), 0.5, x)
        return hk.nets.MLP([4, 1])(x)

    f = hk.transform_with_state(forward)
    params, state = f.init(jax.random.PRNGKey(0), X, True)

    @jax.jit
    def loss(params, state, key):
        out, state = f.apply(params, state, key, X, True)
        return jnp.mean((out - Y) ** 2), state

    (value, state), grads = jax.value_and_grad(loss, has_aux=True)(
        params, state, jax.random.PRNGKey(1)
    )
    return params, value, grads, state


def haiku_recurrent_and_lifted():
    import haiku as hk

    def forward(xs):
        core = hk.LSTM(4)
        out, _ = hk.dynamic_unroll(core, xs, core.initial_state(None))
        attention = hk.MultiHeadAttention(2, 3, w_init_scale=1.0)
        return out, attention(xs, xs, xs), hk.LayerNorm(-1, True, True)(xs), hk.Conv1D(2, 3)(xs)

    f = hk.without_apply_rng(hk.transform(forward))
    params = f.init(jax.random.PRNGKey(2), X)
    return f.apply(params, X), hk.data_structures.tree_size(params)


def equinox_training():
    import equinox as eqx
    import optax

    net = eqx.nn.MLP(3, 1, 8, 2, key=jax.random.key(0))
    tx = optax.adam(1e-2)
    state = tx.init(eqx.filter(net, eqx.is_array))

    @eqx.filter_jit
    def step(net, state):
        value, grads = eqx.filter_value_and_grad(lambda n: jnp.mean((jax.vmap(n)(X) - Y) ** 2))(net)
        updates, state = tx.update(grads, state, net)
        return eqx.apply_updates(net, updates), state, value

    values = []
    for _ in range(3):
        net, state, value = step(net, state)
        values.append(value)
    return values, eqx.filter(net, eqx.is_array).layers[0].weight


def equinox_layers():
    import equinox as eqx

    keys = jax.random.split(jax.random.key(0), 4)
    image = jnp.asarray(np.linspace(0, 1, 3 * 8 * 8, dtype=np.float32).reshape(3, 8, 8))
    conv = eqx.nn.Conv2d(3, 4, 3, key=keys[0])
    attention = eqx.nn.MultiheadAttention(2, 4, key=keys[1])
    norm = eqx.nn.LayerNorm(3)
    cell = eqx.nn.GRUCell(3, 4, key=keys[2])
    return (
        conv(image),
        eqx.nn.MaxPool2d(2)(image),
        attention(jnp.ones((5, 4)), jnp.ones((5, 4)), jnp.ones((5, 4))),
        jax.vmap(norm)(X),
        jax.lax.scan(lambda c, x: (cell(x, c), None), jnp.zeros(4), X)[0],
        eqx.nn.Dropout(0.5)(jnp.ones(8), key=keys[3]),
    )


def equinox_errors_and_serialisation():
    import equinox as eqx

    @eqx.filter_jit
    def f(x):
        return eqx.error_if(x, x < 0, "negative")

    try:
        f(jnp.array(-1.0)).block_until_ready()
        caught = 0
    except Exception:
        caught = 1
    net = eqx.nn.Linear(3, 2, key=jax.random.key(0))
    with tempfile.TemporaryDirectory() as folder:
        eqx.tree_serialise_leaves(folder + "/net.eqx", net)
        back = eqx.tree_deserialise_leaves(folder + "/net.eqx", net)
    return caught, f(jnp.array(2.0)), back.weight


def equinox_checkpointed_loops():
    import equinox.internal as eqxi

    def f(x):
        def body(carry):
            i, x = carry
            return i + 1, x + 0.1 * jnp.sin(x)

        _, x = eqxi.while_loop(
            lambda c: c[0] < 7, body, (0, x), kind="checkpointed", checkpoints=3, max_steps=10
        )
        return x

    return f(jnp.array(0.5)), jax.grad(f)(jnp.array(0.5))


def penzai_layers():
    from penzai import pz

    named = pz.nx.wrap(jnp.asarray(X)).tag("batch", "feature")
    return pz.nx.nmap(jnp.sum)(named.untag("feature")).unwrap("batch")


def orbax_checkpoint():
    import orbax.checkpoint as ocp

    tree = {"w": jnp.arange(6.0).reshape(2, 3), "step": jnp.array(3), "b": [jnp.ones(2)]}
    with tempfile.TemporaryDirectory() as folder:
        checkpointer = ocp.StandardCheckpointer()
        checkpointer.save(folder + "/a", tree)
        checkpointer.wait_until_finished()
        back = checkpointer.restore(folder + "/a", jax.eval_shape(lambda: tree))
        with ocp.CheckpointManager(
            folder + "/m", options=ocp.CheckpointManagerOptions(max_to_keep=2)
        ) as manager:
            for step in range(3):
                manager.save(step, args=ocp.args.StandardSave(tree))
            manager.wait_until_finished()
            steps = list(manager.all_steps())
            again = manager.restore(2, args=ocp.args.StandardRestore(tree))
    return back, steps, again


def clu_metrics():
    from clu import metrics

    loss = metrics.Average.from_model_output(jnp.arange(4.0))
    accuracy = metrics.Accuracy.from_model_output(logits=jnp.asarray(X), labels=jnp.arange(8) % 3)
    return loss.merge(loss).compute(), accuracy.compute()


def quax_custom_arrays():
    import equinox as eqx
    import quax
    from quax.examples import lora

    net = eqx.nn.Linear(4, 4, key=jax.random.key(0))
    net = lora.loraify(net, rank=2, key=jax.random.key(1))
    return quax.quaxify(net)(jnp.ones(4))
