# tests/kernels/test_matmul_kernel.py - matrix products against plain loops, bit by bit.
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = "-std=c++20 -O2 -ffp-contract=off -fno-math-errno -Wall -Wextra -Werror".split()


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """The check program, compiled on two cores."""
    build = tmp_path_factory.mktemp("matmul")
    sources = sorted((ROOT / "cpp/kernels").glob("matmul*.cpp"))
    others = ("cpp/array/dtype", "cpp/runtime/allocator", "cpp/runtime/system_memory")
    sources += [ROOT / f"{name}.cpp" for name in (*others, "tests/kernels/matmul_check")]
    objects = [build / (source.stem + ".o") for source in sources]
    compiler = os.environ.get("CXX", "g++")
    include = f"-I{ROOT / 'cpp'}"
    waiting, running = list(zip(sources, objects)), []
    while waiting or running:
        while waiting and len(running) < 2:
            source, object_file = waiting.pop(0)
            command = [compiler, *FLAGS, include, "-c", source, "-o", object_file]
            running.append(subprocess.Popen(command))
        assert running.pop(0).wait() == 0
    program = build / "matmul_check"
    subprocess.run([compiler, *objects, "-o", program, "-pthread"], check=True)
    return program


def test_bits_of_every_element(check):
    result = subprocess.run([check], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
