// compile/lower/elide_concat.cpp - operands to elide, and their windows on the result.
#include "compile/lower/elide_concat.h"

#include <algorithm>

#include "base/index.h"
#include "base/lists.h"
#include "compile/tuning.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

bool puts_together(const Equation& eqn) {
  if (eqn.op == &core_ops().concatenate) return true;
  if (eqn.op != &core_ops().pad) return false;
  const auto negative = [](std::int64_t n) { return n < 0; };
  const Ints &low = eqn.params.ints(param::low), &high = eqn.params.ints(param::high);
  return std::none_of(low.begin(), low.end(), negative) &&
         std::none_of(high.begin(), high.end(), negative) &&
         eqn.params.ints(param::interior) == Ints(low.size(), 0);
}

// [begin, begin + size) of the window along a dimension.
Window cut(Window w, std::size_t d, std::int64_t begin, std::int64_t size) {
  w.offset += begin * w.strides[d];
  w.type.shape[d] = size;
  return w;
}

}  // namespace

bool has_long_rows(const Shape& part, const Shape& whole) {
  std::int64_t run = 1;
  for (std::size_t d = part.size(); d-- > 0;) {
    run *= part[d];
    if (part[d] != whole[d]) break;
  }
  return run >= tuning::elide_concat::least_run;
}

std::unordered_map<Var, int> elided_concats(const Program& program,
                                            const std::vector<FusionGroup>& units,
                                            const std::vector<int>& uses) {
  const std::vector<int> made_by = makers(program);
  std::vector<const FusionGroup*> loops(program.equations.size(), nullptr);
  for (const FusionGroup& unit : units) {
    if (!unit.loop) continue;
    for (const int e : unit.equations) loops[index(e)] = &unit;
  }
  std::unordered_map<Var, int> out;
  for (const FusionGroup& unit : units) {
    if (unit.loop || unit.rows) continue;
    const int e = unit.equations[0];
    const Equation& eqn = program.equations[index(e)];
    if (!puts_together(eqn)) continue;
    const Type& whole = program.type(eqn.outputs[0]);
    const std::size_t parts = eqn.op == &core_ops().pad ? 1 : eqn.inputs.size();
    for (std::size_t i = 0; i < parts; ++i) {
      const Var v = eqn.inputs[i];
      const int maker = made_by[index(v)];
      if (uses[index(v)] != 1 || maker < 0 || !loops[index(maker)]) continue;
      const Type& type = program.type(v);
      if (program.equations[index(maker)].op->kind == Kind::elementwise &&
          type.shape == loops[index(maker)]->shape && type.dtype == whole.dtype &&
          has_long_rows(type.shape, whole.shape))
        out.emplace(v, e);
    }
  }
  return out;
}

std::vector<Window> part_windows(const Program& program, const Equation& eqn, const Window& whole) {
  if (eqn.op == &core_ops().pad) {
    Window w = whole;
    const Shape& shape = program.type(eqn.inputs[0]).shape;
    for (std::size_t d = 0; d < shape.size(); ++d)
      w = cut(w, d, eqn.params.ints(param::low)[d], shape[d]);
    return {w};
  }
  const std::size_t d = index(eqn.params.integer(param::dimension));
  std::vector<Window> out;
  std::int64_t begin = 0;
  for (const Var v : eqn.inputs) {
    const std::int64_t size = program.type(v).shape[d];
    out.push_back(cut(whole, d, begin, size));
    begin += size;
  }
  return out;
}

std::vector<Window> filled_windows(const Equation& eqn, const Window& whole) {
  const Ints &low = eqn.params.ints(param::low), &high = eqn.params.ints(param::high);
  std::vector<Window> out;
  Window left = whole;  // the rest that earlier dimensions do not fill
  for (std::size_t d = 0; d < low.size(); ++d) {
    const std::int64_t size = whole.type.shape[d];
    if (low[d] > 0) out.push_back(cut(left, d, 0, low[d]));
    if (high[d] > 0) out.push_back(cut(left, d, size - high[d], high[d]));
    left = cut(left, d, low[d], size - low[d] - high[d]);
  }
  return out;
}

}  // namespace shardax
