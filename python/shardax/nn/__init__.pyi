"""Written by python/stubs.py."""

from collections.abc import Sequence
from typing import Any

from shardax._core import Array
from shardax.nn import initializers as initializers
from shardax.typing import ArrayLike
from shardax.typing import DTypeLike

def celu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """The continuously differentiable exponential linear unit, elementwise."""
def dot_product_attention(query: ArrayLike, key: ArrayLike, value: ArrayLike, bias: ArrayLike | None = None, mask: ArrayLike | None = None, *, scale: float | None = None, is_causal: bool = False, query_seq_lengths: ArrayLike | None = None, key_value_seq_lengths: ArrayLike | None = None, local_window_size: Any = None, implementation: Any = None, return_residual: bool = False) -> Any:
    """Attention of each head: softmax(query key^T * scale + bias) value."""
def elu(x: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    """The exponential linear unit, elementwise: x where positive, else alpha * (exp(x) - 1)."""
def gelu(x: ArrayLike, approximate: bool = True) -> Array:
    """The Gaussian error linear unit, elementwise: x times the normal distribution function."""
def get_scaled_dot_general_config(mode: str, global_scale: Any = None) -> Any:
    """The way in which `nn.scaled_dot_general` rounds an operand, or a cotangent."""
def glu(x: ArrayLike, axis: int | Sequence[int] | None = -1) -> Array:
    """The gated linear unit: the first half along `axis` times the sigmoid of the second."""
def hard_sigmoid(x: ArrayLike) -> Array:
    """The piecewise linear sigmoid relu6(x + 3) / 6, elementwise."""
def hard_silu(x: ArrayLike) -> Array:
    """The function x * hard_sigmoid(x), elementwise; `nn.hard_swish` is another name."""
def hard_swish(x: ArrayLike) -> Array:
    """The function x * hard_sigmoid(x), elementwise; `nn.hard_swish` is another name."""
def hard_tanh(x: ArrayLike) -> Array:
    """The elements limited to [-1, 1]."""
def identity(x: ArrayLike) -> Array:
    """The activation that returns its argument."""
def leaky_relu(x: ArrayLike, negative_slope: ArrayLike = 0.01) -> Array:
    """The leaky rectified linear unit, elementwise: x where not negative, else negative_slope * x."""
def log1mexp(x: ArrayLike) -> Array:
    """The function log(1 - exp(-x)) of positive numbers, elementwise, exact near 0 and far from it."""
def log_sigmoid(x: ArrayLike) -> Array:
    """The logarithm of the logistic function, -softplus(-x), elementwise."""
def log_softmax(x: ArrayLike, axis: int | Sequence[int] | None = -1, where: ArrayLike | None = None) -> Array:
    """The logarithm of the softmax of logits: x - logsumexp(x) along `axis`."""
def logmeanexp(x: ArrayLike, axis: int | Sequence[int] | None = None, where: ArrayLike | None = None, keepdims: bool = False) -> Array:
    """The logarithm of a mean of exponentials, log(mean(exp(x))) over `axis`, without overflow."""
def logsumexp(a: ArrayLike, axis: int | Sequence[int] | None = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: bool = False, where: ArrayLike | None = None) -> Any:
    """The logarithm of a sum of exponentials, log(sum(b * exp(a))) over `axis`, without overflow."""
def mish(x: ArrayLike) -> Array:
    """The function x * tanh(softplus(x)), elementwise."""
def normalize(x: ArrayLike, axis: int | Sequence[int] | None = -1, mean: ArrayLike | None = None, variance: ArrayLike | None = None, epsilon: ArrayLike = 1e-05, where: ArrayLike | None = None, *, algorithm: str = 'fast') -> Array:
    """The elements shifted and scaled to mean 0 and variance 1 along `axis`: (x - mean) / sqrt(variance + epsilon)."""
def one_hot(x: ArrayLike, num_classes: int, *, dtype: DTypeLike | None = None, axis: Any = -1) -> Array:
    """Vectors with a 1 at an index and zeros elsewhere."""
def relu(x: ArrayLike) -> Array:
    """The rectified linear unit, max(x, 0), elementwise; its derivative at 0 and NaN is 0."""
def relu6(x: ArrayLike) -> Array:
    """The rectified linear unit that ends at 6, min(max(x, 0), 6), elementwise."""
def scaled_dot_general(lhs: ArrayLike, rhs: ArrayLike, dimension_numbers: Any, preferred_element_type: DTypeLike = ..., configs: Any = None, implementation: Any = None) -> Array:
    """The product of `lax.dot_general` of operands that are rounded to few bits, in blocks with scales."""
def scaled_matmul(lhs: ArrayLike, rhs: ArrayLike, lhs_scales: ArrayLike, rhs_scales: ArrayLike, preferred_element_type: DTypeLike = ...) -> Array:
    """The products of lhs (B, M, K) and rhs (B, N, K), each block of K times its scale."""
def selu(x: ArrayLike) -> Array:
    """The self-normalising exponential linear unit, elementwise: scale * elu(x, alpha)."""
def sigmoid(x: ArrayLike) -> Array:
    """The logistic function 1 / (1 + exp(-x)), elementwise."""
def silu(x: ArrayLike) -> Array:
    """The sigmoid linear unit, x * sigmoid(x), elementwise; `nn.swish` is another name."""
def soft_sign(x: ArrayLike) -> Array:
    """The function x / (|x| + 1), elementwise, from -1 to 1."""
def softmax(x: ArrayLike, axis: int | Sequence[int] | None = -1, where: ArrayLike | None = None) -> Array:
    """The softmax of logits: exp(x) over its sum along `axis`, without overflow."""
def softplus(x: ArrayLike) -> Array:
    """The function log(1 + exp(x)), elementwise: a smooth relu."""
def sparse_plus(x: ArrayLike) -> Array:
    """The function that is 0 below -1, x above 1, and (x + 1)^2 / 4 between, elementwise."""
def sparse_sigmoid(x: ArrayLike) -> Array:
    """The function that is 0 below -1, 1 above 1, and (x + 1) / 2 between, elementwise."""
def squareplus(x: ArrayLike, b: ArrayLike = 4) -> Array:
    """The smooth relu (x + sqrt(x^2 + b)) / 2, elementwise."""
def standardize(x: ArrayLike, axis: int | Sequence[int] | None = -1, mean: ArrayLike | None = None, variance: ArrayLike | None = None, epsilon: ArrayLike = 1e-05, where: ArrayLike | None = None, *, algorithm: str = 'fast') -> Array:
    """The elements shifted and scaled to mean 0 and variance 1 along `axis`: (x - mean) / sqrt(variance + epsilon)."""
def swish(x: ArrayLike) -> Array:
    """The sigmoid linear unit, x * sigmoid(x), elementwise; `nn.swish` is another name."""
def tanh(x: ArrayLike) -> Array:
    """The hyperbolic tangent, elementwise, from -1 to 1."""
