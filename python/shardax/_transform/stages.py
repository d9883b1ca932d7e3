"""shardax/_transform/stages.py - a jitted function in steps: traced, lowered, compiled; and
abstract shapes.

Rare paths of C++ call it too: zeros of dtype float0.
"""

import contextlib
import dataclasses
import functools
import typing
from typing import Any

import numpy as np

from shardax import tree_util
from shardax._base.api_errors import argument_paths
from shardax._base.dtypes import float0
from shardax._base.options import check_compiler_options
from shardax._core import api as _core
from shardax._core.pytree import flatten_for_call
from shardax._devices.layout import layout_of
from shardax._devices.layouts import Format, recorded_order
from shardax._devices.shardings import NamedSharding, described
from shardax._stablehlo import hlo, stablehlo
from shardax._transform.analyses import HloModule, StableHloModule, costs, memory
from shardax._transform.assignment import Assignment
from shardax._transform.call_checks import (
    check_concrete,
    check_layouts,
    check_shardings,
    check_structure,
    check_types,
)
from shardax._transform.program_parts import describe
from shardax._transform.refs.slots import Met
from shardax._transform.refs.stages import stage_function, staged_with_refs, stands_for_ref
from shardax._transform.shape_structs import ShapeDtypeStruct as ShapeDtypeStruct
from shardax._transform.shape_structs import (
    shapes_alone,
    split_as_asked,
    struct_of,
)


def float0_zeros(shape):
    """The cotangent of integers: an array without data."""
    return np.zeros(shape, float0)


def dtype_name(x):
    """'float0' for arrays of that dtype, else the name of x's dtype, or ''."""
    dtype = getattr(x, "dtype", None)
    return "float0" if dtype == float0 else str(dtype or "")


def result_shapes(fun, args, kwargs):
    """The results of fun(*args, **kwargs) as ShapeDtypeStructs; the function may return some."""
    given = []

    def arrays(*args, **kwargs):
        with shapes_alone():
            leaves, tree = flatten_for_call(fun(*args, **kwargs))
        given.append(([x if isinstance(x, ShapeDtypeStruct) else None for x in leaves], tree))
        return [x for x in leaves if not isinstance(x, ShapeDtypeStruct)]

    functools.update_wrapper(arrays, fun)
    staged = stage_function(arrays, args, kwargs)
    structs, tree = given[-1]
    found = map(struct_of, staged.out_avals)
    return split_as_asked(fun, tree.unflatten([next(found) if x is None else x for x in structs]))


def shape_of(staged):
    """The results of a staged function, as ShapeDtypeStructs."""
    return tree_util.tree_unflatten(staged.out_tree, [struct_of(a) for a in staged.out_avals])


@contextlib.contextmanager
def ensure_compile_time_eval():
    """A context in which ops on known arrays compute at once, also inside a function that is being
    traced. Ops on tracers are recorded as ever.

    Example:
      >>> @shardax.jit
      ... def f(x):
      ...     with shardax.ensure_compile_time_eval():
      ...         count = int(jnp.arange(3).sum())
      ...     return x + count
      >>> f(1)
      Array(4, dtype=int32, weak_type=True)
    """
    with _core.EagerContext():
        yield


@dataclasses.dataclass(frozen=True)
class ArgInfo:
    """The type of an argument's array, and whether the caller gives it away.

    Example:
      >>> shardax.jit(jnp.sin).lower(jnp.ones(2)).args_info[0][0].shape
      (2,)
    """

    _aval: typing.Any
    donated: bool

    shape = property(lambda self: self._aval.shape)
    dtype = property(lambda self: self._aval.dtype)


@typing.runtime_checkable
class Wrapped(typing.Protocol):
    """The type of functions from jit and pmap: callable, and staged by `trace` and `lower`.

    Example:
      >>> isinstance(shardax.jit(jnp.sin), shardax.stages.Wrapped)
      True
    """

    def __call__(self, *args, **kwargs) -> Any: ...

    def trace(self, *args, **kwargs): ...

    def lower(self, *args, **kwargs) -> Any: ...


class _Stage:
    """The common parts of the stages; each is made from the one before.

    in_tree: the structure of (args, kwargs), without static arguments.
    in_avals: the types of the arguments, in that structure.
    args_info: an ArgInfo per array, in that structure.
    out_tree, out_info: the structure of the result, with a ShapeDtypeStruct per array.
    donate_argnums: the positions, among all arrays, of those that are donated.
    """

    in_tree = property(lambda self: self._call.in_tree)
    out_tree = property(lambda self: self._call.staged.out_tree)
    out_info = property(lambda self: split_as_asked(self._call.fun, shape_of(self._call.staged)))
    in_avals = property(lambda self: self._call.arguments(self._call.in_types))

    @property
    def args_info(self):
        call = self._call
        infos = [ArgInfo(a, d) for a, d in zip(call.in_types, call.donated)]
        return call.arguments(infos)

    @property
    def donate_argnums(self):
        return tuple(i for i, donated in enumerate(self._call.donated) if donated)


