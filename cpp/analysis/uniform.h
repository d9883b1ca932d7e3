// analysis/uniform.h - inputs with equal slices along a mapped axis.
#pragma once

#include "ir/program.h"

namespace shardax {

// An input that a pmap maps.
struct Mapped {
  std::size_t input;
  std::int64_t axis;
  bool varies = false;  // has been seen to; its slices are not compared any more
};

// Adds the inputs that pmaps in `program` map, in loops and branches too; `inputs` says which of
// the callable's inputs the program's are (-1: none).
void find_mapped(const Program& program, const std::vector<std::int64_t>& inputs,
                 std::vector<Mapped>& found);

// Is the input seen with stride 0 along its mapped axis, or could it be?
bool is_uniform(Mapped& m, Array& array);

// The array with all its slices in memory.
ArrayPtr spread_out(const Array& array);

}  // namespace shardax
