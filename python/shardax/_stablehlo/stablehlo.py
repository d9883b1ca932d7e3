"""shardax/_stablehlo/stablehlo.py - StableHLO text of a program, for readers; nothing runs it."""

import json

import numpy as np

from shardax._stablehlo.literals import constant_text, dtype_text, element_text, type_text
from shardax._stablehlo.operations import module_of


def text_of(program, locations=False, shardings=(), devices=1):
    """The program in StableHLO's form; with `locations`, operations say which line made them.
    `shardings`: those of its arguments; `devices`: how many it is for, at least."""
    module = module_of(program, shardings)
    module.partitions = max(module.partitions, devices)
    return module_text(module, locations)


def exported_text(program, shardings, devices, arguments, polymorphic):
    """The text of an exported program for so many devices at least, whose arguments show their
    shardings and names. `polymorphic`: true if it stands for those of other sizes."""
    module = module_of(program, shardings)
    module.partitions = max(module.partitions, devices)
    said = f"jax.uses_shape_polymorphism = {str(polymorphic).lower()}, "
    return module_text(module, arguments=arguments, attributes=said)


def module_text(module, locations=False, arguments=(), attributes=""):
    """The text of a module."""
    head = (
        f"module @{module.name} attributes {{{attributes}mhlo.num_partitions = "
        f"{module.partitions} : i32, mhlo.num_replicas = 1 : i32}} {{"
    )
    functions = [
        _FunctionPrinter(f, locations, arguments if f.name == "main" else ()).text()
        for f in module.functions
    ]
    return "\n".join([head, *module.meshes, *functions, "}", ""])


