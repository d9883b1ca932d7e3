"""shardax.experimental.jet - derivatives of high order by Taylor series.

The function is staged, and its program run on truncated series, equation by equation. An op has its
rule in a table (_taylor.py: linear, bilinear, a recurrence), or its rule follows from its
derivative. The series of y = f(x) is the integral of that of f'(x) x', a program of lower order,
which is staged and run in turn.
"""

import functools
import math

from shardax import lax, tree_util
from shardax import numpy as jnp
from shardax._transform.derivatives import jvp
from shardax._transform.tracing import make_jaxpr
from shardax.experimental._taylor import RULES, Series, constant, inexact, term, value, zeros

__all__ = ["fact", "jet", "jet2", "zero_series"]


class _ZeroSeries:
    """The series of an argument that does not move, in `jet`."""


zero_series = _ZeroSeries()
tree_util.register_pytree_node(_ZeroSeries, lambda z: ((), None), lambda _, xs: zero_series)


def fact(n):
    """n!, as a float."""
    return jnp.exp(lax.lgamma(n + 1.0))


def _by_derivative(bind, order, *operands):
    """The rule of an op that has no other: by the integral of its derivative along the series."""
    moving = [i for i, x in enumerate(operands) if isinstance(x, Series)]

    def function(*values):
        given = list(operands)
        for i, v in zip(moving, values):
            given[i] = v
        return [y for y in bind(*given) if inexact(y)]

    values = bind(*map(value, operands))
    if order == 0:
        return values
    inputs = [operands[i] for i in moving]
    points = [x.terms[0] for x in inputs]
    program = make_jaxpr(lambda x, v: jvp(function, tuple(x), tuple(v))[1])(
        points, [jnp.zeros_like(p) for p in points]
    )
    speeds = [Series([(k + 1) * t for k, t in enumerate(x.terms[1:])]) for x in inputs]
    slopes = iter(
        _run(
            program.jaxpr, program.consts, [*(x.cut(order - 1) for x in inputs), *speeds], order - 1
        )
    )
    out = []
    for y in values:
        if not inexact(y):
            out.append(y)
            continue
        slope = next(slopes)
        terms = [term(slope, k) for k in range(order)]
        rest = [
            jnp.zeros_like(y) if t is None else (t / (k + 1)).astype(y.dtype)
            for k, t in enumerate(terms)
        ]
        out.append(Series([y, *rest]))
    return out


def _sign(bind, order, x):
    """For complex numbers it moves."""
    rule = _by_derivative if jnp.iscomplexobj(x.terms[0]) else constant
    return rule(bind, order, x)


# ---- ops with programs ---------------------------------------------------------------------------


def _full(x, order):
    """Inexact values as series, so that those that are carried have one form."""
    if isinstance(x, Series) or not inexact(x):
        return x
    return Series([x, *[zeros(x)] * order])


def _packed(values):
    return tuple(tuple(x.terms) if isinstance(x, Series) else x for x in values)


def _unpacked(values):
    return [Series(x) if isinstance(x, tuple) else x for x in values]


def _call(params, order, *operands):
    program = params.get("jaxpr") or params.get("call_jaxpr") or params["fun_jaxpr"]
    jaxpr = getattr(program, "jaxpr", program)
    return _run(jaxpr, getattr(program, "consts", []), operands, order)


def _body(program, order):
    def run(*values):
        out = _run(program.jaxpr, program.consts, _unpacked(values), order)
        return _packed(_full(y, order) for y in out)

    return run


def _while(params, order, *operands):
    nc, nb = params["cond_nconsts"], params["body_nconsts"]
    of_cond = list(map(value, operands[:nc]))
    of_body, carry = operands[nc : nc + nb], operands[nc + nb :]
    test, body = params["cond_jaxpr"], _body(params["body_jaxpr"], order)

    def goes_on(carry):
        values = [*of_cond, *(x[0] if isinstance(x, tuple) else x for x in carry)]
        return _run(test.jaxpr, test.consts, values, 0)[0]

    start = _packed(_full(x, order) for x in carry)
    consts = _packed(of_body)
    return _unpacked(lax.while_loop(goes_on, lambda c: body(*consts, *c), start))


