"""tests/fuzz/grammar.py - random well-typed programs, as trees that print as expressions.

A program is a function of `x`, four numbers, with a result of four numbers; inside are values of
any dtype and shape. Start at `program`: a node has a type, a template and parts, some of which
are functions with variables of their own. `smaller` lists the trees that leave something out.

Values stay small: what could grow is squashed. Nothing that communicates stands where devices
may take different ways: there, real devices would wait for ever.
"""

from __future__ import annotations

import dataclasses
import random

FLOATS = ("float32", "float32", "float32", "float32", "float16", "bfloat16")
INTEGERS = ("int32", "int32", "int8", "uint8", "uint32", "int16")
INPUT = ("float32", (4,))


@dataclasses.dataclass(frozen=True)
class Node:
    """An expression: `{0}`, `{1}` in the template are parts; `variables` those of a function."""

    type: tuple
    template: str
    parts: tuple = ()
    variables: tuple = ()  # (name, type) of what a function takes
    closed: bool = False  # a function that sees nothing else

    def text(self):
        source = self.template
        for i, part in enumerate(self.parts):
            source = source.replace(f"{{{i}}}", part.text())
        if self.variables:
            names = ", ".join(name for name, _ in self.variables)
            return f"(lambda {names}: {source})"
        return source

    def size(self):
        return 1 + sum(part.size() for part in self.parts)


@dataclasses.dataclass(frozen=True)
class Scope:
    """What an expression may use."""

    variables: tuple  # (name, type)
    axes: tuple = ()  # (name, size) of mapped axes
    together: bool = True  # all devices come here
    maps: bool = True  # a map over devices may be made: JAX cannot nest them
    reverse: bool = False  # the value is differentiated in reverse

    def within(self, *variables, **changes):
        return dataclasses.replace(self, variables=self.variables + variables, **changes)


class Writer:
    def __init__(self, seed, halves=True):
        self.random = random.Random(seed)
        self.count = 0
        self.halves = halves

    # ---- choices -------------------------------------------------------------------------

    def pick(self, *options):
        return self.random.choice(options)

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def dtype(self, kind=None):
        kind = kind or self.pick("f", "f", "f", "i", "b")
        if kind == "f":
            return self.pick(*FLOATS) if self.halves else "float32"
        return {"i": self.pick(*INTEGERS), "b": "bool", "c": "complex64"}[kind]

    def shape(self, rank=None):
        rank = self.random.choice((0, 1, 1, 2, 2, 3)) if rank is None else rank
        return tuple(self.random.choice((1, 2, 3, 4, 4, 0)) for _ in range(rank))

    # ---- expressions ---------------------------------------------------------------------

    def leaf(self, type, scope):
        same = [name for name, t in scope.variables if t == type]
        if same and self.random.random() < 0.9:
            return Node(type, self.pick(*same))
        dtype, shape = type
        n = size_of(shape)
        source = "0.3"
        if scope.variables and self.random.random() < 0.8:
            source = f"{self.pick(*scope.variables)[0]}.sum().astype('float32')"
        start = self.random.randrange(5)
        values = f"jnp.sin(jnp.arange({start}, {start + n}).reshape({shape}) * 0.7 + {source})"
        if dtype == "bool":
            return Node(type, f"({values} > 0.0123)")
        if dtype in INTEGERS:
            return Node(type, f"jnp.floor({values} * 4.9 + 4.97).astype('{dtype}')")
        return Node(type, f"{values}.astype('{dtype}')")

    def value(self, type, scope, depth):
        if depth <= 0 or self.random.random() < 0.03:
            return self.leaf(type, scope)
        kind = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "c"}[type[0][0].replace("bf", "f")]
        if type[0] == "bfloat16":
            kind = "f"
        rules = list(ANYTHING) + {"f": FLOATING, "i": WHOLE, "b": TRUTH, "c": COMPLEX}[kind]
        if type == INPUT:
            rules += HIGHER * 2
        for _ in range(12):
            node = self.random.choice(rules)(self, type, scope, depth - 1)
            if node is not None:
                return node
        return self.leaf(type, scope)

    def function(self, argument_types, type, scope, depth, **changes):
        variables = tuple((self.name(), t) for t in argument_types)
        body = self.value(type, scope.within(*variables, **changes), depth)
        return Node(type, body.template, body.parts, variables)


