"""tests/runtime/test_free_threads.py - eight threads in the system at once, with a GIL or without.

Work is done in one thread and in eight that start together, and bits are compared.
"""

import gc
import os
import signal
import sys
import sysconfig
import threading
from typing import NamedTuple

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

THREADS = 8
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def together(work, threads=THREADS):
    """The results of work(0), ..., work(threads - 1), each in a thread of its own."""
    barrier = threading.Barrier(threads)
    results, errors = [None] * threads, []

    def run(i):
        try:
            barrier.wait(60)
            results[i] = work(i)
        except BaseException as e:  # noqa: BLE001 - raised below
            errors.append(e)

    started = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(120)
    assert errors or not any(thread.is_alive() for thread in started), "threads hang"
    if errors:
        raise errors[0]
    return results


def bits(tree):
    return [(x.dtype, x.shape, x.tobytes()) for x in map(np.asarray, jax.tree.leaves(tree))]


@pytest.mark.skipif(not FREE_THREADED, reason="this Python has a GIL")
@pytest.mark.skipif(os.environ.get("PYTHON_GIL") == "1", reason="the GIL was asked for")
def test_the_module_leaves_the_gil_off():
    assert not sys._is_gil_enabled()


def test_first_calls_of_one_function():
    traced = []

    def f(x, y):
        traced.append(1)
        return jnp.tanh(x @ y) + x.sum(), {"y": y * 2}

    x = jnp.arange(64.0).reshape(8, 8) / 64
    expected = bits(jax.jit(lambda x, y: f(x, y))(x, x + 1))
    for _ in range(5):
        jitted = jax.jit(lambda x, y: f(x, y))
        for result in together(lambda _, f=jitted: bits(f(x, x + 1))):
            assert result == expected
    assert len(traced) >= 6


def test_first_calls_of_functions_of_every_kind():
    x = jnp.arange(32.0).reshape(8, 4) / 7

    def makers(n):
        def f(v):
            return jnp.sum(jnp.sin(v * n) ** 2)

        def rows(v):
            return lax.scan(lambda c, r: (c + r * n, c), jnp.zeros(4), v)

        return [
            lambda: jax.grad(f)(x),
            lambda: jax.vmap(jax.grad(f))(x),
            lambda: jax.pmap(lambda v: lax.psum(v * n, "i"), axis_name="i")(x),
            lambda: jax.jit(rows)(x),
            lambda: lax.cond(n > 2, lambda v: v + n, lambda v: v - n, x),
            lambda: jax.vjp(f, x)[1](jnp.float32(n)),
            lambda: jax.jvp(f, (x,), (x * 2,)),
            lambda: lax.fori_loop(0, n + 1, lambda i, v: v * 0.5 + i, x),
            lambda: jnp.linalg.svd(x @ x.T + n * jnp.eye(8), compute_uv=False),
            lambda: jax.hessian(f)(x[0]),
        ]

    def all_of(i):
        made = makers(i)
        return [bits(made[(k + i) % len(made)]()) for k in range(len(made))]

    expected = [all_of(i) for i in range(THREADS)]
    jax.clear_caches()
    assert together(all_of) == expected


def test_ops_outside_of_programs():
    def work(i):
        out = []
        for n in range(1, 60):
            a = jnp.arange(float(n + i)) + 1
            out.append(bits([a + n, a * a - i, a / 3, a[::2], a.at[0].set(9), a.reshape(-1, 1).T]))
            out.append(bits([jnp.concatenate([a, a]), a > n, jnp.where(a > 3, a, -a), a.sum()]))
        return out

    expected = [work(i) for i in range(THREADS)]
    jax.clear_caches()
    assert together(work) == expected


