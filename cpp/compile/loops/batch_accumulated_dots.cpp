// compile/loops/batch_accumulated_dots.cpp - accumulated products become one product after the
// loop.
//
// The gradient of weights that every step of a loop uses is a sum over steps:
//   c = scan { c + transpose(a_t b_t) }   ->   A, B = scan { a_t, b_t };  c + transpose(A B)
// Here A B contracts the steps as well. A loop that adds up writes c and the product once for each
// step. The rewrite therefore needs a_t and b_t together smaller than c, and all of them within a
// bound of memory. Sums of 16-bit numbers are float32 then, and are rounded once.
#include "base/index.h"
#include "compile/loops/counted_loop_view.h"
#include "compile/passes.h"
#include "compile/simplify/constants.h"
#include "compile/simplify/pattern_driver.h"
#include "compile/simplify/simplify_concat.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

Ints after_steps(const Ints& dims) {
  Ints out = dims;
  for (std::int64_t& d : out) ++d;
  return out;
}

// A factor as the loop has it, transposed by `permutations` one after the other.
struct Factor {
  Var base = -1;
  std::vector<Ints> permutations;
  bool is_stacked = false;  // there is a stack of it already
  std::int64_t bytes = 0;   // of one that is to be made, for one step
};

struct Sum {
  std::size_t carry;  // its position among the carries
  const Equation* product;
  Factor left, right;
  std::vector<Ints> permutations;  // of the product
};

class LoopSums : private CountedLoopView {
 public:
  using CountedLoopView::CountedLoopView;

