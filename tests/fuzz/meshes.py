"""tests/fuzz/meshes.py - random shard_map programs, here and in JAX.

    python tests/fuzz/meshes.py --jax PYTHON [--count N] [--start SEED]

A program maps a function of a few statements over a mesh of one to three axes. Inside are
collectives, maps, loops, branches and derivatives. Around it are jit, grad, jvp, vmap, scan or
remat, with and without checks of varying values. Compared are values, types within the function,
and the classes of errors. Prints each difference with its program; the exit status is 1 where there
is any.
"""

import argparse
import json
import os
import random
import subprocess
import sys

MESHES = [
    {"x": 1},
    {"x": 2},
    {"x": 4},
    {"x": 8},
    {"x": 2, "y": 2},
    {"x": 4, "y": 2},
    {"x": 2, "y": 4},
    {"x": 1, "y": 2},
    {"x": 2, "y": 2, "z": 2},
]
BLOCKS = (0, 1, 1, 2, 2, 2, 4, 4)  # sizes of a device's part
EDGES = (7, 8, 9, 15, 16, 17, 31, 33, 65)  # of one dimension at most
ELEMENTWISE = ["jnp.sin({0})", "jnp.tanh({0})", "{0} * 2.0", "{0} ** 2 - 1.0", "-{0}"]
AROUND = ["", "", "jit", "grad", "jit grad", "vmap", "jvp", "scan", "remat grad", "linearize"]


class Value:
    """A variable of the function: its name, shape, and over which axes it may vary."""

    def __init__(self, name, shape, varying):
        self.name, self.shape, self.varying = name, tuple(shape), frozenset(varying)


