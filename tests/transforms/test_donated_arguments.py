"""tests/transforms/test_donated_arguments.py - donated and deleted arrays: calls that take them,
and their
errors."""

import warnings

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.experimental import checkify


def test_results_do_not_share_identity_with_arguments():
    x = jnp.arange(3.0)
    y = shardax.jit(lambda x: x)(x)
    x.delete()
    np.testing.assert_array_equal(y, [0, 1, 2])


def test_donation():
    x = jnp.ones(3)
    view = x[0]
    y = shardax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted() and float(view) == 1
    np.testing.assert_array_equal(y, [2, 2, 2])
    with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[3\]"):
        x + 1
    z = jnp.ones(3)
    with pytest.warns(UserWarning, match=r"Some donated buffers were not usable: float32\[3\]"):
        shardax.jit(lambda x: x.sum(), donate_argnums=0)(z)
    assert not z.is_deleted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shardax.jit(lambda x: x, donate_argnames="x")(x=z)
    assert z.is_deleted()


def test_an_array_donated_beside_its_use():
    x = jnp.ones(3)
    f = shardax.jit(lambda x, y: x + y, donate_argnums=0)
    for _ in range(2):  # staged, and found again
        with pytest.raises(RuntimeError, match=r"leaves 0 and 1 of the arguments are one array"):
            f(x, x)
    assert not x.is_deleted()
    g = shardax.pmap(lambda x, y: x + y, donate_argnums=0)
    with pytest.raises(RuntimeError, match="one array of type float32"):
        g(*[jnp.ones((2, 3))] * 2)
    assert f(x, jnp.ones(3)).tolist() == [2, 2, 2] and x.is_deleted()


def test_programs_keep_the_memory_of_arrays_that_are_deleted_later():
    x = jnp.arange(3.0)
    compiled = shardax.jit(lambda: x + 1)
    assert compiled().tolist() == [1.0, 2.0, 3.0]
    _, tangents = shardax.linearize(lambda y: x * y, jnp.ones(3))
    x.delete()
    others = [jnp.full(3, 7.0) for _ in range(8)]
    assert compiled().tolist() == [1.0, 2.0, 3.0]
    assert tangents(jnp.ones(3)).tolist() == [0.0, 1.0, 2.0]
    assert len(others) == 8
    with pytest.raises(RuntimeError, match="Array has been deleted"):
        shardax.jit(lambda: x + 1)()


@pytest.mark.parametrize("inner", [shardax.jit, shardax.pmap])
def test_donation_to_a_call_that_is_only_traced_takes_nothing(inner):
    donating = inner(lambda x: x + 1, donate_argnums=0)
    for outer in (
        shardax.jit,
        shardax.checkpoint,
        lambda f: lambda: shardax.make_jaxpr(f)() and f(),
    ):
        x = jnp.arange(3.0)[None]
        out = outer(lambda: donating(x) * 1)()  # noqa: B023
        assert out.tolist() == [[1.0, 2.0, 3.0]]
    err, out = checkify.checkify(donating)(jnp.arange(3.0)[None])
    assert err.get() is None and out.tolist() == [[1.0, 2.0, 3.0]]


def test_deletion_by_the_function_that_is_traced():
    x = jnp.arange(3.0)

    def f():
        out = x + 1
        x.delete()
        return out

    with pytest.raises(RuntimeError, match="deleted or donated by the function that uses it"):
        shardax.make_jaxpr(lambda: shardax.jit(lambda y: f() + y)(1.0))()
