# tests/install.sh - sourced by tests/run, tests/lint and examples/run: puts the package of $root
# into $venv.
#
# Build requirements live in the environment itself, not in one made for each build: their paths
# stay the same, so build/ is reused and only what changed is compiled again.

venv="$root/.venv"
unset PYTHONPATH PYTHONHOME  # the tests see the installed package, not a source tree
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

# The `requires` of pyproject.toml's [build-system], one a line, and the tools it runs.
build_requirements() {
  "$venv/bin/python" - "$root/pyproject.toml" <<'PYTHON'
import ast
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
print(*ast.literal_eval(re.search(r"^requires = (\[.*?\])", text, re.M | re.S)[1]), sep="\n")
print("cmake>=3.20", "ninja", sep="\n")
PYTHON
}

# The list of that name in pyproject.toml's [dependency-groups], one a line.
dependency_group() {
  "$venv/bin/python" - "$root/pyproject.toml" "$1" <<'PYTHON'
import ast
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
print(*ast.literal_eval(re.search(rf"^{sys.argv[2]} = (\[.*?^\])", text, re.M | re.S)[1]), sep="\n")
PYTHON
}

# install_group NAME: installs that list.
install_group() {
  local packages
  mapfile -t packages < <(dependency_group "$1")
  "$venv/bin/python" -m pip install --quiet "${packages[@]}"
}

# Libraries for JAX, as wheels and without JAX; tests of those that cannot be had are skipped, and
# examples that use them do not run.
install_libraries() {
  local libraries needs
  mapfile -t libraries < <(dependency_group ecosystem)
  mapfile -t needs < <(dependency_group ecosystem-needs)
  "$venv/bin/python" -m pip install --quiet --only-binary :all: "${needs[@]}" &&
    "$venv/bin/python" -m pip install --quiet --only-binary :all: --no-deps "${libraries[@]}" ||
    echo "libraries for JAX (pyproject.toml, group ecosystem) cannot be installed: their tests are" \
      "skipped, examples that use them fail" >&2
}

# Runs pip with the arguments and says every few seconds how far the build is; where it fails, what
# it said last.
watch_pip() {
  "$venv/bin/python" -u - "$@" <<'PYTHON'
import re
import subprocess
import sys
import time

command = [sys.executable, "-m", "pip", "install", "-v", *sys.argv[1:]]
build = subprocess.Popen(
    command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
)
start = said = time.monotonic()
lines = []
for line in build.stdout:
    lines.append(line)
    step = re.search(r"\[(\d+)/(\d+)\] (?:Building|Linking)", line)
    now = time.monotonic()
    if step and (now - said > 4 or said == start or step[1] == step[2]):
        print(f"shardax: step {step[1]} of {step[2]} built, {now - start:.0f} s", flush=True)
        said = now
if build.wait() != 0:
    print("".join(lines[-60:]), file=sys.stderr)
    sys.exit(build.returncode)
PYTHON
}

make_venv() {
  if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
      { echo "shardax needs Python >= 3.10; set PYTHON to one" >&2; return 1; }
    "${PYTHON:-python3}" -m venv "$venv"
  fi
}

# install_package SPEC: SPEC is '.' or '.[test]'.
install_package() {
  make_venv
  local requirements
  mapfile -t requirements < <(build_requirements)
  "$venv/bin/python" -m pip install --quiet "${requirements[@]}"
  (cd "$root" && PATH="$venv/bin:$PATH" \
    watch_pip --no-build-isolation "$1")
}