class Writer:
    """Writes one program, of the seed's choices."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.sizes = self.random.choice(MESHES)
        self.axes = list(self.sizes)
        self.lines, self.count = [], 0

    def pick(self, *items):
        return self.random.choice(items)

    def some_axes(self, of=None, least=1):
        of = list(self.axes if of is None else of)
        return self.random.sample(of, self.random.randint(min(least, len(of)), len(of)))

    def size(self, axes):
        product = 1
        for axis in axes:
            product *= self.sizes[axis]
        return product

    def add(self, text, shape, varying):
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        value = Value(name, shape, varying)
        self.values.append(value)
        return value

    def spec(self, rank, axes):
        """A PartitionSpec over all of `axes`, each in some dimension; None where there is none."""
        if axes and not rank:
            return None
        entries = [[] for _ in range(rank)]
        for axis in self.random.sample(sorted(axes), len(axes)):
            self.random.choice(entries).append(axis)
        return entries

    @staticmethod
    def spec_text(entries):
        def one(axes):
            return "None" if not axes else repr(axes[0]) if len(axes) == 1 else repr(tuple(axes))

        return f"P({', '.join(one(axes) for axes in entries)})"

    def statement(self):
        v = self.random.choice(self.values)
        axes = self.some_axes()
        text = repr(axes[0]) if len(axes) == 1 and self.random.random() < 0.7 else repr(tuple(axes))
        kinds = ["elementwise", "binary", "reduce", "psum", "index", "cond", "scan", "inner"]
        kinds += ["gather", "scatter", "permute", "exchange", "matmul", "cast", "move"]
        getattr(self, self.random.choice(kinds))(v, axes, text)

    def elementwise(self, v, axes, text):
        self.add(self.random.choice(ELEMENTWISE).format(v.name), v.shape, v.varying)

    def binary(self, v, axes, text):
        same = [w for w in self.values if w.shape in (v.shape, ())]
        w = self.random.choice(same or [v])
        op = self.pick("+", "*", "-")
        self.add(f"{v.name} {op} {w.name}", v.shape, v.varying | w.varying)

    def reduce(self, v, axes, text):
        if v.shape:
            d = self.random.randrange(len(v.shape))
            self.add(f"jnp.sum({v.name}, {d})", v.shape[:d] + v.shape[d + 1 :], v.varying)

    def move(self, v, axes, text):
        if len(v.shape) > 1:
            self.add(f"{v.name}.T", v.shape[::-1], v.varying)

    def matmul(self, v, axes, text):
        if len(v.shape) == 2:
            self.add(f"{v.name} @ {v.name}.T", (v.shape[0], v.shape[0]), v.varying)

    def psum(self, v, axes, text):
        op = self.pick("psum", "psum", "pmean", "pmax")
        if op == "pmax" and self.differentiates:
            op = "psum"
        self.add(f"lax.{op}({v.name}, {text})", v.shape, v.varying - set(axes))

    def index(self, v, axes, text):
        axis = axes[0]
        self.add(f"{v.name} * (1.0 + lax.axis_index({axis!r}))", v.shape, v.varying | {axis})

    def cast(self, v, axes, text):
        free = [a for a in axes if a not in v.varying]
        if free and self.checked:
            to = repr(tuple(free))
            self.add(f"lax.pcast({v.name}, {to}, to='varying')", v.shape, v.varying | set(free))

    def gather(self, v, axes, text):
        n = self.size(axes)
        if not v.shape or self.pick(False, True, True) is False:
            self.add(f"lax.all_gather({v.name}, {text})", (n, *v.shape), v.varying | set(axes))
            return
        d = self.random.randrange(len(v.shape))
        shape = v.shape[:d] + (n * v.shape[d],) + v.shape[d + 1 :]
        if self.volume(shape) < 4096:
            call = f"lax.all_gather({v.name}, {text}, axis={d}, tiled=True)"
            self.add(call, shape, v.varying | set(axes))

    @staticmethod
    def volume(shape):
        product = 1
        for n in shape:
            product *= n
        return product

    def scatter(self, v, axes, text):
        n = self.size(axes)
        fitting = [d for d, size in enumerate(v.shape) if size % n == 0]
        if fitting:
            d = self.random.choice(fitting)
            shape = v.shape[:d] + (v.shape[d] // n,) + v.shape[d + 1 :]
            call = f"lax.psum_scatter({v.name}, {text}, scatter_dimension={d}, tiled=True)"
            self.add(call, shape, v.varying | set(axes))

    def permute(self, v, axes, text):
        axis = axes[0]
        n = self.sizes[axis]
        shift = self.random.randrange(1, n + 1)
        pairs = [(i, (i + shift) % n) for i in range(n)]
        if self.pick(False, True):
            pairs = pairs[: max(1, n - 1)]
        self.add(f"lax.ppermute({v.name}, {axis!r}, {pairs})", v.shape, v.varying | {axis})

    def exchange(self, v, axes, text):
        axis = axes[0]
        n = self.sizes[axis]
        fitting = [d for d, size in enumerate(v.shape) if size % n == 0]
        if fitting:
            i, j = self.random.choice(fitting), self.random.randrange(len(v.shape))
            shape = list(v.shape)
            shape[i] //= n
            shape[j] *= n
            call = f"lax.all_to_all({v.name}, {axis!r}, {i}, {j}, tiled=True)"
            self.add(call, shape, v.varying | {axis})

    def cond(self, v, axes, text):
        even = f"lax.axis_index({axes[0]!r}) % 2 == 0"
        ask, over = self.pick((even, {axes[0]}), ("jnp.array(True)", set()))
        inner = "lambda a: jnp.sin(a)"
        other = self.pick("lambda a: a * 3.0", "lambda a: a - a * a")
        if not over and self.pick(False, True):
            inner = f"lambda a: lax.psum(jnp.sin(a), {text})"
            other = f"lambda a: lax.psum(a * 3.0, {text})"
            self.add(f"lax.cond({ask}, {inner}, {other}, {v.name})", v.shape, v.varying - set(axes))
            return
        self.add(f"lax.cond({ask}, {inner}, {other}, {v.name})", v.shape, v.varying | over)

    def scan(self, v, axes, text):
        body = self.pick(
            ("jnp.sin(c) + 0.5", v.varying),
            (f"c * 0.5 + lax.psum(c, {text}) * 0.1", v.varying),
            (f"lax.ppermute(c, {axes[0]!r}, [(0, 0)]) + 1.0", v.varying | {axes[0]}),
        )
        loop = f"lax.scan(lambda c, t: ({body[0]}, jnp.sum(c) * t), {v.name}, jnp.arange(3.0))"
        part = self.pick(0, 1)
        self.add(f"{loop}[{part}]", v.shape if part == 0 else (3,), body[1])

    def inner(self, v, axes, text):
        shape = v.shape
        choice = self.pick("grad", "vmap", "remat", "jit", "grad sum")
        if choice == "grad":
            self.add(f"jax.grad(lambda a: jnp.sum(jnp.sin(a) * a))({v.name})", shape, v.varying)
        elif choice == "grad sum" and not self.around:
            loss = f"lax.psum(jnp.sum(jnp.sin(a) * a), {text})"
            self.add(f"jax.grad(lambda a: {loss})({v.name})", shape, v.varying)
        elif choice == "vmap" and shape:
            call = f"jax.vmap(lambda a: lax.psum(a, {text}) * a)({v.name})"
            self.add(call, shape, v.varying)
        elif choice in ("remat", "jit"):
            name = {"remat": "checkpoint", "jit": "jit"}[choice]
            self.add(f"jax.{name}(lambda a: jnp.tanh(a) * a)({v.name})", shape, v.varying)

    def program(self, call=None):
        """Its source; `call`: another transformation around it than was chosen."""
        around = self.around = self.random.choice(AROUND)
        self.differentiates = any(w in around for w in ("grad", "jvp", "linearize"))
        self.checked = self.random.random() < 0.7
        self.values, inputs, specs, shapes = [], [], [], []
        for i in range(self.random.randint(1, 2)):
            rank = self.random.randint(0 if i else 1, 3)
            block = [self.random.choice(BLOCKS) for _ in range(rank)]
            if rank and self.random.random() < 0.15:
                block[self.random.randrange(rank)] = self.random.choice(EDGES)
            axes = self.some_axes(least=0) if rank else []
            entries = self.spec(rank, axes)
            whole = [n * self.size(e) for n, e in zip(block, entries)]
            if self.random.random() < 0.03 and rank:
                whole[0] += 1  # does not divide
            inputs.append(f"a{i}")
            specs.append(self.spec_text(entries))
            shapes.append(tuple(whole))
            self.values.append(Value(f"a{i}", block, axes))
        for _ in range(self.random.randint(2, 7)):
            self.statement()
        outs = self.random.sample(self.values, self.random.randint(1, min(2, len(self.values))))
        out_specs = []
        for v in outs:
            entries = self.spec(len(v.shape), v.varying)
            if entries is None:
                self.add(f"{v.name}[None]", (1, *v.shape), v.varying)
                outs[outs.index(v)] = v = self.values[-1]
                entries = self.spec(1, v.varying)
            if self.random.random() < 0.04:
                entries = [[] for _ in entries]  # does not say what varies
            out_specs.append(self.spec_text(entries))
        body = "\n    ".join(self.lines)
        seen = ", ".join(v.name for v in self.values)
        results = ", ".join(v.name for v in outs)
        mesh = f"{tuple(self.sizes.values())}, {tuple(self.axes)}"
        source = f"""\
