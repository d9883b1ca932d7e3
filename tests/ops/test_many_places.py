"""tests/ops/test_many_places.py - positions that 32 bits do not hold are refused while x64 is off.

The arrays repeat one element, so that they take no memory.
"""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

MANY = 2_200_000_000


def many(dtype):
    return jnp.broadcast_to(jnp.ones((), dtype), (MANY,))


CALLS = {
    "nonzero": lambda: jnp.nonzero(many(bool)),
    "nonzero of a size": lambda: jnp.nonzero(many("int8"), size=3),
    "flatnonzero": lambda: jnp.flatnonzero(many("int8"), size=3),
    "argwhere": lambda: jnp.argwhere(many("int8"), size=3),
    "argmax": lambda: jnp.argmax(many("int8")),
    "argmin": lambda: many("int8").argmin(),
    "lax.argmax": lambda: lax.argmax(many("int8"), 0, np.int32),
    "argsort": lambda: jnp.argsort(many("int8")),
    "lexsort": lambda: jnp.lexsort((many("int8"),)),
    "searchsorted": lambda: jnp.searchsorted(many("int8"), jnp.int8(1)),
    "top_k": lambda: lax.top_k(many("int8"), 2),
    "jit": lambda: shardax.jit(jnp.argmax)(many("int8")),
    "a mask": lambda: many("int8")[many(bool)],
}


@pytest.mark.parametrize("name", CALLS)
def test_refused(name):
    with pytest.raises((ValueError, IndexError), match=str(MANY)) as error:
        CALLS[name]()
    assert name == "top_k" or "jax_enable_x64" in str(error.value)


def test_wide_positions_are_asked_for():
    with shardax.enable_x64(True):
        assert jnp.nonzero(jnp.array([0, 1, 0, 1]))[0].dtype == np.int64
        found = jnp.nonzero(jnp.array([[0, 2], [3, 0]]), size=3, fill_value=-1)
        assert [a.tolist() for a in found] == [[0, 1, -1], [1, 0, -1]]
        jaxpr = shardax.make_jaxpr(lambda m: jnp.nonzero(m, size=1))(
            shardax.ShapeDtypeStruct((MANY,), bool)
        )
        assert jaxpr.out_avals[0].dtype == np.int64
    assert jnp.nonzero(jnp.array([0, 1, 0, 1]))[0].tolist() == [1, 3]


def test_masks_of_many_elements_select_under_x64():
    mask = np.zeros((2, MANY // 2), bool)
    mask[0, 3] = mask[1, -1] = True
    with shardax.enable_x64(True):
        mask = jnp.asarray(mask)
        selected = jnp.broadcast_to(jnp.arange(2, dtype="int8")[:, None], mask.shape)[mask]
        assert selected.tolist() == [0, 1]
