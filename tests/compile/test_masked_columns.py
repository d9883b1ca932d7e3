"""tests/compile/test_masked_columns.py - attention leaves out what a causal mask hides."""

import os
import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax, nn


def numbers(*shape, seed=0, dtype="float32"):
    values = np.random.default_rng(seed).standard_normal(shape)
    return jnp.asarray(values.astype("float32")).astype(dtype)


def index_masks(rows, columns):
    """Masks as people write them, by name. Each is made where it is traced."""

    def compared(test):
        return lambda: test(jnp.arange(rows)[:, None], jnp.arange(columns))

    return {
        "tril": lambda: jnp.tril(jnp.ones((rows, columns), bool)),
        "not triu": lambda: ~jnp.triu(jnp.ones((rows, columns), bool), 1),
        "ge": compared(lambda i, j: i >= j),
        "le": compared(lambda i, j: j[None] <= i),
        "gt": compared(lambda i, j: i > j - 1),
        "lt": compared(lambda i, j: j < i + 1),
        "iota": lambda: (
            lax.broadcasted_iota(jnp.int32, (rows, columns), 0)
            >= lax.broadcasted_iota(jnp.int32, (rows, columns), 1)
        ),
        "numbers": lambda: jnp.tril(jnp.ones((rows, columns), jnp.float32)),
        "numbers, zero": lambda: ~(jnp.tril(jnp.ones((1, rows, columns)))[0] == 0),
        "numbers, positive": lambda: 0 < jnp.tril(jnp.ones((rows, columns), jnp.int32)),
        "numbers, rounded": compared(lambda i, j: (i >= j).astype(jnp.bfloat16).astype("float32")),
        "numbers, other": lambda: jnp.tril(jnp.full((rows, columns), 3.0)) < 2,
        "last queries": compared(lambda i, j: i + (columns - rows) >= j),
        "window": compared(lambda i, j: (i >= j) & (i - 100 < j)),
        "padding too": compared(lambda i, j: (i >= j) & (j != 3)),
        "one behind": compared(lambda i, j: (i > j) | (j == 0)),
        "not causal": compared(lambda i, j: i <= j),
    }


def attention(q, k, v, mask, fill=-jnp.inf):
    scores = q @ k.swapaxes(-1, -2) / np.float32(8)
    return nn.softmax(jnp.where(mask, scores, fill), -1) @ v


def both(mask, function=attention, **more):
    """With a mask that the compiler sees through, and with the same as an argument."""

    def known(*args):
        return function(*args, mask(), **more)

    values = mask()
    given = jax.jit(lambda mask, *args: function(*args, mask, **more))
    return jax.jit(known), lambda *args: given(values, *args)


def with_gradients(function):
    def run(*args):
        out, back = jax.vjp(function, *args)
        return out, *back(jnp.sin(out))

    return run


def both_gradients(mask, function=attention, **more):
    values = mask()
    known = with_gradients(lambda *args: function(*args, mask(), **more))
    given = jax.jit(
        lambda mask, *args: with_gradients(lambda *a: function(*a, mask, **more))(*args)
    )
    return jax.jit(known), lambda *args: given(values, *args)


