"""shardax/_compat/experimental/roofline/roofline.py - rooflines of programs, by rules of ops."""

import functools
import logging

import numpy as np
from shardax import tree_util
from shardax._base.dtypes import bfloat16
from shardax._core import api as _core
from shardax._devices.shardings import NamedSharding
from shardax._transform.derivatives import vjp as vjp_of
from shardax._transform.shape_structs import ShapeDtypeStruct
from shardax._transform.shard_map import shard_map
from shardax._transform.tracing import make_jaxpr
from shardax.core import Literal
from shardax.experimental.roofline import rules
from shardax.experimental.roofline.results import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
)

_log = logging.getLogger(__name__)
_of_users = {}


def register_roofline(prim):
    """A decorator: the rule of a primitive, `rule(context, *operands, **params)`, which takes a
    RooflineRuleContext and a RooflineShape for each operand and gives a RooflineResult.

    Example:
      >>> @register_roofline(lax.tanh_p)
      ... def of_tanh(context, x, **params):
      ...     return RooflineResult(unfused_flops=20 * x.size)
      >>> roofline(jnp.tanh)(jnp.ones(5))[1].unfused_flops
      100
    """

    def register(rule):
        _of_users[prim.name] = rule
        return rule

    return register


def register_standard_roofline(prim):
    """A primitive costs nothing."""
    _of_users[prim.name] = lambda context, *operands, **params: RooflineResult.zeros()


def roofline(
    f,
    mesh=None,
    in_specs=None,
    out_specs=None,
    *,
    pin_lhs_in_vmem=False,
    pin_rhs_in_vmem=False,
    vjp=False,
    print_jaxpr=False,
):
    """A function that gives one device's work for `f`.

    Args:
      f: a function of arrays; with `mesh`, `in_specs` and `out_specs`, of blocks, as in shard_map.
      pin_lhs_in_vmem, pin_rhs_in_vmem: that operand of products is not read from memory.
      vjp: of the derivative of f, applied to its results as bfloat16.
      print_jaxpr: prints the program that is looked at.

    Returns:
      A function of f's arguments, or of ShapeDtypeStructs, that gives the shapes of the results and
      a RooflineResult. Ops count as `register_roofline` says. Others of the package count by their
      operands and results, products and convolutions by multiplications and additions. Collectives
      count by the bytes that cross the links of a torus. Bodies of loops count once, branches not.

    Example:
      >>> shapes, told = roofline(lambda x, y: jnp.sin(x @ y))(jnp.ones((3, 7)), jnp.ones((7, 5)))
      >>> shapes.shape, told.flops, told.unfused_flops, told.hbm_bytes
      ((3, 5), 210, 225, 284)
    """

    @functools.wraps(f)
    def wrapped(*args):
        fun = f
        mapped = mesh is not None and out_specs is not None
        if mapped and in_specs is not None:
            fun = shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs)
        program, shapes = make_jaxpr(_with_vjp(fun) if vjp else fun, return_shape=True)(*args)
        if mapped:
            leaves, tree = tree_util.tree_flatten(shapes)
            specs = tree_util.broadcast_prefix(out_specs, shapes)
            shapes = tree.unflatten(
                ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=NamedSharding(mesh, spec))
                for leaf, spec in zip(leaves, specs, strict=True)
            )
        count = len(program.invars)
        program, _ = _core.pruned(program, [True] * len(program.outvars), [False] * count)
        for equation in program.eqns:
            if equation.primitive.name == "shard_map":
                program = equation.params["jaxpr"]
        if print_jaxpr:
            print(program)
        walk = _Walk(mesh, pin_lhs_in_vmem, pin_rhs_in_vmem)
        return shapes, walk.of_program(program, f"roofline({getattr(f, '__name__', f)})")

    return wrapped


def roofline_and_grad(
    f,
    mesh,
    in_specs,
    out_specs,
    *,
    pin_lhs_in_vmem=False,
    pin_rhs_in_vmem=False,
    print_jaxpr=False,
):
    """A function that gives the shapes of f's results, and one device's work for f and for f's
    derivative. The latter takes arrays for bfloat16 but for those of int32. Arguments are those of
    `roofline`.

    Example:
      >>> mesh, rows = make_mesh((2,), ("x",)), P("x", None)
      >>> x = ShapeDtypeStruct((8, 8), jnp.float32, sharding=NamedSharding(mesh, rows))
      >>> _, forward, backward = roofline_and_grad(lambda x: x @ x.T, mesh, rows, rows)(x)
      >>> forward.flops, backward.flops
      (256, 512)
    """
    options = {"pin_lhs_in_vmem": pin_lhs_in_vmem, "pin_rhs_in_vmem": pin_rhs_in_vmem}
    of = functools.partial(roofline, f, mesh, in_specs, out_specs, print_jaxpr=print_jaxpr)

    @functools.wraps(f)
    def wrapped(*args):
        shapes, forward = of(**options)(*args)
        narrow = tree_util.tree_map(_narrow, args)
        return shapes, forward, of(vjp=True, **options)(*narrow)[1]

    return wrapped


def _narrow(x):
    dtype = np.int32 if x.dtype == np.int32 else bfloat16
    return ShapeDtypeStruct(x.shape, dtype, sharding=x.sharding)


def _with_vjp(f):
    @functools.wraps(f)
    def wrapped(*args):
        out, pullback = vjp_of(f, *args)
        return pullback(tree_util.tree_map(lambda x: x.astype(bfloat16), out))

    return wrapped


class _Walk:
    def __init__(self, mesh, pin_lhs, pin_rhs):
        self.mesh = mesh
        self.pins = {"pin_lhs_in_vmem": pin_lhs, "pin_rhs_in_vmem": pin_rhs}

    def of_program(self, program, name):
        """All equations; and the most bytes that are alive, where a value lives until it is used
        for the last time."""
        result = RooflineResult.zeros()
        last = {}
        for place, equation in enumerate(program.eqns):
            last.update((v, place) for v in equation.invars if not isinstance(v, Literal))
        for v in program.outvars:
            last.pop(v, None)
        alive = RooflineShape.total_bytes(v.aval for v in (*program.constvars, *program.invars))
        peak = alive
        for place, equation in enumerate(program.eqns):
            result += self.of_equation(equation, name)
            alive += RooflineShape.total_bytes(v.aval for v in equation.outvars)
            gone = {v for v in equation.invars if last.get(v) == place}
            alive -= RooflineShape.total_bytes(v.aval for v in gone)
            peak = max(peak, alive)
        return result + RooflineResult(peak_hbm_bytes=peak)

    def of_equation(self, equation, name):
        primitive, params = equation.primitive, equation.params
        for key in ("jaxpr", "call_jaxpr"):
            if key in params:
                return self.of_program(params[key], f"{primitive.name}({name})")
        rule = _of_users.get(primitive.name)
        if rule is None and primitive.is_users:
            _log.warning("No roofline rule for %s, skipping: %s", primitive, equation)
        rule = rule or rules.RULES.get(primitive.name)
        if rule is None:
            return RooflineResult.zeros()
        context = RooflineRuleContext(
            name_stack=name,
            primitive=primitive,
            avals_in=[v.aval for v in equation.invars],
            avals_out=[v.aval for v in equation.outvars],
            jaxpr_eqn_ctx=equation.ctx,
            mesh=self.mesh,
            **self.pins,
        )
        shapes = [RooflineShape.from_aval(v.aval) for v in equation.invars]
        return rule(context, *shapes, **params)
