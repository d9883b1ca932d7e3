"""shardax/_transform/export/symbolic_programs.py - programs of arrays with symbolic sizes.

Programs know numbers only. So the function is staged for many values of its dimension variables,
and the programs are compared. They may differ in numbers alone, and each number must be the value
of one expression of the variables. Such a program with its expressions stands for all of them. More
values are tried than such an expression has coefficients. A function that does something else for
some sizes is refused.
"""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np

from shardax import tree_util
from shardax._base.symbolic_dims import (
    SymbolicDim,
    is_symbolic_dim,
    value_of,
)
from shardax._base.symbolic_shapes import SymbolicScope, concrete, parsed
from shardax._core import api as _core

# Values that variables are given: some are prime, some have many divisors, some are large.
_VALUES = (
    *(7, 1009, 12, 5, 11, 2048, 24, 13, 17, 36, 19, 40, 23, 48, 29, 60, 31, 37, 72, 41, 43, 96, 47),
    *(120, 53, 64, 6, 8, 10, 4, 3, 2, 1),
)
MORE = 4  # programs beyond those that determine the expressions


class SymbolicAval:
    """The type of an array some of whose sizes are symbolic."""

    def __init__(self, shape, dtype, weak_type=False):
        self.shape, self.dtype, self.weak_type = tuple(shape), dtype, weak_type

    ndim = property(lambda self: len(self.shape))

    def at(self, env):
        """The ShapedArray for these values of variables."""
        return _core.ShapedArray(concrete(self.shape, env), self.dtype, self.weak_type)

    def str_short(self):
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"

    def __repr__(self):
        return f"ShapedArray({self.str_short()}{', weak_type=True' if self.weak_type else ''})"

    def __eq__(self, other):
        return (self.shape, self.dtype) == (
            tuple(getattr(other, "shape", ())),
            getattr(other, "dtype", None),
        )

    def __hash__(self):
        return hash((self.shape, str(self.dtype)))


def scope_of(name, arguments):
    """The scope of the symbolic sizes in (args, kwargs).

    Raises:
      ValueError: where there are several, or constraints are about variables of no size.
    """
    found, first, known = None, "", set()
    for path, leaf in tree_util.tree_flatten_with_path(arguments)[0]:
        where = ("args", "kwargs")[path[0].idx] + tree_util.keystr(tuple(path[1:]))
        for size in getattr(leaf, "shape", ()):
            if not is_symbolic_dim(size):
                continue
            known |= size.variables()
            if found is None:
                found, first = size.scope, where
            elif size.scope is not found:
                raise ValueError(
                    f"Invalid mixing of symbolic scopes when exporting {name}.\n"
                    f"Expected current (from {first}) scope {found.described()}"
                    f"and found for '{size}' ({where}) scope {size.scope.described()}"
                    "Make all symbolic shapes with one scope."
                )
    for text, _, difference in found.constraints:
        for variable in sorted(difference.variables() - known):
            raise ValueError(
                f"Encountered dimension variable '{variable}' in the constraint {text}, which is "
                f"no variable of the shapes of {name}'s arguments."
            )
    return found


