"""tests/runtime/test_progress.py - shardax.progress: the text and bars of tasks, and its blocks."""

import io
import os
import subprocess
import sys
import threading
import time
import types

import pytest
import shardax
import shardax.numpy as jnp
from shardax import _core, lax
from shardax._debug import progress

sys.path.insert(0, os.path.dirname(__file__))
from gates import LIMIT, Gate, at_work, eventually, scanned, unrolled  # noqa: E402


def task(**facts):
    known = {"id": 1, "kind": "loop", "name": "scan", "line": "train.py:3 (step)", "seconds": 12.0}
    return {**known, "done": -1, "length": -1, "inner": False, "thread": 1, **facts}


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"done": 120, "length": 1000}, "scan in step, 120/1000, 12 s, 1 min 28 s left"),
        ({"done": 0, "length": 1000}, "scan in step, 0/1000, 12 s"),
        ({"length": 1000}, "scan in step, running, 12 s"),
        ({"name": "while", "done": 7}, "while_loop in step, 7 turns, 12 s"),
        (
            {"name": "devices", "done": 1, "length": 2},
            "loop over devices in step, 1/2, 12 s, 12 s left",
        ),
        ({"line": "train.py:3 (<module>)"}, "scan at train.py:3, running, 12 s"),
        ({"line": "train.py:3 (f.<locals>.g)"}, "scan in g, running, 12 s"),
        ({"line": ""}, "scan, running, 12 s"),
        ({"kind": "tracing", "name": "step", "line": ""}, "traces step, 12 s"),
        ({"kind": "compilation", "name": "step", "seconds": 7500}, "compiles step, 2 h 5 min"),
        ({"kind": "compilation", "name": "f" * 90}, f"compiles {'f' * 28}..., 12 s"),
    ],
)
def test_words(facts, text):
    assert progress._text(task(**facts)) == text


def test_lines_fit():
    long = task(line=f"train.py:3 ({'f' * 90})", done=123_456_789, length=987_654_321)
    assert len(progress._line([long, long], 79)) <= 79
    assert len(progress._line([long], 20)) == 20
    short = task(kind="tracing")
    assert progress._line([short, short], 79) == "traces scan, 12 s; traces scan, 12 s"
    assert progress._line([], 79) == ""


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def quick(monkeypatch):
    """A tenth of a second is long."""
    monkeypatch.setattr(progress, "_LONG", 0.05)
    monkeypatch.setattr(progress, "_PERIOD", 0.01)


def shown(monkeypatch, file, block):
    """The text that stderr gets while block() runs."""
    monkeypatch.setattr(sys, "stderr", file)
    with shardax.progress():
        block()
    assert not any(t.name == "shardax.progress" for t in threading.enumerate())
    return file.getvalue()


def drawn_scan(file):
    """A block: a scan that goes on when it has been drawn."""
    gate = Gate()
    scan = scanned(gate, 2)

    def block():
        with at_work(scan, jnp.float32(0)):
            gate.wait()
            gate.open()
            gate.wait()
            eventually(lambda: "scan in train_step" in file.getvalue())
            gate.open()

    return block


def test_short_tasks_show_nothing(monkeypatch):
    monkeypatch.setattr(progress, "_LONG", LIMIT)  # processors may be busy with other things

    def short():
        shardax.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c), x))(jnp.ones(9))

    for file in (io.StringIO(), Terminal()):
        assert shown(monkeypatch, file, short) == ""


def test_without_a_terminal_a_line_now_and_then(monkeypatch, quick):
    file = io.StringIO()
    scan = drawn_scan(file)
    text = shown(monkeypatch, file, lambda: [scan(), time.sleep(0.2)])
    (line,) = text.splitlines()
    assert line.startswith("scan in train_step, ") and "/2, 0 s" in line
    monkeypatch.setattr(progress, "_LOG_PERIOD", 0.05)
    file = io.StringIO()
    gate = Gate()
    scan = scanned(gate, 1)

    def several_lines():
        with at_work(scan, jnp.float32(0)):
            gate.wait()
            eventually(lambda: file.getvalue().count("\n") >= 3)
            gate.open()

    shown(monkeypatch, file, several_lines)


def test_one_line_where_tqdm_is_not_installed(monkeypatch, quick):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    file = Terminal()
    text = shown(monkeypatch, file, drawn_scan(file))
    assert "\n" not in text
    assert "\rscan in train_step, 1/2, 0 s" in text
    assert text.endswith(" \r")  # erased


