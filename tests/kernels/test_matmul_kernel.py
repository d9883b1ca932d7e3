# tests/kernels/test_matmul_kernel.py - matrix products and depthwise convolutions against plain
# loops, bit by bit, and the maps to and from the points of minimal filtering.
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = "-std=c++20 -O2 -ffp-contract=off -fno-math-errno -Wall -Wextra -Werror".split()
CHECKS = ("matmul_check", "winograd_check", "depthwise_check")


@pytest.fixture(scope="module")
def checks(tmp_path_factory):
    """The check programs by name, compiled on two cores."""
    build = tmp_path_factory.mktemp("matmul")
    sources = sorted((ROOT / "cpp/kernels/gemm").glob("*.cpp"))
    others = (
        "cpp/array/dtype",
        "cpp/base/per_thread",
        "cpp/runtime/allocator",
        "cpp/runtime/flush_denormals",
        "cpp/runtime/system_memory",
    )
    sources += [ROOT / f"{name}.cpp" for name in others]
    programs = [ROOT / f"tests/kernels/{name}.cpp" for name in CHECKS]
    compiler = os.environ.get("CXX", "g++")
    include = f"-I{ROOT / 'cpp'}"
    waiting, running = [*sources, *programs], []
    while waiting or running:
        while waiting and len(running) < 2:
            source = waiting.pop(0)
            command = [compiler, *FLAGS, include, "-c", source, "-o", build / f"{source.stem}.o"]
            running.append(subprocess.Popen(command))
        assert running.pop(0).wait() == 0
    objects = [build / f"{source.stem}.o" for source in sources]
    for name in CHECKS:
        parts = [build / f"{name}.o", *objects]
        subprocess.run([compiler, *parts, "-o", build / name, "-pthread"], check=True)
    return {name: build / name for name in CHECKS}


@pytest.mark.parametrize("name", CHECKS)
def test_bits_of_every_element(checks, emulator, name):
    result = subprocess.run([*emulator, checks[name]], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
