"""tests/fuzz/linear.py - products, convolutions, decompositions, loops with matrices."""

from trees import MOST_ELEMENTS, RULES, Node, size_of


def product(w, type, scope, depth):
    dtype, shape = type
    if len(shape) < 1 or dtype not in ("float32", "int32", "complex64"):
        return None
    k = w.length(*shape, least=0)
    left, right = (*shape[:-1], k), (k, shape[-1])
    options = [
        ("({0} @ {1})", left, right),
        ("jnp.tensordot({0}, {1}, 1)", left, right),
        ("jnp.dot({0}, {1})", left, right),
        ("({0} @ {1}.T)", left, right[::-1]),
    ]
    if len(shape) == 2:
        options.append(("({0}.T @ {1})", left[::-1], right))
    if len(shape) > 2:
        options.append(("({0} @ {1})", left, (*shape[:-2], *right)))
        options.append(("jnp.einsum('...ij,...jk->...ik', {0}, {1})", left, (*shape[:-2], *right)))
    template, left, right = w.pick(*options)
    if dtype != "int32":
        template = f"({template} / {max(k, 4)})"
    parts = (w.value((dtype, left), scope, depth), w.value((dtype, right), scope, depth - 1))
    return Node(type, template, parts)


def outer(w, type, scope, depth):
    """Products that contract the leading dimension: the gradient of a weight is one."""
    dtype, shape = type
    if dtype != "float32" or len(shape) != 2:
        return None
    n = w.length(max(shape), least=0)
    template = w.pick(
        "jnp.einsum('bi,bj->ij', {0}, {1})",
        "jnp.einsum('bi,bj->bij', {0}, {1}).sum(0)",
        "jax.vmap(jnp.outer)({0}, {1}).sum(0)",
    )
    parts = [w.value((dtype, (n, size)), scope, depth - i) for i, size in enumerate(shape)]
    return Node(type, f"({template} / {max(n, 1)})", tuple(parts))


def convolution(w, type, scope, depth):
    dtype, shape = type
    if dtype != "float32" or not 0 < len(shape) < 4 or 0 in shape:
        return None
    if len(shape) == 1:
        if shape[0] < 3:  # 'same' is as long as the longer one
            return None
        parts = w.value(type, scope, depth), w.value((dtype, (3,)), scope, depth - 1)
        return Node(type, "(jnp.convolve({0}, {1}, 'same') / 3)", parts)
    batch, out, n = (1, *shape)[-3:]
    groups = w.pick(*(g for g in (1, 1, 2, 3) if out % g == 0))
    inner, window = w.pick(1, 2, 3), w.pick(1, 2, 3)
    stride = w.pick(1, 2)
    options = f"({stride},), 'SAME', feature_group_count={groups}"
    if stride == 1:
        options += w.pick("", ", rhs_dilation=(2,)")
    names = ("NCH", "OIH", "NCH")
    image, kernel = (batch, inner * groups, n * stride), (out, inner, window)
    if w.random.random() < 0.5:
        names = ("NHC", "HIO", "NCH")
        image, kernel = (image[0], image[2], image[1]), kernel[::-1]
    template = (
        f"(lax.conv_general_dilated({{0}}, {{1}}, {options}, dimension_numbers={names})"
        f".reshape({shape}) / {inner * window})"
    )
    parts = w.value((dtype, image), scope, depth), w.value((dtype, kernel), scope, depth - 1)
    return Node(type, template, parts)


def image(w, type, scope, depth):
    """A convolution of pictures, pooled."""
    dtype, shape = type
    if dtype != "float32" or len(shape) != 1 or not shape[0]:
        return None
    n, inner = (w.pick(4, 7, 12) if w.wide else 4), w.pick(1, 3)
    batch = w.pick(0, 1, 2, 5) if w.wide else w.pick(0, 1, 1)
    pool = w.pick(".mean((0, 1, 2))", ".max((1, 2)).mean(0)") if batch else ".sum((0, 1, 2))"
    template = (
        "jnp.tanh(lax.conv_general_dilated({0}, {1}, (1, 1), 'SAME', "
        f"dimension_numbers=('NHWC', 'HWIO', 'NHWC'))){pool}"
    )
    parts = (
        w.value((dtype, (batch, n, n, inner)), scope, depth),
        w.value((dtype, (3, 3, inner, shape[0])), scope, depth - 1),
    )
    return Node(type, template, parts)


