"""tests/mpi/test_faults.py - a process that fails ends all of them, with a text and its number."""

import os
import signal
import subprocess
import sys
import time

import pytest

# Process 1 does something else than the others, after some sums of all.
PROGRAM = """
import os, signal, sys, time
import numpy as np
import shardax
from shardax import _core, lax

me = _core.process_index()
local = shardax.local_device_count()
total = shardax.pmap(lambda x: lax.psum(x, "i"), axis_name="i")
x = np.ones((local, 3), np.float32)
first = int(_core.gather_bytes(str(os.getpid()).encode(), "ids")[0])
for _ in range(20):
    assert total(x)[0, 0] == shardax.device_count()
if me == 1:
    with open(os.environ["FAULT_TIME"], "w") as file:
        file.write(str(time.monotonic()))
    {fault}
for _ in range(3):
    total(x)
print("all went on")
"""
# Each of a fault, the exit code and parts of the text. None: launchers differ in the code.
OTHER = "; all processes send the same messages in the same order."
FAULTS = {
    "raise": ("raise RuntimeError('something')", 1, ["[1] RuntimeError: something"]),
    "exit": ("sys.exit(3)", 3, ["[1] process 1 of 2 ends all processes: it exits with code 3."]),
    "message": ("sys.exit('a text')", 1, ["[1] a text"]),
    "exit 0": ("sys.exit()", 1, ["process 1 is at 'end of the program'", OTHER]),
    "_exit": ("os._exit(0)", None, ["1 has ended"]),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", None, ["1 has ended"]),
    "interrupt": ("signal.raise_signal(signal.SIGINT)", 130, ["[1] KeyboardInterrupt"]),
    "interrupt of a wait": (
        "os.kill(first, signal.SIGINT); time.sleep(100)",
        130,
        ["KeyboardInterrupt\nprocess 0 of 2 ends all"],
    ),
    "other op": (
        "total = shardax.pmap(lambda x: lax.pmax(x, 'i'), axis_name='i')",
        1,
        [
            "[add i@process] f32[3] at program.py:9 (<lambda>)'",
            "'the first run of <lambda>, whose first collective is pmax[",
            "] f32[3] at program.py:17 (<lambda>)'",
            OTHER,
        ],
    ),
    "other kind": (
        "total = shardax.pmap(lambda x: lax.all_gather(x, 'i'), axis_name='i')",
        1,
        ["'process_all_reduce[", "'the first run of <lambda>", "all_gather[", OTHER],
    ),
    "other shape": (
        "x = x[:, :2]",
        1,
        ["[add i@process] f32[3] at", "first collective is psum[", "] f32[2] at", OTHER],
    ),
    # Process 0 does not go on: a signal ends the wait for it.
    "caught": (
        """
    def late(*_):
        raise RuntimeError("it is late")

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    os.kill(first, signal.SIGSTOP)
    try:
        for _ in range(5):
            total(x)
    except RuntimeError as error:
        assert str(error) == "it is late"
    """,
        1,
        ["' comes after a message that failed or was interrupted;"],
    ),
}