class _Call:
    """A function staged for some arguments."""

    def __init__(self, fun, args, kwargs) -> None:
        self.fun = fun
        self.args = args
        self.kwargs = kwargs
        tree, positions, names, self.donated = _core.call_info(fun, args, kwargs)
        self.in_tree = tree
        self.static_positions, self.static_names = positions, names
        leaves = tree_util.tree_leaves((args, kwargs))
        try:
            if any(map(stands_for_ref, leaves)):
                raise Met()
            self.staged = _core.stage_function(fun, args, kwargs)
        except Met:  # a reference, or a value that changes, is among the arguments
            self.staged = staged_with_refs(fun.__wrapped__, positions, names, args, kwargs)
        self.in_types = self.staged.in_avals[: tree.num_leaves]

    def shardings(self):
        """The shardings of the arguments, if they are split over a mesh, else None."""
        found = [getattr(leaf, "sharding", None) for leaf in self._leaves()]
        return [w if isinstance(w, NamedSharding) and w.mesh.axis_names else None for w in found]

    def orders(self):
        """The orders of dimensions of the arguments, None where it is the usual one."""
        return [recorded_order(leaf) for leaf in self._leaves()]

    def _leaves(self):
        """The arguments that are not static."""
        args = [a for i, a in enumerate(self.args) if i not in self.static_positions]
        kwargs = {k: v for k, v in self.kwargs.items() if k not in self.static_names}
        return tree_util.tree_leaves((args, kwargs))

    def arguments(self, leaves):
        return tree_util.tree_unflatten(self.in_tree, leaves)

    def paths(self, args, kwargs):
        """The names of the arguments' leaves in messages."""
        return argument_paths(self.fun, args, kwargs, [*self.static_positions, *self.static_names])

    def with_statics(self, args, kwargs):
        """All arguments, given those that are not static."""
        args = list(args)
        for position in self.static_positions:
            args.insert(position, self.args[position])
        return args, kwargs | {name: self.kwargs[name] for name in self.static_names}


class Traced(_Stage):
    """A function staged for some arguments: `.jaxpr` shows its program, `.lower()` goes on.

    Example:
      >>> shardax.jit(lambda x: x + 1).trace(1.0).jaxpr
      { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """

    def __init__(self, fun, args, kwargs) -> None:
        self._call = _Call(fun, args, kwargs)

    @property
    def jaxpr(self):
        call = self._call
        program, statics = call.staged.program, [*call.static_positions, *call.static_names]
        describe(program, call.fun, call.args, call.kwargs, statics, self.out_tree)
        return program

    @property
    def fun_name(self):
        return self._call.staged.program.name

    def lower(self, *, lowering_platforms=None) -> Any:
        """The next stage.

        Args:
          lowering_platforms: names of platforms; needed where arguments are split over an
            AbstractMesh alone, which stands for devices that compile is given.

        Raises:
          ValueError: where meshes differ in size, or the platforms are missing.
        """
        return Lowered(self._call, lowering_platforms)


def _check_dialect(dialect):
    if dialect not in (None, "stablehlo", "hlo"):
        raise ValueError(f"Lowered: got dialect={dialect!r}; expected 'stablehlo' or 'hlo'.")


class Lowered(_Stage):
    """A staged function, ready to be compiled; `as_text` shows its program.

    Example:
      >>> shardax.jit(lambda x: x + 1).lower(1.0).as_text().splitlines()[0][:6]
      'module'
    """

    def __init__(self, call, platforms=None) -> None:
        self._call = call
        self._assignment = Assignment(call.shardings(), platforms)

    def as_text(self, dialect=None, *, debug_info=False) -> Any:
        """The program as text in StableHLO's form, as it is before any pass.

        Ops that StableHLO lacks (decompositions, random bits, cumulative sums ...) are shown as
        `custom_call`s to their name here. Large constants are shortened. `Traced.jaxpr` shows the
        program itself.

        Args:
          dialect: "stablehlo" or "hlo".
          debug_info: show the lines that operations come from; in HLO, the names that named_scope
            gave and what they went through, as `op_name`.

        Raises:
          ValueError: for another dialect.

        Example:
          >>> text = jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((2, 2))).as_text()
          >>> "stablehlo.sine" in text, "stablehlo.dot_general" in text
          (True, True)
        """
        _check_dialect(dialect)
        if dialect == "hlo":
            return hlo.text_of(self._call.staged.program, debug_info)
        program, shardings = self._call.staged.program, self._call.shardings()
        return stablehlo.text_of(program, debug_info, shardings, self._assignment.size)

    def compiler_ir(self, dialect=None) -> Any:
        """The program: str shows it in StableHLO's form; for "hlo" it has a method
        `as_hlo_text`."""
        _check_dialect(dialect)
        program = self._call.staged.program
        return HloModule(program) if dialect == "hlo" else StableHloModule(program)

    def cost_analysis(self) -> Any:
        """A dict of the program's costs: "flops", "transcendentals", "bytes accessed".

        Example:
          >>> jit(lambda x: jnp.sin(x @ x)).lower(jnp.ones((2, 2))).cost_analysis()["flops"]
          16.0
        """
        return costs(self._call.staged.program)

    def compile(self, compiler_options=None, *, device_assignment=None) -> Any:
        """The next stage, which can be called.

        Args:
          compiler_options: accepted for compatibility where it names options of XLA.
          device_assignment: the devices that an AbstractMesh stands for, a tuple.

        Raises:
          JaxRuntimeError: for other options.
          RuntimeError: where only an AbstractMesh is known, and no devices are given.
          ValueError: for other devices than arguments lie on, or another number of them.
        """
        self._assignment.check(device_assignment)
        check_compiler_options(compiler_options)
        return Compiled(self._call)


