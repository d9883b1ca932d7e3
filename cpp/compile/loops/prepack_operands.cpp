// compile/loops/prepack_operands.cpp - operands of products packed once before a loop.
//
// A large product copies its right operand into panels of columns (kernels/gemm/pack.h). An operand
// that is the same in every iteration of a loop is packed before the loop:
//   scan { dot(h, w) }   ->   p = panels(w); scan { reshape(dot(h, p)) }
// The same applies if a branch, or an inner loop, multiplies by it or by slices of it. panels(w)
// has ordinary dimensions, (panel, row, column of the panel), and is row-major, so any product can
// compute the program.
#include <algorithm>
#include <unordered_map>

#include "base/function_ref.h"
#include "base/index.h"
#include "base/lists.h"
#include "compile/builder.h"
#include "compile/passes.h"
#include "compile/pipeline.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ir/regions.h"
#include "kernels/gemm/matmul.h"
#include "ops/ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

// A matrix among the operands that stay the same, or a stack of them, and which of its dimensions a
// product sums over.
struct Matrix {
  std::size_t operand, batch;  // number of dimensions before the two of a matrix
  std::int64_t summed;
  friend bool operator==(const Matrix&, const Matrix&) = default;
};

// The matrix that a product multiplies by, as panels would have it: its operand 1.
std::optional<Matrix> matrix_of(const Program& body, const Equation& eqn) {
  if (eqn.op != &core_ops().dot_general) return {};
  const std::size_t batch = eqn.params.ints(param::rhs_batch).size();
  const Ints leading = ops::iota_ints(batch);
  if (eqn.params.ints(param::rhs_batch) != leading || eqn.params.ints(param::lhs_batch) != leading)
    return {};
  const Type &left = body.type(eqn.inputs[0]), &type = body.type(eqn.inputs[1]),
             &out = body.type(eqn.outputs[0]);
  const Ints& contract = eqn.params.ints(param::rhs_contract);
  const std::int64_t width = kernels::matmul_panel_columns(type.dtype);
  if (type.rank() != batch + 2 || contract.size() != 1 || width == 0 || left.dtype != type.dtype ||
      out.dtype != type.dtype)
    return {};
  std::int64_t count = 1;
  for (std::size_t d = 0; d < batch; ++d) count *= type.shape[d];
  const auto rows_at = static_cast<std::int64_t>(batch);
  const std::int64_t columns = type.shape[index(2 * rows_at + 1 - contract[0])];
  if (type.bytes() <= tuning::prepack_operands::least_panel * count || columns % width != 0 ||
      out.size() < tuning::prepack_operands::fewest_packed_rows * columns * count)
    return {};
  return Matrix{1, batch, contract[0]};
}

// Regions within a body: their ops on the slices of a stack run on a stack of one dimension more.
bool enters(const Regions& regions) {
  return !regions.fixed &&
         (regions.runs == ExecutionKind::counted || regions.runs == ExecutionKind::one_of);
}
// The position of the operand that input `i` of each program is.
std::size_t operand_of(const Regions& regions, std::size_t i) {
  return regions.runs == ExecutionKind::one_of ? i + 1 : i;
}
using Matrices = std::vector<Matrix>;

// The inputs of a program that its products, and those of its regions, multiply by.
class Wanted {
 public:
  const Matrices& of(const ProgramPtr& program) {
    const auto found = known_.find(program.get());
    if (found != known_.end()) return found->second;
    Matrices all;
    const std::vector<int> made_by = makers(*program);
    for (const Equation& eqn : program->equations) {
      for (const Matrix& m : of_operands(*program, eqn)) {
        const std::optional<Matrix> input = input_of(*program, made_by, eqn, m);
        if (input && !has(all, *input)) all.push_back(*input);
      }
    }
    return known_.emplace(program.get(), std::move(all)).first->second;
  }

  // The matrices, in each program, that belong to these of the equation's operands.
  Matrices of_operands(const Program& program, const Equation& eqn) {
    if (const std::optional<Matrix> m = matrix_of(program, eqn)) return {*m};
    Matrices all;
    if (!eqn.op->regions) return all;
    const Regions regions = eqn.op->regions(eqn.params);
    if (!enters(regions)) return all;
    for (const ProgramPtr& body : regions.programs) {
      for (const Matrix& m : of(rewritten_body(body))) {
        const std::optional<Matrix> outside = of_operand(regions, m);
        if (outside && !has(all, *outside)) all.push_back(*outside);
      }
    }
    return all;
  }

