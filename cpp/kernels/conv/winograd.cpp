// kernels/conv/winograd.cpp - conditions for minimal filtering of 3 x 3 taps.
#include "kernels/conv/winograd.h"

#include <algorithm>

namespace shardax::kernels {
namespace {

bool is_plain(const ConvSpace& s) {
  return s.stride == 1 && s.lhs_dilation == 1 && s.rhs_dilation == 1;
}

// Are channels, or places along a row, side by side?
bool is_dense(std::int64_t channel, std::int64_t column) { return channel == 1 || column == 1; }

// Tiles that make up for taking the kernel to points, whose outputs are mostly wanted.
bool is_large(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t least_tiles = 4;
  constexpr double least_used = 0.7;
  const std::int64_t tiles = ((rows + 1) / 2) * ((columns + 1) / 2);
  return tiles >= least_tiles &&
         static_cast<double>(rows * columns) >= least_used * static_cast<double>(4 * tiles);
}

// Panels of products are up to 32 columns wide.
constexpr std::int64_t fewest_rows = 16, fewest_columns = 20;

}  // namespace

Winograd winograd_of(const ConvArgs& p) {
  if (p.highest_precision || p.dtype != p.out_dtype || p.space.size() != 2) return Winograd::none;
  if (p.dtype != DType::float32 && p.dtype != DType::float64) return Winograd::none;
  const ConvSpace &y = p.space[0], &x = p.space[1];
  if (!is_plain(y) || !is_plain(x)) return Winograd::none;
  if (y.rhs_size == 3 && x.rhs_size == 3 && p.c.size >= fewest_rows && p.o.size >= fewest_columns &&
      is_dense(p.c.lhs, x.lhs) && is_dense(p.o.out, x.out) && is_large(y.out_size, x.out_size))
    return Winograd::forward;
  if (y.out_size == 3 && x.out_size == 3 && std::min(p.n.size, p.o.size) >= fewest_rows &&
      std::max(p.n.size, p.o.size) >= fewest_columns && is_dense(p.n.lhs, x.lhs) &&
      is_dense(p.o.rhs, x.rhs) && is_large(y.rhs_size, x.rhs_size))
    return Winograd::kernel;
  return Winograd::none;
}

}  // namespace shardax::kernels
