"""tests/pmap/test_ragged.py - ragged_all_to_all: slices of sizes that differ by device."""

import functools

import numpy as np
import pytest
import shardax
from shardax import lax


def ragged(sizes, rows, width=2):
    """Operands, offsets and sizes for `sizes[source][slice]`, and what each device then has."""
    n = len(sizes)
    each = len(sizes[0]) // n
    operand = np.arange(n * rows * width, dtype=np.float32).reshape(n, rows, width) + 1
    starts = np.cumsum(sizes, axis=1) - sizes
    arriving = np.swapaxes(np.reshape(sizes, (n, n, each)), 0, 1).reshape(n, n * each)
    places = np.cumsum(arriving, axis=1) - arriving  # by receiver, then source
    sent = np.swapaxes(places.reshape(n, n, each), 0, 1).reshape(n, n * each)
    want = np.full((n, rows * n, width), -1, np.float32)
    for source in range(n):
        for i, size in enumerate(sizes[source]):
            at, to = starts[source, i], sent[source, i]
            want[i // each, to : to + size] = operand[source, at : at + size]
    return (operand, np.full_like(want, -1), starts, np.array(sizes), sent, arriving), want


@pytest.mark.parametrize("outer", ["pmap", "vmap"])
@pytest.mark.parametrize(
    "sizes", [[[1, 2], [3, 0]], [[1, 0, 2, 1], [0, 0, 1, 3]], [[1, 2, 0], [0, 1, 1], [2, 1, 1]]]
)
def test_ragged_all_to_all(sizes, outer):
    arguments, want = ragged(sizes, 5)
    f = functools.partial(lax.ragged_all_to_all, axis_name="i")
    mapped = {
        "pmap": lambda g: shardax.pmap(g, axis_name="i"),
        "vmap": lambda g: shardax.vmap(g, axis_name="i"),
    }[outer]
    np.testing.assert_array_equal(mapped(f)(*arguments), want)
    operand, output, *rest = arguments
    weights = np.cos(np.arange(want.size)).reshape(want.shape).astype(np.float32)

    def loss(operand, output):
        return (mapped(f)(operand, output, *rest) * weights).sum()

    to_operand, to_output = shardax.grad(loss, (0, 1))(operand, output)
    sent = np.arange(operand.shape[1]) < np.sum(sizes, axis=1)[:, None]
    np.testing.assert_allclose(to_operand[~sent], 0)
    np.testing.assert_allclose(to_output, np.where(want == -1, weights, 0))
    np.testing.assert_allclose(
        (to_operand * operand).sum() + (to_output * output).sum(),
        (want * weights).sum(),
        rtol=1e-5,
    )


def test_ragged_all_to_all_in_groups():
    arguments, want = ragged([[1, 2], [3, 0]], 4)
    doubled = [np.concatenate([a, a + 0]) for a in arguments]
    f = shardax.pmap(
        lambda *a: lax.ragged_all_to_all(*a, axis_name="i", axis_index_groups=[[0, 1], [2, 3]]),
        axis_name="i",
    )
    np.testing.assert_array_equal(f(*doubled), np.concatenate([want, want]))


RAGGED = [
    ({"send_sizes": np.ones(2)}, "send_sizes must be integer type, got float32"),
    (
        {"output_offsets": np.ones((2, 1), int)},
        r"output_offsets must be rank 1 with positive dimension size, but got shape \(2, 1\)",
    ),
    (
        {"recv_sizes": np.ones(4, int)},
        "offsets and sizes must have one length, got .*'recv_sizes': 4",
    ),
    (
        {"output": np.ones((3, 2), np.float32)},
        r"must differ in their leading size only, got float32\[3\] and float32\[3, 2\]",
    ),
]


@pytest.mark.parametrize("wrong, text", RAGGED)
def test_errors_of_ragged_all_to_all(wrong, text):
    ones = np.ones(2, int)
    right = {"operand": np.ones(3, np.float32), "output": np.ones(3, np.float32)}
    names = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")
    right |= dict.fromkeys(names, ones)
    with pytest.raises(ValueError, match=text):
        shardax.vmap(
            lambda _: lax.ragged_all_to_all(**{**right, **wrong}, axis_name="i"), axis_name="i"
        )(np.zeros(2))
