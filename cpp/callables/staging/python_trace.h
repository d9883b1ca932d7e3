// callables/staging/python_trace.h - traces whose ops are handled by an object of Python.
//
// `core.set_current_trace(trace)` puts one on the stack. Every op bound while it is there goes to
// `trace.process_primitive`, as JAX's do; tracers of the user's own class are its Values
// (objects/python_tracer.h). Nothing else asks whether there is one.
#pragma once

namespace pybind11 {
class module_;
}

namespace shardax::callables {

void init_python_traces(pybind11::module_& module);

}  // namespace shardax::callables
