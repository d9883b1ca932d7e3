"""tests/types/check.py - runs pyright on correct and wrong programs and on the examples.

    python tests/types/check.py

tests/pyright installs what it needs.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = HERE.parent.parent / "examples"
LIBRARIES = {"bayesian_regression.py", "image_classifier.py", "neural_ode.py"}  # types of others
OF_USERS = ("reportPossiblyUnbound", "reportUnusedExpression", "reportMissing")


def errors(*arguments):
    """(file, line, message) of what pyright says is wrong."""
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True)
    for found in json.loads(done.stdout)["generalDiagnostics"]:
        if found["severity"] == "error" and not found.get("rule", "").startswith(OF_USERS):
            line = found["range"]["start"]["line"] + 1
            yield pathlib.Path(found["file"]).name, line, found["message"]


def main():
    found = list(errors("-p", HERE / "pyrightconfig.json"))
    lines = (HERE / "wrong.py").read_text(encoding="utf-8").splitlines()
    wrong = {n for n, line in enumerate(lines, 1) if line.endswith("# wrong")}
    flagged = {line for name, line, _ in found if name == "wrong.py"}
    problems = [f"{name}:{line}: {text}" for name, line, text in found if name == "correct.py"]
    problems += [f"wrong.py:{line}: is not flagged" for line in sorted(wrong - flagged)]
    problems += [f"wrong.py:{line}: is flagged" for line in sorted(flagged - wrong)]
    examples = [*EXAMPLES.glob("*.py"), *EXAMPLES.glob("processes/*.py")]
    examples = [file for file in sorted(examples) if file.name not in LIBRARIES]
    found = errors("--level", "error", *examples)
    problems += [f"{name}:{line}: {text}" for name, line, text in found]
    print(*problems, sep="\n")
    counts = f"{len(wrong)} mistakes, {len(examples)} examples, {len(problems)} problems"
    print(f"tests/pyright: {counts}")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
