"""shardax.experimental.sparse.transform - functions of dense arrays applied to sparse ones.

`sparsify` stages the function on dense types and runs the program equation by equation. An equation
with a sparse operand goes by the rule of its op, a row of `RULES`.
"""

import functools
import itertools
import operator

import numpy as np

import shardax._core as _core
from shardax import lax, tree_util
from shardax import numpy as jnp
from shardax._transform.stages import ShapeDtypeStruct
from shardax._transform.tracing import make_jaxpr
from shardax.experimental.sparse import _gather, _layout, _math, _slices
from shardax.experimental.sparse._base import JAXSparse
from shardax.experimental.sparse.bcoo import bcoo_transpose, extracted
from shardax.experimental.sparse.bcsr import BCSR


def _is_sparse(x):
    return isinstance(x, JAXSparse)


def _with_data(mat, data):
    known = {"indices_sorted": mat.indices_sorted, "unique_indices": mat.unique_indices}
    return type(mat)((data, *mat._bufs[1:]), shape=mat.shape, **known)


# ---- rules: functions of the operands, some sparse, and the params of the equation ---------------


def _on_elements(linear):
    """The rule of an op that keeps zeros: on the elements, once those at one place are added."""

    def rule(equation, mat):
        if not linear and not mat.unique_indices:
            mat = mat.sum_duplicates(nse=mat.nse, remove_zeros=False)
        data = equation.primitive.bind(mat.data, **equation.params)
        return _with_data(mat, data)

    return rule


_DENSE_RESULT = (
    "it would result in dense output. If this is your intent, use sparse.todense() to convert your "
    "arguments to dense matrices."
)


def _power(equation, mat):
    if equation.params["y"] <= 0:
        raise NotImplementedError(
            f"sparse rule for {equation.primitive} with non-positive exponent "
            f"{equation.params['y']} is not implemented because {_DENSE_RESULT}"
        )
    return _on_elements(False)(equation, mat)


def _add(equation, x, y):
    if not (_is_sparse(x) and _is_sparse(y)):
        return equation.primitive.bind(*(v.todense() if _is_sparse(v) else v for v in (x, y)))
    if x.shape != y.shape:
        raise NotImplementedError("Addition between sparse matrices of different shapes.")
    return _math.bcoo_add(x, y)


def _sub(equation, x, y):
    return _add(equation, x, _with_data(y, -y.data) if _is_sparse(y) else y)


def _mul(equation, x, y):
    if _is_sparse(x) and _is_sparse(y):
        if x.shape != y.shape:
            raise NotImplementedError("Multiplication between sparse matrices of different shapes.")
        shared = x.indices is y.indices and x.unique_indices
        return _with_data(x, x.data * y.data) if shared else _math.bcoo_multiply_sparse(x, y)
    mat, dense = (x, y) if _is_sparse(x) else (y, x)
    return _with_data(mat, _math.bcoo_multiply_dense(mat, dense))


def _div(equation, x, y):
    if _is_sparse(y):
        raise NotImplementedError("Division by sparse array.")
    y = jnp.asarray(y)
    divisor = y if y.ndim == 0 else extracted(y, x.indices)
    data = x.data / jnp.where(divisor == 0, 1, divisor) if y.ndim else x.data / divisor
    if y.ndim:
        inside = extracted(jnp.ones_like(y), x.indices) != 0
        data = jnp.where(inside, x.data / jnp.where(inside, divisor, 1), data)
    return _with_data(x, data)


def _convert(equation, mat):
    return _with_data(mat, mat.data.astype(equation.params["new_dtype"]))


def _broadcast(equation, mat):
    shape = equation.outvars[0].aval.shape
    dims = equation.params.get("broadcast_dimensions", equation.params.get("dims"))
    return _layout.bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=dims)


