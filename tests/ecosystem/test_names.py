"""tests/ecosystem/test_names.py - every name of JAX that libraries use is there, or is listed with
a reason; and so is every row of the table of aliases."""

import functools
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest
from shardax._src import aliases

HERE = pathlib.Path(__file__).parent
ROWS = [
    line.split(": ")
    for line in (HERE / "names.txt").read_text().splitlines()
    if not line.startswith("#")
]
ALIASES = [
    f"{module}.{item.partition('=')[0]}"
    for module, names, _, _ in aliases.ALIASES
    for item in names.split()
]

spec = importlib.util.spec_from_file_location("ecosystem_tables", HERE / "tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)

RESOLVE = """
import importlib, json, sys
import shardax
shardax.install_as_jax()

def resolve(name):
    first, *rest = name.split(".")
    found = importlib.import_module(first)
    for i, part in enumerate(rest, 2):
        if not hasattr(found, part):
            importlib.import_module(".".join(name.split(".")[:i]))
        found = getattr(found, part)

failed = {}
for name in json.load(sys.stdin):
    try:
        resolve(name)
    except Exception as error:
        failed[name] = f"{type(error).__name__}: {error}"
print(json.dumps(failed))
"""


@functools.cache
def failures():
    done = subprocess.run(
        [sys.executable, "-c", RESOLVE],
        input=json.dumps([name for name, _ in ROWS] + ALIASES),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def reason(name):
    return next((why for start, why in tables.LATER.items() if name.startswith(start)), None)


@pytest.mark.parametrize(("name", "libraries"), ROWS, ids=[name for name, _ in ROWS])
def test_name(name, libraries):
    error = failures().get(name)
    if error and "needs the library tensorstore" in error:
        pytest.skip(error)
    why = reason(name)
    if why:
        assert error, f"{name} is there now: its row in tables.py can go"
        pytest.xfail(why)
    assert not error, f"{name}, which {libraries} use: {error}"


def test_rows_of_tables_are_needed():
    unused = [s for s in tables.LATER if not any(name.startswith(s) for name, _ in ROWS)]
    assert not unused


@pytest.mark.parametrize("name", ALIASES)
def test_alias(name):
    assert name not in failures(), failures()[name]


def test_aliases_are_sorted_and_say_who_needs_them():
    assert list(aliases.ALIASES) == sorted(aliases.ALIASES, key=lambda row: row[0])
    assert all(row[3] for row in aliases.ALIASES)


def test_unknown_names():
    import shardax

    with pytest.raises(AttributeError, match="'jax._src.core' has no attribute 'nothing'"):
        shardax._src.core.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="'shardax._src' has no attribute 'nothing'"):
        shardax._src.nothing  # noqa: B018


def test_metadata():
    code = (
        "import shardax; shardax.install_as_jax()\n"
        "from importlib.metadata import version\n"
        "import jaxlib, jax.version\n"
        "print(version('jax'), version('jaxlib'), jaxlib.__version__, jax.version.__version__,"
        " jax.version.__version_info__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "0.10.2 0.10.2 0.10.2 0.10.2 (0, 10, 2)\n", done.stderr
