"""shardax.interpreters.partial_eval - functions as programs, and programs without dead code."""

from shardax._core import DynamicJaxprTracer, JaxprTracer
from shardax._core import api as _core
from shardax._transform.primitives import Registry
from shardax._transform.tracing import make_jaxpr

__all__ = [
    "DynamicJaxprTracer",
    "JaxprTracer",
    "PartialVal",
    "close_jaxpr",
    "convert_constvars_jaxpr",
    "custom_partial_eval_rules",
    "dce_jaxpr",
    "dce_jaxpr_consts",
    "dce_rules",
    "partial_eval_jaxpr_custom_rules",
    "trace_to_jaxpr_dynamic",
    "trace_to_jaxpr_nounits",
]

# Rules by primitive for splitting programs. The core splits user-made primitives by their
# derivatives; registered rules are kept for those who read them.
custom_partial_eval_rules = Registry(lambda primitive: None)
partial_eval_jaxpr_custom_rules = Registry(lambda primitive: None)
dce_rules = Registry(lambda primitive: None)


class PartialVal(tuple):
    """A value of which either the type or the array is known: (aval, constant)."""

    __slots__ = ()

    def __new__(cls, pair):
        return super().__new__(cls, pair)

    @classmethod
    def known(cls, const):
        """A value that is known."""
        return cls((None, const))

    @classmethod
    def unknown(cls, aval):
        """A value of which only the type is known."""
        return cls((aval, None))

    def is_known(self):
        """True if the array is known."""
        return self[0] is None

    def get_known(self):
        """The array, or None."""
        return self[1] if self.is_known() else None

    def get_aval(self):
        """The type."""
        return _core.typeof(self[1]) if self.is_known() else self[0]


def _call(fun):
    return getattr(fun, "call_wrapped", fun)


def trace_to_jaxpr_dynamic(fun, in_avals, *, keep_inputs=None, lower=False, auto_lower=False):
    """The program of a function of lists (a `linear_util.WrappedFun`) for operands of these types.

    `auto_lower`, `keep_inputs` and `lower` have no effect: the package does without what it steers
    in JAX.

    Returns:
      The program, with its constants (`constvars`), the types of its results, and the constants.
    """
    closed = make_jaxpr(lambda *args: list(_call(fun)(*args)))(*in_avals)
    return closed.jaxpr, list(closed.out_avals), list(closed.consts)


def trace_to_jaxpr_nounits(fun, pvals, instantiate=False):
    """The program of a function on the operands of which only types are known.

    Returns:
      The program of the results that depend on those operands, a PartialVal for each result, and
      the constants. With `instantiate` all results count as such.
    """
    unknown = [i for i, pval in enumerate(pvals) if not pval.is_known()]

    def call(*args):
        values = [pval.get_known() for pval in pvals]
        for i, x in zip(unknown, args):
            values[i] = x
        return list(_call(fun)(*values))

    closed = make_jaxpr(call)(*(pvals[i].get_aval() for i in unknown))
    count, inputs = len(closed.outvars), [False] * len(unknown)
    needs = [
        any(_core.pruned(closed, [n == k for n in range(count)], inputs)[1]) for k in range(count)
    ]
    if instantiate is True or not count:
        needs = [True] * count
    known = iter(())
    if not all(needs):
        rest, _ = _core.pruned(closed, [not need for need in needs], inputs)
        known = iter(_core.evaluate(rest, []))
        closed, _ = _core.pruned(closed, needs, [True] * len(unknown))
    avals = iter(closed.out_avals)
    out = [PartialVal.unknown(next(avals)) if n else PartialVal.known(next(known)) for n in needs]
    return closed.jaxpr, out, list(closed.consts)


def convert_constvars_jaxpr(jaxpr):
    """The program with its constants as further inputs, in front."""
    return _core.constants_as_inputs(jaxpr)


def close_jaxpr(jaxpr):
    """A program without free constants, as one that holds its own: here they are the same."""
    return jaxpr


def dce_jaxpr(jaxpr, used_outputs, instantiate=False):
    """The program without equations that the used results do not need.

    Args:
      used_outputs: a bool for each result.
      instantiate: which inputs stay although nothing uses them: a bool, or one for each.

    Returns:
      The program of the used results, and a bool for each input: whether it still has it.
    """
    count = len(jaxpr.invars)
    keep = [instantiate] * count if isinstance(instantiate, bool) else list(instantiate)
    return _core.pruned(jaxpr, list(used_outputs), keep)


def dce_jaxpr_consts(jaxpr, used_outputs, instantiate=False):
    """As `dce_jaxpr`, with a bool for each constant: (program, used constants, used inputs)."""
    smaller, used = dce_jaxpr(jaxpr, used_outputs, instantiate)
    left = {id(c) for c in smaller.consts}
    return smaller, [id(c) in left for c in jaxpr.consts], used
