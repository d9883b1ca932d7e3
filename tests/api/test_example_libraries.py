"""tests/api/test_example_libraries.py - optimizers and layers: their errors and older names.

Values are held against JAX's in tests/parity/cases_layers.py.
"""

import pickle

import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.example_libraries import optimizers, stax


def test_older_names():
    from shardax.experimental import optimizers as older_optimizers
    from shardax.experimental import stax as older_stax

    assert older_optimizers.adam is optimizers.adam
    assert older_stax.Dense is stax.Dense


def test_states_are_trees():
    init, _, params = optimizers.adam(0.1)
    state = init({"w": jnp.ones(2)})
    doubled = jax.tree_util.tree_map(lambda x: x * 2, state)
    assert params(doubled)["w"].tolist() == [2.0, 2.0]
    assert "OptimizerState({'w': (Array([1., 1.]" in repr(state)
    packed = optimizers.pack_optimizer_state(
        pickle.loads(pickle.dumps(optimizers.unpack_optimizer_state(state)))
    )
    assert params(packed)["w"].tolist() == [1.0, 1.0]


def update_with_another_tree():
    init, update, _ = optimizers.momentum(0.1, 0.9)
    update(0, [jnp.ones(2)], init({"w": jnp.ones(2)}))


ERRORS = [
    (
        update_with_another_tree,
        TypeError,
        r"momentum: the optimizer was initialized with the parameter tree PyTreeDef\(.*\), "
        r"but its update was passed the grad tree PyTreeDef\(\[\*\]\)",
    ),
    (
        lambda: optimizers.piecewise_constant([1], [1.0]),
        ValueError,
        "boundaries length must be one shorter than values length, got 1 and 1",
    ),
    (
        lambda: optimizers.piecewise_constant(1, [1.0, 2.0]),
        ValueError,
        "boundaries and values must be sequences",
    ),
    (
        lambda: optimizers.sgd(jnp.ones(2)),
        TypeError,
        "expected a number or a function of the step, got Array",
    ),
    (
        lambda: optimizers.pack_optimizer_state({"w": 1.0}),
        TypeError,
        "expected JoinPoints as leaves, got 1.0",
    ),
    (
        lambda: stax.Dropout(0.5)[1]((), jnp.ones(2)),
        ValueError,
        "Dropout layer requires apply_fun to be called with a PRNG key argument",
    ),
]


@pytest.mark.parametrize("call, error, text", ERRORS)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
