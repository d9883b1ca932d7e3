"""shardax/_transform/export/symbolic.py - exported functions of arrays with symbolic sizes:
making, calling and reading them."""

import dataclasses
from typing import Any

from shardax import tree_util
from shardax._base.symbolic_dims import (
    SymbolicDim,
    has_symbolic_sizes,
    is_symbolic_dim,
    value_of,
)
from shardax._base.symbolic_shapes import (
    SymbolicScope,
    concrete,
    parsed,
    prefix_specs,
    symbolic_shape,
)
from shardax._core import api as _core
from shardax._transform.derivatives import vjp
from shardax._transform.export.exports import DisabledSafetyCheck, Exported, arg_names
from shardax._transform.export.nested import Unsolvable, Watched, record
from shardax._transform.export.symbolic_programs import Family, SymbolicAval, family_of, scope_of
from shardax._transform.export.trees import read
from shardax._transform.jit import jit
from shardax._transform.shape_structs import ShapeDtypeStruct
from shardax._transform.stages import Traced, dtype_name
from shardax.dtypes import canonicalize_dtype, float0
from shardax.errors import InconclusiveDimensionOperation

_SEE = "https://docs.jax.dev/en/latest/export/shape_poly.html#"


def solve(paths, avals, shapes, scope):
    """Values of the dimension variables for arguments of these shapes, in which sizes may be
    symbolic, of another scope.

    Raises:
      Unsolvable: where there are none, or constraints do not hold.
    """
    env, texts = {}, []
    pending = [
        (f"{path}.shape[{d}]", n, size)
        for path, aval, shape in zip(paths, avals, shapes)
        for d, (size, n) in enumerate(zip(aval.shape, shape))
        if is_symbolic_dim(size)
    ]

    def refuse(why, anchor="shape-assertion-errors", rest=None):
        specs = [
            f"{path}.shape = ({', '.join(map(str, aval.shape))})"
            for path, aval in zip(paths, avals)
            if any(map(is_symbolic_dim, aval.shape))
        ]
        rest = rest or f"Obtained dimension variables: {''.join(texts)}."
        raise Unsolvable(
            f"{why} Using the following polymorphic shapes specifications: {', '.join(specs)}."
            f" {rest} Please see {_SEE}{anchor} for more details."
        )

    mismatch = "Input shapes do not match the polymorphic shapes specification."
    progress = True
    while progress:
        progress = False
        for item in list(pending):
            where, n, size = item
            open_ = sorted(size.variables() - env.keys())
            if not open_:
                pending.remove(item)
                if not value_of(size, env) == n:
                    refuse(
                        f"{mismatch} Found inconsistency between dimension size {where} (= {n}) "
                        f"and the specification '{size}' (= {value_of(size, env)})."
                    )
                continue
            coefficient = size.terms.get(((open_[0], 1),), 0)
            if len(open_) > 1 or not coefficient or not _linear(size, open_[0]):
                continue
            rest = n - size.evaluate({**env, open_[0]: 0})
            if not (left := rest % coefficient) == 0:
                refuse(
                    f"{mismatch} Division had remainder {left} when computing the value of "
                    f"'{open_[0]}'."
                )
            env[open_[0]] = rest // coefficient
            texts.append(
                f"'{open_[0]}' = {env[open_[0]]} from specification '{size}' for dimension {where} "
                f"(= {n}), "
            )
            pending.remove(item)
            if not _is_at_least(1, env[open_[0]]):
                refuse(f"{mismatch} Expected value >= 1 for dimension variable '{open_[0]}'.")
            progress = True
    if pending:
        rest = sorted(set().union(*(size.variables() for *_, size in pending)) - env.keys())
        unprocessed = ", ".join(
            f"'{size}' for dimension size {where}" for where, _, size in pending
        )
        refuse(
            f"Cannot solve for values of dimension variables {set(rest)!r}. We can only solve "
            "linear uni-variate constraints.",
            "dimension-variables-must-be-solvable-from-the-input-shapes",
            f"Unprocessed specifications: {unprocessed}.",
        )
    for text, sign, difference in scope.constraints:
        if not difference.variables() <= env.keys():
            continue
        value = difference.evaluate(env)
        if not (value == 0 if sign == "==" else _is_at_least(0, value)):
            relation = "equal to" if sign == "==" else "greater or equal to"
            refuse(
                f"Input shapes do not match the symbolic shape constraint {text}. Expected "
                f"'{difference}' to be {relation} 0, but found {value}."
            )
    return env


