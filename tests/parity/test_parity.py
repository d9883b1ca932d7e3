"""tests/parity/test_parity.py - every parity case under shardax against its recording from JAX.

`differences.txt` lists the cases in which shardax differs from JAX 0.10.2; they are reported as
expected failures while they do. `python tests/parity/summary.py --differences` writes the list.
"""

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import corpus  # noqa: E402

RECORDINGS = {name: corpus.recording(name) for name in corpus.names()}
DIFFERENCES = set((HERE / "differences.txt").read_text().splitlines())


@pytest.fixture(scope="module")
def shardax():
    import shardax

    corpus.prepare(shardax)
    return shardax


@pytest.mark.parametrize(
    "file, name",
    [pytest.param(f, n, id=f"{f}: {n}") for f in RECORDINGS for n in corpus.load(f).cases],
)
def test_parity(shardax, file, name):
    wrong = corpus.verdict(shardax, corpus.load(file).cases[name], RECORDINGS[file].get(name))
    if f"{file}: {name}" in DIFFERENCES:
        assert wrong is not None, "it agrees now: take it off differences.txt"
        pytest.xfail(wrong)
    assert wrong is None, wrong


@pytest.mark.parametrize("file", RECORDINGS)
def test_every_recording_has_its_case(file):
    assert set(RECORDINGS[file]) <= set(corpus.load(file).cases)


def test_every_difference_is_a_case():
    known = {f"{f}: {n}" for f in RECORDINGS for n in corpus.load(f).cases}
    assert DIFFERENCES <= known
