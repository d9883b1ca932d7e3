"""shardax/_transform/hijax/vjp.py - ops on trees of values, with rules of their own."""

from shardax import tree_util
from shardax._core import api as _core
from shardax._core import pytree as _pytree
from shardax._transform.hijax import accums
from shardax._transform.hijax.slots import Slots, any_traced, define, vmapped
from shardax._transform.hijax.states import is_mutable
from shardax._transform.hijax.types import (
    is_hi,
    tangent_aval,
)
from shardax._transform.pmap_vmap import vmap
from shardax._transform.primitives import (
    Primitive,
    axis_batching_rules,
    jvp_rules,
    transpose_rules,
    user_values_rules,
)
from shardax._transform.refs import AbstractRef
from shardax._transform.zeros import UndefinedPrimal, Zero


class VJPHiPrimitive:
    """An op on trees of values, with rules.

    A subclass sets `in_avals` (a tuple of trees of types), `out_aval` (a tree of types) and
    `params` (a dict) before it calls this class's __init__. It defines `expand(*args)`, which
    computes it. For reverse derivatives it defines `vjp_fwd(nzs_in, *args) -> (out, residuals)` and
    one of two others. `vjp_bwd_retval(residuals, cotangent)` gives a cotangent for each argument;
    `vjp_bwd(residuals, cotangent, *accums)` calls `accum(cotangent)` of each. For forward ones it
    defines `jvp(primals, tangents)`, or `lin(nzs_in, *args)` and `linearized(residuals,
    *tangents)`. A linear op has `transpose(cotangent, *accums)`, vmap needs `batch(axis_data, args,
    dims)` or `batch_dim_rule(axis_data, dims)`.

    Example:
      >>> class Square(VJPHiPrimitive):
      ...     def __init__(self, aval):
      ...         self.in_avals, self.out_aval, self.params = (aval,), aval, {}
      ...         super().__init__()
      ...     def expand(self, x):
      ...         return x * x
      >>> Square(typeof(3.0))(3.0)
      9.0
    """

    effects = frozenset()

    def __init__(self):
        for name in ("in_avals", "out_aval", "params"):
            if not hasattr(self, name):
                raise AttributeError(
                    f"{type(self).__name__}: subclass __init__ should set `self.{name}`"
                )
        if self._has("vjp_bwd") and self._has("vjp_bwd_retval"):
            raise AttributeError(
                f"subclass {type(self)} should not override both `vjp_bwd` and `vjp_bwd_retval`"
            )
        self.in_avals_flat, self.in_tree = tree_util.tree_flatten(self.in_avals)
        self.out_avals_flat, self.out_tree = tree_util.tree_flatten(self.out_aval)
        self.__dict__.update(self.params)
        self.check(*self.in_avals)

    def _has(self, method):
        return getattr(type(self), method) is not getattr(VJPHiPrimitive, method)

    def check(self, *arg_tys):
        """Raises where the types `arg_tys` do not fit; by default never."""

    def _refuse(self, support, methods):
        raise NotImplementedError(
            f"for {support} support, subclass {type(self)} must implement {methods}"
        )

    def expand(self, *args):
        """The result."""
        raise NotImplementedError(f"subclass {type(self)} must implement `expand`")

    def vjp_fwd(self, nzs_in, /, *args):
        """(result, residuals), and which results have tangents if not all."""
        self._refuse("grad", "`vjp_fwd`")

    def vjp_bwd(self, res, outgrad, /, *arg_accums):
        """Gives each of `arg_accums` its cotangent."""
        found = self.vjp_bwd_retval(res, outgrad)
        tree_util.tree_map(_accumulate, arg_accums, found)

    def vjp_bwd_retval(self, res, outgrad, /):
        """The cotangents of the arguments."""
        self._refuse("grad", "`vjp_bwd` or `vjp_bwd_retval`")

    def jvp(self, primals, tangents):
        """(result, its tangent)."""
        self._refuse("jvp", "`jvp`")

    def lin(self, nzs_in, *primals):
        """(result, residuals for `linearized`)."""
        self._refuse("linearize", "`lin` and `linearized`")

    def linearized(self, residuals, *tangents):
        """The tangent of the result."""
        self._refuse("linearize", "`lin` and `linearized`")

    def transpose(self, out_ct, *maybe_accums):
        """Gives the accumulators among the operands their cotangents."""
        self._refuse("transpose", "`transpose`")

    def batch(self, axis_data, args, dims):
        """(result, its mapped dimensions)."""
        out_dim = self.batch_dim_rule(axis_data, dims)
        return Mapped(self, axis_data, dims, out_dim)(*args), out_dim

    def batch_dim_rule(self, axis_data, dims, /):
        """The mapped dimensions of the result."""
        self._refuse("vmap", "`batch` or `batch_dim_rule`")

    def __call__(self, *args):
        leaves = self.in_tree.flatten_up_to(args)
        ins = Slots(self.in_avals_flat)
        if any(is_mutable(aval) or isinstance(aval, AbstractRef) for aval in ins.avals):
            return self.expand(*args)
        flat = ins.lower(leaves)
        if not any_traced(flat):
            return self.expand(*args)
        found = call_p.bind(*flat, _prim=self)
        return self.out_tree.unflatten(Slots(self.out_avals_flat).raise_(found))

    def _leaves(self, out):
        return self.out_tree.flatten_up_to(out)

    def __repr__(self):
        return f"{type(self).__name__}[{self.params}]"

    def __hash__(self):
        return hash((type(self).__name__, tuple(self.params.items()), self.effects))

    def __eq__(self, other):
        if type(self) is not type(other):
            return False
        mine = self.params, self.effects, self.in_avals_flat
        return mine == (other.params, other.effects, other.in_avals_flat)


