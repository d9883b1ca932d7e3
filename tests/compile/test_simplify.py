"""tests/compile/test_simplify.py - local rewrites of programs."""

import numpy as np
import shardax as jax
import shardax.numpy as jnp


def test_the_logarithm_of_an_exponential_is_what_it_was_of():
    f = jax.jit(lambda x: jnp.log(jnp.exp(x)))
    x = jnp.array([-200.0, 0.1, 88.0, 200.0, jnp.inf, -jnp.inf, jnp.nan])
    np.testing.assert_array_equal(f(x), x)  # exp(200) overflows, exp(-200) is 0
    z = f(jnp.array(1 + 4j))
    np.testing.assert_allclose(z, 1 + (4 - 2 * np.pi) * 1j, rtol=1e-6)


EMBEDDING = """
import numpy as np, shardax as jax, shardax.numpy as jnp
from shardax import lax

table = jnp.asarray(np.random.default_rng(0).normal(size=(50, 16)), "float32")
rows = jnp.asarray(np.random.default_rng(1).integers(-60, 60, (4, 30)))
weights = jnp.asarray(np.random.default_rng(2).normal(size=(4, 30, 16)), "float32")

def loss(table, rows, weights):
    return jnp.sum(table[rows] ** 2 * weights)

def gradient(table, rows, weights):
    return lax.psum(jax.grad(loss)(table, rows, weights), "i")

mapped = jax.pmap(gradient, "i", in_axes=(None, 0, 0), out_axes=None)(table, rows, weights)
whole = jax.grad(loss)(table, rows, weights)
assert abs(mapped - whole).max() < 1e-5 * abs(whole).max()
"""


def test_the_gradient_of_an_embedding_is_added_up_once_for_all_devices(dump_of):
    scatters = [line for line in dump_of(EMBEDDING).splitlines() if "scatter-add" in line]
    # The mapped function's, and the gradient of the whole.
    assert [line.split("->")[1].strip() for line in scatters] == ["f32[50,16]"] * 2


TIED = EMBEDDING.replace("table[rows] ** 2 * weights", "(table[rows] * weights) @ table.T")


def test_an_embedding_that_multiplies_too_has_one_gradient_for_all_devices(dump_of):
    dump = dump_of(TIED)
    assert not [line for line in dump.splitlines() if "->" in line and "f32[4,50,16]" in line]


def test_sums_of_scattered_updates_are_one_scatter():
    """Over some batch dimensions or all, and over others of the result, with each mode."""
    rng = np.random.default_rng(0)
    places = jnp.asarray(rng.integers(-3, 12, (2, 3, 7)))
    updates = jnp.asarray(rng.integers(-9, 9, (2, 3, 7, 4)), "float32")

    for mode in ("drop", "clip"):
        add = lambda x, i, u: x.at[i].add(u, mode=mode)  # noqa: B023
        many = jax.vmap(jax.vmap(add))
        for x in jnp.zeros((2, 3, 9, 4)), jnp.arange(216.0).reshape(2, 3, 9, 4):
            expected = np.asarray(many(x, places, updates))
            for axes in [(0,), (1,), (0, 1), (0, 2), (1, 3), (0, 1, 2, 3), (2,)]:
                total = jax.jit(lambda i, u: jnp.sum(many(x, i, u), axes))(  # noqa: B023
                    places, updates
                )
                np.testing.assert_array_equal(total, expected.sum(axes))


TWICE = """
import numpy as np, shardax as jax, shardax.numpy as jnp

rng = np.random.default_rng(0)
table = jnp.asarray(rng.normal(size=(50, 16)), "float32")
rows = jnp.asarray(rng.integers(0, 50, 200))

def loss(table, rows):
    return jnp.sum(jnp.sin(table[rows])) + jnp.sum(table[rows] ** 2) + jnp.sum(table**3)

value = jax.jit(jax.grad(loss))(table, rows)
picked = np.asarray(table)[rows]
expected = 3 * np.asarray(table, "float64") ** 2
np.add.at(expected, np.asarray(rows), np.cos(picked) + 2 * picked)
np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-5)
"""


def test_rows_that_are_looked_up_twice_have_one_gradient(dump_of):
    assert dump_of(TWICE).count("scatter-add") == 1


UNITS = """
import numpy as np, shardax as jax, shardax.numpy as jnp

x = np.random.default_rng(0).normal(size=(3, 1, 4, 1)).astype("float32")
for name in ("sum", "prod", "max", "min"):
    reduce = getattr(jnp, name)
    for axes in [(1,), (3,), (1, 3), (0, 1), (1, 2, 3), (0, 1, 2, 3)]:
        value = jax.jit(lambda x: jnp.sqrt(1 + reduce(x, axes) ** 2))(x)
        expected = np.sqrt(1 + getattr(np, name)(x, axes) ** 2)
        assert value.shape == expected.shape
        np.testing.assert_allclose(value, expected, rtol=1e-6)
"""


def test_nothing_is_reduced_along_single_elements(dump_of):
    plans = dump_of(UNITS).split("-- plan:")[1:]
    assert len(plans) >= 24
    for k, plan in enumerate(plans[-24:]):
        assert ("reduce" in plan) == (k % 6 >= 3), plan


def test_a_recurrent_weight_has_one_gradient_for_all_devices(dump_of):
    plan = dump_of("""
import shardax as jax, shardax.numpy as jnp
from shardax import lax

def loss(w, x):
    return jnp.sum(lax.scan(lambda h, x: (jnp.tanh(h @ w + x), None), x[0], x)[0])

def gradient(w, x):
    return lax.psum(jax.grad(loss)(w, x), "i")

x = jnp.ones((4, 9, 5, 64))
jax.pmap(gradient, "i", in_axes=(None, 0), out_axes=None)(jnp.ones((64, 64)), x)
""")
    assert "dot_general -> f32[64,64]" in plan
    assert "f32[4,64,64]" not in plan


def test_dimensions_of_one_element_part_no_loops(dump_of):
    """Work before them, and uses of the values with them, are one loop."""

    def f(x, y):
        top = jnp.maximum(x.max(-1), -1)[:, None]
        safe = jnp.where(jnp.isfinite(top), top, 0)
        kept = jnp.clip(safe[None] * 2, -5, y[:, None])  # another operand with one more dimension
        return x - safe, kept, (jnp.exp(-safe)[..., None] > 0.5).astype("int32")

    rng = np.random.default_rng(0)
    x = rng.standard_normal((7, 9)).astype("float32")
    x[3, 4] = np.inf
    y = rng.standard_normal((7, 1)).astype("float32")
    with jax.disable_jit():
        expected = f(jnp.asarray(x), jnp.asarray(y))
    for got, want in zip(jax.jit(f)(x, y), expected, strict=True):
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
        assert got.shape == want.shape and got.dtype == want.dtype
    plan = dump_of(
        "import shardax as jax, shardax.numpy as jnp\n"
        "x = jnp.sin(jnp.arange(64.)).reshape(8, 8)\n"
        "jax.jit(lambda x: jax.scipy.special.logsumexp(x, 1))(x)"
    )
    assert "max is_finite select_n" in plan, plan
