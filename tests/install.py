"""tests/install.py - `pip install` that says every few seconds how far it is.

    python tests/install.py [arguments of pip install]

@NAME stands for a list of pyproject.toml: a group of its [dependency-groups], or, for @build, what
builds of the package need. If pip fails, its last lines follow.
"""

import ast
import collections
import pathlib
import re
import subprocess
import sys
import threading
import time

PYPROJECT = pathlib.Path(__file__).resolve().parent.parent / "pyproject.toml"

# Lines of pip and of what it starts, and what they tell.
STAGES = [
    (re.compile(r"Collecting (\S+)"), "looks for {}"),
    (re.compile(r"Downloading (.+)"), "fetches {}"),
    (re.compile(r"Installing collected packages"), "installs what it fetched"),
    (re.compile(r"\*\*\* Configuring CMake"), "prepares the build"),
    (re.compile(r"\[0/\d+\] Re-checking"), "compiles"),
    (re.compile(r"\[(\d+)/(\d+)\] (?:Building|Linking)"), "compiles, {} of {} steps done"),
]


def requirements(name):
    """The list @name, as pip takes it."""
    text = PYPROJECT.read_text(encoding="utf-8")
    key, more = ("requires", ["cmake>=3.20", "ninja"]) if name == "build" else (name, [])
    found = re.search(rf"^{key} = (\[.*?^\])", text, re.M | re.S)
    return ast.literal_eval(found[1]) + more


def say(text):
    print(f"shardax: {text}", file=sys.stderr, flush=True)


def watch(command, pause=5.0):
    """Runs the command and returns its status; says each `pause` seconds what it does."""
    start, over, last = time.monotonic(), threading.Event(), collections.deque(maxlen=60)
    stage = "starts pip"

    def seconds():
        return f"{time.monotonic() - start:.0f} s"

    def report():
        while not over.wait(pause):
            say(f"{stage}, {seconds()}")

    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    reporter = threading.Thread(target=report, daemon=True)
    reporter.start()
    for line in process.stdout:
        last.append(line)
        for pattern, text in STAGES:
            if found := pattern.match(line.strip()):
                stage = text.format(*found.groups())
        if line.startswith("Successfully installed "):
            say(f"installed {line.split(maxsplit=2)[2].strip()}, {seconds()}")
            stage = "ends"
    status = process.wait()
    over.set()
    reporter.join()
    if status != 0:
        print(*last, sep="", end="", file=sys.stderr)
    return status


def main(arguments):
    command = [sys.executable, "-m", "pip", "install"]
    for argument in arguments:
        command += requirements(argument[1:]) if argument.startswith("@") else [argument]
    try:
        return watch(command)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
