"""tests/ops/sample_convolutions.py - convolutions and sliding windows, tap by tap."""

import functools
import itertools

import numpy as np
from sample_kinds import COMPLEX, FLOAT, Arg, Sample

DTYPES = (*FLOAT, *COMPLEX, "int8", "int32", "uint8")


def padded(x, pads, value=0):
    """`x` with `pads`, flat pairs, around its last dimensions; negative ones cut."""
    first = x.ndim - len(pads) // 2
    for d, (low, high) in enumerate(zip(pads[::2], pads[1::2])):
        x = np.take(x, range(max(-low, 0), x.shape[first + d] + min(high, 0)), first + d)
        around = [(0, 0)] * x.ndim
        around[first + d] = (max(low, 0), max(high, 0))
        x = np.pad(x, around, constant_values=value)
    return x


def spread(x, dilation, value=0):
    """The elements of the last dimensions `dilation` apart."""
    first = x.ndim - len(dilation)
    sizes = [(n - 1) * d + 1 if n else 0 for n, d in zip(x.shape[first:], dilation)]
    out = np.full((*x.shape[:first], *sizes), value, x.dtype)
    out[(..., *(slice(None, None, d) for d in dilation))] = x
    return out


def convolve(lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, **rest):
    """One convolution, tap by tap."""
    specs = [rest[name] for name in ("lhs_spec", "rhs_spec", "out_spec")]
    groups = max(rest["feature_group_count"], rest["batch_group_count"])
    a = padded(spread(lhs.transpose(specs[0]), lhs_dilation), padding)
    kernel = rhs.transpose(specs[1])
    parts = np.split(a, groups, axis=1 if rest["feature_group_count"] > 1 else 0)
    window = kernel.shape[2:]
    counts = [
        max((n - (w - 1) * d - 1) // s + 1, 0) if n >= (w - 1) * d + 1 else 0
        for n, w, d, s in zip(a.shape[2:], window, rhs_dilation, window_strides)
    ]
    outs = []
    for part, own in zip(parts, np.split(kernel, groups)):
        out = np.zeros((len(part), len(own), *counts), np.result_type(lhs, rhs))
        for tap in itertools.product(*map(range, window)):
            if 0 in counts:
                break
            places = tuple(
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, rhs_dilation, counts, window_strides)
            )
            seen, weights = part[(slice(None), slice(None), *places)], own[(..., *tap)]
            out += np.einsum("nc...,oc->no...", seen, weights).astype(out.dtype)
        outs.append(out)
    return np.concatenate(outs, 1).transpose(np.argsort(specs[2]))


def reference(lhs, rhs, leading=(), **params):
    """The same for operands with leading dimensions: 0 of both, 1 of lhs, 2 of rhs, 3 summed."""
    if not leading:
        return convolve(lhs, rhs, **params)
    kind, rest = leading[0], leading[1:]
    parts = [
        reference(lhs if kind == 2 else lhs[i], rhs if kind == 1 else rhs[i], rest, **params)
        for i in range(len(rhs) if kind == 2 else len(lhs))
    ]
    return sum(parts) if kind == 3 else np.stack(parts)


def convolution(lhs, rhs, strides, padding, specs=None, dtypes=DTYPES, tolerance=4, **rest):
    count = len(strides)
    plain = tuple(range(count + 2))
    params = {
        "window_strides": strides,
        "padding": padding,
        "lhs_dilation": (1,) * count,
        "rhs_dilation": (1,) * count,
        "feature_group_count": 1,
        "batch_group_count": 1,
        "preferred_element_type": None,
        "precision": None,
        **dict(zip(("lhs_spec", "rhs_spec", "out_spec"), specs or (plain,) * 3)),
        **rest,
    }

    def run(*operands, preferred_element_type, precision, **given):
        return reference(*operands, **given)

    args = (Arg(lhs, (-2, 2)), Arg(rhs, (-2, 2)))
    return Sample(run, args, params, dtypes, exact=False, tolerance=tolerance)


LAST = ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))  # NHWC, HWIO, NHWC
MIXED = ((2, 0, 1), (1, 2, 0), (1, 2, 0))
F32 = ("float32", "float64")