def _concatenate(equation, *operands):
    if not all(map(_is_sparse, operands)):
        raise NotImplementedError("Concatenation of sparse and dense arrays.")
    if equation.primitive.name == "stack":
        return _layout.bcoo_stack(operands, equation.params["axis"])
    return _layout.bcoo_concatenate(operands, dimension=equation.params["dimension"])


def _dot(equation, lhs, rhs):
    return _math.bcoo_dot_general(
        lhs,
        rhs,
        dimension_numbers=equation.params["dimension_numbers"],
        preferred_element_type=equation.params.get("preferred_element_type"),
    )


def total(mat, axes):
    """The sum over dimensions, dense where it is a number."""
    out = _math.bcoo_reduce_sum(mat, axes=axes)
    return out if out.ndim else out.todense()


def _slice(equation, mat):
    return _slices.bcoo_slice(
        mat,
        start_indices=equation.params["start_indices"],
        limit_indices=equation.params["limit_indices"],
        strides=equation.params["strides"],
    )


def _dynamic_slice(equation, mat, *starts):
    return _slices.bcoo_dynamic_slice(mat, starts, equation.outvars[0].aval.shape)


def _reshape(equation, mat):
    return _layout.bcoo_reshape(mat, new_sizes=equation.outvars[0].aval.shape)


def _gather_rule(equation, mat, start_indices):
    p = equation.params
    return _gather.bcoo_gather(
        mat, start_indices, p["dimension_numbers"], p["slice_sizes"], mode=p.get("mode")
    )


def _squeeze(equation, mat):
    return _layout.bcoo_squeeze(mat, dimensions=equation.params["dimensions"])


_LINEAR = "neg copy real imag conj reduce_precision stop_gradient"
_ZERO_KEEPING = (
    "abs asin asinh atan atanh bessel_i1e cbrt ceil expm1 erf erf_inv floor log1p round sign sin "
    "sinh square sqrt tan tanh"
)
_DENSE = "acos acosh bessel_i0e cos cosh eq exp ge gt le lt log ne xor"
RULES = {
    **dict.fromkeys(_LINEAR.split(), _on_elements(True)),
    **dict.fromkeys(_ZERO_KEEPING.split(), _on_elements(False)),
    "integer_pow": _power,
    "add": _add,
    "add_any": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "convert_element_type": _convert,
    "broadcast_in_dim": _broadcast,
    "concatenate": _concatenate,
    "stack": _concatenate,
    "dot_general": _dot,
    "conv_general_dilated": lambda e, *xs: _math.bcoo_conv_general_dilated(*xs, **e.params),
    "dynamic_slice": _dynamic_slice,
    "gather": _gather_rule,
    "reduce_sum": lambda e, mat: total(mat, e.params["axes"]),
    "reshape": _reshape,
    "rev": lambda e, mat: _layout.bcoo_rev(mat, e.params["dimensions"]),
    "slice": _slice,
    "squeeze": _squeeze,
    "transpose": lambda e, mat: bcoo_transpose(mat, permutation=e.params["permutation"]),
}

_ELEMENTWISE = {*_LINEAR.split(), *_ZERO_KEEPING.split(), "integer_pow", "convert_element_type"}


# ---- ops with programs ---------------------------------------------------------------------------


def _call(equation, *operands):
    program = equation.params.get("jaxpr") or equation.params["call_jaxpr"]
    return _run(program.jaxpr, program.consts, operands)


def _while(equation, *operands):
    p = equation.params
    nc, nb = p["cond_nconsts"], p["body_nconsts"]
    of_cond, of_body, carry = operands[:nc], operands[nc : nc + nb], operands[nc + nb :]

    def run(name, consts, carry):
        return _run(p[name].jaxpr, p[name].consts, [*consts, *carry])

    return lax.while_loop(
        lambda c: run("cond_jaxpr", of_cond, c)[0],
        lambda c: tuple(run("body_jaxpr", of_body, c)),
        tuple(carry),
    )