  std::optional<Vars> run() {
    for (std::size_t n = 0; n < operands_.size(); ++n) find(n);
    if (sums_.empty()) return {};
    const Vars made = loop();
    Vars out(body_.outputs.size(), -1);
    std::size_t next = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!is_sum_result(i)) out[i] = made[next++];
    }
    for (const auto& [base, position] : added_) stacks_[base] = made[next + position];
    for (const Sum& sum : sums_) {
      const Var total = product(sum, out);
      out[results_[sum.carry]] = added(in_[operands_[sum.carry]], total);
    }
    return out;
  }

 private:
  // The value that `v` transposes, and the permutations; with `alone`, only through transposes
  // without another use.
  Var without_transposes(Var v, std::vector<Ints>& permutations, bool alone) const {
    for (const Equation* e = definition(v);
         e && e->op == &core_ops().transpose && (!alone || uses_[index(v)] == 1);
         e = definition(v)) {
      permutations.push_back(e->params.ints(param::permutation));
      v = e->inputs[0];
    }
    return v;
  }

  // Is carry `n` only added to, a product whose factors are small?
  void find(std::size_t n) {
    const Var carry = body_.inputs[operands_[n]], sum = body_.outputs[results_[n]];
    const Equation* add = definition(sum);
    if (!add || !is_add(*add->op) || uses_[index(carry)] != 1 || uses_[index(sum)] != 1) return;
    if (add->inputs[0] != carry && add->inputs[1] != carry) return;
    Var term = add->inputs[add->inputs[0] == carry ? 1 : 0];
    Sum found{n, nullptr, {}, {}, {}};
    term = without_transposes(term, found.permutations, true);
    found.product = definition(term);
    const Type& type = body_.type(sum);
    if (!found.product || found.product->op != &core_ops().dot_general || uses_[index(term)] != 1 ||
        !is_inexact(type.dtype) || is_narrow(type.dtype) || body_.type(term).dtype != type.dtype)
      return;
    found.left = factor(found.product->inputs[0]);
    found.right = factor(found.product->inputs[1]);
    const std::int64_t bytes = found.left.bytes + found.right.bytes;
    if (found.left.base < 0 || found.right.base < 0 || bytes > type.bytes() ||
        stacked_bytes_ + bytes * regions_.length >
            tuning::batch_accumulated_dots::most_stacked_bytes)
      return;
    stacked_bytes_ += bytes * regions_.length;
    sums_.push_back(std::move(found));
  }

  // base -1: it is the same in every step, or carried from before.
  Factor factor(Var v) {
    Factor out;
    v = without_transposes(v, out.permutations, false);
    const auto input = std::find(body_.inputs.begin(), body_.inputs.end(), v);
    if (input != body_.inputs.end()) {
      const auto i = index(input - body_.inputs.begin());
      if (regions_.operands[i].flow == PortKind::whole) return out;
      if (regions_.operands[i].flow == PortKind::sliced && regions_.operands[i].axis == 0)
        stacks_[v] = in_[i];
    } else if (!definition(v)) {
      return out;
    }
    out.base = v;
    out.is_stacked = stacks_.contains(v) || stacked_result(v);
    if (!out.is_stacked) out.bytes = body_.type(v).bytes();
    return out;
  }
  // The result that stacks `v`, if there is one.
  std::optional<std::size_t> stacked_result(Var v) const {
    for (std::size_t i = 0; i < body_.outputs.size(); ++i) {
      if (body_.outputs[i] == v && regions_.results[i].flow == PortKind::sliced &&
          regions_.results[i].axis == 0)
        return i;
    }
    return {};
  }

  bool is_sum_result(std::size_t i) const {
    return std::any_of(sums_.begin(), sums_.end(),
                       [&](const Sum& sum) { return results_[sum.carry] == i; });
  }
  bool is_sum_operand(std::size_t i) const {
    return std::any_of(sums_.begin(), sums_.end(),
                       [&](const Sum& sum) { return operands_[sum.carry] == i; });
  }

  // The loop without the sums, which stacks their factors.
  Vars loop() {
    const MutableProgram made = copy_of(body_);
    Regions regions = regions_;
    regions.operands.clear();
    regions.results.clear();
    made->inputs.clear();
    made->outputs.clear();
    Vars operands;
    for (std::size_t i = 0; i < body_.inputs.size(); ++i) {
      if (is_sum_operand(i)) continue;
      made->inputs.push_back(body_.inputs[i]);
      regions.operands.push_back(regions_.operands[i]);
      operands.push_back(in_[i]);
    }
    std::vector<bool> dropped(body_.types.size(), false);
    for (std::size_t i = 0; i < body_.outputs.size(); ++i) {
      if (is_sum_result(i)) {
        dropped[index(body_.outputs[i])] = true;
        continue;
      }
      made->outputs.push_back(body_.outputs[i]);
      regions.results.push_back(regions_.results[i]);
    }
    std::erase_if(made->equations, [&](const Equation& e) { return dropped[index(e.outputs[0])]; });
    for (const Sum& sum : sums_) {
      for (const Factor* f : {&sum.left, &sum.right}) {
        if (f->is_stacked || added_.contains(f->base)) continue;
        added_.emplace(f->base, added_.size());
        made->outputs.push_back(f->base);
        regions.results.push_back({PortKind::sliced, 0, -1, -1});
      }
    }
    regions.programs = {ProgramPtr(eliminate_dead_code(made))};
    return builder_.emit(*eqn_.op, eqn_.op->with_regions(eqn_.params, regions), operands,
                         eqn_.location);
  }

  // Gradients start from zeros.
  Var added(Var start, Var total) {
    if (is_scalar_constant(builder_, start, 0)) return total;
    return builder_.emit1(core_ops().add, {}, {start, total}, eqn_.location);
  }

  Var transposed(Var v, const Ints& permutation) {
    return builder_.emit1(core_ops().transpose, {{"permutation", permutation}}, {v}, eqn_.location);
  }
  // All steps of a factor.
  Var stack(const Factor& factor, const Vars& results) {
    const auto known_stack = stacks_.find(factor.base);
    Var v =
        known_stack != stacks_.end() ? known_stack->second : results[*stacked_result(factor.base)];
    for (auto p = factor.permutations.rbegin(); p != factor.permutations.rend(); ++p) {
      Ints permutation = after_steps(*p);
      permutation.insert(0, 0);
      v = transposed(v, permutation);
    }
    return v;
  }
  Var product(const Sum& sum, const Vars& results) {
    Params params = sum.product->params;
    for (const ParamName name : ParamNames{"lhs_contract", "rhs_contract"}) {
      Ints dims = after_steps(params.get<Ints>(name));
      dims.insert(0, 0);
      params.set(name, dims);
    }
    for (const ParamName name : ParamNames{"lhs_batch", "rhs_batch"})
      params.set(name, after_steps(params.get<Ints>(name)));
    Var v = builder_.emit1(core_ops().dot_general, params,
                           {stack(sum.left, results), stack(sum.right, results)}, eqn_.location);
    for (auto p = sum.permutations.rbegin(); p != sum.permutations.rend(); ++p)
      v = transposed(v, *p);
    return v;
  }

  std::vector<Sum> sums_;
  std::int64_t stacked_bytes_ = 0;              // by all sums
  std::unordered_map<Var, Var> stacks_;         // of variables of the body
  std::unordered_map<Var, std::size_t> added_;  // results that the loop gets, in order
};

}  // namespace

std::optional<Vars> batch_accumulated_dots(PatternDriver& driver, const Equation& eqn,
                                           const Vars& in) {
  const Regions regions = eqn.op->regions(eqn.params);
  if (regions.runs != ExecutionKind::counted || regions.devices || regions.fixed ||
      regions.length < 2)
    return {};
  return LoopSums(driver.builder(), eqn, in).run();
}

}  // namespace shardax
