"""shardax/_transform/export/exports.py - staged programs that other processes call.

exporting.py makes and reads them.

A serialized function is a line of JSON (names, structures, platforms) and its program as bytes
(cpp/ir/serialize.h). With `vjp_order`, the programs of its derivatives follow in the same form.
"""

import dataclasses
import functools
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from shardax import tree_util
from shardax._base.tree_diff import structure_differences
from shardax._core import Array, Tracer
from shardax._core import api as _core
from shardax._devices.mesh_context import get_mesh
from shardax._devices.shardings import NamedSharding, described
from shardax._devices.type_shardings import described_in_types
from shardax._stablehlo import stablehlo
from shardax._transform.custom.vjp import custom_vjp
from shardax._transform.derivatives import vjp
from shardax._transform.export.meshes import on_host, over_exported_mesh, over_mesh
from shardax._transform.export.nested import record
from shardax._transform.export.trees import written
from shardax._transform.jit import jit
from shardax._transform.program_parts import asked_shardings
from shardax._transform.stages import Traced
from shardax.dtypes import float0

minimum_supported_calling_convention_version = 9
maximum_supported_calling_convention_version = 10

MAGIC = b"shardax export 2\n"


def default_export_platform():
    """The platform for which functions are exported unless others are named.

    Example:
      >>> from shardax import export
      >>> export.default_export_platform()
      'cpu'
    """
    return "cpu"


@dataclasses.dataclass(frozen=True)
class DisabledSafetyCheck:
    """A check that is left out: that of platforms when the function is called. Others are accepted
    for compatibility; programs that cannot be written to a file are refused where they are
    serialized."""

    _impl: str

    @classmethod
    def platform(cls):
        """The check that the function is called on a platform for which it was exported."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name):
        """The check that a custom call is known to be stable."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self):
        """The name of the custom call, or None."""
        kind, _, name = self._impl.partition(":")
        return name if kind == "custom_call" else None

    def __str__(self):
        return self._impl

    __repr__ = __str__


