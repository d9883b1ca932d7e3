"""shardax/_transform/export/exporting.py - functions are exported, and read from files."""

import dataclasses
import functools
import json
import struct
import zlib

from shardax import tree_util
from shardax._base.symbolic_dims import has_symbolic_sizes
from shardax._core import api as _core
from shardax._core import functions
from shardax._transform.export.exports import (
    MAGIC,
    DisabledSafetyCheck,
    Exported,
    default_export_platform,
    exported_of,
    maximum_supported_calling_convention_version,
    minimum_supported_calling_convention_version,
)
from shardax._transform.export.nested import calls_recorded
from shardax._transform.export.symbolic import export_symbolic, read_symbolic
from shardax._transform.export.trees import read
from shardax._transform.jit import jit
from shardax._transform.stages import Traced, Wrapped
from shardax.config import config

_DONATING = ("cpu", "cuda", "neuron", "rocm", "tpu")  # platforms that take donated arguments


def export(fun_jit, *, platforms=None, disabled_checks=()):
    """A function that stages `fun_jit` for arguments, to be written to a file.

    Args:
      fun_jit: what jit returned.
      platforms: names of platforms, ("cpu",) unless given.
      disabled_checks: DisabledSafetyChecks; accepted for compatibility.

    Returns:
      A function of arrays, or of ShapeDtypeStructs in their place, that gives an Exported. Sizes of
      ShapeDtypeStructs may be symbolic (`symbolic_shape`): the function is staged for many sizes,
      and its programs have to differ in sizes alone.

    Raises:
      ValueError: where `fun_jit` does not come from jit.
      NotImplementedError: where it is no one program for the symbolic sizes.

    Example:
      >>> from shardax import export
      >>> x = shardax.ShapeDtypeStruct((3,), "float32")
      >>> exported = export.export(shardax.jit(lambda x: 2 * x))(x)
      >>> data = exported.serialize(vjp_order=1)
      >>> export.deserialize(data).call(jnp.arange(3.0))
      Array([0., 2., 4.], dtype=float32)
    """
    if isinstance(fun_jit, type(functions.sin)):  # of jnp: jitted, in JAX
        fun_jit = jit(fun_jit)
    if not isinstance(fun_jit, Wrapped):
        raise ValueError(f"Function to be exported must be the result of `jit` but is: {fun_jit}")
    if platforms is not None and (isinstance(platforms, str) or not platforms):
        raise ValueError(f"export: platforms must be a sequence of names, got {platforms!r}.")

    version = config.jax_export_calling_convention_version
    oldest, newest = (
        minimum_supported_calling_convention_version,
        maximum_supported_calling_convention_version,
    )
    if not oldest <= version <= newest:
        raise ValueError(
            f"The requested export calling convention version {version} is outside the range of "
            f"supported versions [{oldest}..{newest}]"
        )

    def flat_fun(traced, flat):
        args, kwargs = tree_util.tree_unflatten(traced.in_tree, flat)
        args, kwargs = traced._call.with_statics(args, kwargs)
        return tree_util.tree_leaves(fun_jit(*args, **kwargs))

    def do_export(*args, **kwargs):
        named, checks = tuple(platforms or (default_export_platform(),)), tuple(disabled_checks)
        if any(map(has_symbolic_sizes, tree_util.tree_leaves((args, kwargs)))):
            return export_symbolic(fun_jit, args, kwargs, named, checks, flat_fun)
        with calls_recorded() as calls:
            traced = Traced(fun_jit, args, kwargs)
        _check_donation(traced, named)
        made = exported_of(traced, named, checks, functools.partial(flat_fun, traced))
        return dataclasses.replace(made, uses_global_constants=len(named) > 1 or bool(calls))

    return do_export


def _check_donation(traced, platforms):
    donating = [p for p in platforms if p in _DONATING]
    if not 0 < len(donating) < len(platforms):
        return
    if any(info.donated for info in tree_util.tree_leaves(traced.args_info)):
        raise NotImplementedError(
            "In multi-platform lowering either all or no lowering platforms should support "
            f"donation. Lowering for {platforms} of which only {donating} support donation. Leave "
            "donate_argnums out, or export for each platform by itself."
        )


def deserialize(blob):
    """The function that `Exported.serialize` wrote.

    Raises:
      ValueError: for other bytes, and for structures with classes that are not registered.

    Example:
      >>> from shardax import export
      >>> data = export.export(shardax.jit(jnp.sin))(0.0).serialize()
      >>> export.deserialize(bytes(data)).call(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    data = bytes(blob)
    if not data.startswith(MAGIC):
        raise ValueError(
            "export.deserialize: the bytes were not written by Exported.serialize of shardax."
        )
    start = len(MAGIC) + 4
    rest = data[start:]
    if data[len(MAGIC) : start] != struct.pack("<I", zlib.crc32(rest)):
        raise ValueError(
            "export.deserialize: the bytes are damaged, or not all of what was written."
        )
    try:
        header, program, rest = _parts(rest)
        following = deserialize(rest) if header["vjp"] else None
        read_function = read_symbolic if header.get("symbols") else _read_program
        exported = read_function(header, program, following)
    except (
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        struct.error,
        SyntaxError,
        json.JSONDecodeError,
        UnicodeDecodeError,
    ) as error:
        raise ValueError(
            f"export.deserialize: the description of the function is not one: {error!r}."
        ) from error
    _check_leaves(exported)
    return exported


def _parts(data):
    """The header, the program's bytes, and the rest."""
    parts = []
    for _ in range(2):
        (size,) = struct.unpack_from("<q", data)
        if not 0 <= size <= len(data) - 8:
            raise ValueError(f"export.deserialize: a part of {size} bytes; {len(data) - 8} follow.")
        parts.append(data[8 : 8 + size])
        data = data[8 + size :]
    return json.loads(parts[0]), parts[1], data


def _check_leaves(exported):
    """Refuses structures that have other numbers of leaves than the program has arrays."""
    for name, tree, avals in (
        ("arguments", exported.in_tree, exported.in_avals),
        ("results", exported.out_tree, exported.out_avals),
    ):
        if tree.num_leaves != len(avals):
            raise ValueError(
                f"export.deserialize: the structure of {name} has {tree.num_leaves} leaves; the "
                f"program has {len(avals)}."
            )


def _read_program(header, data, following):
    program = _core.deserialize(data)
    return Exported(
        fun_name=header["fun_name"],
        in_tree=read(header["in_tree"]),
        in_avals=tuple(program.in_avals),
        out_tree=read(header["out_tree"]),
        out_avals=tuple(program.out_avals),
        platforms=tuple(header["platforms"]),
        disabled_safety_checks=tuple(map(DisabledSafetyCheck, header["disabled_safety_checks"])),
        _program=program,
        _arg_names=tuple(header["arg_names"]),
        _get_vjp=None if following is None else lambda _: following,
        uses_global_constants=header.get("polymorphic", False),
    )
