"""tests/ecosystem/programs.py - small programs of libraries for JAX.

    python -m shardax tests/ecosystem/programs.py optax flax     (or with JAX, without -m shardax)

prints their results as JSON. Each function takes nothing and returns a tree of arrays and numbers;
its name starts with the library's. What a program draws at random is drawn from keys.
"""

import json
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from tables import LIBRARIES

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
Y = np.float32(X @ [1.0, -2.0, 0.5])[:, None]


def optax_adam_with_a_schedule():
    import optax

    tx = optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(0.1, 20))
    )

    def loss(w):
        return jnp.mean((X @ w - Y) ** 2)

    @jax.jit
    def step(w, state):
        value, grads = jax.value_and_grad(loss)(w)
        updates, state = tx.update(grads, state, w)
        return optax.apply_updates(w, updates), state, value

    w = jnp.zeros((3, 1))
    state = tx.init(w)
    values = []
    for _ in range(10):
        w, state, value = step(w, state)
        values.append(value)
    return w, values


def optax_losses():
    import optax

    logits = jnp.asarray(X)
    labels = jnp.arange(8) % 3
    return (
        optax.softmax_cross_entropy_with_integer_labels(logits, labels),
        optax.sigmoid_binary_cross_entropy(logits, jnp.ones_like(logits)),
        optax.huber_loss(logits),
        optax.cosine_similarity(logits, logits[::-1]),
        optax.tree.norm({"a": logits}),
    )


def optax_lbfgs():
    import optax

    def f(w):
        return jnp.sum((w - jnp.arange(3.0)) ** 2) + jnp.sum(w**4)

    tx = optax.lbfgs()
    w = jnp.ones(3)
    state = tx.init(w)
    step = optax.value_and_grad_from_state(f)
    for _ in range(5):
        value, grad = step(w, state=state)
        updates, state = tx.update(grad, state, w, value=value, grad=grad, value_fn=f)
        w = optax.apply_updates(w, updates)
    return w


def chex_assertions_and_dataclasses():
    import chex

    @chex.dataclass
    class Point:
        x: chex.Array
        y: chex.Array

    p = Point(x=jnp.ones(2), y=jnp.zeros(3))
    chex.assert_shape(p.x, (2,))
    chex.assert_tree_all_finite(p)
    chex.assert_trees_all_close(p, jax.tree.map(lambda v: v + 0, p))
    try:
        chex.assert_rank(p.x, 2)
        caught = 0
    except AssertionError:
        caught = 1

    @jax.jit
    @chex.assert_max_traces(n=1)
    def f(x):
        return x + 1

    return jax.tree.map(lambda v: 2 * v, p), caught, f(1), f(2)


def chex_variants():
    import chex

    with chex.fake_pmap_and_jit():
        return jax.pmap(lambda x: 2 * x)(jnp.arange(4.0))


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


def diffrax_solve():
    import diffrax

    def solve(rate):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(lambda t, y, args: -args * y),
            diffrax.Tsit5(),
            t0=0,
            t1=2,
            dt0=0.1,
            y0=jnp.array([1.0, 2.0]),
            args=rate,
            saveat=diffrax.SaveAt(ts=jnp.linspace(0, 2, 5)),
            stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6),
        )
        return solution.ys

    return solve(jnp.array(0.7)), jax.grad(lambda r: solve(r)[-1].sum())(jnp.array(0.7))


def diffrax_stochastic():
    import diffrax

    motion = diffrax.VirtualBrownianTree(0.0, 1.0, tol=1e-2, shape=(), key=jax.random.key(0))
    terms = diffrax.MultiTerm(
        diffrax.ODETerm(lambda t, y, args: -y),
        diffrax.ControlTerm(lambda t, y, args: 0.1, motion),
    )
    return diffrax.diffeqsolve(terms, diffrax.Euler(), 0.0, 1.0, 0.05, jnp.array(1.0)).ys


