"""shardax.example_libraries.stax - neural-network layers as pairs of functions.

A layer is (init, apply):
    init(rng, input_shape) -> (output_shape, params)
    apply(params, inputs, rng=None) -> outputs
`serial` and `parallel` make layers of layers. A size of -1 in a shape is one to be known later.

  >>> init, apply = serial(Dense(4), Relu, Dense(2))
  >>> shape, params = init(random.key(0), (-1, 3))
  >>> shape, apply(params, jnp.ones((5, 3))).shape
  ((-1, 2), (5, 2))
"""

import functools
import math
import operator

from shardax import lax, nn, random
from shardax import numpy as jnp
from shardax._transform.stages import ShapeDtypeStruct as _ShapeDtypeStruct
from shardax._transform.tracing import eval_shape as _eval_shape
from shardax.nn import (
    elu,
    gelu,
    leaky_relu,
    log_softmax,
    relu,
    selu,
    sigmoid,
    softmax,
    softplus,
    standardize,
)
from shardax.nn.initializers import glorot_normal, normal, ones, zeros

glorot, randn, logsoftmax = glorot_normal, normal, log_softmax

__all__ = [
    "AvgPool",
    "BatchNorm",
    "Conv",
    "Conv1DTranspose",
    "ConvTranspose",
    "Dense",
    "Dropout",
    "Elu",
    "Exp",
    "FanInConcat",
    "FanInSum",
    "FanOut",
    "Flatten",
    "Gelu",
    "GeneralConv",
    "GeneralConvTranspose",
    "Identity",
    "LeakyRelu",
    "LogSoftmax",
    "MaxPool",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "SumPool",
    "Tanh",
    "elementwise",
    "elu",
    "gelu",
    "glorot",
    "leaky_relu",
    "log_softmax",
    "logsoftmax",
    "parallel",
    "randn",
    "relu",
    "selu",
    "serial",
    "shape_dependent",
    "sigmoid",
    "softmax",
    "softplus",
    "standardize",
]


def Dense(out_dim, W_init=None, b_init=None):
    """inputs @ W + b."""
    W_init, b_init = W_init or glorot_normal(), b_init or normal()

    def init(rng, input_shape):
        k1, k2 = random.split(rng)
        params = W_init(k1, (input_shape[-1], out_dim)), b_init(k2, (out_dim,))
        return (*input_shape[:-1], out_dim), params

    def apply(params, inputs, **kwargs):
        W, b = params
        return jnp.dot(inputs, W) + b

    return init, apply


def _convolution(shape_of, compute):
    """GeneralConv or GeneralConvTranspose: they differ in the output's shape and in the op."""

    def make(
        dimension_numbers,
        out_chan,
        filter_shape,
        strides=None,
        padding="VALID",
        W_init=None,
        b_init=None,
    ):
        lhs_spec, rhs_spec, out_spec = dimension_numbers
        strides = strides or (1,) * len(filter_shape)
        W_init = W_init or glorot_normal(rhs_spec.index("O"), rhs_spec.index("I"))
        b_init = b_init or normal(1e-6)

        def init(rng, input_shape):
            sizes = iter(filter_shape)
            channels = {"O": out_chan, "I": input_shape[lhs_spec.index("C")]}
            kernel = [channels[c] if c in channels else next(sizes) for c in rhs_spec]
            bias = [out_chan if c == "C" else 1 for c in out_spec]
            output = shape_of(input_shape, kernel, strides, padding, dimension_numbers)
            k1, k2 = random.split(rng)
            return output, (W_init(k1, tuple(kernel)), b_init(k2, tuple(bias)))

        def apply(params, inputs, **kwargs):
            W, b = params
            return compute(inputs, W, strides, padding, dimension_numbers=dimension_numbers) + b

        return init, apply

    return make


def _conv_shape(shape, kernel, strides, padding, numbers):
    return _shape_after(lax.conv_general_dilated, shape, kernel, strides, padding, numbers)


def _conv_transpose_shape(shape, kernel, strides, padding, numbers):
    return _shape_after(lax.conv_transpose, shape, kernel, strides, padding, numbers)


def _shape_after(op, shape, kernel, strides, padding, numbers):
    """The shape that `op` gives; a batch size that is not known stays so."""
    lhs_spec, _, out_spec = numbers
    batch = lhs_spec.index("N")
    known = tuple(1 if d == batch else n for d, n in enumerate(shape))
    out = _eval_shape(
        lambda x, w: op(x, w, strides, padding, dimension_numbers=numbers),
        _ShapeDtypeStruct(known, jnp.float32),
        _ShapeDtypeStruct(tuple(kernel), jnp.float32),
    ).shape
    return tuple(shape[batch] if c == "N" else n for c, n in zip(out_spec, out))


GeneralConv = _convolution(_conv_shape, lax.conv_general_dilated)
Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
GeneralConvTranspose = _convolution(_conv_transpose_shape, lax.conv_transpose)
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis=(0, 1, 2),
    epsilon=1e-5,
    center=True,
    scale=True,
    beta_init=zeros,
    gamma_init=ones,
):
    """Mean 0 and variance 1 over `axis`, then scaled by gamma and moved by beta."""
    axis = (axis,) if jnp.isscalar(axis) else axis

    def init(rng, input_shape):
        shape = tuple(n for i, n in enumerate(input_shape) if i not in axis)
        k1, k2 = random.split(rng)
        beta = beta_init(k1, shape) if center else ()
        gamma = gamma_init(k2, shape) if scale else ()
        return input_shape, (beta, gamma)

    def apply(params, x, **kwargs):
        beta, gamma = params
        wide = tuple(None if i in axis else slice(None) for i in range(jnp.ndim(x)))
        z = nn.standardize(x, axis, epsilon=epsilon)
        z = gamma[wide] * z if scale else z
        return z + beta[wide] if center else z

    return init, apply


