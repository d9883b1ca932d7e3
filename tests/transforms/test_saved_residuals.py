"""tests/transforms/test_saved_residuals.py - residuals of derivatives, and the lines that they come
from."""

import sys

import shardax as jax
import shardax.numpy as jnp
from shardax.ad_checkpoint import checkpoint_name, print_saved_residuals, saved_residuals

W1, W2, W3, X = jnp.ones((5, 4)), jnp.ones((6, 5)), jnp.ones((7, 6)), jnp.ones(4)


def g(W, x):
    y = jnp.dot(W, x)
    return jnp.sin(y)


def f(W1, W2, W3, x):
    x = g(W1, x)
    x = g(W2, x)
    return g(W3, x)


ARGUMENTS = [
    "f32[5,4] from the argument W1",
    "f32[6,5] from the argument W2",
    "f32[7,6] from the argument W3",
    "f32[4] from the argument x",
]


def lines(fun, *args, **kwargs):
    """Each residual's text without its place but for the function's own name."""
    out = []
    for aval, source in saved_residuals(fun, *args, **kwargs):
        head, _, place = source.partition(" from /")
        out.append(f"{aval.str_short(short_dtypes=True)} {head}")
        if place:
            assert __file__.endswith(place.split(":")[0].rsplit("/", 1)[1])
            out[-1] += " in " + place[place.index("(") + 1 : -1].rpartition("<locals>.")[2]
    return out


def test_plain():
    assert lines(f, W1, W2, W3, X) == [
        *ARGUMENTS,
        "f32[5] output of sin in g",
        "f32[5] output of cos in g",
        "f32[6] output of sin in g",
        "f32[6] output of cos in g",
        "f32[7] output of cos in g",
    ]


def test_calls_are_looked_into():
    assert lines(jax.jit(f), W1, W2, W3, X)[4:] == lines(f, W1, W2, W3, X)[4:]


def test_checkpoint_keeps_inputs():
    def h(W1, W2, W3, x):
        x = jax.checkpoint(g)(W1, x)
        x = jax.checkpoint(g)(W2, x)
        return jax.checkpoint(g)(W3, x)

    assert lines(h, W1, W2, W3, X) == [
        *ARGUMENTS,
        "f32[5] output of sin in g",
        "f32[6] output of sin in g",
    ]


def test_policies():
    h = jax.checkpoint(f, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)
    assert lines(h, W1, W2, W3, X) == [
        *ARGUMENTS,
        "f32[5] output of dot_general in g",
        "f32[6] output of dot_general in g",
        "f32[7] output of dot_general in g",
    ]


def test_names():
    def f4(W1, W2, W3, x):
        x = checkpoint_name(g(W1, x), name="a")
        x = checkpoint_name(g(W2, x), name="b")
        return checkpoint_name(g(W3, x), name="c")

    h = jax.checkpoint(f4, policy=jax.checkpoint_policies.save_only_these_names("a"))
    assert lines(h, W1, W2, W3, X) == [*ARGUMENTS, "f32[5] named 'a' in f4"]


def test_constants_and_paths():
    c = jnp.arange(4.0)
    assert lines(lambda z: jnp.sin(z * c).sum(), X) == [
        "f32[4] from a constant",
        "f32[4] output of cos in <lambda>",
    ]
    assert lines(lambda p, y: p["a"] * y["b"][0], {"a": 1.0}, y={"b": [2.0]}) == [
        "f32[] from the argument p['a']",
        "f32[] from the argument y['b'][0]",
    ]
    assert lines(lambda z: jnp.sin(jnp.exp(z)) * 2.0, X) == [
        "f32[] from a literal",
        "f32[4] output of exp in <lambda>",
        "f32[4] output of cos in <lambda>",
    ]


def test_printed(capsys):
    print_saved_residuals(g, W1, X)
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["f32[5,4] from the argument W", "f32[4] from the argument x"]
    line = g.__code__.co_firstlineno + 2
    column = ":11" if sys.version_info >= (3, 11) else ""
    assert printed[2] == f"f32[5] output of cos from {__file__}:{line}{column} (g)"
    assert len(printed) == 3
