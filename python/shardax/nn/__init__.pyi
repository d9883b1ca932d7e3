"""Written by python/stubs.py."""

from shardax._core import Array
from shardax.nn import initializers as initializers
from shardax.numpy._exponentials import plain_logsumexp as logsumexp

def celu(x, alpha=1.0) -> Array:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)."""
def dot_product_attention(query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, query_seq_lengths=None, key_value_seq_lengths=None, local_window_size=None, implementation=None, return_residual=False) -> Array:
    """softmax(query key^T * scale + bias) value, for each head."""
def elu(x, alpha=1.0) -> Array:
    """x where positive, else alpha * (exp(x) - 1)."""
def gelu(x, approximate=True) -> Array:
    """The Gaussian error linear unit (Hendrycks and Gimpel, 2016), by tanh or by erf."""
def get_scaled_dot_general_config(mode, global_scale=None) -> Array:
    """How scaled_dot_general rounds an operand, or what comes back to it."""
def glu(x, axis=-1) -> Array:
    """The first half along `axis` times the sigmoid of the second."""
def hard_sigmoid(x) -> Array:
    """relu6(x + 3) / 6."""
def hard_silu(x) -> Array:
    """x * hard_sigmoid(x)."""
def hard_swish(x) -> Array:
    """x * hard_sigmoid(x)."""
def hard_tanh(x) -> Array:
    """x limited to [-1, 1]."""
def hashable_axis(axis) -> Array:
    """None, an int, what stands for one or a sequence of these: as None, an int or a tuple."""
def identity(x) -> Array:
    """x."""
def leaky_relu(x, negative_slope=0.01) -> Array:
    """x where not negative, else negative_slope * x."""
def log1mexp(x) -> Array:
    """log(1 - exp(-x)) of positive x, accurate near 0 and far from it."""
def log_sigmoid(x) -> Array:
    """log(sigmoid(x))."""
def log_softmax(x, axis=-1, where=None) -> Array:
    """log(softmax(x)) along `axis`."""
def logmeanexp(x, axis=None, where=None, keepdims=False) -> Array:
    """log(mean(exp(x))) over `axis` without overflow; `where` says which elements count."""
def mish(x) -> Array:
    """x * tanh(softplus(x))."""
def normalize(x, axis=-1, mean=None, variance=None, epsilon=1e-05, where=None, *, algorithm='fast') -> Array:
    """(x - mean) / sqrt(variance + epsilon) along `axis`."""
def one_hot(x, num_classes, *, dtype=None, axis=-1) -> Array:
    """A new dimension of size num_classes, 1 at the index that x gives."""
def relu(x) -> Array:
    """max(x, 0); its derivative at 0 and NaN is 0."""
def relu6(x) -> Array:
    """min(max(x, 0), 6)."""
def scaled_dot_general(lhs, rhs, dimension_numbers, preferred_element_type=..., configs=None, implementation=None) -> Array:
    """dot_general of operands that are rounded to few bits, in blocks with scales of their own."""
def scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type=...) -> Array:
    """The products of lhs (B, M, K) and rhs (B, N, K), each block of K times its scale: (B, M, N)."""
def selu(x) -> Array:
    """The self-normalising unit (Klambauer et al., 2017)."""
def sigmoid(x) -> Array:
    """1 / (1 + exp(-x))."""
def silu(x) -> Array:
    """x * sigmoid(x)."""
def soft_sign(x) -> Array:
    """x / (|x| + 1)."""
def softmax(x, axis=-1, where=None) -> Array:
    """exp(x) over its sum along `axis`."""
def softplus(x) -> Array:
    """log(1 + exp(x))."""
def sparse_plus(x) -> Array:
    """0 below -1, x above 1, (x + 1)^2 / 4 between."""
def sparse_sigmoid(x) -> Array:
    """0 below -1, 1 above 1, (x + 1) / 2 between."""
def squareplus(x, b=4) -> Array:
    """(x + sqrt(x^2 + b)) / 2."""
def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-05, where=None, *, algorithm='fast') -> Array:
    """(x - mean) / sqrt(variance + epsilon) along `axis`."""
def swish(x) -> Array:
    """x * sigmoid(x)."""
def tanh(x) -> Array:
    """The hyperbolic tangent."""
