"""shardax/_stablehlo/structure.py - modules, functions and operations that are printed."""

import dataclasses


@dataclasses.dataclass(eq=False)
class Value:
    """The result of an operation, or an argument of a block."""

    shape: tuple
    dtype: str
    split: str = ""  # over which mesh axes, in Shardy's form


@dataclasses.dataclass(eq=False)
class Operation:
    name: str
    operands: list
    results: list
    attributes: dict = dataclasses.field(default_factory=dict)
    regions: list = dataclasses.field(default_factory=list)
    location: str = ""  # the line of the user's
    path: str = ""  # "jit(f)/jvp(loss)/mul": the names that it is inside of, and its own


@dataclasses.dataclass(eq=False)
class Block:
    arguments: list
    operations: list = dataclasses.field(default_factory=list)
    results: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(eq=False)
class Function:
    name: str
    body: Block


@dataclasses.dataclass(eq=False)
class Module:
    name: str
    functions: list  # the first is "main"
    partitions: int = 1
    meshes: list = dataclasses.field(default_factory=list)  # lines of text
