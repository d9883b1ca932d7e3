# shardax/_transform/program_parts.py - programs taken apart and put together.
import dataclasses
import inspect
from typing import NamedTuple

from shardax import tree_util
from shardax._base.api_errors import argument_paths
from shardax._core import api as _api


@dataclasses.dataclass(frozen=True)
class DebugInfo:
    """The function that a program was made of, and the names of its arguments and results.

    Example:
      >>> def f(x, y):
      ...     return x * y
      >>> about = shardax.make_jaxpr(f)(1.0, 2.0).jaxpr.debug_info
      >>> about.func_name, about.arg_names
      ('f', ('x', 'y'))
    """

    traced_for: str
    func_src_info: str
    arg_names: tuple | None
    result_paths: tuple | None = None

    @property
    def func_name(self):
        return self.func_src_info.split(" ")[0]

    def resolve_result_paths(self):
        """The same, with names of results if there are any."""
        return self

    def with_unknown_names(self):
        """The same, without names of arguments and results."""
        return dataclasses.replace(self, arg_names=None, result_paths=None)


@dataclasses.dataclass(frozen=True)
class SourceInfo:
    """A line of a program: "file.py:12:4 (f)", or "" where it is not known; and the names that
    named_scope gave.
    """

    text: str = ""
    name_stack: _api.NameStack = _api.NameStack()

    @property
    def traceback(self):
        return self


class EquationContext(NamedTuple):
    """Settings under which an equation was made: they are the program's, never an equation's."""

    compute_type: object = None
    threefry_partitionable: bool = True
    xla_metadata: object = None


def gensym():
    """A function that gives a new variable of a type.

    Example:
      >>> new = shardax.core.gensym()
      >>> v = new(shardax.core.ShapedArray((2,), "float32"))
      >>> v.aval
      ShapedArray(float32[2])
    """
    return _api.Var


class DropVar(_api.Var):
    """A variable for a result that nobody uses.

    Example:
      >>> shardax.core.DropVar(shardax.core.ShapedArray((), "float32")).aval
      ShapedArray(float32[])
    """


def new_jaxpr_eqn(invars, outvars, primitive, params, effects=(), source_info=None, ctx=None):
    """An equation, for programs that are put together.

    Args:
      invars: variables and literals.
      outvars: variables, new ones of `gensym()`.
      primitive, params: the op, and its parameters by name.
      effects, source_info, ctx: follow from the primitive and the place of this call.

    Example:
      >>> x, y = (shardax.core.gensym()(shardax.typeof(1.0)) for _ in range(2))
      >>> sin = shardax.make_jaxpr(jnp.sin)(1.0).eqns[0]
      >>> shardax.core.new_jaxpr_eqn([x], [y], sin.primitive, sin.params).primitive
      sin
    """
    return _api.equation(list(invars), list(outvars), primitive, dict(params))


def jaxprs_in_params(params):
    """The programs among the parameters of an equation, or in their tuples and lists.

    Example:
      >>> program = shardax.make_jaxpr(lambda x: shardax.jit(jnp.sin)(x) + 1)(1.0)
      >>> for inner in shardax.core.jaxprs_in_params(program.eqns[0].params):
      ...     print([eqn.primitive for eqn in inner.eqns])
      [sin]
    """
    for value in params.values():
        for item in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(item, _api.Program):
                yield item


def subjaxprs(jaxpr):
    """The programs that the equations of a program carry.

    Example:
      >>> program = shardax.make_jaxpr(lambda x: shardax.jit(jnp.sin)(x) + 1)(1.0)
      >>> for inner in shardax.core.subjaxprs(program.jaxpr):
      ...     print([eqn.primitive for eqn in inner.eqns])
      [sin]
    """
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


def check_jaxpr(jaxpr):
    """Checks that the types of a program fit its ops.

    Raises:
      JaxprTypeError: one does not.

    Example:
      >>> shardax.core.check_jaxpr(shardax.make_jaxpr(jnp.sin)(1.0).jaxpr)
    """
    _api.check_program(jaxpr)


def _renamed(changes, known, what):
    unknown = changes.keys() - known
    if unknown:
        raise TypeError(f"{what}.replace() got an unexpected keyword argument '{min(unknown)}'")