def lineax_solve():
    import lineax as lx

    a = jnp.asarray(np.diag([2.0, 3.0, 4.0]) + 0.1, jnp.float32)
    b = jnp.arange(3.0)
    operator = lx.MatrixLinearOperator(a)
    spd = lx.MatrixLinearOperator(a, lx.positive_semidefinite_tag)
    return (
        lx.linear_solve(spd, b, lx.Cholesky()).value,
        lx.linear_solve(spd, b, lx.CG(1e-6, 1e-6)).value,
        lx.linear_solve(operator, b, lx.BiCGStab(1e-5, 1e-5)).value,
        jax.grad(lambda v: lx.linear_solve(spd, v, lx.Cholesky()).value.sum())(b),
    )


def optimistix_minimise():
    import optimistix as optx

    def f(y, args):
        return jnp.sum((y - args) ** 2) + jnp.sum(y**4)

    bfgs = optx.minimise(f, optx.BFGS(1e-5, 1e-5), jnp.ones(2), jnp.arange(2.0))
    newton = optx.root_find(
        lambda y, _: y**2 - 2, optx.Bisection(1e-5, 1e-5), 1.0, options={"lower": 0.0, "upper": 2.0}
    )
    return bfgs.value, newton.value


def jaxopt_minimise():
    import jaxopt

    def f(w):
        return jnp.sum((X @ w - Y[:, 0]) ** 2)

    run = jaxopt.LBFGS(f, maxiter=20).run(jnp.zeros(3))
    line = jaxopt.GradientDescent(f, maxiter=30).run(jnp.zeros(3))
    return run.params, line.params


def jraph_graph():
    import jraph

    graph = jraph.GraphsTuple(
        nodes=jnp.arange(6.0).reshape(3, 2),
        edges=jnp.ones((4, 1)),
        senders=jnp.array([0, 1, 2, 0]),
        receivers=jnp.array([1, 2, 0, 2]),
        n_node=jnp.array([3]),
        n_edge=jnp.array([4]),
        globals=jnp.zeros((1, 1)),
    )
    net = jraph.GraphNetwork(
        update_edge_fn=lambda e, s, r, g: e + s.sum(-1, keepdims=True),
        update_node_fn=lambda n, s, r, g: n + r,
        update_global_fn=lambda n, e, g: g + n.sum(-1, keepdims=True),
    )
    out = net(jraph.pad_with_graphs(graph, 5, 6))
    return out.nodes, out.edges, out.globals


def tinygp_regression():
    import tinygp

    kernel = 1.5 * tinygp.kernels.Matern32(0.7)
    x = jnp.linspace(0, 1, 8)
    gp = tinygp.GaussianProcess(kernel, x, diag=0.1)
    y = jnp.sin(5 * x)
    return gp.log_probability(y), gp.condition(y, jnp.array([0.3, 0.6])).gp.loc


def distrax_distributions():
    import distrax

    normal = distrax.MultivariateNormalDiag(jnp.zeros(3), jnp.ones(3))
    flow = distrax.Transformed(
        distrax.Normal(0.0, 1.0), distrax.Chain([distrax.Tanh(), distrax.ScalarAffine(0.1, 2.0)])
    )
    sample, log_prob = flow.sample_and_log_prob(seed=jax.random.key(0))
    categorical = distrax.Categorical(logits=jnp.arange(4.0))
    return (
        normal.log_prob(X),
        normal.entropy(),
        sample,
        log_prob,
        categorical.sample(seed=jax.random.key(1), sample_shape=(5,)),
        categorical.kl_divergence(distrax.Categorical(logits=jnp.zeros(4))),
        distrax.Lambda(lambda x: 2 * x + 1).inverse(3.0),
    )


def rlax_returns():
    import rlax

    r, d = jnp.arange(5.0), jnp.full(5, 0.9)
    v = jnp.linspace(1, 2, 5)
    return (
        rlax.lambda_returns(r, d, v, 0.8),
        rlax.td_learning(v[0], r[0], d[0], v[1]),
        rlax.vtrace(v, v + 0.1, r, d, jnp.ones(5)),
        rlax.categorical_cross_entropy(jnp.array([0.2, 0.8]), jnp.array([1.0, 2.0])),
    )


