# shardax/_base/processes.py - joining the processes that MPI has started, and leaving them.
#
# mpi4py brings the library: its functions are looked up in mpi4py's own module, its handles are
# numbers that mpi4py knows. One build of the core serves MPICH, Open MPI and Intel MPI so.
import atexit
import os

import shardax._core as _core

# How many processes a launcher of MPI says that it has started. Slurm's variables say nothing of
# MPI: a job of one task may start a program that is not parallel.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
# A launcher that speaks PMIx (srun --mpi=pmix) leaves that to the library.
_UNSIZED = "PMIX_NAMESPACE"

_FUNCTIONS = ("MPI_Isend", "MPI_Irecv", "MPI_Test", "MPI_Abort")

_kept = []  # the communicator, as long as the process lives


def started_by_mpi():
    """Whether a launcher of MPI has started this process as one of several."""
    sizes = [int(os.environ[name]) for name in _SIZES if os.environ.get(name, "").isdigit()]
    return max(sizes) > 1 if sizes else _UNSIZED in os.environ


def join(user):
    """Joins the processes that MPI has started this one with. `user` is who asks, for errors.

    Raises:
      ImportError: where mpi4py is not installed.
      RuntimeError: where the launcher belongs to another MPI than the library of mpi4py.
    """
    if _core.process_count() > 1:
        return
    MPI = _mpi(user)
    world = MPI.COMM_WORLD
    _check_launcher(MPI, user)
    if world.size == 1:
        return
    communicator = world.Dup()  # its messages never meet those of the user's own
    communicator.Set_errhandler(MPI.ERRORS_RETURN)
    _kept.append(communicator)
    library = _addresses(MPI)
    library.update(
        rank=world.rank,
        size=world.size,
        yields=_shares_cores(MPI, communicator),
        communicator=MPI._handleof(communicator),
        MPI_BYTE=MPI._handleof(MPI.BYTE),
    )
    _core.join_processes(library)
    for name in (*_SIZES, _UNSIZED):  # a process that this one starts is none of them
        os.environ.pop(name, None)
    atexit.register(_core.barrier, "end of the program")


def _mpi(user):
    try:
        from mpi4py import MPI  # optional, and starts MPI
    except ImportError as error:
        raise ImportError(
            f"{user}: MPI has started this process as one of several, but mpi4py cannot be "
            f"imported ({error}). Install it with `pip install 'shardax[mpi]'`."
        ) from error
    return MPI


def _check_launcher(MPI, user):
    for name in _SIZES:
        told = os.environ.get(name, "")
        if told.isdigit() and int(told) != MPI.COMM_WORLD.size:
            version = MPI.Get_library_version().splitlines()[0]
            raise RuntimeError(
                f"{user}: the launcher started {told} processes ({name}={told}), but mpi4py's "
                f"library sees {MPI.COMM_WORLD.size}: the launcher belongs to another MPI than "
                f"'{version}'. Start with `python -m shardax --processes {told}`, which takes the "
                "mpiexec of that library."
            )


def _addresses(MPI):
    import ctypes  # only where MPI is used

    module = ctypes.CDLL(MPI.__file__)
    return {name: ctypes.cast(module[name], ctypes.c_void_p).value for name in _FUNCTIONS}


def _shares_cores(MPI, communicator):
    """Whether this machine runs more of the processes than they may use cores."""
    node = communicator.Split_type(MPI.COMM_TYPE_SHARED)
    try:
        cores = node.allgather(os.sched_getaffinity(0))
    finally:
        node.Free()
    return len(cores) > len(set().union(*cores))
