// compile/panels.cpp - matrices that a loop multiplies by are laid out once as products read them.
//
// A large product copies its right operand into panels of columns (kernels/matmul_pack.h). Where
// the operand is the same in every turn of a loop, it is brought into that form before the loop:
//   scan { dot(h, w) }   ->   p = panels(w); scan { reshape(dot(h, p)) }
// where panels(w) are ordinary dimensions, (panel, row, column of the panel), and row major, so
// that the program stays one that any product computes.
#include <algorithm>

#include "compile/builder.h"
#include "compile/passes.h"
#include "compile/pipeline.h"
#include "ir/bodies.h"
#include "kernels/matmul.h"
#include "ops/ops.h"
#include "ops/orders.h"

namespace shardax {
namespace {

// Smaller ones are read as they lie; products of fewer rows too.
constexpr std::int64_t least_panel = 32 << 10, least_rows = 13;
// Turns for which it is worth a copy more.
constexpr std::int64_t least_turns = 4;

// A matrix among the operands that stay the same, or a stack of them, and which of its dimensions a
// product sums over.
struct Matrix {
  std::size_t operand, batch;  // how many dimensions are before those of a matrix
  std::int64_t summed;
  friend bool operator==(const Matrix&, const Matrix&) = default;
};

class PanelBody {
 public:
  // `body` is simplified, and belongs to a loop.
  PanelBody(const Bodies& bodies, const Program& body)
      : bodies_(bodies), body_(body), makers_(makers(body)) {}

  // The matrices that are wanted as panels, and the loop that takes them, in front of its operands.
  std::vector<Matrix> run(Bodies& out) {
    const auto multiplies = [&](const Equation& eqn) { return matrix_of(eqn).has_value(); };
    if (std::ranges::none_of(body_.equations, multiplies)) return {};
    const MutableProgram made = copy_of(body_);
    made->equations.clear();
    for (const Equation& eqn : body_.equations) {
      const std::optional<Matrix> matrix = matrix_of(eqn);
      if (matrix) {
        product(*made, eqn, panels(*made, *matrix));
      } else {
        made->equations.push_back(eqn);
      }
    }
    made->inputs.insert(made->inputs.begin(), inputs_.begin(), inputs_.end());
    out.operands.insert(out.operands.begin(), matrices_.size(), Port{});
    out.programs = {ProgramPtr(made)};
    return matrices_;
  }

 private:
  std::optional<Matrix> matrix_of(const Equation& eqn) const {
    if (eqn.op != &known().dot_general) return {};
    const std::size_t batch = eqn.params.ints("rhs_batch").size();
    const Ints leading = ops::iota_ints(batch);
    if (eqn.params.ints("rhs_batch") != leading || eqn.params.ints("lhs_batch") != leading)
      return {};
    const Type &left = body_.type(eqn.inputs[0]), &out = body_.type(eqn.outputs[0]);
    Var v = eqn.inputs[1];
    const Type& type = body_.type(v);
    const Ints& contract = eqn.params.ints("rhs_contract");
    const std::int64_t width = kernels::matmul_panel_columns(type.dtype);
    if (type.rank() != batch + 2 || contract.size() != 1 || width == 0 ||
        left.dtype != type.dtype || out.dtype != type.dtype)
      return {};
    std::int64_t count = 1;
    for (std::size_t d = 0; d < batch; ++d) count *= type.shape[d];
    const auto rows_at = static_cast<std::int64_t>(batch);
    const std::int64_t columns =
        type.shape[static_cast<std::size_t>(2 * rows_at + 1 - contract[0])];
    if (type.bytes() <= least_panel * count || columns % width != 0 ||
        out.size() < least_rows * columns * count)
      return {};
    std::int64_t summed = contract[0];
    for (int e = makers_[static_cast<std::size_t>(v)]; e >= 0;
         e = makers_[static_cast<std::size_t>(v)]) {
      const Equation& turned = body_.equations[static_cast<std::size_t>(e)];
      if (turned.op != &known().transpose) return {};
      const Ints& permutation = turned.params.ints("permutation");
      if (!std::equal(leading.begin(), leading.end(), permutation.begin())) return {};
      summed = permutation[static_cast<std::size_t>(summed)];
      v = turned.inputs[0];
    }
    const auto input = std::find(body_.inputs.begin(), body_.inputs.end(), v);
    if (input == body_.inputs.end()) return {};
    const auto i = static_cast<std::size_t>(input - body_.inputs.begin());
    if (bodies_.operands[i].flow != Flow::whole) return {};
    return Matrix{i, batch, summed};
  }

