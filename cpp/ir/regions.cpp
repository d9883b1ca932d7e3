// ir/regions.cpp - reading descriptions of carried programs.
#include "ir/regions.h"

#include "base/errors.h"
#include "base/index.h"
#include "base/stack.h"

namespace shardax {
namespace {

std::vector<std::size_t> positions(const std::vector<RegionPort>& ports, PortKind flow) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].flow == flow) out.push_back(i);
  }
  return out;
}

void number(std::vector<RegionPort>& ports) {
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i].source = static_cast<int>(i);
}

}  // namespace

std::vector<std::size_t> Regions::taken_by(std::size_t k) const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const RegionPort& port = operands[i];
    const bool taken = port.program < 0 || port.program == static_cast<int>(k);
    if (taken && port.flow != PortKind::choice) out.push_back(i);
  }
  return out;
}

std::vector<std::size_t> Regions::operands_of(PortKind flow) const {
  return positions(operands, flow);
}
std::vector<std::size_t> Regions::results_of(PortKind flow) const {
  return positions(results, flow);
}

namespace {

// The type of an operand in one run.
Type type_in_run(const Op& op, const Regions& regions, std::size_t i, Type type) {
  const RegionPort& port = regions.operands[i];
  if (port.flow != PortKind::sliced) return type;
  const auto axis = index(port.axis);
  if (port.axis < 0 || axis >= type.rank() || type.shape[axis] != regions.length) {
    value_error(op.name, ": operand ", i, " of type ", to_string(type), " is sliced along axis ",
                port.axis, " in ", regions.length, " runs; a dimension of that size was expected.");
  }
  type.erase_dimension(axis);
  return type;
}

void check_operands(const Op& op, const Regions& regions, std::size_t k, const Types& in) {
  const std::vector<std::size_t> taken = regions.taken_by(k);
  const Types wanted = regions.programs[k]->input_types();
  if (taken.size() != wanted.size()) {
    value_error(op.name, ": program ", k, " takes ", wanted.size(), " inputs; ", taken.size(),
                " operands go to it.");
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const Type given = type_in_run(op, regions, taken[i], in[taken[i]]);
    if (same_shape_and_dtype(given, wanted[i])) continue;
    value_error(op.name, ": program ", k, " takes ", to_string(wanted[i]), " as input ", i, "; ",
                to_string(given), " was given.");
  }
}

void check_condition(const Op& op, const Program& condition) {
  const Types out = condition.output_types();
  if (out.size() == 1 && out[0].dtype == DType::boolean && out[0].rank() == 0) return;
  value_error(op.name, ": the condition gives one bool; it has ", out.size(), " results",
              out.empty() ? "" : ", the first ", out.empty() ? "" : to_string(out[0]), ".");
}

// Carried results become the carried operands of the next run; branches give the same.
void check_results(const Op& op, const Regions& regions, std::size_t k, const Types& in) {
  const Types out = regions.programs[k]->output_types();
  if (out.size() != regions.results.size()) {
    value_error(op.name, ": program ", k, " gives ", out.size(), " results; ",
                regions.results.size(), " were expected.");
  }
  const std::vector<std::size_t> operands = regions.operands_of(PortKind::carried),
                                 results = regions.results_of(PortKind::carried);
  if (operands.size() != results.size()) {
    value_error(op.name, ": ", operands.size(), " operands are carried, and ", results.size(),
                " results.");
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (same_shape_and_dtype(in[operands[i]], out[results[i]])) continue;
    value_error(op.name, ": carry ", i, " comes in as ", to_string(in[operands[i]]),
                " and goes out as ", to_string(out[results[i]]), "; they must be the same.");
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const RegionPort& port = regions.results[i];
    if (port.flow == PortKind::sliced &&
        (port.axis < 0 || port.axis > static_cast<std::int64_t>(out[i].rank()))) {
      value_error(op.name, ": result ", i, " of type ", to_string(out[i]),
                  " cannot be stacked along axis ", port.axis, ".");
    }
    if (regions.runs != ExecutionKind::one_of || k == 0) continue;
    const Type first = regions.programs[0]->type(regions.programs[0]->outputs[i]);
    if (same_shape_and_dtype(first, out[i])) continue;
    value_error(op.name, ": branch ", k, " gives ", to_string(out[i]), " as result ", i,
                ", branch 0 ", to_string(first), ".");
  }
}

}  // namespace

void check_regions(const Op& op, const Regions& regions, const Types& in) {
  if (regions.operands.size() != in.size()) {
    value_error(op.name, ": ", in.size(), " operands; ", regions.operands.size(), " expected.");
  }
  if (regions.length < 0) value_error(op.name, ": ", regions.length, " runs are too few.");
  if (regions.runs == ExecutionKind::mesh) return;  // the op's type rule knows how blocks are cut
  for (std::size_t i = 0; i < in.size(); ++i) {
    const bool choice = regions.operands[i].flow == PortKind::choice;
    if (choice && (in[i].dtype != DType::int32 || in[i].rank() > 0))
      value_error(op.name, ": the branch is chosen by ", to_string(in[i]),
                  "; an int32 was expected.");
  }
  for (std::size_t k = 0; k < regions.programs.size(); ++k) {
    check_operands(op, regions, k, in);
    if (regions.gives_results(k)) {
      check_results(op, regions, k, in);
    } else {
      check_condition(op, *regions.programs[k]);
    }
  }
}

Regions call_of(const ProgramPtr& program, bool fixed) {
  Regions out;
  out.programs = {program};
  out.operands = std::vector<RegionPort>(program->inputs.size());
  out.results = std::vector<RegionPort>(program->outputs.size());
  out.fixed = fixed;
  return out;
}

Regions regions_of(const Op& op, const Params& params) {
  check_stack("a program within programs");
  Regions out = op.regions(params);
  number(out.operands);
  number(out.results);
  return out;
}

ProgramPtr called_program(const Op& op, const Params& params) {
  if (!op.regions) return nullptr;
  check_stack("a program within programs");
  const Regions regions = op.regions(params);
  return regions.runs == ExecutionKind::once ? regions.programs[0] : nullptr;
}

ProgramPtr mesh_program(const Op& op, const Params& params) {
  if (!op.regions || op.regions(params).runs != ExecutionKind::mesh) return nullptr;
  return op.expand(params, {});
}

Type type_at(const Regions& regions, const RegionPort& port, Type type) {
  if (regions.runs == ExecutionKind::mapped) type.varying = without(type.varying, regions.axis);
  if (port.flow == PortKind::sliced) type.insert_dimension(index(port.axis), regions.length);
  return type;
}

}  // namespace shardax
