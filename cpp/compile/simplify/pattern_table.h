// compile/simplify/pattern_table.h - the patterns of patterns.cpp by op and name.
#pragma once

#include <span>
#include <string_view>

#include "compile/simplify/pattern_driver.h"

namespace shardax {

struct Pattern {
  std::string_view op;  // "": every elementwise op
  std::string_view name;
  std::optional<Vars> (*apply)(const PatternContext& match);
};
inline bool meant_for(const Pattern& pattern, const Op& op) {
  return pattern.op.empty() ? op.kind == Kind::elementwise : op.name == pattern.op;
}

// In the order in which they are tried.
std::span<const Pattern> simplify_patterns();

}  // namespace shardax
