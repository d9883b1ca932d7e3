// callables/transforms/grad.h - grad and value_and_grad.
#pragma once

#include "callables/function.h"

namespace shardax::callables {

struct GradOptions {
  std::vector<int> argnums;  // may be negative
  bool several = false;      // argnums was a sequence: the gradient is a tuple
  bool value = false;        // value_and_grad
  bool has_aux = false;
  bool holomorphic = false;
  bool allow_int = false;
};

// A function that gives the gradient of `fun`; Python control flow in it sees concrete values.
Ref make_grad(PyObject* fun, GradOptions options, PyObject* doc);

}  // namespace shardax::callables
