"""shardax.experimental.rnn - LSTM networks of several layers over sequences of different lengths.

Hochreiter and Schmidhuber, Long short-term memory (1997). Weights are one vector. Each layer (and
direction) has W_ih and W_hh, then each has b_ih and b_hh, of the gates i, f, g, o one after the
other.
"""

import math

import numpy as np

from shardax import lax, nn, random
from shardax import numpy as jnp
from shardax._base.arrays import static_jit

__all__ = [
    "get_num_params_in_lstm",
    "init_lstm_weight",
    "lstm",
    "lstm_ref",
    "swap_lstm_gates",
    "unpack_lstm_weights",
]


def _shapes(input_size, hidden_size, num_layers, bidirectional):
    """For each layer and direction the shapes of (W_ih, W_hh), and of (b_ih, b_hh)."""
    directions = 2 if bidirectional else 1
    gates = 4 * hidden_size
    weights, biases = [], []
    for layer in range(num_layers * directions):
        wide = input_size if layer < directions else directions * hidden_size
        weights.append([(gates, wide), (gates, hidden_size)])
        biases.append([(gates,), (gates,)])
    return weights, biases


def get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional):
    """The number of weights.

    >>> get_num_params_in_lstm(3, 4, 1, False)
    144
    """
    parts = _shapes(input_size, hidden_size, num_layers, bidirectional)
    return sum(math.prod(shape) for part in parts for layer in part for shape in layer)


def init_lstm_weight(rng, input_size, hidden_size, num_layers, bidirectional):
    """Weights drawn uniformly from [-k, k), k = 1 / sqrt(hidden_size)."""
    count = get_num_params_in_lstm(input_size, hidden_size, num_layers, bidirectional)
    k = np.sqrt(1 / hidden_size)
    return random.uniform(rng, (count,), jnp.float32, -k, k)


def unpack_lstm_weights(weights, input_size, hidden_size, num_layers, bidirectional):
    """(W_ih, W_hh, b_ih, b_hh), each a dict from the number of a layer to its matrix or vector.
    With two directions, a layer has twice that number, plus one for the way back.
    """
    out, start = [], 0
    for part in _shapes(input_size, hidden_size, num_layers, bidirectional):
        first, second = {}, {}
        for layer, shapes in enumerate(part):
            for found, shape in zip((first, second), shapes):
                end = start + math.prod(shape)
                found[layer] = weights[start:end].reshape(shape)
                start = end
        out += [first, second]
    return tuple(out)


def swap_lstm_gates(weights, input_size, hidden_size, num_layers, bidirectional):
    """Weights with the gates g and o exchanged."""
    pieces, start = [], 0
    weights = jnp.asarray(weights)
    for part in _shapes(input_size, hidden_size, num_layers, bidirectional):
        for shape in (shape for layer in part for shape in layer):
            end = start + math.prod(shape)
            i, f, g, o = jnp.split(weights[start:end], 4)
            pieces += [i, f, o, g]
            start = end
    return jnp.concatenate(pieces)


def _layer(x, h, c, weights, lengths):
    """(outputs, the last h, the last c) of a layer over x (time, batch, size)."""
    W_ih, W_hh, b_ih, b_hh = weights
    inputs = x @ W_ih.T + (b_ih + b_hh)

    def step(carry, row):
        h, c = carry
        i, f, g, o = jnp.split(row + h @ W_hh.T, 4, axis=-1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), (h, c)

    _, (hs, cs) = lax.scan(step, (h, c), inputs)
    inside = jnp.arange(x.shape[0], dtype=np.int32)[:, None] < lengths
    batch = jnp.arange(x.shape[1])
    last = lengths - 1
    return jnp.where(inside[..., None], hs, 0), hs[last, batch], cs[last, batch]


def _flipped(x, lengths):
    """Each sequence backwards, with the steps beyond its end behind it."""
    time = jnp.arange(x.shape[0], dtype=np.int32)[:, None]
    source = jnp.where(time < lengths, lengths - 1 - time, time)
    return jnp.take_along_axis(x, source[..., None], axis=0)


@static_jit("input_size", "hidden_size", "num_layers", "dropout", "bidirectional")
def lstm_ref(
    x,
    h_0,
    c_0,
    W_ih,
    W_hh,
    b_ih,
    b_hh,
    seq_lengths,
    input_size,
    hidden_size,
    num_layers,
    dropout,
    bidirectional,
):
    """`lstm` of unpacked weights.

    `hidden_size` and `input_size` have no effect: the result does not depend on it; the signature
    is that of a protocol.

    Raises:
      NotImplementedError: dropout is not 0, or `seq_lengths` are not int32.
    """
    if seq_lengths.dtype != np.int32:
        raise NotImplementedError("`seq_lengths` can only be int32.")
    if dropout != 0.0:
        raise NotImplementedError(
            "Dropout not supported in LSTM reference because we cannot determine CUDNN dropout "
            "mask."
        )
    directions = 2 if bidirectional else 1
    y, hs, cs = jnp.swapaxes(x, 0, 1), [], []
    for layer in range(num_layers):
        outputs = []
        for back in range(directions):
            n = layer * directions + back
            weights = (W_ih[n], W_hh[n], b_ih[n], b_hh[n])
            rows = _flipped(y, seq_lengths) if back else y
            out, h, c = _layer(rows, h_0[n], c_0[n], weights, seq_lengths)
            outputs.append(_flipped(out, seq_lengths) if back else out)
            hs.append(h)
            cs.append(c)
        y = jnp.concatenate(outputs, -1)
    return jnp.swapaxes(y, 0, 1), jnp.stack(hs), jnp.stack(cs)


def lstm(
    x,
    h_0,
    c_0,
    weights,
    seq_lengths,
    input_size,
    hidden_size,
    num_layers,
    dropout,
    bidirectional,
    precision=None,
):
    """An LSTM network over a batch of sequences; differentiable.

    Args:
      x: (batch, time, input_size).
      h_0, c_0: (directions * num_layers, batch, hidden_size).
      weights: a vector, as of `init_lstm_weight`.
      seq_lengths: int32 (batch,): outputs beyond are 0.
      dropout: 0.
      bidirectional: each layer runs both ways.
      precision: ignored; products are exact to the dtype.

    Returns:
      (outputs (batch, time, directions * hidden_size), the last h, the last c).
    """
    sizes = (input_size, hidden_size, num_layers)
    parts = unpack_lstm_weights(weights, *sizes, bidirectional)
    return lstm_ref(x, h_0, c_0, *parts, seq_lengths, *sizes, dropout, bidirectional)
