// execute/program_agreement.h - processes that send messages run the same programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "ir/program.h"

namespace shardax {

// A program that sends messages, as the processes that run it compare it: by its ops, their types
// and params. Values of constants may differ, and so may callbacks.
class AgreedProgram {
 public:
  AgreedProgram(ProgramPtr program, std::vector<int> group);
  // Before the first run. Throws RuntimeError, in all processes of the group, where another one has
  // another program: with the first difference.
  void compare();
  // A hash of the program, for the labels of its messages (runtime/transfer.h).
  std::uint32_t hash() const { return static_cast<std::uint32_t>(digest_); }

 private:
  ProgramPtr program_;
  std::vector<int> group_;  // ranks of the processes that its messages go between
  std::uint64_t digest_ = 0;
  std::atomic<bool> compared_ = false;
};

// Null: it sends no messages.
std::shared_ptr<AgreedProgram> agreed_program(const ProgramPtr& program);

}  // namespace shardax
