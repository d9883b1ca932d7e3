// compile/loops/split_accumulators.cpp - accumulators of loops split into the pieces added to.
//
// The gradient of weights of which a step takes slices:
//   c = scan { c + (pad(a_t b_t) + pad(d_t e_t)) }
//   ->   p, q = scan { p + a_t b_t, q + d_t e_t };  c = concatenate(p, q)
// No step pads its term, and each sum is one of products
// (compile/loops/batch_accumulated_dots.cpp).
#include <algorithm>

#include "base/index.h"
#include "compile/loops/counted_loop_view.h"
#include "compile/passes.h"
#include "compile/simplify/constants.h"
#include "compile/simplify/pattern_driver.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"
#include "ops/permutations.h"

namespace shardax {
namespace {

struct Piece {
  Var value;    // in the body, without the dimensions of one element that a reshape adds
  Shape shape;  // as it is padded
  std::int64_t begin, end;
};

struct Pieces {
  std::size_t carry = 0;   // its position among the carries
  std::int64_t axis = 0;   // of the carry, along which they lie
  std::vector<Piece> all;  // in their order
};

class SplitSums : private CountedLoopView {
 public:
  using CountedLoopView::CountedLoopView;

  std::optional<Vars> run() {
    for (std::size_t n = 0; n < operands_.size(); ++n) {
      if (std::optional<Pieces> found = pieces_of(n)) sums_.push_back(std::move(*found));
    }
    if (sums_.empty()) return {};
    const Vars made = loop();
    Vars out(body_.outputs.size(), -1);
    std::size_t next = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Pieces* sum = sum_at(results_, i);
      if (!sum) {
        out[i] = made[next++];
        continue;
      }
      out[i] = together(*sum, made, next);
      next += sum->all.size();
    }
    return out;
  }

 private:
  const Equation* alone(Var v, const Op& op) const {
    const Equation* e = definition(v);
    return e && e->op == &op && uses_[index(v)] == 1 ? e : nullptr;
  }
  const Pieces* sum_at(const std::vector<std::size_t>& places, std::size_t i) const {
    const auto found = std::find_if(sums_.begin(), sums_.end(),
                                    [&](const Pieces& sum) { return places[sum.carry] == i; });
    return found == sums_.end() ? nullptr : &*found;
  }

