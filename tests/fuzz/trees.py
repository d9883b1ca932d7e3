"""tests/fuzz/trees.py - expressions as trees: their drawing, and their reduction to smaller ones.

A node has a type (dtype, shape), a template and parts, some of which are functions with variables
of their own. `RULES` says what may stand for a value: grammar's modules fill it.
"""

from __future__ import annotations

import dataclasses
import random

FLOATS = ("float32", "float32", "float32", "float32", "float16", "bfloat16")
INTEGERS = ("int32", "int32", "int8", "uint8", "uint32", "int16")
INPUT = ("float32", (4,))
# Lengths at which kernels change: around those of vectors, tiles and blocks.
EDGES = (7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
WIDE = (5, 13, 96, *EDGES)
LONG = (1000, 4097)  # of one dimension at a time, and rarely
MOST_ELEMENTS = 1 << 14


def size_of(shape):
    n = 1
    for d in shape:
        n *= d
    return n


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
    """The names that an expression may use."""

    variables: tuple  # (name, type)
    axes: tuple = ()  # (name, size) of mapped axes
    together: bool = True  # all devices come here
    maps: bool = True  # a map over devices may be made: JAX cannot nest them
    reverse: bool = False  # the value is differentiated in reverse

    def within(self, *variables, **changes):
        return dataclasses.replace(self, variables=self.variables + variables, **changes)


# The rules for a value: of any dtype, of one kind, of the type of a program's input.
RULES = {"any": [], "f": [], "i": [], "b": [], "c": [], "input": []}


class Writer:
    """Draws trees; the same seed draws the same tree."""

    def __init__(self, seed, halves=True, wide=False, unusual=False):
        self.random = random.Random(seed)
        self.count = 0
        self.halves = halves
        self.wide = wide
        self.unusual = unusual

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

    def length(self, *shape, least=1):
        """The length of one more dimension beside those of `shape`: 0 only if `least` is 0."""
        draw = self.random.random()
        if draw < 0.2:
            return least
        if draw < 0.4:
            return max(1, least)
        if not self.wide:
            return self.pick(2, 3)
        others = size_of(shape)
        if draw < 0.45 and max(shape, default=0) < 100 and others * LONG[-1] <= 2 * MOST_ELEMENTS:
            return self.pick(*LONG)
        return self.pick(2, 3, *(n for n in WIDE if n * others <= MOST_ELEMENTS))

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
        if self.unusual and self.random.random() < 0.25:
            values = self.unusual_values(shape)
        if dtype == "bool":
            return Node(type, f"({values} > 0.0123)")
        if dtype in INTEGERS:
            return Node(type, f"jnp.floor({values} * 4.9 + 4.97).astype('{dtype}')")
        return Node(type, f"{values}.astype('{dtype}')")

    def unusual_values(self, shape):
        """NaN, infinities and the like among others; large ones only within what bounds them."""
        values = f"unusual({self.random.randrange(99)}, {shape})"
        return self.pick("{0}", "jnp.tanh({0})", "jnp.sin({0})", "({0} % 1.7)", "jnp.sign({0})",
                         "jnp.arctan({0})", "jnp.exp(-abs({0}))", "jnp.nan_to_num({0} / 1e40)",
                         "jnp.minimum({0}, 3)").replace("{0}", values)  # fmt: skip

    def value(self, type, scope, depth):
        if depth <= 0 or self.random.random() < 0.03:
            return self.leaf(type, scope)
        kind = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "c"}[type[0][0].replace("bf", "f")]
        if type[0] == "bfloat16":
            kind = "f"
        rules = RULES["any"] + RULES[kind]
        if type == INPUT:
            rules += RULES["input"] * 2
        for _ in range(12):
            node = self.random.choice(rules)(self, type, scope, depth - 1)
            if node is not None:
                return node
        return self.leaf(type, scope)

    def function(self, argument_types, type, scope, depth, **changes):
        variables = tuple((self.name(), t) for t in argument_types)
        body = self.value(type, scope.within(*variables, **changes), depth)
        return Node(type, body.template, body.parts, variables)


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
