"""tests/pmap/collective_references.py - results of collectives, in NumPy, and their checks.

The reference of a collective maps an array of all devices' values, [devices, ...], to the same of
results. Axes lie at the front of the operands, in the order ("i", "j").
"""

import functools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

M, N = 4, 2
GROUPS = {
    "all": None,
    "runs": [[0, 1], [2, 3]],
    "strided": [[0, 2], [1, 3]],
    "mixed": [[3, 0], [1, 2]],
    "alone": [[1], [0], [3], [2]],
    "one": [[2, 0, 3, 1]],
    "uneven": [[2], [3, 0, 1]],
}


def rows(n, groups):
    return groups or [list(range(n))]


def grouped(whole):
    """`whole` maps [members, ...] to the same; applied to each group."""

    def reference(x, groups):
        out = None
        for group in rows(len(x), groups):
            part = whole(x[group])
            if out is None:
                out = np.zeros((len(x), *part.shape[1:]), part.dtype)
            out[group] = part
        return out

    return reference


def everywhere(reduce):
    return grouped(lambda x: np.broadcast_to(reduce(x), x.shape))


def gather(x, axis, tiled):
    one = np.concatenate(x, axis) if tiled else np.stack(x, axis)
    return np.broadcast_to(one, (len(x), *one.shape))


def scatter(x, axis, tiled):
    n, total = len(x), x.sum(0)
    if tiled:
        return np.stack(np.split(total, n, axis))
    return np.moveaxis(total, axis, 0)


def exchange(x, split, concat, tiled):
    n = len(x)
    parts = [np.split(v, n, split) for v in x]  # [source][destination]
    if not tiled:
        parts = [[np.squeeze(p, split) for p in source] for source in parts]
    join = np.concatenate if tiled else np.stack
    return np.stack([join([parts[s][d] for s in range(n)], concat) for d in range(n)])


def permuted(pairs):
    def reference(x, groups):
        out = np.zeros_like(x)
        for source, destination in pairs(len(x)):
            out[destination] = x[source]
        return out

    return reference


def ring(n):
    return [(k, (k + 1) % n) for k in range(n)]


def partial_ring(n):
    return [(k, n - 1 - k) for k in range(0, n, 2)]


EVEN = {k: v for k, v in GROUPS.items() if k != "uneven"}
NONE = {"all": None}
# name: (collective, reference, groups that it takes). Operands have the shape [8, 8] per device.
CASES = {
    "psum": (lambda x, a, **k: lax.psum(x, a, **k), everywhere(lambda x: x.sum(0)), GROUPS),
    "pmean": (lambda x, a, **k: lax.pmean(x, a, **k), everywhere(lambda x: x.mean(0)), GROUPS),
    "pmax": (lambda x, a, **k: lax.pmax(x, a, **k), everywhere(lambda x: x.max(0)), GROUPS),
    "pmin": (lambda x, a, **k: lax.pmin(x, a, **k), everywhere(lambda x: x.min(0)), GROUPS),
    "pbroadcast": (lambda x, a: lax.pbroadcast(x, a, 1), everywhere(lambda x: x[1]), NONE),
    "ppermute": (
        lambda x, a: lax.ppermute(x, a, ring(lax.axis_size(a))),
        permuted(ring),
        NONE,
    ),
    "ppermute of some": (
        lambda x, a: lax.ppermute(x, a, partial_ring(lax.axis_size(a))),
        permuted(partial_ring),
        NONE,
    ),
    "pshuffle": (
        lambda x, a: lax.pshuffle(x, a, range(lax.axis_size(a))[::-1]),
        lambda x, g: x[::-1],
        NONE,
    ),
    **{
        f"all_gather {axis} {tiled}": (
            functools.partial(lax.all_gather, axis=axis, tiled=tiled),
            grouped(lambda x, a=axis, t=tiled: gather(x, a, t)),
            EVEN,
        )
        for axis in (0, 1, -1)
        for tiled in (False, True)
    },
    **{
        f"psum_scatter {axis} tiled": (
            functools.partial(lax.psum_scatter, scatter_dimension=axis, tiled=True),
            grouped(lambda x, a=axis: scatter(x, a, True)),
            EVEN,
        )
        for axis in (0, -1)
    },
    **{
        f"all_to_all {split} {concat} tiled": (
            functools.partial(lax.all_to_all, split_axis=split, concat_axis=concat, tiled=True),
            grouped(lambda x, s=split, c=concat: exchange(x, s, c, True)),
            EVEN,
        )
        for split, concat in ((0, 0), (0, 1), (1, 0), (-1, -2))
    },
}
# Here a dimension has exactly the size of the axis, or of its groups: 4 of 'i' alone.
EXACT = {
    "psum_scatter": (
        functools.partial(lax.psum_scatter, scatter_dimension=1),
        lambda x, g: scatter(x, 1, False),
    ),
    **{
        f"all_to_all {split} {concat}": (
            functools.partial(lax.all_to_all, split_axis=split, concat_axis=concat),
            lambda x, g, s=split, c=concat: exchange(x, s, c, False),
        )
        for split, concat in ((0, 0), (0, 1), (1, 0), (1, 1))
    },
    "pswapaxes": (
        functools.partial(lax.pswapaxes, axis=1),
        lambda x, g: exchange(x, 1, 1, False),
    ),
}

MAPS = {
    "pmap": lambda f, name, **k: shardax.pmap(f, axis_name=name, **k),
    "vmap": lambda f, name, **k: shardax.vmap(f, axis_name=name, **k),
    "jit of pmap": lambda f, name, **k: shardax.jit(shardax.pmap(f, axis_name=name, **k)),
    "pmap of jit": lambda f, name, **k: shardax.pmap(shardax.jit(f), axis_name=name, **k),
}


def operand(*shape, seed=0):
    """Distinct values, at least 0.02 apart, so that extrema stay where they are in differences."""
    size = int(np.prod(shape))
    values = np.random.default_rng(seed).permutation(size) - (size - 1) / 2
    return (values * max(0.02, 2 / size)).reshape(shape).astype(np.float32)


def check(got, want):
    np.testing.assert_allclose(np.asarray(got), want, rtol=2e-5, atol=2e-6)


def check_derivatives(f, x):
    """jvp against a difference, and vjp against jvp."""
    t = operand(*x.shape, seed=7)
    y, out_t = shardax.jvp(f, (x,), (t,))
    h = 1e-3
    slope = (np.asarray(f(x + h * t)) - np.asarray(f(x - h * t))) / (2 * h)
    np.testing.assert_allclose(np.asarray(out_t), slope, rtol=2e-2, atol=2e-2)
    ct = operand(*y.shape, seed=8)
    (back,) = shardax.vjp(f, x)[1](jnp.asarray(ct))
    left, right = np.vdot(ct, np.asarray(out_t)), np.vdot(np.asarray(back), t)
    assert left == pytest.approx(right, rel=1e-4, abs=1e-4)
