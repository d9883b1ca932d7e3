"""tests/pmap/test_axes.py - axis_name, in_axes and out_axes of pmap."""

import collections
import enum

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.pmap.test_features import F4, M44, same

Pair = collections.namedtuple("Pair", "x y")


class Axis(enum.Enum):
    rows = 1


class Alike:
    def __repr__(self):
        return "alike"


# ---- axis_name ---------------------------------------------------------------------------------


NAMES = ["i", 7, -1, True, 2.5, Axis.rows, ("a", "b"), frozenset([1]), object(), b"i"]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: type(name).__name__)
def test_axis_name_is_any_hashable(name):
    for make in (jax.pmap, jax.vmap):
        f = make(lambda v: v / lax.psum(v, name) + lax.axis_index(name), axis_name=name)
        same(f(F4), F4 / 6 + F4)
    assert jax.pmap(lambda v: lax.axis_size(name) * v, name)(F4)[1] == 4


def test_names_that_look_alike_are_distinct():
    first, second = Alike(), Alike()
    inner = jax.pmap(lambda v: lax.psum(v, first) * 100 + lax.psum(v, second), axis_name=second)
    same(
        jax.pmap(inner, axis_name=first)(M44[:2]),
        M44[:2].sum(0) * 100 + M44[:2].sum(1, keepdims=True),
    )


def test_axis_name_that_cannot_be_hashed():
    with pytest.raises(TypeError, match="unhashable type: 'list'"):
        jax.pmap(lambda v: v, axis_name=["i"])


def test_integers_are_dimensions_unless_an_axis_has_that_name():
    same(jax.pmap(lambda v: lax.psum(v, 0))(M44), M44.sum(1))
    same(jax.pmap(lambda v: lax.psum(v, 0), axis_name=0)(M44), np.tile(M44.sum(0), (4, 1)))
    same(jax.pmap(lambda v: lax.psum(v, (0, "i")), "i")(M44), np.full(4, M44.sum()))


# ---- in_axes, out_axes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "in_axes",
    [
        ({"a": 0, "b": (None, 1)},),
        [{"a": 0, "b": (None, 1)}],
        ({"a": -1, "b": (None, -1)},),
    ],
)
def test_in_axes_are_prefixes_of_trees(in_axes):
    f = jax.pmap(lambda d: d["a"] + d["b"][0] + d["b"][1].sum(), in_axes=in_axes)
    argument = {"a": F4, "b": (np.float32(10), M44)}
    same(f(argument), F4 + 10 + M44.sum(0))


def test_in_axes_cover_subtrees_named_tuples_and_none():
    same(
        jax.pmap(lambda p, x: p["w"] * x + p["b"][0], in_axes=(None, 0))(
            {"w": 2.0, "b": [1.0]}, F4
        ),
        2 * F4 + 1,
    )
    same(jax.pmap(lambda p: p.x + p.y, in_axes=(Pair(0, None),))(Pair(F4, 2.0)), F4 + 2)
    same(
        jax.pmap(lambda d: d, in_axes=({"x": 0, "y": None},))({"x": F4, "y": None}),
        {"x": F4, "y": None},
    )
    ordered = collections.OrderedDict(x=F4)
    same(jax.pmap(lambda d: d["x"], in_axes=(collections.OrderedDict(x=0),))(ordered), F4)


def test_out_axes_place_the_mapped_axis():
    x = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    for axis in (0, 1, 2, -1, -2, -3):
        same(jax.pmap(lambda v: v, out_axes=axis)(x), np.moveaxis(x, 0, axis))
    f = jax.pmap(
        lambda v: [v, {"a": v, "b": (v.sum(), None)}], out_axes=[1, {"a": -1, "b": (None, None)}]
    )
    with pytest.warns(jax.debug.VaryingResultWarning):
        result = f(x)
    same(result, [np.moveaxis(x, 0, 1), {"a": np.moveaxis(x, 0, -1), "b": (x[0].sum(), None)}])


def test_every_axis_in_and_out_with_derivatives():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 10
    for into in (0, 1, 2, -1, -2):
        for out in (0, 1, 2, -1):
            f = jax.pmap(lambda v: jnp.sin(v), in_axes=into, out_axes=out)
            moved = np.moveaxis(x, into, out)
            same(f(x), np.sin(moved))
            same(jax.grad(lambda v, f=f: (f(v) ** 2).sum())(x), 2 * np.sin(x) * np.cos(x))
            same(jax.jvp(f, (x,), (x,))[1], np.cos(moved) * moved)
            batched = jax.vmap(f, in_axes=1, out_axes=1)(np.stack([x, 2 * x], 1))
            same(batched, np.stack([np.sin(moved), np.sin(2 * moved)], 1))


def test_keyword_arguments_are_mapped_over_their_first_axis():
    f = jax.pmap(lambda x, *, y, z: x + y + z["k"], in_axes=(None,))
    same(f(np.float32(1), y=F4, z={"k": F4}), 1 + 2 * F4)
