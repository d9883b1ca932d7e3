"""tests/parity/flow.py - control flow, collectives and maps in all combinations: source text.

A case is an expression over `x4` (a number for each of four devices) or `x24`, `x42` (two such
rows, columns). It maps and differentiates a function of one number, with a collective at its heart
and control flow around it. `test_flow.py` compares them with four Python threads, `cases_flow.py`
with JAX.
"""

import itertools

# {a}: the names of axes; each a number that depends on `v`.
COLLECTIVES = {
    "psum": "lax.psum(jnp.sin(v), {a})",
    "pmean": "(v - lax.pmean(v * v, {a}))",
    "pmax": "(v * lax.pmax(lax.stop_gradient(v), {a}))",
    "all_gather": "(lax.all_gather(v, {a}) * jnp.arange(1.0, 1 + lax.psum(1, {a}))).sum() * 0.3",
    "ppermute": "(v + lax.ppermute(v * v, {a}, [(k, (k + 1) % 4) for k in range(4)]))",
    "axis_index": "(v * (1 + lax.axis_index({a})))",
    "psum_scatter": "lax.psum_scatter(jnp.sin(v * jnp.arange(1.0, 5.0)), {a})",
    "all_to_all": "lax.all_to_all(v * jnp.arange(1.0, 5.0), {a}, 0, 0).sum() * 0.2",
}
# {h}: such a number. "own": a choice of each device by itself.
FLOWS = {
    "plain": "lambda v: {h}",
    "scan": """lambda v: (lambda r: r[0] + r[1].sum())(lax.scan(
        lambda c, s: ((lambda v: {h})(c) * s, c * 0.5), v, jnp.array([0.4, 0.7])))""",
    "scan reverse": """lambda v: (lambda r: r[0] + r[1][0])(lax.scan(
        lambda c, s: ((lambda v: {h})(c * s), jnp.tanh(c)), v, jnp.array([0.4, 0.7]),
        reverse=True))""",
    "fori": "lambda v: lax.fori_loop(0, 2, lambda i, v: 0.3 * ({h}) + i, v)",
    "fori own": """lambda v: lax.fori_loop(
        0, 2 + lax.axis_index({a}), lambda i, v: v * 0.5 + i, ({h}))""",
    "while": """lambda v: lax.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, (lambda v: 0.4 * ({h}))(c[1])), (0, v))[1]""",
    "while own": """lambda v: ({h}) + lax.while_loop(
        lambda c: (c[1] < 1.0) & (c[0] < 9), lambda c: (c[0] + 1, c[1] * 1.5 + 0.1),
        (0, jnp.abs(v)))[1]""",
    "cond of constant": "lambda v: lax.cond(lax.psum(1, {a}) > 1, lambda v: {h}, lambda v: -v, v)",
    "cond": "lambda v: lax.cond(lax.pmean(v, {a}) > -5, lambda v: {h}, lambda v: v * 2, v)",
    "cond own": "lambda v: lax.cond(v > 0.2, jnp.sin, lambda u: u * u, ({h}))",
    "switch": """lambda v: lax.switch(
        lax.pmax(1, {a}), [lambda v: v, lambda v: {h}, lambda v: -v], v)""",
    "switch own": """lambda v: lax.switch(
        lax.axis_index({a}) % 3, [jnp.sin, jnp.cos, lambda u: u * 3], ({h}))""",
    "checkpoint": "jax.checkpoint(lambda v: {h})",
    "jit": "jax.jit(lambda v: {h})",
    "vmap": "lambda v: jax.vmap(lambda v: {h})(jnp.stack([v, v * 0.5])).sum()",
    "map": "lambda v: lax.map(lambda v: {h}, jnp.stack([v, -v])).sum()",
    "cond in scan": """lambda v: lax.scan(lambda c, s: (
        lax.cond(s > 0.5, lambda v: {h}, lambda v: v * 0.9, c), c), v, jnp.array([0.4, 0.7]))[0]""",
    "cond own in scan": """lambda v: lax.scan(lambda v, s: (
        lax.cond(v > s, lambda u: u * 0.7, lambda u: u + 0.2, ({h}) * s), v),
        v, jnp.array([0.3, 0.6]))[0]""",
    "scan in cond": """lambda v: lax.cond(lax.pmean(v, {a}) > -5, lambda w: lax.scan(
        lambda v, s: (({h}) * s, v), w, jnp.array([0.3, 0.6]))[0], lambda w: w, v)""",
    "scan of checkpoint": """lambda v: lax.scan(
        jax.checkpoint(lambda v, s: (({h}) * s, v)), v, jnp.array([0.3, 0.6]))[0]""",
    "scan in while": """lambda v: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, lax.scan(
        lambda v, s: (({h}) * s, v), c[1], jnp.array([0.3, 0.6]))[0]), (0, v))[1]""",
}
FORWARD_ONLY = {"fori own", "while", "while own", "scan in while"}
# The map of a function {f} of one number to one of an array; its axes; the array.
MAPS = {
    "pmap": ("jax.pmap({f}, 'i')", "'i'", "x4"),
    "vmap": ("jax.vmap({f}, axis_name='i')", "'i'", "x4"),
    "jit of pmap": ("jax.jit(jax.pmap({f}, 'i'))", "'i'", "x4"),
    "vmap of pmap": ("jax.vmap(jax.pmap({f}, 'i'))", "'i'", "x24"),
    "named vmap of pmap": (
        "jax.vmap(jax.pmap({f}, 'i'), axis_name='k', in_axes=1, out_axes=1)",
        "'i'",
        "x42",
    ),
    "pmap of vmap": ("jax.pmap(jax.vmap({f}, axis_name='k'), 'i')", "'i'", "x42"),
    "pmap of vmap, inner axis": ("jax.pmap(jax.vmap({f}, axis_name='i'), 'k')", "'i'", "x24"),
    "scan of pmap": (
        "lambda x: lax.scan(lambda c, _: (jax.pmap({f}, 'i')(c) * 0.3, c), x, None, length=2)[0]",
        "'i'",
        "x4",
    ),
    "cond of pmap": (
        "lambda x: lax.cond(x.sum() > -99, jax.pmap({f}, 'i'), lambda x: x, x)",
        "'i'",
        "x4",
    ),
}
# {m}: the mapped function, {x}: its argument.
WAYS = {
    "value": "({m})({x})",
    "jvp": "jax.jvp({m}, ({x},), ({x} * 0.5 + 1,))[1]",
    "grad": "jax.grad(lambda x: (({m})(x) ** 2).sum())({x})",
    "jit of grad": "jax.jit(jax.grad(lambda x: jnp.sin(({m})(x)).sum()))({x})",
    "hvp": "jax.jvp(jax.grad(lambda x: (({m})(x) ** 2).sum()), ({x},), (jnp.ones_like({x}),))[1]",
}


def function(flow, collective, axes="'i'"):
    """The source of a function of one number."""
    text = FLOWS[flow].replace("{h}", COLLECTIVES[collective]).replace("{a}", axes)
    return f"({text})"


def expression(flow, collective, mapped, way):
    """The source of a case."""
    wrapped, axes, x = MAPS[mapped]
    m = wrapped.replace("{f}", function(flow, collective, axes))
    return WAYS[way].replace("{m}", m).replace("{x}", x)


def combinations():
    """(flow, collective, mapped, way) of all cases: reverse mode needs loops of known length."""
    for flow, collective, mapped, way in itertools.product(FLOWS, COLLECTIVES, MAPS, WAYS):
        if flow not in FORWARD_ONLY or way in ("value", "jvp"):
            yield flow, collective, mapped, way
