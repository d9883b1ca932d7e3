"""tests/ops/sample_collectives.py - samples of collectives over four devices."""

import numpy as np
import sample_programs as programs
from sample_kinds import mapped, same_everywhere, sharded

SAMPLES = {
    "psum": mapped(
        same_everywhere(lambda x: x.sum(0)),
        lambda sx, x: sx.lax.psum(x, "i"),
        tolerance=4,
        exact=False,
    ),
    "shard_map": sharded(lambda x: x.sum(1), lambda sx, x: x.sum(keepdims=True), "i"),
    "psum_invariant": sharded(
        lambda x: x.sum(0), lambda sx, x: sx.lax.psum(x, "i"), (), tolerance=4, exact=False
    ),
    "unreduced_psum": sharded(lambda x: x.sum(0), programs.summed_terms, ()),
    "vary_unreduced_cast": sharded(lambda x: x.sum(0), programs.summed_terms, ()),
    "preduced": sharded(lambda x: x, programs.reduced_and_back, ("i",)),
    "reduced_vary_cast": sharded(lambda x: x, programs.reduced_and_back, ("i",)),
    "reduced_value": sharded(
        lambda x: x.ravel(), programs.gathered_reduced, reduced=("i",), kinds="Explicit"
    ),
    "all_gather_reduced": sharded(
        lambda x: x.ravel(), programs.gathered_reduced, reduced=("i",), kinds="Explicit"
    ),
    "unreduced_reduce_scatter": sharded(lambda x: x.sum(0), programs.scattered_terms, ("i",)),
    "pmax": mapped(same_everywhere(lambda x: x.max(0)), lambda sx, x: sx.lax.pmax(x, "i")),
    "pmin": mapped(same_everywhere(lambda x: x.min(0)), lambda sx, x: sx.lax.pmin(x, "i")),
    "pargmax": mapped(
        same_everywhere(lambda x: x.argmax(0).astype(np.int32)),
        lambda sx, x: sx.lax.pargmax(x, "i"),
        grad=(),
    ),
    "pargmin": mapped(
        same_everywhere(lambda x: x.argmin(0).astype(np.int32)),
        lambda sx, x: sx.lax.pargmin(x, "i"),
        grad=(),
    ),
    "pbroadcast": mapped(
        same_everywhere(lambda x: x[2]), lambda sx, x: sx.lax.pbroadcast(x, "i", 2)
    ),
    "all_gather": mapped(lambda x: np.stack([x] * 4), lambda sx, x: sx.lax.all_gather(x, "i")),
    "all_gather_invariant": sharded(
        lambda x: x, lambda sx, x: sx.lax.all_gather(x, "i", to="invarying"), ()
    ),
    "all_to_all": mapped(lambda x: x.T, lambda sx, x: sx.lax.all_to_all(x, "i", 0, 0)),
    "reduce_scatter": mapped(
        lambda x: x.sum(0), lambda sx, x: sx.lax.psum_scatter(x, "i"), tolerance=4, exact=False
    ),
    "agree": mapped(same_everywhere(lambda x: x.sum(0)), programs.agreeing, tolerance=4),
    "ppermute": mapped(programs.shifted, programs.shift),
    "pvary": mapped(lambda x: x, lambda sx, x: sx.lax.pvary(x, "i")),
    "axis_index": mapped(
        lambda x: x + np.arange(4)[:, None].astype(x.dtype),
        lambda sx, x: x + sx.lax.axis_index("i").astype(x.dtype),
    ),
}
