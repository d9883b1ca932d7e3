"""tests/pmap/test_own_paths.py - predicates that vary over devices: each device runs its own path,
and collectives need all devices on one."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

x = jnp.arange(4.0)


def mapped(f, **options):
    return jax.pmap(f, "i", **options)


def test_only_the_taken_branch_runs():
    seen = []

    def record(v):
        jax.debug.callback(lambda a: seen.append(float(a)), v)
        return v

    mapped(lambda v: lax.cond(v > 1, record, lambda u: u, v))(x)
    assert seen == [2.0, 3.0]


def test_each_device_loops_as_often_as_it_wants():
    f = mapped(lambda v: lax.while_loop(lambda c: c[0] < v, lambda c: (c[0] + 1, c[1] * 2), (0, 1)))
    np.testing.assert_array_equal(f(x)[1], [1, 2, 4, 8])


def test_large_slices_run_on_all_cores_with_the_same_bits():
    big = jnp.linspace(0, 1, 8 * 60_000).reshape(8, -1)
    f = mapped(lambda v, k: lax.cond(k > 3, jnp.sin, jnp.exp, v))
    out = np.asarray(f(big, jnp.arange(8)))
    np.testing.assert_array_equal(out[:4], jnp.exp(big[:4]))
    np.testing.assert_array_equal(out[4:], jnp.sin(big[4:]))


def test_devices_that_disagree_about_a_collective():
    f = mapped(lambda v: lax.cond(v > 1, lambda u: lax.psum(u, "i"), lambda u: u, v))
    with pytest.raises(RuntimeError) as caught:
        f(x)
    text = str(caught.value)
    assert text.startswith("cond: the predicate differs between devices of axis 'i', and psum")
    assert f"{__file__}:" in text
    assert "devices 2 and 3 reach it, devices 0 and 1 do not" in text


def test_two_branches_with_collectives():
    f = mapped(
        lambda v: lax.switch(
            v.astype(int) % 2, [lambda u: lax.psum(u, "i"), lambda u: lax.pmax(u, "i")], v
        )
    )
    with pytest.raises(RuntimeError, match="all devices reach one, but not in the same branch"):
        f(x)


def test_devices_that_leave_a_loop_with_a_collective_early():
    f = mapped(lambda v: lax.while_loop(lambda c: c < 3, lambda c: c + lax.pmax(c * 0 + 1, "i"), v))
    with pytest.raises(RuntimeError, match="while_loop: .* devices 0, 1 and 2 reach it, device 3"):
        f(x)
    np.testing.assert_array_equal(f(x * 0), [3.0] * 4)


@pytest.mark.parametrize("threshold, expected", [(10, [0, 10, 20, 30]), (-1, [6, 6, 6, 6])])
def test_devices_that_agree_reach_the_collective(threshold, expected):
    f = mapped(
        lambda v, t: lax.cond(v > t, lambda u: lax.psum(u, "i"), lambda u: u * 10, v),
        in_axes=(0, None),
    )
    np.testing.assert_array_equal(f(x, threshold), expected)


def test_branches_without_the_collective_may_differ():
    branches = [jnp.negative, lambda u: u * 10, lambda u: lax.psum(u, "i")]
    f = mapped(lambda v, k: lax.switch(k, branches, v))
    np.testing.assert_array_equal(f(x, jnp.array([0, 1, 0, 1])), [0, 10, -2, 30])
    np.testing.assert_array_equal(f(x, jnp.array([2, 2, 2, 2])), [6] * 4)
    with pytest.raises(RuntimeError, match="device 3 reaches it, devices 0, 1 and 2 do not"):
        f(x, jnp.array([0, 1, 0, 2]))


def test_collectives_over_other_axes_are_not_concerned():
    f = jax.pmap(
        lambda row, k: jax.pmap(
            lambda v: lax.cond(k > 0, lambda u: lax.psum(u, "j"), lambda u: u, v), "j"
        )(row),
        "i",
    )
    out = f(jnp.arange(4.0).reshape(2, 2), jnp.array([0, 1]))
    np.testing.assert_array_equal(out, [[0, 1], [5, 5]])


def test_gradients_follow_each_device():
    f = mapped(lambda v: lax.cond(v > 1, lambda u: u * u, lambda u: u * 10, v))
    np.testing.assert_array_equal(jax.grad(lambda v: f(v).sum())(x), [10, 10, 4, 6])


def test_many_devices_are_listed_briefly():
    f = mapped(lambda v: lax.cond(v > 20, lambda u: lax.psum(u, "i"), lambda u: u, v))
    jax.config.update("jax_num_cpu_devices", 40)
    try:
        with pytest.raises(RuntimeError, match=r"\(19 in all\)"):
            f(jnp.arange(40.0))
    finally:
        jax.config.update("jax_num_cpu_devices", 8)


def test_exceptions_name_the_device_of_its_own_path():
    def fail(v):
        raise ValueError("no")

    shape = jax.ShapeDtypeStruct((), np.float32)
    f = mapped(lambda v: lax.cond(v == 2, lambda u: jax.pure_callback(fail, shape, u), jnp.sin, v))
    with pytest.raises(jax.errors.JaxRuntimeError, match="ValueError: no") as caught:
        f(x)
    notes = getattr(caught.value, "__notes__", None)
    if notes is not None:  # Python 3.11
        assert any("device 2" in note for note in notes)


X = jnp.array([0.5, -0.5, 2.0, -2.0])


def _index():
    return lax.axis_index("i")


@pytest.mark.parametrize(
    "f, want",
    [
        (lambda v: lax.cond(v > 0, lambda: v + _index(), lambda: v - _index()), [0.5, -1.5, 4, -5]),
        (lambda v: lax.switch((v > 0) * 1, [lambda: 10 * _index(), _index]), [0, 10, 2, 30]),
        (lambda v: lax.while_loop(lambda c: c < _index(), lambda c: c + 1, 0), [0, 1, 2, 3]),
        (lambda v: lax.fori_loop(0, _index(), lambda i, c: c + _index(), 0), [0, 1, 4, 9]),
        (
            lambda v: lax.while_loop(
                lambda c: c[0] < 2 + _index(), lambda c: (c[0] + 1, c[1] + _index()), (0, v)
            )[1],
            [0.5, 2.5, 10, 13],
        ),
        (
            lambda v: lax.cond(
                v > 0,
                lambda: lax.scan(lambda c, _: (c + _index(), None), 0, None, length=2)[0],
                lambda: -1,
            ),
            [0, -1, 4, -1],
        ),
        (
            lambda v: lax.cond(
                v > 0,
                lambda: lax.cond(v > 1, lambda: jax.jit(lambda: _index() * 2)(), lambda: 7),
                lambda: -1,
            ),
            [7, -1, 4, -1],
        ),
        (
            lambda v: lax.cond(v > 0, lambda: jax.nn.relu(v) * _index(), lambda: v),
            [0, -0.5, 4, -2],
        ),
        (
            jax.grad(lambda v: lax.cond(v > 0, lambda: v * v * _index(), lambda: v * _index())),
            [0, 1, 8, 3],
        ),
    ],
)
def test_a_device_knows_its_index_on_its_own_path(f, want):
    """The index needs no other device, and so no agreement."""
    np.testing.assert_allclose(jax.pmap(f, "i")(X), want)
