// codegen/lane.cpp - the program that is being recorded on a thread.
#include "codegen/lane.h"

namespace shardax::codegen {
namespace {
thread_local VectorProgram* recorded = nullptr;
}

Recording::Recording(VectorProgram& program) : outer_(recorded) { recorded = &program; }
Recording::~Recording() { recorded = outer_; }
VectorProgram& Recording::current() { return *recorded; }

}  // namespace shardax::codegen
