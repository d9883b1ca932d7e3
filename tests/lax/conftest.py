"""tests/lax/conftest.py - fixtures of the tests of kernels."""

import numpy as np
import pytest
import shardax


@pytest.fixture
def same_on_threads():
    """Asserts that run(), a list of arrays, has the same bits on one thread and on three."""
    before = shardax._core.thread_count()

    def check(run):
        found = []
        for count in (1, 3):
            shardax._core.set_thread_count(count)
            found.append(run())
        for one, three in zip(*found):
            np.testing.assert_array_equal(one, three)

    yield check
    shardax._core.set_thread_count(before)