def decomposition(w, type, scope, depth):
    """Of matrices whose eigenvalues lie apart (`apart`, `definite` of evaluate.py)."""
    dtype, shape = type
    if dtype != "float32" or not shape or not 0 < shape[-1] <= 33:
        return None
    n, stack = shape[-1], shape[:-1]
    square = (*stack, n, n)
    if size_of(square) > MOST_ELEMENTS:
        return None
    if len(shape) > 1 and shape[-2] == n and w.random.random() < 0.7:
        template = w.pick(
            "rejoined(jnp.linalg.eigh(apart({0})))",
            "rejoined(jnp.linalg.eigh(apart({0})))",
            "rejoined(jnp.linalg.svd(definite({0}), full_matrices=False))",
            "jnp.linalg.inv(definite({0}))",
            "jnp.linalg.solve(definite({0}), {1})",
            "(jnp.linalg.cholesky(definite({0})) / 9)",
            "abs(jnp.linalg.qr(definite({0}))[1] / 9)",
            "(jnp.linalg.matrix_power(definite({0}), 2) / 99)",
        )
        count = 1 + ("{1}" in template)
        return Node(type, template, tuple(w.value(type, scope, depth - i) for i in range(count)))
    template = w.pick(
        "jnp.sin(jnp.linalg.eigvalsh(apart({0})))",
        "jnp.sin(jnp.linalg.svd(definite({0}), compute_uv=False))",
        "jnp.linalg.solve(definite({0}), {1}[..., None])[..., 0]",
        "jax.scipy.linalg.solve_triangular(definite({0}), {1}[..., None], lower=True)[..., 0]",
    )
    parts = [w.value((dtype, square), scope, depth)]
    if "{1}" in template:
        parts.append(w.value(type, scope, depth - 1))
    return Node(type, template, tuple(parts))


def stack_of_matrices(w, type, scope, depth):
    """Four numbers of decompositions of a stack."""
    n = w.pick(4, 5, 8, 13, 32, 33) if w.wide else 4
    inner = decomposition(w, ("float32", (w.length(n, n), n, n)), scope, depth)
    return inner and Node(type, "{0}.mean((0, 1))[:4]", (inner,))


def recurrence(w, type, scope, depth):
    """A loop whose turns multiply by matrices that do not change."""
    dtype, shape = type
    if dtype != "float32" or len(shape) not in (1, 2) or shape[-1] > 129:
        return None
    n, turns = shape[-1], w.pick(0, 1, 2, 4, 5)
    cell = (w.length(n, least=0), n) if len(shape) == 1 else shape
    step = w.pick(
        "jnp.tanh(c @ m + a)",
        "jnp.tanh(c @ m.T + a)",
        "(c + jnp.tanh(a @ m)) / 2",
        "jnp.tanh(jnp.einsum('ij,kj->ik', c, m) * jax.nn.sigmoid(a @ m))",
        "jnp.tanh(jnp.tanh(c @ m) @ m.T - a)",
    )
    kept = w.pick(f"(lambda c, a: ({step}, None), {{1}}, {{2}})[0]",
                  f"(lambda c, a: ({step}, c), {{1}}, {{2}})[1].sum(0) / {max(turns, 1)}",
                  f"(lambda c, a: ({step}, c), {{1}}, {{2}}, reverse=True)[1][-1:].sum(0)",
                  f"(lambda c, a: ({step}, None), {{1}}, {{2}}, unroll=2)[0]")  # fmt: skip
    rest = (".mean(0)" if cell[0] else ".sum(0)") if len(shape) == 1 else ""
    template = f"(lambda m: (lax.scan{kept}){rest})({{0}})"
    if turns == 5 and w.random.random() < 0.5:  # without what comes in at each turn
        step = w.pick("jnp.tanh(c @ m)", "jnp.tanh(c @ m + i)", "jnp.tanh(c - c @ m.T / 2)")
        template = f"(lambda m: lax.fori_loop(0, 5, lambda i, c: {step}, {{1}}){rest})({{0}})"
    parts = [w.value((dtype, (n, n)), scope, depth), w.value((dtype, cell), scope, depth)]
    if "{2}" in template:
        parts.append(w.value((dtype, (turns, *cell)), scope, depth - 1))
    return Node(type, template, tuple(parts))


def large_recurrence(w, type, scope, depth):
    """Four numbers of one whose matrix is worth being laid out before the loop."""
    if not w.wide:
        return None
    n, rows = w.pick(96, 128, 100), w.pick(13, 16, 17)
    of_rows = w.pick("({0} / 9)", "({0}.T / 9)", "jnp.concatenate([{0}[:50], {0}[50:]]) / 9")
    step = w.pick("jnp.tanh(c @ m + a)", "jnp.tanh(c @ m.T + a)", "jnp.tanh(c @ m + m[0] + a)",
                  "jnp.tanh(jnp.tanh(c @ m) @ m)")  # fmt: skip
    last = w.pick("[0]", "[1].mean(0)")
    template = (
        f"(lambda m: lax.scan(lambda c, a: (({step}), c), {{1}}, {{2}}){last}.mean(1)[:4])"
        f"({of_rows})"
    )
    shapes = ((n, n), (rows, n), (5,))
    parts = [w.value(("float32", shape), scope, depth - 1) for shape in shapes]
    return Node(type, template, tuple(parts))


RULES["any"] += [product]
RULES["f"] += [outer, convolution, decomposition, recurrence]
RULES["input"] += [image, large_recurrence, decomposition, stack_of_matrices]
