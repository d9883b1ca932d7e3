// callables/explain.h - what explain says of a staged function, as Python's dicts and lists.
#pragma once

namespace pybind11 {
class module_;
}

namespace shardax::callables {

void init_explain(pybind11::module_& module);

}  // namespace shardax::callables
