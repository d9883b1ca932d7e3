# %% [markdown]
# # Pipeline parallelism
#
# Each device has one layer. A batch goes through in small parts, microbatches, so that all devices
# work at once: while device 1 has the first, device 0 takes the second.
#
#     tick        0    1    2    3    4   ...
#     device 0   m0   m1   m2   m3
#     device 1        m0   m1   m2   m3
#     device 2             m0   m1   m2   m3

# %%
import shardax
import shardax.numpy as jnp
from shardax import lax, random

n = shardax.local_device_count()
micro, rows, width = 2 * n, 4, 16  # microbatches, rows of each
keys = random.split(random.key(2), 3)
weights = random.normal(keys[0], (n, width, width)) / width**0.5
x = random.normal(keys[1], (micro, rows, width))
y = random.normal(keys[2], (micro, rows, width))
following = [(i, i + 1) for i in range(n - 1)]
preceding = [(i + 1, i) for i in range(n - 1)]


def layer(w, x):
    return jnp.tanh(x @ w)


@shardax.jit
@shardax.value_and_grad
def one_device(weights):
    out = x
    for w in weights:
        out = layer(w, out)
    return jnp.mean((out - y) ** 2)


loss, gradient = one_device(weights)

# %% [markdown]
# ## GPipe: all forward, then all backward
#
# One tick is one iteration of a scan: take the block of the device before, compute, hand over. A
# device that has no microbatch, before the first and after the last, does nothing: `lax.cond`
# computes on the others alone. The backward pass is the gradient of that scan, in which the
# hand-over goes the other way.


# %%
def gpipe_loss(w, x, y):
    device, micro = lax.axis_index("stage"), len(x)

    def tick(arriving, t):
        mine = jnp.where(device == 0, x[jnp.clip(t, 0, micro - 1)], arriving)
        busy = (t >= device) & (t < device + micro)
        out = lax.cond(busy, layer, lambda w, x: x, w, mine)
        return lax.ppermute(out, "stage", following), out

    _, outs = lax.scan(tick, jnp.zeros_like(x[0]), jnp.arange(micro + n - 1))
    # The last device has the results, from tick n - 1 on.
    error = jnp.mean((outs[n - 1 :] - y) ** 2)
    return jnp.where(device == n - 1, error, 0.0)


def gpipe(w, x, y):
    loss, gradient = shardax.value_and_grad(gpipe_loss)(w, x, y)
    return lax.psum(loss, "stage"), gradient


run = shardax.pmap(gpipe, axis_name="stage", in_axes=(0, None, None), out_axes=(None, 0))
gpipe_result, gpipe_gradient = run(weights, x, y)
print("GPipe: same loss:    ", bool(jnp.allclose(gpipe_result, loss, atol=1e-5)))
print("GPipe: same gradient:", bool(jnp.allclose(gpipe_gradient, gradient, atol=1e-5)))

# %% [markdown]
# ## 1F1B: one forward, one backward
#
# GPipe keeps the activations of all microbatches until the last has gone through. With 1F1B a
# device goes back as soon as it can: the last device at once, the one before a tick later. In each
# tick it takes one microbatch forward and another backward, and keeps at most 2 n - 1 of them,
# however many there are.

# %%
keeps = 2 * n - 1


def one_forward_one_backward(w, x, y):
    device, micro = lax.axis_index("stage"), len(x)
    last = device == n - 1

    def tick(carry, t):
        arriving, returning, kept, gradient, loss = carry
        forward, backward = t - device, t - 2 * (n - 1) + device
        mine = jnp.where(device == 0, x[jnp.clip(forward, 0, micro - 1)], arriving)
        kept = kept.at[forward % keeps].set(mine)
        busy = (forward >= 0) & (forward < micro)
        out = lax.cond(busy, layer, lambda w, x: x, w, mine)

        def go_back(x, returning):
            target = y[jnp.clip(backward, 0, micro - 1)]
            again, pull_back = shardax.vjp(layer, w, x)
            for_w, for_x = pull_back(jnp.where(last, 2 * (again - target) / y.size, returning))
            own = jnp.where(last, jnp.sum((again - target) ** 2) / y.size, 0.0)
            return for_x, gradient + for_w, loss + own

        def idle(x, returning):
            return returning, gradient, loss

        busy = (backward >= 0) & (backward < micro)
        for_x, gradient, loss = lax.cond(busy, go_back, idle, kept[backward % keeps], returning)
        handed = lax.ppermute(out, "stage", following), lax.ppermute(for_x, "stage", preceding)
        return (*handed, kept, gradient, loss), None

    empty = jnp.zeros_like(x[0])
    start = empty, empty, jnp.zeros((keeps, *empty.shape)), jnp.zeros_like(w), jnp.zeros(())
    (_, _, _, gradient, loss), _ = lax.scan(tick, start, jnp.arange(micro + 2 * (n - 1)))
    return lax.psum(loss, "stage"), gradient


run_1f1b = shardax.pmap(
    one_forward_one_backward, axis_name="stage", in_axes=(0, None, None), out_axes=(None, 0)
)
result, own = run_1f1b(weights, x, y)
print("1F1B:  same loss:    ", bool(jnp.allclose(result, loss, atol=1e-5)))
print("1F1B:  same gradient:", bool(jnp.allclose(own, gradient, atol=1e-5)))

# %% [markdown]
# ## The memory of a device
#
# On devices of their own, the difference is memory:

# %%
machines = shardax.Accelerators(flops=1e14, memory_bandwidth=1e12, link_bandwidth=5e10)
schedules = {"GPipe": run, "1F1B": run_1f1b}
for batches in (2 * n, 16 * n):
    more = [jnp.zeros((batches, rows, width))] * 2
    for name, schedule in schedules.items():
        held = shardax.explain(schedule)(weights, *more).on(machines).memory["temporaries"]
        print(f"{batches:4} microbatches, {name:5}: {held:7} bytes of temporaries a device")

# %%
shardax.explain(run_1f1b)(weights, x, y)
