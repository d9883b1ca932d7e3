// callables/staging/locate.h - the user's current line: the innermost Python frame outside this
// package.
//
// Staged equations carry it, so that errors found later can name it. Locations are interned: a line
// that stages many equations costs one allocation.
#pragma once

#include <Python.h>

#include <string>

#include "callables/python.h"
#include "ir/program.h"

namespace shardax::callables {

// Frames whose files lie under `directory` are the package's own. Called once, at import.
void set_package_directory(std::string directory);
// Null where no frame belongs to the user.
LocationPtr locate();
// Installs `locate` as the locator of trace/trace.h.
void install_locator();

// "f", as programs are named after it.
std::string function_name(PyObject* fun);
// The attribute "__name__" or "__qualname__" of a transformed function. It is the function's own,
// that of the function in a partial, or JAX's text for callables without one.
std::string given_name(PyObject* fun, const char* attribute);
// The code behind functions, methods, partials and transformed functions; null for others.
Ref function_code(PyObject* fun);
// "f at file.py:12": where the code is defined; without code, the name.
std::string describe_code(const std::string& name, const Ref& code);
std::string describe_function(PyObject* fun);

}  // namespace shardax::callables
