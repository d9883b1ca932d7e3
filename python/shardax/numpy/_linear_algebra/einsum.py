"""shardax/numpy/_linear_algebra/einsum.py - sums over indices that are named by letters."""

import numpy as np

import shardax._core as _core
from shardax._base.arrays import asarray, bind, in_one_program, refuse_out, result_type, static_jit
from shardax._devices.out_sharding import one_program_of_sums, split_so
from shardax.lax._dot import canonical_precision, preferred_dtype
from shardax.numpy._linear_algebra import products as _products
from shardax.numpy._linear_algebra.matrices import diagonal


def _parse(subscripts, operands):
    if not isinstance(subscripts, str):
        operands = (subscripts,) + operands
        pairs, rest = operands[: len(operands) // 2 * 2], operands[len(operands) // 2 * 2 :]
        # Letters in the order of the indices: where none are given, those of the result are sorted.
        used = sorted({i for term in [*pairs[1::2], *rest] for i in term if i is not Ellipsis})
        letters = {i: chr(ord("a") + n) for n, i in enumerate(used)} | {Ellipsis: "..."}

        def text(indices):
            return "".join(letters[i] for i in indices)

        arrays = pairs[::2]
        subscripts = ",".join(text(i) for i in pairs[1::2])
        if rest:
            subscripts += "->" + text(rest[0])
        operands = arrays
    subscripts = subscripts.replace(" ", "")
    left, arrow, right = subscripts.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise ValueError(
            f"einsum: {len(terms)} terms in {subscripts!r} but {len(operands)} operands were given."
        )
    arrays = [asarray(x) for x in operands]
    # An ellipsis stands for capital letters, aligned at the end.
    widest = 0
    for term, a in zip(terms, arrays):
        if "..." in term:
            widest = max(widest, a.ndim - len(term.replace("...", "")))
    unused = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in subscripts]
    dots = "".join(unused[:widest])
    for i, (term, a) in enumerate(zip(terms, arrays)):
        if "..." in term:
            n = a.ndim - len(term.replace("...", ""))
            terms[i] = term.replace("...", dots[widest - n :] if n else "")
        if len(terms[i]) != a.ndim:
            raise ValueError(
                f"einsum: the term {term!r} has {len(term)} indices, but its operand has shape "
                f"{a.shape}."
            )
    sizes = {}
    for position, (term, a) in enumerate(zip(terms, arrays)):
        for letter, n in zip(term, a.shape):
            known = sizes[letter] if sizes.get(letter, 1) != 1 else n
            if n not in (1, known):
                raise ValueError(
                    f"einsum: Size of label {letter!r} for operand {position} ({n}) does not "
                    f"match previous terms ({known})."
                )
            sizes[letter] = known
    if arrow:
        right = right.replace("...", dots)
    else:
        counts = "".join(terms)
        right = dots + "".join(
            sorted(c for c in set(counts) if counts.count(c) == 1 and c not in dots)
        )
    return terms, right, arrays


# A call in programs, which keeps the positions of the elements inside of itself.
_diagonal = static_jit("axis1", "axis2")(diagonal)


def _diagonal_term(a, term):
    """Repeated indices of one operand become one, the diagonal."""
    for c in set(term):
        while term.count(c) > 1:
            i, j = [k for k, x in enumerate(term) if x == c][:2]
            a = _diagonal(a, axis1=i, axis2=j)
            term = "".join(x for k, x in enumerate(term) if k not in (i, j)) + c
    return a, term


def _sum_out(a, term, kept):
    gone = tuple(i for i, c in enumerate(term) if c not in kept)
    if gone:
        a = bind("reduce_or" if a.dtype == bool else "reduce_sum", (a,), axes=gone)
        term = "".join(c for c in term if c in kept)
    return a, term


def _pair(a, x, b, y, kept, multiply):
    """The product of two operands, summed over indices that nothing else needs."""
    a, x = _sum_out(a, x, set(y) | kept)
    b, y = _sum_out(b, y, set(x) | kept)
    size = {}
    for term, array in ((x, a), (y, b)):
        for c, n in zip(term, array.shape):
            size[c] = n if size.get(c, 1) == 1 else size[c]

    # Dimensions of size 1 that stand beside larger ones broadcast.
    def squeezed(array, term, other):
        ones = tuple(
            i
            for i, (c, n) in enumerate(zip(term, array.shape))
            if n == 1 and size[c] != 1 and c in other
        )
        return (
            (
                array.reshape(tuple(n for i, n in enumerate(array.shape) if i not in ones)),
                "".join(c for i, c in enumerate(term) if i not in ones),
            )
            if ones
            else (array, term)
        )

    a, x = squeezed(a, x, y)
    b, y = squeezed(b, y, x)
    batch = [c for c in x if c in y and c in kept]
    contract = [c for c in x if c in y and c not in kept]
    out = batch + [c for c in x if c not in y] + [c for c in y if c not in x]
    contracted = [x.index(c) for c in contract], [y.index(c) for c in contract]
    product = multiply(a, b, contracted, ([x.index(c) for c in batch], [y.index(c) for c in batch]))
    return product, "".join(out)


# opt_einsum's names of ways to choose the order of products, and the way that is gone.
_ORDERS = {True: "optimal", False: False, "optimal": "optimal"} | dict.fromkeys(
    ["auto", "auto-hq", "greedy", "random-greedy", "random-greedy-128", "dp"]
    + ["dynamic-programming", "branch-all", "branch-1", "branch-2"],
    "greedy",
)


def _order(optimize):
    """The argument `optimize` of np.einsum_path, hashable."""
    if isinstance(optimize, (list, tuple)):
        return ("einsum_path", *(tuple(step) for step in optimize))
    if optimize not in _ORDERS:
        raise KeyError(
            f"Path optimizer {optimize!r} not found, valid options are {list(_ORDERS)} and lists "
            "of pairs of operands."
        )
    return _ORDERS[optimize]


