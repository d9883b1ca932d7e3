"""shardax/_stablehlo/operations.py - StableHLO operations of a program, for its text.

`module_of` walks a program's equations. Ops that StableHLO has become its operations (names.py);
calls become functions, loops and branches its `while` and `case`, mapped functions a
`manual_computation` with collectives. Other ops (decompositions, cumulative sums, random bits ...)
are a `custom_call` to the op's name here.
"""

import contextlib
import functools
import re

import numpy as np

from shardax._core import api as _core
from shardax._stablehlo.bodies import Bodies, scalar
from shardax._stablehlo.collectives import Collectives
from shardax._stablehlo.names import (
    COMPARISONS,
    ELEMENTWISE,
    IDENTITIES,
    REDUCTIONS,
    conv_labels,
    index_dims,
    precisions,
)
from shardax._stablehlo.shardings import Meshes
from shardax._stablehlo.structure import Block, Function, Module, Operation, Value


def module_of(program, shardings=(), apart=False):
    """The module of a program, without equations that its results do not need.

    Args:
      program: the Program.
      shardings: those of its arguments, None where they are not known; types may say more.
      apart: the program is one shard_map; the module is what one of its devices runs.
    """
    everything = [[True] * len(avals) for avals in (program.out_avals, program.in_avals)]
    smaller, _ = _core.pruned(program, *everything)
    lowering = _Lowering(apart)
    lowering.around = lowering.around.extend(f"jit({program.name})")
    lowering.functions.append(main := Function("main", None))
    if apart:
        params = smaller.eqns[0].params
        lowering.axes = dict(zip(params["axis_names"], params["axis_sizes"]))
        lowering.partitions = int(np.prod(params["axis_sizes"]))
        smaller = params["jaxpr"]
    main.body = lowering.block(smaller)
    for value, sharding in zip(main.body.arguments, shardings):
        value.split = value.split or lowering.meshes.split(sharding, len(value.shape))
    name = re.sub(r"\W", "_", f"jit_{program.name}").rstrip("_")
    partitions = max(lowering.partitions, lowering.meshes.size())
    return Module(name, lowering.functions, partitions, lowering.meshes.lines())


