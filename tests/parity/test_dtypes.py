"""tests/parity/test_dtypes.py - the dtypes of results are JAX's, with x64 and without."""

import pathlib
import sys
import warnings

import pytest
import shardax

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import dtypes  # noqa: E402

RECORDING = dtypes.recording()
# The differences, by the lines of differing_dtypes.txt; if JAX raises, anything will do.
DIFFERENCES = set((dtypes.RECORDED.parents[1] / "differing_dtypes.txt").read_text().splitlines())


def differing(source, x64):
    """The dtypes of operands for which results have another dtype."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dtypes.outcomes(shardax, source, x64)
    want = RECORDING[source][x64]
    triples = zip(dtypes.DTYPES, found, want, strict=True)
    return [f"{name}: {f}, not {w}" for name, f, w in triples if f != w and w != "!"]


@pytest.mark.parametrize("source", dtypes.SOURCES)
def test_dtypes(source):
    wrong = {x64: differing(source, x64) for x64 in (False, True)}
    if source in DIFFERENCES:
        assert any(wrong.values()), f"{source} agrees now; take it off the list"
        return
    for x64, found in wrong.items():
        assert not found, f"{source}{', x64' * x64}: " + "; ".join(found)


def test_every_difference_is_a_source():
    assert set(dtypes.SOURCES) >= DIFFERENCES
    assert set(dtypes.SOURCES) == set(RECORDING)
