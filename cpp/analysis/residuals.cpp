// analysis/residuals.cpp - tracing residuals back to where they come from.
#include "analysis/residuals.h"

#include <map>

#include "base/index.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

// The order of a value among all: its kind, then positions, outermost first.
using ResidualPath = std::vector<std::size_t>;
struct Origin {
  ResidualPath place;
  Residual residual;
};

// An input of a body that is not followed further: its caller goes on.
Origin origin(const Program& program, Var var) {
  using Source = Residual::Source;
  const Type& type = program.type(var);
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    if (program.inputs[i] == var) {
      return {{2, i}, {.type = type, .source = Source::input, .input = i}};
    }
  }
  for (std::size_t e = 0; e < program.equations.size(); ++e) {
    const Equation& eqn = program.equations[e];
    const auto at = std::find(eqn.outputs.begin(), eqn.outputs.end(), var);
    if (at == eqn.outputs.end()) continue;
    const auto position = index(at - eqn.outputs.begin());
    if (const ProgramPtr called = called_program(*eqn.op, eqn.params)) {
      const Program& body = *called;
      Origin inner = origin(body, body.outputs[position]);
      if (inner.residual.source == Source::input)
        return origin(program, eqn.inputs[inner.residual.input]);
      if (inner.residual.source == Source::output) {
        ResidualPath place{3, e};
        place.insert(place.end(), inner.place.begin() + 1, inner.place.end());
        inner.place = std::move(place);
      }
      return inner;
    }
    const Op* name = &core_ops().name;
    return {{3, e, position},
            {.type = type,
             .source = Source::output,
             .op = eqn.op,
             .checkpoint_name = eqn.op == name ? eqn.params.text(param::name) : "",
             .location = eqn.location}};
  }
  const bool literal = type.rank() == 0;
  return {{literal ? std::size_t{0} : 1, index(var)},
          {.type = type, .source = literal ? Source::literal : Source::constant}};
}

}  // namespace

std::vector<Residual> saved_residuals(const ProgramPtr& program, const std::vector<bool>& nonzero) {
  const LinearizedProgram halves = linearize_program(program, nonzero);
  const DceProgram needed =
      dce_program(halves.linear, std::vector<bool>(halves.linear->outputs.size(), true));
  std::map<ResidualPath, Residual> found;
  const std::size_t outputs = program->outputs.size();
  for (std::size_t r = 0; r < halves.residual_count; ++r) {
    if (!needed.inputs[r]) continue;
    Origin from = origin(*halves.known, halves.known->outputs[outputs + r]);
    found.insert_or_assign(std::move(from.place), std::move(from.residual));
  }
  // Constants of the linear part alone come after those of the known part.
  const std::size_t known = halves.known->types.size();
  for (const Constant& c : needed.program->constants) {
    Origin from = origin(*needed.program, c.var);
    from.place.back() += known;
    found.insert_or_assign(std::move(from.place), std::move(from.residual));
  }
  std::vector<Residual> out;
  for (auto& [place, residual] : found) out.push_back(std::move(residual));
  return out;
}

}  // namespace shardax
