"""tests/mpi/test_joining.py - processes that are started, join, and gather what each has."""

import os
import subprocess
import sys

import pytest
from shardax import _launch


def test_processes_gather_bytes_of_any_length(start):
    ended = start(
        """
        import shardax
        from shardax import _core

        me, count = _core.process_index(), _core.process_count()
        shardax.distributed.initialize(num_processes=count, process_id=me)
        for length in (0, 1, 100_000):
            own = bytes([me]) * (length * me)
            assert _core.gather_bytes(own, "step") == [bytes([p]) * (length * p) for p in range(3)]
        _core.barrier("end")
        if me == 0:
            print(count)
        """,
        count=3,
    )
    assert (ended.code, ended.out) == (0, "3\n"), ended.err


def test_an_uneven_number_of_processes_is_refused(start):
    ended = start(
        """
        import shardax
        try:
            shardax.distributed.initialize(num_processes=3)
        except ValueError as error:
            text = str(error)
        if shardax._core.process_index() == 0:
            print(text)
        """
    )
    assert ended.code == 0 and ended.out.startswith(
        "distributed.initialize: num_processes is 3, but the number of processes is 2; "
    ), ended.err


def run(*command, **environment):
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


ALONE = """
import sys
import shardax
shardax.distributed.initialize()
assert shardax.process_count() == 1 and shardax.distributed.is_initialized()
assert "mpi4py" not in sys.modules and "shardax._base.coordination" not in sys.modules
"""


@pytest.mark.parametrize("way", [(), ("-m", "shardax")])
def test_one_process_imports_no_mpi(tmp_path, way):
    script = tmp_path / "program.py"
    script.write_text(ALONE)
    slurm = {"SLURM_NTASKS": "4", "SLURM_PROCID": "1", "SLURM_NPROCS": "4", "PMI_SIZE": "1"}
    done = run(sys.executable, *way, str(script), **slurm)
    assert done.returncode == 0, done.stderr


def test_a_launcher_of_another_library_is_refused(tmp_path):
    script = tmp_path / "program.py"
    script.write_text("import shardax\nshardax.distributed.initialize()\n")
    name = "PMI" if "openmpi" in mpi_module() else "OMPI_COMM_WORLD"
    done = run(sys.executable, str(script), **{f"{name}_SIZE": "4", f"{name}_RANK": "1"})
    text = f"the launcher started 4 processes ({name}_SIZE=4), but mpi4py's library sees 1"
    assert done.returncode == 1 and text in done.stderr


def mpi_module():
    text = (
        "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.__file__)"
    )
    return run(sys.executable, "-c", text).stdout


BY_MPIEXEC = """
import sys
import shardax
if sys.argv[1] == "early":
    x = shardax.numpy.zeros(2)
shardax.distributed.initialize()
assert shardax.process_count() == 2
print("joined", flush=True)
shardax._core.barrier("both have joined")
if shardax.process_index() == 1:
    raise RuntimeError("something")
"""


@pytest.mark.parametrize("way", [(), ("-m", "shardax")])
def test_mpiexec_starts_processes(tmp_path, way):
    pytest.importorskip("mpi4py")
    script = tmp_path / "program.py"
    script.write_text(BY_MPIEXEC)
    mpiexec = [_launch.mpiexec(), "-n", "2"]
    done = run(*mpiexec, sys.executable, *way, str(script), "late", **_launch.SETTINGS)
    assert done.returncode != 0 and "joined" in done.stdout, done.stderr
    assert "[1] RuntimeError: something" in done.stderr
    assert "[1] process 1 of 2 ends all processes: RuntimeError ends them." in done.stderr
    if not way:
        done = run(*mpiexec, sys.executable, str(script), "early", **_launch.SETTINGS)
        assert "must be called before any JAX calls" in done.stderr


def test_children_are_no_processes_of_mpi(start):
    ended = start(
        """
        import subprocess, sys, tempfile
        text = "import shardax; shardax.distributed.initialize(); print(shardax.process_count())"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(text)
            script.flush()
            for way in ([], ["-m", "shardax"]):
                command = [sys.executable, *way, script.name]
                child = subprocess.run(command, capture_output=True, text=True)
                assert child.stdout == "1\\n", child
        """
    )
    assert ended.code == 0, ended.err


def test_output_of_all(start):
    program = "import shardax, sys; print('out', shardax.process_index()); sys.stderr.write('err')"
    ended = start(program, options=["--output", "all"])
    assert sorted(ended.out.splitlines()) == ["[1] out 1", "out 0"]
    assert sorted(ended.err.splitlines()) == ["[1] err", "err"]
    assert start(program).out == "out 0\n"


@pytest.mark.parametrize(
    ("seconds", "lines"),
    [(0.5, ["slow line", "[1] other"]), (2.5, ["slow", "[1] other", " line"])],
)
def test_lines_of_others_wait_for_a_line_that_process_0_has_begun(start, seconds, lines):
    program = f"""
        import os, time, shardax
        from jax.experimental import multihost_utils
        first = shardax.process_index() == 0
        if first:
            os.write(1, b"slow")
        multihost_utils.sync_global_devices("begun")
        if not first:
            os.write(1, b"other\\n")
        multihost_utils.sync_global_devices("written")
        time.sleep({seconds})
        if first:
            os.write(1, b" line\\n")
        """
    ended = start(program, options=["--output", "all"])
    assert ended.out.splitlines() == lines, ended.err


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ["--processes", "0", "x.py"],
            "--processes 0 is not an option; --processes takes a number",
        ),
        (["--processes=2", "--output", "some", "x.py"], "--output some is not an option"),
        (["--processes", "2"], "usage: python -m shardax --processes N"),
    ],
)
def test_arguments_of_the_launcher_are_checked(arguments, text):
    done = run(sys.executable, "-m", "shardax", *arguments)
    assert done.returncode == 1 and text in done.stderr


def test_one_process_of_the_launcher_is_this_one(start):
    ended = start(
        """
        import os, sys
        import shardax
        print(shardax.process_count(), "mpi4py" in sys.modules, sys.argv[1:])
        sys.stderr.write("an error\\n")
        sys.exit(3)
        """,
        count=1,
    )
    assert (ended.code, ended.out, ended.err) == (3, "1 False []\n", "an error\n")


def test_processes_have_cores_of_their_own(start):
    ended = start(
        """
        import os, pickle
        from shardax import _core
        own = pickle.dumps(os.sched_getaffinity(0))
        cores = [pickle.loads(each) for each in _core.gather_bytes(own, "cores")]
        if len(set().union(*cores)) > 1:
            assert not cores[0] & cores[1], cores
        assert _core.thread_count() <= len(cores[_core.process_index()])
        """
    )
    assert ended.code == 0, ended.err


def test_a_forked_child_ends_alone(start):
    ended = start(
        """
        import os, sys
        from shardax import _core
        child = os.fork()
        if child == 0:
            try:
                _core.barrier("in the child")
            except RuntimeError as error:
                assert "by a child that a process made by fork" in str(error)
                sys.exit(7)  # by way of atexit
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        _core.barrier("after it")
        print("right")
        """
    )
    assert (ended.code, ended.out) == (0, "right\n"), ended.err
