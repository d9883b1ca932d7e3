// ir/text/grouped_values.h - variables that stand for one value together, in the text of a program.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/program.h"

namespace shardax {

// The operands and results of an equation as values of the user. Each has a number of variables and
// the type that is shown for it, empty for an array.
struct UserValue {
  std::size_t count = 1;
  std::string type;
};
struct UserValues {
  std::vector<UserValue> in, out;
};
using UserValuesRule = UserValues (*)(const Equation& eqn);
// For the ops whose operands may be other than arrays; others give nothing.
void set_user_values_rule(UserValuesRule rule);

// The variables of a program that are shown as one:
//   b:i8[3] c:f32[] = quantize a; d:f32[3] = dequantize b c
//   b:q8[3] = quantize a; d:f32[3] = dequantize b
// The first of them has the value's type, the others are hidden. Variables that any list of the
// program has without those beside them stay as they are.
class GroupedValues {
 public:
  explicit GroupedValues(const Program& program);
  bool hides(Var v) const { return hidden_.contains(v); }
  // The type of the first variable of a value; null for others.
  const std::string* type(Var v) const;

 private:
  void join(std::span<const Var> vars, const std::vector<UserValue>& values);
  void part(std::span<const Var> vars);

  std::unordered_map<Var, std::vector<Var>> groups_;  // by first variable: the others
  std::unordered_map<Var, std::string> types_;
  std::unordered_map<Var, Var> hidden_;  // the first variable of the value that it belongs to
};

}  // namespace shardax
