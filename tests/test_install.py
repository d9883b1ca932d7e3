"""tests/test_install.py - steps of tests/install.sh and tests/install.py, without a build."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).parent
NOBODY = 65534


@pytest.fixture(scope="module")
def install():
    spec = importlib.util.spec_from_file_location("install", HERE / "install.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def checkout():
    """The script in a read-only checkout, its name with a space, that every user can read."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        root = folder / "a checkout"
        (root / "tests").mkdir(parents=True)
        shutil.copy(HERE / "install.sh", root / "tests")
        folder.chmod(0o777)  # nobody makes folders here
        root.chmod(0o555)
        yield root
        root.chmod(0o755)


def watched(install, capfd, program, pause):
    status = install.watch([sys.executable, "-u", "-c", program], pause)
    out, err = capfd.readouterr()
    assert out == ""
    return status, err.splitlines()


@pytest.fixture
def waiting(install, monkeypatch, tmp_path):
    """Code for a program that is watched: told(pattern, times) waits until so many were said."""
    said, say = tmp_path / "said", install.say
    said.touch()

    def says(text):
        say(text)
        with said.open("a") as file:
            print(text, file=file)

    monkeypatch.setattr(install, "say", says)
    return f"""
import re, time
def told(pattern, times=1):
    start = time.monotonic()
    while len(re.findall(pattern, open({str(said)!r}).read())) < times:
        time.sleep(0.01)
        assert time.monotonic() - start < 60, pattern
"""


def test_a_long_step_is_told_again_and_again(install, capfd, waiting):
    program = r"""
print("  [3/7] Building CXX object x.o")
told("compiles, 3 of 7 steps done, ", 3)
told(r"compiles, 3 of 7 steps done, [1-9]\d* s")
"""
    status, lines = watched(install, capfd, waiting + program, 0.1)
    assert status == 0
    text, seconds, unit = lines[-1].rsplit(" ", 2)
    assert text == "shardax: compiles, 3 of 7 steps done,"
    assert int(seconds) >= 1 and unit == "s"


def test_it_tells_what_is_fetched_and_installed(install, capfd, waiting):
    program = """
print("Collecting numpy>=1.24")
told("looks")
print("  Downloading numpy-2.0-cp311.whl (16.4 MB)")
told("fetches")
print("Installing collected packages: numpy")
told("installs")
print("Successfully installed numpy-2.0 tbb-2023.2")
told("installed")
"""
    status, lines = watched(install, capfd, waiting + program, 0.05)
    stages = [line.rsplit(",", 1)[0] for line in lines]
    assert status == 0
    assert [stage for stage in dict.fromkeys(stages) if stage[-4:] not in (" pip", "ends")] == [
        "shardax: looks for numpy>=1.24",
        "shardax: fetches numpy-2.0-cp311.whl (16.4 MB)",
        "shardax: installs what it fetched",
        "shardax: installed numpy-2.0 tbb-2023.2",
    ]


def test_a_short_installation_is_silent(install, capfd):
    program = "print('Requirement already satisfied: numpy'); print('WARNING: not ours')"
    assert watched(install, capfd, program, 60) == (0, [])


def test_the_last_lines_of_a_failure_follow(install, capfd):
    program = "for i in range(100): print('line', i)\nraise SystemExit(3)"
    status, lines = watched(install, capfd, program, 60)
    assert status == 3
    assert lines == [f"line {i}" for i in range(40, 100)]


def test_lists_of_pyproject(install, monkeypatch):
    commands = []
    monkeypatch.setattr(install, "watch", lambda command: commands.append(command) or 0)
    assert install.main(["-v", "@build", "@examples"]) == 0
    (command,) = commands
    assert command[1:5] == ["-m", "pip", "install", "-v"]
    assert command[5].startswith("scikit-build-core")
    assert command[-2] == "ninja" and command[-1].startswith("matplotlib")


def store(root, *, user=None, **variables):
    """The folder that install.sh takes for $store, or its error."""
    done = subprocess.run(
        ["bash", "-euc", 'root=$1; . "$root/tests/install.sh"; echo "$store"', "bash", root],
        env={"PATH": os.environ["PATH"], **{k: str(v) for k, v in variables.items()}},
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        capture_output=True,
        text=True,
    )
    return done.stdout.strip() if done.returncode == 0 else done.stderr


def test_a_checkout_that_can_be_written_has_its_environment(checkout):
    checkout.chmod(0o755)
    assert store(checkout) == str(checkout)


def test_a_read_only_checkout_has_its_environment_in_the_cache(checkout):
    # Permissions do not bind root.
    user = NOBODY if os.getuid() == 0 else None
    home, cache, tmp = (checkout.parent / name for name in ("home", "cache", "tmp"))
    for folder in home, tmp:
        folder.mkdir()
        folder.chmod(0o777)

    found = store(checkout, user=user, HOME=home)
    assert pathlib.Path(found).parent == home / ".cache" and " " not in pathlib.Path(found).name
    assert os.stat(found).st_mode & 0o077 == 0
    assert store(checkout, user=user, HOME=home) == found
    assert pathlib.Path(store(checkout, user=user, HOME=home, XDG_CACHE_HOME=cache)).parent == cache

    shutil.rmtree(home / ".cache")
    home.chmod(0o555)
    found = store(checkout, user=user, HOME=home, TMPDIR=tmp)
    assert pathlib.Path(found).parent == tmp
    shutil.rmtree(found)
    tmp.chmod(0o555)
    assert "set XDG_CACHE_HOME" in store(checkout, user=user, HOME=home, TMPDIR=tmp)


@pytest.mark.skipif(os.getuid() != 0, reason="makes a folder of another user")
def test_a_folder_of_another_user_is_not_taken(checkout):
    tmp = checkout.parent
    found = pathlib.Path(store(checkout, user=NOBODY, TMPDIR=tmp))
    assert found.parent == tmp
    found.rmdir()
    found.mkdir()
    found.chmod(0o777)
    assert "set XDG_CACHE_HOME" in store(checkout, user=NOBODY, TMPDIR=tmp)
