"""tests/fuzz/grammar.py - random well-typed programs, as trees that print as expressions.

A program is a function of `x`, four numbers, with a result of four numbers. Inside are values of
any dtype and shape (operations.py, places.py, linear.py). This module has collectives,
transformations and control flow. Start at `program`.

Values stay small: results that could grow are squashed. Nothing that communicates stands where
devices may take different ways: there, real devices would wait for ever.
"""

import dataclasses

import linear  # noqa: F401  (their rules)
import operations  # noqa: F401
import places  # noqa: F401
from trees import INPUT, RULES, Node, Scope, Writer, size_of

# ---- collectives -------------------------------------------------------------------------------


def collective(w, type, scope, depth):
    axes = [axis for axis in scope.axes if axis[1]]  # JAX divides by the size
    if not axes:
        return None
    dtype, shape = type
    name, n = w.pick(*axes)
    if dtype == "int32" and not shape and w.random.random() < 0.5:
        return Node(type, f"lax.axis_index('{name}')")
    if not scope.together or dtype == "bool" or dtype[0] == "c" or dtype in ("float16", "bfloat16"):
        return None
    whole, names = n, f"'{name}'"
    if len(axes) > 1 and w.random.random() < 0.4:
        whole = size_of([size for _, size in axes])
        names = repr(tuple(axis for axis, _ in axes))
    scale = f" / {whole}" if dtype[0] == "f" else ""
    ring = [(i, (i + 1) % n) for i in range(n)]
    options = [
        (f"(lax.psum({{0}}, {names}){scale})", shape),
        (f"lax.all_gather({{0}}, '{name}')[{n - 1}]", shape),
        (f"(lax.all_gather({{0}}, '{name}').sum(0, dtype='{dtype}'){scale})", shape),
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


RULES["any"] += [collective, collective]

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


def rows(w, type, scope, depth):
    """A function of four numbers, mapped over rows; now and then with something all rows share."""
    n, over, taken = w.pick(0, 1, 2, 4), w.pick("vmap", "pmap"), f"k{len(scope.axes)}"
    if over == "pmap" and not scope.maps:
        return None
    joined = ".mean(0)" if n else ".sum(0)"
    inner = {"axes": (*scope.axes, (taken, n)), "maps": scope.maps and over == "vmap"}
    stacked = w.value(("float32", (n, 4)), scope, depth - 1)
    if w.random.random() < 0.5:
        f = w.function([INPUT], INPUT, scope, depth, **inner)
        return Node(type, f"jax.{over}({{0}}, axis_name='{taken}')({{1}}){joined}", (f, stacked))
    shared = ("float32", (4, w.length(4, least=0)))
    f = w.function([INPUT, shared], INPUT, scope, depth, **inner)
    mapped = f"jax.{over}({{0}}, axis_name='{taken}', in_axes=(0, None))({{1}}, {{2}}){joined}"
    return Node(type, mapped, (f, stacked, w.value(shared, scope, depth - 1)))


def training_step(w, type, scope, depth):
    """Gradients of weights that devices share, and their mean."""
    if not scope.maps:
        return None
    n, taken = w.pick(1, 2, 4), f"k{len(scope.axes)}"
    weights = ("float32", (w.length(4, least=0), 4))
    batch = ("float32", (w.length(4, least=0), 4))
    inner = {"axes": (*scope.axes, (taken, n)), "maps": False, "reverse": True}
    f = w.function([batch, weights], INPUT, scope, depth, **inner)
    parts = (
        f,
        w.value(weights, scope, depth - 1),
        w.value(("float32", (n, *batch[1])), scope, depth - 1),
    )
    template = (
        f"jnp.tanh(jax.pmap(lambda w, b: w - lax.MEAN(jax.grad(lambda w: {{0}}(b, w).mean())(w), "
        f"'{taken}'), axis_name='{taken}', in_axes=(None, 0), out_axes=None)({{1}}, {{2}}))"
    )
    template += ".mean(0)" if weights[1][0] else ".sum(0)"
    return Node(type, template.replace("MEAN", w.pick("pmean", "psum")), parts)


def sharded(w, type, scope, depth):
    """A function of a part, over one axis of a mesh or two."""
    if not scope.maps:
        return None
    first, second = f"k{len(scope.axes)}", f"k{len(scope.axes) + 1}"
    shape, sizes, specs, given, same = w.pick(
        ((), {first: 4}, f"P('{first}')", "q[0]", ""),
        ((), {first: 4}, f"P('{first}')", "q.reshape(())", ""),
        ((), {first: 2, second: 2}, f"P(('{second}', '{first}'))", "q[0]", ""),
        ((2,), {first: 2, second: 2}, f"P('{second}')", "q", first),
        ((4,), {first: 4}, "P()", "q", first),
        ((4,), {first: 1, second: 4}, f"P('{first}')", "q", second),
    )
    axes = (*scope.axes, *sizes.items())
    kind = ("float32", shape)
    f = w.function([kind], kind, scope, depth, axes=axes, maps=False)
    result = f"{{0}}({given})" if shape else f"{{0}}({given})[None]"
    if same:  # dimensions that specs do not split have one value on all of their devices
        result = f"lax.pmean({result}, '{same}')"
    mesh = ", ".join(f"{axis}={size}" for axis, size in sizes.items())
    template = (
        f"jax.shard_map(lambda q: {result}, mesh=over({mesh}), in_specs={specs}, "
        f"out_specs={specs}, check_vma=False)({{1}})"
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
    xs = w.value((dtype, (w.pick(0, 1, 2, 3), *shape)), scope, depth - 1)
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
    """Rules are for arguments: values that such a function closes over have no derivative."""
    alone = dataclasses.replace(scope, variables=())
    f = w.function([INPUT], INPUT, alone, depth)
    template = "own_jvp({0})({1})"
    if scope.reverse and w.random.random() < 0.5:
        f = w.function([INPUT], INPUT, dataclasses.replace(alone, reverse=True), depth)
        template = "jnp.tanh(jax.grad(lambda q: own_vjp({0})(q).sum())({1}))"
    f = dataclasses.replace(f, closed=True)
    return Node(type, template, (f, w.value(INPUT, scope, depth - 1)))


RULES["input"] += [
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
    higher("lax.map({0}, {1}[None][:0]).sum(0)"),
    higher("jax.vmap({0})({1}[None][:0]).sum(0)"),
    scalar_map("jax.vmap({0})({1})"),
    scalar_map("jax.vmap({0}, axis_name='AXIS')({1})"),
    scalar_map("jax.pmap({0}, axis_name='AXIS')({1})"),
    scalar_map("jax.pmap({0}, axis_name='AXIS')({1})"),
    scalar_map("jax.vmap(jax.grad({0}))({1})", reverse=True),
    scalar_map("lax.map({0}, {1})"),
    two_axes,
    rows,
    training_step,
    sharded,
    sharded,
    conditional,
    scan,
    loop,
    rule_of_own,
]
RULES["any"].append(conditional)


def program(seed, depth=5):
    """The body of a function of `x`, a tree; that of an even seed can be differentiated in reverse.
    Half of the programs have large arrays, a quarter 16-bit floats, some unusual values."""
    scope = Scope((("x", INPUT),), reverse=seed % 2 == 0)
    unusual = seed % 16 == 5
    writer = Writer(seed, halves=seed % 4 == 3, wide=seed % 4 in (1, 2), unusual=unusual)
    return writer.value(INPUT, scope, depth)
