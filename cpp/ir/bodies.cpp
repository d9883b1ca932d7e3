// ir/bodies.cpp - reading descriptions of carried programs.
#include "ir/bodies.h"

#include "base/stack.h"

namespace shardax {
namespace {

std::vector<std::size_t> positions(const std::vector<Port>& ports, Flow flow) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].flow == flow) out.push_back(i);
  }
  return out;
}

void number(std::vector<Port>& ports) {
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i].source = static_cast<int>(i);
}

}  // namespace

std::vector<std::size_t> Bodies::taken_by(std::size_t k) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Port& port = operands[i];
    const bool taken = port.program < 0 || port.program == static_cast<int>(k);
    if (taken && port.flow != Flow::choice) out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> Bodies::operands_of(Flow flow) const { return positions(operands, flow); }
std::vector<std::size_t> Bodies::results_of(Flow flow) const { return positions(results, flow); }

Bodies call_of(const ProgramPtr& program, bool fixed) {
  Bodies out;
  out.programs = {program};
  out.operands = std::vector<Port>(program->inputs.size());
  out.results = std::vector<Port>(program->outputs.size());
  out.fixed = fixed;
  return out;
}

Bodies bodies_of(const Op& op, const Params& params) {
  check_stack("a program within programs");
  Bodies out = op.bodies(params);
  number(out.operands);
  number(out.results);
  return out;
}

ProgramPtr called_program(const Op& op, const Params& params) {
  if (!op.bodies) return nullptr;
  check_stack("a program within programs");
  const Bodies bodies = op.bodies(params);
  return bodies.runs == Runs::once ? bodies.programs[0] : nullptr;
}

ProgramPtr grid_program(const Op& op, const Params& params) {
  if (!op.bodies || op.bodies(params).runs != Runs::grid) return nullptr;
  return op.expand(params, {});
}

Type type_at(const Bodies& bodies, const Port& port, Type type) {
  if (bodies.runs == Runs::mapped) type.varying = without(type.varying, bodies.axis);
  if (port.flow == Flow::sliced)
    type.insert_dimension(static_cast<std::size_t>(port.axis), bodies.length);
  return type;
}

}  // namespace shardax
