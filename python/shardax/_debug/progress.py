"""shardax/_debug/progress.py - shardax.progress: long compilations and loops, while they run."""

import atexit
import contextlib
import html
import os
import shutil
import sys
import threading
import time

import shardax._core as _core

_LONG = 1.0  # seconds: a task that takes less is not shown
_PERIOD = 0.1  # seconds from one look to the next
_LOG_PERIOD = 10.0  # seconds from one line to the next where there is no terminal
_PATIENCE = 2.0  # seconds for which the end of a block waits for the thread that draws
_WIDTH = 79  # characters, without the end of the line
_LABEL = 40  # characters of a task's name at most


# ---------------------------------------------------------------------------- words


def _shortened(text, width):
    return text if len(text) <= width else text[: width - 3] + "..."


def _time(seconds):
    """ "12 s", "3 min 20 s", "2 h 5 min" """
    whole = round(seconds)
    minutes, hours = whole // 60, whole // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


_OPS = {"while": "while_loop", "devices": "loop over devices"}


def _label(task):
    """ "compiles step", "scan in step", at the top of a file "scan at file.py:12" """
    if task["kind"] != "loop":
        verb = "traces" if task["kind"] == "tracing" else "compiles"
        return _shortened(f"{verb} {task['name']}", _LABEL)
    op = _OPS.get(task["name"], task["name"])
    line, _, function = task["line"].rstrip(")").partition(" (")
    if not line:
        return op
    function = function.rpartition(".<locals>.")[2]
    where = f"at {line}" if function == "<module>" else f"in {function}"
    return _shortened(f"{op} {where}", _LABEL)


def _text(task):
    """ "scan in step, 120/1000, 12 s, 88 s left" """
    done, length, seconds = task["done"], task["length"], task["seconds"]
    words = [_label(task)]
    if task["kind"] == "loop":
        counted = "running" if done < 0 else f"{done} turns"
        words.append(f"{done}/{length}" if done >= 0 and length >= 0 else counted)
    words.append(_time(seconds))
    if length >= 0 and done > 0:
        words.append(f"{_time(seconds * (length - done) / done)} left")
    return ", ".join(words)


def _line(tasks, width):
    """The first task, and further ones that find room."""
    line = ""
    for task in tasks:
        longer = f"{line}; {_text(task)}" if line else _shortened(_text(task), width)
        if len(longer) > width:
            break
        line = longer
    return line


# ---------------------------------------------------------------------------- displays


class _Log:
    """A line now and then, for files."""

    def __init__(self, file):
        self._file, self._next = file, 0.0

    def show(self, tasks):
        if tasks and time.monotonic() >= self._next:
            self._next = time.monotonic() + _LOG_PERIOD
            print(_line(tasks, _WIDTH), file=self._file, flush=True)

    def close(self):
        pass


class _OneLine:
    """One line of a terminal, written again and again."""

    def __init__(self, file):
        self._file, self._written = file, 0

    def show(self, tasks):
        width = min(_WIDTH, shutil.get_terminal_size().columns - 1)
        line = _line(tasks, width)
        if line or self._written:
            blanks = " " * (self._written - len(line))
            self._file.write(f"\r{line}{blanks}" if line else f"\r{blanks}\r")
            self._file.flush()
        self._written = len(line)

    def close(self):
        self.show([])


class _Bars:
    """A bar of tqdm for each task."""

    def __init__(self, file, tqdm):
        self._file, self._tqdm, self._bars = file, tqdm, {}

    def show(self, tasks):
        shown = {task["id"] for task in tasks}
        for ended in [key for key in self._bars if key not in shown]:
            self._bars.pop(ended).close()
        for task in tasks:
            if task["id"] not in self._bars:
                self._bars[task["id"]] = self._bar(task)
            bar = self._bars[task["id"]]
            bar.n = max(task["done"], 0)
            bar.refresh()

    def _bar(self, task):
        total = task["length"] if task["length"] >= 0 and task["done"] >= 0 else None
        # With a delay, the first look is that of `refresh`.
        said = {"desc": _label(task), "leave": False, "file": self._file, "delay": 1e-3}
        if task["done"] < 0:
            bar = self._tqdm(bar_format="{desc}, {elapsed}", **said)
        else:
            bar = self._tqdm(total=total, unit=" turns", **said)
        bar.start_t = time.time() - task["seconds"]
        return bar

    def close(self):
        self.show([])


class _Cell:
    """An output of a notebook's cell, drawn again and again. A stored notebook keeps one for each
    cell, and nothing is left in it.
    """

    def __init__(self, shell):
        self._shell, self._lock = shell, threading.Lock()
        self._output, self._number, self._drawn = None, None, None
        shell.events.register("post_run_cell", self._clear)

    def show(self, tasks):
        with self._lock:
            if tasks and self._number != self._shell.execution_count:
                self._draw([])
                self._output, self._number = None, self._shell.execution_count
            self._draw(tasks)

    def _draw(self, tasks):
        data = {"text/plain": _line(tasks, _WIDTH), "text/html": _rows(tasks)}
        if self._output is None and tasks:
            display = sys.modules["IPython"].display.display
            self._output = display(data, raw=True, display_id=True)
        elif self._output is not None and data != self._drawn:
            self._output.update(data, raw=True)
        self._drawn = data

    def _clear(self, *_):
        self.show([])

    def close(self):
        self._clear()
        self._shell.events.unregister("post_run_cell", self._clear)