  // The part of the operand that an input of a body is.
  static std::optional<Matrix> of_operand(const Regions& regions, const Matrix& m) {
    const std::size_t operand = operand_of(regions, m.operand);
    const RegionPort& port = regions.operands[operand];
    if (port.program >= 0) return {};
    if (port.flow == PortKind::whole) return Matrix{operand, m.batch, m.summed};
    if (port.flow == PortKind::sliced && port.axis == 0)
      return Matrix{operand, m.batch + 1, m.summed + 1};
    return {};
  }

  // The input that an operand is, transposed or as it is.
  static std::optional<Matrix> input_of(const Program& program, const std::vector<int>& made_by,
                                        const Equation& eqn, Matrix m) {
    Var v = eqn.inputs[m.operand];
    const Ints leading = ops::iota_ints(m.batch);
    for (int e = made_by[index(v)]; e >= 0; e = made_by[index(v)]) {
      const Equation& turned = program.equations[index(e)];
      if (turned.op != &core_ops().transpose) return {};
      const Ints& permutation = turned.params.ints(param::permutation);
      if (!std::equal(leading.begin(), leading.end(), permutation.begin())) return {};
      m.summed = permutation[index(m.summed)];
      v = turned.inputs[0];
    }
    const auto input = std::find(program.inputs.begin(), program.inputs.end(), v);
    if (input == program.inputs.end()) return {};
    m.operand = index(input - program.inputs.begin());
    return m;
  }

 private:
  std::unordered_map<const Program*, Matrices> known_;
};

Type panels_type(Type type, const Matrix& matrix) {
  const std::int64_t width = kernels::matmul_panel_columns(type.dtype);
  const auto summed = index(matrix.summed);
  const std::int64_t rows = type.shape[summed], columns = type.shape[2 * matrix.batch + 1 - summed];
  type.shape.resize(matrix.batch);
  for (const std::int64_t n : {columns / width, rows, width}) type.shape.push_back(n);
  return type;
}

// A program that takes these of its inputs as panels too: `whole` of them first, the rest last.
class WithPanels {
 public:
  WithPanels(Wanted& wanted, const ProgramPtr& body, const Matrices& matrices)
      : wanted_(wanted), body_(*body), matrices_(matrices), makers_(makers(*body)) {}

  ProgramPtr run(FunctionRef<bool(const Matrix&)> first) {
    const MutableProgram made = copy_of(body_);
    made->equations.clear();
    std::size_t place = 0;
    for (const Matrix& m : matrices_) {
      inputs_.push_back(made->add(panels_type(body_.type(body_.inputs[m.operand]), m)));
      if (first(m)) {
        made->inputs.insert(made->inputs.begin() + static_cast<std::ptrdiff_t>(place++),
                            inputs_.back());
      } else {
        made->inputs.push_back(inputs_.back());
      }
    }
    for (const Equation& eqn : body_.equations) {
      Matrices given;  // of its operands
      Vars panels;
      for (const Matrix& m : wanted_.of_operands(body_, eqn)) {
        const std::optional<Matrix> input = Wanted::input_of(body_, makers_, eqn, m);
        const auto at =
            input ? std::find(matrices_.begin(), matrices_.end(), *input) : matrices_.end();
        if (at == matrices_.end()) continue;
        given.push_back(m);
        panels.push_back(inputs_[index(at - matrices_.begin())]);
      }
      if (given.empty()) {
        made->equations.push_back(eqn);
      } else if (eqn.op->regions) {
        made->equations.push_back(with_regions(eqn, given, panels));
      } else {
        product(*made, eqn, panels[0]);
      }
    }
    return made;
  }

