"""tests/parity/cases_layers.py - example_libraries: optimizers, schedules, layers."""

import importlib

import numpy as np

import corpus as parity

corpus = parity.Corpus(rtol=1e-4, atol=1e-5)


def library(jax, name):
    return importlib.import_module(f"{jax.__name__}.example_libraries.{name}")


OPTIMIZERS = {
    "sgd": (0.1,),
    "momentum": (0.1, 0.9),
    "nesterov": (0.1, 0.9),
    "adagrad": (0.1,),
    "rmsprop": (0.1,),
    "rmsprop_momentum": (0.1,),
    "adam": (0.1,),
    "adamax": (0.1,),
    "sm3": (0.1,),
}


def train(jax, jnp, lax, name, *options):
    init, update, params = getattr(library(jax, "optimizers"), name)(*options)
    state = init({"w": jnp.arange(6.0).reshape(2, 3) / 6, "b": jnp.array([0.5, 0.0, -0.2])})
    x = jnp.sin(jnp.arange(8.0)).reshape(4, 2)
    for step in range(4):
        p = params(state)
        grads = jax.grad(lambda p: (jnp.tanh(x @ p["w"] + p["b"]) ** 2).sum())(p)
        state = jax.jit(update)(step, grads, state)
    return params(state)


corpus.table({f"{n}{o}": (n, *o) for n, o in OPTIMIZERS.items()}, train)


@corpus.case()
def case_schedules(jax, jnp, lax):
    o = library(jax, "optimizers")
    schedules = [
        o.constant(0.1),
        o.exponential_decay(0.1, 3, 0.5),
        o.inverse_time_decay(0.1, 3, 0.5),
        o.inverse_time_decay(0.1, 3, 0.5, staircase=True),
        o.polynomial_decay(0.1, 4, 0.01, 2.0),
        o.piecewise_constant([2, 4], [1.0, 0.5, 0.1]),
        o.make_schedule(0.3),
    ]
    return [[s(i) for i in range(6)] for s in schedules]


@corpus.case()
def case_schedules_in_an_optimizer(jax, jnp, lax):
    o = library(jax, "optimizers")
    return train(jax, jnp, lax, "momentum", o.exponential_decay(0.1, 3, 0.5), 0.8)


@corpus.case()
def case_clipping(jax, jnp, lax):
    o = library(jax, "optimizers")
    tree = {"a": jnp.arange(3.0), "b": [jnp.ones((2, 2))]}
    return o.l2_norm(tree), o.clip_grads(tree, 1.0), o.clip_grads(tree, 9.0)


@corpus.case()
def case_packing(jax, jnp, lax):
    o = library(jax, "optimizers")
    init, update, params = o.adam(0.1)
    state = update(0, {"w": jnp.ones(2)}, init({"w": jnp.zeros(2)}))
    unpacked = o.unpack_optimizer_state(state)
    return jax.tree_util.tree_leaves(o.pack_optimizer_state(unpacked)), unpacked["w"].subtree


@corpus.case()
def case_pmapped_training(jax, jnp, lax):
    o, stax = library(jax, "optimizers"), library(jax, "stax")
    init, net = stax.serial(stax.Dense(8), stax.Tanh, stax.Dense(1))
    opt_init, opt_update, get_params = o.adam(1e-2)
    _, params = init(jax.random.PRNGKey(0), (-1, 3))
    state = jax.tree_util.tree_map(lambda x: np.stack([x] * 8), opt_init(params))

    def step(i, state, x):
        def loss(p):
            return jnp.mean((net(p, x)[:, 0] - x.sum(1)) ** 2)

        value, grads = jax.value_and_grad(loss)(get_params(state))
        return opt_update(i, lax.pmean(grads, "b"), state), lax.pmean(value, "b")

    step = jax.pmap(step, axis_name="b", in_axes=(None, 0, 0))
    draw, losses = np.random.RandomState(0), []
    for i in range(5):
        state, value = step(i, state, draw.randn(8, 4, 3).astype(np.float32))
        losses.append(value[0])
    return jnp.stack(losses)


LAYERS = {
    "Dense": (lambda s: s.Dense(4), (-1, 3)),
    "Conv": (lambda s: s.Conv(4, (3, 3)), (2, 6, 7, 3)),
    "Conv strides": (lambda s: s.Conv(4, (3, 2), (2, 1), "SAME"), (-1, 6, 7, 3)),
    "GeneralConv": (lambda s: s.GeneralConv(("NCHW", "OIHW", "NHWC"), 4, (2, 3)), (2, 3, 5, 6)),
    "ConvTranspose": (lambda s: s.ConvTranspose(4, (3, 3), (2, 2), "SAME"), (2, 4, 5, 3)),
    "Conv1DTranspose": (lambda s: s.Conv1DTranspose(2, (3,), (2,)), (2, 5, 3)),
    "BatchNorm": (lambda s: s.BatchNorm(), (4, 3, 3, 2)),
    "BatchNorm plain": (lambda s: s.BatchNorm(axis=(0,), center=False, scale=False), (4, 3)),
    "MaxPool": (lambda s: s.MaxPool((2, 2)), (2, 5, 6, 3)),
    "AvgPool": (lambda s: s.AvgPool((3, 2), (2, 2), "SAME"), (2, 5, 6, 3)),
    "SumPool": (lambda s: s.SumPool((2, 2), spec="NCHW"), (2, 3, 5, 6)),
    "Flatten": (lambda s: s.Flatten, (2, 3, 4)),
    "Softmax": (lambda s: s.serial(s.LogSoftmax, s.Softmax), (2, 3)),
    "activations": (
        lambda s: s.serial(
            *(s.Tanh, s.Relu, s.Exp, s.Softplus, s.Sigmoid),
            *(s.Elu, s.LeakyRelu, s.Selu, s.Gelu, s.Identity),
        ),
        (2, 3),
    ),
    "branches": (
        lambda s: s.serial(
            s.FanOut(2), s.parallel(s.Dense(4), s.serial(s.Dense(4), s.Relu)), s.FanInSum
        ),
        (-1, 3),
    ),
    "joined": (
        lambda s: s.serial(s.FanOut(2), s.parallel(s.Dense(2), s.Identity), s.FanInConcat()),
        (-1, 3),
    ),
    "Dropout": (lambda s: s.serial(s.Dense(6), s.Dropout(0.6), s.Dense(2)), (-1, 3)),
    "no Dropout": (lambda s: s.Dropout(0.6, mode="test"), (-1, 3)),
    "shape_dependent": (lambda s: s.shape_dependent(lambda shape: s.Dense(shape[-1])), (-1, 3)),
    "elementwise": (lambda s: s.elementwise(abs), (-1, 3)),
}


def layer(jax, jnp, lax, make, shape):
    init, apply = make(library(jax, "stax"))
    out_shape, params = init(jax.random.PRNGKey(1), shape)
    x = jnp.sin(jnp.arange(float(abs(np.prod(shape))))).reshape([abs(n) for n in shape])
    return [int(n) for n in out_shape], params, apply(params, x, rng=jax.random.PRNGKey(2))


corpus.table(LAYERS, layer)