class _FunctionPrinter:
    """Names values in order, as they are met."""

    def __init__(self, function, locations, titles):
        self.function, self.locations, self.titles = function, locations, titles
        self.names = {}
        self.counts = {}
        self.arguments = 0

    def argument(self, value):
        name = self.names[value] = f"%arg{self.arguments}"
        title = self.titles[self.arguments] if self.titles else None
        self.arguments += 1
        split = f" {{sdy.sharding = #sdy.sharding{value.split}}}" if value.split else ""
        location = f" loc({json.dumps(title)})" if title else ""
        return f"{name}: {type_text(value)}{split}{location}"

    def new(self, stem):
        """%cst, %cst_0, %cst_1 ...; %0, %1 ..."""
        n = self.counts.get(stem, 0)
        self.counts[stem] = n + 1
        if not stem:
            return f"%{n}"
        return f"%{stem}" if n == 0 else f"%{stem}_{n - 1}"

    def text(self):
        body = self.function.body
        arguments = ", ".join(map(self.argument, body.arguments))
        public = self.function.name == "main"
        results = [type_text(v) for v in body.results]
        if public:
            count = len(results)
            paths = ["result" if count == 1 else f"result[{i}]" for i in range(count)]
            splits = [
                f", sdy.sharding = #sdy.sharding{v.split}" if v.split else "" for v in body.results
            ]
            results = [
                f'{t} {{jax.result_info = "{p}"{s}}}' for t, p, s in zip(results, paths, splits)
            ]
        given = ", ".join(results)
        if public or len(results) != 1:
            given = f"({given})"
        lines = [
            f"  func.func {'public' if public else 'private'} @{self.function.name}({arguments}) "
            f"-> {given} {{"
        ]
        lines += self.lines(body, "    ")
        lines += [f"    return {self.listed(body.results)}", "  }"]
        return "\n".join(lines)

    def listed(self, values):
        names = ", ".join(self.names[v] for v in values)
        return f"{names} : {', '.join(map(type_text, values))}" if values else ""

    def lines(self, block, indent):
        found = []
        for operation in block.operations:
            found += self.operation(operation, indent)
        return found

    def operation(self, operation, indent):
        results = operation.results
        if operation.name == "constant":
            integer = np.dtype(results[0].dtype).kind in "biu" if _plain(results[0]) else False
            head = self.new("c" if integer else "cst")
            self.names[results[0]] = head
        elif len(results) == 1:
            head = self.names[results[0]] = self.new("")
        else:
            head = self.new("")
            for i, value in enumerate(results):
                self.names[value] = f"{head}#{i}"
            head = f"{head}:{len(results)}" if results else ""
        method = getattr(self, f"_{operation.name.replace('sdy.', '')}", None)
        if method:
            lines = method(operation, indent)
        elif operation.regions or operation.name in _QUOTED:
            lines = self.quoted(operation, indent)
        else:
            lines = [self.plain(operation)]
        if self.locations and operation.location:
            lines[-1] += f" loc({json.dumps(operation.path)}({json.dumps(operation.location)}))"
        first = f"{indent}{head} = {lines[0]}" if head else indent + lines[0]
        return [first, *lines[1:]]

    def operands(self, operation):
        return ", ".join(self.names[v] for v in operation.operands)

    def types(self, operation):
        """(inputs) -> outputs"""
        inputs = ", ".join(map(type_text, operation.operands))
        outputs = [type_text(v) for v in operation.results]
        given = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
        return f"({inputs}) -> {given}"

    def plain(self, operation):
        name = operation.name if "." in operation.name else f"stablehlo.{operation.name}"
        text = f"{name} {self.operands(operation)}".rstrip()
        types = {type_text(v) for v in (*operation.operands, *operation.results)}
        attributes = _PRETTY.get(operation.name, lambda _: "")(operation.attributes)
        same = len(types) == 1 and operation.name not in _ALWAYS_TYPED
        shown = types.pop() if same else self.types(operation)
        return f"{text}{attributes} : {shown}"

    def _iota(self, operation, indent):
        dim, result = operation.attributes["dim"], operation.results[0]
        return [f"stablehlo.iota dim = {dim} : {type_text(result)}"]

    def _partition_id(self, operation, indent):
        return [f"stablehlo.partition_id : {type_text(operation.results[0])}"]

    def _sharding_constraint(self, operation, indent):
        (x,), (result,) = operation.operands, operation.results
        return [f"sdy.sharding_constraint {self.names[x]} {result.split} : {type_text(result)}"]

    def _constant(self, operation, indent):
        value, (result,) = operation.attributes["value"], operation.results
        return [f"stablehlo.constant {constant_text(value)} : {type_text(result)}"]

    def _compare(self, operation, indent):
        direction, x = operation.attributes["direction"], operation.operands[0]
        kind = "SIGNED" if x.dtype.startswith("int") else "FLOAT"
        kind = "UNSIGNED" if x.dtype.startswith(("uint", "bool")) else kind
        names = self.operands(operation)
        return [f"stablehlo.compare {direction}, {names}, {kind} : {self.types(operation)}"]

    def _select(self, operation, indent):
        types = ", ".join(map(type_text, operation.operands[:2]))
        return [f"stablehlo.select {self.operands(operation)} : {types}"]

    def _reduce(self, operation, indent):
        x, init = (self.names[v] for v in operation.operands)
        attributes = operation.attributes
        return [
            f"stablehlo.reduce({x} init: {init}) applies stablehlo.{attributes['applies']} across "
            f"dimensions = {list(attributes['dimensions'])} : {self.types(operation)}"
        ]

    def _optimization_barrier(self, operation, indent):
        types = ", ".join(map(type_text, operation.operands))
        return [f"stablehlo.optimization_barrier {self.operands(operation)} : {types}"]

    def _convolution(self, operation, indent):
        a = operation.attributes
        lhs, rhs, out = (f"[{', '.join(labels)}]" for labels in a["labels"])
        window = ", ".join(
            f"{name} = {[list(x) if isinstance(x, tuple) else x for x in a[key]]}"
            for name, key in _WINDOW.items()
        )
        counts = ", ".join(
            f"{key} = {a[key]} : i64" for key in ("batch_group_count", "feature_group_count")
        )
        precisions = ", ".join(f"#stablehlo<precision {name}>" for name in a["precision"])
        return [
            f"stablehlo.convolution({self.operands(operation)}) dim_numbers = {lhs}x{rhs}->{out}, "
            f"window = {{{window}}} {{{counts}, precision_config = [{precisions}]}} : "
            f"{self.types(operation)}"
        ]

    def _call(self, operation, indent):
        call = "call" if indent == "    " else "func.call"
        callee = operation.attributes["callee"]
        return [f"{call} @{callee}({self.operands(operation)}) : {self.types(operation)}"]

    def _composite(self, operation, indent):
        a = operation.attributes
        given = f"composite_attributes = {{{a['attributes']}}}, " if a["attributes"] else ""
        version = f", version = {a['version']} : i32" if a["version"] else ""
        head = f"stablehlo.composite {json.dumps(a['called'])} {self.operands(operation)}".rstrip()
        return [
            f"{head} {{{given}decomposition = @{a['decomposition']}{version}}} : "
            f"{self.types(operation)}"
        ]

    def _custom_call(self, operation, indent):
        attributes = operation.attributes
        shown = ", ".join(f"{k} = {_one_line(v)}" for k, v in sorted(attributes["params"].items()))
        shown = f" {{{shown}}}" if shown else ""
        return [
            f"stablehlo.custom_call @shardax.{attributes['target']}({self.operands(operation)})"
            f"{shown} : {self.types(operation)}"
        ]

    def _while(self, operation, indent):
        test, body = operation.regions
        bound = []
        for argument, init in zip(test.arguments, operation.operands):
            name = self.names[argument] = self.new("iterArg")
            bound.append(f"{name} = {self.names[init]}")
        types = ", ".join(map(type_text, operation.operands))
        inner = indent + "  "
        return [
            f"stablehlo.while({', '.join(bound)}) : {types}",
            f"{indent}cond {{",
            *self.region(test, inner),
            f"{indent}}} do {{",
            *self.region(body, inner),
            f"{indent}}}",
        ]

    def region(self, block, indent, name="stablehlo.return"):
        lines = self.lines(block, indent)
        return [*lines, f"{indent}{name} {self.listed(block.results)}".rstrip()]

    def _case(self, operation, indent):
        lines = [f'"stablehlo.case"({self.operands(operation)}) ({{']
        for i, block in enumerate(operation.regions):
            lines += [f"{indent}}}, {{"] if i else []
            lines += self.region(block, indent + "  ")
        return [*lines, f"{indent}}}) : {self.types(operation)}"]

    def _manual_computation(self, operation, indent):
        (block,) = operation.regions
        axes = ", ".join(f'"{name}"={size}' for name, size in operation.attributes["axes"].items())
        arguments = ", ".join(map(self.argument, block.arguments))
        return [
            f"sdy.manual_computation({self.operands(operation)}) manual_axes={{{axes}}} "
            f"({arguments}) {{",
            *self.region(block, indent + "  ", "sdy.return"),
            f"{indent}}} : {self.types(operation)}",
        ]

    def quoted(self, operation, indent):
        """An operation in MLIR's generic form; `applies` is a region of two scalars."""
        attributes = _QUOTED[operation.name](operation.attributes)
        head = f'"stablehlo.{operation.name}"({self.operands(operation)}) <{{{attributes}}}>'
        if "applies" not in operation.attributes:
            return [f"{head} : {self.types(operation)}"]
        return [*self.joined(operation, head, indent), f"{indent}}}) : {self.types(operation)}"]

    def joined(self, operation, head, indent):
        element = f"tensor<{dtype_text(operation.results[0].dtype)}>"
        a, b = (f"%arg{self.arguments + i}" for i in range(2))
        self.arguments += 2
        lines = [f"{head} ({{", f"{indent}^bb0({a}: {element}, {b}: {element}):"]
        result, applies = b, operation.attributes["applies"]
        if applies is not None:
            result = self.new("")
            lines.append(f"{indent}  {result} = stablehlo.{applies} {a}, {b} : {element}")
        return [*lines, f"{indent}  stablehlo.return {result} : {element}"]

    def _top_k(self, operation, indent):
        (x,), k = operation.operands, operation.attributes["k"]
        outputs = ", ".join(map(type_text, operation.results))
        return [f"chlo.top_k({self.names[x]}, k = {k}) : {type_text(x)} -> ({outputs})"]

    def _sort(self, operation, indent):
        attributes = operation.attributes
        stable = element_text(np.asarray(attributes["stable"]))
        elements = [f"tensor<{dtype_text(v.dtype)}>" for v in operation.operands for _ in range(2)]
        names = [f"%arg{self.arguments + i}" for i in range(len(elements))]
        self.arguments += len(elements)
        arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, elements))
        less = self.new("")
        return [
            f'"stablehlo.sort"({self.operands(operation)}) <{{dimension = '
            f"{attributes['dimension']} : i64, is_stable = {stable}}}> ({{",
            f"{indent}^bb0({arguments}):",
            f"{indent}  {less} = stablehlo.compare LT, {names[0]}, {names[1]}, TOTALORDER : "
            f"({elements[0]}, {elements[1]}) -> tensor<i1>",
            f"{indent}  stablehlo.return {less} : tensor<i1>",
            f"{indent}}}) : {self.types(operation)}",
        ]


