"""tests/array/test_in_shardings.py - arrays that lie otherwise than in_shardings say."""

import typing

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import AxisType, NamedSharding
from shardax.sharding import PartitionSpec as P


def mesh(*shape):
    names = "xy"[: len(shape)]
    return jax.make_mesh(shape, tuple(names), axis_types=(AxisType.Auto,) * len(shape))


def test_arguments_that_were_placed_lie_as_asked():
    split, whole = NamedSharding(mesh(4), P("x")), NamedSharding(mesh(4), P())
    f = jax.jit(lambda n, x: x["w"] * n, in_shardings=(None, split))
    x = np.arange(8.0, dtype=np.float32)
    for _ in range(2):
        with pytest.raises(
            ValueError,
            match=r"Sharding passed to jit does not match the sharding on the respective arg, "
            r"at in_shardings\[1\]\['w'\]. Got jit sharding: NamedSharding\(.*spec=P\('x',\).*,\n"
            r"arg sharding: NamedSharding\(.*spec=P\(\).*\) for arg type: float32\[8\]. Bring it "
            r"there with shardax.device_put, or leave in_shardings out.",
        ):
            f(2, {"w": jax.device_put(x, whole)})
        for placed in (x, jnp.asarray(x), jax.device_put(x, split)):
            assert f(2, {"w": placed}).sharding == split


def test_other_words_for_the_same_parts_are_taken():
    x = jnp.arange(8.0)
    f = jax.jit(lambda x: x, in_shardings=NamedSharding(mesh(2, 2), P(("x", "y"))))
    assert f(jax.device_put(x, NamedSharding(mesh(4), P("x")))).shape == (8,)
    with pytest.raises(ValueError, match="does not match the sharding on the respective arg"):
        f(jax.device_put(x, NamedSharding(mesh(2, 2), P("x"))))


def test_static_arguments_are_not_counted():
    split = NamedSharding(mesh(4), P("x"))
    f = jax.jit(lambda n, x: x * n, static_argnums=0, in_shardings=(split,))
    assert f(2, jax.device_put(jnp.arange(8.0), split)).shape == (8,)
    with pytest.raises(ValueError, match="does not match the sharding on the respective arg"):
        f(2, jax.device_put(jnp.arange(8.0), NamedSharding(mesh(4), P())))


def test_within_other_programs_they_are_brought_there():
    split, whole = NamedSharding(mesh(4), P("x")), NamedSharding(mesh(4), P())
    f = jax.jit(lambda x: x + 1, in_shardings=split)
    x = jax.device_put(jnp.arange(8.0), whole)
    np.testing.assert_array_equal(jax.jit(lambda x: f(x))(x), np.arange(8.0) + 1)


def test_trees_of_shardings_that_do_not_fit():
    x = jnp.ones(4)
    nothing = [None] * 3

    class Pair(typing.NamedTuple):
        first: object

    with pytest.raises(ValueError, match="wrong length: .* length 3 for an args tuple of length 2"):
        jax.jit(lambda x, y: x, in_shardings=tuple(nothing))(x, x)
    with pytest.raises(ValueError, match="is not a tuple: .*Pair.* wrapped in a singleton tuple"):
        jax.jit(lambda x: x, in_shardings=Pair(P()))(Pair(x))
    with pytest.raises(ValueError, match=r"Mismatch details \(2 found\)") as error:
        out = {"a": [None, None], "b": (None, None)}
        jax.jit(lambda x: x, out_shardings=out)({"a": x, "b": x})
    assert "jit out_shardings['a']" in str(error.value)
    assert "jit out_shardings['b']" in str(error.value)
