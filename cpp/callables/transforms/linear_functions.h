// callables/transforms/linear_functions.h - the functions that vjp, linearize and linear_transpose
// return.
//
// Each is a node around a LinearFunction, which knows structures and types, whose leaves are the
// residuals: a VJP, or a tree_util.Partial.
#pragma once

#include <memory>
#include <vector>

#include "callables/function.h"

namespace shardax::callables {

// The first argument of a linear function, a list: its residuals, or others of their types from a
// tree transformation.
Values residual_values(const CallArguments& arguments, const Types& types);

Ref tuple_of(const std::vector<Ref>& items);

// The Partial of a LinearFunction of `behaviour`.
Ref partial(PyObject* fun, std::unique_ptr<Transform> behaviour, const Values& residuals);

}  // namespace shardax::callables