def _formats(avals, shardings, orders):
    return [Format(layout_of(o, len(a.shape)), s) for a, s, o in zip(avals, shardings, orders)]


class Compiled(_Stage):
    """A function compiled for the types of some arguments. A call takes those that are not static.

    Raises:
      TypeError: for arguments of another structure, other shapes or dtypes, and under a
        transformation.
      ValueError: for arrays that were placed otherwise than it was compiled for.

    Example:
      >>> compiled = shardax.jit(jnp.sin).lower(jnp.zeros(2)).compile()
      >>> compiled(jnp.zeros(2))
      Array([0., 0.], dtype=float32)
    """

    def __init__(self, call) -> None:
        self._call = call

    def as_text(self) -> Any:
        """The program as text in HLO's form; where a mesh splits arguments, that of one device with
        a memory of its own. SHARDAX_DUMP=passes shows our compiler's program."""
        return hlo.compiled_text(self._call.staged.program, self._known())

    def cost_analysis(self) -> Any:
        """A dict of the program's costs: "flops", "transcendentals", "bytes accessed"."""
        return costs(self._call.staged.program)

    def memory_analysis(self) -> Any:
        """Sizes in bytes of the arguments, the results and the temporary values."""
        return memory(self._call.staged.program)

    @property
    def out_info(self):
        """A ShapeDtypeStruct per result, with its sharding."""
        infos = zip(self._call.staged.out_avals, self._shardings(1))
        structs = [struct_of(aval).update(sharding=where) for aval, where in infos]
        return tree_util.tree_unflatten(self.out_tree, structs)

    @property
    def input_shardings(self):
        """The shardings of (args, kwargs): those of jit's in_shardings, else those of the arguments
        that it was lowered for. Without one, they are over the mesh of the others."""
        return self._call.arguments(self._shardings(0)[: len(self._call.in_types)])

    @property
    def output_shardings(self):
        """The shardings that results have where arguments have input_shardings."""
        return tree_util.tree_unflatten(self.out_tree, self._shardings(1))

    @property
    def input_formats(self):
        """The Formats of (args, kwargs): how they lie in memory, with their shardings."""
        avals = self._call.in_types
        return self._call.arguments(_formats(avals, self._required, self._orders))

    @property
    def output_formats(self):
        """The Formats of results."""
        avals = self._call.staged.out_avals
        orders = _core.layouts(self._call.staged.program)[1]
        return tree_util.tree_unflatten(self.out_tree, _formats(avals, self._shardings(1), orders))

    @functools.cached_property
    def _required(self):
        return self._shardings(0)[: len(self._call.in_types)]

    @functools.cached_property
    def _orders(self):
        """The orders of arguments' dimensions that were asked for, or None. They are those of jit's
        in_shardings, else those of the arguments that it was lowered for."""
        asked = _core.layouts(self._call.staged.program)[0]
        return [own or order for own, order in zip(asked, self._call.orders())]

    def _known(self):
        pairs = zip(self._call.shardings(), self._call.in_types)
        return [where and where._description(len(aval.shape)) for where, aval in pairs]

    def _shardings(self, which):
        program = self._call.staged.program
        return [described(d) for d in _core.shardings(program, self._known())[which]]

    def runtime_executable(self):
        """The program that runs."""
        return self._call.staged.program

    def __call__(self, *args, **kwargs) -> Any:
        leaves, tree = flatten_for_call((args, kwargs))
        check_structure(self.in_tree, tree)
        check_concrete(leaves)
        args, kwargs = self._call.with_statics(args, kwargs)
        paths = functools.partial(self._call.paths, args, kwargs)
        check_types(self._call.in_types, leaves, paths)
        check_shardings(self._required, leaves, paths)
        check_layouts(self._orders, leaves, paths)
        return self._call.fun(*args, **kwargs)


def trace(fun, args, kwargs):
    """fun.trace(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {})


def lower(fun, args, kwargs):
    """fun.lower(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {}).lower()


def eval_shape(fun, args, kwargs):
    """fun.eval_shape(*args, **kwargs)."""
    return Traced(fun, args, kwargs or {}).out_info
