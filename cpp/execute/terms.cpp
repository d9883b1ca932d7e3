// execute/terms.cpp - the program of parts, run beside the program itself.
#include "execute/terms.h"

#include <algorithm>

#include "analysis/partition.h"
#include "base/errors.h"
#include "trace/trace.h"

namespace shardax {

bool any_unreduced(const Values& arrays) {
  return std::ranges::any_of(arrays,
                             [](const Value& value) { return is_sum(as_array(value).sharding()); });
}

void keep_terms(const Program& program, const Values& in, const Values& out) {
  if (!any_unreduced(out)) return;
  if (std::ranges::any_of(in, [](const Value& v) { return as_array(v).deleted(); })) return;
  const Shardings given = shardings_of(in), results = shardings_of(out);
  std::vector<bool> known;
  std::string key = "terms";
  Values operands;
  for (const Value& value : in) {
    const Array& array = as_array(value);
    known.push_back(array.terms() && is_sum(array.sharding()));
    operands.push_back(known.back() ? Value(array.terms()) : value);
    key += concat(array.sharding() ? to_string(*array.sharding()) : "", known.back() ? "+" : ",");
  }
  for (const ShardingPtr& sharding : results) key += sharding ? to_string(*sharding) : ",";
  const ProgramPtr terms = *program.derived<ProgramPtr>(key, [&] {
    return std::make_shared<ProgramPtr>(terms_of_results(program, given, known, results));
  });
  if (!terms) return;
  const Values stacks = evaluate(*terms, operands);
  std::size_t next = 0;
  for (const Value& value : out) {
    if (is_sum(as_array(value).sharding()))
      as_array(value).set_terms(ArrayPtr(&as_array(stacks[next++])));
  }
}

}  // namespace shardax