  // The input of the new body.
  Var panels(Program& made, const Matrix& matrix) {
    const auto found = std::find(matrices_.begin(), matrices_.end(), matrix);
    if (found != matrices_.end())
      return inputs_[static_cast<std::size_t>(found - matrices_.begin())];
    Type type = body_.type(body_.inputs[matrix.operand]);
    const std::int64_t width = kernels::matmul_panel_columns(type.dtype);
    const auto summed = static_cast<std::size_t>(matrix.summed);
    const std::int64_t rows = type.shape[summed],
                       columns = type.shape[2 * matrix.batch + 1 - summed];
    type.shape.resize(matrix.batch);
    for (const std::int64_t n : {columns / width, rows, width}) type.shape.push_back(n);
    matrices_.push_back(matrix);
    inputs_.push_back(made.add(type));
    return inputs_.back();
  }

  void product(Program& made, const Equation& eqn, Var panels) {
    Type type = body_.type(eqn.outputs[0]);
    const Params shape = ops::reshape_params(type.shape);
    type.shape.resize(type.rank() - 1);
    const std::size_t batch = eqn.params.ints("rhs_batch").size();
    type.shape.push_back(made.type(panels).shape[batch]);
    type.shape.push_back(made.type(panels).shape[batch + 2]);
    Equation dot = eqn;
    dot.params.set("rhs_contract", Ints{static_cast<std::int64_t>(batch + 1)});
    dot.inputs[1] = panels;
    dot.outputs[0] = made.add(type);
    made.equations.push_back(dot);
    made.equations.push_back(
        {&known().reshape, shape, {dot.outputs[0]}, eqn.outputs, eqn.location, eqn.names});
  }

  const Bodies& bodies_;
  const Program& body_;
  const std::vector<int> makers_;
  std::vector<Matrix> matrices_;
  std::vector<Var> inputs_;
};

class Panels {
 public:
  explicit Panels(const Program& source) : source_(source), builder_(source) {}

  ProgramPtr run() {
    const auto each = [&](const Equation& eqn, const Vars& in) { return step(eqn, in); };
    const MutableProgram made = emit_again(source_, builder_, each);
    return changed_ ? eliminate_dead(made) : ProgramPtr();
  }

 private:
  Vars step(const Equation& eqn, const Vars& in) {
    if (eqn.op->bodies) {
      Bodies bodies = bodies_of(*eqn.op, eqn.params);
      if (bodies.runs == Runs::counted && !bodies.fixed && bodies.length >= least_turns) {
        const ProgramPtr body = rewritten_body(bodies.programs[0]);
        Bodies made = bodies;
        const std::vector<Matrix> matrices = PanelBody(bodies, *body).run(made);
        if (!matrices.empty()) return loop(eqn, in, made, matrices);
      }
    }
    return builder_.emit(*eqn.op, eqn.params, in, eqn.location);
  }

  Vars loop(const Equation& eqn, const Vars& in, const Bodies& bodies,
            const std::vector<Matrix>& matrices) {
    changed_ = true;
    Vars operands;
    for (std::size_t i = 0; i < matrices.size(); ++i)
      operands.push_back(laid_out(in[matrices[i].operand], matrices[i], eqn.location));
    operands.append(in.begin(), in.end());
    return builder_.emit(*eqn.op, eqn.op->with_bodies(eqn.params, bodies), operands, eqn.location);
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
    const Var parts = builder_.emit1(known().reshape, ops::reshape_params(split), {v}, location);
    return builder_.emit1(known().transpose, {{"permutation", order}}, {parts}, location);
  }

  const Program& source_;
  Builder builder_;
  bool changed_ = false;
};

}  // namespace

ProgramPtr lay_out_panels(const ProgramPtr& program) {
  const bool loops =
      std::any_of(program->equations.begin(), program->equations.end(), [](const Equation& e) {
        return e.op->bodies && e.op->bodies(e.params).runs == Runs::counted;
      });
  const ProgramPtr made = loops ? Panels(*program).run() : ProgramPtr();
  return made ? made : program;
}

}  // namespace shardax