def simple(*templates, parts=1, other=None):
    """Parts of the type itself, or of another dtype."""

    def rule(w, type, scope, depth):
        template = w.pick(*templates)
        count = sum(f"{{{i}}}" in template for i in range(4))
        dtype = type[0] if other is None else w.dtype(other)
        return Node(
            type,
            template.replace("DTYPE", type[0]),
            tuple(w.value((dtype, type[1]), scope, depth - (i > 0)) for i in range(count)),
        )

    return rule


FLOATING = [
    simple(
        "jnp.sin({0})",
        "jnp.tanh({0})",
        "jnp.exp(-{0} * {0})",
        "jnp.log1p({0} * {0})",
        "jnp.sqrt(1 + {0} * {0})",
        "jax.nn.sigmoid({0})",
        "jax.nn.relu({0})",
        "jnp.cos({0})",
        "jnp.arctan({0})",
        "lax.erf({0})",
        "jnp.expm1(jnp.tanh({0}))",
        "abs({0})",
        "(-{0})",
        "jnp.cbrt({0})",
        "lax.rsqrt(1 + {0} * {0})",
        "jnp.square(jnp.tanh({0}))",
        "lax.stop_gradient({0})",
        "lax.logistic({0})",
        "jnp.arcsinh({0})",
        "jax.nn.gelu({0})",
        "jnp.sinc({0})",
        "lax.lgamma(1.5 + jnp.tanh({0}))",
        "lax.digamma(2 + jnp.tanh({0}))",
    ),  # fmt: skip
    simple(
        "({0} + {1})",
        "({0} - 0.5 * {1})",
        "jnp.tanh({0} * {1})",
        "({0} / (1 + {1} * {1}))",
        "jnp.maximum({0}, {1})",
        "jnp.minimum({0}, {1})",
        "jnp.where({0} > 0.0123, {0}, {1})",
        "jnp.arctan2({0}, 2 + {1} * {1})",
        "jnp.hypot({0}, {1})",
        "jnp.logaddexp({0}, {1})",
        "((1 + abs({0})) ** jnp.tanh({1}))",
        "lax.clamp(-{1} * {1}, {0}, 1 + {1} * {1})",
        "jnp.fmod({0}, 1.7 + {1} * {1})",
        "lax.select({0} > 0.0371, {0}, {1})",
    ),  # fmt: skip
    simple("jnp.clip({0}, -9, 9).astype('DTYPE')", other="i"),
    simple("{0}.astype('DTYPE')", other="b"),
    simple("{0}.astype('DTYPE')", other="f"),
    simple("jnp.real({0} * (1 + 0.5j)).astype('DTYPE')", "abs({0}).astype('DTYPE')", other="c"),
]
WHOLE = [
    simple(
        "(-{0})", "jnp.invert({0})", "jnp.sign({0})", "lax.population_count({0})", "lax.clz({0})"
    ),
    simple(
        "({0} + {1})",
        "({0} - {1})",
        "({0} * {1})",
        "({0} & {1})",
        "({0} | {1})",
        "({0} ^ {1})",
        "jnp.maximum({0}, {1})",
        "({0} // jnp.where({1} == 0, 1, {1}))",
        "({0} % jnp.where({1} == 0, 1, {1}))",
        "jnp.where({0} > {1}, {0}, {1})",
        "lax.shift_right_logical({0}, {1} & 3)",
        "({0} << ({1} & 3))",
    ),  # fmt: skip
    simple("{0}.astype('DTYPE')", other="b"),
    simple("{0}.astype('DTYPE')", other="i"),
    simple("jnp.floor(jnp.tanh({0}) * 4.9 + 0.013).astype('int32').astype('DTYPE')", other="f"),
]
TRUTH = [
    simple("(~{0})", "({0} & {1})", "({0} | {1})", "({0} ^ {1})", "jnp.logical_not({0})"),
    simple("({0} > {1})", "({0} == {1})", "({0} <= {1})", "({0} != 0)", other="i"),
    simple("({0} > 0.0123)", "({0} < -0.0371)", "jnp.isfinite({0})", "jnp.isnan({0})", other="f"),
]
COMPLEX = [
    simple("(-{0})", "jnp.conj({0})", "jnp.sin({0} / (1 + abs({0})))", "({0} + {1})"),
    simple("({0} * {1} / (1 + abs({0} * {1})))", "({0} / (2 + abs({1})))"),
    simple("({0} * (0.5 + 1j)).astype('complex64')", other="f"),
]

