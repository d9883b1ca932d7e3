"""tests/ops/samples.py - for each op a NumPy reference, operands and parameters.

Adding an op means one line in one of the tables that are joined here.
"""

import sample_collectives
import sample_control
import sample_convolutions
import sample_elementwise
import sample_indexing
import sample_matrices
import sample_products
import sample_random
import sample_shapes
import sample_special

TABLES = (
    sample_elementwise.SAMPLES,
    sample_shapes.SAMPLES,
    sample_products.SAMPLES,
    sample_indexing.SAMPLES,
    sample_random.SAMPLES,
    sample_collectives.SAMPLES,
    sample_control.SAMPLES,
    sample_special.SAMPLES,
    sample_matrices.MATRICES,
    sample_convolutions.SAMPLES,
)
SAMPLES = {name: sample for table in TABLES for name, sample in table.items()}
# Covered by another op's sample.
SAMPLES["custom_lin"] = SAMPLES["custom_vjp_call"]
SAMPLES["optimization_barrier"] = SAMPLES["remat2"]
SAMPLES["debug_callback"] = SAMPLES["io_callback"]
SAMPLES["inspect_sharding"] = SAMPLES["io_callback"]
SAMPLES["random_unwrap"] = SAMPLES["random_wrap"]
SAMPLES["random_clone"] = SAMPLES["random_wrap"]


def samples(name):
    """The samples of an op, as a tuple."""
    found = SAMPLES.get(name, ())
    return found if isinstance(found, tuple) else (found,)