CONVOLUTIONS = (
    convolution((2, 3, 5, 6), (4, 3, 3, 2), (1, 1), (1, 1, 0, 1)),
    convolution((2, 6, 5, 3), (3, 3, 3, 2), (2, 1), (1, 2, 1, 0), LAST),
    convolution((3, 7, 2), (2, 5, 3), (2,), (3, 1), MIXED, rhs_dilation=(2,)),
    convolution((2, 2, 4, 3), (3, 2, 3, 3), (1, 2), (2, 2, 1, 3), lhs_dilation=(2, 3)),
    convolution((1, 2, 4, 3, 3), (2, 2, 2, 2, 2), (1, 2, 1), (0, 1, 1, 1, 0, 0), dtypes=F32),
    convolution((2, 6, 5), (4, 3, 3), (1,), (1, 1), feature_group_count=2, dtypes=F32),
    convolution((4, 3, 5), (4, 3, 3), (1,), (1, 1), batch_group_count=2, dtypes=F32),
    convolution((2, 4, 5, 5), (4, 1, 3, 3), (1, 1), (1,) * 4, feature_group_count=4, dtypes=F32),
    convolution((2, 5, 5, 17), (3, 3, 1, 17), (1, 1), (1,) * 4, LAST, F32, feature_group_count=17),
    convolution((2, 3, 4, 4), (5, 3, 1, 1), (1, 1), (0,) * 4, dtypes=F32),
    convolution((1, 16, 4, 4), (20, 16, 3, 3), (1, 1), (1,) * 4, dtypes=F32, tolerance=20),
    convolution((2, 2, 3, 9), (2, 4, 3, 3), (2,), (-1, 2), leading=(0,), dtypes=F32),
    convolution((2, 3, 2, 3, 7), (2, 3, 4, 3, 3), (1,), (1, 1), leading=(3, 0), dtypes=F32),
    convolution((2, 2, 3, 7), (3, 4, 3, 3), (1,), (1, 1), leading=(1, 2), dtypes=F32),
    convolution((2, 3, 0), (4, 3, 2), (1,), (1, 1), dtypes=F32),
    convolution((0, 3, 4), (4, 3, 2), (1,), (1, 1), dtypes=F32),
    convolution((2, 3), (4, 3), (), (), dtypes=F32),
)


def tapped(x, init, window_dimensions, window_strides, padding, base_dilation, window_dilation):
    """For each place in the window, the elements there of all windows."""
    x = padded(spread(x, base_dilation, init), padding, init)
    counts = [
        max((n - (w - 1) * d - 1) // s + 1, 0)
        for n, w, d, s in zip(x.shape, window_dimensions, window_dilation, window_strides)
    ]
    for tap in itertools.product(*map(range, window_dimensions)):
        yield x[
            tuple(
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, window_dilation, counts, window_strides)
            )
        ]


def reduced(init, combine):
    def run(x, **params):
        start = init
        if init != 0 and x.dtype.kind in "iu":
            start = np.iinfo(x.dtype).min if init < 0 else np.iinfo(x.dtype).max
        return functools.reduce(combine, tapped(x, start, **params))

    return run


def chosen(values, keys, select_prim, **params):
    """The value at the largest (smallest) key of each window."""
    sign = 1 if select_prim == "ge" else -1
    keys = np.stack(list(tapped(sign * keys.astype(float), -np.inf, **params)))
    values = np.stack(list(tapped(values, 0, **params)))
    return np.take_along_axis(values, keys.argmax(0)[None], 0)[0]


def scattered(source, keys, select_prim, window_dimensions, window_strides, padding):
    """The transpose of `chosen`, by what it makes of each place."""
    ones = (1,) * keys.ndim
    params = {"base_dilation": ones, "window_dilation": ones, "padding": padding}
    params |= {"window_dimensions": window_dimensions, "window_strides": window_strides}
    places = np.arange(1.0, keys.size + 1).reshape(keys.shape)
    found = chosen(places, keys, select_prim, **params).astype(int)
    out = np.zeros(keys.size + 1, source.dtype)
    np.add.at(out, found.ravel(), source.ravel())
    return out[1:].reshape(keys.shape)


def sliding(window, strides, padding, base=None, dilation=None):
    ones = (1,) * len(window)
    return {
        "window_dimensions": window,
        "window_strides": strides,
        "padding": padding,
        "base_dilation": base or ones,
        "window_dilation": dilation or ones,
    }


POOL = sliding((1, 2, 3), (1, 2, 1), (0, 0, 1, 0, 1, 1))
WINDOWS = (
    POOL,
    sliding((2, 1, 2), (1, 1, 2), (-1, 1, 0, 0, 0, 1), (2, 1, 1), (1, 1, 2)),
    sliding((1, 4, 1), (1, 3, 1), (0, 0, 2, 2, 0, 0)),
)
OPERAND = Arg((3, 4, 5), (-2, 2))
INTS = ("int8", "int32", "uint8")


def windows(init, combine, dtypes, **rest):
    return tuple(
        Sample(reduced(init, combine), (OPERAND,), params, dtypes, **rest) for params in WINDOWS
    )


def choices(reference, name):
    short = {k: v for k, v in POOL.items() if not name or "dilation" not in k}
    source = Arg((3, 2, 5), (-2, 2)) if name else OPERAND
    return tuple(
        Sample(
            reference,
            (source, OPERAND),
            {**short, "select_prim": select},
            (*FLOAT, "int32"),
            grad=(0,),
        )
        for select in ("ge", "le")
    )


SAMPLES = {
    "conv_general_dilated": CONVOLUTIONS,
    "reduce_window_sum": windows(0, np.add, (*FLOAT, *COMPLEX, *INTS), exact=False, tolerance=2),
    "reduce_window_max": windows(-np.inf, np.maximum, (*FLOAT, *INTS)),
    "reduce_window_min": windows(np.inf, np.minimum, (*FLOAT, *INTS)),
    "select_and_gather_add": choices(chosen, ""),
    "select_and_scatter_add": choices(scattered, "scatter"),
}
