"""tests/ops/test_attention.py - dot_product_attention's options, held against loops, and further
functions of nn.
"""

import math

import numpy as np
import pytest
import shardax as jax
from shardax import nn

RNG = np.random.default_rng(0)
Q = RNG.normal(size=(2, 4, 4, 3)).astype(np.float32)
K, V = (RNG.normal(size=(2, 5, 2, 3)).astype(np.float32) for _ in range(2))
BIAS = RNG.normal(size=(1, 4, 4, 5)).astype(np.float32)
MASK = RNG.random((2, 1, 4, 5)) > 0.3
T, S = np.arange(4)[:, None], np.arange(5)
QUERY_LENGTHS, KEY_LENGTHS = np.array([2, 4]), np.array([3, 5])


def reference(bias=0.0, mask=True, scale=None):
    scale = 1 / math.sqrt(3) if scale is None else scale
    out = np.zeros(Q.shape)
    sums = np.zeros(Q.shape[:3])
    logits = np.stack(
        [[Q[b, :, n] @ K[b, :, n // 2].T * scale for n in range(4)] for b in range(2)]
    )
    logits = np.where(mask, logits + bias, -1e30)
    for b in range(2):
        for n in range(4):
            weights = np.exp(logits[b, n])
            sums[b, :, n] = np.log(weights.sum(-1))
            out[b, :, n] = weights / weights.sum(-1, keepdims=True) @ V[b, :, n // 2]
    return out, sums


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, {}),
        ({"bias": BIAS}, {"bias": BIAS}),
        ({"mask": MASK}, {"mask": MASK}),
        ({"is_causal": True}, {"mask": S <= T}),
        ({"local_window_size": 1}, {"mask": abs(S - T) <= 1}),
        ({"local_window_size": (2, 0)}, {"mask": (S <= T) & (S >= T - 2)}),
        ({"scale": 2.0, "implementation": "xla"}, {"scale": 2.0}),
        ({"key_value_seq_lengths": KEY_LENGTHS}, {"mask": S < KEY_LENGTHS[:, None, None, None]}),
    ],
    ids=str,
)
def test_attention(options, expected):
    out, sums = nn.dot_product_attention(Q, K, V, return_residual=True, **options)
    values, residual = reference(**expected)
    np.testing.assert_allclose(out, values, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(sums, residual, rtol=1e-4, atol=1e-5)
    if "mask" not in options and "key_value_seq_lengths" not in options:
        alone = nn.dot_product_attention(Q[1], K[1], V[1], **options)
        np.testing.assert_allclose(alone, values[1], rtol=1e-4, atol=1e-5)


def test_lengths_of_queries():
    out = np.asarray(nn.dot_product_attention(Q, K, V, query_seq_lengths=QUERY_LENGTHS))
    np.testing.assert_allclose(out[0, :2], reference()[0][0, :2], rtol=1e-4, atol=1e-5)
    assert (out[0, 2:] == 0).all()


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: nn.dot_product_attention(Q, K, V, implementation="x"), "Unsupported implementa"),
        (lambda: nn.dot_product_attention(Q, K, V, mask=BIAS), "mask dtype should be bool"),
        (lambda: nn.dot_product_attention(Q, K, V[:, :2]), "key and value of one shape"),
        (
            lambda: nn.dot_product_attention(Q, np.repeat(K, 3, 2), np.repeat(V, 3, 2)),
            "must be a multiple of key/value heads, but got 4 vs 6",
        ),
        (lambda: nn.standardize(Q, algorithm="x"), "must be 'fast' or 'stable'"),
        (
            lambda: nn.initializers.delta_orthogonal()(jax.random.key(0), (3, 4, 2)),
            "`fan_in` must be less or equal than `fan_out`",
        ),
        (
            lambda: nn.initializers.delta_orthogonal()(jax.random.key(0), (3, 3)),
            "requires a 3D, 4D or 5D shape",
        ),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_logarithms_of_means_and_differences():
    x = np.float32([0.1, 0.6931472, 1, 20])
    np.testing.assert_allclose(nn.log1mexp(x), np.log(-np.expm1(-x)), rtol=1e-5, atol=1e-8)
    slope = jax.vmap(jax.grad(nn.log1mexp))(x)
    np.testing.assert_allclose(slope, 1 / np.expm1(x), rtol=1e-4)
    y = RNG.normal(size=(2, 3)).astype(np.float32)
    for axis in (None, 1):
        expected = np.log(np.exp(y).mean(axis, keepdims=True))
        np.testing.assert_allclose(
            nn.logmeanexp(y, axis, keepdims=True), expected, rtol=1e-4, atol=1e-6
        )
    expected = np.log(np.exp(y[y > 0]).mean())
    np.testing.assert_allclose(nn.logmeanexp(y, where=y > 0), expected, rtol=1e-4)
    stable = nn.standardize(y + 1e3, algorithm="stable")
    centred = y - y.mean(1, keepdims=True)
    np.testing.assert_allclose(stable, centred / y.std(1, keepdims=True), rtol=1e-2, atol=1e-2)


def test_delta_orthogonal():
    kernel = np.asarray(nn.initializers.delta_orthogonal()(jax.random.key(0), (3, 3, 2, 4)))
    np.testing.assert_allclose(kernel[1, 1] @ kernel[1, 1].T, np.eye(2), atol=1e-5)
    assert np.count_nonzero(kernel) == np.count_nonzero(kernel[1, 1])
