"""python -m shardax script.py [args]: runs a script in which `import jax` means shardax."""

import builtins
import importlib.util
import io
import os
import runpy
import sys
import types

from shardax import install_as_jax
from shardax._base import processes

USAGE = """usage: python -m shardax [--processes N [--output all]] script.py [args]
       python -m shardax [--processes N [--output all]] -m module [args]
       python -m shardax --version | --info"""


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        show(
            f"{USAGE}\n\n"
            "Runs a script in which `import jax` means shardax; with --processes in N processes, "
            "which MPI connects. --info describes the installation and the machine."
        )
        sys.exit(0 if len(sys.argv) > 1 else 2)
    if sys.argv[1] in ("--version", "--info"):
        from shardax._base import info  # for these alone

        show(info.describe() if sys.argv[1] == "--info" else f"shardax {info.__version__}")
        return
    if sys.argv[1].partition("=")[0] in ("--processes", "--output"):
        from shardax import _launch  # several processes are asked for

        count, shows_all, sys.argv[1:] = _launch.parse(sys.argv[1:])
        require_program()
        if count > 1:
            sys.exit(_launch.main(count, shows_all, sys.argv[1:]))
    require_program()
    install_as_jax()
    if processes.started_by_mpi():
        processes.write_to_launcher()
        processes.join("python -m shardax")
    with processes.exits_together():
        run()


def show(text):
    """Prints a text; a reader that closes the pipe early, such as `head -1`, is no error."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # The interpreter flushes stdout once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def require_program():
    """Ends with Python's own words where the arguments name no file and no module."""
    path, *rest = sys.argv[1:]
    if path == "-m" and rest:
        if "." not in rest[0] and importlib.util.find_spec(rest[0]) is None:
            sys.exit(f"python -m shardax: No module named {rest[0]}")
    elif path.startswith("-") and not os.path.exists(path):
        print(f"python -m shardax: {path} is not an option.\n{USAGE}", file=sys.stderr)
        sys.exit(2)
    elif not os.path.exists(path):
        found = f"{os.path.abspath(path)!r}: [Errno 2] No such file or directory"
        print(f"python -m shardax: can't open file {found}", file=sys.stderr)
        sys.exit(2)


def run():
    """Runs the program that the arguments name, with those behind it as its own."""
    sys.argv = sys.argv[1:]
    path = sys.argv[0]
    if path == "-m" and len(sys.argv) > 1:
        sys.argv = sys.argv[1:]
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        return
    if not os.path.isfile(path) or path.endswith((".zip", ".pyz", ".pyc")):
        runpy.run_path(path, run_name="__main__")
        return
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    run_script(os.path.abspath(path))


def run_script(path):
    """Runs a file as the main module, which it stays: processes started at its end look there."""
    main_module = types.ModuleType("__main__")
    # As of `python script.py`: by its __file__, without a __spec__, other processes find it.
    vars(main_module).update(__file__=path, __builtins__=builtins, __spec__=None)
    sys.modules["__main__"] = main_module
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec")
    exec(code, vars(main_module))


if __name__ == "__main__":
    main()