def _scan(equation, *operands):
    p = equation.params
    count, carried = p["num_consts"], p["num_carry"]
    consts = operands[:count]
    carry, xs = operands[count : count + carried], operands[count + carried :]
    if any(map(_is_sparse, xs)):
        raise NotImplementedError("sparse rule for scan over sparse arrays is not implemented.")

    def body(carry, x):
        out = _run(p["jaxpr"].jaxpr, p["jaxpr"].consts, [*consts, *carry, *x])
        return tuple(out[:carried]), tuple(out[carried:])

    carry, ys = lax.scan(body, tuple(carry), tuple(xs), length=p["length"], reverse=p["reverse"])
    return [*carry, *ys]


def _cond(equation, index, *operands):
    branches = [
        lambda *values, b=b: tuple(_run(b.jaxpr, b.consts, values))
        for b in equation.params["branches"]
    ]
    try:
        return lax.switch(index, branches, *operands)
    except TypeError as error:
        text = (
            "sparsified true_fun output must have same type structure as sparsified false_fun "
            f"output: {error}"
        )
        raise TypeError(text) from None


BODIES = {
    "jit": _call,
    "pjit": _call,
    "custom_jvp_call": _call,
    "custom_vjp_call": _call,
    "remat2": _call,
    "checkpoint": _call,
    "while": _while,
    "scan": _scan,
    "cond": _cond,
}


def _run(jaxpr, consts, operands):
    """The outputs of a program of dense types for operands of which some are sparse."""
    values = dict(zip(jaxpr.constvars, consts))
    values.update(zip(jaxpr.invars, operands))

    def read(atom):
        return atom.val if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        inputs = [read(v) for v in equation.invars]
        name = equation.primitive.name
        if not any(map(_is_sparse, inputs)):
            out = equation.primitive.bind(*inputs, **equation.params)
            out = out if isinstance(out, (tuple, list)) else [out]
        elif name in BODIES:
            out = BODIES[name](equation, *inputs)
        elif name in RULES:
            if name not in _ELEMENTWISE:
                inputs = [x.to_bcoo() if isinstance(x, BCSR) else x for x in inputs]
            out = [RULES[name](equation, *inputs)]
        else:
            why = f" because {_DENSE_RESULT}" if name in _DENSE.split() else "."
            raise NotImplementedError(f"sparse rule for {name} is not implemented{why}")
        values.update(zip(equation.outvars, out))
    return [read(v) for v in jaxpr.outvars]


def sparsify(f, use_tracer=False):
    """A function of dense arrays as one of sparse or dense ones.

    Args:
      f: a function of trees of arrays.
      use_tracer: ignored; a name of JAX's.

    Returns:
      The function; results are sparse where they come from sparse operands by ops that keep zeros.

    Raises:
      NotImplementedError: an op has no rule for sparse operands.

    Example:
      >>> from shardax.experimental import sparse
      >>> M = sparse.BCOO.fromdense(jnp.array([[0.0, 2.0], [1.0, 0.0]]))
      >>> sparse.sparsify(lambda x: x.T @ x)(M)
      BCOO(float32[2, 2], nse=4)
    """

    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        given, tree = tree_util.tree_flatten((args, kwargs), is_leaf=_is_sparse)
        count = len(tree_util.tree_leaves(args, is_leaf=_is_sparse))
        # Numbers by name are no operands: an axis, say.
        arrays = (jnp.ndarray, JAXSparse)
        operands = [i < count or isinstance(x, arrays) for i, x in enumerate(given)]
        leaves = list(itertools.compress(given, operands))
        kept = []

        def flat(*values):
            rest = iter(values)
            all_values = [next(rest) if own else x for own, x in zip(operands, given)]
            args, kwargs = tree_util.tree_unflatten(tree, all_values)
            out, out_tree = tree_util.tree_flatten(f(*args, **kwargs), is_leaf=_is_sparse)
            kept.append((out_tree, [x if _is_sparse(x) else None for x in out]))
            return [x.todense() if _is_sparse(x) else x for x in out]

        avals = [ShapeDtypeStruct(x.shape, x.dtype) if _is_sparse(x) else x for x in leaves]
        program = make_jaxpr(flat)(*avals)
        out = _run(program.jaxpr, program.consts, leaves)
        return tree_util.tree_unflatten(kept[-1][0], out)

    return wrapped


