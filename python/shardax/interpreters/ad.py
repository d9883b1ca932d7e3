"""shardax.interpreters.ad - derivatives of primitives: the registries, and what rules are made of.

A derivative rule is `rule(primals, tangents, **params) -> (results, tangents of results)`; tangents
that are zero come and go as `Zero`. A transpose rule is `rule(cotangent, *operands, **params)`. The
operands in which the op is linear are `UndefinedPrimal`; it gives a cotangent, or None, for each
operand.
"""

import functools

from shardax._core import JVPTracer, LinearizeTracer
from shardax._transform.derivatives import jvp as _jvp
from shardax._transform.derivatives import linearize as _linearize
from shardax._transform.hijax.accums import GradAccum, NullAccum, ValAccum
from shardax._transform.primitives import (
    UndefinedPrimal,
    Zero,
    instantiate_zeros,
    of_op,
    zeros_like_aval,
)
from shardax._transform.primitives import jvp_rules as primitive_jvps
from shardax._transform.primitives import transpose_rules as primitive_transposes

__all__ = [
    "GradAccum",
    "JVPTracer",
    "LinearizeTracer",
    "NullAccum",
    "UndefinedPrimal",
    "ValAccum",
    "Zero",
    "add_jaxvals",
    "add_jaxvals_p",
    "add_tangents",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "get_primitive_transpose",
    "instantiate_zeros",
    "is_undefined_primal",
    "jvp",
    "linearize",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]

add_jaxvals_p = of_op("add")


def is_undefined_primal(x):
    """True if a transpose rule's operand is one in which the op is linear."""
    return type(x) is UndefinedPrimal


def add_jaxvals(x, y):
    """The sum of two arrays of one type."""
    return add_jaxvals_p.bind(x, y)


def add_tangents(x, y):
    """The sum of two tangents, each of which may be a Zero."""
    if type(x) is Zero:
        return y
    return x if type(y) is Zero else add_jaxvals(x, y)


def get_primitive_transpose(primitive):
    """The transpose rule of a primitive. Raises NotImplementedError where it has none."""
    rule = primitive_transposes.get(primitive)
    if rule is None:
        raise NotImplementedError(
            f"Transpose rule (for reverse-mode differentiation) for '{primitive}' not implemented"
        )
    return rule


def _sum(primitive, out, terms):
    zero = Zero.from_primal_value(out)
    return functools.reduce(add_tangents, terms, zero)


def defjvp(primitive, *jvprules):
    """Gives `primitive`, of one result, a derivative: the sum over operands of
    `rule(tangent, *operands, **params)`; None where it is zero."""

    def rule(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        terms = (
            own(t, *primals, **params)
            for own, t in zip(jvprules, tangents)
            if own is not None and type(t) is not Zero
        )
        return out, _sum(primitive, out, terms)

    primitive_jvps[primitive] = rule


def defjvp2(primitive, *jvprules):
    """As `defjvp`, with `rule(tangent, result, *operands, **params)`."""

    def rule(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        terms = (
            own(t, out, *primals, **params)
            for own, t in zip(jvprules, tangents)
            if own is not None and type(t) is not Zero
        )
        return out, _sum(primitive, out, terms)

    primitive_jvps[primitive] = rule


def _linear_jvp(primitive, primals, tangents, **params):
    out = primitive.bind(*primals, **params)
    if all(type(t) is Zero for t in tangents):
        if primitive.multiple_results:
            return out, [Zero.from_primal_value(x) for x in out]
        return out, Zero.from_primal_value(out)
    return out, primitive.bind(*map(instantiate_zeros, tangents), **params)


def deflinear2(primitive, transpose_rule):
    """Says that `primitive` is linear in all operands: it is its own derivative.
    `transpose_rule(cotangent, *operands, **params)`."""
    primitive_jvps[primitive] = functools.partial(_linear_jvp, primitive)

    def rule(cotangent, *operands, **params):
        if type(cotangent) is Zero:
            return [Zero(x.aval) if is_undefined_primal(x) else None for x in operands]
        return transpose_rule(cotangent, *operands, **params)

    primitive_transposes[primitive] = rule


def deflinear(primitive, transpose_rule):
    """As `deflinear2`, with `transpose_rule(cotangent, **params)`."""
    deflinear2(primitive, lambda ct, *operands, **params: transpose_rule(ct, **params))


def defbilinear(primitive, lhs_rule, rhs_rule):
    """Says that `primitive`, of two operands, is linear in each. `lhs_rule(cotangent, x, y,
    **params)` gives the cotangent of the left operand, `rhs_rule` that of the right one."""

    def left(t, x, y, **params):
        return primitive.bind(t, y, **params)

    def right(t, x, y, **params):
        return primitive.bind(x, t, **params)

    defjvp(primitive, left, right)

    def rule(cotangent, x, y, **params):
        own = lhs_rule if is_undefined_primal(x) else rhs_rule
        unknown = x if is_undefined_primal(x) else y
        if type(cotangent) is Zero:
            ct = Zero(unknown.aval)
        else:
            ct = own(cotangent, x, y, **params)
        return (ct, None) if is_undefined_primal(x) else (None, ct)

    primitive_transposes[primitive] = rule


def jvp(fun, has_aux=False, instantiate=True, transform_stack=True):
    """A function of (primals, tangents) that gives (results, tangents) of `fun`, as
    `linear_util.WrappedFun` or any callable takes lists of arrays.

    `instantiate` and `transform_stack` have no effect: the package does without what it steers in
    JAX.
    """
    call = getattr(fun, "call_wrapped", fun)
    return lambda primals, tangents: _jvp(call, tuple(primals), tuple(tangents), has_aux=has_aux)


def linearize(fun, *primals, has_aux=False):
    """`shardax.linearize`, of a function or a `linear_util.WrappedFun`."""
    return _linearize(getattr(fun, "call_wrapped", fun), *primals, has_aux=has_aux)
