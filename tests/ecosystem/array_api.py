"""tests/ecosystem/array_api.py - the array API standard's own tests, here and in JAX.

    python tests/ecosystem/array_api.py --checkout FOLDER [--jax PYTHON] [--examples N] [TEST ...]

FOLDER holds https://github.com/data-apis/array-api-tests with its submodule; this interpreter (and
that of --jax) has its requirements. The suite is asked of `shardax.numpy`, and of `jax.numpy`, with
x64 on, --examples examples of each test, always the same ones. Prints how many tests pass, and
which pass in JAX only. Tests that fail in both fail by JAX's rules: arrays that cannot be changed,
32-bit results of searches, ValueError for axes out of bounds. Signs of zero of floor_divide and
remainder differ too.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from suites import read, row

OPTIONS = ["-q", "-p", "no:cacheprovider", "--derandomize", "--disable-deadline"]


def outcomes(python, module, options):
    """The outcome of each test by name."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "out.xml")
        names = [f"array_api_tests/{name}" for name in options.tests] or ["array_api_tests"]
        more = [f"--max-examples={options.examples}", "--junitxml", str(report)]
        subprocess.run(
            [python, "-m", "pytest", *OPTIONS, *more, *names],
            cwd=options.checkout,
            env=os.environ | {"ARRAY_API_TESTS_MODULE": module, "JAX_ENABLE_X64": "1"},
            capture_output=True,
            timeout=options.seconds,
        )
        return dict(read(report))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkout", type=pathlib.Path, required=True)
    parser.add_argument("--jax", help="an interpreter in which JAX is installed")
    parser.add_argument("--examples", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=7200, help="at most, for each library")
    parser.add_argument("tests", nargs="*", metavar="TEST", help="test_linalg.py, say")
    options = parser.parse_args()
    here = outcomes(sys.executable, "shardax.numpy", options)
    in_jax = options.jax and outcomes(options.jax, "jax.numpy", options)
    line, missing = row("array API", here, in_jax or None)
    print("| suite | passed here |", "passed in JAX | share |" if in_jax else "failed |")
    print(line)
    print(*missing, sep="\n")


if __name__ == "__main__":
    main()
