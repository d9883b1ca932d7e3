"""tests/fuzz/archive_changes.py - exported programs with some of their fields changed.

Reading or calling one never ends the process or hangs.
"""

import copy
import random
import struct

from archives import (
    AXES,
    BOOL,
    DTYPE,
    FLOAT,
    INT,
    INTS,
    NONE,
    PROGRAM,
    PROGRAMS,
    SHARDING,
    TEXT,
    TYPES,
    written,
)

DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint32", "float16", "bfloat16", "float32")
DTYPES += ("float64", "complex64", "key<fry>", "float0", "int4", "float8_e4m3fn")
NUMBERS = (0, -1, 2, 3, 64, 65, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63))


# ---- what there is to change ---------------------------------------------------------------------


def bodies(equation):
    """(list, position) of each program that an equation carries."""
    for param in equation.params:
        if param.kind == PROGRAM:
            yield param, None, param.value
        elif param.kind == PROGRAMS:
            for k, body in enumerate(param.value):
                yield param, k, body


def put_body(param, k, body):
    if k is None:
        param.value = body
    else:
        param.value[k] = body


def programs(program):
    """The program and those within."""
    yield program
    for equation in program.equations:
        for _, _, body in bodies(equation):
            yield from programs(body)


def equations(program):
    return [(p, i) for p in programs(program) for i in range(len(p.equations))]


def params(program):
    return [(p.equations[i], k) for p, i in equations(program)
            for k in range(len(p.equations[i].params))]  # fmt: skip


def types(program):
    found = []
    for p in programs(program):
        found += p.types + [c[1] for c in p.constants]
        for e in p.equations:
            for param in e.params:
                if param.kind == TYPES:
                    found += param.value
    return found


def integers(program):
    """(list or object, position or attribute) of each number."""
    found = []
    for p in programs(program):
        for t in p.types:
            found += [(t.shape, d) for d in range(len(t.shape))]
        for numbers in (p.inputs, p.outputs):
            found += [(numbers, i) for i in range(len(numbers))]
        for e in p.equations:
            for numbers in (e.inputs, e.outputs):
                found += [(numbers, i) for i in range(len(numbers))]
            for param in e.params:
                if param.kind in (INT, BOOL):
                    found.append((param, "value"))
                if param.kind == INTS:
                    found += [(param.value, i) for i in range(len(param.value))] * 2
    return found


def get(place, key):
    return getattr(place, key) if isinstance(key, str) else place[key]


def put(place, key, value):
    if isinstance(key, str):
        setattr(place, key, value)
    else:
        place[key] = value


# ---- changes: each takes the program and a source of chances, and says what it did --------------


def number_one_more(program, r):
    place, key = r.choice(integers(program))
    old = get(place, key)
    put(place, key, old + r.choice((1, 1, -1)))
    return f"{old} is {get(place, key)}"


def number_another(program, r):
    place, key = r.choice(integers(program))
    old = get(place, key)
    put(place, key, r.choice(NUMBERS))
    return f"{old} is {get(place, key)}"


def equation_left_out(program, r):
    p, i = r.choice(equations(program))
    return f"without {p.equations.pop(i).op}"


def equation_doubled(program, r):
    p, i = r.choice(equations(program))
    p.equations.insert(i, copy.deepcopy(p.equations[i]))
    return f"{p.equations[i].op} twice"


def equation_moved(program, r):
    p, i = r.choice(equations(program))
    e = p.equations.pop(i)
    p.equations.insert(r.randrange(len(p.equations) + 1), e)
    return f"{e.op} elsewhere"


def variable_exchanged(program, r):
    p, i = r.choice(equations(program))
    e = p.equations[i]
    lists = [vs for vs in (e.inputs, e.outputs, p.outputs, p.inputs) if vs]
    if not lists:
        return "nothing"
    numbers = r.choice(lists)
    k = r.randrange(len(numbers))
    old = numbers[k]
    numbers[k] = r.randrange(len(p.types))
    return f"in {e.op}: variable {old} is {numbers[k]}"


def variable_more_or_less(program, r):
    p, i = r.choice(equations(program))
    e = p.equations[i]
    numbers = r.choice((e.inputs, e.outputs, p.outputs, p.inputs))
    if numbers and r.random() < 0.5:
        numbers.pop(r.randrange(len(numbers)))
        return f"in {e.op}: a variable less"
    numbers.insert(r.randrange(len(numbers) + 1), r.randrange(len(p.types)))
    return f"in {e.op}: a variable more"


def _sizes(program):
    return sorted({n for t in types(program) for n in t.shape})


def shape_changed_everywhere(program, r):
    sizes = _sizes(program)
    if not sizes:
        return "nothing"
    old = r.choice(sizes)
    new = r.choice((old + 1, old - 1, 0, 1, 2 * old, 7))
    for t in types(program):
        t.shape = [new if n == old else n for n in t.shape]
    if r.random() < 0.7:
        for e, k in params(program):
            param = e.params[k]
            if param.kind == INTS:
                param.value = [new if n == old else n for n in param.value]
            if param.kind == INT and param.value == old:
                param.value = new
    return f"size {old} is {new}"