def mctx_search():
    import mctx

    def recurrent(params, key, action, embedding):
        out = mctx.RecurrentFnOutput(
            reward=action.astype(jnp.float32) / 3,
            discount=jnp.full(action.shape, 0.9),
            prior_logits=jnp.zeros((*action.shape, 3)),
            value=embedding,
        )
        return out, embedding + 0.1

    root = mctx.RootFnOutput(
        prior_logits=jnp.zeros((2, 3)), value=jnp.zeros(2), embedding=jnp.zeros(2)
    )
    out = mctx.gumbel_muzero_policy(
        None, jax.random.key(0), root, recurrent, num_simulations=8, max_num_considered_actions=3
    )
    return out.action, out.action_weights


def dm_pix_images():
    import dm_pix as pix

    image = jnp.asarray(np.linspace(0, 1, 6 * 6 * 3, dtype=np.float32).reshape(6, 6, 3))
    return (
        pix.adjust_brightness(image, 0.1),
        pix.rgb_to_hsv(image),
        pix.flip_left_right(image),
        pix.random_crop(jax.random.key(0), image, (3, 3, 3)),
        pix.psnr(image[None], image[None] * 0.9),
    )


def evosax_strategy():
    from evosax.algorithms import SimpleGA

    strategy = SimpleGA(population_size=8, solution=jnp.zeros(3))
    params = strategy.default_params
    first = jax.random.normal(jax.random.key(9), (8, 3))
    state = strategy.init(jax.random.key(0), first, jnp.sum(first**2, -1), params)
    for i in range(3):
        key = jax.random.key(i)
        population, state = strategy.ask(key, state, params)
        state, _ = strategy.tell(key, population, jnp.sum((population - 1) ** 2, -1), state, params)
    return population


def penzai_layers():
    from penzai import pz

    named = pz.nx.wrap(jnp.asarray(X)).tag("batch", "feature")
    return pz.nx.nmap(jnp.sum)(named.untag("feature")).unwrap("batch")


def treescope_text():
    import treescope

    return len(treescope.render_to_text({"a": jnp.ones(3)})) > 5


def einops_rearrangements():
    from einops import rearrange, reduce, repeat

    x = jnp.asarray(X)
    return (
        rearrange(x, "(a b) c -> b (a c)", a=2),
        reduce(x, "a c -> c", "mean"),
        repeat(x[:2], "a c -> a c k", k=2),
        jax.jit(lambda v: rearrange(v, "a c -> c a"))(x),
    )


def jaxtyping_checks():
    from beartype import beartype
    from jaxtyping import Array, Float, jaxtyped

    @jaxtyped(typechecker=beartype)
    def f(x: Float[Array, "n m"], y: Float[Array, "m"]) -> Float[Array, "n"]:
        return x @ y

    try:
        f(jnp.ones((2, 3)), jnp.ones(2))
        caught = 0
    except Exception:
        caught = 1
    return f(jnp.ones((2, 3)), jnp.ones(3)), caught


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


def folx_laplacian():
    import folx

    return folx.forward_laplacian(lambda x: jnp.sum(jnp.sin(x) ** 2))(jnp.arange(3.0)).laplacian


def jaxlie_poses():
    import jaxlie

    pose = jaxlie.SE3.exp(jnp.arange(6.0) / 6)
    return pose.log(), pose.inverse().as_matrix(), (pose @ pose).apply(jnp.ones(3))


def tfp_distributions():
    import tensorflow_probability.substrates.jax as tfp

    tfd, tfb = tfp.distributions, tfp.bijectors
    mixture = tfd.MixtureSameFamily(
        tfd.Categorical(logits=jnp.zeros(2)), tfd.Normal(jnp.array([-1.0, 1.0]), 1.0)
    )
    return (
        mixture.log_prob(jnp.linspace(-2, 2, 5)),
        tfd.Gamma(2.0, 3.0).log_prob(jnp.array([0.5, 1.5])),
        tfd.Normal(0.0, 1.0).sample(3, seed=jax.random.key(0)),
        tfb.Softplus().inverse(jnp.array([0.5, 2.0])),
        jax.grad(lambda s: tfd.StudentT(3.0, 0.0, s).log_prob(0.7))(1.3),
    )


