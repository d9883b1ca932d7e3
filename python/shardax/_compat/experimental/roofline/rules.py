"""shardax/_compat/experimental/roofline/rules.py - the rules of the package's ops, by name.

Messages are those of collectives on a torus, whose links every device has in both directions. They
go in rings along each axis (Thakur et al. 2005), for several axes one after the other on pieces of
the array.
"""

import collections
import math

import numpy as np
from shardax.experimental.roofline.results import RooflineResult, RooflineShape

RULES = {}

_UNARY = """abs acos asin atan bessel_i0e bessel_i1e cbrt ceil conj cos cosh digamma erf erf_inv
erfc exp expm1 floor imag integer_pow is_finite lgamma log log1p logistic neg not real round rsqrt
sign sin sinh sqrt square tan"""
_BINARY = "add and div eq ge gt le lt max min mul ne or rem sub xor"
_SCATTER = "scatter scatter-add scatter-max scatter-min scatter-mul scatter-sub"


def _rule(names):
    def register(rule):
        RULES.update(dict.fromkeys(names.split(), rule))
        return rule

    return register


def _types(context):
    """The shapes of operands, and that of the first result."""
    out = context.avals_out
    return (
        [RooflineShape.from_aval(aval) for aval in context.avals_in],
        RooflineShape.from_aval(out[0]) if out else None,
    )


def _moved(context):
    return RooflineShape.total_bytes((*context.avals_in, *context.avals_out))


# ---- arithmetic ------------------------------------------------------------------------------


@_rule(f"{_UNARY} {_BINARY}")
def _elementwise(context, *operands, **params):
    _, out = _types(context)
    return RooflineResult(unfused_flops=out.size, unfused_hbm_bytes=_moved(context))


@_rule("cummax cummin cumprod cumsum cumlogsumexp")
def _cumulative(context, *operands, axis, **params):
    """One op for each place along the axis; of logarithms an exponential too."""
    (x,), _ = _types(context)
    each = 2 if context.primitive.name == "cumlogsumexp" else 1
    return RooflineResult(unfused_flops=each * x.shape[axis], unfused_hbm_bytes=_moved(context))


@_rule("reduce_sum")
def _reduce_sum(context, *operands, axes, **params):
    (x,), out = _types(context)
    added = math.prod(x.shape[axis] for axis in axes)
    moved = x.dtype.itemsize * (x.size + out.size)
    return RooflineResult(unfused_flops=(added - 1) * out.size, unfused_hbm_bytes=moved)


@_rule("select_n")
def _select(context, *operands, **params):
    """Of all cases only as much is read as one of them has."""
    (which, *_), out = _types(context)
    return RooflineResult(unfused_flops=out.size, unfused_hbm_bytes=which.bytes + out.bytes)


# ---- products --------------------------------------------------------------------------------


@_rule("dot_general")
def _dot_general(context, *operands, dimension_numbers, **params):
    (lhs, rhs), out = _types(context)
    (contracted, _), _ = dimension_numbers
    flops = 2 * out.size * math.prod(lhs.shape[d] for d in contracted)
    moved = 0 if context.pin_lhs_in_vmem else lhs.bytes + out.bytes
    moved += 0 if context.pin_rhs_in_vmem else rhs.bytes
    return RooflineResult(
        flops=flops, unfused_flops=flops, hbm_bytes=moved, unfused_hbm_bytes=moved
    )