def test_bars_of_tqdm(monkeypatch, quick):
    """A stub tells what it is asked for."""
    bars = []

    class Bar:
        def __init__(self, **given):
            self.given, self.drawn, self.closed, self.n = given, [], False, 0
            bars.append(self)

        def refresh(self):
            self.drawn.append(self.n)
            self.given["file"].write(self.given["desc"])

        def close(self):
            self.closed = True

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    file = Terminal()
    shown(monkeypatch, file, drawn_scan(file))
    (bar,) = bars
    assert bar.given["desc"] == "scan in train_step" and bar.given["total"] == 2
    assert bar.given["leave"] is False and bar.closed and 1 in bar.drawn
    assert time.time() - LIMIT < bar.start_t < time.time()


def test_the_real_tqdm(monkeypatch, quick):
    pytest.importorskip("tqdm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    file = Terminal()
    text = shown(monkeypatch, file, drawn_scan(file))
    assert "1/2 [00:00<00:00" in text


class Notebook:
    """Stands for IPython: the outputs of cells as they are stored."""

    def __init__(self, monkeypatch):
        self.stored, self.drawn, self.ended = [], [], []
        self.config, self.execution_count, self.events = {"IPKernelApp": {}}, 1, self
        self.display = types.SimpleNamespace(display=self._display)
        monkeypatch.setitem(sys.modules, "IPython", self)

    def get_ipython(self):
        return self

    def register(self, event, function):
        assert event == "post_run_cell"
        self.ended.append(function)

    def unregister(self, event, function):
        self.ended.remove(function)

    def end_cell(self):
        for function in self.ended:
            function(None)
        self.execution_count += 1

    def _display(self, data, raw, display_id):
        cell = {"number": self.execution_count}
        self.stored.append(cell)

        def update(data, raw):
            cell["data"] = data
            self.drawn.append(data["text/plain"])

        update(data, raw)
        return types.SimpleNamespace(update=update)


EMPTY = {"text/plain": "", "text/html": ""}


def test_a_notebook_keeps_one_empty_output(monkeypatch, quick):
    notebook, file = Notebook(monkeypatch), io.StringIO()
    gate = Gate()
    scan = scanned(gate, 3)

    def block():
        before = len(notebook.drawn)
        with at_work(scan, jnp.float32(0)):
            for turn in range(3):
                gate.wait()
                eventually(lambda t=turn: any(f"{t}/3" in s for s in notebook.drawn[before:]))
                gate.open()

    assert shown(monkeypatch, file, lambda: [block(), block()]) == ""
    assert notebook.stored == [{"number": 1, "data": EMPTY}]
    assert notebook.drawn[-1] == "" and notebook.ended == []
    # A block may last for several cells.
    with shardax.progress():
        block()
        notebook.end_cell()
        block()
        notebook.end_cell()
        assert notebook.stored[1:] == [{"number": n, "data": EMPTY} for n in (1, 2)]
    silent = len(notebook.drawn)
    shown(monkeypatch, file, lambda: None)
    assert len(notebook.drawn) == silent


def test_bars_of_a_notebook():
    rows = progress._rows([task(done=3, length=9), task(kind="compilation", name="<lambda>")])
    assert rows == (
        '<div><progress value="3" max="9"></progress> scan in step, 3/9, 12 s, 24 s left</div>'
        "<div><progress></progress> compiles &lt;lambda&gt;, 12 s</div>"
    )


def test_a_stored_notebook():
    """Without the packages of pyproject's group docs, it is skipped."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    setup = """
import time, shardax
from shardax import lax
from shardax._debug import progress
progress._LONG = progress._PERIOD = 0.05
def turn(x):
    time.sleep(0.05)
    return x + 1
x = shardax.numpy.float32(0)
"""
    block = """
print("before")
with shardax.progress():
    lax.fori_loop(0, 20, lambda i, c: shardax.pure_callback(turn, c, c), x)
print("after")
"""
    cells = [nbformat.v4.new_code_cell(source) for source in (setup, block, block)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    assert notebook.cells[0].outputs == []
    for cell in notebook.cells[1:]:
        before, bars, after = cell.outputs
        assert (before.text, after.text) == ("before\n", "after\n")
        assert bars.output_type == "display_data" and bars.data == EMPTY


def test_compilations_are_shown(monkeypatch, quick):
    file = io.StringIO()
    chain = unrolled(40_000)

    def slow(x):
        time.sleep(0.2)
        return chain(x)

    monkeypatch.setattr(progress, "_LOG_PERIOD", 0.0)
    text = shown(monkeypatch, file, lambda: shardax.jit(slow)(jnp.eye(2)))
    lines = {line.partition(",")[0] for line in text.splitlines()}
    assert {"traces slow", "compiles slow"} <= lines


# ---------------------------------------------------------------------------- blocks


def test_errors_pass_and_blocks_end(monkeypatch, quick):
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    for error in (ZeroDivisionError, KeyboardInterrupt):
        with pytest.raises(error), shardax.progress():
            raise error
        assert not any(t.name == "shardax.progress" for t in threading.enumerate())
    gate = Gate()
    with at_work(scanned(gate, 1), jnp.float32(0)):
        gate.wait()
        assert _core.tasks_under_way() == []
        gate.open()
    drawn = shown(monkeypatch, file, drawn_scan(file))  # and there can be another block
    assert "scan in train_step" in drawn


def test_blocks_within_each_other_and_on_threads(monkeypatch, quick):
    file = io.StringIO()
    scan = drawn_scan(file)

    def block():
        with shardax.progress():
            drawers = [t for t in threading.enumerate() if t.name == "shardax.progress"]
            assert len(drawers) == 1

    def several():
        block()
        with at_work(block), at_work(block):
            block()
        scan()  # the outermost block goes on

    assert "scan in train_step" in shown(monkeypatch, file, several)


def test_no_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with shardax.progress():
        assert int(lax.fori_loop(0, 3, lambda i, c: c + i, 0)) == 3


def test_other_processes_show_nothing(monkeypatch, quick):
    monkeypatch.setattr(_core, "process_index", lambda: 1)
    gate, file = Gate(), io.StringIO()
    scan = scanned(gate, 1)

    def block():
        with at_work(scan, jnp.float32(0)):
            gate.wait()
            time.sleep(0.2)
            gate.open()

    assert shown(monkeypatch, file, block) == ""


def run(program, **settings):
    head = "import os, sys, time, shardax\nfrom shardax import _core, lax\n"
    return subprocess.run(
        [sys.executable, "-c", head + program],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_whole_processes():
    program = """
def turn(x):
    time.sleep(0.1)
    return x
x = shardax.numpy.float32(0)
lax.fori_loop(0, 15, lambda i, c: shardax.pure_callback(turn, c, c), x)
with shardax.progress():
    pass
"""
    done = run(program, SHARDAX_PROGRESS="1")
    (line,) = done.stderr.splitlines()
    assert line.startswith("scan, ") and line.endswith("s left"), line
    silent = run("print('shardax._debug.progress' in sys.modules)", SHARDAX_PROGRESS="0")
    assert (silent.stdout, silent.stderr) == ("False\n", "")


def test_the_interpreter_ends_within_a_block():
    program = """
block = shardax.progress()
block.__enter__()
print("done")
"""
    for end in ("", "sys.exit(3)", "os.kill(os.getpid(), 2)"):
        done = run(program + end)
        assert done.stdout == "done\n"
        assert done.stderr == "" or done.stderr.endswith("KeyboardInterrupt\n"), done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_made_by_fork():
    """It has no tasks of threads that it does not have, and may open a block of its own."""
    program = """
import threading
from shardax._debug import progress
progress._LONG = progress._PERIOD = 0.01
inside, go_on = threading.Event(), threading.Event()
def turn(x):
    inside.set()
    go_on.wait(30)
    return x
def loop():
    lax.fori_loop(0, 2, lambda i, c: shardax.pure_callback(turn, c, c), shardax.numpy.float32(0))
with shardax.progress():
    thread = threading.Thread(target=loop)
    thread.start()
    inside.wait(30)
    for _ in range(20):
        child = os.fork()
        if child == 0:
            failed = 1
            try:
                assert _core.tasks_under_way() == []
                with shardax.progress():
                    lax.fori_loop(0, 3, lambda i, c: c + i, 0)
                failed = 0
            finally:
                os._exit(failed)
        print(os.waitpid(child, 0)[1], len(_core.tasks_under_way()))
    go_on.set()
    thread.join(30)
"""
    done = run(program)
    assert (done.returncode, done.stdout) == (0, "0 1\n" * 20), done.stderr


def test_ctrl_c_ends_the_block():
    program = """
import signal, threading
threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with shardax.progress():
        lax.while_loop(lambda x: x >= 0, lambda x: x * 0.5 + 1, shardax.numpy.float32(1))
except KeyboardInterrupt:
    print("interrupted", _core.tasks_under_way())
"""
    done = run(program)
    assert (done.returncode, done.stdout) == (0, "interrupted []\n"), done.stderr
