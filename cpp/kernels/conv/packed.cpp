// kernels/conv/packed.cpp - convolutions of bfloat16 as they are: which, and by boxes or segments.
#include "kernels/conv/packed.h"

#include <algorithm>
#include <cstring>

#include "kernels/conv/packed_product.h"
#include "kernels/gemm/amx.h"

namespace shardax::kernels {
namespace {

// Gradients of kernels have fewer outputs than taps.
Inner inner_of(const ConvArgs& p) {
  constexpr std::int64_t most_outputs = 4096;
  std::int64_t outputs = 1, taps = 1;
  for (const ConvSpace& s : p.space) outputs *= s.out_size, taps *= s.rhs_size;
  return outputs < taps && outputs <= most_outputs ? Inner::taps : Inner::channels;
}

// Zeros for all outputs, feature by feature.
void write_zeros(const ConvArgs& p, ParallelFor parallel_for) {
  const std::int64_t bytes = itemsize(p.out_dtype);
  const ConvSpace &z = p.space[0], &y = p.space[1], &x = p.space[2];
  const auto body = [&](std::int64_t i) {
    const std::int64_t at = i % p.o.size * p.o.out + i / p.o.size % p.n.size * p.n.out +
                            batch_offset(p, i / p.o.size / p.n.size, &ConvAxis::out);
    for (std::int64_t j = 0; j < z.out_size; ++j) {
      for (std::int64_t k = 0; k < y.out_size; ++k) {
        std::byte* const line = p.out + (at + j * z.out + k * y.out) * bytes;
        if (x.out == 1) {
          std::memset(line, 0, index(x.out_size * bytes));
        } else {
          for (std::int64_t l = 0; l < x.out_size; ++l)
            std::memset(line + l * x.out * bytes, 0, index(bytes));
        }
      }
    }
  };
  const double each = static_cast<double>(z.out_size * y.out_size * (x.out_size / 4 + 8));
  run_chunks(batch_size(p) * p.n.size * p.o.size, each / 4, parallel_for, body);
}

}  // namespace

bool multiplies_bfloat16(std::int64_t features, std::int64_t steps) {
  // Packing takes as long for few features. 256 images of 28 x 28 with 5 x 5 taps to 6 features
  // take 4.9 ms, and 0.7 ms as float32; 6 channels of 14 x 14 to 16 features 0.6 ms both ways.
  // Half of a panel has 16 features.
  constexpr std::int64_t fewest_steps = 32, least_work = 1024;
  const std::int64_t fewest_features = has_tiles() ? 8 : 9;
  return pair_kernels() && features >= fewest_features && steps >= fewest_steps &&
         features * steps >= least_work;
}

bool is_packed(const ConvArgs& p) {
  if (p.dtype != DType::bfloat16 || p.space.size() > 3) return false;
  if (p.out_dtype != DType::bfloat16 && p.out_dtype != DType::float32) return false;
  std::int64_t steps = p.c.size;
  for (const ConvSpace& s : p.space) steps *= s.rhs_size;
  return multiplies_bfloat16(p.o.size, steps);
}

void convolution_packed(const ConvArgs& args, ParallelFor parallel_for) {
  const ConvArgs p = with_three_dimensions(args);
  const Inner inner = inner_of(p);
  const std::vector<Part> parts = lines_by_taps(p);
  const auto empty = [](const Part& part) { return part.steps == 0; };
  if (std::any_of(parts.begin(), parts.end(), empty)) write_zeros(p, parallel_for);
  for (const Part& part : parts) {
    if (empty(part)) continue;
    (inner == Inner::channels ? convolution_in_boxes : convolution_in_segments)(
        p, part, *pair_kernels(), parallel_for);
  }
}

}  // namespace shardax::kernels
