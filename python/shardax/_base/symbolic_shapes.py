"""shardax/_base/symbolic_shapes.py - shapes with symbolic sizes, out of their texts; scopes."""

import itertools
import re

from shardax import tree_util
from shardax._base.symbolic_dims import (
    INFINITY,
    SymbolicDim,
    extreme,
    is_symbolic_dim,
    value_of,
)
from shardax._base.tracebacks import user_line

_TOKEN = re.compile(r"\s*(\d+|[A-Za-z_]\w*|\.\.\.|>=|<=|==|[-+*/^(),_])")


class SymbolicScope:
    """The home of dimension variables, and their constraints.

    Args:
      constraints_str: texts such as "a >= 8" and "mod(b, 2) == 0".

    Raises:
      ValueError: for texts that are no constraints.

    Example:
      >>> from shardax import export
      >>> scope = export.SymbolicScope(["a >= 8"])
      >>> (a,) = export.symbolic_shape("a", scope=scope)
      >>> a >= 8
      True
    """

    def __init__(self, constraints_str=()):
        if isinstance(constraints_str, str):
            raise ValueError(
                f"The symbolic constraints should be a sequence of strings. Got {constraints_str!r}"
            )
        self._created = user_line()
        self.constraints_str = tuple(constraints_str)
        self.constraints = []  # (text, sign, difference), which is >= 0 or == 0
        for text in self.constraints_str:
            self.constraints.append(self._constraint(text))

    def _constraint(self, text):
        parser = _Parser(text, self, "constraint")
        left = parser.expression()
        sign = parser.take(">=", "<=", "==")
        right = parser.expression()
        parser.end()
        difference = right - left if sign == "<=" else left - right
        if not is_symbolic_dim(difference):
            raise ValueError(f"Unsatisfiable or constant constraint: {text}")
        return text, sign, difference

    def holds(self, env):
        """True if the constraints hold for these numbers."""
        return all(
            d.evaluate(env) == 0 if sign == "==" else d.evaluate(env) >= 0
            for _, sign, d in self.constraints
            if d.variables() <= env.keys()
        )

    def described(self):
        text = f"Using symbolic scope {id(self)} created at {self._created}"
        if self.constraints_str:
            text += " with constraints:\n  " + "\n  ".join(self.constraints_str)
        return text + "\n"

    def check_same(self, other):
        if other is not self:
            raise ValueError(
                "Invalid mixing of symbolic scopes. "
                f"Expected current scope: {self.described()}and found another: "
                f"{other.described()}Make all symbolic shapes with one scope."
            )

    # ---- bounds ------------------------------------------------------------------------------

    def bounds(self, size):
        """Numbers between which a size lies."""
        if not is_symbolic_dim(size):
            return size, size
        low, high = self._interval(size)
        for _, sign, known in self.constraints:  # known >= 0
            rest = self._interval(size - known)
            low = max(low, rest[0])
            if sign == "==":
                high = min(high, rest[1])
            high = min(high, self._interval(size + known)[1])
        return low, high

    def _interval(self, size):
        if not is_symbolic_dim(size):
            return size, size
        low = high = 0
        for monomial, c in size.terms.items():
            a, b = 1, 1
            for atom, power in monomial:
                x, y = self._atom(atom)
                corners = [_times(u, v) for u, v in itertools.product((a, b), (x**power, y**power))]
                a, b = min(corners), max(corners)
            ends = _times(c, a), _times(c, b)
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _atom(self, atom):
        if isinstance(atom, str):
            low, high = 1, INFINITY
            for _, sign, d in self.constraints:
                rest = d.terms.get((), 0)
                c = d.terms.get(((atom, 1),), 0)
                if c and set(d.terms) <= {(), ((atom, 1),)}:  # c a + rest >= 0
                    if c > 0 or sign == "==":
                        low = max(low, -(rest // c) if c > 0 else -rest // c)
                    if c < 0 or sign == "==":
                        high = min(high, rest // -c if c < 0 else -rest // c)
            return low, high
        function, x, y = atom
        (a, b), (c, d) = self._interval(x), self._interval(y)
        if function == "max":
            return max(a, c), max(b, d)
        if function == "min":
            return min(a, c), min(b, d)
        if c < 1:
            return -INFINITY, INFINITY
        if function == "mod":
            return 0, d - 1
        return _over(a, d if a >= 0 else c), _over(b, c if b >= 0 else d)


def _times(x, y):
    return 0 if x == 0 or y == 0 else x * y


def _over(x, y):
    if abs(x) == INFINITY:
        return x
    return (0 if x >= 0 else -1) if y == INFINITY else x // y


class _Parser:
    """Reads sizes: sums of products of numbers, variables and functions."""

    def __init__(self, text, scope, what):
        self.text, self.scope, self.what = text, scope, what
        self.tokens, at = [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            if not match:
                self.refuse(f"unexpected {text[at:].strip()[0]!r}")
            self.tokens.append(match.group(1))
            at = match.end()

    def refuse(self, why):
        raise ValueError(f"symbolic shape {self.what} {self.text!r}: {why}.")

    def peek(self):
        return self.tokens[0] if self.tokens else ""

    def take(self, *wanted):
        token = self.peek()
        if token not in wanted:
            self.refuse(f"expected {' or '.join(map(repr, wanted))}, got {token or 'the end'!r}")
        return self.tokens.pop(0)

    def end(self):
        if self.tokens:
            self.refuse(f"unexpected {self.peek()!r}")

    def expression(self):
        negative = self.peek() == "-" and self.tokens.pop(0)
        total = -self.product() if negative else self.product()
        while self.peek() in ("+", "-"):
            sign = self.tokens.pop(0)
            total = total + self.product() if sign == "+" else total - self.product()
        return total

    def product(self):
        out = self.power()
        while self.peek() == "*":
            self.tokens.pop(0)
            out = out * self.power()
        return out

    def power(self):
        out = self.atom()
        if self.peek() == "^":
            self.tokens.pop(0)
            out = out ** int(self.tokens.pop(0))
        return out

    def atom(self):
        token = self.tokens.pop(0) if self.tokens else ""
        if token.isdigit():
            return int(token)
        if token == "-":
            return -self.atom()
        if token == "(":
            out = self.expression()
            self.take(")")
            return out
        if not token.isidentifier() or token == "_":
            self.refuse(f"expected a size, got {token or 'the end'!r}")
        if self.peek() != "(":
            return SymbolicDim({((token, 1),): 1}, self.scope)
        if token not in ("floordiv", "mod", "max", "min"):
            self.refuse(f"there is no function {token!r}; floordiv, mod, max and min are known")
        self.take("(")
        x = self.expression()
        self.take(",")
        y = self.expression()
        self.take(")")
        if token in ("max", "min"):
            return extreme(token, x, y)
        return x // y if token == "floordiv" else x % y


def symbolic_shape(shape_spec, *, constraints=(), scope=None, like=None):
    """A shape whose sizes may be expressions of variables.

    Args:
      shape_spec: "a, 2*b + 1, 3", with or without parentheses; "_" and "..." stand for sizes of
        `like`.
      constraints: texts such as "a >= 8", for a new scope.
      scope: a SymbolicScope that the variables belong to; a new one unless given.
      like: a shape.

    Raises:
      ValueError: for other texts, both constraints and a scope, and sizes that `like` does not
        have.

    Example:
      >>> from shardax import export
      >>> export.symbolic_shape("(b, ...)", like=(4, 5, 6))
      (b, 5, 6)
    """
    if shape_spec is None:
        shape_spec = "..."
    if not isinstance(shape_spec, str):
        raise ValueError(
            f"polymorphic shape spec must be None or a string. Found {shape_spec!r} of type "
            f"{type(shape_spec)}."
        )
    if scope is None:
        scope = SymbolicScope(constraints)
    elif constraints:
        raise ValueError("Cannot specify both a `scope` and `constraints`.")
    text = shape_spec.strip()
    if text.startswith("(") and text.endswith(")") and _closes_at_the_end(text):
        text = text[1:-1]
    parser = _Parser(text, scope, "spec")
    sizes, at = [], 0
    while parser.tokens:
        token = parser.peek()
        if token in ("_", "..."):
            if like is None:
                parser.refuse(f"{token!r} needs the argument `like`")
            parser.tokens.pop(0)
            rest = len(like) - at if token == "..." else 1
            if at + rest > len(like):
                parser.refuse(f"must match the rank of {tuple(like)}")
            sizes += like[at : at + rest]
            at += rest
        else:
            sizes.append(parser.expression())
            at += 1
        if parser.tokens:
            parser.take(",")
    if like is not None and len(sizes) != len(like):
        parser.refuse(f"must match the rank of {tuple(like)}")
    return tuple(sizes)


def _closes_at_the_end(text):
    depth = 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0:
            return i == len(text) - 1
    return False


def concrete(shape, env):
    """The shape for these values of variables."""
    return tuple(value_of(n, env) for n in shape)


def parsed(text, scope):
    """The size that a text says."""
    parser = _Parser(text, scope, "size")
    out = parser.expression()
    parser.end()
    return out


def prefix_specs(specs, args):
    """A text, or None, for each leaf of `args`; `specs` is one, or a tree prefix of them."""

    def leaf(x):
        return x is None or isinstance(x, str)

    if leaf(specs):
        return [specs] * len(tree_util.tree_leaves(args))
    if isinstance(specs, list) and isinstance(args, tuple):
        specs = tuple(specs)
    return tree_util.broadcast_prefix(specs, args, is_leaf=leaf)
