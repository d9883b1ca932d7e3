"""tests/parity/programs.py - random small programs: source text, the same for JAX and shardax.

A program is an expression over `x`, a vector of four numbers, that gives another one; nested
functions, transformations and control flow all map such vectors to such vectors, so that they
compose freely. Values stay small: what could grow goes through a squashing function.
"""

import random

# {e}, {g}: expressions; {f}: the source of a function of a vector; {s}: of a scalar.
VECTORS = (
    "jnp.sin({e})",
    "jnp.tanh({e})",
    "jnp.exp(-{e} * {e})",
    "jnp.log1p({e} * {e})",
    "jnp.sqrt(1 + {e} * {e})",
    "jax.nn.sigmoid({e})",
    "jax.nn.softmax({e})",
    "({e} + {g})",
    "({e} - 0.5 * {g})",
    "jnp.tanh({e} * {g})",
    "({e} / (1 + {g} * {g}))",
    "jnp.maximum({e}, {g})",
    "jnp.where({e} > {g}, {e}, {g})",
    "jnp.tanh(jnp.cumsum({e}))",
    "({e})[::-1]",
    "jnp.roll({e}, 1)",
    "jnp.sort({e})",
    "(lambda v: v - v.mean())({e})",
    "jnp.tanh(jnp.outer({e}, {g}).sum(0))",
    "jnp.tanh(m44 @ {e})",
    "({e}).at[1].set(0.25)",
    "({e}).at[jnp.array([0, 0, 2])].add(0.5)",
    "({e})[jnp.array([3, 1, 1, 0])]",
    "jnp.concatenate([({e})[2:], ({g})[:2]])",
)
HIGHER = (
    "jax.jit({f})({e})",
    "jax.checkpoint({f})({e})",
    "jnp.tanh(jax.grad(lambda q: ({f})(q).sum())({e}))",
    "jnp.tanh(jax.value_and_grad(lambda q: (({f})(q) ** 2).sum())({e})[1])",
    "jnp.tanh(jax.jvp({f}, ({e},), ({g},))[1])",
    "jnp.tanh(jax.vjp({f}, {e})[1]({g})[0])",
    "jnp.tanh(jax.linearize({f}, {e})[1]({g}))",
    "jnp.tanh(jax.jacfwd({f})({e}) @ {g})",
    "jnp.tanh(jax.jacrev({f})({e}).sum(0))",
    "jax.vmap({f})(jnp.stack([{e}, {g}])).sum(0)",
    "jax.vmap(lambda a, b: a + 0.5 * b, (0, 0))({e}, {g})",
    "jax.vmap({s})({e})",
    "jax.vmap(jax.grad({s}))({e})",
    "jax.vmap(lambda a: a - lax.pmean(a, 'k'), axis_name='k')({e})",
    "jax.pmap({s})({e})",
    "jax.pmap(lambda a: jnp.tanh(lax.psum(a, 'i')) + a, 'i')({e})",
    "jax.pmap(lambda a, v: a + v[lax.axis_index('i')], 'i', in_axes=(0, None))({e}, {g})",
    "lax.scan(lambda c, a: (jnp.tanh(c + a), c), 0.1, {e})[1]",
    "lax.scan(lambda c, a: (({f})(c), a), {e}, {g})[0]",
    "lax.fori_loop(0, 2, lambda i, c: ({f})(c), {e})",
    "lax.cond(({e})[0] > 0.0123, {f}, lambda q: -q, {e})",
    "lax.switch((({e})[1] > 0.0321).astype(int), [{f}, jnp.cos], {e})",
    "lax.map({s}, {e})",
    "lax.associative_scan(lambda a, b: jnp.tanh(a + b), {e})",
)
SCALARS = (
    "jnp.sin({v})",
    "({v} * jnp.cos({v}))",
    "jnp.where({v} > 0, {v}, 0.1 * {v})",
    "jax.grad(lambda z: jnp.tanh(z) * z)({v})",
    "jax.jit(lambda z: z / (1 + z * z))({v})",
    "lax.cond({v} > 0.3, jnp.sin, jnp.cos, {v})",
    "lax.fori_loop(0, 2, lambda i, z: jnp.sin(z) + 0.1, {v})",
)


class _Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def vector(self, x, depth):
        if depth <= 0 or (x != "x" and self.random.random() < 0.05):
            return x
        form = self.random.choice(HIGHER if self.random.random() < 0.4 else VECTORS)
        parts = {}
        if "{e}" in form:
            parts["e"] = self.vector(x, depth - 1)
        if "{g}" in form:
            parts["g"] = self.vector(x, depth - 2)
        if "{f}" in form:
            v = self.name()
            parts["f"] = f"(lambda {v}: {self.vector(v, depth - 1)})"
        if "{s}" in form:
            v = self.name()
            parts["s"] = f"(lambda {v}: {self.random.choice(SCALARS).format(v=v)})"
        return form.format(**parts)


def program(seed, depth=4):
    """The source of a function of `x`."""
    return _Writer(seed).vector("x", depth)


# JAX cannot nest maps over devices: a program that has one of its own is applied as it is.
WAYS = (
    "({f})(x4)",
    "jax.jit({f})(x4)",
    "jax.grad(lambda x: ({f})(x).sum())(x4)",
    "jax.vmap({f})(jnp.stack([x4, -x4]))",
    "jax.jit(jax.vmap(jax.grad(lambda x: ({f})(x).sum())))(jnp.stack([x4, -x4]))",
    "jax.jvp({f}, (x4,), (jnp.ones(4),))",
    "jax.pmap({f})(jnp.stack([x4, -x4]))",
)


def expression(seed):
    """The source of a random program, applied or transformed in one of several ways."""
    source = program(seed)
    way = WAYS[seed % len(WAYS)]
    if "pmap" in way and "pmap" in source:
        way = WAYS[0]
    return way.format(f=f"lambda x: {source}")
