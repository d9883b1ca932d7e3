// execute/partial_sums.cpp - the program of parts, run beside the program itself.
#include "execute/partial_sums.h"

#include <algorithm>

#include "analysis/partition.h"
#include "base/errors.h"
#include "trace/trace.h"

namespace shardax {

bool any_unreduced(const Values& arrays) {
  return std::ranges::any_of(arrays,
                             [](const Value& value) { return is_sum(as_array(value).sharding()); });
}

namespace {

// The arguments of a program of parts: of sums that know their terms, these.
struct Known {
  Shardings given;
  std::vector<bool> known;
  Values operands;
  std::string key;

  explicit Known(const Values& in) : given(shardings_of(in)) {
    for (const Value& value : in) {
      const Array& array = as_array(value);
      known.push_back(array.terms() && is_sum(array.sharding()));
      operands.push_back(known.back() ? Value(array.terms()) : value);
      key += concat(array.sharding() ? to_string(*array.sharding()) : "", known.back() ? "+" : ",");
    }
  }
};

bool any_deleted(const Values& in) {
  return std::ranges::any_of(in, [](const Value& v) { return as_array(v).deleted(); });
}

}  // namespace

void keep_partial_sums(const Program& program, const Values& in, const Values& out) {
  if (!any_unreduced(out) || any_deleted(in)) return;
  const Known from(in);
  const Shardings results = shardings_of(out);
  std::string key = "terms" + from.key;
  for (const ShardingPtr& sharding : results) key += sharding ? to_string(*sharding) : ",";
  const ProgramPtr terms = *program.derived<ProgramPtr>(key, [&] {
    return std::make_shared<ProgramPtr>(terms_of_results(program, from.given, from.known, results));
  });
  if (!terms) return;
  const Values stacks = evaluate(*terms, from.operands);
  std::size_t next = 0;
  for (const Value& value : out) {
    if (is_sum(as_array(value).sharding()))
      as_array(value).set_terms(ArrayPtr(&as_array(stacks[next++])));
  }
}

std::optional<Values> run_on_parts(const ProgramPtr& program, const Values& in) {
  const Known from(in);
  const ProgramPtr parts = *program->derived<ProgramPtr>("parts" + from.key, [&] {
    return std::make_shared<ProgramPtr>(partitioned_sums(program, from.given, from.known));
  });
  if (!parts) return std::nullopt;
  return evaluate(*parts, from.operands);
}

}  // namespace shardax
