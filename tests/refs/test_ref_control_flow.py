"""tests/refs/test_ref_control_flow.py - mutable array references in loops and branches; values are
those of JAX 0.10.2."""

import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

from tests.refs.test_refs import equal


def test_loops():
    ref = shardax.new_ref(jnp.zeros(3))

    def body(c, i):
        ref[i] = c
        return c + 1, ref[...].sum()

    last, ys = lax.scan(body, 0.0, jnp.arange(3))
    equal(last, 3)
    equal(ys, [0, 1, 3])
    equal(ref[...], [0, 1, 2])

    def write(i, _):
        ref[i] = 2.0 * i

    lax.fori_loop(0, 3, write, None)
    equal(ref[...], [0, 2, 4])
    total = shardax.new_ref(0.0)

    def add(i):
        total[...] += 2.0
        return i + 1

    equal(lax.while_loop(lambda i: i < 4, add, 0), 4)
    equal(total[...], 8)
    lax.while_loop(lambda i: total[...] < 11, add, 0)
    equal(total[...], 12)
    shardax.jit(lambda n: lax.fori_loop(0, n, lambda i, _: add(0) and None, None))(3)
    equal(total[...], 18)

    def each(x):
        total[...] += x
        return total[...]

    equal(lax.map(each, jnp.arange(3.0)), [18, 19, 21])


def test_branches():
    ref = shardax.new_ref(0.0)

    def write():
        ref[...] = 1.0
        return 1

    equal(lax.cond(False, write, lambda: 2), 2)
    equal(ref[...], 0)
    equal(lax.cond(True, write, lambda: 2), 1)
    equal(ref[...], 1)

    def add(x):
        ref[...] += x
        return x

    equal(shardax.jit(lambda i: lax.switch(i, [lambda x: x, add, lambda x: -x], 5.0))(1), 5)
    equal(ref[...], 6)


def test_scanned_references():
    ref = shardax.new_ref(jnp.arange(6.0).reshape(3, 2))

    def add(total, row):
        row[...] += 1
        return total + row[0], None

    equal(lax.scan(add, 0.0, ref)[0], 9)
    equal(ref[...], [[1, 2], [3, 4], [5, 6]])
    equal(lax.map(lambda row: row[1], ref), [2, 4, 6])

    def total(xs):
        return lax.scan(lambda c, x: (c + x[...], None), 0.0, shardax.new_ref(xs))[0]

    equal(shardax.grad(total)(jnp.arange(3.0)), [1, 1, 1])


def test_functions_that_close_over_references_are_traced_once():
    ref, other = shardax.new_ref(jnp.zeros(2)), shardax.new_ref(1.0)
    traced = []

    def note(name):
        traced.append(name)
        ref[0] += other[...]

    def scanned(c, x):
        note("scan")
        return c + ref[0], x

    def body(i):
        note("while_body")
        return i + 1

    def condition(i):
        traced.append("while_cond")
        return i + other[...] < 3

    @shardax.checkpoint
    def kept(x):
        note("checkpoint")
        return x * other[...]

    @shardax.jit
    def all_of_them(x):
        note("jit")
        c, _ = lax.scan(scanned, x, None, length=2)
        lax.fori_loop(0, 2, lambda i, _: note("fori_loop"), None)
        lax.while_loop(condition, body, 0)
        lax.cond(c > 0, lambda: note("branch"), lambda: traced.append("other"))
        lax.map(lambda _: note("map"), jnp.arange(2))
        return kept(c)

    names = "jit scan fori_loop while_cond while_body branch other map checkpoint".split()
    equal(all_of_them(1.0), 1 + 2 + 3)
    assert sorted(traced) == sorted(names)
    equal(ref[...], [1 + 2 + 2 + 2 + 1 + 2 + 1, 0])
    equal(all_of_them(1.0), 1 + 13 + 14)
    assert len(traced) == len(names)


def test_one_branch_writes():
    ref, other = shardax.new_ref(1.0), shardax.new_ref(2.0)

    def write(x):
        ref[...] = x

    def write_other(x):
        other[...] += x + ref[...]

    @shardax.jit
    def f(index, x):
        lax.switch(index, [write, write_other, lambda x: None], x)

    for index in range(3):
        f(index, 5.0)
    assert (float(ref[...]), float(other[...])) == (5.0, 12.0)


def test_conditions_may_not_write():
    ref = shardax.new_ref(0.0)

    def condition(i):
        ref[...] += 1.0
        return i < 3

    with pytest.raises(NotImplementedError, match="cond_fun writes to a mutable array reference"):
        lax.while_loop(condition, lambda i: i + 1, 0)
