// callables/staging/stages.h - queries of traced, lowered and compiled stages.
#pragma once

namespace pybind11 {
class module_;
}

namespace shardax::callables {

// Adds stage_function, call_info and memory to the module.
void init_stages(pybind11::module_& module);

}  // namespace shardax::callables