def _plain(value):
    return not value.dtype.startswith(("bfloat", "float8", "float4", "float6", "int4", "uint4"))


def _one_line(value):
    text = " ".join(str(value).split())
    return f'"{text}"'


def _window(a):
    parts = [f"{i}:{j}" if k == 1 else f"{i}:{j}:{k}" for i, j, k in a["window"]]
    return f" [{', '.join(parts)}]"


def _pad(a):
    return "".join(f", {name} = {list(a[name])}" for name in ("low", "high", "interior"))


def _dot(a):
    text = ""
    for name in ("batching", "contracting"):
        left, right = a[name]
        if left:
            text += f", {name}_dims = {list(left)} x {list(right)}"
    return f"{text}, precision = [{', '.join(a['precision'])}]"


def _groups(a):
    groups = a["groups"]
    return f"replica_groups = dense<{groups}> : tensor<{len(groups)}x{len(groups[0])}xi64>"


def _pairs(a):
    pairs = a["pairs"]
    return f"source_target_pairs = dense<{pairs}> : tensor<{len(pairs)}x2xi64>"


def _exchange(a):
    count = len(a["groups"][0])
    return (
        f"concat_dimension = {a['concat']} : i64, {_groups(a)}, split_count = {count} : i64, "
        f"split_dimension = {a['split']} : i64"
    )