def _is_at_least(least, size):
    """True if a size is certainly at least `least`."""
    try:
        return bool(size >= least)
    except InconclusiveDimensionOperation:
        return False


def _linear(size, variable):
    """True if a size is c * variable plus a term without it."""
    for monomial in size.terms:
        for atom, power in monomial:
            if atom == variable and (power > 1 or len(monomial) > 1):
                return False
            if (
                not isinstance(atom, str)
                and variable in SymbolicDim({((atom, 1),): 1}, size.scope).variables()
            ):
                return False
    return True


@dataclasses.dataclass(frozen=True, repr=False)
class SymbolicExported(Exported):
    """An Exported for arrays of many sizes.

    Attributes:
      in_avals, out_avals: as an Exported's; of some, sizes are symbolic.
      uses_global_constants: True.
    """

    _family: Any = None
    uses_global_constants: bool = True

    def _shown_program(self):
        return _core.deserialize(self._family.template)

    @property
    def mlir_module_serialized(self):
        """The program for some values of the dimension variables, as bytes."""
        return self._family.template

    def _about_symbols(self):
        return {
            **self._family.written(),
            "in_avals": _written(self.in_avals),
            "out_avals": _written(self.out_avals),
        }

    def _program_for(self, leaves, paths):
        given = [_core.typeof(leaf) for leaf in leaves]
        self._check_types(leaves, [_like(a, g) for a, g in zip(self.in_avals, given)], paths)
        named = paths()

        def solved(shapes):
            return solve(named, self.in_avals, shapes, self._family.scope)

        shapes = [g.shape for g in given]
        record(solved, shapes)
        return self._family.at(solved(shapes))


def _like(aval, given):
    """The type that is wanted, where symbolic sizes may be those that are given."""
    if len(aval.shape) != len(given.shape):
        return aval
    shape = [g if is_symbolic_dim(n) else n for n, g in zip(aval.shape, given.shape)]
    return _core.ShapedArray(shape, aval.dtype)


def _written(avals):
    return [([str(n) for n in a.shape], dtype_name(a), bool(a.weak_type)) for a in avals]


def _read(avals, scope):
    def dtype_of(name):
        return float0 if name == "float0" else _core.ShapedArray((), name).dtype

    return tuple(
        SymbolicAval([parsed(n, scope) for n in shape], dtype_of(dtype), weak)
        for shape, dtype, weak in avals
    )


def read_symbolic(header, template, following):
    """The function that a file describes."""
    about = header["symbols"]
    _core.deserialize(template)  # refuses bytes that are no program
    family = Family.read(template, about)
    return SymbolicExported(
        fun_name=header["fun_name"],
        in_tree=read(header["in_tree"]),
        in_avals=_read(about["in_avals"], family.scope),
        out_tree=read(header["out_tree"]),
        out_avals=_read(about["out_avals"], family.scope),
        platforms=tuple(header["platforms"]),
        disabled_safety_checks=tuple(map(DisabledSafetyCheck, header["disabled_safety_checks"])),
        _program=None,
        _arg_names=tuple(header["arg_names"]),
        _get_vjp=None if following is None else lambda _: following,
        _family=family,
    )


