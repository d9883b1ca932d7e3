"""tests/pmap/test_collective_errors.py - errors of collectives."""

import pathlib
import sys

import numpy as np
import pytest
from shardax import lax

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from collective_references import MAPS  # noqa: E402


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda v: lax.psum(v, "i", axis_index_groups=[[0, 1], [1, 2, 3]]),
            ValueError,
            r"psum: axis_index_groups must cover all indices exactly once, got "
            r"\[\[0, 1\], \[1, 2, 3\]\]; expected each of 0 to 3 in one group",
        ),
        (
            lambda v: lax.all_gather(v, "i", axis_index_groups=[[0], [1, 2, 3]]),
            ValueError,
            "all_gather: axis_index_groups must all have the same size",
        ),
        (
            lambda v: lax.psum(v, (0, "i"), axis_index_groups=[[0, 1], [2, 3]]),
            ValueError,
            "psum: axis_index_groups is only supported for sums over just named axes",
        ),
        (lambda v: lax.psum(v, ("i", "i")), ValueError, "psum: the axis 'i' is named twice"),
        (
            lambda v: lax.pmean(v, (0, "i", -1)),
            ValueError,
            r"pmean: the dimension 0 is named twice in axis_name .*; expected each once",
        ),
        (
            lambda v: lax.ppermute(v, "i", [(0, 1), (2, 1)]),
            ValueError,
            r"ppermute sources and destinations must be unique, got \(\(0, 1\), \(2, 1\)\)",
        ),
        (
            lambda v: lax.ppermute(v, "i", [(0, 9)]),
            ValueError,
            r"ppermute: index 9 of perm \(\(0, 9\),\) is outside of the axis of size 4; "
            "sources and destinations run from 0 to 3",
        ),
        (
            lambda v: lax.ppermute(v, "i", [(0, 1, 2)]),
            ValueError,
            r"ppermute: perm must consist of \(source, destination\) pairs, got \(0, 1, 2\)",
        ),
        (
            lambda v: lax.pshuffle(v, "i", [0, 0, 1, 2]),
            ValueError,
            r"pshuffle: `perm` does not represent a permutation: \[0, 0, 1, 2\]",
        ),
        (
            lambda v: lax.pbroadcast(v, "i", 4),
            ValueError,
            "pbroadcast: source 4 is outside of the axis of size 4; sources run from 0 to 3",
        ),
        (
            lambda v: lax.all_gather(v, "i", axis=3),
            ValueError,
            "all_gather: axis 3 is out of bounds for array of dimension 2; expected -2 to 1",
        ),
        (
            lambda v: lax.psum_scatter(v, "i"),
            ValueError,
            r"psum_scatter: reduce_scatter operand scatter dimension size 3 must match shard count "
            r"4; dimension 0 of shape \(3,\)",
        ),
        (
            lambda v: lax.psum_scatter(v, "i", tiled=True),
            ValueError,
            "psum_scatter: tiled reduce_scatter operand scatter dimension size 3 must be divisible "
            "by shard_count 4",
        ),
        (
            lambda v: lax.psum_scatter(v > 0, "i"),
            TypeError,
            "reduce_scatter does not accept dtype bool",
        ),
        (
            lambda v: lax.psum_scatter(v, "i", scatter_dimension=2),
            ValueError,
            "psum_scatter: scatter_dimension 2 is out of bounds for array of dimension 1",
        ),
        (
            lambda v: lax.all_to_all(v, "i", 0, 0),
            ValueError,
            r"all_to_all requires the size of the mapped axis axis_name to equal "
            r"x.shape\[split_axis\], but they are 4 and 3 respectively",
        ),
        (
            lambda v: lax.all_to_all(v, "i", 0, 0, tiled=True),
            ValueError,
            "all_to_all: the size of split_axis 0 must be divisible by the size of the mapped axis "
            "when tiled, but they are 3 and 4",
        ),
        (
            lambda v: lax.all_to_all(v, "i", 1, 0),
            ValueError,
            "all_to_all: split_axis 1 is out of bounds for array of dimension 1",
        ),
        (lambda v: lax.pcast(v, "i", to="bad"), ValueError, "unexpected `to` value 'bad'"),
        (lambda v: lax.psum("a", "i"), TypeError, "'a'"),
        (
            lambda v: lax.all_gather(v, 0),
            NameError,
            "all_gather: unbound axis name: 0; expected the name of a mapped axis",
        ),
    ],
)
def test_errors(call, error, text):
    for make in (MAPS["pmap"], MAPS["vmap"]):
        with pytest.raises(error, match=text):
            make(call, "i")(np.ones((4, 3), np.float32))


@pytest.mark.parametrize(
    "name, more",
    [
        ("psum", ()),
        ("pmean", ()),
        ("pmax", ()),
        ("pmin", ()),
        ("all_gather", ()),
        ("psum_scatter", ()),
        ("pbroadcast", (0,)),
        ("ppermute", ([(0, 1)],)),
        ("all_to_all", (0, 0)),
    ],
)
@pytest.mark.parametrize("leaf", ["adam", np.array(["adam"])])
def test_leaves_that_are_no_arrays(name, more, leaf):
    said = f"^{name}: .*(str|numpy.ndarray)'> is not a valid JAX type; expected arrays and numbers"
    for make in (MAPS["pmap"], MAPS["vmap"]):
        with pytest.raises(TypeError, match=said):
            make(lambda v: getattr(lax, name)({"w": v, "kind": leaf}, "i", *more), "i")(np.ones(4))


def test_collectives_over_no_axis():
    x = lax.iota("float32", 3)
    for same in (
        lax.all_gather(x, ()),
        lax.psum_scatter(x, ()),
        lax.pvary(x, ()),
        lax.psum(x, ()),
        lax.pmax(x, []),
    ):
        assert same.tolist() == [0, 1, 2]
    for index in (lax.pargmax(x, []), lax.pargmin(x, ())):
        assert index.tolist() == [0, 0, 0] and index.dtype == "int32"
    for name, call in {
        "pbroadcast": lambda: lax.pbroadcast(x, (), 0),
        "ppermute": lambda: lax.ppermute(x, (), [(0, 0)]),
    }.items():
        with pytest.raises(ValueError, match=rf"{name}: axis_name is .*, which names no axis"):
            call()
