# %% [markdown]
# # A wave on a string, cut into pieces
#
# A string is fixed at both ends and plucked at one quarter. Its height u obeys u_tt = u_xx; a step
# in time needs the heights at both neighbours. Each device holds a piece of the string.

# %%
import matplotlib.pyplot as plt
import shardax
import shardax.numpy as jnp
from shardax import lax

n = shardax.local_device_count()
points, courant = 256, 0.5  # courant: time step over distance between points
per_device = points // n
period = int(2 * (points + 1) / courant)  # steps until the string is as it was

# %% [markdown]
# ## Neighbours, and the ends of the string
#
# A device that nobody sends to gets zeros from `ppermute`: exactly what a fixed end needs.

# %%
to_right = [(i, i + 1) for i in range(n - 1)]
to_left = [(i + 1, i) for i in range(n - 1)]


def second_difference(u):
    left = lax.ppermute(u[-1:], "string", to_right)
    right = lax.ppermute(u[:1], "string", to_left)
    padded = jnp.concatenate([left, u, right])
    return padded[:-2] - 2 * u + padded[2:]


# %% [markdown]
# ## Time steps
#
# The leapfrog method: the next height follows from the last two. The energy, kinetic and potential,
# is a sum over all devices.


# %%
def energy(before, now):
    moving = jnp.sum((now - before) ** 2) / courant**2
    left = lax.ppermute(now[-1:], "string", to_right)
    stretch = jnp.diff(jnp.concatenate([left, now]))
    last = jnp.where(lax.axis_index("string") == n - 1, now[-1] ** 2, 0.0)
    return lax.psum(moving + jnp.sum(stretch**2) + last, "string") / 2


def simulate(before, now, steps):
    def step(_, state):
        before, now = state
        return now, 2 * now - before + courant**2 * second_difference(now)

    return lax.fori_loop(0, steps, step, (before, now))


run = shardax.pmap(
    lambda before, now, steps: simulate(before, now, steps),
    axis_name="string",
    in_axes=(0, 0, None),
)
total_energy = shardax.pmap(energy, axis_name="string", out_axes=None)

# %% [markdown]
# ## Half a period, and a whole one
#
# The pluck is at one quarter. After half a period it stands upside down at three quarters, after a
# whole one it is back.

# %%
x = jnp.arange(1, points + 1) / (points + 1)
pluck = jnp.exp(-(((x - 0.25) / 0.05) ** 2))
u = pluck.reshape(n, per_device)
# At rest: half of the first step's acceleration.
start = u + 0.5 * courant**2 * shardax.pmap(second_difference, axis_name="string")(u)
print(f"{points} points on {n} devices, {period} steps a period")

state = (start, u)
first_energy = float(total_energy(*state))
plt.figure(figsize=(6, 3))
plt.plot(x, pluck, label="at the start")
for part in ("a half", "a whole"):
    state = run(*state, period // 2)
    shape = state[1].reshape(points)
    peak = int(jnp.argmax(jnp.abs(shape)))
    print(f"after {part} period: height {float(shape[peak]):+.2f} at {float(x[peak]):.2f}")
    plt.plot(x, shape, "--", label=f"after {part} period")
drift = abs(float(total_energy(*state)) / first_energy - 1)
print("energy is conserved to 1 %:", drift < 0.01)
for border in range(1, n):
    plt.axvline((border * per_device + 0.5) / (points + 1), color="lightgray", linewidth=0.8)
plt.xlabel("place; gray lines are borders of devices")
plt.ylabel("height")
plt.legend()
plt.show()

# %% [markdown]
# The string at the end, piece by piece:

# %%
state[1]
