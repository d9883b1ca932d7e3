"""tests/sizes/ways.py - ways to run a function, each beside what it must give.

A way takes the package, the function and its arguments, and yields (what, got, want): lists of
arrays that must agree. The wanted results come from the function itself, run op by op on one slice
at a time, so that no reference is needed.
"""

import numpy as np

LENGTHS = (0, 1, 2)  # of a mapped axis


def leaves(jax, value):
    return jax.tree.leaves(value)


def is_float(x):
    return np.dtype(x.dtype).kind not in "biu" and "key" not in str(x.dtype)


def batch(jax, args, n):
    """Each argument n times, a little apart where it is of floats."""
    jnp = jax.numpy

    def several(a):
        if not n:
            return jnp.zeros((0, *a.shape), a.dtype)
        return jnp.stack([a * (1 - 0.25 * i) if is_float(a) else a for i in range(n)])

    return [several(a).astype(a.dtype) for a in args]


def sliced(jax, f, args, n):
    """The results that a map over `batch` must give."""
    jnp = jax.numpy
    if not n:
        return [jnp.zeros((0, *r.shape), r.dtype) for r in leaves(jax, f(*args))]
    stacks = batch(jax, args, n)
    rows = [leaves(jax, f(*(s[i] for s in stacks))) for i in range(n)]
    return [jnp.stack(parts) for parts in zip(*rows, strict=True)]


def jit(jax, f, args):
    yield "jit", jax.jit(f)(*args), f(*args)


def fused(jax, f, args):
    """Between elementwise work."""
    jnp = jax.numpy

    def around(x):
        return jnp.where(x == x, x, x) if x.dtype != bool else ~~x

    def run(*args):
        return [around(r) for r in leaves(jax, f(*map(around, args)))]

    yield "fused", jax.jit(run)(*args), run(*args)


def donated(jax, f, args):
    copies = [jax.numpy.array(a) for a in args]
    yield "donated", jax.jit(f, donate_argnums=tuple(range(len(args))))(*copies), f(*args)


def over(name, mapped):
    def way(jax, f, args):
        for n in LENGTHS:
            yield f"{name} over {n}", mapped(jax, f, batch(jax, args, n)), sliced(jax, f, args, n)

    way.__name__ = name
    return way


def in_scan(jax, f, stacks):
    step = lambda c, a: (c + 1, f(*a))
    return jax.lax.scan(step, 0, tuple(stacks))[1]


def over_mesh(jax, f, stacks):
    """Two devices have a part of each stack: their lengths are doubled, and halved again."""
    spec = jax.sharding.PartitionSpec("mesh")
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("mesh",))
    twice = [jax.numpy.concatenate([s, s]) for s in stacks]
    g = jax.shard_map(jax.vmap(f), mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
    return [r[: r.shape[0] // 2] for r in leaves(jax, g(*twice))]


def loop(jax, f, args):
    """As often as a number says."""
    wanted = leaves(jax, f(*args))
    zeros = [r * 0 if r.dtype != bool else r ^ r for r in wanted]

    def run(turns, args):
        body = lambda i, c: leaves(jax, f(*args))
        return jax.lax.fori_loop(0, turns, body, zeros)

    for turns in LENGTHS:
        yield f"loop of {turns}", jax.jit(run)(turns, args), wanted if turns else zeros


def cond(jax, f, args):
    wanted = leaves(jax, f(*args))
    zeros = [r * 0 if r.dtype != bool else r ^ r for r in wanted]

    def run(chosen, args):
        return jax.lax.cond(chosen, lambda a: leaves(jax, f(*a)), lambda a: zeros, args)

    for chosen in (True, False):
        yield f"cond of {chosen}", jax.jit(run)(chosen, args), wanted if chosen else zeros


# ---- derivatives -------------------------------------------------------------------------------


def scalar(jax, f, args):
    """A number to differentiate, of the arguments that are floats; and these."""
    places = [i for i, a in enumerate(args) if is_float(a) and a.dtype != "complex64"]

    def total(*floats):
        given = list(args)
        for i, a in zip(places, floats):
            given[i] = a
        found = [r for r in leaves(jax, f(*given)) if is_float(r)]
        real = [abs(r) if np.dtype(r.dtype).kind == "c" else r for r in found]
        return sum((jax.numpy.sin(r.astype("float32")).sum() for r in real), 0.0)

    return total, [args[i] for i in places]


def gradients(jax, total, floats):
    return jax.grad(total, tuple(range(len(floats))))(*floats)


def grad(jax, f, args):
    total, floats = scalar(jax, f, args)
    if not floats:
        return
    found = gradients(jax, total, floats)
    yield "jit of grad", jax.jit(lambda *a: gradients(jax, total, a))(*floats), found
    yield "checkpoint", gradients(jax, jax.checkpoint(total), floats), found
    tangents = [jax.numpy.cos(a) for a in floats]
    push = lambda *a: jax.jvp(total, a, tuple(tangents))
    primal, tangent = push(*floats)
    along = sum(((g * t).sum().astype("float32") for g, t in zip(found, tangents)), 0.0)
    if not np.isnan(primal):  # NaN fill values have no gradient
        yield "grad and jvp", [jax.numpy.asarray(along, tangent.dtype)], [tangent]
    yield "jit of jvp", jax.jit(push)(*floats), [primal, tangent]


def grad_over(name, mapped):
    """The gradient through a map, and a map of gradients."""

    def way(jax, f, args):
        total, floats = scalar(jax, f, args)
        if not floats:
            return
        rule = lambda *a: gradients(jax, total, a)
        for n in LENGTHS:
            stacks = batch(jax, floats, n)
            wanted = sliced(jax, rule, floats, n)
            through = lambda *s: sum(r.sum() for r in leaves(jax, mapped(jax, total, s)))
            yield f"grad of {name} over {n}", gradients(jax, through, stacks), wanted
            inside = jax.jit(lambda *s, f=through: gradients(jax, f, s))
            yield f"jit of grad of {name} over {n}", inside(*stacks), wanted
            yield f"{name} of grad over {n}", mapped(jax, rule, stacks), wanted

    way.__name__ = f"grad of {name}"
    return way


MAPS = {
    "vmap": lambda jax, f, s: jax.vmap(f)(*s),
    "pmap": lambda jax, f, s: jax.pmap(f)(*s),
    "map": lambda jax, f, s: jax.lax.map(lambda a: f(*a), tuple(s)),
    "scan": in_scan,
    "jit of vmap": lambda jax, f, s: jax.jit(jax.vmap(f))(*s),
    "jit of pmap": lambda jax, f, s: jax.jit(jax.pmap(f))(*s),
    "shard_map": over_mesh,
}
WAYS = {"jit": jit, "fused": fused, "donated": donated, "loop": loop, "cond": cond, "grad": grad}
WAYS |= {name: over(name, mapped) for name, mapped in MAPS.items()}
WAYS |= {
    f"grad of {name}": grad_over(name, MAPS[name]) for name in ("vmap", "pmap", "map", "shard_map")
}
