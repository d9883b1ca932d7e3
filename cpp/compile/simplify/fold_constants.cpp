// compile/simplify/fold_constants.cpp - evaluation of equations of constants.
#include "compile/simplify/fold_constants.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/index.h"
#include "compile/tuning.h"
#include "ir/op.h"

namespace shardax {
namespace {

// Constants of one element fold. 16-bit floats do not, since they are computed as float32, which a
// kernel alone does not show.
bool folds(const Type& type) {
  return type.rank() == 0 && !is_half(type.dtype) && !is_key(type.dtype) &&
         itemsize(type.dtype) <= 8;
}

}  // namespace

std::optional<Vars> fold_constants(const PatternContext& m) {
  if (m.in.empty() || m.in.size() > tuning::fold_constants::most_operands || !m.op.map ||
      !m.op.effect.empty())
    return {};
  Types types;
  std::array<const void*, tuning::fold_constants::most_operands> operands{};
  for (std::size_t i = 0; i < m.in.size(); ++i) {
    const Array* value = m.b.constant_value(m.in[i]);
    if (!value || !folds(value->type())) return {};
    operands[i] = value->data();
    types.push_back(m.b.type(m.in[i]));
  }
  const Type result = infer_types(m.op, types, m.params)[0];
  if (!folds(result)) return {};
  const MapKernel kernel = m.op.map(types, result, m.params);
  if (!kernel.function) return {};
  std::uint64_t bits = 0;
  kernel.function(&bits, operands.data(), 1, kernel.extra);
  ArrayPtr folded = empty_array(result);
  std::memcpy(folded->data(), &bits, index(itemsize(result.dtype)));
  return Vars{m.b.constant(std::move(folded))};
}

}  // namespace shardax
