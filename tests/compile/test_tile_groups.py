"""tests/compile/test_tile_groups.py - tile groups need less memory and keep the bits."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax, nn


def numbers(*shape, seed=0, dtype="float32"):
    values = np.random.default_rng(seed).standard_normal(shape)
    return jnp.asarray(values.astype("float32")).astype(dtype)


def layer_norm(x, g, b):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * g + b


def rms_norm(x, g):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g


def masked(x):
    kept = jnp.where(jnp.arange(x.shape[-1]) < 5, -jnp.inf, x)
    return nn.softmax(kept, -1)


def cross_entropy(x, y):
    return (nn.logsumexp(x, -1) - jnp.take_along_axis(x, y[:, None], -1)[:, 0]).mean()


def attention(q, k, v):
    return nn.softmax(q @ k.swapaxes(-1, -2) * 0.125, -1) @ v


def causal(q, k, v):
    mask = jnp.tril(jnp.ones((q.shape[-2], k.shape[-2]), bool))
    return nn.softmax(jnp.where(mask, q @ k.swapaxes(-1, -2) * 0.125, -jnp.inf), -1) @ v


def gradients(fun):
    """All gradients of the sum of the results' cubes."""
    return lambda *args: jax.grad(
        lambda *args: (fun(*args) ** 3).sum(), argnums=tuple(range(len(args)))
    )(*args)


def two_results(x):
    top = x.max(-1, keepdims=True)
    weights = jnp.exp(x - top)
    return weights, weights / weights.sum(-1, keepdims=True), top


def several_dimensions(x):
    shifted = x - x.mean((2, 3), keepdims=True)
    return shifted / jnp.sqrt((shifted * shifted).sum((2, 3), keepdims=True))


ROWS = numbers(1031, 517)
HEADS = [numbers(2, 3, 301, 64, seed=i) for i in range(3)]
PROGRAMS = [
    (nn.softmax, [ROWS]),
    (nn.softmax, [numbers(40, 30011)]),
    (nn.softmax, [numbers(60007, 10)]),
    (nn.softmax, [numbers(9, 300, 3, 101)]),
    (nn.softmax, [numbers(1031, 517, dtype="bfloat16")]),
    (nn.softmax, [numbers(1031, 517, dtype="float16")]),
    (nn.log_softmax, [ROWS]),
    (masked, [ROWS]),
    (layer_norm, [ROWS, numbers(517), numbers(517, seed=1)]),
    (rms_norm, [numbers(7, 301, 257), numbers(257)]),
    (two_results, [ROWS]),
    (several_dimensions, [numbers(30, 20, 17, 100)]),
    (attention, HEADS),
    (causal, HEADS),
    (jax.vmap(nn.softmax), [numbers(8, 129, 517)]),
]


def unfused(fun, args):
    with jax.disable_jit():
        return fun(*args)


def temporaries(fun, *args):
    return jax.jit(fun).lower(*args).compile().memory_analysis().temp_size_in_bytes


def name(case):
    return getattr(case, "__name__", None)


@pytest.mark.parametrize(("fun", "args"), PROGRAMS, ids=name)
def test_values_are_those_of_whole_arrays(fun, args):
    got, expected = jax.jit(fun)(*args), unfused(fun, args)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        if a.dtype == jnp.float32:
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a.astype("float32"), b.astype("float32"), rtol=2e-2)


@pytest.mark.parametrize(
    ("fun", "args"),
    [
        (nn.softmax, [ROWS]),
        (layer_norm, [ROWS, numbers(517), numbers(517, seed=1)]),
        (rms_norm, [numbers(7, 301, 257), numbers(257)]),
        (nn.logsumexp, [ROWS]),
        (several_dimensions, [numbers(30, 20, 17, 100)]),
        (attention, HEADS),
    ],
    ids=name,
)
def test_gradients_are_those_of_whole_arrays(fun, args):
    of = gradients(lambda *a: fun(*a, -1) if fun is nn.logsumexp else fun(*a))
    for a, b in zip(jax.jit(of)(*args), unfused(of, args), strict=True):
        scale = float(jnp.abs(b).max())
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5 * scale)


