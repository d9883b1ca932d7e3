// ir/dim_factors.cpp - look-ups among the factors of an op.
#include "ir/dim_factors.h"

#include <algorithm>

namespace shardax {

std::int32_t dim_of(const ArrayFactors& array, std::int32_t factor) {
  for (std::size_t d = 0; d < array.size(); ++d) {
    if (array[d].size() == 1 && array[d][0] == factor) return static_cast<std::int32_t>(d);
  }
  return no_dim;
}

std::int32_t dim_led_by(const ArrayFactors& array, std::int32_t factor) {
  for (std::size_t d = 0; d < array.size(); ++d) {
    if (!array[d].empty() && array[d][0] == factor) return static_cast<std::int32_t>(d);
  }
  return no_dim;
}

std::int32_t DimFactors::add(FactorUse use, std::int64_t size) {
  factors.push_back({use, size, {}});
  return static_cast<std::int32_t>(factors.size()) - 1;
}

ArrayFactors DimFactors::add_each(const Shape& shape, FactorUse use) {
  ArrayFactors array;
  for (const std::int64_t n : shape) array.push_back({add(use, n)});
  return array;
}

void DimFactors::add_rest(ArrayFactors& array, const Shape& shape, FactorUse use) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (array[d].empty()) array[d] = {add(use, shape[d])};
  }
}

std::int64_t DimFactors::reduced_size() const {
  std::int64_t size = 1;
  for (const Factor& factor : factors) size *= factor.use == FactorUse::reduced ? factor.size : 1;
  return size;
}

Ints DimFactors::reduced_dims(std::size_t operand) const {
  Ints dims;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const std::int32_t d = dim_of(operands[operand], static_cast<std::int32_t>(f));
    if (factors[f].use == FactorUse::reduced && d != no_dim) dims.push_back(d);
  }
  return dims;
}

Ints DimFactors::repeated_dims(std::size_t operand) const {
  Ints dims;
  for (std::size_t d = 0; d < result.size(); ++d) {
    const auto is_own = [&](const FactorList& own) {
      return std::ranges::find_first_of(own, result[d]) != own.end();
    };
    if (std::ranges::none_of(operands[operand], is_own))
      dims.push_back(static_cast<std::int64_t>(d));
  }
  return dims;
}

Ints DimFactors::matching_dims(const ArrayFactors& part, const ArrayFactors& whole) {
  Ints dims;
  for (const FactorList& own : part)
    dims.push_back(own.size() == 1 ? dim_of(whole, own[0]) : no_dim);
  return dims;
}

std::optional<DimFactors> dim_factors(const Op& op, const Params& params, const Types& in,
                                      const Type& out) {
  if (!op.dims) return {};
  return op.dims(params, in, out);
}

std::optional<DimFactors> dim_factors(const Program& program, const Equation& eqn) {
  if (!eqn.op->dims || eqn.outputs.empty()) return {};
  Types in;
  for (const Var v : eqn.inputs) in.push_back(program.type(v));
  return eqn.op->dims(eqn.params, in, program.type(eqn.outputs[0]));
}

Params resized(const Op& op, const Params& params, const Shape& out) {
  return op.resize ? op.resize(params, out) : params;
}

}  // namespace shardax
