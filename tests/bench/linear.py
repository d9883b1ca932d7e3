"""tests/bench/linear.py - products and attention, against JAX and PyTorch.

    python tests/bench/linear.py [--jax PYTHON] [--torch PYTHON] [--rounds N]
                                  [--threads N] [--cpu]

Microseconds of a call, warm, in float32 unless a row says otherwise. Attention is written out
(`softmax(where(mask, q @ k.T / sqrt(d), -inf)) @ v`), PyTorch's is `scaled_dot_product_attention`.
Gradients are of all three operands. Each system runs in a process of its own, in turns; figures are
medians of the rounds.
"""

import json
import os

import numpy as np
import rivals

# Rows of the left operand, contracted, columns of the right one.
PRODUCTS = [
    (256, 256, 256),
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (64, 784, 512),
    (4096, 64, 4096),
    (64, 4096, 64),
    (8192, 256, 64),
    (2048, 2048, 1),
    (1, 2048, 2048),
    (8, 2048, 2048),
    (32, 4096, 4096),
]
# Number of products, rows, contracted, columns.
STACKS = [(64, 64, 64, 64), (256, 32, 32, 32), (1024, 8, 8, 8)]
BFLOAT16 = [(512, 512, 512), (1024, 1024, 1024), (1, 2048, 2048), (8, 2048, 2048)]
# Batch, heads, positions, size of a head.
ATTENTION = [
    (8, 8, 128, 64),
    (4, 8, 512, 64),
    (1, 8, 2048, 64),
    (1, 4, 2048, 128),
    (1, 2, 8192, 64),
]


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def attention_of(jax, causal):
    jnp = jax.numpy

    def attention(q, k, v):
        scores = q @ k.swapaxes(-1, -2) / np.float32(np.sqrt(q.shape[-1]))
        if causal:
            n = q.shape[-2]
            scores = jnp.where(jnp.tril(jnp.ones((n, n), bool)), scores, -jnp.inf)
        return jax.nn.softmax(scores, axis=-1) @ v

    return attention


def functions_of(jax):
    """(name, f, arguments) of each figure."""
    jnp = jax.numpy
    for m, k, n in PRODUCTS:
        x, y = jnp.array(values(m, k)), jnp.array(values(k, n, seed=1))
        yield f"{m} x {k} x {n}", lambda x, y: x @ y, (x, y)
        if min(m, n) > 1:
            yield f"{m} x {k} x {n}, right transposed", lambda x, y: x @ y.T, (x, jnp.array(y.T))
            yield f"{m} x {k} x {n}, left transposed", lambda x, y: x.T @ y, (jnp.array(x.T), y)
    for b, m, k, n in STACKS:
        x, y = jnp.array(values(b, m, k)), jnp.array(values(b, k, n, seed=1))
        yield f"{b} of {m} x {k} x {n}", lambda x, y: x @ y, (x, y)
    for m, k, n in BFLOAT16:
        x, y = (jnp.array(values(*s), jnp.bfloat16) for s in ((m, k), (k, n)))
        yield f"{m} x {k} x {n}, bfloat16", lambda x, y: x @ y, (x, y)
    for shape in ATTENTION:
        q, k, v, ct = (jnp.array(values(*shape, seed=i)) for i in range(4))
        for causal in (False, True):
            f = attention_of(jax, causal)
            name = f"attention {' x '.join(map(str, shape))}{', causal' if causal else ''}"
            yield name, f, (q, k, v)
            yield (
                name + ": gradients",
                lambda q, k, v, ct, f=f: jax.vjp(f, q, k, v)[1](ct),
                (q, k, v, ct),
            )


def torch_functions():
    """The same in PyTorch."""
    import torch

    sdpa = torch.nn.functional.scaled_dot_product_attention
    for m, k, n in PRODUCTS:
        x, y = torch.tensor(values(m, k)), torch.tensor(values(k, n, seed=1))
        yield f"{m} x {k} x {n}", lambda x, y: x @ y, (x, y)
        if min(m, n) > 1:
            yt, xt = y.T.contiguous(), x.T.contiguous()
            yield f"{m} x {k} x {n}, right transposed", lambda x, y: x @ y.T, (x, yt)
            yield f"{m} x {k} x {n}, left transposed", lambda x, y: x.T @ y, (xt, y)
    for b, m, k, n in STACKS:
        x, y = torch.tensor(values(b, m, k)), torch.tensor(values(b, k, n, seed=1))
        yield f"{b} of {m} x {k} x {n}", lambda x, y: x @ y, (x, y)
    for m, k, n in BFLOAT16:
        x, y = (torch.tensor(values(*s)).bfloat16() for s in ((m, k), (k, n)))
        yield f"{m} x {k} x {n}, bfloat16", lambda x, y: x @ y, (x, y)
    for shape in ATTENTION:
        q, k, v, ct = (torch.tensor(values(*shape, seed=i)) for i in range(4))
        for causal in (False, True):
            name = f"attention {' x '.join(map(str, shape))}{', causal' if causal else ''}"
            yield name, lambda q, k, v, c=causal: sdpa(q, k, v, is_causal=c), (q, k, v)

            def gradients(q, k, v, ct, causal=causal):
                leaves = [t.detach().requires_grad_() for t in (q, k, v)]
                out = sdpa(*leaves, is_causal=causal)
                return (out, *torch.autograd.grad(out, leaves, ct))

            yield name + ": gradients", gradients, (q, k, v, ct)


def main():
    if os.environ.get("BENCH_SYSTEM") == "torch":
        import torch

        if os.environ.get("BENCH_THREADS"):
            torch.set_num_threads(int(os.environ["BENCH_THREADS"]))
        jax, functions = rivals.eager(), torch_functions()
        calls = ((name, f, args) for name, f, args in functions)
    else:
        jax = rivals.system()
        if jax is None:
            return rivals.compare(__file__, __doc__, torch=True)
        calls = ((name, jax.jit(f), args) for name, f, args in functions_of(jax))
    only = os.environ.get("BENCH_ONLY", "")
    print(
        json.dumps(
            {
                name: rivals.median_time(jax, lambda f=f, args=args: f(*args))
                for name, f, args in calls
                if only in name
            }
        )
    )


if __name__ == "__main__":
    main()