 private:
  // An equation whose regions take the panels as well.
  Equation with_regions(const Equation& eqn, const Matrices& given, const Vars& panels) {
    Equation out = eqn;
    Regions regions = regions_of(*eqn.op, eqn.params);
    const Regions before = regions;
    const bool counted = regions.runs == ExecutionKind::counted;
    const auto goes_first = [&](std::size_t operand) {
      return counted && before.operands[operand].flow == PortKind::whole;
    };
    Matrices inside;
    std::size_t place = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
      Matrix m = given[i];
      const RegionPort& port = before.operands[m.operand];
      const bool first = goes_first(m.operand);
      const std::size_t at = first ? place++ : regions.operands.size();
      regions.operands.insert(regions.operands.begin() + static_cast<std::ptrdiff_t>(at),
                              RegionPort{port.flow});
      out.inputs.insert(at, panels[i]);
      const std::size_t dims = port.flow == PortKind::sliced ? 1 : 0;
      m.operand -= regions.runs == ExecutionKind::one_of ? 1 : 0;
      m.batch -= dims;
      m.summed -= static_cast<std::int64_t>(dims);
      inside.push_back(m);
    }
    for (ProgramPtr& body : regions.programs) {
      const auto first = [&](const Matrix& m) { return goes_first(operand_of(before, m.operand)); };
      body = WithPanels(wanted_, rewritten_body(body), inside).run(first);
    }
    out.params = eqn.op->with_regions(eqn.params, regions);
    return out;
  }

  void product(Program& made, const Equation& eqn, Var panels) {
    Type type = body_.type(eqn.outputs[0]);
    const Params shape = ops::reshape_params(type.shape);
    type.shape.resize(type.rank() - 1);
    const std::size_t batch = eqn.params.ints(param::rhs_batch).size();
    type.shape.push_back(made.type(panels).shape[batch]);
    type.shape.push_back(made.type(panels).shape[batch + 2]);
    Equation dot = eqn;
    dot.params.set("rhs_contract", Ints{static_cast<std::int64_t>(batch + 1)});
    dot.inputs[1] = panels;
    dot.outputs[0] = made.add(type);
    made.equations.push_back(dot);
    made.equations.push_back(
        {&core_ops().reshape, shape, {dot.outputs[0]}, eqn.outputs, eqn.location, eqn.names});
  }

  Wanted& wanted_;
  const Program& body_;
  const Matrices& matrices_;
  const std::vector<int> makers_;
  Vars inputs_;  // of each matrix
};

class Panels {
 public:
  explicit Panels(const Program& source) : source_(source), builder_(source) {}

  ProgramPtr run() {
    const auto each = [&](const Equation& eqn, const Vars& in) { return step(eqn, in); };
    const MutableProgram made = emit_again(source_, builder_, each);
    return changed_ ? eliminate_dead_code(made) : ProgramPtr();
  }

 private:
  Vars step(const Equation& eqn, const Vars& in) {
    if (eqn.op->regions) {
      Regions regions = regions_of(*eqn.op, eqn.params);
      if (regions.runs == ExecutionKind::counted && !regions.fixed &&
          regions.length >= tuning::prepack_operands::fewest_packed_iterations) {
        const ProgramPtr body = rewritten_body(regions.programs[0]);
        Matrices matrices = wanted_.of(body);
        std::erase_if(matrices, [&](const Matrix& m) {
          return regions.operands[m.operand].flow != PortKind::whole;
        });
        if (!matrices.empty()) {
          const auto first = [](const Matrix&) { return true; };
          regions.programs = {WithPanels(wanted_, body, matrices).run(first)};
          regions.operands.insert(regions.operands.begin(), matrices.size(), RegionPort{});
          return loop(eqn, in, regions, matrices);
        }
      }
    }
    return builder_.emit(*eqn.op, eqn.params, in, eqn.location);
  }

  Vars loop(const Equation& eqn, const Vars& in, const Regions& regions, const Matrices& matrices) {
    changed_ = true;
    Vars operands;
    for (std::size_t i = 0; i < matrices.size(); ++i)
      operands.push_back(laid_out(in[matrices[i].operand], matrices[i], eqn.location));
    operands.append(in.begin(), in.end());
    return builder_.emit(*eqn.op, eqn.op->with_regions(eqn.params, regions), operands,
                         eqn.location);
  }

  Var laid_out(Var v, const Matrix& matrix, const LocationPtr& location) {
    const Type& type = builder_.type(v);
    const std::int64_t width = kernels::matmul_panel_columns(type.dtype),
                       rows = type.shape[matrix.batch], columns = type.shape[matrix.batch + 1];
    const auto first = static_cast<std::int64_t>(matrix.batch);
    const bool by_rows = matrix.summed == first;
    Shape split = type.shape;
    split.resize(matrix.batch);
    Ints order = ops::iota_ints(matrix.batch);
    for (const std::int64_t n :
         by_rows ? Ints{rows, columns / width, width} : Ints{rows / width, width, columns})
      split.push_back(n);
    for (const std::int64_t d : by_rows ? Ints{1, 0, 2} : Ints{0, 2, 1}) order.push_back(first + d);
    const Var parts = builder_.emit1(core_ops().reshape, ops::reshape_params(split), {v}, location);
    return builder_.emit1(core_ops().transpose, {{"permutation", order}}, {parts}, location);
  }

  const Program& source_;
  Builder builder_;
  Wanted wanted_;
  bool changed_ = false;
};

}  // namespace

ProgramPtr prepack_operands(const ProgramPtr& program) {
  const bool loops =
      std::any_of(program->equations.begin(), program->equations.end(), [](const Equation& e) {
        return e.op->regions && e.op->regions(e.params).runs == ExecutionKind::counted;
      });
  const ProgramPtr made = loops ? Panels(*program).run() : ProgramPtr();
  return made ? made : program;
}

}  // namespace shardax
