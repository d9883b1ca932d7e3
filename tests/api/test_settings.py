# tests/api/test_settings.py - settings for which functions are traced anew, and those that refuse.
import operator
import threading

import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax


def traces(*contexts):
    """The number of times that a jitted function is traced when it is called in each of these
    contexts."""
    count = 0

    @shardax.jit
    def f(x):
        nonlocal count
        count += 1
        return x @ x

    for context in contexts:
        with context:
            f(jnp.ones((2, 2)))
    return count


def test_flags_that_change_what_is_traced():
    high, low = (shardax.default_matmul_precision(p) for p in ("highest", "default"))
    assert traces(high, low, shardax.default_matmul_precision("highest")) == 2
    strict = shardax.numpy_dtype_promotion
    assert traces(strict("strict"), strict("standard"), strict("strict")) == 2


def test_user_contexts():
    mine = shardax.make_user_context()
    assert mine.get_global() is None
    assert traces(mine(None), mine(2), mine(3), mine(2)) == 3
    mine.set_global(2)
    assert mine.value == 2
    with mine("inner"):
        assert (mine.value, mine.get_global()) == ("inner", 2)
        with mine(None):
            assert mine.value is None
        mine.set_global(3)
        assert mine.value == "inner"
    assert (mine.value, mine.get_global()) == (3, 3)


def test_blocks_of_user_contexts_are_those_of_a_thread():
    mine = shardax.make_user_context(1)
    f = shardax.jit(lambda x: x * mine.value)
    seen = []

    def other():
        seen.append(int(f(10)))
        with mine(3):
            seen.append(int(f(10)))

    with mine(2):
        assert f(10) == 20
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert f(10) == 20
    assert seen == [10, 30] and f(10) == 10


def test_no_execution():
    f = shardax.jit(lambda x: x + 1)
    x = f(jnp.ones(3))
    with shardax.no_execution():
        for run in (lambda: f(x), lambda: x * x, lambda: shardax.pmap(f)(x)):
            with pytest.raises(RuntimeError, match="no_execution"):
                run()
        assert shardax.eval_shape(f, x).shape == (3,)
    assert (f(x) == 3).all()


def test_sums_of_half_precision():
    x = jnp.ones((1, 3), "bfloat16")
    with shardax.allow_f16_reductions(False):
        with pytest.raises(ValueError, match="bfloat16 is not allowed"):
            lax.reduce_sum(x, [1])
        assert lax.reduce_sum(x, [0]).shape == (3,)
        assert jnp.sum(x) == 3
    assert lax.reduce_sum(x, [1])[0] == 3


def test_static_indices_may_be_checked():
    x = jnp.arange(6).reshape(2, 3)
    assert x[5, 0] == x[1, 0]
    shardax.config.update("jax_check_static_indices", True)
    try:
        assert x[1, -3] == 3
        for index, message in [
            ((5, 0), "index 5 out of bounds for axis 0 with size 2"),
            ((..., -4), "index -4 out of bounds for axis 1 with size 3"),
        ]:
            with pytest.raises(IndexError, match=message):
                x[index]
            with pytest.raises(IndexError, match=message):
                shardax.jit(operator.itemgetter(index))(x)
            with pytest.raises(IndexError, match=message):
                x.at[index].get()
    finally:
        shardax.config.update("jax_check_static_indices", False)


def test_rank_promotion_in_vectorize():
    f = jnp.vectorize(lambda a, b: a + b)
    with shardax.numpy_rank_promotion("raise"):
        assert f(jnp.ones((2, 3)), 1.0).shape == (2, 3)
        with pytest.raises(ValueError, match=r"shapes \[\(2, 3\), \(3,\)\] require"):
            f(jnp.ones((2, 3)), jnp.ones(3))


def test_indices_of_given_size():
    x = jnp.arange(10)
    at = shardax.jit(lambda i: x[shardax.ds(i, 3)])
    assert at(4).tolist() == [4, 5, 6]
    assert x[shardax.ds(4, 3)].tolist() == [4, 5, 6]
    assert x[shardax.ds(1, 3, 2)].tolist() == [1, 3, 5]
    assert x[shardax.ds(2)].tolist() == [0, 1]
    assert x[shardax.ds(None)].shape == (10,)
    for bad in ((0, 2.5), (0, 2, 1.5)):
        with pytest.raises(ValueError, match="must be a static int"):
            shardax.ds(*bad)
    assert lax.shape_as_value((2, 3)).tolist() == [2, 3]
    assert lax.dce_sink(x) is None


def test_what_is_set_inside_of_a_block_holds_after_it():
    precision = "jax_default_matmul_precision"
    before = getattr(shardax.config, precision)
    try:
        with shardax.default_matmul_precision("high"), shardax.default_matmul_precision("highest"):
            shardax.config.update(precision, "default")
            assert getattr(shardax.config, precision) == "highest"
        assert getattr(shardax.config, precision) == "default"
    finally:
        shardax.config.update(precision, before)
    with shardax.numpy_rank_promotion("raise"):
        with pytest.raises(ValueError, match="jax_numpy_rank_promotion must be one of"):
            shardax.config.update("jax_numpy_rank_promotion", "never")
        with pytest.raises(ValueError, match="rank"):
            jnp.ones(2) + jnp.ones((2, 2))


def test_functions_are_traced_anew_once_caches_are_cleared():
    count = 0

    def f(x):
        nonlocal count
        count += 1
        return x + 1

    jitted, mapped = shardax.jit(f), shardax.pmap(f)
    for expected in (2, 4):
        for _ in range(2):
            jitted(1.0)
            mapped(jnp.ones(2))
        assert count == expected
        shardax.clear_caches()
