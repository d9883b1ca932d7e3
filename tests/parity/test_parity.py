"""tests/parity/test_parity.py - every parity case under shardax against its recording from JAX."""

import sys

import pytest

sys.path.insert(0, __file__.rpartition("/")[0])
import corpus  # noqa: E402

RECORDINGS = {name: corpus.recording(name) for name in corpus.names()}


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
    assert wrong is None, wrong


@pytest.mark.parametrize("file", RECORDINGS)
def test_every_recording_has_its_case(file):
    assert set(RECORDINGS[file]) <= set(corpus.load(file).cases)
