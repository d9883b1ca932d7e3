"""shardax/_stablehlo/hlo.py - HLO text of a program, for readers; nothing runs it.

Shapes have a layout, which is always row-major here.
"""

import numpy as np

from shardax._core import api as _core
from shardax._stablehlo.literals import element_text
from shardax._stablehlo.operations import module_of
from shardax._stablehlo.structure import Value

_NAMES = {
    "case": "conditional",
    "dot_general": "dot",
    "broadcast_in_dim": "broadcast",
    "chlo.conj": "conjugate",
    "log_plus_one": "log-plus-one",
}
_DTYPES = {"bool": "pred", "float": "f", "bfloat": "bf", "uint": "u", "int": "s", "complex": "c"}


def text_of(program, names=False):
    """The program in HLO's form; with `names`, the path of each operation in its metadata."""
    return _Printer(module_of(program), names).text()


def compiled_text(program, known):
    """The program in HLO's form. If `known`, descriptions of its arguments' shardings, split them,
    the program that each device would run on its parts with a memory of its own."""
    parts = _core.partitioned(program, known)
    return _Printer(module_of(parts, apart=True), True).text() if parts else text_of(program, True)


def shape_text(value):
    """f32[4,8]{1,0}"""
    if value.dtype == "bool":
        name = "pred"
    elif value.dtype.startswith(("float8", "float4", "float6")):
        name = "f" + value.dtype[5:].replace("_", "")
    else:
        stem = value.dtype.rstrip("0123456789")
        name = _DTYPES.get(stem, stem) + value.dtype[len(stem) :]
    layout = ",".join(str(i) for i in reversed(range(len(value.shape))))
    return f"{name}[{','.join(map(str, value.shape))}]" + (f"{{{layout}}}" if layout else "")


def _shapes(values):
    values = list(values)
    if len(values) == 1:
        return shape_text(values[0])
    return f"({', '.join(map(shape_text, values))})"


def _braces(items):
    return "{" + ",".join(map(str, items)) + "}"


