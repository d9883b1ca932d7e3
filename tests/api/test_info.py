"""tests/api/test_info.py - python -m shardax --version and --info, for reports of errors."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import shardax
from shardax._base import info

ROOT = pathlib.Path(__file__).resolve().parents[2]


def printed(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "shardax", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_version():
    assert printed("--version") == f"shardax {shardax.__version__}\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("option", ["--version", "--info", "--help"])
def test_readers_may_close_the_pipe_early(option, unbuffered):
    """`python -m shardax --info | head -1` shows one line and no traceback."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "shardax", option],
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_info_tells_settings_and_what_they_do():
    text = printed("--info", SHARDAX_NUM_THREADS="3", SHARDAX_NUM_DEVICES="5", SHARDAX_CODEGEN="0")
    fields = dict(line.split(":", 1) for line in text.splitlines() if re.match(r"[\w ]+: ", line))
    fields = {name: value.strip() for name, value in fields.items()}
    assert fields["threads"] == "3"
    assert fields["devices"] == "5"
    assert fields["machine code of loops"] == "none: tile kernels"
    assert "  SHARDAX_NUM_THREADS=3\n" in text
    assert fields["compiler"].startswith(("GCC ", "clang "))


def test_machine_code_is_named_where_it_runs():
    target = shardax._core.target_info()
    assert target["architecture"] in ("x86-64", "AArch64")
    if "AVX" in target["loops"]:
        assert "AVX" in target["kernels"] and "AVX" in target["products"]


def test_the_table_of_variables_is_that_of_the_sources():
    read = set()
    for path in [*(ROOT / "cpp").rglob("*.cpp"), *(ROOT / "cpp").rglob("*.h")]:
        text = path.read_text(encoding="utf-8")
        if "getenv(" in text:
            read |= set(re.findall(r'"((?:SHARDAX|JAX|XLA)_[A-Z_]+)"', text))
    for path in (ROOT / "python" / "shardax").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        read |= set(re.findall(r'environ\W+(?:get\()?"((?:SHARDAX|JAX|XLA)_[A-Z_]+)"', text))
        read |= set(re.findall(r'"((?:SHARDAX|JAX|XLA)_[A-Z_]+)" in os\.environ', text))
    assert read == set(info.VARIABLES)
