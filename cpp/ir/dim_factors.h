// ir/dim_factors.h - dimensions of an op's operands and results, as products of factors.
//
// A factor is an index that the op runs over. A dimension is a list of factors, the slowest first:
//   dot_general [b,m,k] [b,k,n] -> [b,m,n]   [0][1][2] [0][2][3] -> [0][1][3]; 2 is reduced
//   reshape [6,4] -> [2,3,4]                 [0 1][2] -> [0][1][2]
//   broadcast_in_dim [3,1] -> [3,5]          [0][] -> [0][1]
//   windows of 2 at every 3rd, [12] -> [4]   [0 1] -> [0]; 1 is whole
// The same as indexing maps of MLIR and sharding rules of Shardy. Sharding propagation,
// partitioning, tiling, layouts, variation and cost read it; none interprets params of its own.
#pragma once

#include <optional>
#include <vector>

#include "ir/op.h"

namespace shardax {

enum class FactorUse : std::uint8_t {
  parallel,  // a result at an index depends on operands at that index alone
  reduced,   // operands have it, results combine all of it
  whole,     // a result may depend on all of an operand along it: sorted, scanned, reversed
  windowed,  // operands and results have other ranges of it: sliced, padded, joined
};

// A window that slides along a dimension of operands. Index i of the result needs `window` of
// them, from i * stride - low on, as far as they exist.
struct Slide {
  std::int64_t window = 0, stride = 1, low = 0;  // no window: unknown
};

struct Factor {
  FactorUse use;
  std::int64_t size;  // windowed: in the result
  Slide slide = {};   // windowed
};

// The factors of one dimension; none for a dimension of one element that is repeated.
using FactorList = SmallVector<std::int32_t, 2>;
// The factors of each dimension of an array.
using ArrayFactors = std::vector<FactorList>;

inline constexpr std::int32_t no_dim = -1;

// The dimension that is this factor and nothing else; no_dim where there is none.
std::int32_t dim_of(const ArrayFactors& array, std::int32_t factor);
// The dimension of which this factor is the slowest: it splits where the factor does.
std::int32_t dim_led_by(const ArrayFactors& array, std::int32_t factor);

struct DimFactors {
  std::vector<Factor> factors;
  std::vector<ArrayFactors> operands;
  ArrayFactors result;  // of the result whose type was given

  std::int32_t add(FactorUse use, std::int64_t size);
  // One new factor for each dimension of an array.
  ArrayFactors add_each(const Shape& shape, FactorUse use = FactorUse::parallel);

  // The same for each dimension that has no factor yet.
  void add_rest(ArrayFactors& array, const Shape& shape, FactorUse use = FactorUse::whole);

  const Factor& at(std::int32_t factor) const { return factors[index(factor)]; }
  // The number of elements that each element of a result combines.
  std::int64_t reduced_size() const;
  // An operand's dimensions that are reduced, in the order of their factors.
  Ints reduced_dims(std::size_t operand) const;
  // The dimensions of a result along which an operand is repeated, in order.
  Ints repeated_dims(std::size_t operand) const;
  // For each dimension of `part` the one of `whole` that is the same factor, or no_dim.
  static Ints matching_dims(const ArrayFactors& part, const ArrayFactors& whole);
};

// The factors in the op's record; none if it has no rule.
std::optional<DimFactors> dim_factors(const Op& op, const Params& params, const Types& in,
                                      const Type& out);
std::optional<DimFactors> dim_factors(const Program& program, const Equation& eqn);

// The params for a result of another shape: of a device's part or of some rows.
Params resized(const Op& op, const Params& params, const Shape& out);

}  // namespace shardax
