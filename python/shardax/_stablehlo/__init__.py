"""shardax._stablehlo - StableHLO and HLO text of programs, for readers; nothing runs it.

Lowered.as_text, Compiled.as_text, Exported.mlir_module and compiler_ir show it, which libraries and
lessons search for names of ops. Programs run from the plans that the C++ core compiles.
"""