def rank_changed(program, r):
    t = r.choice(types(program))
    if t.shape and r.random() < 0.5:
        t.shape.pop(r.randrange(len(t.shape)))
        return "a dimension less"
    t.shape.insert(r.randrange(len(t.shape) + 1), r.choice((0, 1, 2, 3)))
    return f"shape {t.shape}"


def dtype_changed(program, r):
    t = r.choice(types(program))
    old, t.dtype = t.dtype, r.choice(DTYPES)
    return f"a {old} is a {t.dtype}"


def dtype_changed_everywhere(program, r):
    old, new = r.choice(types(program)).dtype, r.choice(DTYPES)
    for t in types(program):
        t.dtype = new if t.dtype == old else t.dtype
    for e, k in params(program):
        if e.params[k].kind == DTYPE and e.params[k].value == old:
            e.params[k].value = new
    return f"each {old} is a {new}"


def marks_changed(program, r):
    t = r.choice(types(program))
    if r.random() < 0.5:
        t.marks = r.randrange(4)
        return f"marks {t.marks}"
    names = sorted({a for u in types(program) for a in u.varying} | {"other"})
    t.varying = [] if t.varying and r.random() < 0.5 else [*t.varying, r.choice(names)]
    return f"varying over {t.varying}"


def body_into_itself(program, r):
    """The body of an op becomes the program around it, a few times over."""
    chosen = [(p, param, k) for p in programs(program) for e in p.equations
              for param, k, _ in bodies(e)]  # fmt: skip
    if not chosen:
        return "nothing"
    around, param, k = r.choice(chosen)
    times = r.choice((1, 1, 2, 5))
    for _ in range(times):
        put_body(param, k, copy.deepcopy(around))
        if len(written(program)) > 200_000:
            break
    return f"a body in itself, {times} times"


def bodies_exchanged(program, r):
    chosen = [(param, k, b) for p in programs(program) for e in p.equations
              for param, k, b in bodies(e)]  # fmt: skip
    if not chosen:
        return "nothing"
    (param, k, _), (_, _, other) = r.choice(chosen), r.choice(chosen)
    put_body(param, k, copy.deepcopy(other))
    return "another body"


def param_left_out(program, r):
    e, k = r.choice(params(program))
    return f"{e.op} without {e.params.pop(k).key}"


def param_of_another_kind(program, r):
    e, k = r.choice(params(program))
    param = e.params[k]
    values = {
        NONE: None, BOOL: 1, INT: 1, FLOAT: 0.5, TEXT: "x", INTS: [0], DTYPE: "float32",
        AXES: [":i"], PROGRAMS: [], TYPES: [],
    }  # fmt: skip
    param.kind = r.choice(list(values))
    param.value = values[param.kind]
    return f"{e.op}: {param.key} is {param.value!r}"


def param_longer_or_shorter(program, r):
    chosen = [(e, e.params[k]) for e, k in params(program)
              if e.params[k].kind in (INTS, AXES, PROGRAMS, TYPES)]  # fmt: skip
    if not chosen:
        return "nothing"
    e, param = r.choice(chosen)
    if param.value and r.random() < 0.6:
        param.value.pop(r.randrange(len(param.value)))
    elif param.value:
        param.value.insert(r.randrange(len(param.value) + 1), copy.deepcopy(r.choice(param.value)))
    elif param.kind == INTS:
        param.value.append(r.choice((0, 1, -1)))
    return f"{e.op}: {param.key} has {len(param.value)}"


def params_exchanged(program, r):
    (e, k), (f, m) = r.choice(params(program)), r.choice(params(program))
    a, b = e.params[k], f.params[m]
    if a.kind in (PROGRAM, PROGRAMS) or b.kind in (PROGRAM, PROGRAMS):
        return "nothing"
    a.kind, b.kind, a.value, b.value = b.kind, a.kind, b.value, a.value
    return f"{e.op}: {a.key} exchanged with {f.op}: {b.key}"


def text_changed(program, r):
    chosen = [(e, e.params[k]) for e, k in params(program) if e.params[k].kind in (TEXT, AXES)]
    if not chosen:
        return "nothing"
    e, param = r.choice(chosen)
    if param.kind == TEXT:
        param.value = r.choice(("", "x", "clip", "fill", "fry", "rbg", param.value + "é"))
    elif param.value:
        param.value[r.randrange(len(param.value))] = r.choice((":i", ":j", "V:x", ":y", ""))
    return f"{e.op}: {param.key} is {param.value!r}"


