// ops/sharding_rules/stacks.cpp - dimensions of stacks followed from operands to results.
#include "ops/sharding_rules/stacks.h"

#include <algorithm>

#include "base/errors.h"
#include "ops/sharding_rules/sharding_rules.h"

namespace shardax::ops {
namespace {

// The split of the dimensions before the elements, as in the first operand that splits any.
Split stack_split(const SplitArgs& a, std::size_t rank) {
  const std::size_t stack = a.in[0].rank() - rank;
  for (std::size_t i = 0; i < a.in.size(); ++i) {
    Split own = split_of(a, i);
    own.resize(stack);
    if (std::any_of(own.begin(), own.end(), [](const auto& axes) { return !axes.empty(); }))
      return own;
  }
  return Split(stack);
}

Split extended(Split split, std::size_t rank) {
  split.resize(rank);
  return split;
}

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

Split split_stack_of(const SplitArgs& a, std::size_t rank) {
  return extended(stack_split(a, rank), a.out.rank());
}

Parts parts_stack_of(const SplitArgs& a, std::size_t rank) {
  const Split stack = stack_split(a, rank);
  Parts out{{}, extended(stack, a.out.rank()), a.params};
  for (const Type& type : a.in) out.in.push_back(extended(stack, type.rank()));
  return out;
}

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
