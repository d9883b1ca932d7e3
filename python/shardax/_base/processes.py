# shardax/_base/processes.py - joining the processes that MPI has started, and ending with them.
#
# mpi4py brings the library: its functions are looked up in mpi4py's own module, its handles are
# numbers that mpi4py knows. One build of the core serves MPICH, Open MPI and Intel MPI so.
import atexit
import contextlib
import ctypes
import io
import os
import signal
import sys

import shardax._core as _core

# The variables in which launchers of MPI give the number of processes. Slurm's variables say
# nothing of MPI: a job of one task may start a program that is not parallel.
_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
# A launcher that speaks PMIx (srun --mpi=pmix) leaves that to the library.
_UNSIZED = "PMIX_NAMESPACE"

_FUNCTIONS = (
    *("MPI_Isend", "MPI_Irecv", "MPI_Test", "MPI_Cancel"),
    *("MPI_Abort", "MPI_Error_string"),
)

_joined = None  # the id of the process that has
_kept = []  # the communicators and the window, for the core


def started_by_mpi():
    """True if a launcher of MPI has started this process as one of several."""
    sizes = [int(os.environ[name]) for name in _SIZES if os.environ.get(name, "").isdigit()]
    return max(sizes) > 1 if sizes else _UNSIZED in os.environ


def join(user):
    """Joins the processes that MPI has started this one with. `user` is who asks, for errors.

    From then on they end together: an exception that nobody handles ends all of them.

    Raises:
      ImportError: where mpi4py is not installed.
      RuntimeError: where the launcher belongs to another MPI than the library of mpi4py.
    """
    if _core.process_count() > 1:
        return
    mapped = _shared_files()
    MPI = _mpi(user)
    world = MPI.COMM_WORLD
    _check_launcher(MPI, user)
    if world.size == 1:
        return
    # Apart from messages of the user's own, and from each other (runtime/mpi.h).
    communicator, later, texts = world.Dup(), world.Dup(), world.Dup()
    for each in (communicator, later, texts):
        each.Set_errhandler(MPI.ERRORS_RETURN)
    node = communicator.Split_type(MPI.COMM_TYPE_SHARED)
    yields = _take_cores(node)
    library = _addresses(MPI)
    library.update(
        rank=world.rank,
        size=world.size,
        yields=yields,
        communicator=MPI._handleof(communicator),
        later=MPI._handleof(later),
        texts=MPI._handleof(texts),
        segments=_window(MPI, node, world),
        MPI_BYTE=MPI._handleof(MPI.BYTE),
        MPI_ANY_TAG=MPI.ANY_TAG,
        MPI_TAG_UB=communicator.Get_attr(MPI.TAG_UB),
        tag_at=_tag_in_status(MPI),
    )
    _kept.extend((communicator, later, texts, node))
    _core.join_processes(library)
    _core.barrier("start of the program")
    if MPI.get_vendor()[0] in ("MPICH", "Intel MPI"):
        # All have mapped them. Without names they vanish with the processes, also with killed ones.
        for path in _shared_files() - mapped:
            with contextlib.suppress(OSError):
                os.unlink(path)
    from shardax._base import coordination  # sockets, which one process needs not

    coordination.start(is_one_machine=node.size == world.size)
    for name in (*_SIZES, _UNSIZED):  # a process that this one starts is none of them
        os.environ.pop(name, None)
    _end_together(MPI)


def _mpi(user):
    try:
        import mpi4py  # optional

        # `_leave` ends MPI. mpi4py would also do so in a child made by fork, and break its parent.
        mpi4py.rc.finalize = False
        from mpi4py import MPI
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
    module = ctypes.CDLL(MPI.__file__)
    return {name: ctypes.cast(module[name], ctypes.c_void_p).value for name in _FUNCTIONS}


def _tag_in_status(MPI):
    """The offset of the tag in the library's MPI_Status, which differs between libraries."""
    status = MPI.Status()
    status.Set_tag(0x1234567)
    room = ctypes.string_at(MPI._addressof(status), MPI._sizeof(status))
    return room.index((0x1234567).to_bytes(4, sys.byteorder))


