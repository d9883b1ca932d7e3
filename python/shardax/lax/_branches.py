"""shardax/lax/_branches.py - branches for staged programs: cond, switch, platform_dependent.

Each stages its functions once per types, checks that their results agree, and binds one op that
carries the programs.
"""

import functools

import numpy as np

from shardax import tree_util
from shardax._base.arrays import asarray, shape_of
from shardax._core import api as _core
from shardax._core import functions
from shardax._transform.refs import references_exist
from shardax._transform.refs.binding import (
    RefArguments,
    held_values,
    joined,
    no_refs,
    write_held,
    writing,
)
from shardax.dtypes import issubdtype
from shardax.lax import _control_python
from shardax.lax._carries import types_of
from shardax.lax._control_cache import cached_control_flow
from shardax.lax._control_checks import check_branches
from shardax.lax._loops import flatten

__all__ = ["cond", "platform_dependent", "switch"]

_INT32 = np.dtype("int32")


def _choose(api, names, index, branches, operands):
    if _control_python.decides(index):
        chosen = int(index)
        return branches[1 - chosen if api == "cond" else chosen](*operands)

    if not references_exist():
        return _stage(api, names, index, branches, operands)
    given = RefArguments("cond", branches[0], tuple(operands))
    if not given.refs:
        return _stage(api, names, index, branches, operands)

    def with_formals(branch):
        @functools.wraps(branch)
        def formal_branch(*operands):
            operands, _, formals = given.formal(operands)
            out = no_refs(branch(*operands), branch, "cond")
            return out, [formal._value for formal in formals]

        return formal_branch

    values, _ = given.values()
    out, new = _stage(api, names, index, [*map(with_formals, branches)], values, given)
    writing(given.refs, new)
    return out


def _stage(api, names, index, branches, operands, given=None):
    leaves, treedef = flatten(tuple(operands))
    examples = tree_util.tree_unflatten(treedef, types_of(leaves))
    staged = [_core.stage_once("cond", branch, examples) for branch in branches]
    check_branches(api, names, branches, staged)
    staged = joined(staged, api, given)
    references, out_tree = staged[0].references, staged[0].out_tree
    programs, closed = _core.join_closed(staged)
    if api == "cond":  # a predicate counts from false
        programs = programs[::-1]
    held = held_values(references, leaves, given)
    out = _core.bind("cond", {"branches": programs}, [index, *closed, *leaves, *held])
    results = tree_util.tree_unflatten(out_tree, out[: out_tree.num_leaves])
    return write_held(references, out[out_tree.num_leaves :], leaves, results, given)


_ABSENT = object()  # None is an operand


@cached_control_flow("cond", ["true_fun", "false_fun"], positions=[1, 2])
def cond(pred, *args, operand=_ABSENT, **kwargs):
    """true_fun(*operands) where pred holds, else false_fun(*operands); both must give the same
    types.

    Call it as cond(pred, true_fun, false_fun, *operands).

    Args:
      pred: a scalar, bool or number (true where it is not zero).
      true_fun, false_fun: functions of the operands.

    Example:
      >>> lax.cond(True, lambda x: x + 1, lambda x: x - 1, 3.0)
      Array(4., dtype=float32, weak_type=True)
    """
    if kwargs:
        args = (*args, *(kwargs.pop(name) for name in ("true_fun", "false_fun") if name in kwargs))
        if kwargs:
            raise TypeError(f"cond() got an unexpected keyword argument '{next(iter(kwargs))}'")
    if len(args) == 4 and callable(args[1]) and callable(args[3]) and not callable(args[0]):
        return _five_argument_cond(pred, *args)
    if len(args) < 2 or not (callable(args[0]) and callable(args[1])):
        raise TypeError("lax.cond: true_fun and false_fun arguments should be callable.")
    true_fun, false_fun, *operands = args
    if operand is not _ABSENT:
        if operands:
            raise TypeError(
                "if 'operand' keyword is passed then no positional operands can be passed, got "
                f"{operand=} and positional operands {tuple(operands)}"
            )
        operands = [operand]
    return _choose(
        "cond", ("true_fun", "false_fun"), _predicate(pred), (true_fun, false_fun), operands
    )


