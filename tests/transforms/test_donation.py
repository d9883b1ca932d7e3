# tests/transforms/test_donation.py - donated arrays: results take over their memory where nothing
# else
# needs it.
import functools

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

N = 1 << 14


def fresh(seed, shape=(N,), dtype="float32"):
    return jnp.asarray(np.random.RandomState(seed).uniform(0.5, 2, shape), dtype)


def adam(p, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g * g
    return p - 0.1 * m / (jnp.sqrt(v) + 1e-8), m, v


# Functions of four arrays; all of them are donated.
FUNCTIONS = {
    "adam": adam,
    "swapped": lambda a, b, c, d: (b + 1, a + 1, d * c, c),
    "read again": lambda a, b, c, d: (a + 1, a * b, a - c),
    "read again later": lambda a, b, c, d: (a + 1, jnp.sort(a) + b, jnp.cumsum(c)),
    "reversed": lambda a, b, c, d: (a + a[::-1], b * jnp.roll(b, 3)),
    "reduced": lambda a, b, c, d: (a - a.mean(), b / jnp.max(b), c.sum() + d),
    "identity": lambda a, b, c, d: (a, a + b),
    "unused": lambda a, b, c, d: (jnp.sin(a), jnp.cos(a)),
    "reshaped": lambda a, b, c, d: (a.reshape(-1, 2).T + 1, b.reshape(2, -1) * 2),
    "updates": lambda a, b, c, d: (a.at[3].set(b[5]), b.at[:7].add(1.0), c.at[::2].mul(2.0)),
    "loop": lambda a, b, c, d: lax.fori_loop(0, 3, lambda i, s: (s[1], s[0] * 2, s[2]), (a, b, c)),
    "branch": lambda a, b, c, d: (lax.cond(a[0] > 1, jnp.sin, jnp.cos, b), b + c),
    "narrower": lambda a, b, c, d: ((a * b).astype("bfloat16"), (c + d).astype("float32")),
    "constant": lambda a, b, c, d: (a + np.arange(N, dtype="float32"), b),
}


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_values_stay_what_they_are(name, dtype):
    f = FUNCTIONS[name]
    wanted = shardax.jit(f)(*(fresh(i, dtype=dtype) for i in range(4)))
    donating = shardax.jit(f, donate_argnums=(0, 1, 2, 3))
    for _ in range(2):
        found = donating(*(fresh(i, dtype=dtype) for i in range(4)))
        for a, b in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def pointers(arrays):
    return {a.unsafe_buffer_pointer() for a in arrays}


def test_results_lie_where_donated_arrays_lay():
    step = shardax.jit(adam, donate_argnums=(0, 1, 2))
    state, g = tuple(fresh(i) for i in range(3)), fresh(3)
    before = pointers(state)
    for _ in range(3):
        given, state = state, step(*state, g)
        assert pointers(state) == before
        assert all(a.is_deleted() for a in given)
    assert not g.is_deleted()


def test_an_update_is_written_in_place():
    x = fresh(0)
    at = x.unsafe_buffer_pointer()
    x = shardax.jit(lambda x, i: x.at[i].set(0.0), donate_argnums=0)(x, 5)
    assert x.unsafe_buffer_pointer() == at and x[5] == 0


def test_memory_that_others_hold_is_left_alone():
    double = shardax.jit(lambda x: 2 * x, donate_argnums=0)
    x = fresh(0)
    seen, kept = np.asarray(x), np.array(x)
    assert double(x).unsafe_buffer_pointer() != seen.ctypes.data
    np.testing.assert_array_equal(seen, kept)
    x = fresh(0)
    part, whole = x[3:9], x.reshape(2, -1)
    double(x)
    np.testing.assert_array_equal(part, kept[3:9])
    np.testing.assert_array_equal(whole, kept.reshape(2, -1))
    lent = np.ones(N, "float32")
    double(jnp.from_dlpack(lent))
    assert (lent == 1).all()


def test_constants_that_are_donated_elsewhere():
    x = fresh(0)
    kept = np.array(x)
    plus = shardax.jit(lambda y: x + y)
    plus(1.0)
    shardax.jit(lambda x: x * 0, donate_argnums=0)(x)
    np.testing.assert_array_equal(plus(0.0), kept)


def test_one_array_twice():
    x = fresh(0)
    kept = np.array(x)
    f = shardax.jit(lambda a, b: (a + 1, a * b), donate_argnums=(0, 1))
    np.testing.assert_array_equal(f(x, x)[1], kept * kept)


@pytest.mark.filterwarnings("error")
def test_what_no_result_resembles_gives_its_memory_to_one_of_its_size():
    x, y, z = fresh(0, (4, 8)), fresh(1, (32,)), fresh(2, (4, 8))
    shardax.jit(lambda x: x.reshape(32), donate_argnums=0)(x)
    shardax.jit(lambda y: y.astype(int).reshape(8, 4), donate_argnums=0)(y)
    assert x.is_deleted() and y.is_deleted()
    x = fresh(0, (32,))
    with pytest.warns(UserWarning, match=r"not usable: float32\[4,8\]"):
        shardax.jit(lambda z, x: z.reshape(32) + x, donate_argnums=(0, 1))(z, x)
    assert x.is_deleted() and not z.is_deleted()


def test_over_devices():
    @functools.partial(shardax.pmap, axis_name="i", donate_argnums=0)
    def step(w, x):
        return w - 0.1 * lax.pmean(w * x, "i")

    w, x = fresh(0, (4, N)), fresh(1, (4, N))
    wanted = np.asarray(w) - np.float32(0.1) * (np.asarray(w) * np.asarray(x)).mean(0)
    out = step(w, x)
    np.testing.assert_allclose(out, wanted, rtol=1e-5)
    assert w.is_deleted() and not x.is_deleted()


def test_the_search_for_nan_sees_the_arguments():
    f = shardax.jit(lambda x: jnp.log(x - 1), donate_argnums=0)
    with shardax.debug_nans(True), pytest.raises(FloatingPointError, match="log"):
        f(jnp.zeros(N))
