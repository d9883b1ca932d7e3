# tests/install.sh - sourced by tests/run, tests/lint, examples/run and others: puts the package of
# $root into $venv.
#
# Build requirements live in the environment itself, not in one made for each build: their paths
# stay the same, so the build folder is reused and only what changed is compiled again.

unset PYTHONPATH PYTHONHOME  # the tests see the installed package, not a source tree
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

# $store, the folder of .venv and build: the checkout, or where that is read-only, one of the user's.
choose_store() {
  store=$root
  [ -w "$root" ] && return
  local name
  name=shardax-$(printf %s "$root" | cksum | cut -d ' ' -f 1)
  for store in "${XDG_CACHE_HOME:-${HOME:-}/.cache}/$name" "${TMPDIR:-/tmp}/$name-$UID"; do
    # One that another user has put there is not taken.
    (umask 077 && mkdir -p "$store") 2>/dev/null && [ -O "$store" ] && [ -w "$store" ] && return
  done
  echo "shardax: $root is read-only, and so are the cache and temporary folders;" \
    "set XDG_CACHE_HOME to a folder to write to" >&2
  return 1
}
choose_store
venv="$store/.venv"
[ -w "${HOME:-/nowhere}" ] || export MPLCONFIGDIR="$store/matplotlib"  # it warns without a home

# pip_install [arguments of pip install]: says how far it is; @NAME is a list of pyproject.toml.
pip_install() {
  "$venv/bin/python" "$root/tests/install.py" "$@"
}

# Libraries for JAX, as wheels and without JAX; tests of those that cannot be had are skipped, and
# examples that use them do not run.
install_libraries() {
  pip_install --only-binary :all: @ecosystem-needs &&
    pip_install --only-binary :all: --no-deps @ecosystem ||
    echo "libraries for JAX (pyproject.toml, group ecosystem) cannot be installed: their tests are" \
      "skipped, examples that use them fail" >&2
}

make_venv() {
  if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
    "${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
      { echo "shardax needs Python >= 3.10; set PYTHON to one" >&2; return 1; }
    echo "shardax: makes the environment $venv" >&2
    "${PYTHON:-python3}" -m venv "$venv"
  fi
}

# install_package SPEC: SPEC is '.' or '.[test]'.
install_package() {
  make_venv
  [ -e "$store/build" ] || echo "shardax: compiles the package, once; this takes minutes" >&2
  pip_install @build
  (cd "$root" && PATH="$venv/bin:$PATH" SKBUILD_BUILD_DIR="$store/build/{wheel_tag}" \
    pip_install -v --no-build-isolation "$1")
  echo "shardax: ready in $venv after $SECONDS s" >&2
}
