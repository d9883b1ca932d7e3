"""tests/fuzz/places.py - gathers, scatters, slices at computed places, sets."""

from operations import with_dimension
from trees import RULES, Node, size_of


def place(w, length, scope, depth, *shape):
    """Whole numbers, as indices: any, most of them not within bounds."""
    return w.value(("int32", (length, *shape)), scope, depth - 1)


def gathered(w, type, scope, depth):
    dtype, shape = type
    if not shape:
        return None
    n, rows = shape[0], w.length(*shape[1:])
    index = place(w, n, scope, depth)
    options = [
        (f"{{0}}[{{1}} % {rows}]", (rows, *shape[1:]), (index,)),
        ("jnp.take({0}, {1}, axis=0, mode='clip')", (rows, *shape[1:]), (index,)),
        ("{0}.at[{1}].get(mode='fill', fill_value=0)", (rows, *shape[1:]), (index,)),
        (f"{{0}}[{{1}} % {rows}, {{2}} % 3]", (rows, 3, *shape[1:]), (index, index)),
        (f"{{0}}[1, {{1}} % {rows}]", (2, rows, *shape[1:]), (index,)),
    ]
    last = place(w, shape[-1], scope, depth)
    columns = w.length(*shape[:-1])
    options.append((f"{{0}}[..., {{1}} % {columns}]", (*shape[:-1], columns), (last,)))
    if len(shape) > 1:
        second = place(w, shape[1], scope, depth)
        apart = (rows, 2, *shape[2:])
        options.append((f"{{0}}[{{1}}[:, None] % {rows}, {{2}} % 2]", apart, (index, second)))
    template, source, indices = w.pick(*options)
    return Node(type, template, (w.value((dtype, source), scope, depth), *indices))


def along_axis(w, type, scope, depth):
    dtype, shape = type
    if not shape or dtype == "bool":
        return None
    axis = w.random.randrange(len(shape))
    rest = shape[:axis] + shape[axis + 1 :]
    n = w.length(*rest)
    source = shape[:axis] + (n,) + shape[axis + 1 :]
    index = w.value(("int32", shape), scope, depth - 1)
    template = f"jnp.take_along_axis({{0}}, {{1}} % {n}, {axis})"
    return Node(type, template, (w.value((dtype, source), scope, depth), index))


