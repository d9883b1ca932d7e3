"""tests/parity/cases_nn.py - `jax.nn`, `jax.scipy` functions, initializers, trees, and classifiers trained under pmap."""

import contextlib
import importlib

import numpy as np

import corpus as parity


def setup(names):
    jax, jnp = names["jax"], names["jnp"]
    names.update(
        grad=jax.grad, vmap=jax.vmap, v=jnp.asarray(np.float32([-4, -1, -0.5, 0, 0.5, 1, 4, 20]))
    )
    names["key"] = jax.random.PRNGKey(0)
    names["both"] = lambda f: (
        f(names["v"]),
        jax.grad(lambda x: (f(x) * x).sum())(names["v"]),
        f(names["v"].astype(jnp.bfloat16)),
        parity.attempt(lambda: f(2.0)),
    )
    names["bend"] = lambda f: jax.vmap(jax.grad(jax.grad(f)))(names["v"])
    with contextlib.suppress(ImportError):
        names["ravel_pytree"] = importlib.import_module(f"{jax.__name__}.flatten_util").ravel_pytree


corpus = parity.Corpus(setup, rtol=1e-5, atol=1e-6)

ACTIVATIONS = """relu relu6 sigmoid softplus silu swish gelu elu selu celu leaky_relu log_sigmoid soft_sign hard_tanh hard_sigmoid
    hard_silu squareplus mish tanh softmax log_softmax standardize identity sparse_plus sparse_sigmoid""".split()
corpus.expressions("\n".join(f"both(nn.{name})" for name in ACTIVATIONS))
SMOOTH = (
    """sigmoid softplus silu elu selu celu log_sigmoid soft_sign squareplus mish tanh""".split()
)
corpus.expressions("\n".join(f"bend(nn.{name})" for name in SMOOTH))
corpus.expressions("""
bend(jnp.sinc)
bend(lambda x: jnp.logaddexp(x, 1.5))
bend(lambda x: jnp.logaddexp2(1.5, x))
[grad(f)(x) for f in (nn.softplus, nn.log_sigmoid) for x in (jnp.inf, -jnp.inf)]
[grad(jnp.logaddexp, argnums=(0, 1))(a, b) for a, b in ((jnp.inf, 0.), (-jnp.inf, 0.), (jnp.inf, jnp.inf), (-jnp.inf, -jnp.inf))]
jax.jacobian(lambda x: nn.softmax(x, where=jnp.array([True, False, True])))(jnp.float32([1, jnp.inf, 3]))
jax.jacobian(lambda x: nn.log_softmax(x, where=jnp.array([True, False, True])))(jnp.float32([1, jnp.inf, 3]))
[f(jnp.zeros((0, 3)), axis=a).shape for f in (nn.softmax, nn.log_softmax) for a in (0, 1)]
""")

