// ops/sharding_rules/stacks.cpp - the errors of explicit axes that split stacks of matrices.
#include "ops/sharding_rules/stacks.h"

#include "base/errors.h"

namespace shardax::ops {
namespace {

// "P('x', None)", of the first dimensions.
std::string spec_text(const Type& type, std::size_t count) {
  std::string text;
  for (std::size_t d = 0; d < count; ++d) {
    const auto axes = type.sharding ? type.sharding->explicit_split(d) : std::vector<std::string>();
    text += concat(d == 0 ? "" : ", ", entry_text(axes));
  }
  return concat("P(", text, ")");
}

}  // namespace

void check_split_stack_of(const Op& op, const Types& in, std::size_t rank) {
  const std::size_t stack = in[0].rank() - rank;
  std::string all;
  bool same = true;
  for (std::size_t i = 0; i < in.size(); ++i) {
    for (std::size_t d = stack; in[i].sharding && d < in[i].rank(); ++d) {
      if (in[i].sharding->explicit_split(d).empty()) continue;
      fail(ErrorKind::sharding_type_error, "Input ", i, " to ", op.name,
           " must be unsharded on non-batch dimensions, but got ", spec_text(in[i], in[i].rank()),
           ". Make it whole with shardax.reshard.");
    }
    const std::string own = spec_text(in[i], stack);
    same = same && own == spec_text(in[0], stack);
    all += concat(i == 0 ? "" : ", ", own);
  }
  if (same) return;
  fail(ErrorKind::sharding_type_error, "All inputs to ", op.name,
       " must have the same batch sharding, but got [", all,
       "]. Bring one to the other's with shardax.reshard.");
}

}  // namespace shardax::ops