def _take_cores(node):
    """Pins this process to its share of the machine's cores, where the launcher has given all of
    its processes the same ones. Gives whether there are fewer cores than processes."""
    cores = node.allgather(os.sched_getaffinity(0))
    if node.size > 1 and all(each == cores[0] for each in cores):
        all_cores = sorted(cores[0])
        first, end = (len(all_cores) * i // node.size for i in (node.rank, node.rank + 1))
        if len(all_cores) >= node.size:
            os.sched_setaffinity(0, all_cores[first:end])
        elif "SHARDAX_NUM_THREADS" not in os.environ:
            _core.set_thread_count(1)
    return node.size > len(set().union(*cores))


def _window(MPI, node, world):
    """The addresses of the processes' segments of a window that the machine's processes share; 0
    for a process of another machine. SHARDAX_NODE_WINDOW=0 treats all as such."""
    addresses = [0] * world.size
    if _core.setting("SHARDAX_NODE_WINDOW") == "0" or node.size == 1:
        return addresses
    size = _core.segment_bytes(world.size)
    window = MPI.Win.Allocate_shared(size, 1, comm=node)
    window.tomemory()[:] = bytes(size)
    node.Barrier()
    for i, rank in enumerate(node.allgather(world.rank)):
        addresses[rank] = window.Shared_query(i)[0].address
    _kept.append(window)
    return addresses


def _shared_files():
    """The files of shared memory that this process has mapped."""
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if "/dev/shm/" in line}


# ---- the end -------------------------------------------------------------------------------------


def _end_together(MPI):
    # When the launcher is killed, its processes are.
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    global _joined
    _joined = os.getpid()
    show = sys.excepthook

    def report(kind, error, trace):
        if not _is_joined():
            return show(kind, error, trace)
        text = io.StringIO()
        with contextlib.redirect_stderr(text):
            show(kind, error, trace)
        code = 128 + signal.SIGINT if issubclass(kind, KeyboardInterrupt) else 1
        end_all(f"{kind.__name__} ends them", code, text.getvalue())

    sys.excepthook = report
    atexit.register(_leave, MPI)


def _is_joined():
    """True in a process that has joined, false in a child that it made by fork."""
    return os.getpid() == _joined


def _leave(MPI):
    """The end of the program, where processes wait for each other: one that another still waits
    for is told of by that one's error."""
    if not _is_joined():
        return
    if _core.messages_failed():
        end_all("a message has failed", 1)
    try:
        _core.barrier("end of the program")
    except BaseException as error:
        end_all(f"{type(error).__name__} ends them", 1, f"{type(error).__name__}: {error}\n")
    _tell_launcher("end", "0")
    if not MPI.Is_finalized():
        MPI.Finalize()


def end_all(why, code, text=""):
    """Ends all processes. Each line of the text is written to stderr first, with this process's
    number in front where the launcher does not see to that."""
    _tell_launcher("end", str(code))
    lines = text.splitlines() + [
        f"process {_core.process_index()} of {_core.process_count()} ends all processes: {why}."
    ]
    front = "" if _launcher else f"[{_core.process_index()}] "
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.write("".join(f"{front}{line}\n" for line in lines))
        sys.stderr.flush()
        # The library's own last words are of no use to anybody.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    _core.abort_processes(code)


@contextlib.contextmanager
def exits_together():
    """A block whose SystemExit, with a code other than 0, ends all processes."""
    try:
        yield
    except SystemExit as end:
        if end.code in (None, 0) or not _is_joined():
            raise
        code = end.code if isinstance(end.code, int) else 1
        end_all(
            f"it exits with code {code}", code & 255 or 1, "" if code == end.code else str(end.code)
        )


# ---- the launcher's pipes ------------------------------------------------------------------------

OUTPUT = "SHARDAX_OUTPUT"  # a folder of named pipes, two for each process
_RANKS = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
_launcher = []  # the folder and this process's number, where the launcher is ours


def write_to_launcher():
    """Writes to the pipes that `python -m shardax --processes` reads, where that is above."""
    folder = os.environ.pop(OUTPUT, None)
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), None)
    if folder is None or rank is None:
        return
    _launcher.extend((folder, rank))
    for number, name in ((1, "out"), (2, "err")):
        pipe = os.open(os.path.join(folder, f"{rank}.{name}"), os.O_WRONLY)
        os.dup2(pipe, number)
        os.close(pipe)
    _tell_launcher("pid", str(os.getpid()))


def _tell_launcher(what, text=""):
    if _launcher:
        folder, rank = _launcher
        with (
            contextlib.suppress(OSError),
            open(os.path.join(folder, f"{rank}.{what}"), "w") as file,
        ):
            file.write(text)
