"""tests/refs/test_hijax_mutable.py - values of types that libraries define, changed in place."""

import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.experimental import hijax


class Cell:
    """Holds a tree of arrays."""

    def __init__(self, value):
        self.held = value

    def cur_qdd(self):
        leaves, tree = jax.tree.flatten(self.held)
        return tuple(map(jax.typeof, leaves)), tree


class CellTy(hijax.MutableHiType):
    def __eq__(self, other):
        return isinstance(other, CellTy)

    def __hash__(self):
        return hash(CellTy)

    def lo_ty_qdd(self, qdd):
        return list(qdd[0])

    def read_loval(self, qdd, cell):
        return jax.tree.leaves(cell.held)

    def new_from_loval(self, qdd, *arrays):
        return Cell(jax.tree.unflatten(qdd[1], arrays))

    def update_from_loval(self, qdd, cell, *arrays):
        cell.held = jax.tree.unflatten(qdd[1], arrays)


hijax.register_hitype(Cell, lambda _: CellTy())


class GetCell(hijax.HiPrimitive):
    multiple_results = True

    def to_lojax(self, cell):
        return jax.tree.leaves(cell.held)


class SetCell(hijax.HiPrimitive):
    multiple_results = True

    def to_lojax(self, cell, *leaves, tree):
        cell.held = jax.tree.unflatten(tree, leaves)
        return []


get_p, set_p = GetCell("get_cell"), SetCell("set_cell")


def get(cell):
    return jax.tree.unflatten(hijax.cur_qdd(cell)[1], get_p.bind(cell))


def put(cell, value):
    leaves, tree = jax.tree.flatten(value)
    set_p.bind(cell, *leaves, tree=tree)


def test_a_function_changes_its_argument():
    traced = []

    @jax.jit
    def add(cells, x):
        traced.append(1)
        put(cells["a"], get(cells["a"]) + x)

    cell = Cell(1.0)
    add({"a": cell}, 2.0)
    add({"a": cell}, 3.0)
    assert cell.held == 6.0 and len(traced) <= 3
    count = len(traced)
    add({"a": Cell(5.0)}, 1.0)
    assert len(traced) == count


def test_a_function_changes_what_it_closes_over():
    cell = Cell(jnp.float32(1.0))

    @jax.jit
    def f(x):
        @jax.jit
        def inner():
            put(cell, get(cell) + x)

        inner()
        inner()

    f(2.0)
    f(3.0)
    assert cell.held == 11.0


def test_the_structure_may_change():
    cell = Cell(None)

    @jax.jit
    def f(x):
        held = get(cell)
        put(cell, x if held is None else [x, x])

    f(1.0)
    assert cell.held == 1.0
    f(2.0)
    assert cell.held == [2.0, 2.0]


@pytest.mark.parametrize("outer", [lambda f: f, jax.jit])
def test_loops_and_branches_change_values(outer):
    cell = Cell(jnp.float32(1.0))

    def double(*_):
        put(cell, get(cell) * 2)

    @outer
    def f():
        jax.lax.scan(lambda c, _: (double(), (c, None))[1], 0, None, length=3)
        jax.lax.while_loop(lambda i: i < 2, lambda i: (double(), i + 1)[1], 0)
        jax.lax.cond(jnp.array(True), double, lambda: None)

    f()
    assert cell.held == 64.0


def test_loops_refuse_another_structure():
    cell = Cell([jnp.float32(1.0)])

    def body(i):
        put(cell, get(cell) * 2)
        return i + 1

    with pytest.raises(TypeError, match="type-changing mutations not allowed"):
        jax.lax.while_loop(lambda i: i < 3, body, 0)


def test_programs_of_functions_that_are_passed_values_that_change():
    def double(cell):
        put(cell, get(cell) * 2)
        return get(cell)

    assert "mul" in str(jax.make_jaxpr(double)(Cell(jnp.float32(3.0))))
