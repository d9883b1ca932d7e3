// callables/staging/trace_state.h - traces in progress, as far as Python may know them.
#pragma once

#include "ir/program.h"

namespace pybind11 {
class module_;
class object;
}  // namespace pybind11

namespace shardax::callables {

void init_trace_state(pybind11::module_& module);

// The names of an equation as an object.
pybind11::object name_stack(const NamesPtr& names);

}  // namespace shardax::callables
