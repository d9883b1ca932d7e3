"""shardax.experimental.pjit - jit on the devices of the mesh of a `with mesh:` block."""

import functools
import threading
import types
from contextlib import nullcontext

import shardax._core as _core
from shardax import tree_util
from shardax._base.api_errors import argument_paths
from shardax._base.options import check_exclusive
from shardax._devices.constraints import with_sharding_constraint
from shardax._devices.jit_shardings import caller
from shardax._devices.mesh_context import context_mesh, get_mesh, use_abstract_mesh
from shardax._devices.shardings import PartitionSpec
from shardax._transform.jit import jit

__all__ = ["pjit", "with_sharding_constraint"]

_OPEN = object()  # a sharding that was not given


class _Calls(threading.local):
    """The calls that are under way in this thread."""

    on_mesh = False  # true if one of them runs on the mesh of a block


_calls = _Calls()


def pjit(
    fun=None,
    in_axis_resources=_OPEN,
    out_axis_resources=_OPEN,
    static_argnums=None,
    donate_argnums=None,
    *,
    in_shardings=_OPEN,
    out_shardings=_OPEN,
    device=None,
    backend=None,
    **options,
):
    """jit; in_axis_resources and out_axis_resources are in_shardings and out_shardings.

    In a `with mesh:` block its results lie on the devices of the mesh, whole on each if nothing
    splits them. None among the shardings means P() there.

    Raises:
      ValueError: where `device` or `backend` is given and a mesh is current.

    Example:
      >>> with Mesh(shardax.devices()[:2], ("x",)):
      ...     f = shardax.experimental.pjit.pjit(lambda x: x * 2, P("x"), P("x"))
      ...     f(jnp.ones(4)).sharding.spec
      P('x',)
    """
    if fun is None:
        return functools.partial(
            pjit,
            in_axis_resources=in_axis_resources,
            out_axis_resources=out_axis_resources,
            static_argnums=static_argnums,
            donate_argnums=donate_argnums,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            device=device,
            backend=backend,
            **options,
        )
    shardings = {
        "in_shardings": in_axis_resources if in_shardings is _OPEN else in_shardings,
        "out_shardings": out_axis_resources if out_shardings is _OPEN else out_shardings,
    }
    check_exclusive(device, backend, **{k: v is not _OPEN for k, v in shardings.items()})
    make = functools.partial(
        jit,
        fun,
        static_argnums=static_argnums,
        donate_argnums=donate_argnums,
        device=device,
        backend=backend,
        **options,
    )
    return OnMesh(fun, make, shardings, device is not None or backend is not None)


class OnMesh:
    """`fun` jitted, run on the devices of the mesh of the `with mesh:` block around a call."""

    def __init__(self, fun, make, shardings, placed):
        functools.update_wrapper(self, fun)
        self._placed = placed
        open_now = {k: None if v is _OPEN else v for k, v in shardings.items()}
        self._jitted = make(**open_now)
        whole = {k: _whole(v) for k, v in open_now.items() if shardings[k] is not _OPEN}
        self._on_mesh = make(**whole) if whole else self._jitted

    def _current(self):
        """The jitted function that a call means, and the mesh that is current in it."""
        mesh = get_mesh()
        if mesh.empty or context_mesh().manual_axes or not (_calls.on_mesh or context_mesh().empty):
            return self._jitted, None
        if self._placed:
            raise ValueError(
                "Mesh context manager should not be used with jit when backend or device is also "
                "specified as an argument to jit."
            )
        return self._on_mesh, mesh

    def _run(self, name, args, kwargs):
        jitted, mesh = self._current()
        if mesh is not None:
            self._check_devices(mesh, args, kwargs)
        method = jitted if name is None else getattr(jitted, name)
        on_mesh = nullcontext() if mesh is None else use_abstract_mesh(mesh.abstract_mesh)
        outside = caller.name, _calls.on_mesh
        with on_mesh:
            caller.name, _calls.on_mesh = "pjit", outside[1] or mesh is not None
            try:
                return method(*args, **kwargs)
            finally:
                caller.name, _calls.on_mesh = outside

    def _check_devices(self, mesh, args, kwargs):
        """ValueError for arrays that were placed on other devices than the mesh has."""
        wanted = set(mesh.device_ids_in_order)
        for i, leaf in enumerate(tree_util.tree_leaves((args, kwargs))):
            if not isinstance(leaf, _core.Array) or isinstance(leaf, _core.Tracer):
                continue
            known = _core.get_sharding(leaf)
            if known is None or known[5].startswith("p") or set(known[2]) == wanted:
                continue
            path = argument_paths(self.__wrapped__, args, kwargs, [])[i]
            shape = ",".join(map(str, leaf.shape))
            raise ValueError(
                f"Received incompatible devices for jitted computation. Got argument {path} of "
                f"{self.__name__} with shape {leaf.dtype}[{shape}] and device ids "
                f"{sorted(set(known[2]))} on platform CPU and pjit's context mesh with device ids "
                f"{sorted(wanted)} on platform CPU. Bring the array there with shardax.device_put."
            )

    def __call__(self, *args, **kwargs):
        return self._run(None, args, kwargs)

    def lower(self, *args, **kwargs):
        """Stages the function; .compile() makes it callable."""
        return self._run("lower", args, kwargs)

    def trace(self, *args, **kwargs):
        """Stages the function and shows its program."""
        return self._run("trace", args, kwargs)

    def eval_shape(self, *args, **kwargs):
        """The result's shapes and dtypes."""
        return self._run("eval_shape", args, kwargs)

    def clear_cache(self):
        """Forgets the programs of the function."""
        self._jitted.clear_cache()
        self._on_mesh.clear_cache()

    def __get__(self, owner, cls=None):
        return self if owner is None else types.MethodType(self, owner)

    def __repr__(self):
        return repr(self._jitted)


def _whole(shardings):
    """`shardings`, P() in place of each None."""
    return tree_util.tree_map(
        lambda where: PartitionSpec() if where is None else where,
        shardings,
        is_leaf=lambda where: where is None or isinstance(where, PartitionSpec),
    )
