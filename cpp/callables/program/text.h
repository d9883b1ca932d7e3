// callables/program/text.h - programs as text and back, and passes over them, for Python.
#pragma once

namespace pybind11 {
class module_;
}

namespace shardax::callables {

void init_program_text(pybind11::module_& module);

}  // namespace shardax::callables