def _pairs(kernel, size, out, stride, padding, dilation, spread):
    """The number of places of a kernel that meet an element of an input, summed over `out` steps of
    a window by `stride`. The kernel has `kernel` elements, `spread` apart, the input `size`,
    `dilation` apart."""
    start = np.arange(kernel, dtype=np.int64) * spread - padding  # at step 0
    first = np.maximum(0, -(start // stride))
    last = np.minimum(out - 1, ((size - 1) * dilation - start) // stride)
    shared = math.gcd(stride, dilation)
    period = dilation // shared  # steps between two that meet one
    inverse = pow(stride // shared, -1, period) if period > 1 else 0
    meets = (-start // shared) % period * inverse % period
    first += (meets - first) % period
    counts = np.maximum(0, (last - first) // period + 1)
    return int(counts[start % shared == 0].sum())


@_rule("conv_general_dilated")
def _convolution(
    context,
    *operands,
    window_strides,
    padding,
    lhs_dilation,
    rhs_dilation,
    dimension_numbers,
    batch_group_count,
    **params,
):
    (lhs, rhs), out = _types(context)
    of_lhs, of_rhs, of_out = (
        dimension_numbers.lhs_spec,
        dimension_numbers.rhs_spec,
        dimension_numbers.out_spec,
    )
    met = math.prod(
        _pairs(
            rhs.shape[of_rhs[d + 2]],
            lhs.shape[of_lhs[d + 2]],
            out.shape[of_out[d + 2]],
            window_strides[d],
            padding[d][0],
            lhs_dilation[d],
            rhs_dilation[d],
        )
        for d in range(len(of_lhs) - 2)
    )
    batch = lhs.shape[of_lhs[0]] // batch_group_count
    flops = 2 * met * batch * rhs.shape[of_rhs[1]] * out.shape[of_out[1]]
    return RooflineResult(unfused_flops=flops, unfused_hbm_bytes=_moved(context))


# ---- places, callbacks -----------------------------------------------------------------------


@_rule("gather")
def _gather(context, *operands, mode, **params):
    """The reads are as large as the result. Indices that may be out of bounds are held against both
    ends, the answers joined, and the result masked."""
    (_, indices), out = _types(context)
    checks = getattr(mode, "name", mode) == "FILL_OR_DROP"
    return RooflineResult(
        unfused_flops=4 * indices.size + out.size if checks else 0,
        unfused_hbm_bytes=2 * out.bytes + indices.bytes,
    )


@_rule(_SCATTER)
def _scatter(context, *operands, update_jaxpr=None, **params):
    """Updates, and as much of the operand, are read; as much is written."""
    (_, indices, updates), _ = _types(context)
    each = sum(
        equation.primitive.name in RULES for equation in getattr(update_jaxpr, "eqns", ())
    ) or int(context.primitive.name != "scatter")
    return RooflineResult(
        unfused_flops=each * updates.size, unfused_hbm_bytes=3 * updates.bytes + indices.bytes
    )


@_rule("pure_callback io_callback debug_callback")
def _callback(context, *operands, **params):
    return RooflineResult(unfused_hbm_bytes=_moved(context))


# ---- collectives -----------------------------------------------------------------------------


def _sizes(context, axes):
    """The size of each axis, by name; None where there is one device and nothing is sent."""
    names = axes if isinstance(axes, (tuple, list)) else (axes,)
    if context.mesh is None:
        raise ValueError(
            f"roofline: {context.primitive} over {names} needs the mesh. Pass mesh=, in_specs= and "
            "out_specs= to roofline."
        )
    return {name: context.mesh.shape[name] for name in names}


def _messages(sizes, sent, hops):
    """The same along each axis; nothing where there is one device."""
    if math.prod(sizes.values()) == 1:
        sent = hops = 0
    return RooflineResult(
        ici_bytes=dict.fromkeys(sizes, int(sent)), ici_latency=dict.fromkeys(sizes, int(hops))
    )


def _ring(sizes, shard):
    """Shards of so many bytes, gathered along one axis after the other."""
    ordered = sorted(sizes.values(), reverse=True)
    shard //= len(ordered)
    sent = 0
    for size in ordered:
        sent += shard * (size - 1)
        shard *= size
    return sent, ordered[0] * len(ordered)


@_rule("all_gather all_gather_invariant all_gather_reduced")
def _all_gather(context, *operands, axis_name, **params):
    sizes = _sizes(context, axis_name)
    return _messages(sizes, *_ring(sizes, RooflineShape.total_bytes(context.avals_in)))


@_rule("reduce_scatter unreduced_reduce_scatter")
def _reduce_scatter(context, *operands, axis_name, **params):
    sizes = _sizes(context, axis_name)
    shard = RooflineShape.total_bytes(context.avals_in) / math.prod(sizes.values())
    return _messages(sizes, *_ring(sizes, shard))


@_rule("psum psum_invariant unreduced_psum")
def _psum(context, *operands, axes, **params):
    """Parts of the sum, which are gathered then."""
    once = _reduce_scatter(context, axis_name=axes)
    return RooflineResult(ici_bytes=once.ici_bytes, ici_latency=once.ici_latency) * 2


@_rule("pmax pmin")
def _extremum(context, *operands, axes, **params):
    """The rule of one element."""
    sizes = _sizes(context, axes)
    return _messages(sizes, *_ring(sizes, sum(aval.dtype.itemsize for aval in context.avals_in)))


@_rule("all_to_all")
def _all_to_all(context, *operands, axis_name, **params):
    """Half of all data crosses the middle of the mesh, where its shortest axis is cut."""
    sizes = _sizes(context, axis_name)
    least = min(sizes.values())
    links = least ** (len(sizes) - 1) * (2 if least > 2 else 1)
    whole = RooflineShape.total_bytes(context.avals_in) * math.prod(sizes.values())
    return _messages(sizes, whole / 2 / links, sum(size / 2 for size in sizes.values()))


@_rule("ppermute")
def _ppermute(context, *operands, axis_name, perm, **params):
    """Each goes the shorter way round along one axis after the other; the busiest link counts."""
    sizes = _sizes(context, axis_name)
    shape = tuple(sizes.values())
    if math.prod(shape) == 1:
        return _messages(sizes, 0, 0)
    links, hops = collections.Counter(), 0
    for source, target in np.reshape(perm, (-1, 2)):
        there, place = np.unravel_index(target, shape), list(np.unravel_index(source, shape))
        start, way = tuple(place), 0
        for d, size in enumerate(shape):
            ahead = (there[d] - start[d]) % size
            step = 1 if 2 * ahead <= size else -1
            line = list(start)
            for _ in range(min(ahead, size - ahead)):
                here = tuple(line)
                line[d] = (line[d] + step) % size
                links[frozenset((here, tuple(line)))] += 1
            way += min(ahead, size - ahead)
        hops = max(hops, way)
    shard = RooflineShape.total_bytes(context.avals_in)
    return _messages(sizes, shard * max(links.values(), default=0), hops)
