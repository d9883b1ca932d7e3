// callables/program/param_forms.h - the parameters of ops in JAX's form: tuples for windows, enum
// members for modes, and the options that are always None.
#pragma once

#include <pybind11/cast.h>

#include <string_view>

namespace shardax::callables {

// Changes the parameters of an equation of that op into JAX's, and back.
void to_jax_form(std::string_view op, pybind11::dict& params);
pybind11::dict from_jax_form(const pybind11::dict& params);

}  // namespace shardax::callables
