"""shardax.stages - the steps between a jitted function and its compiled form.

>>> compiled = jit(lambda x: x + 1).trace(1).lower().compile()
>>> compiled(2)
Array(3, dtype=int32, weak_type=True)
"""

from shardax._transform.stages import ArgInfo, Compiled, Lowered, Traced, Wrapped

CompilerOptions = dict[str, str | bool]

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]