def _accumulate(accum, value):
    if isinstance(accum, accums.GradAccum):
        accum.accum(value)


class Mapped(VJPHiPrimitive):
    """A VJPHiPrimitive mapped over a dimension of its operands, with its rules."""

    def __init__(self, prim, axis_data, in_dims, out_dim):
        self.prim, self.axis, self.in_dims, self.out_dim = prim, axis_data, in_dims, out_dim

        def stacked(aval, dim):
            return aval if dim is None else aval.inc_rank(axis_data.size, dim)

        spread = _spread(in_dims, prim.in_avals)
        self.in_avals = prim.in_tree.unflatten(map(stacked, prim.in_avals_flat, spread))
        spread = _spread(out_dim, prim.out_aval)
        self.out_aval = prim.out_tree.unflatten(map(stacked, prim.out_avals_flat, spread))
        self.params = {"prim": prim, "size": axis_data.size, "name": axis_data.name}
        super().__init__()

    def _vmap(self, fun, in_axes, out_axes):
        return vmap(fun, in_axes, out_axes, axis_size=self.size, axis_name=self.axis.name)

    def expand(self, *args):
        return self._vmap(self.prim.expand, tuple(self.in_dims), self.out_dim)(*args)

    def jvp(self, primals, tangents):
        dims, out = tuple(self.in_dims), self.out_dim
        tangents = tree_util.tree_map(
            accums.instantiated, tangents, is_leaf=lambda x: type(x) is Zero
        )
        return self._vmap(self.prim.jvp, (dims, dims), (out, out))(primals, tangents)

    def vjp_fwd(self, nzs_in, *args):
        def forward(*args):
            return self.prim.vjp_fwd(nzs_in, *args)[:2]

        return self._vmap(forward, tuple(self.in_dims), (self.out_dim, 0))(*args)

    def vjp_bwd_retval(self, res, outgrad):
        def backward(res, outgrad):
            found = [accums.ValAccum(aval.to_ct_aval()) for aval in self.prim.in_avals_flat]
            self.prim.vjp_bwd(res, outgrad, *self.prim.in_tree.unflatten(found))
            return [a.freeze() for a in found]

        outgrad = tree_util.tree_map(
            accums.instantiated, outgrad, is_leaf=lambda x: type(x) is Zero
        )
        found = self._vmap(backward, (0, self.out_dim), 0)(res, outgrad)
        dims = _spread(self.in_dims, self.in_avals)
        return self.prim.in_tree.unflatten(map(accums.moved, found, dims))

    def batch_dim_rule(self, axis_data, dims):
        def inner(d, own):
            return d if d is None or own is None else d - (own < d)

        own = _spread(self.in_dims, self.in_avals)
        dims = [inner(d, o) for d, o in zip(_spread(dims, self.in_avals), own)]
        out = self.prim.batch_dim_rule(axis_data, self.in_tree.unflatten(dims))
        both = zip(_spread(out, self.out_aval), _spread(self.out_dim, self.out_aval))
        dims = [d if d is None or o is None else d + (o <= d) for d, o in both]
        return self.out_tree.unflatten(dims)


def _spread(dims, tree):
    """One dimension for each leaf of `tree`."""
    return tree_util.broadcast_prefix(dims, tree, is_leaf=lambda x: x is None)


# ---- its primitives of arrays ---------------------------------------------------------------


def _ins(prim):
    return Slots(prim.in_avals_flat)


def _outs(prim):
    return Slots(prim.out_avals_flat)


def _expand(*flat, _prim):
    out = _prim.expand(*_prim.in_tree.unflatten(_ins(_prim).values(flat)))
    return _outs(_prim).lower(_prim._leaves(out))


def _jvp(primals, tangents, *, _prim):
    ins, outs = _ins(_prim), _outs(_prim)
    args = _prim.in_tree.unflatten(ins.raise_(primals))
    if _prim._has("vjp_fwd"):
        return _forward(_prim, args, primals, tangents)
    if _prim._has("lin"):
        nzs = _prim.in_tree.unflatten(ins.perturbed(tangents))
        out, residuals, *_ = _prim.lin(nzs, *args)
        moved = _prim.linearized(residuals, *_prim.in_tree.unflatten(ins.tangents(tangents)))
    else:
        out, moved = _prim.jvp(args, _prim.in_tree.unflatten(ins.tangents(tangents)))
    found = outs.lower(_prim._leaves(out))
    return found, outs.zero_arrays(_prim._leaves(moved))