@in_one_program(
    *("subscripts", "optimize", "precision", "preferred_element_type", "_dot_general"),
    at_once=True,
)
def einsum(
    subscripts,
    /,
    *operands,
    out=None,
    optimize="auto",
    precision=None,
    preferred_element_type=None,
    _dot_general=None,
    out_sharding=None,
):
    """Einstein's summation: sums of products over the indices that the result does not name.

    Args:
      subscripts: the indices of each operand, and after "->" those of the result; "..." stands for
        further dimensions, which broadcast. Or operands and lists of ints in turn.
      operands: the arrays, as subscripts say.
      out: must be None.
      optimize: how the order of products is chosen where there are more than two operands. False is
        from left to right, True or "optimal" the best one, other names of opt_einsum's ways are
        "greedy". A list has pairs, as `jnp.einsum_path` gives.
      precision: as in `lax.dot_general`; nothing is computed less precisely.
      preferred_element_type: the dtype in which products are added.
      out_sharding: how the result is split.

    Returns:
      An array with the dimensions that the result names, of the dtype to which operands promote.

    Raises:
      NotImplementedError: for `out`.
      KeyError: for another name of a way to `optimize`.
      ValueError: operands do not fit the subscripts, or for another `precision`.

    Example:
      >>> a = jnp.arange(6.0).reshape(2, 3)
      >>> jnp.einsum("ij,j->i", a, jnp.ones(3))
      Array([ 3., 12.], dtype=float32)
      >>> jnp.einsum("ij,kj->ik", a, a)
      Array([[ 5., 14.],
             [14., 50.]], dtype=float32)
      >>> jnp.einsum("ij->ji", a).shape
      (3, 2)
    """
    refuse_out("einsum", out)
    terms, result, arrays = _parse(subscripts, operands)
    for c in result:
        if not any(c in t for t in terms):
            raise ValueError(f"einsum: index {c!r} of the result stands in no operand.")
    spec = ",".join(terms) + "->" + result
    preferred = preferred_dtype(preferred_element_type)

    options = {
        "spec": spec,
        "order": _order(optimize),
        "precision": None if precision is None else canonical_precision(precision),
        "preferred": preferred,
        "dot_general": _dot_general,
    }

    def summed(*arrays):
        return _einsum(*arrays, **options)

    if out_sharding is None:
        return summed(*arrays)

    def split(arrays):
        if len(arrays) > 2:  # out_sharding says nothing of the products between
            from shardax._devices.axis_modes import auto_axes  # at first use: quick import
            from shardax._devices.result_splits import out_sharding_of  # likewise

            return auto_axes(summed)(*arrays, out_sharding=out_sharding_of(out_sharding, "einsum"))
        return split_so(out_sharding, "einsum", lambda: summed(*arrays))

    return one_program_of_sums(out_sharding, split, arrays)


@static_jit("spec", "order", "precision", "preferred", "dot_general", inline=True)
def _einsum(*arrays, spec, order, precision, preferred, dot_general):
    def multiply(a, b, contracted, batch):
        if dot_general is None:
            return _products._dot_general(a, b, contracted, batch, preferred, precision)
        numbers = (contracted, batch)
        return dot_general(a, b, numbers, precision, preferred_element_type=preferred)

    left, result = spec.split("->")
    terms = left.split(",")
    pairs = [_diagonal_term(a, t) for a, t in zip(arrays, terms)]
    dtype = result_type(*arrays)
    pairs = [(_core.convert(a, dtype), t) for a, t in pairs]
    if len(pairs) > 2:
        path = _path(spec, map(_stand_in, arrays), order)[0]
    else:
        path = [tuple(range(len(pairs)))]
    for step in path:
        chosen = [pairs[i] for i in step]
        pairs = [p for i, p in enumerate(pairs) if i not in step]
        a, x = chosen[0]
        for k, (b, y) in enumerate(chosen[1:]):
            others = set(result).union(*(t for _, t in pairs), *(t for _, t in chosen[k + 2 :]))
            a, x = _pair(a, x, b, y, others, multiply)
        pairs.append((a, x))
    a, x = _sum_out(*pairs[0], set(result))
    order = tuple(x.index(c) for c in result)
    a = bind("transpose", (a,), permutation=order) if order != tuple(range(len(order))) else a
    return a if preferred is None else _core.convert(a, preferred)


def einsum_path(subscripts, /, *operands, optimize="auto"):
    """The order in which a sum over indices joins its operands, and a text that explains it.

    Args:
      subscripts, operands: those of `jnp.einsum`.
      optimize: how the order is found: "greedy", "optimal", True, False, "auto".

    Returns:
      (list of pairs of operands' positions, text). Joined operands leave the list; their product is
      appended to it.

    Example:
      >>> a, b, c = jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones((4, 5))
      >>> jnp.einsum_path("ij,jk,kl", a, b, c)[0]
      [(0, 1), (0, 1)]
    """
    if optimize == "auto" or optimize is True:
        optimize = "optimal" if len(operands) <= 4 else "greedy"
    shapes = [x if isinstance(x, (list, tuple)) else _stand_in(x) for x in operands]
    return _path(subscripts, shapes, _order(optimize))


def _path(subscripts, operands, order):
    """The result of einsum_path, for an argument `optimize` as `_order` makes it."""
    order = list(order) if isinstance(order, tuple) else order
    path, text = np.einsum_path(subscripts, *operands, optimize=order)
    return path[1:], text


def _stand_in(x):
    """An array of NumPy's of the same shape; NumPy plans the order and sees no element."""
    return np.broadcast_to(np.float32(0), np.shape(x))
