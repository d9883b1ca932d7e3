# %% [markdown]
# # A neural differential equation with equinox, diffrax and optax
#
# A network is the right-hand side of a differential equation, and is fitted so that solutions
# follow those of a damped oscillator. `install_as_jax` lets the libraries run as they are.

# %%
import shardax

shardax.install_as_jax()

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import optax

curves, points, steps = 32, 20, 300

# %% [markdown]
# ## Data
#
# Positions and velocities of the oscillator, from random starts, as diffrax solves its equation.


# %%
def oscillator(t, y, args):
    position, velocity = y
    return jnp.stack([velocity, -2.0 * position - 0.3 * velocity])


def solve(field, y0, ts, progress=None):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(field),
        diffrax.Tsit5(),
        t0=ts[0],
        t1=ts[-1],
        dt0=0.1,
        y0=y0,
        saveat=diffrax.SaveAt(ts=ts),
        stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-4),
        progress_meter=progress or diffrax.NoProgressMeter(),
    )
    return solution.ys


ts = jnp.linspace(0.0, 4.0, points)
starts = jax.random.uniform(jax.random.key(0), (curves, 2), minval=-1.0, maxval=1.0)
wanted = jax.vmap(solve, in_axes=(None, 0, None))(oscillator, starts, ts)
print("data:", wanted.shape)

# %% [markdown]
# ## The model: a network as a field of directions


# %%
class Field(eqx.Module):
    network: eqx.nn.MLP

    def __init__(self, key):
        self.network = eqx.nn.MLP(2, 2, width_size=24, depth=2, activation=jnp.tanh, key=key)

    def __call__(self, t, y, args):
        return self.network(y)


model = Field(jax.random.key(1))
optimizer = optax.adam(optax.cosine_decay_schedule(1e-2, steps))


@eqx.filter_value_and_grad
def loss_and_gradient(model, starts, wanted):
    found = jax.vmap(solve, in_axes=(None, 0, None))(model, starts, ts)
    return jnp.mean((found - wanted) ** 2)


@eqx.filter_jit
def step(model, state, starts, wanted):
    loss, gradient = loss_and_gradient(model, starts, wanted)
    updates, state = optimizer.update(gradient, state, model)
    return eqx.apply_updates(model, updates), state, loss


# %% [markdown]
# ## Training
#
# Gradients go back through the solver, which chooses its own steps.

# %%
state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
for i in range(steps):
    model, state, loss = step(model, state, starts, wanted)
    if i % 100 == 0:
        print(f"step {i:3d}  loss {loss:.4f}")
print("last loss below 0.001:", bool(loss < 1e-3))

# %% [markdown]
# ## Further than it was trained for
#
# Twice as long, from a start that it has not seen, with diffrax's progress meter.

# %%
later = jnp.linspace(0.0, 8.0, 81)
start = jnp.array([0.8, 0.0])
found = solve(model, start, later, diffrax.TqdmProgressMeter())
expected = solve(oscillator, start, later)
print("     t  learnt    true")
for t, a, b in list(zip(later, found[:, 0], expected[:, 0]))[::10]:
    print(f"{t:6.1f} {a:7.2f} {b:7.2f}")
print("close to the truth:", bool((jnp.abs(found - expected) < 0.1).all()))

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
left.plot(later, expected[:, 0], "k:", label="true")
left.plot(later, found[:, 0], label="learnt")
left.axvspan(0, 4, color="whitesmoke", zorder=0, label="trained")
left.set(xlabel="time", ylabel="position")
left.legend()
right.plot(*expected.T, "k:")
right.plot(*found.T)
right.set(xlabel="position", ylabel="velocity")
plt.show()
