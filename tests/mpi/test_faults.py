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
for _ in range(20):
    assert total(x)[0, 0] == shardax.device_count()
if me == 1:
    {fault}
for _ in range(3):
    total(x)
print("all went on")
"""
OTHER = "; all processes send the same messages in the same order."
FAULTS = {
    "raise": ("raise RuntimeError('something')", 1, "[1] RuntimeError: something"),
    "exit": ("sys.exit(3)", 3, "[1] process 1 of 2 ends all processes: it exits with code 3."),
    "message": ("sys.exit('a text')", 1, "[1] a text"),
    "exit 0": ("sys.exit()", 1, "process 1 is at 'end of the program'" + OTHER),
    "_exit": ("os._exit(0)", 1, "process 1 has ended before the others, without an exception"),
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", 9, "process 1 has ended before the others"),
    "interrupt": ("signal.raise_signal(signal.SIGINT)", 130, "[1] KeyboardInterrupt"),
    "other op": (
        "total = shardax.pmap(lambda x: lax.pmax(x, 'i'), axis_name='i')",
        1,
        "[max i@process] f32[3]'" + OTHER,
    ),
    "other kind": (
        "total = shardax.pmap(lambda x: lax.all_gather(x, 'i'), axis_name='i')",
        1,
        "f32[8,3]'" + OTHER,
    ),
    "other shape": ("x = x[:, :2]", 1, "f32[2]'" + OTHER),
    "caught": (
        "try:\n        total(x[:, :2])\n    except RuntimeError: pass",
        1,
        "comes after a message that failed or was interrupted",
    ),
}


def leftovers():
    return {name for name in os.listdir("/dev/shm") if name.startswith(("mpich", "Intel", "vader"))}


@pytest.mark.parametrize("window", ["1", "0"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_process_that_fails_ends_all(start, name, window):
    fault, code, text = FAULTS[name]
    began = time.monotonic()
    ended = start(PROGRAM.format(fault=fault), SHARDAX_NODE_WINDOW=window)
    assert time.monotonic() - began < 20
    assert ended.code == code and text in ended.err, (ended.code, ended.err)
    assert "all went on" not in ended.out


def test_a_wait_has_a_limit(start):
    ended = start(
        PROGRAM.format(fault="time.sleep(100)"), JAX_MESSAGE_TIMEOUT="1.5", SHARDAX_NUM_THREADS="1"
    )
    assert ended.code == 1
    assert (
        "process 0 has waited 1.5 s at 'process_all_reduce[add i@process] f32[3]' for process 1 "
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


def test_nothing_is_left_in_shared_memory(start):
    before = leftovers()
    start(PROGRAM.format(fault="os.kill(os.getpid(), signal.SIGKILL)"))
    assert leftovers() <= before
