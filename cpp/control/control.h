// control/control.h - ops that carry programs: jit, pmap, cond, scan, while.
//
// Each has a file of its own with its jvp_body, linearize, transpose and batch rules, built from
// the program-to-program transformations.
#pragma once

#include "transform/batch.h"
#include "transform/jvp.h"
#include "transform/transpose.h"

namespace shardax {

// Compiled away by inlining.
bool is_jit(const Op& op);
bool is_pmap(const Op& op);
// Run by steps of their own (execute/control_steps.cpp).
bool is_cond(const Op& op);
bool is_scan(const Op& op);
bool is_while(const Op& op);

Values bind_jit(const ProgramPtr& body, const Values& in);
struct MapParams {
  AxisName name;
  std::int64_t size;
  Ints in_axes;   // -1: unmapped
  Ints out_axes;  // -1: the first device's value
};
Values bind_pmap(const ProgramPtr& body, const MapParams& params, const Values& in);

// The elements of `values` that `mask` selects.
template <class T>
std::vector<T> select(const std::vector<T>& values, const std::vector<bool>& mask) {
  std::vector<T> out;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) out.push_back(values[i]);
  }
  return out;
}
// The reverse: `values` at the places that `mask` selects, null elsewhere.
Values spread(const Values& values, const std::vector<bool>& mask);
std::vector<bool> nonnull(const Values& values);
Values joined(Values a, const Values& b);
std::vector<bool> joined_mask(std::vector<bool> a, const std::vector<bool>& b);
Value zeros_if_null(const Value& value, const Type& type);

}  // namespace shardax
