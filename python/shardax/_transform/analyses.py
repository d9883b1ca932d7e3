# shardax/_transform/analyses.py - text, costs and memory of a program, for stages.
import dataclasses

from shardax._core import api as _core
from shardax._stablehlo import hlo, stablehlo


class HloModule:
    """A program for those who look for names of ops in HLO's text."""

    def __init__(self, program):
        self.program = program

    @property
    def name(self):
        return f"jit_{self.program.name}"

    def as_hlo_text(self, options=None):
        """The program in HLO's form, as it is before any pass; `options` have no effect."""
        return hlo.text_of(self.program)

    def __str__(self):
        return self.as_hlo_text()

    to_string = as_hlo_text


class StableHloModule:
    """A program for those who look for names of ops in StableHLO's text, which str shows."""

    def __init__(self, program):
        self.program = program

    def __str__(self):
        return stablehlo.text_of(self.program)

    __repr__ = __str__


@dataclasses.dataclass(frozen=True)
class MemoryAnalysis:
    """The memory of one run of a compiled function, in bytes."""

    argument_size_in_bytes: int
    output_size_in_bytes: int
    temp_size_in_bytes: int
    alias_size_in_bytes: int = 0
    generated_code_size_in_bytes: int = 0
    host_argument_size_in_bytes: int = 0
    host_output_size_in_bytes: int = 0
    host_temp_size_in_bytes: int = 0
    host_alias_size_in_bytes: int = 0

    @property
    def peak_memory_in_bytes(self):
        """Arguments, results and temporaries together."""
        return self.argument_size_in_bytes + self.output_size_in_bytes + self.temp_size_in_bytes


def costs(program):
    """The operations of a program and the bytes that it reads and writes, by JAX's keys."""
    flops, transcendentals, moved = _core.cost(program)
    return {"flops": flops, "transcendentals": transcendentals, "bytes accessed": moved}


def memory(program):
    """The MemoryAnalysis of a program."""
    return MemoryAnalysis(*_core.memory(program))