def _forward(prim, args, primals, tangents):
    """By vjp_fwd: the tangents are an op of their own, whose transpose is vjp_bwd."""
    ins, outs = _ins(prim), _outs(prim)
    nzs = ins.perturbed(tangents)
    out, residuals, *_ = prim.vjp_fwd(prim.in_tree.unflatten(nzs), *args)
    kept, tree = _pytree.flatten_for_call(residuals)
    kept = [_core.asarray(x) for x in kept]
    given = [t for part, nz in zip(ins.split(tangents), nzs) if nz for t in part]
    moving = tuple(type(t) is not Zero for t in given)
    given = [t for t, m in zip(given, moving) if m]
    known = list(primals) if prim._has("jvp") else []
    moved = linearized_p.bind(
        *kept,
        *known,
        *given,
        _prim=prim,
        residuals_tree=tree,
        known=len(known),
        nz_in_flat=tuple(nzs),
        moving=moving,
    )
    return outs.lower(prim._leaves(out)), moved


def _transpose(cotangents, *operands, _prim):
    ins = _ins(_prim)
    found = ins.operands(operands)
    found = [accums.ValAccum(x.aval) if type(x) is UndefinedPrimal else x for x in found]
    cts = _prim.out_tree.unflatten(_outs(_prim).tangents(cotangents))
    _prim.transpose(cts, *_prim.in_tree.unflatten(found))
    given = [x.freeze() if isinstance(x, accums.ValAccum) else None for x in found]
    return ins.tangent_arrays(given)


def _batch(axis, values, dims, *, _prim):
    plain = not any(map(is_hi, (*_prim.in_avals_flat, *_prim.out_avals_flat)))
    if not plain:
        return vmapped(lambda *flat: _expand(*flat, _prim=_prim), axis, values, dims)
    args, in_dims = _prim.in_tree.unflatten(values), _prim.in_tree.unflatten(dims)
    out, out_dims = _prim.batch(axis, args, in_dims)
    return list(map(_core.asarray, _prim._leaves(out))), _spread(out_dims, _prim.out_aval)


call_p = Primitive("call_hi_primitive")
call_p.multiple_results = True
define(call_p, _expand, lambda _prim: _outs(_prim).flat_types())
user_values_rules[call_p] = lambda _prim: (_ins(_prim).printed(), _outs(_prim).printed())
jvp_rules[call_p], transpose_rules[call_p], axis_batching_rules[call_p] = _jvp, _transpose, _batch


def _linear_tangents(prim, moving, nzs, flat):
    """The tangents of the arrays of all operands."""
    ins = _ins(prim)
    parts, flat, moving = [], iter(flat), iter(moving)
    for types, nz in zip(ins.types, nzs):
        for t in types:
            there = nz and next(moving)
            parts.append(next(flat) if there else Zero(t.to_tangent_aval()))
    return parts


def _linearized(*flat, _prim, residuals_tree, known, nz_in_flat, moving):
    if not known:
        raise TypeError(
            "can't apply forward-mode differentiation (jvp) to a custom_vjp function: "
            f"{type(_prim).__name__} defines vjp_fwd but no jvp. Define jvp as well."
        )
    ins, outs = _ins(_prim), _outs(_prim)
    start = residuals_tree.num_leaves
    args = _prim.in_tree.unflatten(ins.raise_(flat[start : start + known]))
    given = _linear_tangents(_prim, moving, nz_in_flat, flat[start + known :])
    _, moved = _prim.jvp(args, _prim.in_tree.unflatten(ins.tangents(given)))
    found = zip(outs.tangent_arrays(_prim._leaves(moved)), _tangent_types(_prim))
    return [_core.zeros_of(t) if x is None else x for x, t in found]


def _tangent_types(prim):
    return [t.to_tangent_aval() for t in _outs(prim).flat_types()]


def _linearized_transpose(cotangents, *operands, _prim, residuals_tree, known, nz_in_flat, moving):
    ins = _ins(_prim)
    start = residuals_tree.num_leaves
    residuals = residuals_tree.unflatten(operands[:start])
    found = [
        (accums.ValAccum if nz else accums.NullAccum)(tangent_aval(aval))
        for aval, nz in zip(ins.avals, nz_in_flat)
    ]
    cts = _prim.out_tree.unflatten(_outs(_prim).tangents(cotangents))
    _prim.vjp_bwd(residuals, cts, *_prim.in_tree.unflatten(found))
    given = ins.tangent_arrays([x.freeze() if nz else None for x, nz in zip(found, nz_in_flat)])
    parts = [t for part, nz in zip(ins.split(given), nz_in_flat) if nz for t in part]
    return [None] * (start + known) + [t for t, m in zip(parts, moving) if m]


def _linearized_batch(axis, values, dims, **params):
    return vmapped(lambda *flat: _linearized(*flat, **params), axis, values, dims)


linearized_p = Primitive("call_hi_primitive_linearized")
linearized_p.multiple_results = True
define(linearized_p, _linearized, lambda _prim, **_: _tangent_types(_prim))
transpose_rules[linearized_p] = _linearized_transpose
axis_batching_rules[linearized_p] = _linearized_batch
