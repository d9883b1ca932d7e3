"""shardax.experimental.sparse - arrays that store the elements which are not zero.

>>> from shardax.experimental import sparse
>>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
>>> M @ jnp.ones(2)
Array([2., 1.], dtype=float32)
"""

from shardax.experimental.sparse import (
    _methods,
    ad,
    api,
    bcoo,
    bcsr,
    coo,
    csr,
    linalg,
    random,
    transform,
)
from shardax.experimental.sparse._base import (
    CuSparseEfficiencyWarning,
    JAXSparse,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
)
from shardax.experimental.sparse._gather import bcoo_gather
from shardax.experimental.sparse._layout import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_reshape,
    bcoo_rev,
    bcoo_squeeze,
    bcoo_update_layout,
)
from shardax.experimental.sparse._math import (
    bcoo_conv_general_dilated,
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    bcoo_reduce_sum,
)
from shardax.experimental.sparse._slices import bcoo_dynamic_slice, bcoo_slice
from shardax.experimental.sparse.ad import grad, jacfwd, jacobian, jacrev, value_and_grad
from shardax.experimental.sparse.api import empty, eye, todense
from shardax.experimental.sparse.bcoo import (
    BCOO,
    bcoo_eliminate_zeros,
    bcoo_extract,
    bcoo_fromdense,
    bcoo_sort_indices,
    bcoo_sum_duplicates,
    bcoo_todense,
    bcoo_transpose,
)
from shardax.experimental.sparse.bcsr import (
    BCSR,
    bcsr_broadcast_in_dim,
    bcsr_concatenate,
    bcsr_dot_general,
    bcsr_eliminate_zeros,
    bcsr_extract,
    bcsr_fromdense,
    bcsr_sum_duplicates,
    bcsr_todense,
)
from shardax.experimental.sparse.coo import COO, coo_fromdense, coo_matmat, coo_matvec, coo_todense
from shardax.experimental.sparse.csr import (
    CSC,
    CSR,
    csr_fromdense,
    csr_matmat,
    csr_matvec,
    csr_todense,
)
from shardax.experimental.sparse.random import random_bcoo
from shardax.experimental.sparse.transform import sparsify

# JAX has these in `bcoo`.
for _function in (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_conv_general_dilated,
    bcoo_dot_general,
    bcoo_dot_general_sampled,
    bcoo_dynamic_slice,
    bcoo_multiply_dense,
    bcoo_multiply_sparse,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
    bcoo_update_layout,
):
    setattr(bcoo, _function.__name__, _function)