def same(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_array_equal(x, y)


def close(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5 * float(jnp.nanmax(jnp.abs(y))))


def heads(rows, columns, size=32, dtype="float32", lead=(2, 2)):
    return (
        numbers(*lead, rows, size, dtype=dtype),
        numbers(*lead, columns, size, seed=1, dtype=dtype),
        numbers(*lead, columns, size, seed=2, dtype=dtype),
    )


NAMES = sorted(index_masks(1, 1))
SEEN = sorted(set(NAMES) - {"one behind", "not causal", "numbers, other"})


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_with_all_columns(name):
    mask = index_masks(600, 600)[name]
    known, given = both(mask)
    same(known(*heads(600, 600)), given(*heads(600, 600)))


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_those_with_all_columns(name):
    mask = index_masks(520, 520)[name]
    known, given = both_gradients(mask)
    close(known(*heads(520, 520)), given(*heads(520, 520)))


@pytest.mark.parametrize(
    ("rows", "columns"),
    [(256, 256), (257, 257), (1000, 1000), (300, 700), (700, 300), (64, 1024), (1, 300), (300, 1)],
)
@pytest.mark.parametrize("lead", [(), (1, 1), (3,)])
def test_sizes(rows, columns, lead):
    mask = index_masks(rows, columns)["last queries"]
    args = heads(rows, columns, lead=lead)
    known, given = both_gradients(mask)
    close(known(*args), given(*args))


@pytest.mark.parametrize("fill", [-1e9, -1e30, -0.7 * 3.4028235e38, -3.4028235e38, -10.0, 0.0])
def test_other_numbers_under_the_mask(fill):
    known, given = both(index_masks(512, 512)["ge"], fill=fill)
    same(known(*heads(512, 512)), given(*heads(512, 512)))


def test_scores_below_the_number_under_the_mask():
    q, k, v = heads(512, 512)
    args = q.at[:, :, 300].set(1e6), k.at[..., 0].set(-1e6), v
    known, given = both(index_masks(512, 512)["ge"], fill=-1e9)
    same(known(*args), given(*args))
    assert np.isfinite(np.asarray(known(*args))).all()


@pytest.mark.parametrize("operand", [0, 1, 2])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_spread_as_they_do_without(operand, value):
    args = list(heads(512, 512))
    args[operand] = args[operand].at[0, 0, 400, 3].set(value)
    known, given = both_gradients(index_masks(512, 512)["ge"])
    for x, y in zip(known(*args), given(*args), strict=True):
        np.testing.assert_array_equal(np.isnan(x), np.isnan(y))
        np.testing.assert_array_equal(np.isposinf(x), np.isposinf(y))


def test_rows_without_columns():
    def hidden():
        i, j = jnp.arange(512)[:, None], jnp.arange(512)
        return (i >= j) & (i != 200)

    known, given = both(hidden)
    out = known(*heads(512, 512))
    assert np.isnan(np.asarray(out)[:, :, 200]).all()
    same(out, given(*heads(512, 512)))


def test_linear_attention():
    def function(q, k, v, mask):
        return jnp.where(mask, q @ k.swapaxes(-1, -2), 0) @ v

    known, given = both_gradients(index_masks(512, 512)["ge"], function)
    close(known(*heads(512, 512)), given(*heads(512, 512)))


def test_bias_dropout_and_scale():
    bias, kept = numbers(512, 512, seed=5), numbers(512, 512, seed=6) > 0

    def function(q, k, v, mask):
        scores = jnp.where(mask, q @ k.swapaxes(-1, -2) + bias, -jnp.inf)
        weights = jnp.where(kept, nn.softmax(scores, -1) / 0.9, 0)
        return weights @ v * 2

    known, given = both_gradients(index_masks(512, 512)["ge"], function)
    close(known(*heads(512, 512)), given(*heads(512, 512)))


def added(q, k, v, bias):
    return nn.softmax(q @ k.swapaxes(-1, -2) / np.float32(8) + bias, -1) @ v


BIASES = {
    "triu": lambda n: jnp.triu(jnp.full((n, n), -jnp.inf), 1),
    "where": lambda n: jnp.where(jnp.tril(jnp.ones((n, n), bool)), 0.0, -jnp.inf),
    "others": lambda n: jnp.where(jnp.tril(jnp.ones((n, n), bool)), numbers(n, n), -jnp.inf),
    "each head": lambda n: jnp.triu(jnp.full((n, n), -jnp.inf), 1) + jnp.zeros((2, 1, 1)),
    "large": lambda n: jnp.where(jnp.tril(jnp.ones((n, n), bool)), 0.0, -1e9),
    "one minus": lambda n: (1 - jnp.tril(jnp.ones((n, n)))) * -1e10,
    "lowest": lambda n: jnp.where(jnp.arange(n)[:, None] >= jnp.arange(n), 0, jnp.finfo("f4").min),
    "small": lambda n: jnp.triu(jnp.full((n, n), -1e4), 1),
}
ADDED = {"large": 1, "one minus": 1, "lowest": 1, "small": 0, "each head": 0}


@pytest.mark.parametrize("name", BIASES)
def test_masks_that_are_added(name):
    known, given = both_gradients(lambda: BIASES[name](512), added)
    close(known(*heads(512, 512)), given(*heads(512, 512)))


@pytest.mark.parametrize("operand", [0, 1, 2])
@pytest.mark.parametrize("value", [1023.0, -1024.0, 3e4, -1e9, 1e18])
@pytest.mark.parametrize("name", ["large", "one minus"])
def test_large_scores_outweigh_an_added_number(name, operand, value):
    """A score of 1e9 under the mask counts as much as others."""
    args = list(heads(512, 512))
    args[operand] = args[operand].at[0, :, 400].set(value)
    args[1] = args[1].at[1, 0, 500, 0].set(5e4)
    known, given = both(lambda: BIASES[name](512), added)
    same(known(*args), given(*args))


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_added_numbers_of_other_dtypes(dtype):
    with jax.enable_x64(True):
        args = heads(512, 512, dtype=dtype)
        known, given = both_gradients(lambda: BIASES["large"](512).astype(dtype), added)
        for x, y in zip(known(*args), given(*args), strict=True):
            scale = float(jnp.abs(y).max())
            atol = scale * (1e-9 if dtype == "float64" else 0.1)
            np.testing.assert_allclose(x.astype("float32"), y.astype("float32"), atol=atol)


@pytest.mark.parametrize("operand", [0, 1, 2])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["triu", "large"])
def test_numbers_that_are_not_finite_under_an_added_mask(name, operand, value):
    args = list(heads(512, 512))
    args[operand] = args[operand].at[0, 0, 400, 3].set(value)
    known, given = both(lambda: BIASES[name](512), added)
    np.testing.assert_array_equal(np.isnan(known(*args)), np.isnan(given(*args)))


