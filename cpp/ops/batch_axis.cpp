// ops/batch_axis.cpp - repeating what a batch shares.
#include "ops/batch_axis.h"

#include <algorithm>

#include "ops/ops.h"

namespace shardax::ops {

Value repeated(const Value& a, const BatchAxis& axis, const Values& like) {
  const Value out = broadcast_leading(a, axis.size);
  const auto split = std::find_if(like.begin(), like.end(),
                                  [](const Value& v) { return v && v->type().sharding; });
  if (axis.split.empty() || split == like.end()) return out;
  const ShardingPtr& own = a->type().sharding;
  std::vector<std::vector<std::string>> spec;
  if (own) spec = own->spec;
  spec.resize(a->type().rank());
  spec.insert(spec.begin(), axis.split);
  return sharding_constraint(out, with_spec(own ? *own : *(*split)->type().sharding, spec), {});
}

}  // namespace shardax::ops
