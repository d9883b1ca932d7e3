// ops/convolution.h - conv_general_dilated: its numbers, read from params.
#pragma once

#include "ir/op.h"

namespace shardax::ops {

// The kind of a leading dimension of the operands, ahead of those that the specs count. Results
// have those that are not summed, in order.
enum class Leading : std::int64_t {
  both,    // of both operands: convolutions of their own
  lhs,     // of lhs only
  rhs,     // of rhs only
  summed,  // of both, and summed over
};

struct ConvNumbers {
  Ints strides, padding, lhs_dilation, rhs_dilation;  // padding: low, high of each dimension
  Ints lhs_spec, rhs_spec,
      out_spec;  // (batch, feature, ...), (out, in, ...), (batch, feature, ...)
  std::int64_t feature_groups = 1, batch_groups = 1;
  Ints leading = {};  // Leading
  bool highest_precision = false;

  // The number of leading dimensions of lhs, rhs and the result.
  std::int64_t of_lhs() const { return count(Leading::rhs); }
  std::int64_t of_rhs() const { return count(Leading::lhs); }
  std::int64_t of_out() const { return count(Leading::summed); }
  std::size_t spatial() const { return rhs_spec.size() < 2 ? 0 : rhs_spec.size() - 2; }

 private:
  std::int64_t count(Leading without) const {
    return static_cast<std::int64_t>(leading.size()) -
           std::count(leading.begin(), leading.end(), static_cast<std::int64_t>(without));
  }
};

ConvNumbers conv_numbers(const Params& params);
// The type rule: the errors are JAX's.
Types conv_type(const Op& op, const Types& in, const Params& params);
// n elements with gaps between them.
inline std::int64_t dilated_size(std::int64_t n, std::int64_t dilation) {
  return n == 0 ? 0 : (n - 1) * dilation + 1;
}
// Throws ValueError for numbers of windows whose products would not fit, as JAX's compiler does.
void check_window_numbers(std::string_view op, const char* what, const Ints& values, bool padding);
std::vector<std::string> show_conv(const Params& params);
Kernel conv_kernel(const Types& in, const Types& out, const Params& params);
// Multiplications and additions of one convolution, places in the padding included.
double conv_flops(const Types& in, const Types& out, const Params& params);

}  // namespace shardax::ops
