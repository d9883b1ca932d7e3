// api/trace_state.h - what Python may know of the traces in progress.
#pragma once

namespace pybind11 {
class module_;
}

namespace shardax::api {

void init_trace_state(pybind11::module_& module);

}  // namespace shardax::api
