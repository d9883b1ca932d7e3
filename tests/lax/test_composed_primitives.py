"""tests/lax/test_composed_primitives.py - JAX's primitives that are compositions of ops here."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.extend.core import primitives

X = np.array([[3, 1, 2], [5, 4, 7]], np.float32)


def program(f):
    return jax.make_jaxpr(f)(1.0, 1.0).jaxpr


WINDOWS = dict(window_strides=(1, 1), padding=((0, 0), (0, 0)))


@pytest.mark.parametrize(
    ("name", "operands", "params", "expected"),
    [
        ("split_p", (X,), dict(sizes=(1, 2), axis=1), [X[:, :1], X[:, 1:]]),
        ("stack_p", (X, X), dict(axis=1), np.stack([X, X], 1)),
        ("unstack_p", (X,), dict(axis=0), list(X)),
        ("tile_p", (X,), dict(reps=(2, 1)), np.tile(X, (2, 1))),
        ("copy_p", (X,), {}, X),
        ("device_put_p", (X,), dict(devices=(None,), srcs=(None,)), [X]),
        ("reduce_xor_p", (np.arange(6),), dict(axes=(0,)), 1),
        (
            "reduce_p",
            (X, np.float32(1)),
            dict(jaxpr=program(lambda a, b: a * b), computation=None, dimensions=(1,)),
            [X.prod(1)],
        ),
        (
            "reduce_window_p",
            (X, np.float32(1)),
            dict(
                jaxpr=program(lambda a, b: a * b + 1),
                window_dimensions=(1, 2),
                base_dilation=(1, 1),
                window_dilation=(1, 1),
                **WINDOWS,
            ),
            [[[5, 5], [25, 36]]],
        ),
        (
            "select_and_scatter_p",
            (X, np.array([[2, 3]], np.float32), np.float32(1)),
            dict(
                select_jaxpr=program(lambda a, b: a >= b),
                scatter_jaxpr=program(lambda a, b: a + b),
                window_dimensions=(2, 2),
                **WINDOWS,
            ),
            [[1, 1, 1], [3, 1, 4]],
        ),
        (
            "approx_top_k_p",
            (X,),
            dict(k=1, reduction_dimension=-1, recall_target=0.9, is_max_k=False),
            [[[1], [4]], [[1], [1]]],
        ),
    ],
)
def test_composed(name, operands, params, expected):
    primitive = getattr(lax, name)
    assert primitive is getattr(primitives, name)
    assert primitive.multiple_results == isinstance(expected, list) or name.startswith("select")
    for bind in (primitive.bind, jax.jit(lambda *xs, **_: primitive.bind(*xs, **params))):
        out = bind(*operands, **params) if bind == primitive.bind else bind(*operands)
        jax.tree.map(np.testing.assert_array_equal, out, _like(expected, out))


def _like(expected, out):
    leaves, tree = jax.tree.flatten(out)
    return tree.unflatten([expected] if not isinstance(out, list) else expected[: len(leaves)])


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16])
def test_total_order(dtype):
    x = jnp.array([-np.nan, -np.inf, -1, -0.0, 0.0, 2, np.inf, np.nan], dtype)
    rows, columns = jnp.meshgrid(x, x, indexing="ij")
    places = np.arange(8)
    for name, compare in (("eq", np.equal), ("le", np.less_equal), ("lt", np.less)):
        out = getattr(lax, f"{name}_to_p").bind(rows, columns)
        np.testing.assert_array_equal(out, compare(places[:, None], places))


def test_tokens():
    token = lax.create_token_p.bind()
    assert lax.after_all_p.bind(token, token).shape == token.shape


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8])
def test_rng_uniform(dtype):
    draw = jax.jit(lambda: lax.rng_uniform(dtype(2), dtype(9), (1000,)))
    out = draw()
    assert out.dtype == dtype and out.min() >= 2 and out.max() <= 9
    assert abs(np.float32(out).mean() - 5.5) < 0.7
    assert (out != draw()).any()
    assert lax.rng_uniform_p.bind(0.0, 1.0, shape=(2, 3)).shape == (2, 3)


def test_rng_uniform_of_two_dtypes():
    with pytest.raises(TypeError, match="bounds of one dtype are needed; got float32, int32"):
        lax.rng_uniform(0.0, 1, ())


def test_names_that_no_op_has():
    with pytest.raises(AttributeError, match="'shardax.lax' has no attribute 'nothing_p'"):
        lax.nothing_p  # noqa: B018
