"""tests/mpi/test_global_arrays.py - programs of arrays that several processes have."""

import pathlib

import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@pytest.mark.parametrize("count", [2, 4])
def test_programs_of_global_arrays(start, count):
    """At once and under jit, each process has what one process computes."""
    ended = start((PROGRAMS / "global_arrays.py").read_text(encoding="utf-8"), count)
    assert ended.out.splitlines() == ["25 programs; differ:"], ended.err


@pytest.mark.parametrize("count", [2, 4])
def test_meshes_of_two_axes(start, count):
    ended = start((PROGRAMS / "grids.py").read_text(encoding="utf-8"), count)
    assert ended.out.splitlines() == ["4 grids; differ:"], ended.err