  // Is carry `n` only added to, products that each lie among zeros, side by side?
  std::optional<Pieces> pieces_of(std::size_t n) const {
    const Var carry = body_.inputs[operands_[n]], sum = body_.outputs[results_[n]];
    const Equation* add = definition(sum);
    if (!add || !is_add(*add->op) || uses_[index(carry)] != 1 || uses_[index(sum)] != 1) return {};
    if (add->inputs[0] != carry && add->inputs[1] != carry) return {};
    Pieces found{n, -1, {}};
    Vars terms{add->inputs[add->inputs[0] == carry ? 1 : 0]};
    while (!terms.empty()) {
      const Var v = terms.back();
      terms.pop_back();
      const Equation* e = definition(v);
      if (e && is_add(*e->op) && uses_[index(v)] == 1) {
        for (const Var term : e->inputs) terms.push_back(term);
      } else if (!add_piece(v, found)) {
        return {};
      }
    }
    if (found.all.size() < 2 || found.all.size() > tuning::split_accumulators::most_pieces)
      return {};
    std::sort(found.all.begin(), found.all.end(),
              [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < found.all.size(); ++i) {
      if (found.all[i].begin < found.all[i - 1].end) return {};
    }
    return found;
  }

  bool add_piece(Var v, Pieces& to) const {
    const Equation* pad = alone(v, core_ops().pad);
    if (!pad || !is_zero(body_, pad->inputs[1], makers_)) return false;
    const Ints &low = pad->params.ints(param::low), &high = pad->params.ints(param::high);
    const Type& own = body_.type(pad->inputs[0]);
    std::int64_t axis = -1;
    for (std::size_t d = 0; d < low.size(); ++d) {
      if (low[d] < 0 || high[d] < 0 || pad->params.ints(param::interior)[d] != 0) return false;
      if (low[d] == 0 && high[d] == 0) continue;
      if (axis >= 0) return false;
      axis = static_cast<std::int64_t>(d);
    }
    if (axis < 0 || (to.axis >= 0 && axis != to.axis)) return false;
    to.axis = axis;
    const auto a = index(axis);
    Var value = pad->inputs[0];
    if (const Equation* reshape = alone(value, core_ops().reshape)) value = reshape->inputs[0];
    if (!is_product(value)) return false;
    to.all.push_back({value, own.shape, low[a], low[a] + own.shape[a]});
    return true;
  }
  bool is_product(Var v) const {
    while (const Equation* transpose = alone(v, core_ops().transpose)) v = transpose->inputs[0];
    return alone(v, core_ops().dot_general);
  }

  Var emit(const Op& op, const Params& params, const Vars& inputs) {
    return builder_.emit1(op, params, inputs, eqn_.location);
  }
  Var reshaped(Var v, const Shape& shape) {
    if (builder_.type(v).shape == shape) return v;
    return emit(core_ops().reshape, ops::reshape_params(shape), {v});
  }
  // The slice [begin, end) of `v` along `axis`.
  Var part(Var v, std::int64_t axis, std::int64_t begin, std::int64_t end) {
    Shape shape = builder_.type(v).shape;
    const auto a = index(axis);
    if (const Equation* all = builder_.defined_by(v, core_ops().broadcast_in_dim);
        all && builder_.type(all->inputs[0]).rank() == 0) {
      shape[a] = end - begin;
      return emit(core_ops().broadcast_in_dim, {{"shape", shape}, {"broadcast_dimensions", Ints()}},
                  {all->inputs[0]});
    }
    Ints start(shape.size(), 0), limit(shape.begin(), shape.end());
    start[a] = begin;
    limit[a] = end;
    return emit(
        core_ops().slice,
        {{"start_indices", start}, {"limit_indices", limit}, {"strides", Ints(shape.size(), 1)}},
        {v});
  }
  // Before the first step, of that shape.
  Var initial(Var v, std::int64_t axis, const Piece& piece) {
    const Var own = part(v, axis, piece.begin, piece.end);
    const Shape& shape = body_.type(piece.value).shape;
    if (const Equation* all = builder_.defined_by(own, core_ops().broadcast_in_dim);
        all && builder_.type(all->inputs[0]).rank() == 0)
      return emit(core_ops().broadcast_in_dim, {{"shape", shape}, {"broadcast_dimensions", Ints()}},
                  {all->inputs[0]});
    return reshaped(own, shape);
  }

  // The loop, with a carry for each piece.
  Vars loop() {
    const MutableProgram made = copy_of(body_);
    Regions regions = regions_;
    regions.operands.clear();
    regions.results.clear();
    made->inputs.clear();
    made->outputs.clear();
    Vars operands;
    std::vector<Vars> carried(sums_.size());  // of each sum, its inputs of the body
    for (std::size_t i = 0; i < body_.inputs.size(); ++i) {
      const Pieces* sum = sum_at(operands_, i);
      if (!sum) {
        made->inputs.push_back(body_.inputs[i]);
        regions.operands.push_back(regions_.operands[i]);
        operands.push_back(in_[i]);
        continue;
      }
      for (const Piece& piece : sum->all) {
        const Type& type = body_.type(piece.value);
        carried[index(sum - sums_.data())].push_back(made->add(type));
        made->inputs.push_back(static_cast<Var>(made->types.size()) - 1);
        regions.operands.push_back(regions_.operands[i]);
        operands.push_back(initial(in_[i], sum->axis, piece));
      }
    }
    for (std::size_t i = 0; i < body_.outputs.size(); ++i) {
      const Pieces* sum = sum_at(results_, i);
      if (!sum) {
        made->outputs.push_back(body_.outputs[i]);
        regions.results.push_back(regions_.results[i]);
        continue;
      }
      const Vars& carries = carried[index(sum - sums_.data())];
      for (std::size_t k = 0; k < carries.size(); ++k) {
        const Var total = made->add(body_.type(sum->all[k].value));
        made->equations.push_back(
            {&core_ops().add, {}, {carries[k], sum->all[k].value}, {total}, eqn_.location});
        made->outputs.push_back(total);
        regions.results.push_back(regions_.results[i]);
      }
    }
    std::erase_if(made->equations, [&](const Equation& e) {
      return std::any_of(sums_.begin(), sums_.end(), [&](const Pieces& sum) {
        return e.outputs[0] == body_.outputs[results_[sum.carry]];
      });
    });
    regions.programs = {ProgramPtr(eliminate_dead_code(made))};
    return builder_.emit(*eqn_.op, eqn_.op->with_regions(eqn_.params, regions), operands,
                         eqn_.location);
  }

  // The whole sum: its pieces, which are the loop's results from `first` on, and between them the
  // parts that no step adds to.
  Var together(const Pieces& sum, const Vars& made, std::size_t first) {
    const Var start = in_[operands_[sum.carry]];
    const std::int64_t extent = builder_.type(start).shape[index(sum.axis)];
    Vars parts;
    std::int64_t at = 0;
    const auto fill = [&](std::int64_t to) {
      if (at < to) parts.push_back(part(start, sum.axis, at, to));
    };
    for (std::size_t k = 0; k < sum.all.size(); ++k) {
      fill(sum.all[k].begin);
      parts.push_back(reshaped(made[first + k], sum.all[k].shape));
      at = sum.all[k].end;
    }
    fill(extent);
    return emit(core_ops().concatenate, {{"dimension", sum.axis}}, parts);
  }

  std::vector<Pieces> sums_;
};

}  // namespace

std::optional<Vars> split_accumulators(PatternDriver& driver, const Equation& eqn, const Vars& in) {
  const Regions regions = eqn.op->regions(eqn.params);
  if (regions.runs != ExecutionKind::counted || regions.devices || regions.fixed) return {};
  return SplitSums(driver.builder(), eqn, in).run();
}

}  // namespace shardax
