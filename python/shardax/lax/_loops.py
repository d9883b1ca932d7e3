"""shardax/lax/_loops.py - loops for staged programs: scan and while_loop.

Each stages its functions once per types (`_core.stage_once`), checks that their results fit, and
binds one op that carries the programs. Types of a carry may differ from the initial value's in
weak_type only; a weak initial value takes the dtype of the result.
"""

import operator

from shardax import tree_util
from shardax._core import api as _core
from shardax._core.pytree import flatten_for_call
from shardax._transform.refs import is_ref, references_exist
from shardax._transform.refs.binding import (
    RefArguments,
    check_loop,
    held_values,
    joined,
    left_in,
    no_refs,
    write_held,
    writing,
)
from shardax.errors import ConcretizationTypeError
from shardax.lax import _control_python
from shardax.lax._carries import settled_carry
from shardax.lax._control_cache import cached_control_flow
from shardax.lax._control_checks import check_condition, check_structure, check_types

__all__ = ["scan", "while_loop"]


def flatten(tree):
    """(the leaves as arrays, the structure)."""
    leaves, treedef = flatten_for_call(tree)
    return [_core.asarray(leaf) for leaf in leaves], treedef


# ---------------------------------------------------------------------------- scan


def _static(name, expected, value):
    """An argument of scan as an int; ConcretizationTypeError where its value is traced."""
    if _core.is_tracer(value) and not _core.is_concrete(value):
        raise ConcretizationTypeError(
            value,
            f"The `{name}` argument to `scan` expects a concrete {expected} value, got {value!r}. "
            "Mark it static with static_argnums.",
        )
    return operator.index(value)


def scan_length(xs, length):
    lacking = [x for x in xs if x.ndim == 0]
    if lacking:
        raise ValueError(
            "scan got value with no leading axis to scan over: "
            f"{', '.join(str(x) for x in lacking)}."
        )
    lengths = [x.shape[0] for x in xs]
    if length is not None:
        if isinstance(length, str | float):
            length = int(length)
        length = _static("length", "`int`", length)
        if any(n != length for n in lengths):
            raise ValueError(
                f"scan got `length` argument of {length} which disagrees with leading axis sizes "
                f"{lengths}."
            )
        return length
    if not lengths:
        raise ValueError("scan got no values to scan over and `length` not provided.")
    if len(set(lengths)) > 1:
        raise ValueError(
            "scan got values with different leading axis sizes: "
            f"{', '.join(str(n) for n in lengths)}."
        )
    return lengths[0]


def _check_whole_steps(xs):
    """ValueError where explicit axes of a mesh split what is scanned over."""
    splits = [_core.typeof(x).asked_split for x in xs]
    if any(split and split[0] for split in splits):
        specs = ", ".join(str(_core.typeof(x).sharding.spec) for x in xs)
        raise ValueError(
            f"scan: 0th dimension of all xs should be replicated. Got {specs}. Bring them there "
            "with shardax.reshard."
        )


@cached_control_flow("scan", ["f"], ["length", "reverse", "unroll", "_split_transpose"])
def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """Runs `carry, y = f(carry, x)` over the leading axis of xs.

    Args:
      f: a function of the carry and one slice of xs. It returns the new carry (of the same
        structure and types) and one slice of the result.
      init: the first carry, a tree of arrays.
      xs: a tree of arrays with equal leading axes, or None.
      length: the number of steps; needed where xs is empty.
      reverse: start at the end.
      unroll: an int or a bool, which programs show; turns run one by one.

    Returns:
      (the last carry, the stacked ys).

    Example:
      >>> lax.scan(lambda c, x: (c + x, c), 0.0, jnp.arange(3.0))
      (Array(3., dtype=float32), Array([0., 0., 1.], dtype=float32, weak_type=True))
    """
    if not callable(f):
        raise TypeError("lax.scan: f argument should be a callable.")

    if references_exist():
        return _scan_with_refs(f, init, xs, length, reverse, unroll)
    return _scan(f, init, xs, length, reverse, unroll)


def _scan_with_refs(f, init, xs, length, reverse, unroll):
    """scan, where f may close over references, and xs may hold some: f gets their slices."""
    given = RefArguments("scan", f, (init, xs))
    if not given.refs:
        return _scan(f, init, xs, length, reverse, unroll)
    given.whole = False
    carried = any(is_ref(leaf) for leaf in tree_util.tree_leaves(init))

    def body(carry, x):
        args, _, formals = given.formal((carry, x))
        carry, y = no_refs(f(*args), f, "scan")
        return carry, (y, left_in(formals))

    (init, xs), _ = given.values()
    carry, (ys, slices) = _scan(body, init, xs, length, reverse, unroll, given)
    if carried:
        raise TypeError(
            "scan: the carry holds a mutable array reference, which the body cannot return. "
            "Let the body close over it, or carry its value."
        )
    writing(given.refs, slices)
    return carry, ys


