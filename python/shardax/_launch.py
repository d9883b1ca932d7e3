"""python -m shardax --processes N script.py [args]: starts a script in N processes of this machine.

The launcher is the mpiexec of the library that mpi4py loads. Each process writes into two pipes of
its own. Output of process 0 is passed on as it is, stderr of others with their number in front.
When a process fails, or this program is interrupted, all of them end.
"""

import contextlib
import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from shardax._base.processes import OUTPUT

# Open MPI starts nothing as root, and no more processes than cores, unless it is told to. Its part
# for windows over UCX says on stderr that it is not used. Pinning is the processes' own matter
# (`_base/processes.py`).
SETTINGS = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_osc": "^ucx",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "I_MPI_PIN": "0",
}
_USAGE = "usage: python -m shardax --processes N [--output all] script.py [args]"

# Seconds that processes have to end by themselves: after the first one has, and when interrupted.
_PATIENCE = 4
_AT_ONCE = 1.0  # seconds within which ends of processes have no order
_LINE_WAIT = 1.0  # seconds that lines of others wait for the end of one that process 0 has begun

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main(count, shows_all, arguments):
    """Runs `python -m shardax` with these arguments in so many processes; gives the exit code."""
    command = [mpiexec(), "-n", str(count), sys.executable, "-m", "shardax", *arguments]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # processes that mpiexec leaves behind become children of this one
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    with _folder() as (folder, guard):
        pipes = _Pipes(folder, count, shows_all)
        with open(os.path.join(folder, "mpiexec"), "w+") as said:
            started = subprocess.Popen(
                command,
                env={**SETTINGS, **os.environ, OUTPUT: folder},
                stdin=subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # an interrupt from the keyboard reaches this process alone
                preexec_fn=lambda: _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM),
            )
            try:
                code = _watch(started, pipes)
            except KeyboardInterrupt:
                code = 128 + signal.SIGINT
                pipes.signal_all(signal.SIGINT)
                with contextlib.suppress(KeyboardInterrupt):
                    _watch(started, pipes, time.monotonic() + _PATIENCE)
            finally:
                _end(started, guard)
            pipes.pass_on_rest()
            said.seek(0)
            report = said.read()
            lost = pipes.lost(report)
            code = pipes.told_code() or code
            if lost:
                code = code or 1
                sys.stderr.write(
                    f"python -m shardax: process {' or '.join(map(str, lost))} has ended before "
                    "the others, without an exception: it was killed, crashed or left by os._exit. "
                    "All have ended.\n"
                )
            # The report of mpiexec on the end is of interest if no process has given a reason.
            if code != 0 and (lost or not pipes.said_why):
                sys.stderr.write(report)
    return code


def parse(arguments):
    """The number of processes, whether all of them write, and the script with its arguments."""
    count, shows_all = None, False
    rest = list(arguments)
    while rest and rest[0].startswith("--"):
        name, equals, value = rest.pop(0).partition("=")
        if not equals and rest:
            value = rest.pop(0)
        if name == "--processes" and value.isdigit() and int(value) > 0:
            count = int(value)
        elif name == "--output" and value in ("all", "first"):
            shows_all = value == "all"
        else:
            sys.exit(
                f"python -m shardax: {name} {value} is not an option; --processes takes a number "
                f"from 1, --output 'all' or 'first'.\n{_USAGE}"
            )
    if count is None or not rest:
        sys.exit(_USAGE)
    return count, shows_all, rest


@contextlib.contextmanager
def _folder():
    """A folder for the pipes, and the id of a child that removes it if this process is killed. The
    system then kills the processes themselves (`_base/processes.py`)."""
    folder = tempfile.mkdtemp(prefix="shardax-")
    end, held = os.pipe()  # closed by whatever ends this process
    guard = os.fork()
    if guard == 0:
        os.setsid()
        os.close(held)
        for number in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.read(end, 1)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)
    try:
        yield folder, guard
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.kill(guard, signal.SIGKILL)
        os.waitpid(guard, 0)


def _prctl(option, value):
    ctypes.CDLL(None).prctl(option, value)


# ---- while the processes run ---------------------------------------------------------------------


class _Stream:
    """This program's stdout or stderr. Output of process 0 passes at once, a progress bar too;
    lines of others wait until its line has ended, or for a second."""

    def __init__(self, to):
        self._to = to
        self._line_began = None  # when process 0 began the line that it has not ended
        self._waiting = b""

    def write(self, text):
        """Writes the output of process 0."""
        if text:
            self._put(text)
            in_line = not text.endswith((b"\n", b"\r"))
            self._line_began = (self._line_began or time.monotonic()) if in_line else None

    def write_lines(self, lines):
        """Writes whole lines of another process, now or later."""
        self._waiting += lines
        self.write_waiting()

    def write_waiting(self, at_once=False):
        """Writes the lines that wait, where they need to wait no longer."""
        if not self._waiting:
            return
        if self._line_began is not None:
            if not at_once and time.monotonic() - self._line_began < _LINE_WAIT:
                return
            self._waiting = b"\n" + self._waiting
            self._line_began = None
        self._put(self._waiting)
        self._waiting = b""

    def _put(self, text):
        with contextlib.suppress(BrokenPipeError):
            self._to.buffer.write(text)
            self._to.buffer.flush()


