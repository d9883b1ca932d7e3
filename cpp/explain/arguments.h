// explain/arguments.h - the arrays that a program is called with, as a call would see them.
#pragma once

#include "compile/pipeline.h"

namespace shardax {

struct Arguments {
  CompileOptions options;          // with stride 0 where slices are equal
  std::vector<Ints> equal;         // per input, the dimensions along which they are
  std::vector<std::int64_t> held;  // per input, bytes of memory: repeated elements count once
};
// `arrays`: null where only the type is known.
Arguments seen_by(const Program& program, const std::vector<ArrayPtr>& arrays);

}  // namespace shardax