@dataclasses.dataclass(frozen=True, repr=False)
class Exported:
    """A staged function that can be written to a file, read and called.

    Attributes:
      fun_name: the name of the function.
      in_tree, out_tree: the structures of (args, kwargs) and of the result.
      in_avals, out_avals: tuples of ShapedArray, one per array.
      platforms: those for which it was exported.
      disabled_safety_checks: as they were given.
      uses_global_constants: whether it is for several platforms, or sizes are symbolic, here or
        in exported functions within.
    """

    fun_name: str
    in_tree: Any
    in_avals: tuple
    out_tree: Any
    out_avals: tuple
    platforms: tuple
    disabled_safety_checks: tuple
    _program: Any
    _get_vjp: Callable | None
    _arg_names: tuple = ()
    uses_global_constants: bool = False

    ordered_effects = ()
    unordered_effects = ()
    calling_convention_version = maximum_supported_calling_convention_version

    @functools.cached_property
    def _shardings(self):
        """The shardings of arguments and of results that the program names, over meshes; else
        None."""
        program = self._shown_program()
        known = [described_in_types(aval, len(aval.shape)) for aval in program.in_avals]
        found = _core.shardings(program, known)
        return [[w if w is None else described(w) for w in wheres] for wheres in found]

    @property
    def nr_devices(self):
        """The number of devices that the program names; 1 if it names none."""
        wheres = [w for wheres in self._shardings for w in wheres if w is not None]
        return max((where.num_devices for where in wheres), default=1)

    def in_shardings_jax(self, mesh):
        """The shardings that arguments were exported for, over `mesh`, whose axes have the sizes of
        those at export; None for arguments without.

        Raises:
          ValueError: where the sizes of the axes differ.

        Example:
          >>> from shardax import export
          >>> where = shardax.NamedSharding(shardax.make_mesh((2,), ("x",)), shardax.P("x"))
          >>> f = shardax.jit(lambda x: 2 * x, in_shardings=where)
          >>> other = shardax.make_mesh((2,), ("y",))
          >>> export.export(f)(jnp.zeros(4)).in_shardings_jax(other)[0].spec
          P('y',)
        """
        known = zip(self._shardings[0], self.in_avals)
        return tuple(over_mesh(mesh, where) or on_host(mesh, aval) for where, aval in known)

    def out_shardings_jax(self, mesh):
        """The same of results."""
        known = zip(self._shardings[1], self.out_avals)
        return tuple(where and (over_mesh(mesh, where) or on_host(mesh, a)) for where, a in known)

    @property
    def module_kept_var_idx(self):
        """The positions of all arrays: none is dropped."""
        return tuple(range(len(self.in_avals)))

    def __repr__(self):
        return f"Exported(fun_name={self.fun_name}, ...)"

    def mlir_module(self):
        """The program as text in StableHLO's form."""
        shown = self._shown_program()
        asked, _ = asked_shardings(shown)
        polymorphic = self.uses_global_constants
        return stablehlo.exported_text(shown, asked, self.nr_devices, self._arg_names, polymorphic)

    def _shown_program(self):
        """The program, or one of those for some sizes."""
        return self._program

    @property
    def mlir_module_serialized(self):
        """The program as bytes.

        Raises:
          ValueError: where it calls Python functions.
        """
        return _core.serialize(self._program)

    def has_vjp(self):
        """True if `vjp` gives anything."""
        return self._get_vjp is not None

    def vjp(self):
        """The exported function of flat arguments and cotangents that gives the arguments'
        cotangents.

        Raises:
          ValueError: for one that was read from a file without its derivatives.
        """
        if self._get_vjp is None:
            raise ValueError(
                "No VJP is available. Serialize the function with vjp_order=1 or more."
            )
        return self._get_vjp(self)

    def serialize(self, vjp_order=0):
        """The function as a bytearray, with as many of its derivatives.

        Raises:
          ValueError: where the program calls Python functions, a structure holds classes that are
            not registered, or it has not that many derivatives.
        """
        if vjp_order < 0:
            raise ValueError(f"vjp_order must be non-negative, got {vjp_order}.")
        if vjp_order > 0 and not self.has_vjp():
            raise ValueError(
                "serialization of an Exported that does not have vjps of high-enough order"
            )
        header = {
            "fun_name": self.fun_name,
            "in_tree": written(self.in_tree),
            "out_tree": written(self.out_tree),
            "platforms": self.platforms,
            "disabled_safety_checks": [check._impl for check in self.disabled_safety_checks],
            "arg_names": self._arg_names,
            "vjp": vjp_order > 0,
            "symbols": self._about_symbols(),
            "polymorphic": self.uses_global_constants,
        }
        body = bytearray()
        for part in (json.dumps(header).encode(), self.mlir_module_serialized):
            body += struct.pack("<q", len(part)) + part
        if vjp_order > 0:
            body += self.vjp().serialize(vjp_order - 1)
        return bytearray(MAGIC) + struct.pack("<I", zlib.crc32(body)) + body

    def call(self, *args, **kwargs):
        """The results for arguments of the structure, shapes and dtypes that it was exported for.

        It may be called within jit, and differentiated in reverse where derivatives are there.

        Raises:
          ValueError: for other arguments.
        """
        leaves, tree = tree_util.tree_flatten((args, kwargs))
        if tree != self.in_tree:
            self._refuse_structure(tree)
        self._check_platform()
        self._check_devices(leaves)
        program = self._program_for(leaves, lambda: _paths((args, kwargs)))
        leaves, back = over_exported_mesh(leaves, *self._shardings)
        return tree_util.tree_unflatten(self.out_tree, back(self._flat_call(program, leaves)))

    def _program_for(self, leaves, paths):
        """The program for arguments of their types; paths() names them in errors."""
        self._check_types(leaves, self.in_avals, paths)
        if self.uses_global_constants:
            record(lambda shapes: None, [])
        return self._program

    def _about_symbols(self):
        """A file's record of symbolic sizes."""
        return None

    def _flat_call(self, program, leaves):
        @custom_vjp
        def run(*flat):
            return _core.evaluate(program, list(map(_core.asarray, flat)), [])

        def forward(*flat):
            return run(*flat), flat

        def backward(flat, cotangents):
            pulled = self.vjp()
            wanted = pulled.in_avals[len(flat) :]
            cotangents = [
                np.zeros(np.shape(ct), float0) if aval.dtype == float0 else ct
                for ct, aval in zip(cotangents, wanted, strict=True)
            ]
            return tuple(pulled.call(*flat, *cotangents))

        run.defvjp(forward, backward)
        run.__name__ = f"call_exported_{self.fun_name}"
        return jit(run)(*leaves)

    def _check_platform(self):
        here = default_export_platform()
        unchecked = DisabledSafetyCheck.platform() in self.disabled_safety_checks
        if here not in self.platforms and not unchecked:
            raise ValueError(
                f"Function '{self.fun_name}' was exported for platforms {self.platforms!r} but it "
                f"is used on '{here}'. Export it with platforms=[..., '{here}'], or with "
                "disabled_checks=[export.DisabledSafetyCheck.platform()]."
            )

    def _check_devices(self, leaves):
        placed = any(isinstance(where, NamedSharding) for where in self._shardings[0])
        if not placed or any(isinstance(leaf, Tracer) for leaf in leaves):
            return
        given = {d for leaf in leaves if isinstance(leaf, Array) for d in leaf.devices()}
        count, expected = max(len(given), get_mesh().size, 1), self.nr_devices
        if expected > 1 and count != expected:
            raise ValueError(
                f"Function {self.fun_name} was exported for {expected} devices and is called in a "
                f"context with {count} devices. Place its arguments with device_put and "
                "in_shardings_jax(mesh), or set a mesh."
            )

    def _refuse_structure(self, tree):
        lines = [
            f"   - {shown_path(path)} is {given} in the invocation and {wanted} when exported, so "
            f"{explanation}."
            for path, given, wanted, explanation in structure_differences(tree, self.in_tree)
        ]
        raise ValueError(
            "The invocation args and kwargs must have the same pytree structure as when the "
            f"function '{self.fun_name}' was exported, but they have the following structural "
            "differences:\n" + "\n".join(lines)
        )

    def _check_types(self, leaves, avals, paths):
        types = [_core.typeof(leaf) for leaf in leaves]
        if all((g.shape, g.dtype) == (a.shape, a.dtype) for g, a in zip(types, avals)):
            return
        for where, given, wanted, shown in zip(paths(), types, avals, self.in_avals, strict=True):
            expected = f"expected {shown.shape} and called with {given.shape}"
            if len(given.shape) != len(wanted.shape):
                raise ValueError(f"Rank mismatch for {where}: {expected}")
            if given.dtype != wanted.dtype:
                raise ValueError(
                    f"Dtype mismatch for {where}: expected {wanted.dtype} and called with "
                    f"{given.dtype}"
                )
            for d, (n, m) in enumerate(zip(given.shape, wanted.shape, strict=True)):
                if n != m:
                    raise ValueError(
                        f"Shape mismatch for {where}.shape[{d}] (expected same constant): "
                        f"{expected}"
                    )