def environments(scope, variables, shapes):
    """Values of the variables, one dict after the other, that constraints and sizes allow."""
    count = len(variables)
    for i in itertools.count():
        if i > 4000:
            return
        values = [
            _VALUES[(i * (2 * j + 1) + 5 * j + i // len(_VALUES)) % len(_VALUES)]
            for j in range(count)
        ]
        env = dict(zip(variables, values))
        for _, sign, d in scope.constraints:  # a == size
            (lone,) = [m for m in d.terms if len(m) == 1 and m[0][1] == 1 and d.terms[m] == 1][
                :1
            ] or [None]
            if sign == "==" and lone and isinstance(lone[0][0], str):
                name = lone[0][0]
                env[name] = env.get(name, 0) - d.evaluate(env)
        if min(env.values()) < 1 or not scope.holds(env):
            continue
        if all(value_of(n, env) >= 0 for n in itertools.chain(*shapes)):
            yield env


class Columns:
    """Monomials of the variables, and the other parts of sizes of the function's arguments."""

    def __init__(self, scope, variables, shapes):
        one = SymbolicDim({(): 1}, scope)
        names = [SymbolicDim({((v, 1),): 1}, scope) for v in variables]
        sizes = [
            one,
            *names,
            *(a * b for a, b in itertools.combinations_with_replacement(names, 2)),
        ]
        for size in itertools.chain(*shapes):
            for monomial in size.terms if is_symbolic_dim(size) else ():
                known = SymbolicDim({monomial: 1}, scope)
                if monomial and all(str(known) != str(s) for s in sizes):
                    sizes.append(known)
        self.sizes, self.scope, self.names = sizes, scope, names

    def fit(self, envs, numbers):
        """The size that has these values, or None."""
        table = [[Fraction(value_of(s, env)) for s in self.sizes] for env in envs]
        found = _solve(table, [Fraction(n) for n in numbers])
        if found is None:
            return self._stepped(envs, numbers)
        common = math.lcm(*(c.denominator for c in found))
        total = 0
        for c, size in zip(found, self.sizes):
            total = total + int(c * common) * size
        return total // common

    def _stepped(self, envs, numbers):
        """One of the form c * floordiv(a + r, q) + d."""
        for name, q in itertools.product(self.names, range(2, 65)):
            for r in range(q):
                steps = [(value_of(name, env) + r) // q for env in envs]
                found = _solve(
                    [[Fraction(1), Fraction(s)] for s in steps], list(map(Fraction, numbers))
                )
                if found and all(c.denominator == 1 for c in found):
                    return int(found[1]) * ((name + r) // q) + int(found[0])
        return None


def _solve(table, numbers):
    """Coefficients of the columns that give the numbers exactly, or None; of as few columns as
    come first."""
    rows = [[*row, y] for row, y in zip(table, numbers)]
    width = len(table[0])
    pivots, top = [], 0
    for column in range(width):
        best = next((r for r in range(top, len(rows)) if rows[r][column]), None)
        if best is None:
            continue
        rows[top], rows[best] = rows[best], rows[top]
        scale = rows[top][column]
        rows[top] = [x / scale for x in rows[top]]
        for r in range(len(rows)):
            if r != top and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[top])]
        pivots.append(column)
        top += 1
    if any(row[-1] for row in rows[top:]):
        return None
    out = [Fraction(0)] * width
    for r, column in enumerate(pivots):
        out[column] = rows[r][-1]
    return out


@dataclasses.dataclass
class Family:
    """Programs for all values of dimension variables: one as bytes, and which of its numbers are
    which sizes.

    Attributes:
      template: the bytes of one of them.
      integers: [(place, size)], of 8 bytes each.
      elements: [(place, dtype, size)], of constants.
      variables: the names.
    """

    template: bytes
    integers: list
    elements: list
    variables: tuple
    scope: SymbolicScope

    def __post_init__(self):
        self._made = {}

    def at(self, env):
        """The program for these values of the variables."""
        key = tuple(env[v] for v in self.variables)
        if key not in self._made:
            data = bytearray(self.template)
            for place, size in self.integers:
                data[place : place + 8] = value_of(size, env).to_bytes(8, "little", signed=True)
            for place, dtype, size in self.elements:
                raw = np.array(value_of(size, env), dtype).tobytes()
                data[place : place + len(raw)] = raw
            self._made[key] = _core.deserialize(bytes(data))
        return self._made[key]

    def written(self):
        """The JSON beside the template."""
        return {
            "variables": self.variables,
            "constraints": self.scope.constraints_str,
            "integers": [(place, str(size)) for place, size in self.integers],
            "elements": [(place, dtype, str(size)) for place, dtype, size in self.elements],
        }

    @classmethod
    def read(cls, template, data):
        scope = SymbolicScope(data["constraints"])
        return cls(
            template,
            [(place, parsed(size, scope)) for place, size in data["integers"]],
            [(place, dtype, parsed(size, scope)) for place, dtype, size in data["elements"]],
            tuple(data["variables"]),
            scope,
        )


def _refuse(name, why):
    raise NotImplementedError(
        f"export: {name} cannot be exported for symbolic dimensions: {why}. Programs of it for "
        "many values of the dimension variables were compared; they must differ in sizes alone, "
        "each a polynomial of the variables. Export it for sizes that are known."
    )


def family_of(name, shapes, scope, stage):
    """The Family of `stage(env)`, programs for values of the variables in `shapes`, and the types
    of its results.

    Raises:
      NotImplementedError: where they are not one program with other sizes.
    """
    variables = tuple(
        sorted(set().union(*(n.variables() for s in shapes for n in s if is_symbolic_dim(n))))
    )
    columns = Columns(scope, variables, shapes)
    wanted = len(columns.sizes) + MORE
    envs = list(itertools.islice(environments(scope, variables, shapes), wanted))
    if not envs:
        raise ValueError(
            f"export: no values were found for the dimension variables {', '.join(variables)}. "
            f"{scope.described()}"
        )
    marked, outs = [], []
    for env in envs:
        program = _core.inline_calls(stage(env))
        marked.append(_core.serialize_marked(program))
        outs.append(program.out_avals)
    first = marked[0]
    for env, other in zip(envs, marked):
        if (len(other[0]), other[1:]) != (len(first[0]), first[1:]):
            sizes = [", ".join(f"{v}={n}" for v, n in e.items()) for e in (envs[0], env)]
            _refuse(name, f"it does not do the same for {sizes[0]} as for {sizes[1]}")
    fit = Fit(name, columns, envs)
    arrays = [np.frombuffer(data, np.uint8) for data, _, _ in marked]
    integers = []
    for place in first[1]:
        numbers = [int(a[place : place + 8].view("<i8")[0]) for a in arrays]
        if len(set(numbers)) > 1:
            integers.append((place, fit(numbers, "a number")))
    elements = []
    for place, count, dtype in first[2]:
        size = np.dtype(dtype).itemsize if dtype[0] != "k" else 0
        whole = {a[place : place + count * size].tobytes() for a in arrays}
        if len(whole) == 1:
            continue
        for i in range(place, place + count * size, size):
            numbers = [a[i : i + size].view(np.dtype(dtype))[0] for a in arrays]
            if len(set(numbers)) == 1:
                continue
            if any(n != int(n) for n in numbers):
                _refuse(
                    name, f"a constant is {numbers[0]} in one program and {numbers[-1]} in another"
                )
            elements.append((i, dtype, fit([int(n) for n in numbers], "a constant")))
    _check_the_rest(name, arrays, integers, elements)
    found = Family(first[0], integers, elements, variables, scope)
    _check_small_sizes(name, found, first, stage)
    types = []
    for avals in zip(*outs):
        sizes = zip(*(a.shape for a in avals))
        shape = [n[0] if len(set(n)) == 1 else fit(list(n), "the size of a result") for n in sizes]
        types.append(SymbolicAval(shape, avals[0].dtype, avals[0].weak_type))
    return found, tuple(types)


def _check_small_sizes(name, family, first, stage):
    """Refuses a function that does something else where all sizes are small. Sizes themselves may
    differ there, for example strides of an array of one element."""
    env = dict.fromkeys(family.variables, 3)
    if not family.scope.holds(env):
        return
    try:
        program = stage(env)
    except Exception:
        return  # too small for the function
    data, *places = _core.serialize_marked(_core.inline_calls(program))
    if (len(data), places) != (len(first[0]), list(first[1:])):
        _refuse(name, "it does something else where its sizes are 3")
    for place, dtype, size in family.elements:
        wanted = np.array(value_of(size, env), dtype).tobytes()
        if data[place : place + len(wanted)] != wanted:
            _refuse(name, "a constant is not what it should be where sizes are 3")


class Fit:
    """The size that has some values; where there is none, `refuse(name, why)` raises."""

    def __init__(self, name, columns, envs, refuse=_refuse):
        self.name, self.columns, self.envs, self.refuse = name, columns, envs, refuse
        self.known = {}

    def __call__(self, numbers, what):
        key = tuple(numbers)
        if key not in self.known:
            size = self.columns.fit(self.envs, numbers)
            if size is None:
                self.refuse(
                    self.name, f"{what} is {numbers[0]}, {numbers[1]} ..., which no size is"
                )
            self.known[key] = size
        return self.known[key]


def _check_the_rest(name, arrays, integers, elements):
    """Refuses programs that differ elsewhere, in names say."""
    same = np.ones(len(arrays[0]), bool)
    for other in arrays[1:]:
        same &= arrays[0] == other
    for place, _ in integers:
        same[place : place + 8] = True
    for place, dtype, _ in elements:
        same[place : place + np.dtype(dtype).itemsize] = True
    if not same.all():
        _refuse(name, "its programs differ in more than numbers")