def changed_equation(eqn, changes):
    """Equation.replace of the core."""
    _renamed(
        changes,
        {"invars", "outvars", "primitive", "params", "effects", "source_info", "ctx"},
        "JaxprEqn",
    )
    return new_jaxpr_eqn(
        changes.get("invars", eqn.invars),
        changes.get("outvars", eqn.outvars),
        changes.get("primitive", eqn.primitive),
        changes.get("params", eqn.params),
    )


def make_program(args, kwargs):
    """The constructor of programs: Jaxpr(constvars, invars, outvars, eqns), or
    ClosedJaxpr(jaxpr, consts)."""
    if "jaxpr" in kwargs or (args and isinstance(args[0], _api.Program)):
        return _closed(*args, **kwargs)
    return _program(*args, **kwargs)


def _program(constvars, invars, outvars, eqns, effects=(), debug_info=None, is_high=False):
    name = "" if debug_info is None else debug_info.func_name
    made = _api.program(list(constvars), list(invars), list(outvars), list(eqns), [], name)
    if debug_info is not None:
        made.describe(lambda: debug_info)
    return made


_api.Program.__signature__ = inspect.signature(_program)
_api.Var.__signature__ = inspect.signature(lambda aval: None)
_api.Literal.__signature__ = inspect.signature(lambda val, aval: None)


def _closed(jaxpr, consts=()):
    consts = list(consts)
    if not consts or not jaxpr.constvars:
        return jaxpr
    return _api.program(
        jaxpr.constvars, jaxpr.invars, jaxpr.outvars, jaxpr.eqns, consts, jaxpr.name
    )


def changed_program(jaxpr, changes):
    """Program.replace of the core."""
    parts = {"constvars", "invars", "outvars", "eqns", "consts"}
    _renamed(changes, parts | {"effects", "debug_info", "jaxpr", "is_high"}, "Jaxpr")
    base = changes.get("jaxpr", jaxpr)
    constvars, invars, outvars, eqns = (
        list(changes.get(part, getattr(base, part)))
        for part in ("constvars", "invars", "outvars", "eqns")
    )
    same = len(constvars) == len(jaxpr.consts)
    consts = list(changes.get("consts", jaxpr.consts if same else []))
    about = changes.get("debug_info", base.debug_info)
    if len(invars) != len(jaxpr.invars) or len(outvars) != len(jaxpr.outvars):
        about = about if "debug_info" in changes else about.with_unknown_names()
    made = _api.program(constvars, invars, outvars, eqns, consts, about.func_name)
    made.describe(lambda: about)
    return made


def debug_info(jaxpr):
    """The Program.debug_info of a program of which only the function's name is known."""
    return DebugInfo("jit", jaxpr.name or "<unknown>", None)


def describe(program, fun, args, kwargs, statics, out_tree):
    """Has the program of fun(*args, **kwargs) say the names of its arguments and results.

    Args:
      statics: positions and names of arguments that it has not.
    """
    leaves, tree = tree_util.tree_flatten((args, kwargs))
    name, count = program.name or "<unknown>", (len(program.invars), len(program.outvars))

    def about():
        inner = inspect.unwrap(fun)
        code = getattr(inner, "__code__", None)
        source = name if code is None else f"{name} at {code.co_filename}:{code.co_firstlineno}"
        where = tree_util.tree_leaves_with_path(out_tree.unflatten(range(out_tree.num_leaves)))
        results = tuple("result" + tree_util.keystr(path) for path, _ in where)
        args, kwargs = tree.unflatten(range(len(leaves)))
        names = tuple(argument_paths(inner, args, kwargs, statics))
        if (len(names), len(results)) != count:  # references have values among both
            return DebugInfo("jit", source, None)
        return DebugInfo("jit", source, names, results)

    program.describe(about)


def asked_shardings(program):
    """The shardings of arguments and of results that the program itself names, else None."""
    jaxpr = program.jaxpr
    given, made = {}, {}
    for eqn in jaxpr.eqns:
        if eqn.primitive.name in ("sharding_constraint", "reshard"):
            where = eqn.params["sharding"]
            made[eqn.outvars[0]] = where
            if isinstance(eqn.invars[0], _api.Var):  # no number
                given.setdefault(eqn.invars[0], where)
    results = [made.get(v) if isinstance(v, _api.Var) else None for v in jaxpr.outvars]
    return list(map(given.get, jaxpr.invars)), results
