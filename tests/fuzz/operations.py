"""tests/fuzz/operations.py - values of any shape: elementwise, layout, reductions."""

from trees import INTEGERS, RULES, Node, size_of


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


RULES["f"] += [
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
        "jnp.cbrt(1.5 + jnp.tanh({0}))",
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
        "jnp.hypot({0}, 1 + abs({1}))",
        "jnp.logaddexp({0}, {1})",
        "((1 + abs({0})) ** jnp.tanh({1}))",
        "lax.clamp(-{1} * {1}, {0}, 1 + {1} * {1})",
        "jnp.fmod({0}, 1.7 + {1} * {1})",
        "lax.select({0} > 0.0371, {0}, {1})",
        "({0} % (1.7 + {1} * {1}))",
        "({0} // (1.7 + {1} * {1}))",
    ),  # fmt: skip
    simple("jnp.clip({0}, -9, 9).astype('DTYPE')", other="i"),
    simple("{0}.astype('DTYPE')", other="b"),
    simple("{0}.astype('DTYPE')", other="f"),
    simple("jnp.real({0} * (1 + 0.5j)).astype('DTYPE')", "abs({0}).astype('DTYPE')", other="c"),
]
RULES["i"] += [
    simple(
        "(-{0})",
        "jnp.invert({0})",
        "jnp.sign({0})",
        "lax.population_count({0})",
        "lax.clz({0})",
        "({0} // 7)",
        "({0} % 7)",
        "({0} // 3)",
        "({0} % 8)",
        "jnp.divmod({0}, 5)[1]",
    ),  # fmt: skip
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
        "jnp.floor_divide({0}, {1} | 1)",
        "lax.div({0}, {1} | 1)",
        "lax.rem({0}, {1} | 1)",
        "jnp.where({0} > {1}, {0}, {1})",
        "lax.shift_right_logical({0}, {1} & 3)",
        "({0} << ({1} & 3))",
    ),  # fmt: skip
    simple("{0}.astype('DTYPE')", other="b"),
    simple("{0}.astype('DTYPE')", other="i"),
    simple("jnp.floor(jnp.tanh({0}) * 4.9 + 0.013).astype('int32').astype('DTYPE')", other="f"),
]
RULES["b"] += [
    simple("(~{0})", "({0} & {1})", "({0} | {1})", "({0} ^ {1})", "jnp.logical_not({0})"),
    simple("({0} > {1})", "({0} == {1})", "({0} <= {1})", "({0} != 0)", other="i"),
    simple("({0} > 0.0123)", "({0} < -0.0371)", "jnp.isfinite({0})", "jnp.isnan({0})", other="f"),
]
RULES["c"] += [
    simple("(-{0})", "jnp.conj({0})", "jnp.sin({0} / (1 + abs({0})))", "({0} + {1})"),
    simple("({0} * {1} / (1 + abs({0} * {1})))", "({0} / (2 + abs({1})))"),
    simple("({0} * (0.5 + 1j)).astype('complex64')", other="f"),
]

# ---- layout, reductions: of any dtype ----------------------------------------------------------


def with_dimension(w, shape, least=1):
    axis = w.random.randrange(len(shape) + 1)
    n = w.length(*shape, least=least)
    return axis, n, shape[:axis] + (n,) + shape[axis:]


def reduction(w, type, scope, depth):
    dtype, shape = type
    axis, n, larger = with_dimension(w, shape, least=0)
    if dtype == "bool":
        template = w.pick("jnp.any({0}, AXIS)", "jnp.all({0}, AXIS)")
    elif n == 0:  # ops that have a value without elements
        template = w.pick("jnp.sum({0}, AXIS, dtype='DTYPE')", "jnp.prod({0}, AXIS, dtype='DTYPE')")
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
        if dtype[0] == "c" and n:
            template = w.pick("jnp.mean({0}, AXIS)", "(jnp.sum({0}, AXIS) / 4)")
    template = template.replace("AXIS", str(axis)).replace("DTYPE", dtype)
    return Node(type, template, (w.value((dtype, larger), scope, depth),))


def twice_reduced(w, type, scope, depth):
    """Over two dimensions at once, which need not lie side by side."""
    dtype, shape = type
    if dtype == "bool" or dtype in INTEGERS:
        return None
    first, n, larger = with_dimension(w, shape, least=0)
    second, m, larger = with_dimension(w, larger, least=0)
    axes = (first + (second <= first), second)
    template = w.pick("jnp.mean({0}, AXES)", "jnp.tanh(jnp.sum({0}, AXES))")
    if 0 in (n, m):
        template = "jnp.sum({0}, AXES)"
    elif dtype == "float32":
        template = w.pick(template, "jnp.max({0}, AXES)", "jnp.sqrt(0.1 + jnp.var({0}, AXES))")
    template = template.replace("AXES", str(axes))
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


RULES["any"] += [
    reduction,
    twice_reduced,
    layout,
    layout,
    joined,
    ordered,
    drawn,
]