def test_settings_of_threads():
    def work(i):
        kinds = set()
        for _ in range(50):
            with jax.enable_x64(i % 2 == 1):
                kinds.add(str(jnp.arange(3).dtype))
                kinds.add(str(jax.jit(lambda v: v * 2.5)(1.5).dtype))
        return kinds

    expected = [{"int32", "float32"}, {"int64", "float64"}]
    assert together(work) == expected * (THREADS // 2)


def test_settings_of_all_change_while_functions_run():
    f = jax.jit(lambda x: x @ x)
    x = jnp.ones((16, 16))
    expected = bits(f(x))

    def work(i):
        for n in range(50):
            if i == 0:
                jax.config.update("jax_default_matmul_precision", [None, "highest"][n % 2])
            else:
                assert bits(f(x)) == expected

    try:
        together(work)
    finally:
        jax.config.update("jax_default_matmul_precision", None)


def test_arrays_are_made_shared_listed_and_deleted():
    shared = [jnp.full(100, float(i)) for i in range(200)]

    def work(i):
        read = 0
        for n, array in enumerate(shared):
            if (n + i) % THREADS == 0:
                array.delete()
            try:
                assert float(array[0]) == n
                read += 1
            except RuntimeError as e:
                assert "deleted" in str(e)
            kept = jnp.zeros(3) + n
            if n % 20 == i:
                assert any(each is kept for each in jax.live_arrays())
        return read

    together(work)
    assert all(array.is_deleted() for array in shared)
    gc.collect()
    assert not any(each is array for each in jax.live_arrays() for array in shared)


def test_donated_arrays_are_taken_once():
    f = jax.jit(lambda x: x + 1, donate_argnums=0)
    f(jnp.zeros(1000))
    arrays = [jnp.full(1000, float(i)) for i in range(100)]

    def work(_):
        taken = {}
        for n, array in enumerate(arrays):
            try:
                taken[n] = float(f(array)[-1])
            except RuntimeError as e:
                assert "deleted" in str(e)
        return taken

    got = [item for taken in together(work) for item in taken.items()]
    assert {n for n, _ in got} == set(range(100))
    assert all(value == n + 1 for n, value in got)


def test_random_keys():
    def work(i):
        key = jax.random.key(i)
        out = []
        for _ in range(20):
            key, own = jax.random.split(key)
            out.append(bits([jax.random.normal(own, (5,)), jax.random.permutation(own, 10)]))
        return out

    expected = [work(i) for i in range(THREADS)]
    jax.clear_caches()
    assert together(work) == expected


def test_classes_are_registered_while_trees_are_flattened():
    class Pair(NamedTuple):
        a: object
        b: object

    tree = {"x": [1, (2, None)], "y": Pair(3, {"z": 4})}
    leaves, structure = jax.tree.flatten(tree)

    def work(i):
        for n in range(200):
            assert jax.tree.flatten(tree) == (leaves, structure)
            if i % 2:
                own = type(f"Node{i}_{n}", (), {"__init__": lambda s, v: setattr(s, "v", v)})
                jax.tree_util.register_pytree_node(
                    own, lambda s: ((s.v,), None), lambda _, c, own=own: own(*c)
                )
                doubled = jax.tree.map(lambda v: v * 2, {"k": own(n), "t": tree})
                assert doubled["k"].v == 2 * n and doubled["t"]["y"].b == {"z": 8}

    together(work)


def test_containers_change_while_they_are_read():
    numbers, table = [1.0] * 50, {f"k{i}": 1.0 for i in range(50)}
    nested = [[1.0] * 10 for _ in range(10)]
    f = jax.jit(lambda tree: sum(jax.tree.leaves(tree)))

    def change(n):
        numbers.append(1.0)
        del numbers[10:20]
        numbers.extend([1.0] * 9)
        table.pop(f"k{n % 50}", None)
        table[f"k{n % 50}"] = 1.0
        nested[n % 10].append(1.0)
        nested[n % 10].pop(0)
        nested[n % 10] = [1.0] * 10

    def work(i):
        for n in range(300):
            if i < 2:
                change(n)
                continue
            for read in (
                lambda: jax.tree.leaves({"n": numbers, "t": table}),
                lambda: f([numbers[:5], table]),
                lambda: jnp.array(nested).shape,
                lambda: jnp.array(numbers).sum(),
                lambda: jax.tree.map(lambda v: v, nested),
            ):
                try:
                    read()
                except (RuntimeError, ValueError) as e:  # it was of another size meanwhile
                    assert "size" in str(e) or "inhomogeneous" in str(e), e

    together(work)


def test_printing():
    x = jnp.arange(6.0).reshape(2, 3)
    f = jax.jit(lambda v: jnp.sin(v) + v.sum())

    def work(i):
        return [
            repr(x),
            str(x * i),
            f"{x[0, 1]:.2f}",
            repr(jax.tree.structure({"a": x})),
            str(jax.make_jaxpr(f)(x)),
            jax.jit(lambda v: v * 2).lower(x).as_text(),
            repr(f),
        ]

    expected = [work(i) for i in range(THREADS)]
    assert together(work) == expected


def test_functions_come_and_go():
    x = jnp.ones(10)

    def work(i):
        total = 0.0
        for n in range(60):
            f = jax.jit(lambda v, n=n: (v * n).sum())
            total += float(f(x)) + float(jax.grad(f)(x)[0])
            del f
            if i == 0 and n % 10 == 0:
                gc.collect()
            if i == 1 and n % 15 == 0:
                jax.clear_caches()
        return total

    assert together(work) == [work(0)] * THREADS


def test_functions_with_one_cache():
    def f(x, scale):
        return x * scale.value

    class Scale:  # compared and hashed by Python
        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return sum(range(20)) == 190 and self.value == other.value

        def __hash__(self):
            return 1

    def work(i):
        out = []
        for n in range(40):
            jitted = jax.jit(f, static_argnums=1)
            out.append(float(jitted(jnp.float32(2), Scale((n + i) % 10))))
        return out

    assert together(work) == [[2.0 * ((n + i) % 10) for n in range(40)] for i in range(THREADS)]


def test_callbacks_and_rules_of_users():
    @jax.custom_vjp
    def f(x):
        return x * x

    f.defvjp(lambda x: (x * x, x), lambda x, g: (g * x * 7,))

    def host(x):
        return np.asarray(x) + 1

    @jax.jit
    def g(x):
        y = jax.pure_callback(host, jax.ShapeDtypeStruct(x.shape, x.dtype), x)
        return f(y).sum()

    x = jnp.arange(4.0)
    expected = bits(jax.grad(lambda x: f(x).sum())(x)) + bits(g(x))

    def work(_):
        for _ in range(20):
            got = bits(jax.grad(lambda x: f(x).sum())(x)) + bits(g(x))
            assert got == expected

    together(work)


def test_a_function_waits_for_another_thread():
    """A thread that traces, or runs a callback, does not keep others out of the core."""
    for wrap in (jax.jit, jax.grad, jax.vmap):
        turn = []

        def waits(x, turn=turn):
            turn.append("started")
            while len(turn) < 2:
                pass
            return x * 2.0

        def work(i, turn=turn, wrap=wrap, waits=waits):
            if i == 0:
                wrap(waits)(jnp.ones(3) if wrap is not jax.grad else 1.0)
                return
            while not turn:
                pass
            assert float(jnp.ones(3).sum()) == 3
            turn.append("computed")

        together(work, 2)


@pytest.mark.filterwarnings("ignore:This process")
def test_forks_while_others_have_the_lock():
    """Threads share arguments, not variables of closures. CPython 3.13 locks those, and hands the
    locks to waiting threads, which a child does not have.
    """

    def call(f, x, ended):
        while not ended:
            f(x)

    def fork(f, x, ended):
        try:
            for _ in range(30):
                child = os.fork()
                if child == 0:
                    signal.alarm(60)
                    os._exit(0 if float(f(x)[0]) == 2 else 1)
                assert os.waitpid(child, 0)[1] == 0
        finally:
            ended.append(True)

    shared = jax.jit(lambda v: v + 1), jnp.ones(3), []
    shared[0](shared[1])
    together(lambda i: (fork if i == 0 else call)(*shared), 4)


def test_objects_that_there_are_once():
    def work(_):
        return [id(d) for d in jax.devices()] + [id(jnp.zeros(1).dtype), id(jax.tree_util.DictKey)]

    assert len({tuple(ids) for ids in together(work)}) == 1


def test_a_large_function_runs_in_all_threads():
    x = jnp.linspace(0.0, 1.0, 200_000)
    f = jax.jit(lambda v: jnp.cumsum(jnp.exp(jnp.sin(v))) @ jnp.cos(v))
    expected = bits(f(x))
    assert together(lambda _: [bits(f(x)) for _ in range(20)]) == [[expected] * 20] * THREADS