corpus.expressions("""
nn.relu(i4)
nn.relu(5)
nn.sigmoid(i4) !! does not accept dtype int32
nn.gelu(v, approximate=False)
nn.leaky_relu(v, 0.2)
nn.elu(v, alpha=2.0)
nn.softmax(m23)
nn.softmax(m23, axis=0)
nn.softmax(m23, axis=(0, 1))
nn.softmax(jnp.float32([1000., 0., -1000.]))
nn.softmax(jnp.float32([-jnp.inf, 0., 1.]))
nn.softmax(m23, where=m23 > 0)
nn.softmax(i4)
nn.softmax(e03)
nn.log_softmax(m23)
nn.log_softmax(m23, axis=0)
nn.log_softmax(jnp.float32([1000., 0.]))
grad(lambda x: nn.log_softmax(x)[0, 1])(m23)
grad(lambda x: nn.softmax(x)[0, 1])(m23)
jax.hessian(lambda x: nn.logsumexp(x))(x4)
nn.logsumexp(m23)
nn.logsumexp(m23, axis=1)
nn.logsumexp(m23, axis=1, keepdims=True)
nn.logsumexp(m23, axis=0, b=jnp.abs(m23))
nn.logsumexp(jnp.float32([-jnp.inf, -jnp.inf]))
nn.logsumexp(m23, axis=0, b=m23, return_sign=True)
nn.one_hot(i4, 4)
nn.one_hot(i4, 3)
nn.one_hot(jnp.array([-1, 9]), 3)
nn.one_hot(2, 4)
nn.one_hot(i23 % 2, 2, dtype=jnp.int8)
nn.one_hot(i4, 3, axis=0)
nn.glu(f4)
nn.glu(m33[:, :2], axis=1)
nn.standardize(m23)
nn.standardize(m23, axis=0, epsilon=1e-3)
nn.dot_product_attention(t234[None, 0][..., None, :], t234[None, 1][..., None, :], t234[None, 0][..., None, :])
nn.dot_product_attention(t234[None, 0][..., None, :] / 9, t234[None, 1][..., None, :] / 9, t234[None, 0][..., None, :], is_causal=True)
jax.nn.initializers.zeros(key, (2, 2))
jax.nn.initializers.ones(key, (2,), jnp.bfloat16)
jax.nn.initializers.constant(3.)(key, (2,))
jax.nn.initializers.normal()(key, (3,))
jax.nn.initializers.normal(1.)(key, (3,), jnp.bfloat16)
jax.nn.initializers.uniform()(key, (3,))
jax.nn.initializers.truncated_normal()(key, (3,))
jax.nn.initializers.glorot_uniform()(key, (3, 4))
jax.nn.initializers.glorot_normal()(key, (3, 4))
jax.nn.initializers.he_normal()(key, (3, 4))
jax.nn.initializers.he_uniform()(key, (3, 4))
jax.nn.initializers.lecun_normal()(key, (3, 4))
jax.nn.initializers.lecun_uniform()(key, (2, 3, 4))
jax.nn.initializers.xavier_uniform()(key, (2, 2))
jax.nn.initializers.kaiming_normal()(key, (2, 2))
jax.nn.initializers.variance_scaling(2., 'fan_avg', 'uniform')(key, (2, 2))
jnp.abs(jax.nn.initializers.orthogonal()(key, (2, 2)))
jax.scipy.special.logsumexp(m23)
jax.scipy.special.erf(x4)
jax.scipy.special.erfinv(x4 / 4)
jax.scipy.special.expit(x4)
jax.scipy.special.logit(jnp.float32([0.1, 0.5]))
jax.scipy.special.gammaln(f4 + 0.5)
jax.scipy.special.digamma(f4 + 0.5)
jax.scipy.special.xlogy(f4, f4)
grad(lambda x: jax.scipy.special.xlogy(x, 2.0))(0.0)
jax.scipy.special.entr(f4 / 4)
jax.scipy.special.ndtr(x4)
jax.scipy.stats.norm.logpdf(x4)
jax.scipy.stats.norm.pdf(x4, 1., 2.)
jax.scipy.stats.norm.cdf(x4)
jax.scipy.linalg.solve_triangular(jnp.tril(m33), f4[:3], lower=True)
ravel_pytree({'a': f4, 'b': [f0]})[0]
ravel_pytree({'a': f4, 'b': [f0]})[1](jnp.arange(5.0))
jax.tree.map(lambda a, b: a + b, {'a': f4, 'b': (f0, None)}, {'a': x4, 'b': (f0, None)})
jax.tree.leaves({'b': 1, 'a': [2, None, (3,)]})
str(jax.tree.structure({'a': (1, None, [2]), 'b': 3}))
jax.tree.reduce(lambda a, b: a + b, {'a': 1, 'b': [2, 3]})
jax.tree.transpose(jax.tree.structure([0, 0]), jax.tree.structure({'a': 0}), [{'a': 1}, {'a': 2}])
jax.tree.all([True, False])
[jax.tree_util.keystr(p) for p, _ in jax.tree_util.tree_flatten_with_path({'a': [1, (2,)]})[0]]
jax.tree_util.tree_map_with_path(lambda p, x: (jax.tree_util.keystr(p), x), {'a': [1]})
""")


def problem(jnp, devices):
    """Sixty-four points in the plane with integer labels, split over devices, and a small network."""
    i = np.arange(64, dtype=np.float32)
    x = np.stack([np.sin(i * 1.7) + 0.1 * np.cos(i * 5), np.cos(i * 2.3)], 1)
    y = ((x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0.3)).astype(np.int32)
    w = [
        np.sin(np.arange(n, dtype=np.float32) * 1.3 + k).reshape(s) / 2
        for k, (n, s) in enumerate([(16, (2, 8)), (24, (8, 3))])
    ]
    params = [{"w": jnp.asarray(v), "b": jnp.zeros(v.shape[1])} for v in w]
    return params, jnp.asarray(x).reshape(devices, -1, 2), jnp.asarray(y).reshape(devices, -1)