def _rows(tasks):
    """A bar and its text for each task, in HTML."""
    rows = []
    for task in tasks:
        counted = task["done"] >= 0 and task["length"] >= 0
        state = f' value="{task["done"]}" max="{task["length"]}"' if counted else ""
        rows.append(f"<div><progress{state}></progress> {html.escape(_text(task))}</div>")
    return "".join(rows)


def _notebook():
    """IPython's shell in the process of a notebook, else None."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get_ipython() if get_ipython else None
    return shell if shell is not None and "IPKernelApp" in shell.config else None


def _display():
    """The display of this notebook, or for this process's stderr; None where there is none."""
    file, shell = sys.stderr, _notebook()
    if shell is not None:
        return _Cell(shell)
    if file is None:
        return None
    if not file.isatty():
        return _Log(file)
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _OneLine(file)
    return _Bars(file, tqdm)


# ---------------------------------------------------------------------------- the thread


class _Watcher(threading.Thread):
    """Looks at the tasks and draws them, until its end."""

    def __init__(self, display):
        super().__init__(name="shardax.progress", daemon=True)
        self._display, self._ended = display, threading.Event()
        self.drawing = threading.Lock()

    def run(self):
        try:
            while not self._ended.wait(_PERIOD):
                with self.drawing:
                    self._display.show(_long_tasks())
        finally:
            self._display.close()

    def begin(self):
        try:
            _core.watch_tasks(True)
            self.start()
        except BaseException:  # no room for a thread, or Ctrl-C
            self.stop()
            raise

    def stop(self):
        _core.watch_tasks(False)
        self._ended.set()


def _long_tasks():
    """Of several processes the first shows its own."""
    if _core.process_index() != 0:
        return []
    return [task for task in _core.tasks_under_way() if task["seconds"] >= _LONG]


_lock = threading.RLock()  # a handler of signals may open a block
_blocks = 0  # open ones
_watcher = None


def begin():
    """Shows tasks until the process ends, or `_close` is called."""
    global _blocks, _watcher
    with _lock:
        if _blocks == 0 and (display := _display()) is not None:
            watcher = _Watcher(display)
            watcher.begin()
            _watcher = watcher
        _blocks += 1


def _close():
    global _blocks, _watcher
    with _lock:
        _blocks -= 1
        if _blocks or _watcher is None:
            return
        ended, _watcher = _watcher, None
        ended.stop()
    ended.join(_PATIENCE)


@atexit.register
def _end():
    """While the interpreter ends, no thread may write to stderr."""
    if _watcher is not None:
        _watcher.stop()
        _watcher.join(_PATIENCE)


def _before_fork():
    """No child finds a lock of the display taken."""
    if _watcher is not None and _watcher.drawing.acquire(timeout=_PATIENCE):
        _before_fork.held = _watcher.drawing


def _after_fork():
    if _before_fork.held is not None:
        _before_fork.held.release()
        _before_fork.held = None


def _after_fork_in_child():
    global _blocks, _watcher, _lock
    _after_fork()
    _blocks, _watcher, _lock = 0, None, threading.RLock()
    _core.watch_tasks(False)


_before_fork.held = None
os.register_at_fork(
    before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child
)


@contextlib.contextmanager
def progress():
    """Shows tracing, compilations and loops of a block that take more than a second, while they
    run. Short ones show nothing.

    Of a function that is traced or compiled, the time is shown. Of `lax.scan`, `lax.map` and
    `lax.fori_loop` the turns, and the time that is left; of `lax.while_loop` the turns. Loops
    within a loop are shown one level deep. A loop of a program for many devices is one loop. Of
    loops within each other over a few numbers, which are one piece of machine code, the turns are
    not known: they are "running".

    On a terminal these are bars of tqdm, or one line where it is not installed. In a notebook they
    are bars below the cell, of which nothing is left in the end. Elsewhere a line is written to
    stderr every ten seconds. The tasks of all threads are shown. Of several processes the first
    shows its own; a child made by fork shows nothing. Blocks may be within each other: the
    outermost one shows.

    Example:
      >>> with shardax.progress():
      ...     total = lax.fori_loop(0, 10, lambda i, x: x + i, 0)
      >>> total
      Array(45, dtype=int32, weak_type=True)
    """
    process = os.getpid()
    begin()
    try:
        yield
    finally:
        # Python that ends may clear the names of this module before it drops an open block.
        if _close is not None and os.getpid() == process:
            _close()
