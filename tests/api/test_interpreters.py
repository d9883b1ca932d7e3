"""tests/api/test_interpreters.py - what tutorials on interpreters of programs import."""

import pytest
from shardax._src.util import safe_map, safe_zip, unzip2


def test_lists_of_one_length():
    assert safe_map(max, [1, 5], (3, 2)) == [3, 5]
    assert safe_zip([1, 2], "ab") == [(1, "a"), (2, "b")]
    assert unzip2([(1, "a"), (2, "b")]) == ((1, 2), ("a", "b")) and unzip2([]) == ((), ())


def test_lists_of_other_lengths():
    for call in (lambda: safe_map(max, [1], [1, 2]), lambda: safe_zip([1], [1, 2], [3])):
        with pytest.raises(ValueError, match=r"lengths differ: \[1, 2"):
            call()
