// codegen/vector/lane.cpp - the program that is being recorded on a thread.
#include "codegen/vector/lane.h"

#include "codegen/scalar/program.h"

namespace shardax::codegen {
namespace {
constinit thread_local VectorProgram* recorded = nullptr;
constinit thread_local ScalarProgram* branching = nullptr;
}  // namespace

Recording::Recording(VectorProgram& program) : outer_(recorded) { recorded = &program; }
Recording::~Recording() { recorded = outer_; }
VectorProgram& Recording::current() { return *recorded; }

Branching::Branching(ScalarProgram& program) : outer_(branching) { branching = &program; }
Branching::~Branching() { branching = outer_; }
bool Branching::possible() { return branching != nullptr; }
void Branching::branch(int condition) { branching->branch(condition); }
void Branching::otherwise(const std::vector<int>& results) { branching->otherwise(results); }
std::vector<int> Branching::join(const std::vector<int>& results) {
  return branching->join(results);
}

}  // namespace shardax::codegen