def elementwise(fun, **fun_kwargs):
    """A layer without parameters: fun(inputs, **fun_kwargs)."""
    return lambda rng, shape: (shape, ()), lambda params, x, **kwargs: fun(x, **fun_kwargs)


Tanh = elementwise(jnp.tanh)
Relu = elementwise(nn.relu)
Exp = elementwise(jnp.exp)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Sigmoid = elementwise(nn.sigmoid)
Elu = elementwise(nn.elu)
LeakyRelu = elementwise(nn.leaky_relu)
Selu = elementwise(nn.selu)
Gelu = elementwise(nn.gelu)
Identity = elementwise(lambda x: x)


def _pooling(reducer, start, mean=False):
    def make(window_shape, strides=None, padding="VALID", spec=None):
        rank = len(window_shape) + 2
        batch, channel = (0, rank - 1) if spec is None else (spec.index("N"), spec.index("C"))

        def whole(sizes):
            sizes = list(sizes or (1,) * len(window_shape))
            for dimension in sorted((batch, channel)):
                sizes.insert(dimension, 1)
            return tuple(sizes)

        window, steps = whole(window_shape), whole(strides)

        def init(rng, input_shape):
            known = tuple(1 if d == batch else n for d, n in enumerate(input_shape))
            out = _eval_shape(
                lambda x: lax.reduce_window(x, start, reducer, window, steps, padding),
                _ShapeDtypeStruct(known, jnp.float32),
            ).shape
            return tuple(input_shape[batch] if d == batch else n for d, n in enumerate(out)), ()

        def apply(params, inputs, **kwargs):
            out = lax.reduce_window(inputs, start, reducer, window, steps, padding)
            if not mean:
                return out
            shape = [1 if d in (batch, channel) else n for d, n in enumerate(inputs.shape)]
            one = jnp.ones(shape, inputs.dtype)
            return out / lax.reduce_window(one, start, reducer, window, steps, padding)

        return init, apply

    return make


MaxPool = _pooling(lax.max, -jnp.inf)
SumPool = _pooling(lax.add, 0.0)
AvgPool = _pooling(lax.add, 0.0, mean=True)

Flatten = (
    lambda rng, shape: ((shape[0], math.prod(shape[1:])), ()),
    lambda params, x, **kwargs: jnp.reshape(x, (x.shape[0], -1)),
)
FanInSum = (
    lambda rng, shapes: (shapes[0], ()),
    lambda params, xs, **kwargs: functools.reduce(operator.add, xs),
)


def FanOut(num):
    """The input, `num` times."""
    return lambda rng, shape: ([shape] * num, ()), lambda params, x, **kwargs: [x] * num


def FanInConcat(axis=-1):
    """The inputs, joined along `axis`."""

    def init(rng, shapes):
        shape = list(shapes[0])
        shape[axis] = sum(s[axis] for s in shapes)
        return tuple(shape), ()

    return init, lambda params, xs, **kwargs: jnp.concatenate(xs, axis)


def Dropout(rate, mode="train"):
    """In training keeps elements with probability `rate`, scaled to keep their mean.

    Raises (apply):
      ValueError: without `rng` while training.
    """

    def apply(params, inputs, rng=None, **kwargs):
        if mode != "train":
            return inputs
        if rng is None:
            raise ValueError(
                "Dropout layer requires apply_fun to be called with a PRNG key argument: "
                "apply(params, inputs, rng), where `rng` is a PRNG key (e.g. from random.key)."
            )
        keep = random.bernoulli(rng, rate, inputs.shape)
        return jnp.where(keep, inputs / rate, 0)

    return lambda rng, shape: (shape, ()), apply


def _keys(rng, count):
    return (None,) * count if rng is None else random.split(rng, count)


def serial(*layers):
    """One layer after the other."""
    inits, applies = zip(*layers) if layers else ((), ())

    def init(rng, input_shape):
        params = []
        for layer in inits:
            rng, layer_rng = random.split(rng)
            input_shape, param = layer(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply(params, inputs, rng=None, **kwargs):
        for fun, param, key in zip(applies, params, _keys(rng, len(applies))):
            inputs = fun(param, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def parallel(*layers):
    """Each layer on an input of its own: sequences of inputs, outputs and params."""
    inits, applies = zip(*layers) if layers else ((), ())

    def init(rng, input_shape):
        keys = random.split(rng, len(inits))
        results = [layer(k, s) for layer, k, s in zip(inits, keys, input_shape)]
        return tuple(zip(*results)) if results else ((), ())

    def apply(params, inputs, rng=None, **kwargs):
        keys = _keys(rng, len(applies))
        return [f(p, x, rng=k, **kwargs) for f, p, x, k in zip(applies, params, inputs, keys)]

    return init, apply


def shape_dependent(make_layer):
    """The layer that `make_layer` gives for the shape of the input."""

    def init(rng, input_shape):
        return make_layer(input_shape)[0](rng, input_shape)

    def apply(params, inputs, **kwargs):
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init, apply
