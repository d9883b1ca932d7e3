"""tests/ecosystem/numerics.py - programs of libraries for solvers, models, games, trees."""

import jax
import jax.numpy as jnp
import numpy as np
from data import X, Y


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


def folx_laplacian():
    import folx

    return folx.forward_laplacian(lambda x: jnp.sum(jnp.sin(x) ** 2))(jnp.arange(3.0)).laplacian


def jaxlie_poses():
    import jaxlie

    pose = jaxlie.SE3.exp(jnp.arange(6.0) / 6)
    return pose.log(), pose.inverse().as_matrix(), (pose @ pose).apply(jnp.ones(3))


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


def optree_trees():
    import optree
    from optree.integrations.jax import tree_ravel

    flat, unravel = tree_ravel({"a": jnp.asarray(X), "b": jnp.arange(3)})
    return flat, optree.tree_map(lambda v: v + 1, unravel(flat))
