// runtime/node_sums.h - reductions over the processes of one machine, in their shared window.
//
// Long terms go in parts: while one is added, the next one is written.
#pragma once

#include <cstddef>

#include "runtime/node_window.h"
#include "runtime/processes.h"

namespace shardax::runtime {

// One reduction; all of the group share the window. Only one is under way at a time, and all
// processes make them in the same order. Its arguments stay in place until the end.
class WindowReduction {
 public:
  // Writes the first part of the own term.
  WindowReduction(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                  ProcessGroup group, const StepLabel& label, const PostCounts& counts);
  // Waits for the others, and combines.
  void finish();

 private:
  void begin_part();
  void end_part();

  const std::byte* from_;
  std::byte* to_;
  std::size_t n_;
  Reduction reduction_;
  ProcessGroup group_;
  const StepLabel& label_;
  const PostCounts& counts_;
  std::size_t at_ = 0, part_ = 0;  // elements that are done, and of the part under way
  std::size_t buffer_ = 0;         // index of the buffer with that part
};

}  // namespace shardax::runtime