class _Printer:
    def __init__(self, module, names):
        self.module = module
        self.paths = names
        self.computations = []
        self.functions = {f.name: f for f in module.functions}
        self.printed = {}  # functions by name: their computations'
        self.counts = {}

    def text(self):
        module, main = self.module, self.module.functions[0].body
        layout = f"({', '.join(map(shape_text, main.arguments))})->{_shapes(main.results)}"
        head = f"HloModule {module.name}, entry_computation_layout={{{layout}}}"
        if module.partitions > 1:
            head += f", num_partitions={module.partitions}"
        entry = self.computation("main", main)
        self.computations.remove(entry)
        return (
            "\n\n".join([head, *(text for _, text in self.computations), "ENTRY " + entry[1]])
            + "\n"
        )

    def unique(self, stem):
        stem = stem.replace("-", "_")
        self.counts[stem] = self.counts.get(stem, 0) + 1
        return f"{stem}.{self.counts[stem]}"

    def computation(self, stem, block, captured=None, passing=None):
        """Adds a block's computation. With `captured`, values of outer blocks that it uses, it
        takes one tuple. With `passing`, values that it gives on beside its results, it gives
        one."""
        name = self.unique(stem)
        lines, names = [], {}
        values = [*block.arguments, *(captured or ())]
        for i, value in enumerate(values if captured is None else ()):
            names[value] = self.unique(f"Arg_{i}")
            lines.append(f"{names[value]} = {shape_text(value)} parameter({i})")
        if captured is not None:
            state = self.unique("Arg_0")
            lines.append(f"{state} = ({', '.join(map(shape_text, values))}) parameter(0)")
            lines += self.parts(state, values, names)
        for operation in block.operations:
            lines += self.operation(operation, names)
        results = [*block.results, *(passing or ())]
        if (
            len(results) == 1
            and passing is None
            and lines
            and lines[-1].startswith(f"{names[results[0]]} =")
        ):
            lines[-1] = "ROOT " + lines[-1]
        elif len(results) == 1 and passing is None:
            shape = shape_text(results[0])
            lines.append(f"ROOT {self.unique('copy')} = {shape} copy({names[results[0]]})")
        else:
            given = ", ".join(names[v] for v in results)
            shapes = f"({', '.join(map(shape_text, results))})"
            lines.append(f"ROOT {self.unique('tuple')} = {shapes} tuple({given})")
        found = name, f"{name} {{\n  " + "\n  ".join(lines) + "\n}"
        self.computations.append(found)
        return found

    def function(self, name):
        if name not in self.printed:
            self.printed[name] = self.computation(name, self.functions[name].body)[0]
        return self.printed[name]

    def region(self, applies, dtype):
        """A computation of two scalars."""
        a, b, c = (self.unique(stem) for stem in ("Arg_0", "Arg_1", applies or "copy"))
        shape = shape_text(Value((), dtype))
        name = self.unique("region")
        root = f"{applies}({a}, {b})" if applies else f"copy({b})"
        lines = [
            f"{a} = {shape} parameter(0)",
            f"{b} = {shape} parameter(1)",
            f"ROOT {c} = {shape} {root}",
        ]
        self.computations.append((name, f"{name} {{\n  " + "\n  ".join(lines) + "\n}"))
        return name

    def captured(self, *blocks):
        """The values of outer blocks that these use."""
        found = {}

        def visit(block, own):
            own = own | set(block.arguments)
            for operation in block.operations:
                for value in operation.operands:
                    if value not in own:
                        found[value] = None
                for region in operation.regions:
                    visit(region, own)
                own |= set(operation.results)
            for value in block.results:
                if value not in own:
                    found[value] = None

        for block in blocks:
            visit(block, set())
        return list(found)

    def operation(self, operation, names):
        """The lines of an operation."""
        method = getattr(self, f"_{operation.name}", None)
        if method:
            return method(operation, names)
        name = _NAMES.get(operation.name, operation.name.removeprefix("chlo.").replace("_", "-"))
        return self.line(operation, names, name, self.attributes(operation))

    def line(self, operation, names, name, attributes=(), operands=None):
        if operands is None:
            operands = ", ".join(names[v] for v in operation.operands)
        out = self.unique(name)
        shown = "".join(f", {a}" for a in attributes)
        if self.paths and operation.path:
            shown += f', metadata={{op_name="{operation.path}"}}'
        lines = [f"{out} = {_shapes(operation.results)} {name}({operands}){shown}"]
        if len(operation.results) == 1:
            names[operation.results[0]] = out
            return lines
        return [*lines, *self.parts(out, operation.results, names)]

    def parts(self, state, values, names):
        """The lines that take values out of a tuple."""
        for i, value in enumerate(values):
            names[value] = self.unique("get-tuple-element")
            yield f"{names[value]} = {shape_text(value)} get-tuple-element({state}), index={i}"

    def attributes(self, operation):
        a, name = operation.attributes, operation.name
        if "direction" in a:
            yield f"direction={a['direction']}"
        if "dims" in a or name == "concatenate":
            yield f"dimensions={_braces(a['dims'] if 'dims' in a else [a['dim']])}"
        if name == "iota":
            yield f"iota_dimension={a['dim']}"
        if name == "slice":
            parts = ", ".join(
                f"[{i}:{j}]" if k == 1 else f"[{i}:{j}:{k}]" for i, j, k in a["window"]
            )
            yield f"slice={{{parts}}}"
        if name == "dynamic_slice":
            yield f"dynamic_slice_sizes={_braces(a['sizes'])}"
        if name == "pad":
            config = zip(a["low"], a["high"], a["interior"])
            yield "padding=" + "x".join(f"{i}_{j}" + (f"_{k}" if k else "") for i, j, k in config)
        if name == "dot_general":
            for kind in ("batch", "contracting"):
                for side, dims in zip(("lhs", "rhs"), a["batching" if kind == "batch" else kind]):
                    if dims:
                        yield f"{side}_{kind}_dims={_braces(dims)}"
            yield from self.precision(a)
        if "numbers" in a:
            yield from (f"{key}={_braces(dims)}" for key, dims in a["numbers"].items())
        if name == "gather":
            yield f"slice_sizes={_braces(a['sizes'])}"
        if name == "reduce":
            yield f"dimensions={_braces(a['dimensions'])}"
        if name == "sort":
            yield f"dimensions={_braces([a['dimension']])}, is_stable={str(a['stable']).lower()}"
        if "groups" in a:
            groups = ",".join(_braces(group) for group in a["groups"])
            yield f"channel_id=1, replica_groups={{{groups}}}, use_global_device_ids=true"
        if name in ("all_gather", "reduce_scatter", "all_to_all"):
            yield f"dimensions={_braces([a.get('dim', a.get('split'))])}"
        if "pairs" in a:
            pairs = ",".join(_braces(pair) for pair in a["pairs"])
            yield f"channel_id=1, source_target_pairs={{{pairs}}}"
        if "applies" in a:
            yield f"to_apply={self.region(a['applies'], operation.results[0].dtype)}"

    def precision(self, a):
        """The precision of products, where it is not the default one."""
        names = [name.lower() for name in a["precision"]]
        if names != ["default"] * 2:
            yield f"operand_precision={_braces(names)}"

    def _constant(self, operation, names):
        value = np.asarray(operation.attributes["value"])
        if value.ndim == 0:
            shown = element_text(value) if value.dtype.kind in "biuc" else f"{float(value):g}"
        else:
            shown = "{...}"
        return self.line(operation, names, "constant", operands=shown)

    def _convolution(self, operation, names):
        a = operation.attributes
        rows = {"size": a["size"], "stride": a["window_strides"]}
        rows["pad"] = [f"{low}_{high}" for low, high in a["padding"]]
        rows |= {"lhs_dilate": a["lhs_dilation"], "rhs_dilate": a["rhs_dilation"]}
        window = " ".join(
            f"{name}={'x'.join(map(str, row))}"
            for name, row in rows.items()
            if name == "size" or set(row) - {1, "0_0"}
        )
        lhs, rhs, out = ("".join(labels) for labels in a["labels"])
        attributes = [f"window={{{window}}}", f"dim_labels={lhs}_{rhs}->{out}"]
        attributes += self.precision(a)
        for name in ("feature_group_count", "batch_group_count"):
            if a[name] != 1:
                attributes.append(f"{name}={a[name]}")
        return self.line(operation, names, "convolution", attributes)

    def _call(self, operation, names):
        callee = self.function(operation.attributes["callee"])
        return self.line(operation, names, "call", [f"to_apply={callee}"])

    def _optimization_barrier(self, operation, names):
        if len(operation.operands) == 1:
            return self.line(operation, names, "opt-barrier")
        given, shapes = self.unique("tuple"), _shapes(operation.operands)
        held = ", ".join(names[v] for v in operation.operands)
        barrier = self.line(operation, names, "opt-barrier", operands=given)
        return [f"{given} = {shapes} tuple({held})", *barrier]

    def _custom_call(self, operation, names):
        target = operation.attributes["target"]
        return self.line(
            operation, names, "custom-call", [f'custom_call_target="shardax.{target}"']
        )

    def _while(self, operation, names):
        """One tuple goes around: the carry, and the other values that the two computations use."""
        test, body = operation.regions
        outer = self.captured(test, body)
        given = ", ".join(names[v] for v in [*operation.operands, *outer])
        values = [*operation.operands, *outer]
        init, out = self.unique("tuple"), self.unique("while")
        shapes = f"({', '.join(map(shape_text, values))})"
        condition = self.computation("while_condition", test, outer)[0]
        looped = self.computation("while_body", body, outer, outer)[0]
        return [
            f"{init} = {shapes} tuple({given})",
            f"{out} = {shapes} while({init}), condition={condition}, body={looped}",
            *self.parts(out, operation.results, names),
        ]

    def _case(self, operation, names):
        lines, branches, operands = [], [], [names[operation.operands[0]]]
        for block in operation.regions:
            outer = self.captured(block)
            branches.append(self.computation("branch", block, outer)[0])
            operands.append(self.unique("tuple"))
            shapes, given = ", ".join(map(shape_text, outer)), ", ".join(names[v] for v in outer)
            lines.append(f"{operands[-1]} = ({shapes}) tuple({given})")
        attributes = [f"branch_computations={{{', '.join(branches)}}}"]
        return lines + self.line(operation, names, "conditional", attributes, ", ".join(operands))

    def _manual_computation(self, operation, names):
        """Arrays become shards, and those of the results arrays again."""
        (block,) = operation.regions
        lines, shards = [], []
        for whole, shard in zip(operation.operands, block.arguments):
            name = self.unique("custom-call")
            lines.append(
                f"{name} = {shape_text(shard)} custom-call({names[whole]}), "
                'custom_call_target="SPMDFullToShardShape"'
            )
            shards.append(name)
        callee = self.computation("shmap_body", block)[0]
        out = self.unique("call")
        lines.append(
            f"{out} = {_shapes(block.results)} call({', '.join(shards)}), to_apply={callee}"
        )
        for i, (shard, whole) in enumerate(zip(block.results, operation.results)):
            part = out
            if len(block.results) != 1:
                part = self.unique("get-tuple-element")
                lines.append(f"{part} = {shape_text(shard)} get-tuple-element({out}), index={i}")
            names[whole] = self.unique("custom-call")
            lines.append(
                f"{names[whole]} = {shape_text(whole)} custom-call({part}), "
                'custom_call_target="SPMDShardToFullShape"'
            )
        return lines