class _Pipes:
    """The named pipes of all processes, and how their lines are passed on."""

    def __init__(self, folder, count, shows_all):
        self.count = count
        self.said_why = False  # has anything come from a stderr?
        self.ended = {}  # process: when
        self._folder = folder
        self._shows_all = shows_all
        self._streams = {"out": _Stream(sys.stdout), "err": _Stream(sys.stderr)}
        self._poll = select.poll()
        self._open = {}  # descriptor: (process, name)
        self._rests = {}  # descriptor: the beginning of a line
        for process in range(count):
            for name in ("out", "err"):
                os.mkfifo(self._path(process, name))
                pipe = os.open(self._path(process, name), os.O_RDONLY | os.O_NONBLOCK)
                self._open[pipe] = (process, name)
                self._rests[pipe] = b""
                self._poll.register(pipe, select.POLLIN)

    def pass_on(self, milliseconds):
        """Passes on the output within that time; gives whether there was any."""
        events = self._poll.poll(milliseconds)
        for pipe, kind in events:
            text = os.read(pipe, 1 << 16) if kind & select.POLLIN else b""
            self._write(pipe, text)
            if not text:
                self._close(pipe)
        for stream in self._streams.values():
            stream.write_waiting()
        return bool(events)

    def pass_on_rest(self):
        """Passes on the output that processes have written before they ended."""
        while self._open and self.pass_on(0):
            pass
        for pipe in list(self._open):
            self._close(pipe)
        for stream in self._streams.values():
            stream.write_waiting(at_once=True)

    def _close(self, pipe):
        if self._rests[pipe]:
            self._write(pipe, b"\n")
        self._poll.unregister(pipe)
        os.close(pipe)
        self._open.pop(pipe)

    def note_ends(self):
        """Notes which processes have ended since the last time."""
        now = time.monotonic()
        for process in range(self.count):
            if process not in self.ended and self._has_ended(process):
                self.ended[process] = now

    def _pid(self, process):
        try:
            with open(self._path(process, "pid")) as file:
                return int(file.read())
        except (OSError, ValueError):
            return None

    def _has_ended(self, process):
        pid = self._pid(process)
        if pid is None:
            return False  # it has not started yet
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True

    def _write(self, pipe, text):
        process, name = self._open[pipe]
        if name == "err":
            self.said_why = self.said_why or bool(text)
        elif process > 0 and not self._shows_all:
            return
        if process == 0:
            self._streams[name].write(text)
            return
        *lines, self._rests[pipe] = (self._rests[pipe] + text).split(b"\n")
        self._streams[name].write_lines(b"".join(b"[%d] %s\n" % (process, line) for line in lines))

    def left_behind(self):
        """True if processes go on although another one has ended some time ago: processes that end
        as they should wait for each other."""
        if not 0 < len(self.ended) < self.count:
            return False
        return time.monotonic() - min(self.ended.values()) > _PATIENCE

    def lost(self, report):
        """The processes that may have ended first, if none has told why all end. They are the one
        that mpiexec's report names by its pid, or all that were found at about the same time. A
        killed process may be seen to end after those that are ended for it."""
        if any(os.path.exists(self._path(process, "end")) for process in range(self.count)):
            return []
        # Intel MPI's report names the processes that it has killed itself.
        named = "KILLED BY SIGNAL" not in report and re.search(r"\bPID (\d+)\b", report)
        first = min(self.ended.values(), default=0)
        return [p for p in self.ended if named and self._pid(p) == int(named[1])] or sorted(
            p for p in self.ended if self.ended[p] < first + _AT_ONCE
        )

    def told_code(self):
        """The exit code of a process that has ended all; 0 where none has."""
        for process in range(self.count):
            with contextlib.suppress(OSError, ValueError), open(self._path(process, "end")) as file:
                if code := int(file.read()):
                    return code
        return 0

    def _path(self, process, name):
        return os.path.join(self._folder, f"{process}.{name}")

    def signal_all(self, number):
        for process in range(self.count):
            if pid := self._pid(process):
                with contextlib.suppress(OSError):
                    os.kill(pid, number)


def _watch(started, pipes, end=float("inf")):
    """Passes on the output of processes until they, or the time, have ended; gives the exit
    code."""
    while started.poll() is None and time.monotonic() < end:
        pipes.pass_on(50)
        pipes.note_ends()
        if pipes.left_behind():
            return 1
    return 1 if started.returncode is None else started.returncode


def _end(started, spared):
    """Ends mpiexec and its children that still run."""
    if started.poll() is None:
        started.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            started.wait(_PATIENCE / 2)
    while descendants := set(_descendants(os.getpid())) - {spared}:
        for process in descendants:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def _descendants(process):
    """The processes that it has started, and those that these have."""
    found = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{thread}/children") as file:
                for child in map(int, file.read().split()):
                    found += [child, *_descendants(child)]
    return found


# ---- the library's launcher ----------------------------------------------------------------------


def mpiexec():
    """The path of the mpiexec that belongs to the library of mpi4py."""
    library = _library()
    folder = os.path.dirname(library)
    # An installation's lib and bin lie side by side; Debian's libraries lie in /usr/lib/<machine>,
    # and the programs of its several MPIs have suffixes.
    is_openmpi = "openmpi" in library or os.path.basename(library).startswith("libmpi.so.40")
    suffixes = (".openmpi", "") if is_openmpi else (".mpich", ".hydra", "")
    places = [("..", ""), ("../..", "")]
    places += [(up, suffix) for up in ("../..", "../../..", "../../../..") for suffix in suffixes]
    for up, suffix in places:
        path = os.path.normpath(os.path.join(folder, up, "bin", "mpiexec" + suffix))
        if os.access(path, os.X_OK):
            return path
    sys.exit(f"python -m shardax: no mpiexec lies beside mpi4py's library, {library}.")


def _library():
    """The path of the MPI library that mpi4py loads; MPI is not started."""
    try:
        import mpi4py
    except ImportError:
        sys.exit(
            "python -m shardax: --processes needs mpi4py and an MPI library: "
            "`pip install 'shardax[mpi]'`."
        )
    mpi4py.rc.initialize = False
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