def test_two_masks_of_one_number():
    long = jnp.arange(512) < 300

    def function(q, k, v, mask):
        scores = jnp.where(long, jnp.where(mask, q @ k.swapaxes(-1, -2), -1e30), -1e30)
        return nn.softmax(scores, -1) @ v

    known, given = both_gradients(index_masks(512, 512)["ge"], function)
    close(known(*heads(512, 512)), given(*heads(512, 512)))


def test_weights_that_are_a_result():
    def function(q, k, v, mask):
        weights = nn.softmax(jnp.where(mask, q @ k.swapaxes(-1, -2), -jnp.inf), -1)
        return weights, weights @ v

    known, given = both(index_masks(512, 512)["ge"], function)
    same(known(*heads(512, 512)), given(*heads(512, 512)))


def test_one_operand_in_all_places():
    def function(x, mask):
        return attention(x, x, x, mask)

    known, given = both_gradients(index_masks(600, 600)["ge"], function)
    x = numbers(3, 600, 16)
    close(known(x), given(x))


@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "float16"])
def test_dtypes(dtype):
    with jax.enable_x64(True):
        args = heads(512, 512, dtype=dtype)
        known, given = both_gradients(index_masks(512, 512)["ge"])
        for x, y in zip(known(*args), given(*args), strict=True):
            tolerance = 1e-9 if dtype == "float64" else 0.1
            scale = float(jnp.abs(y).max())
            np.testing.assert_allclose(
                x.astype("float32"), y.astype("float32"), atol=tolerance * scale
            )


def test_library_function():
    q, k, v = (x.swapaxes(1, 2) for x in heads(512, 512))
    mask = jnp.tril(jnp.ones((512, 512), bool))
    known = jax.jit(lambda *a: nn.dot_product_attention(*a, is_causal=True))
    given = jax.jit(lambda m, *a: nn.dot_product_attention(*a, mask=m))
    close(known(q, k, v), given(mask, q, k, v))


