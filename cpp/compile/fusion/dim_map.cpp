// compile/fusion/dim_map.cpp - row dimensions of a group, followed by the factors of dimensions.
#include "compile/fusion/dim_map.h"

#include <algorithm>
#include <optional>

#include "base/index.h"
#include "ir/core_ops.h"

namespace shardax {
namespace {

// Ops whose kernels take any number of rows.
bool takes_any_rows(const Equation& eqn) {
  const CoreOps& ops = core_ops();
  const Op* moves[] = {&ops.broadcast_in_dim, &ops.transpose, &ops.reshape, &ops.squeeze,
                       &ops.dot_general};
  return eqn.op->kind == Kind::elementwise || eqn.op->kind == Kind::reduction ||
         std::ranges::find(moves, eqn.op) != std::end(moves);
}

// The one factor of row dimension k in every operand whose place is given. no_dim if operands
// disagree, or if it is not one factor.
std::int32_t factor_of_row(const DimFactors& dims, const std::vector<const TileDims*>& given,
                           std::size_t k) {
  std::int32_t factor = no_dim;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) continue;
    const FactorList& own = dims.operands[i][index((*given[i])[k])];
    if (own.size() != 1 || (factor != no_dim && own[0] != factor)) return no_dim;
    factor = own[0];
  }
  return factor;
}

// Is it a dimension of the result, or added up?
bool can_follow(const DimFactors& dims, std::int32_t factor) {
  if (factor == no_dim) return false;
  const FactorUse use = dims.at(factor).use;
  return use == FactorUse::reduced ||
         (use == FactorUse::parallel && dim_of(dims.result, factor) != no_dim);
}

// The dimensions that have more than one element.
TileDims long_dims(const Type& type, const Ints& dims) {
  TileDims out;
  for (std::int64_t d : dims) {
    if (type.shape[index(d)] != 1) out.push_back(static_cast<std::int32_t>(d));
  }
  return out;
}

}  // namespace

std::size_t DimMap::kept(std::size_t count) const {
  std::size_t k = 0;
  while (k < count && result[k] >= 0) ++k;
  return k;
}

bool DimMap::leading(const Shape& shape, std::size_t count) const {
  std::size_t d = 0;
  for (std::size_t k = 0; k < kept(count); ++k, ++d) {
    while (static_cast<std::int32_t>(d) != result[k]) {
      if (d >= shape.size() || shape[d] != 1) return false;
      ++d;
    }
  }
  return true;
}

DimMap follow_rows(const Program& program, const Equation& eqn,
                   const std::vector<const TileDims*>& given, std::size_t rows) {
  DimMap out;
  if (eqn.outputs.size() != 1) return out;
  const std::optional<DimFactors> dims =
      takes_any_rows(eqn) ? dim_factors(program, eqn) : std::nullopt;
  if (!dims) return out;
  out.operands.resize(eqn.inputs.size());
  for (std::size_t k = 0; k < rows; ++k) {
    const std::int32_t factor = factor_of_row(*dims, given, k);
    if (!can_follow(*dims, factor)) return out;
    const std::int32_t place = dim_of(dims->result, factor);
    if (k > 0 && out.result[k - 1] < 0 && place >= 0) return out;
    out.result.push_back(place);
    for (std::size_t i = 0; i < given.size(); ++i)
      out.operands[i].push_back(given[i] ? (*given[i])[k] : dim_of(dims->operands[i], factor));
    out.rows = k + 1;
  }
  return out;
}

TileStart start_of_rows(const Program& program, const Equation& eqn) {
  const auto start = [&](std::size_t operand, const Ints& dims) {
    return TileStart{static_cast<int>(operand), long_dims(program.type(eqn.inputs[operand]), dims)};
  };
  const auto first_dims = [](std::size_t count) {
    Ints out;
    for (std::size_t k = 0; k < count; ++k) out.push_back(static_cast<std::int64_t>(k));
    return out;
  };
  if (eqn.op->kind == Kind::elementwise) {
    const std::size_t rank = program.type(eqn.outputs[0]).rank();
    for (std::size_t i = 0; i < eqn.inputs.size(); ++i) {
      if (program.type(eqn.inputs[i]).rank() == rank) return start(i, first_dims(rank));
    }
  } else if (eqn.op->kind == Kind::reduction) {
    const Ints& axes = eqn.params.ints(param::axes);
    if (!axes.empty()) return start(0, first_dims(index(axes[0])));
  } else if (eqn.op == &core_ops().dot_general) {
    // The left operand's in the order of the result: batch dimensions first.
    const std::optional<DimFactors> dims = dim_factors(program, eqn);
    Ints own;
    for (const std::int64_t d : DimFactors::matching_dims(dims->result, dims->operands[0])) {
      if (d != no_dim) own.push_back(d);
    }
    return start(0, own);
  }
  return {};
}

}  // namespace shardax
