"""tests/bench/convolution.py - convolutions, their gradients and pooling, against JAX and PyTorch.

    python tests/bench/convolution.py [--jax PYTHON] [--torch PYTHON] [--rounds N]
                                       [--threads N] [--cpu]

Microseconds of a call, warm, of 32 images: forward, the gradient of the images, that of the kernel.
Each system runs in a process of its own, in turns; medians of the rounds, and the ratio to ours.
"""

import json
import os
from functools import partial

import numpy as np
import rivals

# Name, images, kernel, stride, padding, groups.
CASES = [
    ("3-16, 3x3, 32x32", (3, 32, 32), (16, 3, 3, 3), 1, 1, 1),
    ("64-64, 3x3, 56x56", (64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    ("128-128, 3x3, 28x28", (128, 28, 28), (128, 128, 3, 3), 1, 1, 1),
    ("256-256, 3x3, 14x14", (256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    ("64-128, 3x3, stride 2, 56x56", (64, 56, 56), (128, 64, 3, 3), 2, 1, 1),
    ("1-6, 5x5, 28x28", (1, 28, 28), (6, 1, 5, 5), 1, 2, 1),
    ("6-16, 5x5, 14x14", (6, 14, 14), (16, 6, 5, 5), 1, 0, 1),
    ("3-64, 7x7, stride 2, 224x224", (3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    ("depthwise, 64, 3x3, 56x56", (64, 56, 56), (64, 1, 3, 3), 1, 1, 64),
    ("depthwise, 64, 3x3, stride 2, 56x56", (64, 56, 56), (64, 1, 3, 3), 2, 1, 64),
    ("depthwise, 240, 5x5, 14x14", (240, 14, 14), (240, 1, 5, 5), 1, 2, 240),
    ("depthwise, 384, 7x7, 7x7", (384, 7, 7), (384, 1, 7, 7), 1, 3, 384),
    ("64-64, 3x3, 8 groups, 28x28", (64, 28, 28), (64, 8, 3, 3), 1, 1, 8),
    ("64-256, 1x1, 56x56", (64, 56, 56), (256, 64, 1, 1), 1, 0, 1),
    ("64-128, 1x1, stride 2, 56x56", (64, 56, 56), (128, 64, 1, 1), 2, 0, 1),
]
POOLS = [("max 2x2", 2, 2, 0), ("max 3x3, stride 2", 3, 2, 1)]
NHWC = ("NHWC", "HWIO", "NHWC")


def operands(images, kernel):
    rng = np.random.default_rng(0)
    return (rng.standard_normal(s).astype(np.float32) for s in ((32, *images), kernel))


def cotangent(shape):
    return np.random.default_rng(1).standard_normal(tuple(shape)).astype(np.float32)


def functions_of(jax):
    """(name, f, arguments) of each figure."""
    jnp, lax = jax.numpy, jax.lax
    for layout in ("NCHW", "NHWC"):
        for name, images, kernel, stride, pad, groups in CASES:
            x, w = operands(images, kernel)
            numbers = ("NCHW", "OIHW", "NCHW")
            if layout == "NHWC":
                x, w, numbers = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), NHWC

            def conv(x, w, stride=stride, pad=pad, groups=groups, numbers=numbers):
                pads = [(pad, pad)] * 2
                return lax.conv_general_dilated(
                    x, w, (stride,) * 2, pads, None, None, numbers, groups
                )

            x, w = jnp.array(np.ascontiguousarray(x)), jnp.array(np.ascontiguousarray(w))
            ct = jnp.array(cotangent(conv(x, w).shape))
            name = f"{name}, {layout}"
            yield name, conv, (x, w)
            yield (
                f"{name}: images",
                lambda x, w, ct, f=conv: jax.vjp(lambda v: f(v, w), x)[1](ct),
                (x, w, ct),
            )
            yield (
                f"{name}: kernel",
                lambda x, w, ct, f=conv: jax.vjp(lambda v: f(x, v), w)[1](ct),
                (x, w, ct),
            )
    x, _ = operands((64, 56, 56), ())
    x = jnp.array(x)
    for name, window, stride, pad in POOLS:

        def pool(x, window=window, stride=stride, pad=pad):
            pads = [(0, 0)] * 2 + [(pad, pad)] * 2
            sizes = ((1, 1, n, n) for n in (window, stride))
            return lax.reduce_window(x, -jnp.inf, lax.max, *sizes, pads)

        ct = jnp.array(cotangent(pool(x).shape))
        yield f"{name}, 64x56x56", pool, (x,)
        yield (
            f"{name}, 64x56x56: both ways",
            lambda x, ct, f=pool: jax.vjp(f, x)[1](ct),
            (x, ct),
        )


def measure(jax):
    figures = {}
    for name, f, args in functions_of(jax):
        g = jax.jit(f)
        figures[name] = rivals.median_time(jax, lambda: g(*args))  # noqa: B023
    return figures


def measure_torch():
    import torch

    torch.set_num_threads(int(os.environ.get("BENCH_THREADS", torch.get_num_threads())))
    system = rivals.eager()
    figures = {}
    for layout in ("NCHW", "NHWC"):
        for name, images, kernel, stride, pad, groups in CASES:
            x, w = (torch.tensor(a) for a in operands(images, kernel))
            if layout == "NHWC":
                x, w = (a.to(memory_format=torch.channels_last) for a in (x, w))
            tail = ([stride] * 2, [pad] * 2, [1, 1], False, [0, 0], groups)
            y = torch.ops.aten.convolution(x, w, None, *tail)
            ct = torch.tensor(cotangent(y.shape))
            if layout == "NHWC":
                ct = ct.to(memory_format=torch.channels_last)
            backward = torch.ops.aten.convolution_backward
            runs = {
                "": partial(torch.ops.aten.convolution, x, w, None, *tail),
                ": images": partial(backward, ct, x, w, None, *tail, [True, False, False]),
                ": kernel": partial(backward, ct, x, w, None, *tail, [False, True, False]),
            }
            with torch.no_grad():
                for what, run in runs.items():
                    figures[f"{name}, {layout}{what}"] = rivals.median_time(system, run)
    x = torch.tensor(next(operands((64, 56, 56), ())), requires_grad=True)
    for name, window, stride, pad in POOLS:

        def pool(window=window, stride=stride, pad=pad):
            return torch.nn.functional.max_pool2d(x, window, stride, pad)

        ct = torch.tensor(cotangent(pool().shape))
        with torch.no_grad():
            figures[f"{name}, 64x56x56"] = rivals.median_time(system, pool)
        figures[f"{name}, 64x56x56: both ways"] = rivals.median_time(
            system,
            lambda: torch.autograd.grad(pool(), x, ct),  # noqa: B023
        )
    return figures


if __name__ == "__main__":
    if os.environ.get("BENCH_SYSTEM") == "torch":
        print(json.dumps(measure_torch()))
    else:
        jax = rivals.system()
        if jax:
            print(json.dumps(measure(jax)))
        else:
            rivals.compare(__file__, __doc__, torch=True)
