// compile/sums.cpp - what products, convolutions and scatters make of sums of them.
#include "compile/sums.h"

#include "base/lists.h"
#include "ops/convolution.h"
#include "ops/ops.h"

namespace shardax {
namespace {

std::int64_t at(const Ints& ints, std::int64_t i) { return ints[static_cast<std::size_t>(i)]; }

}  // namespace

std::optional<Vars> reduce_before_transpose(const Match& m) {
  const Equation* inner = m.b.defined_by(m.in[0], known().transpose);
  if (!inner) return {};
  const Ints permutation = inner->params.ints("permutation");
  const Var source = inner->inputs[0];
  Ints axes, kept;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(permutation.size()); ++d) {
    (has(m.params.ints("axes"), d) ? axes : kept).push_back(at(permutation, d));
  }
  std::sort(axes.begin(), axes.end());
  Ints sorted = kept;
  std::sort(sorted.begin(), sorted.end());
  Ints order;
  for (std::int64_t d : kept)
    order.push_back(std::find(sorted.begin(), sorted.end(), d) - sorted.begin());
  const Var sum = m.emit(known().reduce_sum, {{"axes", axes}}, {source});
  if (order == ops::iota_ints(order.size())) return Vars{sum};
  return Vars{m.emit(known().transpose, {{"permutation", order}}, {sum})};
}

std::optional<Vars> reduce_into_dot(const Match& m) {
  if (!m.uses_known || m.b.uses(m.in[0]) > 1) return {};
  const Equation* dot = m.b.defined_by(m.in[0], known().dot_general);
  if (!dot) return {};
  const Params p = dot->params;
  const Vars operands = dot->inputs;
  const Ints& axes = m.params.ints("axes");
  Ints lhs_batch, rhs_batch;
  Ints lhs_contract = p.ints("lhs_contract"), rhs_contract = p.ints("rhs_contract");
  std::size_t moved = 0;
  for (std::size_t i = 0; i < p.ints("lhs_batch").size(); ++i) {
    if (has(axes, static_cast<std::int64_t>(i))) {
      lhs_contract.insert(moved, p.ints("lhs_batch")[i]);
      rhs_contract.insert(moved, p.ints("rhs_batch")[i]);
      ++moved;
    } else {
      lhs_batch.push_back(p.ints("lhs_batch")[i]);
      rhs_batch.push_back(p.ints("rhs_batch")[i]);
    }
  }
  if (moved == 0) return {};
  const auto batch = static_cast<std::int64_t>(p.ints("lhs_batch").size());
  Ints rest;
  for (std::int64_t d : axes) {
    if (d >= batch) rest.push_back(d - static_cast<std::int64_t>(moved));
  }
  const Var product = m.emit(known().dot_general,
                             {{"lhs_contract", lhs_contract},
                              {"rhs_contract", rhs_contract},
                              {"lhs_batch", lhs_batch},
                              {"rhs_batch", rhs_batch},
                              {"preferred_element_type", m.b.type(m.in[0]).dtype}},
                             operands);
  return Vars{rest.empty() ? product : m.emit(known().reduce_sum, {{"axes", rest}}, {product})};
}

std::optional<Vars> reduce_into_conv(const Match& m) {
  if (!m.uses_known || m.b.uses(m.in[0]) > 1) return {};
  const Equation* conv = m.b.defined_by(m.in[0], known().conv_general_dilated);
  if (!conv || !conv->params.has("leading")) return {};
  const Params p = conv->params;
  const Vars operands = conv->inputs;
  Ints leading = p.ints("leading"), rest = m.params.ints("axes");
  constexpr auto both = static_cast<std::int64_t>(ops::Leading::both),
                 summed = static_cast<std::int64_t>(ops::Leading::summed);
  std::int64_t position = 0, removed = 0;
  for (std::int64_t& kind : leading) {
    if (kind == summed) continue;
    const auto axis = std::find(rest.begin(), rest.end(), position - removed);
    ++position;
    if (kind != both || axis == rest.end()) continue;
    kind = summed;
    ++removed;
    Ints left;
    for (auto it = rest.begin(); it != rest.end(); ++it) {
      if (it != axis) left.push_back(it > axis ? *it - 1 : *it);
    }
    rest = left;
  }
  if (removed == 0) return {};
  const Var sum = m.emit(known().conv_general_dilated, p.with("leading", leading), operands);
  return Vars{rest.empty() ? sum : m.emit(known().reduce_sum, {{"axes", rest}}, {sum})};
}

}  // namespace shardax
