"""python -m shardax --processes N script.py [args]: starts a script in N processes of this machine.

The launcher is the mpiexec of the library that mpi4py has loaded. Each process writes into pipes of
its own: what process 0 writes is passed on as it is, what the others write to their stderr with
their number in front. When one process fails, or this launcher is interrupted, all end.
"""

import os
import subprocess
import sys

# Open MPI starts nothing as root, and no more processes than cores, unless it is told to. Pinning
# is the processes' own matter (`_base/processes.py`).
_SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "I_MPI_PIN": "0",
}


def main(arguments):
    """Runs the command line after `python -m shardax`; gives the exit code."""
    count, rest = _parse(arguments)
    command = [mpiexec(), "-n", str(count), sys.executable, "-m", "shardax", *rest]
    return subprocess.call(command, env={**_SETTINGS, **os.environ})


def _parse(arguments):
    name, _, count = arguments[0].partition("=")
    rest = arguments[1:]
    if not count and rest:
        count, *rest = rest
    if not count.isdigit() or int(count) < 1:
        sys.exit(f"python -m shardax: {name} takes a number of processes from 1, got '{count}'.")
    if not rest:
        sys.exit("python -m shardax: --processes needs a script.")
    return int(count), rest


def mpiexec():
    """The path of the mpiexec that belongs to the library of mpi4py."""
    library = _library()
    folder = os.path.dirname(library)
    # An installation's lib and bin lie side by side; Debian's libraries lie in /usr/lib/<machine>,
    # and the programs of its several MPIs have suffixes.
    openmpi = os.path.basename(library).startswith(("libmpi.so.40", "libmpi.so.80"))
    suffixes = ("openmpi", "") if openmpi else ("mpich", "hydra", "")
    for up in (".", "..", "../..", "../../.."):
        for suffix in suffixes if up == "../../.." or up == "../.." else ("",):
            name = "mpiexec" + ("." + suffix if suffix else "")
            path = os.path.normpath(os.path.join(folder, up, "bin", name))
            if os.access(path, os.X_OK):
                return path
    sys.exit(f"python -m shardax: no mpiexec lies beside mpi4py's library, {library}.")


def _library():
    """The path of the MPI library that mpi4py loads, which is not started."""
    try:
        import mpi4py
    except ImportError:
        sys.exit(
            "python -m shardax: --processes needs mpi4py and an MPI library: "
            "`pip install 'shardax[mpi]'`."
        )
    mpi4py.rc.initialize = False
    import ctypes

    from mpi4py import MPI

    class Place(ctypes.Structure):
        _fields_ = [
            ("file", ctypes.c_char_p),
            ("base", ctypes.c_void_p),
            ("symbol", ctypes.c_char_p),
            ("address", ctypes.c_void_p),
        ]

    place = Place()
    function = ctypes.cast(ctypes.CDLL(MPI.__file__).MPI_Init, ctypes.c_void_p)
    ctypes.CDLL(None).dladdr(function, ctypes.byref(place))
    return os.path.realpath(os.fsdecode(place.file))