def export_symbolic(fun_jit, args, kwargs, platforms, checks, flat_fun):
    """The Exported for arguments some of which are ShapeDtypeStructs with symbolic sizes;
    flat_fun(traced, flat) gives the flat results for a list of flat arguments."""
    leaves, tree = tree_util.tree_flatten((args, kwargs))
    shapes = [leaf.shape for leaf in leaves if has_symbolic_sizes(leaf)]
    name = getattr(fun_jit, "__name__", "the function")
    scope = scope_of(name, (args, kwargs))
    traces = []

    def traced(env):
        structs = [
            ShapeDtypeStruct(concrete(leaf.shape, env), leaf.dtype, weak_type=leaf.weak_type)
            if has_symbolic_sizes(leaf)
            else leaf
            for leaf in leaves
        ]
        traces.append(Traced(fun_jit, *tree.unflatten(structs)))
        return traces[-1].jaxpr

    watched = Watched(traced, name, shapes, scope)
    try:
        family, out_avals = family_of(name, shapes, scope, watched)
    except Unsolvable:
        watched.explain()
        raise
    watched.check()
    call = traces[0]._call
    dynamic = [a for i, a in enumerate(args) if i not in call.static_positions]
    named = {k: v for k, v in kwargs.items() if k not in call.static_names}
    in_avals = tuple(
        SymbolicAval(leaf.shape, known.dtype, known.weak_type)
        if has_symbolic_sizes(leaf)
        else known
        for leaf, known in zip(tree_util.tree_leaves((dynamic, named)), call.in_types)
    )
    return SymbolicExported(
        fun_name=traces[0].fun_name,
        in_tree=traces[0].in_tree,
        in_avals=in_avals,
        out_tree=traces[0].out_tree,
        out_avals=out_avals,
        platforms=platforms,
        disabled_safety_checks=checks,
        _program=None,
        _arg_names=arg_names(traces[0]),
        _get_vjp=lambda exported: _exported_vjp(exported, traces[0], flat_fun),
        _family=family,
    )


def _exported_vjp(exported, traced, flat_fun):
    count = len(exported.in_avals)

    def pulled(flat):
        _, pull = vjp(lambda *primals: list(flat_fun(traced, primals)), *flat[:count])
        return pull(list(flat[count:]))

    def fun_vjp_jax(*args_and_out_cts_flat_jax):
        return pulled(args_and_out_cts_flat_jax)

    def struct(aval, dtype):
        return ShapeDtypeStruct(aval.shape, dtype, weak_type=aval.weak_type)

    cotangents = [
        struct(a, _core.ShapedArray((), a.dtype).to_tangent_aval().dtype)
        for a in exported.out_avals
    ]
    args = [struct(a, a.dtype) for a in exported.in_avals] + cotangents
    platforms, checks = exported.platforms, exported.disabled_safety_checks
    return export_symbolic(
        jit(fun_vjp_jax), tuple(args), {}, platforms, checks, lambda _, flat: pulled(flat)
    )


def symbolic_args_specs(args, shapes_specs, constraints=(), scope=None):
    """ShapeDtypeStructs with symbolic sizes, for the arguments of `export`.

    Args:
      args: a tree of arrays, or of what has a shape and a dtype.
      shapes_specs: a text as of symbolic_shape, or None for the shape as it is; a tree prefix of
        these.
      constraints, scope: as of symbolic_shape.

    Raises:
      ValueError: for texts that are no shapes, or do not fit.

    Example:
      >>> from shardax import export
      >>> export.symbolic_args_specs((jnp.ones((3, 4)),), "b, ...")
      (ShapeDtypeStruct(shape=(b, 4), dtype=float32),)
    """
    if scope is None:
        scope = SymbolicScope(constraints)
    elif constraints:
        raise ValueError("Cannot use both `scope` and `constraints`")
    leaves, tree = tree_util.tree_flatten(args)
    texts = prefix_specs(shapes_specs, args)
    structs = []
    for leaf, text in zip(leaves, texts, strict=True):
        known = leaf if hasattr(leaf, "shape") and hasattr(leaf, "dtype") else _core.typeof(leaf)
        shape = symbolic_shape(text, scope=scope, like=tuple(known.shape))
        structs.append(ShapeDtypeStruct(shape, canonicalize_dtype(known.dtype)))
    return tree.unflatten(structs)
