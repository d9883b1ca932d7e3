"""tests/compile/test_elide_concat.py - loops write operands of a concatenation into its result."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

rng = np.random.default_rng(0)
X = rng.standard_normal((6, 5, 64)).astype("float32")


def rotary(x):
    a, b = x[..., :32], x[..., 32:]
    return jnp.concatenate([a * 2 - b * 3, b * 2 + a * 3], -1)


def kept(x):
    y = x * 2
    return jnp.concatenate([y, y + 1, y * 3]), y


CASES = {
    "concatenate 0": lambda x: jnp.concatenate([x * 2, x, x + 1], 0),
    "concatenate 1": lambda x: jnp.concatenate([x * 2, x[:, :2], jnp.sin(x)], 1),
    "concatenate last": lambda x: jnp.concatenate([x * 2, x[..., :7], x + 1], -1),
    "short rows": lambda x: jnp.concatenate([x[..., :3] * 2, x[..., :4] + 1], -1),
    "the same twice": lambda x: (lambda y: jnp.concatenate([y, y + 1, y], 1))(x * 2),
    "one that others need": kept,
    "rotary": rotary,
    "stack": lambda x: jnp.stack([x * 2, x + 1, x], 1),
    "stack last": lambda x: jnp.stack([x * 2, x + 1], -1),
    "pad": lambda x: jnp.pad(x * 2, ((1, 2), (0, 3), (4, 0)), constant_values=7),
    "pad first": lambda x: jnp.pad(jnp.sin(x), ((1, 2), (0, 0), (0, 0))),
    "pad last": lambda x: jnp.pad(jnp.sin(x), ((0, 0), (0, 0), (1, 2))),
    "padding within": lambda x: lax.pad(x * 2, 1.0, ((1, 2, 1), (0, 3, 0), (0, 0, 0))),
    "padding less": lambda x: lax.pad(x * 2, 1.0, ((-1, 2, 0), (0, 3, 0), (0, -1, 0))),
    "of the sum": lambda x: jnp.pad(x.sum(1), ((1, 0), (0, 0))),
    "of a product": lambda x: jnp.concatenate([x @ x.swapaxes(1, 2), x[..., :5] * 2], -1),
    "turned": lambda x: jnp.concatenate([(x * 2).swapaxes(0, 2), jnp.sin(x.swapaxes(0, 2))], 2),
    "of wholes": lambda x: jnp.concatenate([jnp.pad(x * 2, ((0, 0), (1, 0), (0, 0))), x * 3], 1),
    "added to": lambda x: jnp.concatenate([x * 2, x + 1], 1) + 1,
    "shares": lambda x: [jnp.concatenate([x * 2, x + 1]), jnp.concatenate([x * 3, x])],
    "half": lambda x: jnp.concatenate([x.astype("bfloat16") * 2, x.astype("bfloat16")], 1),
    "complex": lambda x: jnp.concatenate([lax.complex(x, x) * 2, lax.complex(x, x)], 1),
    "masks": lambda x: jnp.concatenate([x > 0, x < 1], 1),
    "none": lambda x: jnp.concatenate([x[:0] * 2, x * 3]),
}


@pytest.mark.parametrize("name", CASES)
def test_bits(name):
    f = CASES[name]
    for x in (X, X[::-1].swapaxes(0, 1), np.ascontiguousarray(X.swapaxes(0, 1)).swapaxes(0, 1)):
        staged, eager = jax.jit(f)(x), f(jnp.asarray(x))
        for a, b in zip(jax.tree.leaves(staged), jax.tree.leaves(eager), strict=True):
            assert a.dtype == b.dtype
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
        mapped, rows = jax.vmap(f)(x[None]), eager
        for a, b in zip(jax.tree.leaves(mapped), jax.tree.leaves(rows), strict=True):
            np.testing.assert_array_equal(a[0], b)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("columns", [50, 64, 700])
def test_complex_parts_of_several_results(dtype, columns):
    """Each number takes more memory than its parts, which machine code writes."""
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        x, y = (jnp.asarray(rng.normal(size=(24, n)), dtype).real for n in (columns, 46))
        both = lambda f, x, y: jnp.concatenate([f(x).astype(dtype), f(y).astype(dtype)], 1)
        run = lambda x, y: (both(jnp.sin, x, y), both(jnp.cos, x, y), both(jnp.tanh, x, y))
        for got, want in zip(jax.jit(run)(x, y), run(x, y)):
            np.testing.assert_array_equal(got, want)


def test_no_step_puts_together(dump_of):
    program = """
import numpy as np, shardax as jax, shardax.numpy as jnp
x = jnp.asarray(np.random.default_rng(0).standard_normal((8, 64, 64)), "float32")
jax.jit(lambda x: {})(x)
"""
    plan = dump_of(program.format("jnp.concatenate([x * 2, x + 1], -1)"))
    assert "concatenate" not in plan and "copy" not in plan
    plan = dump_of(program.format("jnp.pad(x * 2, ((0, 0), (1, 0), (0, 0)))"))
    assert "pad" not in plan and plan.count("copy f32[8,1,64]") == 1
    assert "concatenate" in dump_of(program.format("jnp.concatenate([x[..., :9], x[..., :4]], -1)"))


def test_in_loops_and_over_donated_memory():
    def turn(h, x):
        h = jnp.concatenate([jnp.sin(h[:3] + x[:3]), h[3:] * x[3:]])
        return h, jnp.pad(h * 2, ((1, 0), (0, 0), (0, 0)))

    h = jnp.asarray(X)
    got, outs = jax.jit(lambda h, xs: lax.scan(turn, h, xs))(h, jnp.stack([h, h + 1, h]))
    want = [h]
    for x in (h, h + 1, h):
        want.append(turn(want[-1], x)[0])
    np.testing.assert_allclose(got, want[-1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(outs[:, 1:], 2 * np.stack(want[1:]), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(outs[:, 0], 0)

    given = jnp.asarray(X)
    f = jax.jit(lambda x: jnp.concatenate([x[:3] * 2, x[3:] + 1]), donate_argnums=0)
    np.testing.assert_array_equal(f(given), np.concatenate([X[:3] * 2, X[3:] + 1]))


def test_gradients():
    def f(x):
        return jnp.sum(jnp.sin(jnp.pad(rotary(x) * x, ((0, 0), (1, 1), (0, 0)))) ** 2)

    np.testing.assert_allclose(jax.jit(jax.grad(f))(X), jax.grad(f)(X), rtol=1e-5, atol=1e-5)
