"""python -m shardax script.py [args]: runs a script in which `import jax` means shardax."""

import os
import runpy
import sys

from shardax import install_as_jax


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(
            "usage: python -m shardax script.py [args]\n\nRuns a script in which `import jax` "
            "means shardax."
        )
        sys.exit(0 if len(sys.argv) > 1 else 2)
    install_as_jax()
    sys.argv = sys.argv[1:]
    path = sys.argv[0]
    if path == "-m" and len(sys.argv) > 1:
        sys.argv = sys.argv[1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    main()
