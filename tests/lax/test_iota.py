"""tests/lax/test_iota.py - long counts, which threads write in parts."""

import numpy as np
import pytest
from shardax import lax


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int8", "float32", "float16", "complex64"])
def test_counts_in_several_parts(dtype):
    with np.errstate(over="ignore"):
        want = np.arange(200_001).astype(dtype)
    np.testing.assert_array_equal(lax.iota(dtype, want.size), want)
    rows = lax.broadcasted_iota(dtype, (70_001, 3), 0)
    np.testing.assert_array_equal(rows, np.repeat(want[:70_001, None], 3, 1))