def classifier(jax, jnp, lax, optimizer, devices, hidden="relu", loss_kind="labels", steps=8):
    """An MLP with softmax cross-entropy, replicated by stacking, its gradients averaged by pmean. Returns losses and parameters."""
    tree = jax.tree_util.tree_map
    params, xs, ys = problem(jnp, devices)

    def logits(p, x):
        return getattr(jax.nn, hidden)(x @ p[0]["w"] + p[0]["b"]) @ p[1]["w"] + p[1]["b"]

    def loss(p, x, y):
        logp = jax.nn.log_softmax(logits(p, x))
        if loss_kind == "labels":
            return -jnp.take_along_axis(logp, y[:, None], axis=1).mean()
        if loss_kind == "indexing":
            return -logp[jnp.arange(y.shape[0]), y].mean()
        return -(jax.nn.one_hot(y, 3) * logp).sum(axis=-1).mean()

    def sgd(p, s, g):
        return tree(lambda a, b: a - 0.5 * b, p, g), s

    def momentum(p, s, g):
        s = tree(lambda m, b: 0.9 * m + b, s, g)
        return tree(lambda a, m: a - 0.1 * m, p, s), s

    def adam(p, s, g):
        t, m, v = s
        t = t + 1
        m = tree(lambda a, b: 0.9 * a + 0.1 * b, m, g)
        v = tree(lambda a, b: 0.999 * a + 0.001 * b**2, v, g)

        def update(a, b, c):
            return a - 0.05 * (b / (1 - 0.9**t)) / (jnp.sqrt(c / (1 - 0.999**t)) + 1e-8)

        return tree(update, p, m, v), (t, m, v)

    def step(p, s, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        g = lax.pmean(g, axis_name="batch")
        p, s = {"sgd": sgd, "momentum": momentum, "adam": adam}[optimizer](p, s, g)
        right = (logits(p, x).argmax(axis=1) == y).mean()
        return p, s, lax.pmean(value, "batch"), lax.pmean(right, "batch")

    zeros = tree(jnp.zeros_like, params)
    state = {"sgd": (), "momentum": zeros, "adam": (jnp.zeros(()), zeros, zeros)}[optimizer]
    params, state = tree(lambda a: jnp.stack([a] * devices), (params, state))
    train, history = jax.pmap(step, axis_name="batch"), []
    for _ in range(steps):
        params, state, value, right = train(params, state, xs, ys)
        history.append((value[0], right[-1]))
    return history, tree(lambda a: a[0], params)


corpus.table(
    {
        f"classifier with {o} on {n} devices": (o, n)
        for o in ("sgd", "momentum", "adam")
        for n in (1, 2, 4, 8)
    },
    classifier,
    rtol=2e-4,
    atol=2e-5,
)
corpus.table(
    {
        f"classifier with {h} and {k}": ("sgd", 4, h, k)
        for h in ("tanh", "gelu", "silu")
        for k in ("onehot", "indexing")
    },
    classifier,
    rtol=2e-4,
    atol=2e-5,
)


@corpus.case(rtol=1e-4, atol=1e-5)
def case_linear_regression_inside_scan(jax, jnp, lax):
    x = jnp.asarray(np.sin(np.arange(32, dtype=np.float32)).reshape(4, 8))
    y = 3 * x + 0.5

    def step(p, _):
        value, g = jax.value_and_grad(
            lambda p: ((p[0] * x_local() + p[1] - y_local()) ** 2).mean()
        )(p)
        return jax.tree_util.tree_map(lambda a, b: a - 0.3 * lax.pmean(b, "i"), p, g), lax.pmean(
            value, "i"
        )

    x_local = lambda: x[lax.axis_index("i")]  # noqa: E731
    y_local = lambda: y[lax.axis_index("i")]  # noqa: E731
    run = jax.pmap(lambda _: lax.scan(step, (jnp.float32(0), jnp.float32(0)), None, length=10), "i")
    return run(jnp.arange(4))


@corpus.case(rtol=1e-4, atol=1e-5)
def case_batch_norm_with_synchronised_statistics(jax, jnp, lax):
    def normal(x, scale):
        mean = lax.pmean(x.mean(0), "i")
        var = lax.pmean((x**2).mean(0), "i") - mean**2
        return (x - mean) * lax.rsqrt(var + 1e-5) * scale

    x = jnp.asarray(np.sin(np.arange(48, dtype=np.float32)).reshape(4, 4, 3))
    loss = lambda s, x: (normal(x, s) ** 3).sum()  # noqa: E731
    s = jnp.ones((4, 3))
    return jax.pmap(normal, "i")(x, s), jax.pmap(jax.grad(loss, (0, 1)), "i")(s, x)


@corpus.case(rtol=1e-4, atol=1e-5)
def case_gradient_clipping_and_weight_decay(jax, jnp, lax):
    def step(w, x, y):
        g = lax.pmean(jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w), "i")
        norm = jnp.sqrt(jnp.sum(g**2))
        g = g * jnp.minimum(1.0, 0.5 / (norm + 1e-6))
        return w * (1 - 0.01) - 0.1 * g, norm

    x = jnp.asarray(np.cos(np.arange(24, dtype=np.float32)).reshape(2, 4, 3))
    w, norms = jnp.zeros((2, 3)), []
    for _ in range(4):
        w, norm = jax.pmap(step, "i")(w, x, x.sum(-1))
        norms.append(norm)
    return w, norms


@corpus.case(rtol=1e-5)
def case_dropout_with_a_key_for_each_device(jax, jnp, lax):
    def apply(key, x):
        keep = jax.random.bernoulli(jax.random.fold_in(key, lax.axis_index("i")), 0.5, x.shape)
        return jnp.where(keep, x / 0.5, 0.0)

    return jax.pmap(apply, "i", in_axes=(None, 0))(jax.random.PRNGKey(5), jnp.ones((4, 6)))


@corpus.case(rtol=1e-4, atol=1e-5)
def case_ensemble_by_vmap_inside_pmap(jax, jnp, lax):
    x = jnp.asarray(np.sin(np.arange(16, dtype=np.float32)).reshape(2, 8))
    loss = lambda w, x: jnp.mean((jnp.tanh(w * x) - x) ** 2)  # noqa: E731

    def step(ws, x):
        g = jax.vmap(jax.grad(loss), (0, None))(ws, x)
        return ws - lax.pmean(g, "i")

    return jax.pmap(step, "i", in_axes=(None, 0))(jnp.arange(3.0), x)