def _dimensions(numbers):
    return ", ".join(f"{name} = {list(dims)}" for name, dims in numbers.items())


def _gather(a):
    sizes = ", ".join(map(str, a["sizes"]))
    return (
        f"dimension_numbers = #stablehlo.gather<{_dimensions(a['numbers'])}>, slice_sizes = "
        f"array<i64: {sizes}>"
    )


def _scatter(a):
    return f"scatter_dimension_numbers = #stablehlo.scatter<{_dimensions(a['numbers'])}>"


# The form of attributes behind the operands, and in the generic form.
_PRETTY = {
    "broadcast_in_dim": lambda a: f", dims = {list(a['dims'])}",
    "transpose": lambda a: f", dims = {list(a['dims'])}",
    "reverse": lambda a: f", dims = {list(a['dims'])}",
    "slice": _window,
    "dynamic_slice": lambda a: f", sizes = {list(a['sizes'])}",
    "concatenate": lambda a: f", dim = {a['dim']}",
    "pad": _pad,
    "dot_general": _dot,
}
_WINDOW = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
}
_ALWAYS_TYPED = {
    *("broadcast_in_dim", "concatenate", "convert", "dot_general", "dynamic_slice", "pad"),
    *("dynamic_update_slice", "is_finite", "reshape", "slice", "transpose"),
}
_QUOTED = {
    "all_reduce": _groups,
    "reduce_scatter": lambda a: f"{_groups(a)}, scatter_dimension = {a['dim']} : i64",
    "all_gather": lambda a: f"all_gather_dim = {a['dim']} : i64, {_groups(a)}",
    "collective_permute": _pairs,
    "all_to_all": _exchange,
    "gather": _gather,
    "scatter": _scatter,
}
