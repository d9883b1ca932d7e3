// ops/lines.h - the lines of an array along one dimension, for kernels that run along them.
#pragma once

#include "base/index.h"
#include "ir/op.h"

namespace shardax::ops {

// A row-major array of `outer` x `n` x `inner` elements; a line has n of them, `inner` apart.
struct Lines {
  std::int64_t outer = 1, n = 1, inner = 1;
  Lines(const Shape& shape, std::int64_t axis) : n(shape[index(axis)]) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (static_cast<std::int64_t>(d) < axis) outer *= shape[d];
      if (static_cast<std::int64_t>(d) > axis) inner *= shape[d];
    }
  }
  std::int64_t count() const { return outer * inner; }
  // The first element of a line.
  std::int64_t start(std::int64_t line) const { return line / inner * n * inner + line % inner; }
};

}  // namespace shardax::ops
