"""shardax/_base/symbolic_dims.py - sizes of dimensions that are expressions of variables.

A size is a polynomial of atoms with integer coefficients: variables, which are at least 1, and
floordiv, mod, max and min of other sizes. Comparisons are decided by bounds.
"""

import operator

from shardax.errors import InconclusiveDimensionOperation

INFINITY = float("inf")


def is_symbolic_dim(p):
    """True if a size is an expression of dimension variables.

    Example:
      >>> from shardax import export
      >>> [export.is_symbolic_dim(n) for n in (*export.symbolic_shape("a, 2*b"), 3)]
      [True, True, False]
    """
    return isinstance(p, SymbolicDim)


def has_symbolic_sizes(x):
    """True if a size of something with a shape is symbolic."""
    return any(isinstance(n, SymbolicDim) for n in getattr(x, "shape", None) or ())


def _floor(x, y):
    return x // y


def _remainder(x, y):
    return x % y


_FUNCTIONS = {"floordiv": _floor, "mod": _remainder, "max": max, "min": min}


class SymbolicDim:
    """A size that depends on variables.

    Attributes:
      terms: {monomial: coefficient}; a monomial is a tuple of (atom, power), sorted, and an atom
        a variable's name or (function, size, size).
      scope: the SymbolicScope that its variables belong to.
    """

    __slots__ = ("scope", "terms")

    def __init__(self, terms, scope):
        self.terms = {m: c for m, c in terms.items() if c}
        self.scope = scope

    # ---- arithmetic --------------------------------------------------------------------------

    def _terms_of(self, other):
        """The terms of another operand, or None."""
        if isinstance(other, SymbolicDim):
            self.scope.check_same(other.scope)
            return other.terms
        try:
            return {(): operator.index(other)}
        except TypeError:
            return None

    def _made(self, terms):
        return simplified(SymbolicDim(terms, self.scope))

    def __add__(self, other):
        terms = self._terms_of(other)
        if terms is None:
            return NotImplemented
        out = dict(self.terms)
        for m, c in terms.items():
            out[m] = out.get(m, 0) + c
        return self._made(out)

    __radd__ = __add__

    def __neg__(self):
        return self._made({m: -c for m, c in self.terms.items()})

    def __sub__(self, other):
        terms = self._terms_of(other)
        return NotImplemented if terms is None else self + (-1 * SymbolicDim(terms, self.scope))

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        terms = self._terms_of(other)
        if terms is None:
            return NotImplemented
        out = {}
        for m, c in self.terms.items():
            for n, d in terms.items():
                powers = dict(m)
                for atom, power in n:
                    powers[atom] = powers.get(atom, 0) + power
                key = tuple(sorted(powers.items(), key=lambda item: _text_of_atom(item[0])))
                out[key] = out.get(key, 0) + c * d
        return self._made(out)

    __rmul__ = __mul__

    def __pow__(self, power, modulo=None):
        out = 1
        for _ in range(operator.index(power)):
            out = self * out
        return out

    def _apply(self, function, x, y):
        terms = self._terms_of(y if x is self else x)
        if terms is None:
            return NotImplemented
        return simplified(SymbolicDim({(((function, x, y), 1),): 1}, self.scope))

    def __floordiv__(self, other):
        if not isinstance(other, SymbolicDim) and self._terms_of(other) is not None:
            divisor = operator.index(other)
            if divisor == 0:
                raise ZeroDivisionError("integer division or modulo by zero")
            if all(c % divisor == 0 for c in self.terms.values()):
                return self._made({m: c // divisor for m, c in self.terms.items()})
        if isinstance(other, SymbolicDim) and self == other:
            return 1
        return self._apply("floordiv", self, other)

    def __rfloordiv__(self, other):
        return self._apply("floordiv", other, self)

    def __mod__(self, other):
        if not isinstance(other, SymbolicDim) and self._terms_of(other) is not None:
            if all(c % operator.index(other) == 0 for c in self.terms.values()):
                return 0
        if isinstance(other, SymbolicDim) and self == other:
            return 0
        return self._apply("mod", self, other)

    def __rmod__(self, other):
        return self._apply("mod", other, self)

    def __divmod__(self, other):
        return self // other, self % other

    def __index__(self):
        raise InconclusiveDimensionOperation(
            f"Symbolic dimension '{self}' used in a context that requires a constant."
        )

    __int__ = __index__

    # ---- comparison --------------------------------------------------------------------------

    def _difference(self, other):
        """self - other as a size, or None where the other is none."""
        terms = self._terms_of(other)
        return None if terms is None else self - SymbolicDim(terms, self.scope)

    def __eq__(self, other):
        if isinstance(other, SymbolicDim) and self.scope is not other.scope:
            return False
        difference = self._difference(other)
        return not isinstance(difference, SymbolicDim) and difference == 0

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(str(self))

    def __ge__(self, other):
        if self._terms_of(other) is None:
            return NotImplemented
        return self._decided(other, ">=", self._difference(other))

    def __gt__(self, other):
        if self._terms_of(other) is None:
            return NotImplemented
        return self._decided(other, ">", self._difference(other) - 1)

    def __le__(self, other):
        if self._terms_of(other) is None:
            return NotImplemented
        return self._decided(other, "<=", -self._difference(other))

    def __lt__(self, other):
        if self._terms_of(other) is None:
            return NotImplemented
        return self._decided(other, "<", -self._difference(other) - 1)

    def _decided(self, other, sign, difference):
        """True if the difference is at least 0."""
        low, high = self.scope.bounds(difference)
        if low >= 0:
            return True
        if high < 0:
            return False
        raise InconclusiveDimensionOperation(
            f"Symbolic dimension comparison '{self}' {sign} '{other}' is inconclusive.\n"
            f"{self.scope.described()}Give the variables constraints, or compare sizes that are "
            "known."
        )

    # ---- text and value ----------------------------------------------------------------------

    def __str__(self):
        text = ""
        for m, c in sorted(self.terms.items(), key=_order, reverse=True):
            size = "*".join(_text_of_power(*factor) for factor in m)
            if not m or abs(c) != 1:
                size = f"{abs(c)}*{size}" if m else str(abs(c))
            sign = ("- " if c < 0 else "") if not text else (" - " if c < 0 else " + ")
            text += sign + size
        return text

    __repr__ = __str__

    def evaluate(self, env):
        """The number, given one for each variable."""
        return sum(
            c * _product(_value_of_atom(atom, env) ** power for atom, power in m)
            for m, c in self.terms.items()
        )

    def variables(self):
        """The names of the variables in it."""
        found = set()
        for m in self.terms:
            for atom, _ in m:
                if isinstance(atom, str):
                    found.add(atom)
                else:
                    for size in atom[1:]:
                        found |= size.variables() if is_symbolic_dim(size) else set()
        return found


def _product(values):
    out = 1
    for value in values:
        out *= value
    return out


def _text_of_atom(atom):
    return atom if isinstance(atom, str) else f"{atom[0]}({atom[1]}, {atom[2]})"


def _text_of_power(atom, power):
    return _text_of_atom(atom) + (f"^{power}" if power > 1 else "")


def _order(term):
    monomial, _ = term
    return sum(p for _, p in monomial), [(_text_of_atom(a), p) for a, p in monomial]


def _value_of_atom(atom, env):
    if isinstance(atom, str):
        return env[atom]
    function, x, y = atom
    return _FUNCTIONS[function](value_of(x, env), value_of(y, env))


def value_of(size, env):
    """The number that a size is, given one for each variable."""
    return size.evaluate(env) if is_symbolic_dim(size) else size


def simplified(size):
    """An int where it is constant."""
    if not size.terms:
        return 0
    if set(size.terms) == {()}:
        return size.terms[()]
    return size


def extreme(function, x, y):
    """max or min of two sizes: one of them where that can be told."""
    if not is_symbolic_dim(x) and not is_symbolic_dim(y):
        return _FUNCTIONS[function](x, y)
    try:
        greater = x >= y
    except InconclusiveDimensionOperation:
        scope = (x if is_symbolic_dim(x) else y).scope
        return SymbolicDim({(((function, x, y), 1),): 1}, scope)
    return x if greater == (function == "max") else y