def test_second_derivatives():
    def loss(x, mask):
        return (attention(x, x, x, mask) ** 2).sum()

    mask = index_masks(320, 320)["ge"]
    x, t = numbers(320, 16), numbers(320, 16, seed=1)

    def curvature(function):
        return jax.jit(lambda *a: jax.jvp(jax.grad(lambda x: function(x, *a[1:])), a[:1], (t,))[1])

    known = curvature(lambda x: loss(x, mask()))(x)
    close(known, curvature(loss)(x, mask()))


def test_devices_and_loops():
    mask = index_masks(512, 512)["ge"]

    def layers(x, mask):
        return lax.scan(lambda x, _: (attention(x, x, x, mask()), None), x, None, length=3)[0]

    x, values = numbers(4, 512, 16), mask()
    known = jax.pmap(lambda x: layers(x, mask))(x)
    given = jax.pmap(lambda x, m: layers(x, lambda: m), in_axes=(0, None))(x, values)
    close(known, given)


PLANS = """
import sys
sys.path.insert(0, FOLDER)
import shardax as jax
import shardax.numpy as jnp
from test_masked_columns import BIASES, added, attention, index_masks

def causal(q, k, v, name="ge"):
    return attention(q, k, v, index_masks(512, 512)[name]())

def dot_product(x, **options):
    x = x if x.ndim == 4 else x.swapaxes(0, 1)
    return jax.nn.dot_product_attention(x, x, x, **options)

x = jnp.ones((2, 512, 32))
CALL
"""
MARK = ", without columns after the row's index + "
GRADIENTS = "jax.jit(jax.grad(lambda *a: (causal(*a) ** 2).sum(), (0, 1, 2)))(x, x, x)"


@pytest.mark.parametrize(
    ("call", "count"),
    [
        *((f"jax.jit(lambda x: causal(x, x, x, {name!r}))(x)", name in SEEN) for name in NAMES),
        (GRADIENTS, 1),
        ("jax.jit(lambda x: dot_product(x, is_causal=True))(x)", 1),
        ("jax.jit(lambda x: dot_product(x, local_window_size=(100, 0)))(x)", 1),
        ("jax.jit(lambda x: dot_product(x, is_causal=True, local_window_size=64))(x)", 1),
        ("[dot_product(x, is_causal=True) for _ in range(2)]", 1),
        ("jax.jit(jax.grad(lambda x: (dot_product(x, is_causal=True) ** 2).sum()))(x)", 1),
        ("jax.jit(dot_product)(x)", 0),
        ("jax.jit(lambda x: added(x, x, x, BIASES['triu'](512)))(x)", 1),
        ("jax.jit(lambda x: added(x, x, x, BIASES['where'](512)))(x)", 1),
        *(
            (f"jax.jit(lambda x: added(x, x, x, BIASES[{name!r}](512)))(x)", count)
            for name, count in ADDED.items()
        ),
        (
            "jax.jit(lambda x: dot_product(x, is_causal=True, key_value_seq_lengths="
            "jnp.array([400, 500])))(x[:, :, None].repeat(2, 2))",
            1,
        ),
        ("jax.jit(attention)(x, x, x, jnp.ones((512, 512), bool))", 0),
    ],
)
def test_which_programs_leave_out_columns(dump_of, call, count):
    folder = repr(os.path.dirname(__file__))
    plans = dump_of(PLANS.replace("FOLDER", folder).replace("CALL", call))
    assert plans.count(MARK) == count
    assert re.search(r"rows \(2, (2, )?512\)", plans)


def test_memory_of_long_sequences():
    """The scores of 4096 positions take 64 MB."""
    x = numbers(1, 4096, 32)
    known = jax.jit(lambda x: attention(x, x, x, jnp.tril(jnp.ones((4096, 4096), bool))))
    assert known.lower(x).compile().memory_analysis().temp_size_in_bytes < 32e6