def op_changed(program, r):
    found = equations(program)
    p, i = r.choice(found)
    e = p.equations[i]
    old = e.op
    q, j = r.choice(found)
    e.op = r.choice((q.equations[j].op, r.choice(OPS)))
    if r.random() < 0.3:
        e.params = copy.deepcopy(q.equations[j].params)
    return f"{old} is {e.op}"


def constant_changed(program, r):
    chosen = [(p, k) for p in programs(program) for k in range(len(p.constants))]
    if not chosen:
        return "nothing"
    p, k = r.choice(chosen)
    c = p.constants[k]
    what = r.choice(("gone", "twice", "other", "shorter", "values"))
    if what == "gone":
        p.constants.pop(k)
    elif what == "twice":
        p.constants.append(copy.deepcopy(c))
    elif what == "other":
        c[0] = r.randrange(len(p.types))
    elif what == "shorter":
        c[2] = c[2][:-1]
    else:
        c[2] = bytes(r.randrange(256) for _ in c[2])
    return f"a constant: {what}"


def sharding_changed(program, r):
    found = [t for t in types(program) if t.sharding]
    shardings = [t.sharding for t in found]
    shardings += [e.params[k].value for e, k in params(program)
                  if e.params[k].kind == SHARDING and e.params[k].value]  # fmt: skip
    if not shardings:
        return "nothing"
    s = r.choice(shardings)
    k = r.randrange(9)
    if isinstance(s[k], list) and s[k] and r.random() < 0.5:
        s[k].pop(r.randrange(len(s[k])))
    elif k in (0, 6, 7):
        s[k].append(r.choice(("x", "y", "other")))
    elif k in (1, 2):
        s[k].append(r.choice((0, 1, 2, -1, 2**40)))
    elif k == 3:
        s[k].append(["x"])
    elif k == 4:
        s[k] = r.randrange(3)
    else:
        s[k] = r.choice(("", "x", "e", "device", "pinned_host"))
    return f"a sharding's field {k}: {s[k]!r}"


CHANGES = [
    number_one_more, number_one_more, number_one_more, number_another, equation_left_out,
    equation_doubled, equation_moved, variable_exchanged, variable_exchanged,
    variable_more_or_less, shape_changed_everywhere, shape_changed_everywhere, rank_changed,
    dtype_changed, dtype_changed_everywhere, marks_changed, body_into_itself, bodies_exchanged,
    param_left_out, param_of_another_kind, param_longer_or_shorter,
    params_exchanged, text_changed, op_changed, constant_changed, sharding_changed,
]  # fmt: skip
OPS = (
    "add", "sin", "dot_general", "jit", "cond", "while", "scan", "pmap", "shard_map", "sort",
    "top_k", "gather", "scatter-add", "dynamic_slice", "dynamic_update_slice", "concatenate",
    "pad", "iota", "reshape", "transpose", "squeeze", "broadcast_in_dim", "slice", "rev",
    "reduce_sum", "reduce_max", "argmax", "cumsum", "select_n", "convert_element_type", "psum",
    "all_gather", "ppermute", "all_to_all", "axis_index", "fft", "cholesky", "lu", "qr", "svd",
    "eigh", "eig", "schur", "triangular_solve", "random_bits", "random_wrap", "random_unwrap",
    "random_split", "threefry2x32", "conv_general_dilated", "reduce_window_sum", "check",
    "select_and_gather_add", "bitcast_convert_type", "integer_pow", "pow", "custom_jvp_call",
    "custom_vjp_call", "custom_lin", "remat2", "copy", "stop_gradient", "optimization_barrier",
    "pvary", "tridiagonal_solve", "pure_callback", "io_callback", "debug_callback",
)  # fmt: skip


def changed(program, seed):
    """A copy of the program with one to three changes, and what they are."""
    r = random.Random(seed)
    program = copy.deepcopy(program)
    said = []
    for _ in range(r.choice((1, 1, 2, 3))):
        change = r.choice(CHANGES)
        try:
            said.append(f"{change.__name__}: {change(program, r)}")
        except IndexError:  # there is nothing of the kind
            said.append(f"{change.__name__}: nothing")
    return program, "; ".join(said)


def bytes_changed(data, seed):
    """The bytes with a few of them changed, left out or doubled."""
    r = random.Random(seed)
    data = bytearray(data)
    said = []
    for _ in range(r.choice((1, 1, 2, 4))):
        at = r.randrange(len(data))
        what = r.choice(("bit", "byte", "less", "more", "number"))
        if what == "bit":
            data[at] ^= 1 << r.randrange(8)
        elif what == "byte":
            data[at] = r.randrange(256)
        elif what == "less":
            del data[at : at + r.choice((1, 8, 64))]
        elif what == "more":
            data[at:at] = data[at : at + r.choice((1, 8, 64))]
        else:
            data[at : at + 8] = struct.pack("<q", r.choice(NUMBERS))
        said.append(f"{what} at {at}")
        if not data:
            break
    return bytes(data), "; ".join(said)
