"""tests/fuzz/archives.py - exported programs as objects, parsed from their bytes and written.

The format is that of cpp/ir/serialize.cpp. Programs are parsed and written here, so that no check
of the package precedes a change (archive_changes.py).
"""

import struct

MAGIC = b"shardax program"
VERSION = 3
# The kinds of params, by their number.
NONE, BOOL, INT, FLOAT, TEXT, INTS, DTYPE, AXES, PROGRAM, PROGRAMS, _, TYPES, SHARDING = range(13)


class Type:
    def __init__(self, dtype, marks, shape, varying, sharding):
        self.dtype, self.marks, self.shape = dtype, marks, shape
        self.varying, self.sharding = varying, sharding


class Equation:
    def __init__(self, op, inputs, outputs, params):
        self.op, self.inputs, self.outputs, self.params = op, inputs, outputs, params


class Param:
    def __init__(self, key, kind, value):
        self.key, self.kind, self.value = key, kind, value


class Program:
    """name, types, inputs, constants [variable, Type, bytes], equations, outputs."""


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n : self.at]

    def number(self):
        return struct.unpack("<q", self.take(8))[0]

    def text(self):
        return self.take(self.number()).decode()

    def list(self, read):
        return [read() for _ in range(self.number())]

    def numbers(self):
        return self.list(self.number)

    def texts(self):
        return self.list(self.text)

    def type(self):
        return Type(self.text(), self.number(), self.numbers(), self.texts(), self.sharding())

    def sharding(self):
        if self.number() == 0:
            return None
        return [
            self.texts(), self.numbers(), self.numbers(), self.list(self.texts), self.number(),
            self.text(), self.texts(), self.texts(), self.text(),
        ]  # fmt: skip

    def constant(self, itemsize):
        variable, kind = self.number(), self.type()
        count = 1
        for n in kind.shape:
            count *= n
        return [variable, kind, self.take(count * itemsize(kind.dtype))]

    def program(self, itemsize):
        p = Program()
        p.name, p.types, p.inputs = self.text(), self.list(self.type), self.numbers()
        p.constants = self.list(lambda: self.constant(itemsize))
        p.equations = self.list(lambda: self.equation(itemsize))
        p.outputs = self.numbers()
        return p

    def equation(self, itemsize):
        e = Equation(self.text(), self.numbers(), self.numbers(), [])
        for _ in range(self.number()):
            key, kind = self.text(), self.number()
            e.params.append(Param(key, kind, self.param(kind, itemsize)))
        return e

    def param(self, kind, itemsize):
        def program():
            return self.program(itemsize)

        reads = {
            NONE: lambda: None, BOOL: self.number, INT: self.number,
            FLOAT: lambda: struct.unpack("<d", self.take(8))[0], TEXT: self.text,
            INTS: self.numbers, DTYPE: self.text, AXES: self.texts, PROGRAM: program,
            PROGRAMS: lambda: self.list(program), TYPES: lambda: self.list(self.type),
            SHARDING: self.sharding,
        }  # fmt: skip
        return reads[kind]()


class Writer:
    def __init__(self):
        self.out = bytearray()

    def number(self, n):
        self.out += struct.pack("<q", max(-(2**63), min(n, 2**63 - 1)))

    def text(self, text):
        self.number(len(text.encode()))
        self.out += text.encode()

    def list(self, items, write):
        self.number(len(items))
        for item in items:
            write(item)

    def numbers(self, items):
        self.list(items, self.number)

    def texts(self, items):
        self.list(items, self.text)

    def type(self, t):
        self.text(t.dtype)
        self.number(t.marks)
        self.numbers(t.shape)
        self.texts(t.varying)
        self.sharding(t.sharding)

    def sharding(self, s):
        self.number(s is not None)
        if s is None:
            return
        self.texts(s[0])
        self.numbers(s[1])
        self.numbers(s[2])
        self.list(s[3], self.texts)
        self.number(s[4])
        self.text(s[5])
        self.texts(s[6])
        self.texts(s[7])
        self.text(s[8])

    def constant(self, c):
        self.number(c[0])
        self.type(c[1])
        self.out += c[2]

    def program(self, p):
        self.text(p.name)
        self.list(p.types, self.type)
        self.numbers(p.inputs)
        self.list(p.constants, self.constant)
        self.list(p.equations, self.equation)
        self.numbers(p.outputs)

    def equation(self, e):
        self.text(e.op)
        self.numbers(e.inputs)
        self.numbers(e.outputs)
        self.number(len(e.params))
        for p in e.params:
            self.text(p.key)
            self.number(p.kind)
            self.param(p)

    def param(self, p):
        writes = {
            NONE: lambda v: None, BOOL: self.number, INT: self.number,
            FLOAT: lambda v: self.out.extend(struct.pack("<d", v)), TEXT: self.text,
            INTS: self.numbers, DTYPE: self.text, AXES: self.texts, PROGRAM: self.program,
            PROGRAMS: lambda v: self.list(v, self.program),
            TYPES: lambda v: self.list(v, self.type), SHARDING: self.sharding,
        }  # fmt: skip
        writes[p.kind](p.value)


def parsed(data, itemsize):
    """The program that `data` describes; itemsize(name) is a dtype's."""
    reader = Reader(data)
    assert reader.take(len(MAGIC)) == MAGIC and reader.number() == VERSION
    program = reader.program(itemsize)
    assert reader.at == len(data)
    return program


def written(program):
    writer = Writer()
    writer.out += MAGIC
    writer.number(VERSION)
    writer.program(program)
    return bytes(writer.out)


def nested(program, depth):
    """The bytes of a call of a call of ... of the program."""
    count = len(program.inputs)
    shell = Program()
    shell.name = "shell"
    shell.types = [program.types[v] for v in (*program.inputs, *program.outputs)]
    shell.inputs = list(range(count))
    shell.constants = []
    shell.outputs = list(range(count, len(shell.types)))
    own = Writer()
    own.program(program)
    mark = b"the program's place"
    params = [Param("name", TEXT, "shell"), Param("jaxpr", TEXT, mark.decode())]
    shell.equations = [Equation("jit", shell.inputs, shell.outputs, params)]
    around = Writer()
    around.program(shell)
    text = struct.pack("<qq", TEXT, len(mark)) + mark
    before, behind = bytes(around.out).split(text)
    before += struct.pack("<q", PROGRAM)
    return MAGIC + struct.pack("<q", VERSION) + before * depth + bytes(own.out) + behind * depth