def _scan(params, order, *operands):
    count, carried = params["num_consts"], params["num_carry"]
    consts = _packed(operands[:count])
    carry = _packed(_full(x, order) for x in operands[count : count + carried])
    xs = _packed(operands[count + carried :])
    body = _body(params["jaxpr"], order)

    def step(carry, x):
        out = body(*consts, *carry, *x)
        return out[:carried], out[carried:]

    carry, ys = lax.scan(step, carry, xs, length=params["length"], reverse=params["reverse"])
    return _unpacked([*carry, *ys])


def _cond(params, order, index, *operands):
    branches = [_body(b, order) for b in params["branches"]]
    return _unpacked(lax.switch(value(index), branches, *_packed(operands)))


BODIES = {
    **dict.fromkeys(("jit", "pjit", "remat2", "checkpoint"), _call),
    **dict.fromkeys(("custom_jvp_call", "custom_vjp_call"), _call),
    "while": _while,
    "scan": _scan,
    "cond": _cond,
}


def _run(jaxpr, consts, operands, order):
    """The outputs of a program for operands of which some are series of this order."""
    values = dict(zip(jaxpr.constvars, consts))
    values.update(zip(jaxpr.invars, operands))

    def read(atom):
        return atom.val if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        inputs = [read(v) for v in equation.invars]
        name = equation.primitive.name

        def bind(*operands, equation=equation):
            out = equation.primitive.bind(*operands, **equation.params)
            return list(out) if isinstance(out, (tuple, list)) else [out]

        if not any(isinstance(x, Series) for x in inputs):
            out = bind(*inputs)
        elif name in BODIES:
            out = BODIES[name](equation.params, order, *inputs)
        elif not any(inexact(value(y)) for y in [v.aval for v in equation.outvars]):
            out = constant(bind, order, *inputs)
        else:
            rule = _sign if name == "sign" else RULES.get(name, _by_derivative)
            out = rule(bind, order, *inputs)
        values.update(zip(equation.outvars, out))
    return [read(v) for v in jaxpr.outvars]


def jet(fun, primals, series, factorial_scaled=True, **_):
    """The Taylor series of fun(h(t)) in t, for h given by its series.

    Args:
      fun: a function of arrays that gives a tree of arrays.
      primals: for each argument its value at t = 0.
      series: for each argument the list of its derivatives by t, of order 1, 2, ..., all of one
        length, or `zero_series`.
      factorial_scaled: terms are derivatives; if not, coefficients, derivatives over k!.

    Returns:
      (fun(*primals), a tree like it with the list of derivatives for each array).

    Raises:
      ValueError: lists of different lengths; an argument or a term that is no array.

    >>> y, series = shardax.experimental.jet.jet(jnp.sin, (0.0,), ([1.0, 0.0, 0.0],))
    >>> float(y), [float(term) for term in series]
    (0.0, [1.0, 0.0, -1.0])
    """
    lengths = {len(terms) for terms in series if terms is not zero_series}
    if len(lengths) != 1:
        raise ValueError("jet terms have inconsistent lengths for different arguments")
    (order,) = lengths
    series = [[] if terms is zero_series else terms for terms in series]
    for i, (x, terms) in enumerate(zip(primals, series)):
        if not tree_util.treedef_is_leaf(tree_util.tree_structure(x)):
            raise ValueError(f"primal value at position {i} is not an array")
        for j, t in enumerate(terms):
            if not tree_util.treedef_is_leaf(tree_util.tree_structure(t)):
                raise ValueError(f"term {j} for argument {i} is not an array")
    scales = [math.factorial(k + 1) if factorial_scaled else 1 for k in range(order)]
    operands = []
    for x, terms in zip(primals, series):
        x = jnp.asarray(x)
        scaled = [jnp.asarray(t, x.dtype) / s for t, s in zip(terms, scales)] if inexact(x) else []
        operands.append(Series([x, *scaled]) if scaled else x)
    program, shape = make_jaxpr(fun, return_shape=True)(*map(value, operands))
    out = [_full(y, order) for y in _run(program.jaxpr, program.consts, operands, order)]
    tree = tree_util.tree_structure(shape)
    values = [value(y) for y in out]
    terms = [
        [s * t for s, t in zip(scales, y.terms[1:])]
        if isinstance(y, Series)
        else [zeros(y) for _ in scales]
        for y in out
    ]
    return tree_util.tree_unflatten(tree, values), tree_util.tree_unflatten(tree, terms)


jet2 = functools.partial(jet, factorial_scaled=False)