mesh = jax.make_mesh({mesh}, axis_types=(jax.sharding.AxisType.Auto,) * {len(self.axes)})
def f({", ".join(inputs)}):
    {body}
    see({seen})
    return {results},
f = jax.shard_map(f, mesh=mesh, in_specs=({", ".join(specs)},), out_specs=({", ".join(out_specs)},),
                  check_vma={self.checked})
"""
        return source + self.call(around if call is None else call, inputs, shapes)

    @staticmethod
    def call(around, inputs, shapes):
        given = ", ".join(f"array({i}, {shape})" for i, shape in enumerate(shapes))
        total = "lambda *a: sum(jnp.sum(r * r) for r in f(*a))"
        every = tuple(range(len(inputs)))
        lines = {
            "": f"result = f({given})",
            "jit": f"result = jax.jit(f)({given})",
            "grad": f"result = jax.grad({total}, {every})({given})",
            "jit grad": f"result = jax.jit(jax.grad({total}, {every}))({given})",
            "remat grad": f"result = jax.grad(jax.checkpoint({total}), {every})({given})",
            "vmap": f"result = jax.vmap(f)(*(jnp.stack([a, a + 1]) for a in ({given},)))",
            "jvp": f"result = jax.jvp(f, ({given},), ({given},))",
            "linearize": f"result = jax.linearize(f, {given})[1]({given})",
            "scan": "result = lax.scan(lambda c, t: (c + 1.0, f(*(a * t for a in "
            f"({given},)))), 0.0, jnp.arange(1.0, 3.0))",
        }
        return lines[around]


def answer(package, source):
    """The outcome of the program: values, types, or the class of its error."""
    import numpy as np

    jax = package
    types = []

    def see(*values):
        types.extend(str(jax.typeof(v)) for v in values)

    def array(i, shape):
        rng = np.random.default_rng(i)
        return jax.numpy.asarray(rng.normal(size=shape), "float32")

    scope = {
        "jax": jax,
        "jnp": jax.numpy,
        "lax": jax.lax,
        "P": jax.sharding.PartitionSpec,
        "see": see,
        "array": array,
    }
    try:
        exec(source, scope)
        leaves = [np.asarray(x, "float64") for x in jax.tree.leaves(scope["result"])]
    except Exception as error:
        return {"error": type(error).__name__, "text": str(error)[:300]}
    return {"value": [[x.shape, x.ravel().tolist()] for x in leaves], "types": types}


def serve(name):
    """Answers, one line each, for the sources on the input."""
    os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
    package = __import__(name)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(package, json.loads(line))), file=out, flush=True)


# Programs that compute here on purpose although JAX raises. They are sums over axes of which some
# vary and some do not, and blocks without elements, which XLA does not lower or put together.
COMPUTES = (
    "can only accept axis_name which corresponds to one of",
    "Cannot lower jaxpr with verifier errors",
    "GlobalToLocalShape",
    "could not broadcast input array from shape",
)


def difference(got, want):
    """The difference, or None."""
    import numpy as np

    if "error" in want:
        if "error" not in got:
            if any(text in want["text"] for text in COMPUTES):
                return None
            return f"computes where JAX raises {want['error']}: {want['text']}"
        if got["error"] != want["error"]:
            return f"{got['error']}: {got['text']}\n where JAX: {want['error']}: {want['text']}"
        return None
    if "error" in got:
        return f"raises {got['error']}: {got['text']}"
    if got["types"] != want["types"]:
        pairs = zip(got["types"], want["types"])
        return f"types {[(a, b) for a, b in pairs if a != b][:3]} (JAX's second)"
    for (shape, a), (shape2, b) in zip(got["value"], want["value"], strict=True):
        if shape != shape2:
            return f"shape {shape}, in JAX {shape2}"
        a, b = np.array(a), np.array(b)
        scale = max(1.0, float(np.max(np.abs(b[np.isfinite(b)]), initial=0.0)))
        if not np.allclose(a, b, rtol=2e-3, atol=2e-4 * scale, equal_nan=True):
            return f"values {a[:6]}, in JAX {b[:6]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jax", help="an interpreter in which JAX is installed")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)

    def worker(python, name):
        command = [python, os.path.abspath(__file__), "--serve", name]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )

    both = [worker(sys.executable, "shardax"), worker(options.jax, "jax")]
    found = raised = 0
    for seed in range(options.start, options.start + options.count):
        source = Writer(seed).program()
        for process in both:
            process.stdin.write(json.dumps(source) + "\n")
            process.stdin.flush()
        got, want = (json.loads(process.stdout.readline()) for process in both)
        raised += "error" in want
        if wrong := difference(got, want):
            found += 1
            print(f"--- seed {seed}\n{source}\n    {wrong}", flush=True)
    print(f"{options.count} programs, {raised} of which JAX refuses, {found} differ")
    for process in both:
        process.stdin.close()
        process.wait()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