def test_transposed_operand():
    for a, b in zip(jax.jit(two_results)(ROWS.T), unfused(two_results, [ROWS.T]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_cross_entropy():
    x, y = ROWS, jnp.asarray(np.random.default_rng(2).integers(0, 517, 1031))
    assert jax.jit(cross_entropy)(x, y) == pytest.approx(float(unfused(cross_entropy, (x, y))))
    grad = jax.grad(cross_entropy)
    np.testing.assert_allclose(jax.jit(grad)(x, y), unfused(grad, (x, y)), rtol=1e-5, atol=1e-9)


def test_rows_that_are_masked_out_are_nan():
    q, k, v = HEADS
    mask = jnp.ones((301, 301), bool).at[7].set(False)

    def fun(q, k, v):
        return nn.softmax(jnp.where(mask, q @ k.swapaxes(-1, -2), -jnp.inf), -1) @ v

    out = np.asarray(jax.jit(fun)(q, k, v))
    assert np.isnan(out[:, :, 7]).all()
    assert not np.isnan(np.delete(out, 7, 2)).any()


@pytest.mark.parametrize("shape", [(0, 5), (1, 7), (3, 0), (8, 200_000), (100_000, 1)])
def test_other_shapes(shape):
    x = numbers(*shape)
    np.testing.assert_array_equal(jax.jit(nn.softmax)(x), unfused(nn.softmax, [x]))


def test_less_memory():
    x = numbers(4096, 1024)
    assert temporaries(nn.softmax, x) < x.nbytes / 4
    assert temporaries(gradients(nn.softmax), x) < x.nbytes
    scale = numbers(1024)
    assert temporaries(gradients(layer_norm), x, scale, scale) < x.nbytes
    q = numbers(1, 4, 2048, 32)
    scores = 4 * 2048 * 2048 * 4
    assert temporaries(attention, q, q, q) < 0.6 * scores


def two_layers(x, w):
    for _ in range(2):
        x = x + causal(x @ w, x, jnp.tanh(x))
    return x


def test_scores_are_computed_again_where_the_gradient_needs_them():
    scores = 4 * 2048 * 2048 * 4
    x, w = numbers(1, 4, 2048, 32), numbers(32, 32)
    assert temporaries(gradients(two_layers), x, w) < 1.6 * scores
    x = numbers(1, 4, 1536, 32)
    of = gradients(two_layers)
    for a, b in zip(jax.jit(of)(x, w), unfused(of, (x, w)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5 * float(jnp.abs(b).max()))


def test_a_path_through_others_keeps_equations_apart():
    # Values that need the sum over all rows cannot run with the rows.
    def fun(x):
        shifted = x - x.max(-1, keepdims=True)
        weights = jnp.exp(shifted)
        total = weights.sum()
        return weights / total, weights / weights.sum(-1, keepdims=True), jnp.log(total) + shifted

    for a, b in zip(jax.jit(fun)(ROWS), unfused(fun, [ROWS]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_devices():
    x = numbers(8, 129, 517)
    out = jax.pmap(lambda x: nn.softmax(x) + lax.pmean(x, "i"), axis_name="i")(x)
    np.testing.assert_allclose(out, unfused(nn.softmax, [x]) + x.mean(0), rtol=1e-5, atol=1e-6)


PROGRAM = """
import hashlib
import numpy as np
import shardax as jax
import shardax.numpy as jnp

x = jnp.asarray(np.random.default_rng(0).standard_normal((1031, 517), dtype="float32"))

def norm(x, g, b):
    return (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) * g + b

def attend(q, k):
    return jax.nn.softmax(q @ k.T) @ k

results = [jax.nn.softmax(x), jax.jit(attend)(x[:, :64], x[:, 64:128])]
results += jax.jit(jax.grad(lambda *a: (norm(*a) ** 3).sum(), argnums=(0, 1, 2)))(x, x[0], x[1])
results += jax.jit(jax.grad(lambda *a: (attend(*a) ** 3).sum(), argnums=(0, 1)))(x[:, :9], x[:, :9])
print(hashlib.sha256(b"".join(np.asarray(r).tobytes() for r in results)).hexdigest())
"""


def test_bits_do_not_depend_on_the_number_of_threads():
    digests = set()
    for threads in (1, 2, 5):
        env = {**os.environ, "SHARDAX_NUM_THREADS": str(threads)}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, timeout=120
        )
        assert run.returncode == 0, run.stderr
        digests.add(run.stdout)
    assert len(digests) == 1


PLAN = """
import shardax as jax
import shardax.numpy as jnp

def perceptron(x, up, down):
    x = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    return (jax.nn.gelu(x @ up) @ down).sum()

def logits(x, w):
    return jax.nn.log_softmax(x @ w).max(-1)

for f, shapes in (
    (jax.grad(perceptron, (0, 1, 2)), ((2048, 256), (256, 1024), (1024, 256))),
    (logits, ((2048, 64), (64, 20000))),
):
    jax.jit(f)(*(jnp.ones(shape) for shape in shapes))
"""


def test_products_of_long_sums_or_few_rows_stay_whole(dump_of):
    """Blocks of rows rearrange the other operand each for themselves."""
    dump = dump_of(PLAN)
    first, second = (
        plan for plan in dump.split("-- plan:") if "rows (2048,)" in plan and "dot_general" in plan
    )
    assert "\n  dot_general" in first
    assert "\n    dot_general" not in first
    assert "rows (2048,) in 64 blocks" in second
    # Columns of w lie in panels, as wide as two of the machine's vectors.
    assert re.search(r"\n    dot_general -> f32\[32,(625,32|1250,16|2500,8)\]", second)
