"""tests/api/test_callbacks.py - debug.print, debug.callback, pure_callback, io_callback."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.experimental import io_callback

shape = jax.ShapeDtypeStruct((), np.float32)


def printed(capsys, run):
    run()
    return capsys.readouterr().out.splitlines()


def show(x):
    jax.debug.print("x={x}", x=x)
    return x


def test_print_eager_compiled_and_transformed(capsys):
    assert printed(capsys, lambda: show(1.5)) == ["x=1.5"]
    assert printed(capsys, lambda: jax.jit(show)(1.5)) == ["x=1.5"]
    assert printed(capsys, lambda: jax.grad(show)(1.5)) == ["x=1.5"]
    vmapped = jax.vmap(show)
    assert printed(capsys, lambda: vmapped(jnp.arange(3.0))) == ["x=0.0", "x=1.0", "x=2.0"]


def test_print_inside_pmap_is_in_device_order(capsys):
    f = jax.pmap(show)
    for _ in range(2):
        assert printed(capsys, lambda: f(jnp.arange(4.0))) == [f"x={i}.0" for i in range(4)]


def test_effects_happen_on_every_device_also_for_uniform_values(capsys):
    f = jax.pmap(lambda x, w: (show(w), x)[1], in_axes=(0, None))
    assert printed(capsys, lambda: f(jnp.arange(3.0), 7.0)) == ["x=7.0"] * 3

    def silent(x):
        jax.debug.print("hello")
        return x

    assert printed(capsys, lambda: jax.pmap(silent)(jnp.zeros(3))) == ["hello"] * 3


def test_equal_prints_are_not_merged(capsys):
    def f(x):
        show(x)
        show(x)
        return x

    assert printed(capsys, lambda: jax.jit(f)(1.0)) == ["x=1.0"] * 2


def test_print_in_control_flow(capsys):
    def f(x):
        jax.lax.cond(x > 0, lambda: show(x), lambda: x)
        return jax.lax.fori_loop(0, 2, lambda i, c: show(c) * 2, x)

    assert printed(capsys, lambda: jax.jit(f)(1.0)) == ["x=1.0", "x=1.0", "x=2.0"]
    assert printed(capsys, lambda: jax.jit(f)(-1.0)) == ["x=-1.0", "x=-2.0"]


def test_formats(capsys):
    jax.debug.print("{:.2f} {y} {z}", jnp.float32(1.234), y=jnp.arange(3), z="text")
    assert capsys.readouterr().out == "1.23 [0 1 2] text\n"
    with pytest.raises(KeyError):
        jax.debug.print("{a}", 1)
    with pytest.raises(ValueError, match="Unused positional arguments"):
        jax.debug.print("{}", 1, 2)
    with pytest.raises(ValueError, match="f-string"):
        jax.debug.print("x", x=2)
    with pytest.raises(TypeError, match="expected str, got int"):
        jax.debug.print(3)


def test_callbacks_may_use_arrays():
    seen = []
    f = jax.jit(lambda x: (jax.debug.callback(lambda v: seen.append(float(v * 2 + 1)), x), x)[1])
    f(1.0)
    assert seen == [3.0]


def test_exception_names_the_device(caplog):
    def fail_on_two(x):
        if x == 2:
            raise ZeroDivisionError("two")
        return np.float32(x)

    seen = []

    def f(x):
        jax.debug.callback(lambda v: seen.append(int(v)), x)
        return jax.pure_callback(fail_on_two, shape, x)

    failed = r"pure_callback of fail_on_two: ZeroDivisionError: two"
    with pytest.raises(jax.errors.JaxRuntimeError, match=failed) as caught:
        jax.pmap(f)(jnp.arange(4.0))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "jax.pure_callback failed" in caplog.text and "Traceback" in caplog.text
    notes = getattr(caught.value, "__notes__", None)
    if notes is not None:  # Python 3.11
        assert any("device 2" in note for note in notes)
    assert jnp.sum(jnp.ones(3)) == 3.0  # still usable


def test_results_are_checked():
    error = jax.errors.JaxRuntimeError
    with pytest.raises(error, match=r"shape \(2,\) .* says shape \(3,\)"):
        jax.pure_callback(lambda: np.zeros(2, np.float32), jax.ShapeDtypeStruct((3,), np.float32))
    with pytest.raises(error, match="structure"):
        jax.pure_callback(lambda: (1, 2), shape)
    with pytest.raises(error, match="int32"):
        jax.pure_callback(lambda: np.int32(1), shape)


def test_results_may_be_nested_otherwise():
    nested = jax.pure_callback(lambda x: {"y": [x]}, {"y": [shape]}, [jnp.float32(2)])
    assert nested == {"y": [2.0]}


def test_vmap_methods():
    x = jnp.arange(3.0)
    shapes = []

    def add(a, b):
        shapes.append((a.shape, b.shape))
        return np.asarray(a + b, np.float32)

    def mapped(method):
        shapes.clear()
        f = lambda a, b: jax.pure_callback(add, shape, a, b, vmap_method=method)
        np.testing.assert_array_equal(jax.vmap(f, (0, None))(x, 1.0), x + 1)
        return list(shapes)

    assert mapped("sequential") == [((), ())] * 3
    assert mapped("expand_dims") == [((3,), (1,))]
    assert mapped("broadcast_all") == [((3,), (3,))]
    with pytest.raises(NotImplementedError, match="vmap_method=None"):
        mapped(None)
    with pytest.raises(ValueError, match="must be on of the allowed"):
        jax.pure_callback(add, shape, 1.0, 2.0, vmap_method="fast")


def test_derivatives_are_refused():
    with pytest.raises(ValueError, match="Pure callbacks do not support JVP"):
        jax.grad(lambda x: jax.pure_callback(np.sin, shape, x))(1.0)
    with pytest.raises(ValueError, match="IO callbacks do not support JVP"):
        jax.grad(lambda x: io_callback(np.sin, shape, x))(1.0)
    with pytest.raises(ValueError, match="IO callbacks do not support transpose"):
        jax.linear_transpose(lambda x: io_callback(np.sin, shape, x), 1.0)(1.0)


def test_io_in_a_checkpoint_would_run_twice():
    @jax.checkpoint
    def f(x):
        io_callback(lambda: None, None)
        return jnp.sin(x)

    with pytest.raises(NotImplementedError, match="Effects not supported in partial-eval of `che"):
        jax.grad(f)(1.0)
    assert f(0.0) == 0.0


def test_ordered_io_callback_refuses_vmap():
    f = lambda x: io_callback(lambda v: np.float32(v), shape, x, ordered=True)
    with pytest.raises(ValueError, match="ordered IO callback"):
        jax.vmap(f)(jnp.arange(2.0))


def test_io_callback_without_result_runs_once_per_call():
    seen = []
    f = jax.jit(lambda x: io_callback(seen.append, None, x))
    f(1.0)
    f(2.0)
    assert [float(v) for v in seen] == [1.0, 2.0]


def test_unused_pure_callback_is_not_called():
    calls = []
    f = jax.jit(lambda x: (jax.pure_callback(lambda v: calls.append(v) or v, shape, x), x)[1])
    f(1.0)
    assert not calls


@pytest.mark.parametrize("method", ["expand_dims", "broadcast_all"])
@pytest.mark.parametrize("result", [np.zeros(2), np.zeros((4, 3)), np.zeros(())], ids=np.shape)
def test_a_batch_of_another_shape_than_promised(method, result):
    def f(x):
        return jax.pure_callback(lambda _: np.float32(result), shape, x, vmap_method=method)

    for run in (jax.vmap(f), jax.jit(jax.vmap(f))):
        with pytest.raises(RuntimeError, match=r"callback returned an array of shape .* expected"):
            run(jnp.arange(3.0))


def test_results_of_64_bits():
    for dtype in (np.float64, np.int64):
        wide = jax.ShapeDtypeStruct((), np.float32)
        wide.dtype = np.dtype(dtype)
        for call in (jax.pure_callback, io_callback):
            with pytest.raises(ValueError, match="cannot specify 64-bit types when"):
                call(lambda: 1, wide)
    with jax.enable_x64(True):
        wide = jax.ShapeDtypeStruct((), np.float64)
        assert float(jax.pure_callback(lambda: np.float64(42), wide)) == 42


def test_io_does_not_run_for_elements_that_do_not_ask_for_it():
    seen = []

    def body(x):
        io_callback(lambda v: seen.append(int(v)), None, x)
        return x + 1

    branch = lambda x: jax.lax.cond(x > 1, body, lambda x: x, x)  # noqa: E731
    loop = lambda x: jax.lax.while_loop(lambda x: x < 3, body, x)  # noqa: E731
    with pytest.raises(NotImplementedError, match="IO effect not supported in vmap-of-cond.*pmap"):
        jax.vmap(branch)(jnp.arange(3))
    with pytest.raises(NotImplementedError, match="while_loop with batched predicate"):
        jax.vmap(loop)(jnp.arange(3))
    assert seen == []
    jax.pmap(branch)(jnp.arange(4))
    assert seen == [2, 3]
    jax.pmap(loop)(jnp.arange(4))
    assert sorted(seen[2:]) == [0, 1, 1, 2, 2, 2]
    jax.vmap(lambda x: jax.lax.cond(True, body, lambda x: x, x))(jnp.arange(2))
    assert seen[-2:] == [0, 1]


def test_a_callback_may_delete_what_the_call_still_reads():
    x = jnp.arange(1000.0)

    def host(v):
        x.delete()
        return v + [jnp.full(1000, 7.0) for _ in range(8)][0] * 0

    result = jax.ShapeDtypeStruct((1000,), jnp.float32)
    out = jax.jit(lambda v: (jax.pure_callback(host, result, v) + v, v))(x)
    assert x.is_deleted()
    assert (np.asarray(out[0]) == 2 * np.arange(1000.0)).all()
    assert (np.asarray(out[1]) == np.arange(1000.0)).all()


def test_programs_hand_out_no_weak_types():
    seen = []

    def keep(x):
        seen.append(x.weak_type)
        return np.float32(0)

    calls = [
        lambda x: jax.pure_callback(keep, shape, x),
        lambda x: io_callback(keep, shape, x),
        lambda x: jax.debug.callback(keep, x),
    ]
    for call in calls:
        jax.jit(call)(1.0)
        call(1.0)
    jax.effects_barrier()
    assert seen == [False] * 5 + [True]  # debug.callback at once gives what it is given


def test_errors_of_debug_callbacks_outside_of_programs_are_the_callbacks_own():
    def check(x):
        raise ValueError(f"not sorted: {x}")

    with pytest.raises(ValueError, match="not sorted: 1.0"):
        jax.debug.callback(check, 1.0)
    with pytest.raises(jax.errors.JaxRuntimeError, match="not sorted"):
        jax.block_until_ready(jax.jit(lambda x: jax.debug.callback(check, x))(1.0))
        jax.effects_barrier()


def test_legacy_vectorized_leaves_unmapped_operands_as_they_are():
    shapes = []

    def host(a, b):
        shapes.append(np.shape(b))
        return np.asarray(a) + np.asarray(b).sum()

    def f(a, b):
        result = jax.ShapeDtypeStruct(a.shape, a.dtype)
        return jax.pure_callback(host, result, a, b, vmap_method="legacy_vectorized")

    a, b = jnp.array([0.0, 2.0]), jnp.array([0.5, 0.5])
    assert jax.vmap(f, in_axes=(0, None))(a, b).tolist() == [1, 3]
    assert jax.jit(jax.vmap(f, in_axes=(0, None)))(a, b).tolist() == [1, 3]
    assert shapes == [(2,), (2,)]
    several = jax.pmap(lambda a: jax.vmap(f, in_axes=(0, None))(a, b))(jnp.stack([a, a + 1]))
    assert several.tolist() == [[1, 3], [2, 4]] and shapes[2:] == [(2,), (2,)]
