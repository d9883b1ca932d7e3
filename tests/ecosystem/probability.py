"""tests/ecosystem/probability.py - programs of libraries for distributions and inference."""

import jax
import jax.numpy as jnp
from data import X, Y


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
