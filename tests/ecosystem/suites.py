"""tests/ecosystem/suites.py - the libraries' own test-suites, here and in JAX.

    python tests/ecosystem/suites.py --checkouts FOLDER [--jax PYTHON] [--every N] [LIBRARY ...]

FOLDER holds the sources of libraries, each in a folder of its name. Their versions are those
installed in this interpreter (and in that of --jax, if JAX is installed too). Prints a table: how
many tests pass here, how many in JAX, and which of those do not pass here.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

# The files of a library's tests, and those among them that are not run: they need other packages,
# accelerators or files of their own.
SUITES = {
    "chex": ("chex/**/*_test.py", ()),
    "optax": ("optax/**/*_test.py", ("linear_algebra",)),
    "haiku": ("haiku/_src/*_test.py", ("jaxpr_info", "flax_module", "jax2tf", "tf_")),
    "equinox": ("tests/test_*.py", ("test_onnx",)),
    "flax": ("tests/linen/*_test.py", ("summary",)),
    "nnx": ("tests/nnx/*_test.py", ()),
    "distrax": ("distrax/_src/**/*_test.py", ()),
    "rlax": ("rlax/_src/*_test.py", ()),
    "lineax": ("tests/test_*.py", ()),
    "optimistix": ("tests/test_*.py", ()),
    "diffrax": ("test/test_*.py", ()),
    "numpyro": ("test/**/test_*.py", ()),
    "jaxopt": ("tests/*_test.py", ()),
    "einops": ("einops/tests/test_*.py", ()),
    "brax": ("brax/**/*_test.py", ()),
    "e3nn": ("tests/**/*_test.py", ()),
    "jax_md": ("tests/*_test.py", ()),
    "jaxtyping": ("test/test_*.py", ("tf_", "torch", "mlx")),
    "keras": ("keras/src/**/*_test.py", ("torch", "tf_", "tensorflow")),
    "kfac_jax": ("tests/test_*.py", ()),
    "neural_tangents": ("tests/*_test.py", ()),
    "orbax": ("checkpoint/orbax/**/*_test.py", ("multiprocess", "benchmark", "tf_")),
    "ott": ("tests/**/*_test.py", ()),
    "quax": ("tests/test_*.py", ()),
    "treescope": ("tests/**/*_test.py", ()),
}
# As many devices as JAX has unless it is told otherwise.
FLAGS = "--xla_force_host_platform_device_count=1"
# `import jax` means shardax in the process that runs the tests.
PLUGIN = "import shardax\n\nshardax.install_as_jax()\n"
# Of the tests of each suite, in their order, only every so many.
SAMPLE = """
import os


def pytest_collection_modifyitems(config, items):
    every = int(os.environ["EVERY"])
    config.hook.pytest_deselected(items=[t for i, t in enumerate(items) if i % every])
    items[:] = items[::every]
"""


def files_of(library, checkouts):
    """The test files of a library, and the folder that they are run in."""
    pattern, left_out = SUITES[library]
    root = checkouts / ("flax" if library == "nnx" else library)
    found = sorted(root.glob(pattern))
    return root, [f for f in found if not any(part in f.name for part in left_out)]


def outcomes(python, plugin, root, files, every, seconds):
    """The outcome of each test that was run by name: passed, failed, error or skipped."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if plugin:
            (folder / "as_jax_plugin.py").write_text(PLUGIN)
        (folder / "sample_plugin.py").write_text(SAMPLE)
        # Tests import the installed library, not the sources that they lie in.
        tests = folder / "tests"
        tests.mkdir()
        for file in {*files, *root.glob("tests/*.py"), *root.glob("test/*.py")}:
            place = tests / file.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(file)
        names = [str(file.relative_to(root)) for file in files]
        options = ["-q", "-p", "no:cacheprovider", "-p", "sample_plugin"]
        options += ["--junitxml", str(folder / "out.xml")]
        if plugin:
            options += ["-p", "as_jax_plugin"]
        paths = [str(folder), os.environ.get("PYTHONPATH", "")]
        subprocess.run(
            [python, "-m", "pytest", *options, "--continue-on-collection-errors", *names],
            cwd=tests,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "XLA_FLAGS": FLAGS}
            | {"EVERY": str(every), "KERAS_BACKEND": "jax"},
            timeout=seconds,
            capture_output=True,
        )
        return dict(read(folder / "out.xml"))


def read(path):
    """Pairs of a test's name and its outcome, from pytest's report."""
    for case in ElementTree.parse(path).iter("testcase"):
        kinds = [child.tag for child in case]
        outcome = next((k for k in ("failure", "error", "skipped") if k in kinds), "passed")
        yield f"{case.get('classname')}::{case.get('name')}", outcome


def row(library, here, in_jax):
    """A line of the table, and the tests that pass in JAX only."""
    passed = sum(outcome == "passed" for outcome in here.values())
    if in_jax is None:
        failed = sorted(n for n, o in here.items() if o in ("failure", "error"))
        return f"| {library} | {passed} | {len(failed)} |", failed
    wanted = {name for name, outcome in in_jax.items() if outcome == "passed"}
    missing = sorted(name for name in wanted if here.get(name) not in ("passed", "skipped"))
    share = 1 - len(missing) / len(wanted) if wanted else 1
    return f"| {library} | {passed} | {len(wanted)} | {100 * share:.1f} % |", missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkouts", type=pathlib.Path, required=True)
    parser.add_argument("--jax", help="an interpreter in which JAX is installed")
    parser.add_argument("--seconds", type=float, default=3600, help="at most, for each suite")
    parser.add_argument("--every", type=int, default=1, help="each so many of a suite's tests")
    parser.add_argument("libraries", nargs="*", default=list(SUITES), metavar="LIBRARY")
    options = parser.parse_args()
    heads = ["passed here", "passed in JAX", "share"] if options.jax else ["passed", "failed"]
    print("| library |", " | ".join(heads), "|")
    print("| --- |" + " --- |" * len(heads))
    missing = {}
    for library in options.libraries:
        root, files = files_of(library, options.checkouts)
        if not files:
            continue
        here = outcomes(sys.executable, True, root, files, options.every, options.seconds)
        in_jax = options.jax and outcomes(
            options.jax, False, root, files, options.every, options.seconds
        )
        line, missing[library] = row(library, here, in_jax or None)
        print(line, flush=True)
    for library, names in missing.items():
        for name in names:
            print(f"{library}: {name}")


if __name__ == "__main__":
    main()
