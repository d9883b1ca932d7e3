// ops/sharding_rules/spmd_partition_rules.h - ops on the parts of one device: rules for records.
//
// Operands come with their present splits. A rule gives the splits that it takes, those of its
// results, and the params on parts. Messages bring a device the data that it lacks before the op
// runs (analysis/partition.h). A rule that takes the present splits costs none.
#pragma once

#include <optional>

#include "ir/dim_factors.h"
#include "ir/op.h"

namespace shardax::ops {

// The size of a device's part of an array.
Shape part_shape(const Type& whole, const Split& split, const Sharding& mesh);

// Every operand whole, and so is the result.
Parts parts_whole(const SplitArgs& a);
// Follows the record's description of dimensions (ir/dim_factors.h). Dimensions whose parts give
// parts of results stay split, each as in the first operand that splits it. A mesh axis that splits
// two of them goes on with the first.
struct PartsByDims {
  std::string_view joins = {};  // the collective for reduced factors; none: these are whole
  bool alike = false;           // reduced factors stay split only as all of their operands are
  // Windows of operand 0 that reach into the parts beside a device's own take these edges. `fill`
  // stands in for the padding, of which the parts have none; null: zeros.
  bool halos = false;
  Value fill = nullptr;
  // The order: operand by operand, or factor by factor, and the operand to begin with.
  bool by_factor = false;
  std::size_t first = 0;
  bool some = false;  // axes go on splitting without those that are taken, not all or none
};
Parts parts_by_dims(const SplitArgs& a, const PartsByDims& rules = {});
// The mesh axes that split each factor of an op, and an array's split by them.
using FactorAxes = std::vector<std::vector<std::string>>;
Split split_as(const ArrayFactors& array, const FactorAxes& axes);
// Dimensions that one axis of the mesh splits in both operands, or contracts, stay split. If it
// splits two free dimensions, that of the larger operand stays split.
Parts parts_product(const SplitArgs& a);

// The parts of the record's rule.
Parts parts_of(const SplitArgs& a);

}  // namespace shardax::ops
