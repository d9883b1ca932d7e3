"""shardax/_transform/python_traces.py - traces of the user's own, and what they are asked.

A subclass of `Trace` defines an op's effect in `process_primitive(primitive, tracers, params)`; its
values are a subclass of `core.Tracer`. `set_current_trace(trace)` makes it handle all ops that are
bound in a block, also those on plain arrays (cpp/callables/staging/python_trace.h).
"""

import contextlib
import types

from shardax._base.wrapped_functions import wrap_init
from shardax._core import api as _core
from shardax._transform.custom.arguments import SymbolicZero, _tangent


class Trace:
    """The handler of a transformation's ops. Subclasses define `process_primitive`, and further
    methods; `args` and `kwargs` are theirs.

    Example:
      >>> class Log(shardax.core.Trace):
      ...     def process_primitive(self, primitive, tracers, params):
      ...         print(primitive)
      ...         with shardax.core.set_current_trace(None):
      ...             return primitive.bind(*tracers, **params)
      >>> with shardax.core.set_current_trace(Log()):
      ...     y = lax.sin(lax.neg(0.0))
      neg
      sin
    """

    __slots__ = ("__weakref__", "_invalidated")
    # `Trace[MyTracer]` gives the type of the values, to readers and type checkers.
    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, *args, **kwargs):
        self._invalidated = False

    main = property(lambda self: getattr(self, "tag", None))

    def __repr__(self):
        return type(self).__name__

    def _refuse(self, what):
        raise NotImplementedError(
            f"{type(self).__name__}.{what} is not defined: the trace met such an op. Define it in "
            "the class."
        )

    def process_primitive(self, primitive, tracers, params):
        """The results of an op: one value, or a list if primitive.multiple_results."""
        self._refuse("process_primitive")

    def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
        """The list of results of a custom_jvp function. `fun` and `jvp` are WrappedFuns of flat
        values: jvp(*primals, *tangents) gives results, then their tangents."""
        self._refuse("process_custom_jvp_call")

    def process_custom_vjp_call(
        self, primitive, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros
    ):
        """The list of results of a custom_vjp function. `fwd` gives residuals, then results."""
        self._refuse("process_custom_vjp_call")

    def full_raise(self, x):
        """`x` as a value of this trace: as it is."""
        return x

    def stage_value(self, val):
        """`val` as a value of this trace."""
        self._refuse("stage_value")

    def process_call(self, call_primitive, f, tracers, params):
        """The results of a call of a function."""
        self._refuse("process_call")

    def is_valid(self):
        """True if it is still needed."""
        return not self._invalidated

    def invalidate(self):
        """Says that the trace is not needed any more."""
        self._invalidated = True


class TraceTag:
    """A name for a trace that is equal to no other.

    Example:
      >>> shardax.core.TraceTag() == shardax.core.TraceTag()
      False
    """


@contextlib.contextmanager
def handling(trace):
    """A block in which `trace` handles ops."""
    if trace is None:
        with _core.EagerContext():
            yield
        return
    context = trace.context if hasattr(trace, "context") else _core.PythonTraceContext(trace)
    with context:
        yield


# Parameters of JAX's calls of jitted functions that say nothing here.
_JIT_PARAMS = {
    "inline": False,
    "keep_unused": False,
    "donated_invars": None,
    "in_shardings": None,
    "out_shardings": None,
    "in_layouts": None,
    "out_layouts": None,
    "ctx_mesh": None,
    "compiler_options_kvs": (),
}


def jit_params(params):
    """The params of a call of a jitted function without those that say nothing."""
    dropped = {"inline"} if not params.get("inline") else set()
    dropped |= _JIT_PARAMS.keys() - {"inline"}
    return {name: value for name, value in params.items() if name not in dropped}


def process(trace, primitive, values, params, functions):
    """The results of an op by a trace, as a list; called by the core. `functions` are those of the
    user's that the op carries."""
    if functions and primitive.name == "custom_jvp_call" and "fun" in functions:
        return _custom_jvp(trace, primitive, values, params, functions)
    if functions and primitive.name == "custom_vjp_call" and "fun" in functions:
        return _custom_vjp(trace, primitive, values, params, functions)
    if primitive.name == "jit":
        params = _JIT_PARAMS | {"donated_invars": (False,) * len(values)} | params
    out = trace.process_primitive(primitive, values, params | functions)
    return list(out) if primitive.multiple_results else [out]


def _without_zeros(values):
    """None for tangents that are symbolic zeros, as the core has them."""
    return [None if isinstance(x, SymbolicZero) else x for x in values]


def _tangents(tangents, primals, symbolic):
    """The users' form of the core's tangents."""
    return [_tangent(t, _core.typeof(p), symbolic) for t, p in zip(tangents, primals, strict=True)]


def _custom_jvp(trace, primitive, values, params, functions):
    def fun(*primals):
        return functions["fun"](list(primals))[0]

    symbolic = params["symbolic_zeros"]

    def jvp(*both):
        out, tangents = functions["jvp"](_without_zeros(both))
        return [*out, *_tangents(tangents, out, symbolic)]

    out = trace.process_custom_jvp_call(
        primitive,
        wrap_init(fun),
        wrap_init(jvp),
        values,
        symbolic_zeros=symbolic,
    )
    return list(out)


def _custom_vjp(trace, primitive, values, params, functions):
    def fun(*primals):
        return functions["fun"](list(primals))[0]

    def fwd(*primals):
        out, residuals = functions["fwd"](list(primals))
        return [*residuals, *out]

    def bwd(*residuals_and_cotangents):
        return functions["bwd"](list(residuals_and_cotangents))[0]

    out = trace.process_custom_vjp_call(
        primitive,
        wrap_init(fun),
        wrap_init(fwd),
        bwd,
        values,
        out_trees=None,
        symbolic_zeros=params["symbolic_zeros"],
    )
    return list(out)


def bind_with_trace(primitive, trace, values, params):
    """The op on values, handled by that trace. A custom_jvp function may be given as
    `subfuns=(fun, jvp)`, WrappedFuns of flat values."""
    params = dict(params)
    subfuns = params.pop("subfuns", ())
    with handling(trace):
        if primitive.name != "custom_jvp_call" or not subfuns:
            return primitive.bind(*subfuns, *values, **params)
        return _bind_custom_jvp(*subfuns, values, params)


def _bind_custom_jvp(fun, jvp, values, params):
    symbolic = params.get("symbolic_zeros", False)

    def function(primals):
        return [[_core.asarray(x) for x in fun.call_wrapped(*primals)]]

    def rule(both):
        primals, tangents = both[: len(both) // 2], both[len(both) // 2 :]
        found = list(jvp.call_wrapped(*primals, *_tangents(tangents, primals, symbolic)))
        half = len(found) // 2
        return [_core.asarray(x) for x in found[:half]], _without_zeros(found[half:])

    name = getattr(fun, "__name__", "fun")
    return _core.custom_jvp_call(name, function, rule, "jvp", symbolic, list(values))