def scattered(w, type, scope, depth):
    dtype, shape = type
    if not shape or shape[0] == 0 or dtype == "bool":
        return None
    n, rows = shape[0], w.length(*shape[1:], least=0)
    how = w.pick("add", "max", "min", "add") if dtype[0] != "c" else "add"
    index = place(w, rows, scope, depth)
    options = [
        (f"{{0}}.at[{{2}} % {n}].{how}({{1}})", (rows, *shape[1:]), (index,)),
        (f"{{0}}.at[{{2}}].{how}({{1}}, mode='drop')", (rows, *shape[1:]), (index,)),
        (f"{{0}}.at[jnp.array([0, {n}])].set({{1}})", (2, *shape[1:]), ()),
        ("{0}.at[::2].set({1})", ((n + 1) // 2, *shape[1:]), ()),
        ("{0}.at[1:].add({1})", (n - 1, *shape[1:]), ()),
        (f"jnp.zeros({shape}, '{dtype}').at[{{2}} % {n}].add({{1}})", (rows, *shape[1:]), (index,)),
        (f"jax.ops.segment_sum({{1}}, {{2}} % {n}, {n})", (rows, *shape[1:]), (index,)),
    ]
    if shape[-1]:
        options += [
            (f"{{0}}.at[..., {{2}} % {shape[-1]}].{how}({{1}})", (*shape[:-1], rows), (index,)),
            (f"{{0}}.at[..., {shape[-1] - 1}].{how}({{1}})", shape[:-1], ()),
        ]
    if len(shape) > 1 and shape[1]:
        template = f"{{0}}.at[{{2}} % {n}, {{3}} % {shape[1]}].{how}({{1}})"
        options.append((template, (rows, *shape[2:]), (index, place(w, rows, scope, depth))))
    template, inner, indices = w.pick(*options)
    update = w.value((dtype, inner), scope, depth - 1)
    return Node(type, template, (w.value(type, scope, depth), update, *indices))


def moved(w, type, scope, depth):
    dtype, shape = type
    if not shape:
        return None
    start = w.value(("int32", ()), scope, depth - 1)
    if shape[0] == 0 or w.random.random() < 0.5:
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


def edited(w, type, scope, depth):
    dtype, shape = type
    if not shape or shape[0] < 2:
        return None
    longer, row = (shape[0] + 1, *shape[1:]), (1, *shape[1:])
    options = [
        ("jnp.delete({0}, 1, 0)", (longer,)),
        ("jnp.delete({0}, np.array([0]), 0)", (longer,)),
        ("jnp.insert({0}, 1, {1}, 0)", ((shape[0] - 1, *shape[1:]), row)),
    ]
    if dtype == "float32":
        options.append((f"lax.top_k({{0}}, {shape[-1]})[0]", ((*shape[:-1], shape[-1] + 2),)))
    template, shapes = w.pick(*options)
    return Node(type, template, tuple(w.value((dtype, s), scope, depth) for s in shapes))


def member(w, type, scope, depth):
    """Elements that another array has."""
    dtype = w.dtype("i")
    n = w.length(least=0)
    shape, size = type[1], size_of(type[1])
    parts = (w.value((dtype, shape), scope, depth), w.value((dtype, (n,)), scope, depth - 1))
    invert = w.pick("", ", invert=True", ", assume_unique=False")
    template = f"jnp.isin({{0}}, {{1}}{invert})"
    if size and w.random.random() < 0.3:
        parts = (w.value((dtype, (size, 2)), scope, depth), parts[1])
        template = f"jnp.isin({{0}}, {{1}}{invert}).reshape({(*shape, 2)})[..., 0]"
    return Node(type, template, parts)


def distinct(w, type, scope, depth):
    """Sets, of as many elements as are asked for."""
    dtype, shape = type
    if len(shape) != 1 or not shape[0]:
        return None
    n, (m, k) = shape[0], (w.length(), w.length())
    size = f"size={n}, fill_value=1"
    template = w.pick(
        f"jnp.unique({{0}}, {size})",
        f"jnp.unique({{0}}, return_counts=True, {size})[1].astype('{dtype}')",
        f"jnp.unique({{0}}, return_index=True, {size})[1].astype('{dtype}')",
        f"jnp.union1d({{0}}, {{1}}, {size})",
        f"jnp.intersect1d({{0}}, {{1}}, {size})",
        f"jnp.setdiff1d({{0}}, {{1}}, {size})",
        f"jnp.setxor1d({{0}}, {{1}}, {size})",
        f"jnp.bincount({{0}}.astype('int32') % {n}, length={n}).astype('{dtype}')",
        f"jnp.nonzero({{0}} % 2, {size})[0].astype('{dtype}')",
    )
    lengths = (m, k) if "{1}" in template else (m,)
    parts = tuple(w.value((dtype, (length,)), scope, depth - 1) for length in lengths)
    return Node(type, template, parts)


def searched(w, type, scope, depth):
    dtype, shape = type
    kind = w.dtype("i")
    n = w.length(least=0)
    parts = (w.value((kind, (n,)), scope, depth), w.value((kind, shape), scope, depth))
    side = w.pick("left", "right")
    template = f"jnp.searchsorted(jnp.sort({{0}}), {{1}}, side='{side}').astype('{dtype}')"
    return Node(type, template, parts)


def row(w, type, scope, depth):
    """One of the rows of a larger array, the middle one."""
    dtype, shape = type
    axis, n, larger = with_dimension(w, shape)
    kept = ", ".join([":"] * axis + [str(n // 2)])
    return Node(type, f"{{0}}[{kept}]", (w.value((dtype, larger), scope, depth),))


RULES["any"] += [gathered, gathered, along_axis, scattered, scattered, moved, edited, row]
RULES["i"] += [distinct, searched]
RULES["b"] += [member, member]