# ---- layout, reductions, indexing: of any dtype ------------------------------------------------


def size_of(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def with_dimension(w, shape):
    axis = w.random.randrange(len(shape) + 1)
    n = w.pick(1, 2, 3)
    return axis, n, shape[:axis] + (n,) + shape[axis:]


def reduction(w, type, scope, depth):
    dtype, shape = type
    axis, n, larger = with_dimension(w, shape)
    if dtype == "bool":
        template = w.pick("jnp.any({0}, AXIS)", "jnp.all({0}, AXIS)")
    elif dtype in INTEGERS:
        template = w.pick(
            "jnp.sum({0}, AXIS, dtype='DTYPE')", "jnp.max({0}, AXIS)", "jnp.min({0}, AXIS)",
            "jnp.argmax({0}, AXIS).astype('DTYPE')", "jnp.argmin({0}, AXIS).astype('DTYPE')",
            "jnp.prod({0}, AXIS, dtype='DTYPE')",
        )  # fmt: skip
    else:
        template = w.pick(
            "jnp.mean({0}, AXIS)", "jnp.max({0}, AXIS)", "jnp.min({0}, AXIS)",
            "jnp.tanh(jnp.sum({0}, AXIS))", "jax.nn.logsumexp({0}, AXIS)",
            "jnp.tanh(jnp.prod({0}, AXIS))", "jnp.tanh(jnp.var({0}, AXIS))",
            "jnp.median({0}, AXIS)",
        )  # fmt: skip
        if dtype[0] == "c":
            template = w.pick("jnp.mean({0}, AXIS)", "(jnp.sum({0}, AXIS) / 4)")
    template = template.replace("AXIS", str(axis)).replace("DTYPE", dtype)
    return Node(type, template, (w.value((dtype, larger), scope, depth),))


def layout(w, type, scope, depth):
    dtype, shape = type
    rank = len(shape)
    options = []
    if rank:
        axis = w.random.randrange(rank)
        order = list(range(rank))
        w.random.shuffle(order)
        before = [0] * rank
        for to, from_ in enumerate(order):
            before[from_] = shape[to]
        n = shape[axis]
        longer = shape[:axis] + (n + 2,) + shape[axis + 1 :]
        cut = ", ".join(":" if d != axis else "1:-1" for d in range(rank))
        options += [
            (f"jnp.flip({{0}}, {axis})", shape),
            (f"jnp.roll({{0}}, {w.pick(1, 2, -1)}, {axis})", shape),
            (f"jnp.transpose({{0}}, {tuple(order)})", tuple(before)),
            (f"{{0}}[{cut}]", longer),
            (f"{{0}}.reshape({shape})", (size_of(shape),)),
            (f"{{0}}[None].reshape({shape})", shape),
            (f"lax.rev({{0}}, ({axis},))", shape),
        ]
        twice = shape[:axis] + (2 * n,) + shape[axis + 1 :]
        step = ", ".join(":" if d != axis else "::2" for d in range(rank))
        options.append((f"{{0}}[{step}]", twice))
        if n == 0:
            options += [(f"{{0}}[{', '.join([':'] * axis + [':0'])}]", longer)]
        if n > 1:
            shorter = shape[:axis] + (n - 1,) + shape[axis + 1 :]
            widths = [(1, 0) if d == axis else (0, 0) for d in range(rank)]
            options.append((f"jnp.pad({{0}}, {widths})", shorter))
    axis, n, larger = with_dimension(w, shape)
    options += [
        (f"jnp.take({{0}}, {n - 1}, axis={axis})", larger),
        (f"lax.index_in_dim({{0}}, {n - 1}, {axis}, keepdims=False)", larger),
        (f"jnp.broadcast_to({{0}}, {shape})", tuple(w.pick(d, 1) for d in shape)),
        ("lax.optimization_barrier({0})", shape),
    ]
    template, inner = w.pick(*options)
    return Node(type, template, (w.value((dtype, inner), scope, depth),))


def joined(w, type, scope, depth):
    dtype, shape = type
    if not shape:
        return None
    axis = w.random.randrange(len(shape))
    first = w.random.randint(0, shape[axis])
    parts = [
        w.value((dtype, shape[:axis] + (n,) + shape[axis + 1 :]), scope, depth - 1)
        for n in (first, shape[axis] - first)
    ]
    return Node(type, f"jnp.concatenate([{{0}}, {{1}}], {axis})", tuple(parts))


def indexed(w, type, scope, depth):
    dtype, shape = type
    if not shape:
        return None
    rows = w.pick(1, 2, 3)
    source = w.value((dtype, (rows, *shape[1:])), scope, depth)
    index = w.value(("int32", (shape[0],)), scope, depth - 1)
    template = w.pick(
        f"{{0}}[{{1}} % {rows}]",
        "jnp.take({0}, {1}, axis=0, mode='clip')",
        "{0}.at[{1}].get(mode='fill', fill_value=0)",
    )
    return Node(type, template, (source, index))


def updated(w, type, scope, depth):
    dtype, shape = type
    if not shape or shape[0] == 0 or dtype == "bool":
        return None
    base = w.value(type, scope, depth)
    rows = w.value((dtype, (2, *shape[1:])), scope, depth - 1)
    index = w.value(("int32", (2,)), scope, depth - 1)
    how = w.pick("add", "max", "min", "add") if dtype[0] != "c" else "add"
    template = w.pick(
        f"{{0}}.at[{{1}} % {shape[0]}].{how}({{2}})",
        f"{{0}}.at[jnp.array([0, {shape[0]}])].set({{2}} + 0 * {{1}}.sum().astype('{dtype}'))",
        f"{{0}}.at[{{1}}].{how}({{2}}, mode='drop')",
    )
    return Node(type, template, (base, index, rows))


def moved(w, type, scope, depth):
    dtype, shape = type
    if not shape or shape[0] == 0:
        return None
    start = w.value(("int32", ()), scope, depth - 1)
    if w.random.random() < 0.5:
        source = w.value((dtype, (shape[0] + 2, *shape[1:])), scope, depth)
        template = f"lax.dynamic_slice_in_dim({{0}}, {{1}} % 3, {shape[0]}, 0)"
        return Node(type, template, (source, start))
    parts = (
        w.value(type, scope, depth),
        start,
        w.value((dtype, (1, *shape[1:])), scope, depth - 1),
    )
    return Node(
        type, f"lax.dynamic_update_slice_in_dim({{0}}, {{2}}, {{1}} % {shape[0]}, 0)", parts
    )


def ordered(w, type, scope, depth):
    dtype, shape = type
    if not shape or dtype[0] == "c":
        return None
    axis = w.random.randrange(len(shape))
    options = [f"jnp.sort({{0}}, {axis})"]
    if dtype in INTEGERS:
        options += [f"jnp.argsort({{0}}, {axis}).astype('{dtype}')"]
        options += [f"jnp.cumsum({{0}}, {axis}, dtype='{dtype}')"]
    elif dtype != "bool":
        options += [f"jnp.tanh(jnp.cumsum({{0}}, {axis}))", f"lax.cummax({{0}}, {axis})"]
        options += [f"jax.nn.softmax({{0}}, {axis})", f"lax.cumlogsumexp({{0}}, {axis})"]
    return Node(type, w.pick(*options), (w.value(type, scope, depth),))


def product(w, type, scope, depth):
    dtype, shape = type
    if len(shape) < 1 or dtype not in ("float32", "int32", "complex64"):
        return None
    k = w.pick(1, 2, 3, 0)
    left, right = (dtype, (*shape[:-1], k)), (dtype, (k, shape[-1]))
    template = w.pick("({0} @ {1})", "jnp.tensordot({0}, {1}, 1)", "jnp.dot({0}, {1})")
    if dtype != "int32":
        template = f"({template} / 4)"
    return Node(type, template, (w.value(left, scope, depth), w.value(right, scope, depth - 1)))


def drawn(w, type, scope, depth):
    dtype, shape = type
    key = f"jax.random.key({w.random.randrange(99)})"
    if scope.axes and w.random.random() < 0.5:
        key = f"jax.random.fold_in({key}, lax.axis_index('{w.pick(*scope.axes)[0]}'))"
    if dtype == "bool":
        return Node(type, f"jax.random.bernoulli({key}, 0.3, {shape})")
    if dtype in ("float32",):
        how = w.pick("uniform", "normal")
        return Node(type, f"jax.random.{how}({key}, {shape})")
    if dtype == "int32":
        return Node(type, f"jax.random.randint({key}, {shape}, 0, 9)")
    return None


ANYTHING = [reduction, layout, layout, joined, indexed, updated, moved, ordered, product, drawn]

# ---- collectives -------------------------------------------------------------------------------


def collective(w, type, scope, depth):
    if not scope.axes:
        return None
    dtype, shape = type
    name, n = w.pick(*scope.axes)
    if dtype == "int32" and not shape and w.random.random() < 0.5:
        return Node(type, f"lax.axis_index('{name}')")
    if not scope.together or dtype == "bool" or dtype[0] == "c" or dtype in ("float16", "bfloat16"):
        return None
    whole, names = n, f"'{name}'"
    if len(scope.axes) > 1 and w.random.random() < 0.4:
        whole = size_of([size for _, size in scope.axes])
        names = repr(tuple(axis for axis, _ in scope.axes))
    scale = f" / {whole}" if dtype[0] == "f" else ""
    ring = [(i, (i + 1) % n) for i in range(n)]
    options = [
        (f"(lax.psum({{0}}, {names}){scale})", shape),
        (f"lax.all_gather({{0}}, '{name}')[{n - 1}]", shape),
        (f"lax.all_gather({{0}}, '{name}').sum(0, dtype='{dtype}'){scale}", shape),
        (f"lax.ppermute({{0}}, '{name}', {ring})", shape),
        (f"lax.ppermute({{0}}, '{name}', {ring[:-1]})", shape),
        (f"(lax.psum_scatter({{0}}, '{name}'){scale})", (n, *shape)),
        (f"lax.all_to_all({{0}}, '{name}', 0, 0)[0]", (n, *shape)),
    ]
    if dtype[0] == "f":
        options.append((f"lax.pmean({{0}}, {names})", shape))
        options.append((f"lax.pmax(lax.stop_gradient({{0}}), {names})", shape))
    else:
        options.append((f"lax.pmin({{0}}, {names})", shape))
    template, inner = w.pick(*options)
    return Node(type, template, (w.value((dtype, inner), scope, depth),))


ANYTHING += [collective, collective]

# ---- transformations and control flow: of four float32 -----------------------------------------


def higher(template, functions=1, values=1, types=None, **changes):
    def rule(w, type, scope, depth):
        parts = [w.function([INPUT], INPUT, scope, depth, **changes) for _ in range(functions)]
        parts += [w.value(INPUT, scope, depth - 1 - i) for i in range(values)]
        return Node(type, template, tuple(parts))

    return rule


def scalar_map(template, **changes):
    """A function of one number, mapped over four."""

    def rule(w, type, scope, depth):
        if "pmap" in template and not scope.maps:
            return None
        axes, taken = dict(changes), f"k{len(scope.axes)}"
        if "AXIS" in template:
            axes["axes"] = (*scope.axes, (taken, 4))
        if "pmap" in template:
            axes["maps"] = False
        f = w.function([("float32", ())], ("float32", ()), scope, depth, **axes)
        return Node(type, template.replace("AXIS", taken), (f, w.value(INPUT, scope, depth - 1)))

    return rule


def two_axes(w, type, scope, depth):
    """Two by two devices and elements."""
    outer, inner = f"k{len(scope.axes)}", f"k{len(scope.axes) + 1}"
    over = w.pick("vmap", "pmap") if scope.maps else "vmap"
    axes = (*scope.axes, (outer, 2), (inner, 2))
    f = w.function([("float32", ())], ("float32", ()), scope, depth, axes=axes, maps=False)
    template = (
        f"jax.{over}(jax.vmap({{0}}, axis_name='{inner}'), axis_name='{outer}')"
        f"({{1}}.reshape(2, 2)).reshape(4)"
    )
    return Node(type, template, (f, w.value(INPUT, scope, depth - 1)))


def conditional(w, type, scope, depth):
    apart = scope.together and not scope.axes  # a predicate may differ between devices
    f, g = (w.function([type], type, scope, depth, together=apart) for _ in range(2))
    x = w.value(type, scope, depth - 1)
    if w.random.random() < 0.5:
        test = w.value(("bool", ()), scope, depth - 1)
        return Node(type, "lax.cond({0}, {1}, {2}, {3})", (test, f, g, x))
    test = w.value(("int32", ()), scope, depth - 1)
    return Node(type, "lax.switch({0} % 3, [{1}, {2}, lambda q: q], {3})", (test, f, g, x))


def scan(w, type, scope, depth):
    dtype, shape = w.pick(INPUT, ("int32", ()), ("float32", (2,)))
    step = w.function([INPUT, (dtype, shape)], INPUT, scope, depth)
    start = w.value(INPUT, scope, depth - 1)
    xs = w.value((dtype, (w.pick(1, 2, 3), *shape)), scope, depth - 1)
    template = w.pick(
        "lax.scan(lambda c, a: (jnp.tanh({0}(c, a)), None), {1}, {2})[0]",
        "lax.scan(lambda c, a: ({0}(c, a), c[0]), {1}, {2}, reverse=True)[0]",
        "jnp.tanh(lax.scan(lambda c, a: (({0}(c, a)), c), {1}, {2})[1].sum(0))",
    )
    return Node(type, template, (step, start, xs))


def loop(w, type, scope, depth):
    if scope.reverse:
        return None
    apart = scope.together and not scope.axes
    step = w.function([INPUT], INPUT, scope, depth, together=apart)
    count = w.value(("int32", ()), scope, depth - 1)
    template = w.pick(
        "lax.fori_loop(0, {1} % 3, lambda i, c: {0}(c), {2})",
        "lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, {0}(c[1])), ({1} % 3, {2}))[1]",
    )
    return Node(type, template, (step, count, w.value(INPUT, scope, depth - 1)))


def rule_of_own(w, type, scope, depth):
    """Rules are for arguments: what such a function closes over has no derivative."""
    alone = dataclasses.replace(scope, variables=())
    f = w.function([INPUT], INPUT, alone, depth)
    template = "own_jvp({0})({1})"
    if scope.reverse and w.random.random() < 0.5:
        f = w.function([INPUT], INPUT, dataclasses.replace(alone, reverse=True), depth)
        template = "jnp.tanh(jax.grad(lambda q: own_vjp({0})(q).sum())({1}))"
    f = dataclasses.replace(f, closed=True)
    return Node(type, template, (f, w.value(INPUT, scope, depth - 1)))


HIGHER = [
    higher("jax.jit({0})({1})"),
    higher("jax.checkpoint({0})({1})"),
    higher("jax.checkpoint({0}, policy=lambda *_, **__: True)({1})"),
    higher("jnp.tanh(jax.grad(lambda q: {0}(q).sum())({1}))", reverse=True),
    higher("jnp.tanh(jax.value_and_grad(lambda q: ({0}(q) ** 2).sum())({1})[1])", reverse=True),
    higher("jnp.tanh(jax.jvp({0}, ({1},), ({2},))[1])", values=2),
    higher("jnp.tanh(jax.vjp({0}, {1})[1]({2})[0])", values=2, reverse=True),
    higher("jnp.tanh(jax.linearize({0}, {1})[1]({2}))", values=2),
    higher("jnp.tanh(jax.jacfwd({0})({1}) @ {2})", values=2),
    higher("jnp.tanh(jax.jacrev({0})({1}).sum(0))", reverse=True),
    higher("jnp.tanh(jax.hessian(lambda q: {0}(q).sum())({1}).sum(0))", reverse=True),
    higher("jax.vmap({0})(jnp.stack([{1}, {2}])).sum(0)", values=2),
    higher("jax.vmap({0}, in_axes=1, out_axes=1)(jnp.stack([{1}, {2}], 1)).sum(1)", values=2),
    higher("lax.fori_loop(0, 2, lambda i, c: {0}(c), {1})"),
    higher("lax.map({0}, jnp.stack([{1}, {2}])).sum(0)", values=2),
    scalar_map("jax.vmap({0})({1})"),
    scalar_map("jax.vmap({0}, axis_name='AXIS')({1})"),
    scalar_map("jax.pmap({0}, axis_name='AXIS')({1})"),
    scalar_map("jax.pmap({0}, axis_name='AXIS')({1})"),
    scalar_map("jax.vmap(jax.grad({0}))({1})", reverse=True),
    scalar_map("lax.map({0}, {1})"),
    two_axes,
    conditional,
    scan,
    loop,
    rule_of_own,
]
ANYTHING.append(conditional)


def program(seed, depth=5):
    """The body of a function of `x`, a tree; that of an even seed can be differentiated in reverse.
    One in four has 16-bit floats."""
    scope = Scope((("x", INPUT),), reverse=seed % 2 == 0)
    return Writer(seed, halves=seed % 4 == 3).value(INPUT, scope, depth)


# ---- smaller trees -----------------------------------------------------------------------------


def smaller(node, scope=(("x", INPUT),)):
    """Trees with one part replaced by something simpler of its type."""
    inner = (*(() if node.closed else scope), *node.variables)
    function = {"variables": node.variables, "closed": node.closed}
    known = [Node(node.type, name, (), **function) for name, t in inner if t == node.type]
    if node.parts:
        yield from known[:1]
        yield dataclasses.replace(Writer(0).leaf(node.type, Scope(())), **function)
        for part in node.parts:
            if part.type == node.type and not part.variables:
                yield dataclasses.replace(part, **function)
    for i, part in enumerate(node.parts):
        for other in smaller(part, inner):
            parts = (*node.parts[:i], other, *node.parts[i + 1 :])
            yield dataclasses.replace(node, parts=parts)


def minimised(node, fails, most=400):
    """A smaller tree for which `fails` still holds."""
    tried = 0
    progress = True
    while progress and tried < most:
        progress = False
        for other in sorted(smaller(node), key=Node.size):
            if other.size() >= node.size() and len(other.text()) >= len(node.text()):
                continue
            tried += 1
            if fails(other):
                node, progress = other, True
                break
            if tried >= most:
                break
    return node
