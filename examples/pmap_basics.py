# %% [markdown]
# # One function on every device
#
# `pmap` takes a function written for one device and runs it on many. This page needs no special
# hardware: eight simulated devices share the memory and the cores of this machine.

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax

n = shardax.device_count()
print(f"{n} devices, the first is {shardax.devices()[0]}")

# %% [markdown]
# ## Split, run, stack
#
# The leading dimension of an argument lists the devices' parts: row 0 goes to device 0, row 1 to
# device 1. Inside the function a row is all there is, and its shape has one dimension less. Results
# are stacked the same way.

# %%
rows = jnp.arange(n * 3).reshape(n, 3)


@shardax.pmap
def square(row):
    print(f"tracing with {row.shape} elements")
    return row * row


squares = square(rows)
print("split", rows.shape, "-> stacked", squares.shape)
print("device 2 computed", squares[2])

# %% [markdown]
# The line "tracing" appears once, not once per device, and not again in a second call: Python runs
# once per combination of shapes and dtypes. From then on a compiled program does the work.

# %%
again = square(rows + 1)
print("second call, device 0:", again[0])

# %% [markdown]
# ## Values that all devices share
#
# `in_axes` has an entry per argument: 0 to split along dimension 0, `None` to give the whole
# argument to every device. A shared argument exists once, whatever the number of devices.

# %%
scale = jnp.array([1.0, 10.0, 100.0])
scaled = shardax.pmap(lambda row, s: row * s, in_axes=(0, None))(rows, scale)
print("device 1:", scaled[1])

# %% [markdown]
# ## Devices that talk
#
# Give the mapped axis a name and the function can use collectives over it. `psum` adds one value
# per device, and every device sees the total; `axis_index` is a device's own number. `ppermute`
# passes values from device to device, here to the right around a ring:
#
#     0 -> 1 -> 2 -> ... -> n-1 -> 0


# %%
def share_of_total(row):
    mine = jnp.sum(row)
    total = lax.psum(mine, "ring")
    return mine / total


shares = shardax.pmap(share_of_total, axis_name="ring")(rows)
print(f"shares add up to {float(jnp.sum(shares)):.3f}")

to_the_right = [(i, (i + 1) % n) for i in range(n)]
neighbours = shardax.pmap(
    lambda _: lax.ppermute(lax.axis_index("ring"), "ring", to_the_right), axis_name="ring"
)(rows)
print("left neighbours:", neighbours)

# %% [markdown]
# Mapped results stay where they have been computed, a slice on each device:

# %%
square(jnp.arange(2 * n).reshape(n, 2))

# %% [markdown]
# ## More slices than devices
#
# Slices and devices go one to one. One slice too many is an error that names the remedy; the number
# of devices is a setting, not a property of the machine.

# %%
try:
    square(jnp.ones((n + 1, 3)))
except ValueError as error:
    print("error:", str(error).split(" (")[0])

shardax.config.update("jax_num_cpu_devices", n + 1)
print("now", shardax.device_count(), "devices:", square(jnp.full((n + 1, 1), 2))[-1])
shardax.config.update("jax_num_cpu_devices", n)
