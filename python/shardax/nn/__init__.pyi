"""Written by python/stubs.py."""

from shardax._core import Array
from shardax.nn import initializers as initializers
from shardax.numpy._exponentials import plain_logsumexp as logsumexp

def celu(x, alpha=1.0) -> Array:
    """The continuously differentiable exponential linear unit, elementwise."""
def dot_product_attention(query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, query_seq_lengths=None, key_value_seq_lengths=None, local_window_size=None, implementation=None, return_residual=False) -> Array:
    """Attention of each head: softmax(query key^T * scale + bias) value."""
def elu(x, alpha=1.0) -> Array:
    """The exponential linear unit, elementwise: x where positive, else alpha * (exp(x) - 1)."""
def gelu(x, approximate=True) -> Array:
    """The Gaussian error linear unit, elementwise: x times the normal distribution function."""
def get_scaled_dot_general_config(mode, global_scale=None) -> Array:
    """The way in which `nn.scaled_dot_general` rounds an operand, or a cotangent."""
def glu(x, axis=-1) -> Array:
    """The gated linear unit: the first half along `axis` times the sigmoid of the second."""
def hard_sigmoid(x) -> Array:
    """The piecewise linear sigmoid relu6(x + 3) / 6, elementwise."""
def hard_silu(x) -> Array:
    """The function x * hard_sigmoid(x), elementwise; `nn.hard_swish` is another name."""
def hard_swish(x) -> Array:
    """The function x * hard_sigmoid(x), elementwise; `nn.hard_swish` is another name."""
def hard_tanh(x) -> Array:
    """The elements limited to [-1, 1]."""
def hashable_axis(axis) -> Array:
    """None, an int, what stands for one or a sequence of these: as None, an int or a tuple."""
def identity(x) -> Array:
    """The activation that returns its argument."""
def leaky_relu(x, negative_slope=0.01) -> Array:
    """The leaky rectified linear unit, elementwise: x where not negative, else negative_slope * x."""
def log1mexp(x) -> Array:
    """The function log(1 - exp(-x)) of positive numbers, elementwise, exact near 0 and far from it."""
def log_sigmoid(x) -> Array:
    """The logarithm of the logistic function, -softplus(-x), elementwise."""
def log_softmax(x, axis=-1, where=None) -> Array:
    """The logarithm of the softmax of logits: x - logsumexp(x) along `axis`."""
def logmeanexp(x, axis=None, where=None, keepdims=False) -> Array:
    """The logarithm of a mean of exponentials, log(mean(exp(x))) over `axis`, without overflow."""
def mish(x) -> Array:
    """The function x * tanh(softplus(x)), elementwise."""
def normalize(x, axis=-1, mean=None, variance=None, epsilon=1e-05, where=None, *, algorithm='fast') -> Array:
    """The elements shifted and scaled to mean 0 and variance 1 along `axis`: (x - mean) / sqrt(variance + epsilon)."""
def one_hot(x, num_classes, *, dtype=None, axis=-1) -> Array:
    """Vectors with a 1 at an index and zeros elsewhere."""
def relu(x) -> Array:
    """The rectified linear unit, max(x, 0), elementwise; its derivative at 0 and NaN is 0."""
def relu6(x) -> Array:
    """The rectified linear unit that ends at 6, min(max(x, 0), 6), elementwise."""
def scaled_dot_general(lhs, rhs, dimension_numbers, preferred_element_type=..., configs=None, implementation=None) -> Array:
    """The product of `lax.dot_general` of operands that are rounded to few bits, in blocks with scales."""
def scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type=...) -> Array:
    """The products of lhs (B, M, K) and rhs (B, N, K), each block of K times its scale."""
def selu(x) -> Array:
    """The self-normalising exponential linear unit, elementwise: scale * elu(x, alpha)."""
def sigmoid(x) -> Array:
    """The logistic function 1 / (1 + exp(-x)), elementwise."""
def silu(x) -> Array:
    """The sigmoid linear unit, x * sigmoid(x), elementwise; `nn.swish` is another name."""
def soft_sign(x) -> Array:
    """The function x / (|x| + 1), elementwise, from -1 to 1."""
def softmax(x, axis=-1, where=None) -> Array:
    """The softmax of logits: exp(x) over its sum along `axis`, without overflow."""
def softplus(x) -> Array:
    """The function log(1 + exp(x)), elementwise: a smooth relu."""
def sparse_plus(x) -> Array:
    """The function that is 0 below -1, x above 1, and (x + 1)^2 / 4 between, elementwise."""
def sparse_sigmoid(x) -> Array:
    """The function that is 0 below -1, 1 above 1, and (x + 1) / 2 between, elementwise."""
def squareplus(x, b=4) -> Array:
    """The smooth relu (x + sqrt(x^2 + b)) / 2, elementwise."""
def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-05, where=None, *, algorithm='fast') -> Array:
    """The elements shifted and scaled to mean 0 and variance 1 along `axis`: (x - mean) / sqrt(variance + epsilon)."""
def swish(x) -> Array:
    """The sigmoid linear unit, x * sigmoid(x), elementwise; `nn.swish` is another name."""
def tanh(x) -> Array:
    """The hyperbolic tangent, elementwise, from -1 to 1."""