class _Lowering(Collectives, Bodies):
    def __init__(self, apart):
        self.apart = apart  # a device's data is not split
        self.functions = []
        self.names = set()
        self.called = {}  # by a program's identity: its function, and the program itself
        self.axes = {}  # sizes of the mapped axes in scope
        self.partitions = 1
        self.meshes = Meshes()
        self.around = _core.NameStack()  # the names around the present program
        self.here = self.around  # and those of the equation in hand

    @contextlib.contextmanager
    def within(self, *names):
        """A block for programs inside of the equation in hand."""
        outer = self.around, self.here
        self.around = functools.reduce(lambda stack, name: stack.extend(name), names, self.here)
        yield
        self.around, self.here = outer

    def value_of(self, aval):
        """A new value of a variable's type; keys are shown as the words that they consist of."""
        dtype = str(aval.dtype)
        if dtype.startswith("key"):
            return Value((*aval.shape, aval.dtype.itemsize // 4), "uint32")
        where = aval.sharding
        typed = where.mesh.explicit_axes and not self.apart
        split = self.meshes.split(where, len(aval.shape)) if typed else ""
        return Value(tuple(aval.shape), dtype, split)

    # ---- blocks and functions

    def block(self, program):
        """A block of the program's equations."""
        block = Block([self.value_of(v.aval) for v in program.invars])
        block.results = self.inline(block, program, block.arguments)
        return block

    def inline(self, block, program, values):
        """The program's results, with its equations at the end of the block."""
        known = dict(zip(program.invars, values, strict=True))
        for variable, constant in zip(program.constvars, program.consts):
            known[variable] = self.constant(block, constant, self.value_of(variable.aval))

        def read(atom):
            if isinstance(atom, _core.Literal):
                return self.constant(block, atom.val, self.value_of(atom.aval))
            return known[atom]

        for equation in program.eqns:
            operands = [read(atom) for atom in equation.invars]
            results = [self.value_of(v.aval) for v in equation.outvars]
            first = len(block.operations)
            self.here = self.around + equation.source_info.name_stack
            path = str(self.here.extend(_path_of(equation)))
            given = self.equation(block, equation, operands, results)
            if not block.operations or block.operations[-1].name not in _SPLIT_ALREADY:
                given = [self.constrained(block, v) if v in results else v for v in given]
            for operation in block.operations[first:]:
                operation.location = equation.source_info.text
                operation.path = path
            known.update(zip(equation.outvars, given, strict=True))
        return [read(atom) for atom in program.outvars]

    def emit(self, block, name, operands, results, regions=(), **attributes):
        block.operations.append(
            Operation(name, list(operands), list(results), attributes, list(regions))
        )
        return results

    def constant(self, block, array, value):
        return self.emit(block, "constant", [], [value], value=array)[0]

    def number(self, block, x, dtype="int32"):
        return self.constant(block, np.asarray(x, dtype), Value((), dtype))

    def spread(self, block, value, shape, split=""):
        """A scalar in that shape."""
        if value.shape == shape:
            return value
        wide, dims = Value(shape, value.dtype, split), tuple(range(len(value.shape)))
        spread = self.emit(block, "broadcast_in_dim", [value], [wide], dims=dims)[0]
        return self.constrained(block, spread)

    def constrained(self, block, value):
        """The value itself, or one that carries its split."""
        if not value.split:
            return value
        result = Value(value.shape, value.dtype, value.split)
        return self.emit(block, "sdy.sharding_constraint", [value], [result])[0]

    def call(self, block, name, program, operands, results, path=None):
        """A call of the program as a function of the module; `path` is its place in names."""
        callee = self.function_of(name, program, path)
        return self.emit(block, "call", operands, results, callee=callee)

    def function_of(self, name, program, path=None):
        """The name of the program's function in the module."""
        if id(program) not in self.called:
            function = Function(self.unused(name), None)
            self.functions.append(function)
            self.called[id(program)] = function, program
            with self.within(path or name):
                function.body = self.block(program)
        return self.called[id(program)][0].name

    def unused(self, name):
        name = "".join(c if c.isalnum() or c in "_." else "_" for c in name)
        found, n = name, 0
        while found in self.names:
            found, n = f"{name}_{n}", n + 1
        self.names.add(found)
        return found

    # ---- equations

    def equation(self, block, equation, operands, results):
        """The results of an equation: new ones, or others that they equal."""
        name, params = equation.primitive.name, equation.params
        if name in ELEMENTWISE:
            operands = [self.spread(block, x, results[0].shape, results[0].split) for x in operands]
            return self.emit(block, ELEMENTWISE[name], operands, results)
        if name in COMPARISONS:
            operands = [self.spread(block, x, results[0].shape, results[0].split) for x in operands]
            return self.emit(block, "compare", operands, results, direction=COMPARISONS[name])
        if name in IDENTITIES:
            return operands
        if name in REDUCTIONS:
            init = self.constant(block, REDUCTIONS[name][1](operands[0].dtype), scalar(operands[0]))
            attributes = {"applies": REDUCTIONS[name][0], "dimensions": tuple(params["axes"])}
            return self.emit(block, "reduce", [operands[0], init], results, **attributes)
        method = getattr(self, "_" + name.replace("-", "_"), None)
        if method is not None:
            found = method(block, params, operands, results)
            if found is not None:
                return found
        for key in ("jaxpr", "call_jaxpr"):
            if isinstance(params.get(key), _core.Program):
                body, path = params[key], _path_of(equation)
                called = params.get("name", name)
                return self.call(block, called, body, operands, results, path)
        shown = {k: v for k, v in params.items() if not isinstance(v, _core.Program)}
        return self.emit(block, "custom_call", operands, results, target=name, params=shown)

    def _sharding_constraint(self, block, params, operands, results):
        (x,) = operands
        split = self.meshes.split(params["sharding"], len(x.shape), params["unconstrained_dims"])
        result = Value(x.shape, x.dtype, split)
        return self.emit(block, "sdy.sharding_constraint", [x], [result]) if split else operands

    _reshard = _sharding_constraint

    def _convert_element_type(self, block, params, operands, results):
        if (operands[0].shape, operands[0].dtype) == (results[0].shape, results[0].dtype):
            return operands
        return self.emit(block, "convert", operands, results)

    def _select_n(self, block, params, operands, results):
        if len(operands) != 3 or operands[0].dtype != "bool":
            return None
        which, no, yes = operands
        shape = results[0].shape
        cases = [self.spread(block, x, shape) for x in (yes, no)]
        return self.emit(block, "select", [which, *cases], results)

    def _integer_pow(self, block, params, operands, results):
        (x,) = operands
        if params["y"] == 2:
            return self.emit(block, "multiply", [x, x], results)
        power = self.number(block, params["y"], x.dtype)
        return self.emit(block, "power", [x, self.spread(block, power, x.shape)], results)

    def _optimization_barrier(self, block, params, operands, results):
        return self.emit(block, "optimization_barrier", operands, results)

    def _square(self, block, params, operands, results):
        return self.emit(block, "multiply", operands * 2, results)

    def _broadcast_in_dim(self, block, params, operands, results):
        dims = tuple(params.get("broadcast_dimensions") or ())
        return self.emit(block, "broadcast_in_dim", operands[:1], results, dims=dims)

    def _reshape(self, block, params, operands, results):
        return self.emit(block, "reshape", operands[:1], results)

    _squeeze = _expand_dims = _reshape

    def _transpose(self, block, params, operands, results):
        return self.emit(block, "transpose", operands, results, dims=tuple(params["permutation"]))

    def _rev(self, block, params, operands, results):
        return self.emit(block, "reverse", operands, results, dims=tuple(params["dimensions"]))

    def _iota(self, block, params, operands, results):
        return self.emit(block, "iota", [], results, dim=params["dimension"])

    def _slice(self, block, params, operands, results):
        strides = params["strides"] or (1,) * len(results[0].shape)
        window = tuple(zip(params["start_indices"], params["limit_indices"], strides))
        return self.emit(block, "slice", operands, results, window=window)

    def _dynamic_slice(self, block, params, operands, results):
        sizes = tuple(params["slice_sizes"])
        return self.emit(block, "dynamic_slice", operands, results, sizes=sizes)

    def _dynamic_update_slice(self, block, params, operands, results):
        return self.emit(block, "dynamic_update_slice", operands, results)

    def _concatenate(self, block, params, operands, results):
        return self.emit(block, "concatenate", operands, results, dim=params["dimension"])

    def _pad(self, block, params, operands, results):
        low, high, interior = zip(*params["padding_config"]) if operands[0].shape else [()] * 3
        return self.emit(block, "pad", operands, results, low=low, high=high, interior=interior)

    def _dot_general(self, block, params, operands, results):
        contract, batch = params["dimension_numbers"]
        attributes = {"contracting": contract, "batching": batch, **precisions(params)}
        return self.emit(block, "dot_general", operands, results, **attributes)

    def _conv_general_dilated(self, block, params, operands, results):
        numbers, kernel = params["dimension_numbers"], operands[1].shape
        labels = [conv_labels(*pair) for pair in zip(numbers, ("bf", "oi", "bf"))]
        size = tuple(kernel[i] for i in numbers.rhs_spec[2:])
        attributes = params | {"labels": labels, "size": size} | precisions(params)
        return self.emit(block, "convolution", operands, results, **attributes)

    def _gather(self, block, params, operands, results):
        sizes = tuple(params["slice_sizes"])
        return self.emit(
            block, "gather", operands, results, numbers=index_dims(params), sizes=sizes
        )

    def _sort(self, block, params, operands, results):
        attributes = {"dimension": params["dimension"], "stable": bool(params["is_stable"])}
        return self.emit(block, "sort", operands, results, **attributes)

    def _top_k(self, block, params, operands, results):
        if params["axis"] != len(operands[0].shape) - 1:
            return None
        return self.emit(block, "top_k", operands, results, k=params["k"])

    def _scatter(self, block, params, operands, results, applies=None):
        numbers = index_dims(params)
        return self.emit(block, "scatter", operands, results, numbers=numbers, applies=applies)

    def _scatter_add(self, *args):
        return self._scatter(*args, applies="add")

    def _scatter_mul(self, *args):
        return self._scatter(*args, applies="multiply")


def _path_of(equation):
    """The last part of an equation's path, as XLA's profiles name operations."""
    name, params = equation.primitive.name, equation.params
    if name == "jit":
        return f"jit({params['name']})"
    return {"scan": "while"}.get(name, name)


# Ops that give the split of their results themselves.
_SPLIT_ALREADY = {
    *("sdy.sharding_constraint", "call", "while", "manual_computation", "constant"),
}
