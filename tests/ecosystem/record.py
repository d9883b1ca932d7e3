"""tests/ecosystem/record.py - writes recorded.json: the results of the programs with JAX.

    python tests/ecosystem/record.py      in an environment with JAX 0.10.2 and the libraries

Programs whose library is missing keep what is recorded.
"""

import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FILE = HERE / "recorded.json"


def main():
    done = subprocess.run(
        [sys.executable, HERE / "programs.py"], stdout=subprocess.PIPE, text=True, check=True
    )
    recorded = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name, result in json.loads(done.stdout).items():
        if isinstance(result, dict) and "error" in result:
            print(name, result["error"])
        else:
            recorded[name] = result
    lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(recorded.items()))
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
