"""shardax/_stablehlo/bodies.py - StableHLO text of ops that carry programs; nothing runs it."""

import numpy as np

from shardax._core import api as _core
from shardax._stablehlo.structure import Block, Value


class Bodies:
    """Methods that add a loop, a branch, a mapped function or a second evaluation to a block. They
    are a part of the class that lowers equations (operations.py)."""

    def _remat2(self, block, params, operands, results):
        """A second evaluation: values that it must not share with the first pass a barrier."""
        called, prevent = "checkpoint", params["prevent_cse"]
        if params["differentiated"]:
            called = "rematted_computation"
            apart = [prevent] * len(operands) if isinstance(prevent, bool) else prevent
            held = [x for x, barred in zip(operands, apart) if barred]
            if held:
                copies = [Value(x.shape, x.dtype, x.split) for x in held]
                kept = iter(self.emit(block, "optimization_barrier", held, copies))
                operands = [next(kept) if barred else x for x, barred in zip(operands, apart)]
        return self.call(block, "checkpoint", params["jaxpr"], operands, results, called)

    def _composite(self, block, params, operands, results):
        called = {"called": params["name"], "version": params["version"]}
        called["decomposition"] = self.function_of(params["name"], params["jaxpr"])
        called["attributes"] = params["attributes"]
        return self.emit(block, "composite", operands, results, **called)

    def _while(self, block, params, operands, results):
        tests, bodies = params["cond_nconsts"], params["body_nconsts"]
        carried = operands[tests + bodies :]
        arguments = [Value(x.shape, x.dtype) for x in carried]
        test, body = Block(arguments), Block(arguments)
        with self.within("while", "cond"):
            test.results = self.inline(test, params["cond_jaxpr"], operands[:tests] + arguments)
        held = operands[tests : tests + bodies]
        with self.within("while", "body"):
            body.results = self.inline(body, params["body_jaxpr"], held + arguments)
        return self.emit(block, "while", carried, results, [test, body])

    def _scan(self, block, params, operands, results):
        """A counter, the carry and the results so far go through a while."""
        constants, carries = params["num_consts"], params["num_carry"]
        steps, backward = params["length"], params["reverse"]
        held, xs = operands[:constants], operands[constants + carries :]
        start = self.number(block, 0)
        stacked = []
        for y in results[carries:]:
            zero = self.constant(block, np.zeros((), _numpy(y.dtype)), scalar(y))
            stacked.append(self.spread(block, zero, y.shape))
        inits = [start, *operands[constants : constants + carries], *stacked]
        arguments = [Value(x.shape, x.dtype) for x in inits]
        test, body = Block(arguments), Block(arguments)
        flag = Value((), "bool")
        self.emit(test, "compare", [arguments[0], self.number(test, steps)], [flag], direction="LT")
        test.results = [flag]
        index = arguments[0]
        if backward:
            last = self.number(body, steps - 1)
            index = self.emit(body, "subtract", [last, index], [Value((), "int32")])[0]
        zero = self.number(body, 0)
        slices = []
        for x in xs:
            starts, sizes = [index] + [zero] * (len(x.shape) - 1), (1, *x.shape[1:])
            part, row = Value(sizes, x.dtype), Value(x.shape[1:], x.dtype)
            self.emit(body, "dynamic_slice", [x, *starts], [part], sizes=sizes)
            slices += self.emit(body, "reshape", [part], [row])
        program = params["jaxpr"]
        given = [*held, *arguments[1 : 1 + carries], *slices]
        out = [self.value_of(v.aval) for v in program.outvars]
        with self.within("while", "body"):
            self.here = self.around
            self.call(body, "closed_call", program, given, out)
        kept = []
        for so_far, y in zip(arguments[1 + carries :], out[carries:]):
            row = self.emit(body, "reshape", [y], [Value((1, *y.shape), y.dtype)])[0]
            starts = [index] + [zero] * len(y.shape)
            updated = [Value(so_far.shape, so_far.dtype)]
            kept += self.emit(body, "dynamic_update_slice", [so_far, row, *starts], updated)
        one = self.number(body, 1)
        count = self.emit(body, "add", [arguments[0], one], [Value((), "int32")])[0]
        body.results = [count, *out[:carries], *kept]
        return self.emit(block, "while", inits, [Value((), "int32"), *results], [test, body])[1:]

    def _cond(self, block, params, operands, results):
        regions = []
        for i, branch in enumerate(params["branches"]):
            region = Block([])
            with self.within("cond", f"branch_{i}_fun"):
                region.results = self.inline(region, branch, operands[1:])
            regions.append(region)
        return self.emit(block, "case", operands[:1], results, regions)

    def _pmap(self, block, params, operands, results):
        (name,) = params["axis_name"]
        return self._manual(block, params["jaxpr"], {name: params["axis_size"]}, operands, results)

    def _shard_map(self, block, params, operands, results):
        sizes = dict(zip(params["axis_names"], params["axis_sizes"]))
        return self._manual(block, params["jaxpr"], sizes, operands, results)

    def _manual(self, block, program, axes, operands, results):
        outer = self.axes
        self.axes = outer | axes
        self.partitions = max(self.partitions, int(np.prod(list(self.axes.values()))))
        with self.within("manual_computation"):
            region = self.block(program)
        self.axes = outer
        return self.emit(block, "manual_computation", operands, results, [region], axes=axes)


def _numpy(dtype):
    return _core.ShapedArray((), dtype).dtype


def scalar(value):
    """One element of the dtype of `value`."""
    return Value((), value.dtype)