# ---- indexing ------------------------------------------------------------------------------------


def _full_index(index, ndim):
    """The index as a tuple with an entry for each dimension, and None for new ones."""
    index = index if isinstance(index, tuple) else (index,)
    used = sum(_gather.rank_of(i) for i in index if i is not None and i is not Ellipsis)
    if used > ndim:
        raise IndexError(
            f"Too many indices: {ndim}-dimensional array indexed with {used} regular indices."
        )
    if not any(i is Ellipsis for i in index):
        index = (*index, Ellipsis)
    at = next(k for k, i in enumerate(index) if i is Ellipsis)
    return (*index[:at], *[slice(None)] * (ndim - used), *index[at + 1 :])


def take(mat, index):
    """mat[index] for integers, slices, arrays, None and Ellipsis; integers may be traced."""
    was_bcsr = isinstance(mat, BCSR)
    mat = mat.to_bcoo() if was_bcsr else mat
    full = _full_index(index, mat.ndim)
    if any(map(_gather.is_array_index, full)):
        return _gather.take_at_arrays(mat, full, take)
    plain = [i for i in full if i is not None]
    cuts, turned, gone, moving = [], [], [], {}
    for d, (i, n) in enumerate(zip(plain, mat.shape)):
        if isinstance(i, slice):
            places = range(n)[i]
            if places.step < 0:
                turned.append(d)
                places = places[::-1]
            cuts.append((places.start, max(places.stop, places.start), places.step))
        elif isinstance(i, _core.Tracer) or (hasattr(i, "dtype") and np.ndim(i) == 0):
            moving[d] = i
            gone.append(d)
            cuts.append((0, n, 1))
        else:
            try:
                i = operator.index(i)
            except TypeError:
                raise NotImplementedError(
                    f"indexing of sparse arrays by {type(i).__name__}; expected integers, slices, "
                    "arrays, None and Ellipsis."
                ) from None
            if not -n <= i < n:
                raise IndexError(f"index {i} is out of bounds for axis {d} with size {n}")
            gone.append(d)
            cuts.append((i % n, i % n + 1, 1))
    if moving:
        starts = [moving.get(d, 0) for d in range(mat.ndim)]
        sizes = [1 if d in moving else n for d, n in enumerate(mat.shape)]
        mat = _slices.bcoo_dynamic_slice(mat, starts, sizes)
        cuts = [(0, 1, 1) if d in moving else c for d, c in enumerate(cuts)]
    if any(c != (0, n, 1) for c, n in zip(cuts, mat.shape)):
        starts, limits, strides = zip(*cuts)
        limits = [min(m, n) for m, n in zip(limits, mat.shape)]
        mat = _slices.bcoo_slice(mat, start_indices=starts, limit_indices=limits, strides=strides)
    mat = _layout.bcoo_rev(mat, turned) if turned else mat
    mat = _layout.bcoo_squeeze(mat, dimensions=gone) if gone else mat
    if None in [i for i in full if i is None]:
        kept = [i for i in full if i is None or isinstance(i, slice)]
        sizes = iter(mat.shape)
        shape = [1 if i is None else next(sizes) for i in kept]
        places = [k for k, i in enumerate(kept) if i is not None]
        mat = _layout.bcoo_broadcast_in_dim(mat, shape=shape, broadcast_dimensions=places)
    if was_bcsr and mat.ndim >= 2 and mat.n_sparse == 2:
        return BCSR.from_bcoo(mat)
    return mat
