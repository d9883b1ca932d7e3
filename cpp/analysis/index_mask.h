// analysis/index_mask.h - masks that compare indices, such as causal ones.
//
//   r = iota[dimension=0]; c = iota[dimension=1]; m = ge r c
// Above the diagonal, at columns greater than the row, m is false. So is any conjunction with m.
// Numbers that a mask chooses, and comparisons of these, are known there too.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace shardax {

// A mask has `value` at all indices of dimension `column` that are greater than the index of
// dimension `row` plus `offset`. Elsewhere it has any value.
struct IndexMask {
  std::int32_t row, column;
  std::int64_t offset;
  bool value;
};

// A value is `number` at all those indices.
struct IndexFill {
  std::int32_t row, column;
  std::int64_t offset;
  double number;
};

// Finds such facts of a program's variables, from the equations that make them.
class IndexMasks {
 public:
  explicit IndexMasks(const Program& program) : program_(program), makers_(makers(program)) {}

  // None where nothing is known of the mask along that dimension.
  std::optional<IndexMask> of(Var mask, std::int32_t row) const;
  std::optional<IndexFill> filled(Var v, std::int32_t row) const;
  // The number that all elements are, where it is a constant.
  std::optional<double> number(Var v) const;

 private:
  struct Index;  // an index along one dimension, plus a constant
  using Fact = std::optional<IndexMask>;
  const Equation* maker(Var v) const;
  std::optional<Index> index_of(Var v) const;
  Fact find(Var mask, std::int32_t row) const;
  Fact compared(const Equation& eqn, std::int32_t row) const;
  Fact compared_with_number(const Equation& eqn, std::int32_t row) const;
  Fact either(const Equation& eqn, std::int32_t row, bool value) const;
  std::optional<IndexFill> scaled(const Equation& eqn, std::int32_t row) const;
  template <class Found, class F>
  std::optional<Found> moved(const Equation& eqn, std::int32_t row, const F& find) const;

  const Program& program_;
  std::vector<int> makers_;
  mutable std::map<std::pair<Var, std::int32_t>, Fact> known_;
};

}  // namespace shardax
