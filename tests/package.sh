# tests/package.sh - sourced by tests/build_with and tests/emulated.

# package_of BUILD: a copy of the Python sources with that build's module, in BUILD/package, which
# PYTHONPATH then names. An editable install would be imported in its place: that is an error.
package_of() {
  local package
  package=$(cd "$1" && pwd)/package
  rm -rf "$package"
  mkdir -p "$package"
  cp -r python/shardax python/pytest_shardax "$package/"
  rm -f "$package"/shardax/_core.*.so
  cp "$1"/_core.*.so "$package/shardax/"
  export PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH}
}

# imports_package PYTHON: whether it imports that copy.
imports_package() {
  local found
  found=$("$1" -c 'import importlib.util as u; print(u.find_spec("shardax").origin)')
  [ "$found" = "${PYTHONPATH%%:*}/shardax/__init__.py" ] && return
  echo "$0: $1 imports $found, not ${PYTHONPATH%%:*}; is it an editable install? Set PYTHON to an" \
    "interpreter of another environment." >&2
  return 1
}
