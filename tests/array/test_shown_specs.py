"""tests/array/test_shown_specs.py - entries for whole dimensions in specs of results, as JAX 0.10.2
shows them."""

import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import AxisType, NamedSharding, P

X = jnp.ones((8, 4, 2))
SPECS = [P("x"), P("x", None), P(None), P(), P("x", None, None), P(None, "y")]


def split(spec, kind=AxisType.Auto):
    return NamedSharding(jax.make_mesh((4, 2), ("x", "y"), axis_types=(kind, kind)), spec)


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit])
@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_what_out_shardings_ask_for_is_shown_as_it_is_written(spec, kind):
    f = jax.jit(lambda x: (x * 2, x.sum()), out_shardings=(split(spec, kind), None))
    for _ in range(2):
        assert f(X)[0].sharding.spec == spec
        assert len(f(X)[0].sharding.spec) == len(spec)
    twice = jax.jit(lambda x: f(x)[0] + 1)(X)
    assert twice.sharding.is_equivalent_to(split(spec, kind), 3)


# spec of the operand, function, spec of the result
RESULTS = [
    (P("x", None), lambda x: x * 2, P("x", None)),
    (P("x", None, None), lambda x: x * 2, P("x", None, None)),
    (P(None), lambda x: x.T, P(None)),
    (P("x", None), lambda x: x.sum(-1), P("x")),
    (P("x", None, None), lambda x: x.sum(-1), P("x")),
    (P(None), lambda x: x.sum(0), P()),
    (P("x", None), lambda x: x.reshape(8, 8), P("x")),
    (P("x", None), lambda x: x.T, P(None, None, "x")),
    (P(None, "y"), lambda x: x.sum(0), P("y")),
]


@pytest.mark.parametrize("spec, fun, shown", RESULTS)
@pytest.mark.parametrize("wrap", [jax.jit, lambda f: f])
def test_results_over_automatic_axes(spec, fun, shown, wrap):
    got = wrap(fun)(jax.device_put(X, split(spec))).sharding.spec
    assert tuple(got) == tuple(shown)
