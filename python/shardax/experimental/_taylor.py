"""shardax/experimental/_taylor.py - truncated Taylor series, and the rules of ops on them.

Griewank and Walther, Evaluating derivatives (2008), chapter 13.
"""

import numpy as np

from shardax import numpy as jnp


class Series:
    """A value, and the coefficients of t, t^2, ... up to the order."""

    def __init__(self, terms):
        self.terms = list(terms)

    def cut(self, order):
        return Series(self.terms[: order + 1])


def value(x):
    return x.terms[0] if isinstance(x, Series) else x


def term(x, k):
    """The coefficient of t^k; None for zero."""
    if isinstance(x, Series):
        return x.terms[k]
    return x if k == 0 else None


def inexact(x):
    return jnp.issubdtype(jnp.result_type(x), np.inexact)


def zeros(x):
    return jnp.zeros(np.shape(x), jnp.result_type(x))


# ---- rules: (bind, order, operands) to the list of results ---------------------------------------


def constant(bind, order, *operands):
    return bind(*map(value, operands))


def _linear(bind, order, *operands):
    terms = []
    for k in range(order + 1):
        parts = [term(x, k) for x in operands]
        # An operand that is no number of the series (an index, a predicate) is the same in each
        # term.
        filled = [
            p if p is not None else (zeros(value(x)) if inexact(value(x)) else value(x))
            for p, x in zip(parts, operands)
        ]
        terms.append(bind(*filled))
    return [Series(column) for column in zip(*terms)]


def _product(multiply, a, b, order):
    terms = []
    for k in range(order + 1):
        total = None
        for j in range(k + 1):
            u, v = term(a, j), term(b, k - j)
            if u is not None and v is not None:
                part = multiply(u, v)
                total = part if total is None else total + part
        terms.append(total)
    shape = terms[0]
    return Series([jnp.zeros_like(shape) if t is None else t for t in terms])


def _bilinear(bind, order, a, b):
    return [_product(lambda u, v: bind(u, v)[0], a, b, order)]


def _recurrence(start, step):
    """The terms of one series: start(x_0), then step(k, x, y) for each k, out of earlier terms
    y."""

    def rule(bind, order, x):
        y = [bind(x.terms[0])[0] if start is None else start(x.terms[0])]
        for k in range(1, order + 1):
            y.append(step(k, x.terms, y))
        return [Series(y)]

    return rule


def _convolved(k, x, y):
    """The sum of j x_j y_(k-j) over j = 1 ... k, over k: a term of the integral of x' y."""
    return sum(j * x[j] * y[k - j] for j in range(1, k + 1)) / k


def _log_step(k, x, y):
    rest = sum(j * y[j] * x[k - j] for j in range(1, k)) / k if k > 1 else 0
    return (x[k] - rest) / x[0]


def _sqrt_step(k, x, y):
    rest = sum(y[j] * y[k - j] for j in range(1, k)) if k > 1 else 0
    return (x[k] - rest) / (2 * y[0])


def _of_itself(slope):
    """y' = slope(y, k) x', where slope gives the coefficients of a polynomial in y up to k - 1."""
    return lambda k, x, y: _convolved(k, x, slope(y))


def _squares(y):
    return [sum(y[j] * y[k - j] for j in range(k + 1)) for k in range(len(y))]


def _tanh_slope(y):
    squares = _squares(y)
    return [1 - squares[0], *(-s for s in squares[1:])]


def _logistic_slope(y):
    return [v - s for v, s in zip(y, _squares(y))]


def _pair(first, sign):
    """sin and cos (sign -1), sinh and cosh (1) by each other; `first`: the odd one is wanted."""
    functions = (jnp.sin, jnp.cos) if sign < 0 else (jnp.sinh, jnp.cosh)

    def rule(bind, order, x):
        odd, even = ([f(x.terms[0])] for f in functions)
        for k in range(1, order + 1):
            u, v = _convolved(k, x.terms, even), sign * _convolved(k, x.terms, odd)
            odd.append(u)
            even.append(v)
        return [Series(odd if first else even)]

    return rule


def _quotient(bind, order, a, b):
    if not isinstance(b, Series):
        return [Series([bind(t, b)[0] for t in a.terms])]
    q = []
    for k in range(order + 1):
        top = term(a, k)
        rest = sum(b.terms[j] * q[k - j] for j in range(1, k + 1)) if k else None
        if rest is None:
            q.append(bind(top, b.terms[0])[0])
        else:
            q.append((-rest if top is None else top - rest) / b.terms[0])
    return [Series(q)]


def _select(bind, order, which, *cases):
    return _linear(lambda *cases: bind(value(which), *cases), order, *cases)


_LINEAR = """
add add_any sub neg real imag conj complex copy reduce_sum cumsum reshape squeeze broadcast_in_dim
transpose rev slice dynamic_slice dynamic_update_slice concatenate pad gather scatter_add
scatter-add scatter_sub reduce_window_sum fft tile stack unstack split convert_element_type
reduce_precision psum pmean all_gather ppermute all_to_all psum_scatter device_put
sharding_constraint reshard optimization_barrier
""".split()
_CONSTANT = """
eq ne lt le gt ge and or xor not floor ceil round is_finite stop_gradient shift_left
shift_right_logical shift_right_arithmetic iota argmax argmin population_count clz nextafter
random_bits random_seed random_wrap random_unwrap random_split random_fold_in threefry2x32
""".split()
RULES = {
    **dict.fromkeys(_LINEAR, _linear),
    **dict.fromkeys(_CONSTANT, constant),
    **dict.fromkeys(("mul", "dot_general", "conv_general_dilated"), _bilinear),
    "div": _quotient,
    "select_n": _select,
    "exp": _recurrence(None, _convolved),
    "log": _recurrence(None, _log_step),
    "sqrt": _recurrence(None, _sqrt_step),
    "tanh": _recurrence(None, _of_itself(_tanh_slope)),
    "logistic": _recurrence(None, _of_itself(_logistic_slope)),
    "sin": _pair(True, -1),
    "cos": _pair(False, -1),
    "sinh": _pair(True, 1),
    "cosh": _pair(False, 1),
}
