// codegen/scalar/code.cpp - the choice of the machine, and the time that a program takes.
#include "codegen/scalar/code.h"

#include <algorithm>

#include "codegen/arm64/scalar_code.h"
#include "codegen/executable.h"
#include "codegen/x86/scalar_code.h"

namespace shardax::codegen {
namespace {

// A node takes a nanosecond at most, a call thirty.
constexpr double node_ns = 1, call_ns = 30, poll_ns = 1e6;

}  // namespace

double scalar_cost(const ScalarProgram& program) {
  double cost = node_ns * program.nodes.size();
  for (const Event& event : program.events()) cost += event.mark == Mark::call ? call_ns : node_ns;
  return cost;
}

std::int32_t turns_between_polls(const ScalarProgram& program) {
  return static_cast<std::int32_t>(std::max(1.0, poll_ns / scalar_cost(program)));
}

std::vector<std::uint8_t> scalar_code(const ScalarProgram& program, Poll poll,
                                      std::string* listing) {
  const bool neon = instructions() == Instructions::neon;
  std::vector<std::uint8_t> code =
      (neon ? arm64::scalar_code : scalar_code_x86)(program, poll, listing);
  if (code.empty() && listing) listing->clear();
  return code;
}

}  // namespace shardax::codegen
