"""tests/bench/report.py - writes docs/performance.md out of what the benches print.

    python tests/bench/report.py [--jax PYTHON] [--torch PYTHON] [--rounds N] [BENCH ...]

Runs the named benches (default: all of BENCHES), one after the other, and replaces their sections
of docs/performance.md; other sections stay. A section says the date, the machine, the command and
what it printed, whole. PYTHON is an interpreter with JAX 0.10.2, or with PyTorch.
"""

import argparse
import datetime
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "performance.md"
# The subject of each bench; its module's docstring tells the method.
BENCHES = {
    "startup": "Fresh processes: import, first op, a training page",
    "training": "Steps of training",
    "calls": "Calls of functions of a few elements",
    "arrays": "Functions of large arrays",
    "rows": "Functions of rows of 10 to 1000 elements",
    "loops": "Iterations of loops over few numbers",
    "programs": "Whole programs, alone and mapped over 4",
    "many_cores": "Steps of training on more cores, by simulation",
    "parallel": "Model-parallel steps on 8 devices, beside the same step unsharded",
    "decompositions": "Decompositions of matrices",
    "linear": "Products and attention",
    "convolution": "Convolutions, their gradients, pooling",
    "fourier": "Fourier transforms",
    "instructions": "Instructions of AArch64, counted by an emulator: nothing is timed",
}
# Options of benches that do not take --jax and --rounds alone.
RIVALS = ("jax", "torch", "rounds")
OPTIONS = {
    "training": RIVALS,
    "linear": RIVALS,
    "convolution": RIVALS,
    "many_cores": ("rounds",),
    "instructions": (),
}
HEAD = """# Performance

`python tests/bench/report.py --jax PYTHON --torch PYTHON` writes this page. Each section is one run
of a bench: its date, machine and command, then all that it printed. Ratios below 1 (`times`,
`ratio`) are losses. Machines differ, and shared hosts swing by a third: compare within a table.
"""


def machine():
    """The processor's name and the number of cores that this process may use."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    fields = [re.search(rf"^{key}\s*: (.*)$", text, re.MULTILINE) for key in KEYS]
    name, family, model = (field.group(1) if field else "unknown" for field in fields)
    wide = "AVX-512" if re.search(r"\bavx512f\b", text) else "no AVX-512"
    cores = len(os.sched_getaffinity(0))
    return f"{name} (family {family}, model {model}, {wide}), {cores} cores"


KEYS = ("model name", "cpu family", "model")


def sections(page):
    """The sections of the page by bench."""
    parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]
    return {re.search(r"tests/bench/(\w+)\.py", part).group(1): part for part in parts}


def run(bench, options):
    """The section of a bench, run now."""
    script = ROOT / "tests" / "bench" / f"{bench}.py"
    given = {name: options[name] for name in OPTIONS.get(bench, ("jax", "rounds"))}
    shown = ["python", f"tests/bench/{bench}.py"]
    command = [sys.executable, str(script)]
    for name, value in given.items():
        if value:
            command += [f"--{name}", str(value)]
            shown += [f"--{name}", "PYTHON" if name in ("jax", "torch") else str(value)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip("\n")
    date = datetime.date.today().isoformat()
    table = printed if "\n|" in f"\n{printed}" else f"```\n{printed}\n```"
    return f"## {BENCHES[bench]}\n\n{date}, {machine()}: `{' '.join(shown)}`\n\n{table}\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--jax", metavar="PYTHON", help="an interpreter with JAX")
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter with PyTorch")
    parser.add_argument("--rounds", type=int, help="rounds of each bench; default: its own")
    parser.add_argument("benches", nargs="*", choices=[*BENCHES, []], help="default: all")
    given = parser.parse_args()
    options = {"jax": given.jax, "torch": given.torch, "rounds": given.rounds}
    for bench in given.benches or BENCHES:
        section = run(bench, options)
        old = sections(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
        old[bench] = section
        ordered = [old[name].rstrip() for name in BENCHES if name in old]
        PAGE.write_text(HEAD + "\n" + "\n\n".join(ordered) + "\n", encoding="utf-8")
        print(section, flush=True)


if __name__ == "__main__":
    main()