def _scan(f, init, xs, length, reverse, unroll, given=None):
    unroll = 1 if isinstance(unroll, bool) else _static("unroll", "`int` or `bool`", unroll)
    if unroll < 0:
        raise ValueError("`unroll` must be a `bool` or a non-negative `int`.")
    carry, carry_tree = flatten(init)
    slices, xs_tree = flatten(xs)
    steps = scan_length(slices, length)
    if _control_python.active():
        xs = tree_util.tree_unflatten(xs_tree, slices)
        return _control_python.scan(
            f, tree_util.tree_unflatten(carry_tree, carry), xs, steps, reverse
        )
    _check_whole_steps(slices)
    x_types = tree_util.tree_unflatten(xs_tree, [_core.element_type(x) for x in slices])

    def stage(f, types):
        staged = _core.stage_once("scan", f, (tree_util.tree_unflatten(carry_tree, types), x_types))
        parts = staged.out_tree.children()
        if len(parts) != 2 or staged.out_tree.node_data()[0] is not tuple:
            out = tree_util.tree_unflatten(staged.out_tree, staged.out_avals)
            raise TypeError(f"scan body output must be a pair, got {out}.")
        check_structure("scan", f, carry_tree, parts[0])
        return (staged, parts[1]), staged.out_avals[: len(types)]

    f, carry, types, (staged, out_tree) = settled_carry(f, carry, stage, pair=True)
    check_types("scan", f, carry_tree, types, staged.out_avals[: len(carry)])
    count = len(carry)

    def results(out):
        last = tree_util.tree_unflatten(carry_tree, out[:count])
        return last, tree_util.tree_unflatten(out_tree, out[count:])

    return scan_with_held(staged, carry, slices, steps, reverse, unroll, results, given)


def scan_with_held(staged, carry, slices, steps, reverse, unroll, results, given=None):
    """results(values that come out of a scan); the values of references are carried beside."""
    references, operands = staged.references, [*carry, *slices]
    check_loop(references)
    held = held_values(references, operands, given)
    out = bind_scan(*staged.closed(), [*held, *carry], slices, steps, reverse, unroll)
    return write_held(references, out[: len(held)], operands, results(out[len(held) :]), given)


def bind_scan(program, constants, carry, slices, steps, reverse, unroll):
    params = {
        "jaxpr": program,
        "length": steps,
        "reverse": bool(reverse),
        "num_consts": len(constants),
        "num_carry": len(carry),
        "unroll": unroll,
    }
    return _core.bind("scan", params, [*constants, *carry, *slices])


# --------------------------------------------------------------------------- while


@cached_control_flow("while_loop", ["cond_fun", "body_fun"])
def while_loop(cond_fun, body_fun, init_val):
    """Repeats carry = body_fun(carry) as long as cond_fun(carry) holds.

    It has forward derivatives only; use scan, or fori_loop with static bounds, for gradients.

    Args:
      cond_fun: a function of the carry that returns a boolean scalar.
      body_fun: a function of the carry that returns one of the same structure and types.
      init_val: the first carry, a tree of arrays.

    Example:
      >>> lax.while_loop(lambda x: x < 100, lambda x: x * 2, 1)
      Array(128, dtype=int32, weak_type=True)
    """
    if not (callable(cond_fun) and callable(body_fun)):
        raise TypeError("lax.while_loop: body_fun and cond_fun arguments should be callable.")

    if not references_exist():
        return _while_loop(cond_fun, body_fun, init_val)
    given = RefArguments("while_loop", body_fun, (init_val,))
    if not given.refs:
        return _while_loop(cond_fun, body_fun, init_val)

    def body(carry):
        args, _, _ = given.formal((carry,))
        return no_refs(body_fun(*args), body_fun, "while_body")

    (init,), _ = given.values()
    return _while_loop(cond_fun, body, init, given)


def _while_loop(cond_fun, body_fun, init_val, given=None):
    if _control_python.active():
        init_val, done = _control_python.while_loop(cond_fun, body_fun, init_val)
        if done:
            return init_val
    carry, tree = flatten(init_val)

    def stage(body_fun, types):
        example = (tree_util.tree_unflatten(tree, types),)
        condition = _core.stage_once("while_cond", cond_fun, example)
        check_condition(condition)
        body = _core.stage_once("while_body", body_fun, example)
        check_structure("while_loop", body_fun, tree, body.out_tree)
        return (condition, body), body.out_avals

    body_fun, carry, types, (condition, body) = settled_carry(body_fun, carry, stage, pair=False)
    check_types("while_loop", body_fun, tree, types, body.out_avals)
    check_loop(body.references)
    condition, body = joined([condition, body], "while_loop", given)
    references = body.references
    held = held_values(references, carry, given)
    condition_program, condition_closed = _core.reading_references(condition).closed()
    body_program, body_closed = body.closed()
    out = _core.bind(
        "while",
        {
            "cond_jaxpr": condition_program,
            "cond_nconsts": len(condition_closed),
            "body_jaxpr": body_program,
            "body_nconsts": len(body_closed),
        },
        [*condition_closed, *body_closed, *held, *carry],
    )
    last = tree_util.tree_unflatten(tree, out[len(held) :])
    return write_held(references, out[: len(held)], carry, last, given)
