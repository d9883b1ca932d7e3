"""tests/mpi/test_op_samples.py - every op on arrays that are split over processes."""

import pathlib

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent


@pytest.mark.parametrize("count", [2, 4])
def test_samples_split_over_processes(start, count):
    program = (FOLDER / "programs" / "op_samples.py").read_text(encoding="utf-8")
    ended = start(program, count, timeout=300, TESTS_FOLDER=str(FOLDER.parent))
    assert ended.code == 0 and ended.out == "306 samples; differ:\n", ended.err
