// callables/explain.h - explanations of staged functions as Python dicts and lists.
#pragma once

#include <pybind11/cast.h>

#include "explain/variation.h"

namespace pybind11 {
class module_;
}

namespace shardax::callables {

// {"file", "line", "function"}; None for null.
pybind11::object place_of(const LocationPtr& location);
// A dict for each argument or result.
pybind11::list boundaries(const std::vector<Boundary>& all);
// The arrays that a program is called with; null where there is none of its type.
std::vector<ArrayPtr> arrays_of(const Program& program, const pybind11::list& arguments);

void init_explain(pybind11::module_& module);

}  // namespace shardax::callables
