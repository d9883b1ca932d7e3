// compile/rules.h - the rules of simplify.cpp as a table: of which op, by what name.
#pragma once

#include <span>
#include <string_view>

#include "compile/rewrite.h"

namespace shardax {

struct Rule {
  std::string_view op;  // "": every elementwise op
  std::string_view name;
  std::optional<Vars> (*apply)(const Match& match);
};
inline bool meant_for(const Rule& rule, const Op& op) {
  return rule.op.empty() ? op.kind == Kind::elementwise : op.name == rule.op;
}

// In the order in which they are tried.
std::span<const Rule> simplify_rules();

}  // namespace shardax
