// control/batched_function.h - functions of the user's own, in ops, over a batch.
#pragma once

#include <memory>

#include "transform/batch.h"

namespace shardax {

// The values that carry the axis, kept between the functions of one call.
using Mask = std::shared_ptr<std::vector<bool>>;

struct FunctionOverBatch {
  std::vector<bool> batched = {};  // inputs; beyond its end, those of `rest` in turn, then all
  std::vector<Mask> rest = {};
  // Results that carry the axis: all by default. With `results`, those that do in the call's first
  // function; `linear` is the part of that with tangents.
  Mask results = {};
  Mask linear = {};
  int free_group = -1;  // of this one, those that turn out to, which is remembered
  Mask free_mask = {};
  // In the first group: results that keep the axis; others are summed over it.
  std::vector<bool> kept = {};
};

// The Function over a batch, made by a batching rule. Tracers of that batching that the user's
// function closes over carry the axis, as they do in the function that is being mapped.
FunctionPtr batched_function(const FunctionPtr& function, const BatchAxis& axis,
                             FunctionOverBatch options);

}  // namespace shardax