def jmp_policies():
    import jmp

    policy = jmp.get_policy("params=float32,compute=bfloat16,output=float32")
    scale = jmp.DynamicLossScale(jnp.array(8.0))
    half = policy.cast_to_compute({"a": jnp.asarray(X)})["a"]
    return (
        policy.cast_to_output(half @ half.T),
        scale.scale(jnp.ones(2)),
        scale.adjust(jnp.array(False)),
    )


def numpyro_densities():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.handlers import condition, seed, substitute, trace
    from numpyro.infer.util import log_density

    def model(x, y=None):
        weights = numpyro.sample("weights", dist.Normal(0.0, 1.0).expand([3]).to_event(1))
        scale = numpyro.sample("scale", dist.HalfCauchy(1.0))
        with numpyro.plate("points", len(x)):
            numpyro.sample("y", dist.StudentT(3.0, x @ weights, scale), obs=y)

    drawn = trace(seed(model, jax.random.key(0))).get_trace(X)
    values = {"weights": jnp.array([1.0, -1.0, 0.5]), "scale": jnp.array(0.3)}
    density, _ = log_density(model, (X, Y[:, 0]), {}, values)
    sites = trace(substitute(condition(seed(model, 1), {"y": Y[:, 0]}), values)).get_trace(X)
    return {k: v["value"] for k, v in drawn.items() if k != "points"}, density, list(sites)


def numpyro_nuts():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    def model():
        numpyro.sample(
            "x", dist.MultivariateNormal(jnp.zeros(2), jnp.array([[1.0, 0.5], [0.5, 2]]))
        )

    sampler = MCMC(NUTS(model), num_warmup=10, num_samples=3, num_chains=2, progress_bar=False)
    sampler.run(jax.random.key(1))
    return sampler.get_samples(group_by_chain=True)["x"].shape


def numpyro_svi():
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.autoguide import AutoNormal

    def model(y):
        mean = numpyro.sample("mean", dist.Normal(0.0, 1.0))
        numpyro.sample("y", dist.Normal(mean, 1.0), obs=y)

    guide = AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(0.1), Trace_ELBO())
    result = svi.run(jax.random.key(0), 20, jnp.asarray(Y[:, 0]), progress_bar=False)
    return result.params, result.losses[-1]


def optree_trees():
    import optree
    from optree.integrations.jax import tree_ravel

    flat, unravel = tree_ravel({"a": jnp.asarray(X), "b": jnp.arange(3)})
    return flat, optree.tree_map(lambda v: v + 1, unravel(flat))


def quax_custom_arrays():
    import equinox as eqx
    import quax
    from quax.examples import lora

    net = eqx.nn.Linear(4, 4, key=jax.random.key(0))
    net = lora.loraify(net, rank=2, key=jax.random.key(1))
    return quax.quaxify(net)(jnp.ones(4))


PROGRAMS = {
    name: value
    for name, value in sorted(globals().items())
    if callable(value) and getattr(value, "__module__", None) == __name__
}


def library_of(program):
    return next(name for name in LIBRARIES if program.startswith(name + "_"))


def plain(x):
    """A result as JSON: arrays as lists of numbers."""
    if isinstance(x, (str, bool)):
        return x
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in sorted(x.items())}
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return [plain(v) for v in x]
    leaves = jax.tree.leaves(x)
    if len(leaves) == 1 and leaves[0] is x:
        return np.vectorize(lambda v: float(f"{v:.6g}"), otypes=[float])(np.asarray(x)).tolist()
    return [plain(v) for v in leaves]


def main(libraries):
    out = {}
    for name, program in PROGRAMS.items():
        if name == "main" or not any(name.startswith(lib + "_") for lib in LIBRARIES):
            continue
        if libraries and library_of(name) not in libraries:
            continue
        try:
            out[name] = plain(program())
        except Exception as error:
            out[name] = {"error": f"{type(error).__name__}: {error}"[:300]}
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
