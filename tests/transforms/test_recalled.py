"""Control flow outside of programs: from its second call with the same functions on it is one."""

import functools
import gc
import weakref

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax


def double(x):
    return x * 2


def triple(x):
    return x * 3


def add(carry, x):
    return carry + x, carry


XS = np.arange(4, dtype=np.float32)
CALLS = {
    "scan": lambda: lax.scan(add, 0.0, XS),
    "scan, reverse": lambda: lax.scan(add, init=0.0, xs=XS, reverse=True),
    "scan, length": lambda: lax.scan(lambda_of_none, jnp.ones(2), None, length=3),
    "fori_loop": lambda: lax.fori_loop(0, 3, lambda_of_two, 1.0),
    "while_loop": lambda: lax.while_loop(below, double, 1.0),
    "cond": lambda: lax.cond(True, double, triple, XS),
    "cond, operand": lambda: lax.cond(False, double, triple, operand=XS),
    "switch": lambda: lax.switch(7, [double, triple], XS),
    "map": lambda: lax.map(double, XS),
    "associative_scan": lambda: lax.associative_scan(jnp.add, XS),
}


def lambda_of_none(carry, _):
    return carry * 2, carry


def lambda_of_two(i, carry):
    return carry * 2 + i


def below(x):
    return x < 10


@pytest.mark.parametrize("name", CALLS)
def test_every_call_gives_the_same(name):
    first, *others = (CALLS[name]() for _ in range(4))
    for other in others:
        one, two = shardax.tree.leaves(first), shardax.tree.leaves(other)
        assert shardax.tree.structure(first) == shardax.tree.structure(other)
        for a, b in zip(one, two, strict=True):
            assert shardax.typeof(a) == shardax.typeof(b)
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_functions_run_once_for_each_type():
    runs = []

    def step(carry, x):
        runs.append(carry.dtype)
        return carry + x, x

    for _ in range(3):
        lax.scan(step, jnp.float32(0), jnp.arange(3.0))
        lax.scan(step, jnp.int32(0), jnp.arange(3))
    assert len(runs) == 2


def test_each_function_has_its_own_program():
    def scaled(n):
        return lambda x: x * n

    for n in range(50):  # addresses come again
        f, g = scaled(n), scaled(-n)
        for _ in range(3):
            assert lax.cond(True, f, g, 1.0) == n
            assert lax.cond(False, f, g, 1.0) == -n
            assert lax.cond(False, f, double, 1.0) == 2
        del g
        g = scaled(n + 1)
        assert lax.cond(False, f, g, 1.0) == n + 1


def test_bounds_and_lengths_are_told_apart():
    def count(i, n):
        return n + 1

    for _ in range(3):
        for n in (3, 4, 5):
            assert lax.fori_loop(0, n, count, 0) == n
            assert lax.fori_loop(jnp.int32(0), jnp.int32(n), count, 0) == n
            assert lax.scan(lambda_of_none, 1, None, n)[0] == 2**n


def test_it_goes_with_the_function():
    def f(x):
        return x + 1

    for _ in range(3):
        lax.map(f, XS)
        lax.cond(True, f, double, 1.0)
        lax.cond(True, double, f, 1.0)
    known = weakref.ref(f)
    del f
    gc.collect()
    assert known() is None


def test_what_a_function_closes_over_may_be_traced():
    def loss(w):
        def step(carry, x):
            return carry + w * x, None

        return sum(lax.scan(step, 0.0, XS)[0] for _ in range(3))

    assert shardax.grad(loss)(2.0) == 18
    assert shardax.vmap(loss)(jnp.arange(2.0)).tolist() == [0, 18]


def test_within_programs_nothing_is_called():
    def f(x):
        return lax.cond(True, double, triple, 1.0) + x

    for _ in range(3):
        lax.cond(True, double, triple, 1.0)
    names = [eqn.primitive.name for eqn in shardax.make_jaxpr(f)(1.0).eqns]
    assert names[-2:] == ["cond", "add"] and "jit" not in names


def test_settings_are_part_of_the_call():
    def f(x):
        return x + 1

    for _ in range(2):
        for _ in range(3):
            assert lax.cond(True, f, f, 1).dtype == np.int32
        with shardax.enable_x64(True):
            for _ in range(3):
                assert lax.cond(True, f, f, 1).dtype == np.int64


def test_without_jit_python_runs_each_time():
    runs = []

    def f(x):
        runs.append(x)
        return x

    for _ in range(3):
        lax.cond(True, f, double, 1.0)
    assert len(runs) == 1
    with shardax.disable_jit():
        lax.cond(True, f, double, 1.0)
    assert runs[1] == 1


def test_callbacks_run_each_time(capsys):
    def f(x):
        shardax.debug.print("x = {}", x)
        return x

    for _ in range(3):
        lax.cond(True, f, double, 1.0)
    shardax.effects_barrier()
    assert capsys.readouterr().out == "x = 1.0\n" * 3


def test_errors_stay_the_same():
    messages = set()
    for _ in range(3):
        with pytest.raises(TypeError) as error:
            lax.cond(jnp.ones(2), double, triple, 1.0)
        messages.add(str(error.value))
        with pytest.raises(TypeError):
            lax.scan(lambda_of_two, 0.0, XS)
    assert len(messages) == 1
    deleted = jnp.ones(3)
    lax.map(double, deleted), lax.map(double, deleted)
    deleted.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        lax.map(double, deleted)


def test_methods_and_partials_are_functions():
    class Scale:
        def __init__(self, n):
            self.n = n

        def __call__(self, x):
            return x * self.n

        def method(self, x):
            return x * self.n

    for n in (2, 3):
        scale = Scale(n)
        part = functools.partial(lambda n, x: x * n, n)
        for _ in range(3):
            assert lax.map(scale, XS)[1] == n
            assert lax.map(scale.method, XS)[1] == n
            assert lax.map(part, XS)[1] == n
            assert lax.map(shardax.jit(scale), XS)[1] == n


def test_references_are_written():
    counter = shardax.new_ref(0)

    def step(carry, x):
        counter[...] += 1
        return carry, x

    for n in range(1, 4):
        lax.scan(step, 0.0, XS)
        assert counter[...] == 4 * n