def _five_argument_cond(pred, true_operand, true_fun, false_operand, false_fun):
    return cond(
        pred,
        lambda ops: true_fun(ops[0]),
        lambda ops: false_fun(ops[1]),
        (true_operand, false_operand),
    )


def _predicate(pred):
    """pred as an int32 index: 1 where it holds."""
    if pred is None:
        raise TypeError("cond predicate is None")
    try:
        aval = _core.typeof(pred)
    except TypeError:
        if callable(pred):
            raise TypeError(f"Pred type must be either boolean or number, got {pred}.") from None
        raise TypeError(f"Pred must be a scalar, got {pred} of type {type(pred)}") from None
    if aval.shape != ():
        raise TypeError(f"Pred must be a scalar, got {pred} of shape {aval.shape}.")
    if aval.dtype != bool:
        if issubdtype(aval.dtype, np.complexfloating):
            raise TypeError(f"Pred type must be either boolean or number, got {aval.dtype}.")
        pred = functions.not_equal(pred, 0)
    return _core.convert(pred, _core.ShapedArray((), _INT32))


@cached_control_flow("switch", ["branches"])
def switch(index, branches, *operands, operand=_ABSENT):
    """branches[index](*operands); the index is clamped to the branches there are.

    Example:
      >>> lax.switch(1, [lambda x: x, lambda x: x * 10], 2.0)
      Array(20., dtype=float32, weak_type=True)
    """
    branches = tuple(branches)
    if not all(callable(branch) for branch in branches):
        raise TypeError("lax.switch: branches argument should be a sequence of callables.")
    if operand is not _ABSENT:
        if operands:
            raise TypeError(
                "if 'operand' keyword is passed then no positional operands can be passed, got "
                f"{operand=} and positional operands {operands}"
            )
        operands = (operand,)
    if shape_of(index) != ():
        raise TypeError(f"Branch index must be scalar, got {index} of shape {shape_of(index)}.")
    try:
        aval = _core.typeof(index)
    except TypeError:
        raise TypeError(f"Index type must be an integer, got {index}.") from None
    if not issubdtype(aval.dtype, np.integer):
        raise TypeError(f"Index type must be an integer, got {index} as {aval.dtype}")
    if not branches:
        raise ValueError("Empty branch sequence")
    if len(branches) == 1:
        return branches[0](*operands)
    last = len(branches) - 1
    index = _core.convert(index, _core.ShapedArray((), _INT32))
    low, high = asarray(0, _INT32), asarray(last, _INT32)
    (index,) = _core.bind("clamp", {}, [low, index, high])
    names = ("branch 0", *(f"branch{i}" for i in range(1, len(branches))))
    return _choose("switch", names, index, branches, operands)


def platform_dependent(*args, default=None, **per_platform):
    """The function for the platform that runs, applied to args: that of the CPU.

    Args:
      args: arguments of the functions.
      default: the function for platforms that are not named.
      per_platform: functions by the platform's name: cpu, cuda, rocm, tpu.

    Raises:
      NotImplementedError: there is none for the CPU.

    Example:
      >>> lax.platform_dependent(1.0, cpu=lambda x: x + 1, default=lambda x: x)
      2.0
    """
    for name, branch in per_platform.items():
        if not callable(branch):
            raise TypeError(f"lax.platform_dependent: the '{name}' branch must be a callable.")
        if name == "gpu":
            raise ValueError("Use 'cuda' or 'rocm' for lax.platform_dependent.")
    if default is not None and not callable(default):
        raise TypeError("lax.platform_dependent: the 'default' branch must be a callable.")
    chosen = per_platform.get("cpu", default)
    if chosen is None:
        raise NotImplementedError(
            "translation rule for platform_dependent not found for platform cpu: it has branches "
            f"for {', '.join(per_platform) or 'no platform'}; name one 'cpu' or give a default."
        )
    return chosen(*args)
