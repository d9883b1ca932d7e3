"""tests/api/test_processes.py - Python processes that a program with the alias starts."""

import os
import subprocess
import sys
import textwrap

import pytest

WORK = """
import multiprocessing
import os
import sys
import jax
import jax.numpy as jnp
from jax import lax

STARTED = os.environ["STARTED"]
with open(STARTED, "a") as f:
    f.write(__name__ + "\\n")

def work(n):
    import jax as inner
    assert jax is inner is sys.modules["shardax"]
    return int(jax.jit(lambda x: lax.add(x, x).sum())(jnp.arange(n)))
"""
POOL = """
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(pool.map(work, [3, 4]))
"""
EXECUTOR = """
import concurrent.futures
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        print(list(pool.map(work, [3, 4])))
"""
JOBLIB = """
import joblib
if __name__ == "__main__":
    print(joblib.Parallel(2)(joblib.delayed(work)(n) for n in (3, 4)))
"""
INSTALLED = "import shardax; shardax.install_as_jax()\n"
PROGRAMS = {
    "spawn": POOL.format(method="spawn"),
    "forkserver": POOL.format(method="forkserver"),
    "executor": EXECUTOR,
    "joblib": JOBLIB,
}


def run(command, folder):
    started = folder / "started"
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
        env={**os.environ, "STARTED": str(started)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout, started.read_text().split()


@pytest.mark.parametrize("way", ["script", "module", "installed", "installed by the main program"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_processes_see_the_alias(name, way, tmp_path):
    if name == "joblib":
        pytest.importorskip("joblib")
    program = tmp_path / "program.py"
    text = WORK + PROGRAMS[name]
    if way == "installed":
        text = INSTALLED + text
    elif way == "installed by the main program":
        text = 'if __name__ == "__main__":\n    ' + INSTALLED + text
    program.write_text(text)
    command = {
        "script": ["-m", "shardax", "program.py"],
        "module": ["-m", "shardax", "-m", "program"],
    }.get(way, ["program.py"])
    out, started = run(command, tmp_path)
    assert out == "[6, 12]\n"
    # Each process reads the program once: none is started again and again.
    assert started.count("__main__") == 1 and len(started) <= 5


def test_a_script_is_the_main_module(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import os, pickle, sys
            class C: pass
            main = sys.modules["__main__"]
            assert main.C is C is pickle.loads(pickle.dumps(C)) and main.__spec__ is None
            assert os.path.samefile(main.__file__, "program.py") and sys.argv[1:] == ["a", "-b"]
            assert os.path.samefile(sys.path[0], ".") and __name__ == "__main__"
            with open(os.environ["STARTED"], "w") as f:
                f.write("read")
            raise SystemExit("message") if sys.argv[1] == "c" else SystemExit(0)
            """
        )
    )
    run(["-m", "shardax", "program.py", "a", "-b"], tmp_path)
    program.write_text("x = 1 / 0\n")
    done = subprocess.run(
        [sys.executable, "-m", "shardax", "program.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 1 and f'File "{program}", line 1, in <module>' in done.stderr


def test_tests_run_by_xdist_see_the_alias(tmp_path):
    pytest.importorskip("xdist")
    (tmp_path / "test_it.py").write_text(
        "import jax\n\ndef test_it():\n    assert jax.__name__ == 'shardax'\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "shardax",
            "-m",
            "pytest",
            "-q",
            "-n",
            "2",
            "-p",
            "no:cacheprovider",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
