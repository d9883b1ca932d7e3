"""The C++ sources: dependencies point one way, line 1 names the file, and files stay short."""

import pathlib
import re

import pytest

CPP = pathlib.Path(__file__).resolve().parent.parent / "cpp"

# A folder may include itself and those before it. Folders of one row may include each other.
LAYERS = [
    ["base"],
    ["runtime"],
    ["array"],
    ["codegen"],
    ["kernels"],
    ["pytree"],
    ["ir"],
    ["trace"],
    ["lapack"],
    ["ops"],
    ["transform"],
    ["control"],
    ["analysis", "numpy"],
    ["compile"],
    ["explain"],
    ["execute"],
    ["objects"],
    ["callables"],
    ["bindings"],
]
# Includes that point the other way, each with its reason.
EXCEPTIONS = {}
MAX_LINES = 600

LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
FILES = sorted(path for path in CPP.rglob("*") if path.suffix in (".h", ".cpp"))


def relative(path):
    return path.relative_to(CPP).as_posix()


def folder_of(path):
    """The layer that a file is in: the first folder of its path."""
    return path.relative_to(CPP).parts[0]


def includes(path):
    """The quoted includes of a file, as "folder/file.h"."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE)


def backward_includes():
    """(file, included file) of every include of a later layer."""
    return {
        (relative(path), included)
        for path in FILES
        for included in includes(path)
        if LEVEL[included.split("/")[0]] > LEVEL[folder_of(path)]
    }


def test_there_are_sources():
    assert len(FILES) > 50


def test_every_folder_has_a_layer():
    assert {folder_of(path) for path in FILES} <= set(LEVEL)


@pytest.mark.parametrize("folder", sorted(LEVEL))
def test_includes_name_folder_and_file(folder):
    for path in FILES:
        if folder_of(path) != folder:
            continue
        for included in includes(path):
            assert (CPP / included).is_file(), f"{relative(path)} includes {included}: no such file"


def test_dependencies_point_one_way():
    unexpected = backward_includes() - set(EXCEPTIONS)
    lines = [f"{file} includes {included}, of a later layer" for file, included in unexpected]
    assert not lines, "\n".join(sorted(lines))


def test_exceptions_are_needed():
    assert set(EXCEPTIONS) <= backward_includes()


def test_every_header_reaches_a_source():
    reached = set()
    frontier = [path for path in FILES if path.suffix == ".cpp"]
    while frontier:
        found = {CPP / included for included in includes(frontier.pop())} - reached
        reached |= found
        frontier += found
    unused = [relative(path) for path in FILES if path.suffix == ".h" and path not in reached]
    assert not unused, unused


def test_first_line_names_the_file():
    wrong = [
        f"{relative(path)}: {first!r}"
        for path in FILES
        if not (first := path.read_text(encoding="utf-8").split("\n", 1)[0]).startswith(
            f"// {relative(path)} - "
        )
    ]
    assert not wrong, "\n".join(wrong)


def test_files_are_short():
    long = [
        f"{relative(path)}: {lines} lines"
        for path in FILES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_LINES
    ]
    assert not long, "\n".join(long)


def test_lines_are_short():
    long = [
        f"{relative(path)}:{number}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > 100
    ]
    assert not long, long


def test_first_lines_open_with_a_noun():
    """A purpose is a thing, not a question: "liveness of variables", never "how long they live"."""
    clause = re.compile(
        r" - (?:(?:by|for|from|in|of|on|over) )?"
        r"(?:are|does|how|is|that|what|when|where|whether|which|who|whose|why)\b"
    )
    wrong = [
        f"{relative(path)}: {first}"
        for path in FILES
        if clause.search(first := path.read_text(encoding="utf-8").split("\n", 1)[0])
    ]
    assert not wrong, "\n".join(wrong)


def test_ops_are_found_by_record():
    """Outside of their families ops are told apart by fields of their records."""
    named = re.compile(r"(?:->|\.)name\s*[!=]=\s*\"[a-z]")
    wrong = [
        f"{relative(path)}: {line.strip()}"
        for path in FILES
        if folder_of(path) in ("analysis", "compile", "control", "execute", "transform")
        for line in path.read_text(encoding="utf-8").splitlines()
        if named.search(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_thread_local_objects_need_no_destructor():
    """Registering one ends the process where there is no memory: base/per_thread.h does not."""
    declared = re.compile(r"\bthread_local\b(.*)")
    allowed = re.compile(
        r"^\s*(?:SHARDAX_STATIC_TLS |inline |static )*constinit thread_local "
        r"(?:bool|int|std::u?int(?:\d+|ptr)_t|Clock::time_point|[^=;]*\*) \w+ ="
    )
    wrong = [
        f"{relative(path)}: {line.strip()}"
        for path in FILES
        for line in path.read_text(encoding="utf-8").splitlines()
        if declared.search(line.split("//")[0]) and not allowed.search(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_names_of_params_are_in_use():
    home = CPP / "ir" / "param_name.h"
    source = home.read_text(encoding="utf-8")
    table = source.partition("known_param_names = ")[2].partition("});")[0]
    names = re.findall(r'"(\w+)"', table)
    text = "".join(path.read_text(encoding="utf-8") for path in FILES if path != home)
    assert len(names) > 100
    assert [name for name in names if f'"{name}"' not in text] == []
