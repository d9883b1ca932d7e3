// codegen/scalar/program.cpp - loops and branches around nodes.
#include "codegen/scalar/program.h"

#include "codegen/executable.h"

namespace shardax::codegen {

int scalar_vector_bytes() { return instructions() == Instructions::neon ? 16 : 32; }

// In registers of 256 bits, which AVX-512 has an instruction for powers of two in, too.
ScalarProgram::ScalarProgram() : nodes(true, instructions() == Instructions::avx512) {}

int ScalarProgram::unique(Kind kind) { return nodes.add({Code::unique, kind, {}, uniques_++}); }

int ScalarProgram::load(Kind kind, const Access& access) {
  const int node = unique(kind);
  loads_[node] = accesses_.size();
  accesses_.push_back(access);
  return node;
}

const Access* ScalarProgram::loaded(int node) const {
  const auto found = loads_.find(node);
  return found == loads_.end() ? nullptr : &accesses_[found->second];
}

void ScalarProgram::store(int node, const Access& access) {
  events_.push_back({Mark::store, nodes.size(), node, accesses_.size()});
  accesses_.push_back(access);
}

void ScalarProgram::call(Call call) {
  events_.push_back({Mark::call, nodes.size(), -1, calls_.size()});
  calls_.push_back(std::move(call));
}

std::vector<int> ScalarProgram::loop(const std::vector<int>& initial) {
  const int first = nodes.size();
  Event event{Mark::loop, first};
  std::vector<int> carries;
  for (const int from : initial) {
    carries.push_back(unique(nodes.node(from).kind));
    event.moves.push_back({carries.back(), from});
  }
  events_.push_back(std::move(event));
  open_.push_back({first, carries});
  return carries;
}

void ScalarProgram::test(int condition) {
  events_.push_back({Mark::test, nodes.size(), condition});
}

std::vector<int> ScalarProgram::again(const std::vector<int>& next) {
  const Open loop = std::move(open_.back());
  open_.pop_back();
  nodes.forget(loop.first);
  Event event{Mark::again, nodes.size()};
  std::vector<int> results;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const int carry = loop.values[i];
    event.moves.push_back({carry, next[i]});
    results.push_back(unique(nodes.node(carry).kind));
    event.leaving.push_back({results.back(), carry});
  }
  events_.push_back(std::move(event));
  return results;
}

void ScalarProgram::branch(int condition) {
  events_.push_back({Mark::branch, nodes.size(), condition});
  open_.push_back({nodes.size(), {}});
}

void ScalarProgram::otherwise(const std::vector<int>& results) {
  Open& choice = open_.back();
  nodes.forget(choice.first);
  choice.first = nodes.size();
  choice.values = results;
  events_.push_back({Mark::otherwise, nodes.size()});
}

std::vector<int> ScalarProgram::join(const std::vector<int>& values) {
  const Open choice = std::move(open_.back());
  open_.pop_back();
  nodes.forget(choice.first);
  Event event{Mark::join, nodes.size()};
  std::vector<int> results;
  for (std::size_t i = 0; i < values.size(); ++i) {
    results.push_back(unique(nodes.node(values[i]).kind));
    event.moves.push_back({results.back(), values[i]});
    event.leaving.push_back({results.back(), choice.values[i]});
  }
  events_.push_back(std::move(event));
  return results;
}

void ScalarProgram::renumber_pointer(int from, int to) {
  const auto renumber = [&](int& pointer) {
    if (pointer == from) pointer = to;
  };
  for (Access& access : accesses_) renumber(access.pointer);
  for (Call& call : calls_) {
    for (Argument& argument : call.arguments) renumber(argument.pointer);
  }
}

}  // namespace shardax::codegen
