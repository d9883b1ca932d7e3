// compile/simplify/simplify_concat.cpp - arrays put together of parts are put together once.
#include "compile/simplify/simplify_concat.h"

#include <algorithm>
#include <vector>

#include "base/index.h"
#include "base/lists.h"
#include "compile/lower/elide_concat.h"
#include "compile/simplify/constants.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"

namespace shardax {

namespace {

// An operand padded with zeros along one dimension.
struct Padded {
  Var source = -1;
  Var zero = -1;
  std::int64_t dim = -1, low = 0, high = 0;
};

std::optional<Padded> padded(const PatternContext& m, Var v) {
  const Equation* pad = m.b.defined_by(v, core_ops().pad);
  if (!pad || repeated_number(m.b, pad->inputs[1]) != 0) return {};
  const Ints &low = pad->params.ints(param::low), &high = pad->params.ints(param::high);
  Padded out{pad->inputs[0], pad->inputs[1], -1, 0, 0};
  for (std::size_t d = 0; d < low.size(); ++d) {
    if (pad->params.ints(param::interior)[d] != 0 || low[d] < 0 || high[d] < 0) return {};
    if (low[d] == 0 && high[d] == 0) continue;
    if (out.dim >= 0) return {};
    out.dim = static_cast<std::int64_t>(d);
    out.low = low[d];
    out.high = high[d];
  }
  return out.dim < 0 ? std::optional<Padded>() : out;
}

// Adds the terms of a sum, if they are padded operands.
bool add_padded(const PatternContext& m, Var v, std::vector<Padded>& terms) {
  if (const auto term = padded(m, v)) {
    terms.push_back(*term);
    return terms.size() <= tuning::simplify_concat::most_padded;
  }
  const Equation* sum = m.b.defined_by(v, core_ops().add_any);
  return sum && add_padded(m, sum->inputs[0], terms) && add_padded(m, sum->inputs[1], terms);
}

}  // namespace

Var slice_of(const PatternContext& m, Var v, const Ints& start, const Ints& limit) {
  return m.emit(
      core_ops().slice,
      {{"start_indices", start}, {"limit_indices", limit}, {"strides", Ints(start.size(), 1)}},
      {v});
}

Var part_along(const PatternContext& m, Var v, std::int64_t dim, std::int64_t begin,
               std::int64_t end) {
  Shape shape = m.b.type(v).shape;
  if (shape.empty()) return v;
  if (const Equation* broadcast = m.b.defined_by(v, core_ops().broadcast_in_dim);
      broadcast && !has(broadcast->params.ints(param::broadcast_dimensions), dim)) {
    shape[index(dim)] = end - begin;
    return m.emit(core_ops().broadcast_in_dim, broadcast->params.with("shape", shape),
                  {broadcast->inputs[0]});
  }
  Ints start(shape.size(), 0), limit(shape.begin(), shape.end());
  start[index(dim)] = begin;
  limit[index(dim)] = end;
  return slice_of(m, v, start, limit);
}

std::optional<Vars> join_pads(const PatternContext& m) {
  std::vector<Padded> terms;
  for (const Var v : m.in) {
    if (!add_padded(m, v, terms)) return {};
  }
  std::sort(terms.begin(), terms.end(),
            [](const Padded& a, const Padded& b) { return a.low < b.low; });
  const Padded &first = terms.front(), &last = terms.back();
  const auto d = index(first.dim);
  Vars sources;
  std::int64_t end = first.low;
  for (const Padded& term : terms) {
    if (term.dim != first.dim || term.low != end) return {};
    end += m.b.type(term.source).shape[d];
    sources.push_back(term.source);
  }
  const Var joined = m.emit(core_ops().concatenate, {{"dimension", first.dim}}, sources);
  if (first.low == 0 && last.high == 0) return Vars{joined};
  const Ints none(m.b.type(joined).shape.size(), 0);
  Ints low = none, high = none;
  low[d] = first.low;
  high[d] = last.high;
  return Vars{m.emit(core_ops().pad, {{"low", low}, {"high", high}, {"interior", none}},
                     {joined, first.zero})};
}

std::optional<Vars> join_concatenations(const PatternContext& m) {
  Vars parts;
  for (Var v : m.in) {
    const Equation* inner = m.b.defined_by(v, core_ops().concatenate);
    if (inner && inner->params.integer(param::dimension) == m.params.integer(param::dimension)) {
      parts.append(inner->inputs.begin(), inner->inputs.end());
    } else {
      parts.push_back(v);
    }
  }
  if (parts.size() == m.in.size()) return {};
  return Vars{m.emit(core_ops().concatenate, m.params, parts)};
}

std::optional<Vars> push_into_concat(const PatternContext& m) {
  if (!m.uses_known || !m.op.effect.empty()) return {};
  std::optional<std::size_t> joined;
  for (std::size_t i = 0; i < m.in.size(); ++i) {
    const Equation* made = m.b.definition(m.in[i]);
    const bool together = made && made->op == &core_ops().concatenate;
    if (made && made->op->kind == Kind::elementwise) return {};
    if (together && (joined || m.b.uses(m.in[i]) > 1)) return {};
    if (together) joined = i;
  }
  if (!joined || m.b.type(m.in[*joined]).bytes() < tuning::simplify_concat::least_worked_bytes)
    return {};
  const Equation whole = *m.b.definition(m.in[*joined]);
  const Shape& shape = m.b.type(m.in[*joined]).shape;
  const auto is_short = [&](Var piece) { return !has_long_rows(m.b.type(piece).shape, shape); };
  if (whole.inputs.size() > tuning::simplify_concat::most_joined ||
      std::any_of(whole.inputs.begin(), whole.inputs.end(), is_short))
    return {};
  const std::int64_t d = whole.params.integer(param::dimension);
  Vars pieces;
  std::int64_t begin = 0;
  for (const Var piece : whole.inputs) {
    const std::int64_t size = m.b.type(piece).shape[index(d)];
    Vars operands;
    for (std::size_t i = 0; i < m.in.size(); ++i)
      operands.push_back(i == *joined ? piece : part_along(m, m.in[i], d, begin, begin + size));
    pieces.push_back(m.emit(m.op, m.params, operands));
    begin += size;
  }
  return Vars{m.emit(core_ops().concatenate, whole.params, pieces)};
}

}  // namespace shardax
