// compile/loops/hoist_transposes.cpp - transposes of loop-invariant matrices hoisted out of loops.
//
//   b = while { dot(a, x) }   ->   t = transpose a; b = while { dot(t, x) contracted along t's rows
//   }
// An element of a product is a chain along the summed dimension (kernels/gemm/matmul.h). Vectors
// hold the chains of several rows, which are adjacent in the transposed matrix.
#include "base/index.h"
#include "compile/loops/loop_rewriter.h"
#include "compile/passes.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ir/dim_factors.h"

namespace shardax {
namespace {

// The operand that is a matrix whose rows the product contracts with a vector; -1: none.
int transposed_operand(const Program& program, const Equation& eqn) {
  if (eqn.op != &core_ops().dot_general) return -1;
  const std::optional<DimFactors> dims = dim_factors(program, eqn);
  for (const int side : {0, 1}) {
    const Type &type = program.type(eqn.inputs[index(side)]),
               &other = program.type(eqn.inputs[index(1 - side)]);
    if (type.rank() == 2 && other.rank() == 1 && dims->reduced_dims(index(side)) == Ints{1} &&
        type.shape[0] >= tuning::hoist_transposes::fewest_transposed_rows &&
        type.bytes() <= tuning::hoist_transposes::most_transposed_bytes &&
        is_floating(type.dtype) && itemsize(type.dtype) >= 4)
      return side;
  }
  return -1;
}

std::vector<bool> choose(const Regions& regions) {
  std::vector<bool> chosen(regions.operands.size(), false);
  for (std::size_t k = 0; k < regions.programs.size(); ++k) {
    const Program& program = *regions.programs[k];
    const std::vector<std::size_t> taken = regions.taken_by(k);
    for (const Equation& eqn : program.equations) {
      const int side = transposed_operand(program, eqn);
      if (side < 0) continue;
      for (std::size_t j = 0; j < taken.size(); ++j) {
        if (program.inputs[j] == eqn.inputs[index(side)] &&
            regions.operands[taken[j]].flow == PortKind::whole)
          chosen[taken[j]] = true;
      }
    }
  }
  return chosen;
}

ProgramPtr body(const Regions& regions, std::size_t k, const std::vector<bool>& chosen) {
  const Program& source = *regions.programs[k];
  const MutableProgram made = copy_of(source);
  const std::vector<std::size_t> taken = regions.taken_by(k);
  made->inputs.clear();
  for (std::size_t j = 0; j < taken.size(); ++j) {
    const Var matrix = source.inputs[j];
    made->inputs.push_back(matrix);
    if (!chosen[taken[j]]) continue;
    const Type& type = source.type(matrix);
    made->inputs.push_back(made->add(with_shape(type, {type.shape[1], type.shape[0]})));
    for (Equation& eqn : made->equations) {
      const int side = transposed_operand(*made, eqn);
      if (side < 0 || eqn.inputs[index(side)] != matrix) continue;
      eqn.inputs[index(side)] = made->inputs.back();
      eqn.params.set(side == 0 ? param::lhs_contract : param::rhs_contract, Ints{0});
    }
  }
  return made;
}

std::optional<Vars> with_turned(Builder& builder, const Equation& eqn, const Vars& in,
                                const Regions& given) {
  if (given.runs == ExecutionKind::counted &&
      given.length < tuning::hoist_transposes::fewest_iterations)
    return {};
  const std::vector<bool> chosen = choose(given);
  if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) return {};
  Regions regions = given;
  for (std::size_t k = 0; k < regions.programs.size(); ++k)
    regions.programs[k] = body(given, k, chosen);
  regions.operands = doubled(given.operands, chosen);
  Vars operands;
  for (std::size_t i = 0; i < in.size(); ++i) {
    operands.push_back(in[i]);
    if (!chosen[i]) continue;
    operands.push_back(
        builder.emit1(core_ops().transpose, {{"permutation", Ints{1, 0}}}, {in[i]}, eqn.location));
  }
  return builder.emit(*eqn.op, eqn.op->with_regions(eqn.params, regions), operands, eqn.location);
}

}  // namespace

ProgramPtr hoist_transposes(const ProgramPtr& program) {
  const ProgramPtr made = with_loops(*program, with_turned);
  return made ? eliminate_dead_code(made) : program;
}

}  // namespace shardax
