# %% [markdown]
# # Chains over devices with numpyro
#
# Which lines go through these points, of which some are wrong? numpyro samples them with NUTS, one
# chain a device: `chain_method="parallel"` is a `pmap`. `install_as_jax` lets it run as it is.

# %%
import shardax

shardax.install_as_jax()

import jax
import matplotlib.pyplot as plt
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer import MCMC, NUTS

chains = min(4, jax.local_device_count())

# %% [markdown]
# ## Data
#
# 60 points near the line 1 + 2 x, and 6 that are far from it.

# %%
rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, 66).astype(np.float32)
y = 1 + 2 * x + rng.normal(0, 0.3, 66).astype(np.float32)
y[60:] += 8
slope, intercept = np.polyfit(x, y, 1)
print(f"least squares: {intercept:.1f} + {slope:.1f} x")

# %% [markdown]
# ## The model
#
# Student's t-distribution has heavy tails: far points count for little.


# %%
def model(x, y=None):
    intercept = numpyro.sample("intercept", dist.Normal(0.0, 5.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 5.0))
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    with numpyro.plate("points", len(x)):
        numpyro.sample("y", dist.StudentT(2.0, intercept + slope * x, scale), obs=y)


# %% [markdown]
# ## Sampling

# %%
sampler = MCMC(
    NUTS(model), num_warmup=300, num_samples=500, num_chains=chains, chain_method="parallel"
)
sampler.run(jax.random.key(0), x, y)
draws = sampler.get_samples(group_by_chain=True)
print("draws of a parameter:", draws["slope"].shape == (chains, 500))

# %% [markdown]
# ## Results
#
# The spread between chains is that within them (r-hat near 1), and the line is the right one.

# %%
for name, truth in (("intercept", 1.0), ("slope", 2.0)):
    values = np.asarray(draws[name])
    close = abs(values.mean() - truth) < 3 * values.std()
    print(f"{name}: about {values.mean():.1f}")
    print(f"{name}: the truth is near: {close}")
    mixed = split_gelman_rubin(values) < 1.05 and effective_sample_size(values) > 100
    print(f"{name}: chains agree: {bool(mixed)}")

# %% [markdown]
# Lines that were drawn, beside that of least squares, and the chains' draws of the slope:

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
ends = np.array([-2.0, 2.0])
for a, b in zip(draws["intercept"][:, ::50].reshape(-1), draws["slope"][:, ::50].reshape(-1)):
    left.plot(ends, a + b * ends, color="tab:blue", linewidth=0.4)
left.plot(ends, intercept + slope * ends, "r--", label="least squares")
left.scatter(x, y, s=8, color="black", zorder=3)
left.set(xlabel="x", ylabel="y")
left.legend()
for chain in draws["slope"]:
    right.plot(chain, linewidth=0.5)
right.set(xlabel="draw", ylabel="slope")
plt.show()
