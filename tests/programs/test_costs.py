# tests/programs/test_costs.py - operations, bytes and memory that stages report; signatures.
import functools
import inspect

import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

X, W = jnp.ones((4, 8)), jnp.ones((8, 16))


def costs(f, *args):
    lowered = shardax.jit(f).lower(*args)
    found = lowered.cost_analysis()
    assert found == lowered.compile().cost_analysis()
    return found["flops"], found["transcendentals"]


def test_operations():
    assert costs(lambda x, w: jnp.sin(x @ w).sum(), X, W) == (2 * 4 * 8 * 16 + 63, 64)
    assert costs(lambda x: x * x + x, X) == (64, 0)
    assert costs(lambda x: x.T.reshape(-1), X) == (0, 0)
    assert costs(shardax.vmap(lambda x: x @ W), X) == (2 * 4 * 8 * 16, 0)


def test_operations_of_carried_programs():
    assert costs(lambda x: lax.fori_loop(0, 5, lambda _, c: c * c, x), X)[0] >= 5 * 32
    assert costs(lambda x: lax.scan(lambda c, r: (c + r, c), X[0], x)[0], X) == (4 * 8, 0)
    branches = lambda x: lax.cond(x[0, 0] > 0, lambda x: x, lambda x: x * x * x, x)  # noqa: E731
    assert costs(branches, X)[0] >= 64
    mapped = shardax.pmap(lambda x: x + x)
    assert costs(mapped, X) == (32, 0)


def test_bytes():
    lowered = shardax.jit(lambda x: x + x).lower(X)
    assert lowered.cost_analysis()["bytes accessed"] == 3 * 4 * 32
    memory = lowered.compile().memory_analysis()
    assert memory.argument_size_in_bytes == memory.output_size_in_bytes == 128
    assert memory.peak_memory_in_bytes >= 256
    assert memory.alias_size_in_bytes == memory.generated_code_size_in_bytes == 0


def test_signatures():
    def f(x, y=1, *, z):
        return x

    wanted = inspect.signature(f)
    for transform in (shardax.jit, shardax.vmap, shardax.grad, shardax.pmap):
        for follow in (True, False):
            assert inspect.signature(transform(f), follow_wrapped=follow) == wanted
    assert inspect.getfullargspec(shardax.jit(f)).args == ["x", "y"]
    assert str(inspect.signature(functools.partial(shardax.jit(f), 1))) == "(y=1, *, z)"
    with pytest.raises(AttributeError, match="__signature__"):
        getattr(shardax.jit(max), "__signature__")  # noqa: B009


def test_signatures_of_long_chains():
    """Each function of a function is asked for its signature once, not twice."""
    f = lambda x, *, k=1: x  # noqa: E731
    for _ in range(200):
        f = shardax.jit(f)
    assert str(inspect.signature(f)) == "(x, *, k=1)"
    assert shardax.make_jaxpr(f)(1.0).debug_info.arg_names == ("x",)
