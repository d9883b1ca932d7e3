// ir/text/grouped_values.cpp - variables that are shown as one.
#include "ir/text/grouped_values.h"

#include <algorithm>

namespace shardax {
namespace {

UserValuesRule user_values = nullptr;

std::span<const Var> span_of(const Vars& vars) { return {vars.begin(), vars.size()}; }

}  // namespace

void set_user_values_rule(UserValuesRule rule) { user_values = rule; }

GroupedValues::GroupedValues(const Program& program) {
  if (!user_values) return;
  for (const Equation& eqn : program.equations) {
    const UserValues values = user_values(eqn);
    join(span_of(eqn.inputs), values.in);
    join(span_of(eqn.outputs), values.out);
  }
  for (bool parted = !groups_.empty(); parted;) {
    const std::size_t before = groups_.size();
    part(program.inputs);
    part(program.outputs);
    for (const Equation& eqn : program.equations) {
      part(span_of(eqn.inputs));
      part(span_of(eqn.outputs));
    }
    parted = groups_.size() < before;
  }
}

const std::string* GroupedValues::type(Var v) const {
  const auto it = types_.find(v);
  return it == types_.end() ? nullptr : &it->second;
}

void GroupedValues::join(std::span<const Var> vars, const std::vector<UserValue>& values) {
  std::size_t at = 0;
  for (const UserValue& value : values) {
    const auto begin = vars.begin() + static_cast<std::ptrdiff_t>(at);
    at += value.count;
    if (value.type.empty() || value.count == 0 || at > vars.size()) continue;
    if (types_.contains(*begin) || hides(*begin)) continue;
    const std::vector<Var> others(begin + 1, begin + static_cast<std::ptrdiff_t>(value.count));
    if (std::any_of(others.begin(), others.end(),
                    [&](Var v) { return v == *begin || hides(v) || types_.contains(v); }))
      continue;
    types_[*begin] = value.type;
    groups_[*begin] = others;
    for (const Var v : others) hidden_[v] = *begin;
  }
}

// Forgets the values whose variables do not stand together in a list.
void GroupedValues::part(std::span<const Var> vars) {
  for (std::size_t i = 0; i < vars.size(); ++i) {
    const auto hidden = hidden_.find(vars[i]);
    const Var first = hidden == hidden_.end() ? vars[i] : hidden->second;
    const auto group = groups_.find(first);
    if (group == groups_.end()) continue;
    const std::vector<Var>& others = group->second;
    const bool whole =
        vars[i] == first && i + others.size() < vars.size() &&
        std::equal(others.begin(), others.end(), vars.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    if (whole) {
      i += others.size();
      continue;
    }
    for (const Var v : others) hidden_.erase(v);
    types_.erase(first);
    groups_.erase(group);
  }
}

}  // namespace shardax
