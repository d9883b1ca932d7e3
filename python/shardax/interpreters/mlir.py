"""shardax.interpreters.mlir - lowering rules of the user's own primitives.

The compiler of this package takes programs: a primitive is lowered to the function of `lower_fun`.
Rules that write MLIR are accepted, so that modules which register some load. A program that needs
one calls the implementation of the primitive instead.
"""

from shardax._transform.primitives import Lowered, lowering_rules

__all__ = ["LoweringRule", "LoweringRuleContext", "lower_fun", "register_lowering"]

LoweringRule = Lowered

_PLATFORMS = ("cpu", "cuda", "gpu", "metal", "neuron", "rocm", "tpu", "xpu")


class LoweringRuleContext:
    """The context of rules that write MLIR; none is ever made."""


def lower_fun(fun, multiple_results=True):
    """A lowering rule: a primitive is computed by `fun(*operands, **params)`.

    Example:
      >>> twice_p = Primitive("twice")
      >>> _ = twice_p.def_abstract_eval(lambda x: x)
      >>> _ = register_lowering(twice_p, lower_fun(lambda x: x + x, multiple_results=False))
      >>> jit(twice_p.bind)(2.0)
      Array(4., dtype=float32, weak_type=True)
    """
    return Lowered(fun, multiple_results)


def register_lowering(prim, rule, platform=None, inline=True, cacheable=True):
    """Registers a rule for a primitive; those for other platforms than the CPU are passed over.

    `cacheable` and `inline` have no effect: the package does without what it steers in JAX.

    Returns the rule. A rule that is not made by `lower_fun` never runs.

    Raises:
      NotImplementedError: for platforms that nobody has heard of.
    """
    if platform is not None and platform not in _PLATFORMS:
        raise NotImplementedError(
            f"Registering an MLIR lowering rule for primitive {prim} for an unknown platform "
            f"{platform}. Known platforms are: {', '.join(_PLATFORMS)}."
        )
    if platform in (None, "cpu") and (isinstance(rule, Lowered) or prim not in lowering_rules):
        lowering_rules[prim] = rule
    return rule
