"""tests/shard_map/conftest.py - fixtures of the tests of explicit axes."""

import pytest
import shardax as jax
from shardax.sharding import AxisType


@pytest.fixture
def mesh():
    """Two explicit axes of two devices each, as the current mesh."""
    made = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(made):
        yield made