@pytest.mark.parametrize("window", ["1", "0"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_process_that_fails_ends_all(start, tmp_path, name, window):
    fault, code, texts = FAULTS[name]
    when = tmp_path / "when"
    environment = {"SHARDAX_NODE_WINDOW": window, "FAULT_TIME": str(when)}
    ended = start(PROGRAM.format(fault=fault), **environment)
    assert time.monotonic() - float(when.read_text()) < 10
    assert ended.code == code if code else ended.code != 0, ended.err
    assert all(text in ended.err for text in texts), ended.err
    assert "all went on" not in ended.out


# Both processes print the error, which either of them may be the first to see.
OF_BOTH = """
import shardax, sys, time
import numpy as np
from shardax import lax

x = np.ones((shardax.local_device_count(), 3), np.float32)
first, second = (shardax.pmap(lambda x, f=f: f(x, "i"), "i") for f in (lax.psum, lax.pmax))
first(x)
time.sleep(0.2 * (shardax.process_index() == {late}))
try:
    (second if shardax.process_index() == 1 else first)(x)
except RuntimeError as error:
    print(error, file=sys.stderr, flush=True)
time.sleep(0.5)
"""


@pytest.mark.parametrize("window", ["1", "0"])
@pytest.mark.parametrize("late", [0, 1])
def test_first_runs_are_told_apart(start, late, window):
    ended = start(OF_BOTH.format(late=late), SHARDAX_NODE_WINDOW=window)
    errors = [line for line in ended.err.splitlines() if " is at " in line]
    assert errors
    assert all("process_all_reduce[add" in line for line in errors), ended.err
    assert all("whose first collective is pmax[" in line for line in errors), ended.err


def test_messages_that_compute_nothing_are_named(start):
    ended = start("""
    import shardax
    from shardax import lax

    x = shardax.numpy.ones((shardax.local_device_count(), 3))
    gather = shardax.pmap(lambda x: lax.all_gather(x, "i"), "i")
    gather(x)
    if shardax.process_index() == 0:
        gather(x)
    """)
    assert ended.code == 1
    assert "process 0 is at 'process_all_gather[i@process] f32[" in ended.err, ended.err


# SHARDAX_FAULT_MOMENTS=20 tries each fault at so many moments.
MOMENTS = int(os.environ.get("SHARDAX_FAULT_MOMENTS", "1"))


@pytest.mark.parametrize("moment", range(1, MOMENTS))
@pytest.mark.parametrize("window", ["1", "0"])
@pytest.mark.parametrize("name", FAULTS)
def test_faults_after_other_numbers_of_sums(start, tmp_path, name, window, moment):
    fault, code, texts = FAULTS[name]
    when = tmp_path / "when"
    environment = {"SHARDAX_NODE_WINDOW": window, "FAULT_TIME": str(when)}
    program = PROGRAM.format(fault=fault).replace("range(20)", f"range({moment - 1})")
    ended = start(program, **environment)
    assert time.monotonic() - float(when.read_text()) < 10
    assert ended.code == code if code else ended.code != 0, ended.err
    assert "all went on" not in ended.out


# A signal comes to process 1 in the midst of sums, small ones and ones of many parts.
AT_A_MOMENT = """
import os, signal, threading, time
import numpy as np
import shardax
from shardax import lax

n = shardax.local_device_count()
total = shardax.pmap(lambda x: lax.psum(x, "i"), "i", in_axes=None, out_axes=None, axis_size=n)
moved = shardax.pmap(lambda x: lax.all_gather(lax.axis_index("i") + x, "i").sum(), axis_name="i")
small, large = np.ones(3, np.float32), np.ones(300_000, np.float32)
total(small), total(large), moved(np.ones((n, 100)))

def fault():
    with open(os.environ["FAULT_TIME"], "w") as file:
        file.write(str(time.monotonic()))
    os.kill(os.getpid(), {signal})

if shardax.process_index() == 1:
    timer = threading.Timer({after}, fault)
    timer.daemon = True
    timer.start()
while True:
    total(small), total(large), moved(np.ones((n, 100)))
"""


@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("window", ["1", "0"])
@pytest.mark.parametrize("which", ["SIGKILL", "SIGINT", "SIGTERM", "SIGSEGV"])
def test_a_signal_in_the_midst_of_sums_ends_all(start, tmp_path, which, window, moment):
    when = tmp_path / "when"
    program = AT_A_MOMENT.format(signal=f"signal.{which}", after=0.05 + moment * 0.0013)
    ended = start(program, SHARDAX_NODE_WINDOW=window, FAULT_TIME=str(when))
    assert time.monotonic() - float(when.read_text()) < 10
    assert ended.code != 0
    expected = "KeyboardInterrupt" if which == "SIGINT" else "1"
    assert expected in ended.err, ended.err


def test_a_wait_has_a_limit(start):
    ended = start(
        PROGRAM.format(fault="time.sleep(100)"), JAX_MESSAGE_TIMEOUT="1.5", FAULT_TIME=os.devnull
    )
    assert ended.code == 1
    assert (
        "process 0 has waited 1.5 s at 'process_all_reduce[add i@process] f32[3] at "
        "program.py:9 (<lambda>)' for process 1 "
        "(which computes after its message " in ended.err
    )


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_the_launcher_ends_all(tmp_path, how):
    pytest.importorskip("mpi4py")
    script = tmp_path / "program.py"
    script.write_text(
        PROGRAM.format(fault="time.sleep(100)").replace(
            "if me == 1:",
            f"""
with open(os.path.join({str(tmp_path)!r}, f"{{me}}"), "w") as file:
    file.write(str(os.getpid()))
if me == 1:""",
        )
    )
    launcher = subprocess.Popen(
        [sys.executable, "-m", "shardax", "--processes", "2", str(script)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FAULT_TIME": os.devnull},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell may ignore it
    )
    files = [tmp_path / "0", tmp_path / "1"]
    until(lambda: all(f.exists() and f.read_text() for f in files), 30)
    time.sleep(0.2)
    launcher.send_signal(how)
    launcher.wait(10)
    ids = [int(f.read_text()) for f in files]
    until(lambda: not any(os.path.exists(f"/proc/{i}") for i in ids), 10)
    text = launcher.stderr.read()
    if how == signal.SIGINT:
        assert launcher.returncode == 130 and "KeyboardInterrupt" in text


def until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it has taken too long"
        time.sleep(0.05)


def test_nothing_is_left_in_shared_memory(start, tmp_path):
    names = tmp_path / "names"
    kill = f"""
    with open("/proc/self/maps") as maps, open({str(names)!r}, "w") as file:
        file.write("".join(line for line in maps if "/dev/shm" in line))
    os.kill(os.getpid(), signal.SIGKILL)
    """
    start(PROGRAM.format(fault=kill), FAULT_TIME=os.devnull)
    mapped = {line.split()[5] for line in names.read_text().splitlines()}
    assert not [path for path in mapped if os.path.exists(path)]