def _paths(arguments):
    """The names of the leaves of (args, kwargs)."""
    return [shown_path(path) for path, _ in tree_util.tree_flatten_with_path(arguments)[0]]


def shown_path(path):
    """The path of a leaf of (args, kwargs): "args[0]['w']"."""
    if not path:
        return "(args, kwargs)"
    return ("args", "kwargs")[path[0].idx] + tree_util.keystr(tuple(path[1:]))


def exported_of(stage, platforms, checks=(), flat_fun=None):
    """A traced, lowered or compiled function as an Exported. flat_fun gives its flat results for a
    list of flat arguments: without it there are no derivatives."""
    program = stage._call.staged.program
    return Exported(
        fun_name=program.name,
        in_tree=stage.in_tree,
        in_avals=tuple(stage._call.in_types),
        out_tree=stage.out_tree,
        out_avals=tuple(program.out_avals),
        platforms=platforms,
        disabled_safety_checks=checks,
        _program=_core.inline_calls(program),
        _arg_names=arg_names(stage),
        _get_vjp=flat_fun and (lambda exported: _exported_vjp(exported, flat_fun)),
    )


def arg_names(stage):
    """The names of a traced function's arrays."""
    call = stage._call
    return tuple(call.paths(call.args, call.kwargs))


def exported(stage):
    """A traced, lowered or compiled function as an Exported without derivatives."""
    return exported_of(stage, (default_export_platform(),))


def _exported_vjp(exported, flat_fun):
    count = len(exported.in_avals)

    def pulled(flat):
        _, pull = vjp(lambda *primals: list(flat_fun(primals)), *flat[:count])
        return pull(list(flat[count:]))

    def fun_vjp_jax(*args_and_out_cts_flat_jax):
        return pulled(args_and_out_cts_flat_jax)

    cotangents = [
        _core.ShapedArray(a.shape, _core.typeof(a).to_tangent_aval().dtype)
        for a in exported.out_avals
    ]
    given, results = asked_shardings(exported._program)
    where = {"in_shardings": (*given, *results), "out_shardings": tuple(given)}
    fun = jit(fun_vjp_jax, **(where if any(where["in_shardings"]) else {}))
    traced = Traced(fun, (*exported.in_avals, *cotangents), {})
    return exported_of(traced, exported.platforms, exported.disabled_safety_checks, pulled)
