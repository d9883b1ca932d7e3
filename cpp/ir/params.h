// ir/params.h - the static parameters of an equation: one ordered name -> value map.
//
// Being generic, printing, hashing, comparing and binding to Python need no code per op.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "array/array.h"
#include "base/errors.h"
#include "ir/param_name.h"

namespace shardax {

class Program;
using ProgramPtr = Shared<const Program>;
using Programs = std::vector<ProgramPtr>;

using Ints = Shape;

// The names of mapped axes that a collective acts over.
struct AxisNames {
  AxisSet names;  // in the user's order, not sorted
  friend bool operator==(const AxisNames&, const AxisNames&) = default;
};

// A function that an equation carries: a callback, a custom rule. It comes from the host language
// (callables/host_function.h) or is made from another by a transformation.
class Function : public RefCounted {
 public:
  virtual std::string text() const = 0;
  // Results in groups, as the op that carries it says ("outputs, residuals"). A null value, in or
  // out, is a zero that has no array.
  virtual std::vector<Values> call(const Values& in) const = 0;
  // The function that this one was made from; null if there is none.
  virtual const Function* origin() const { return nullptr; }
};
using FunctionPtr = Shared<const Function>;

using ParamValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Ints, DType, AxisNames,
                 ProgramPtr, Programs, FunctionPtr, Types, ShardingPtr>;

// A parameter that is missing or of another kind than its op expects: the user gave it.
class ParamError : public UserError {
 public:
  explicit ParamError(const std::string& text) : UserError(ErrorKind::type_error, text) {}
};

// "an integer", "a tuple of integers"
template <class T>
constexpr std::string_view param_kind() {
  if constexpr (std::is_same_v<T, bool>) return "a bool";
  if constexpr (std::is_same_v<T, std::int64_t>) return "an integer";
  if constexpr (std::is_same_v<T, double>) return "a float";
  if constexpr (std::is_same_v<T, std::string>) return "a string";
  if constexpr (std::is_same_v<T, Ints>) return "a tuple of integers";
  if constexpr (std::is_same_v<T, DType>) return "a dtype";
  if constexpr (std::is_same_v<T, AxisNames>) return "the names of axes";
  return "a program or function";
}

// A name whose values are of one kind (ir/param_keys.h).
template <class T>
struct ParamKey {
  ParamName name;
  constexpr operator ParamName() const { return name; }
};

class Params {
 public:
  using Entry = std::pair<ParamName, ParamValue>;
  struct Given {
    ParamName name;
    ParamValue value;
  };
  Params() = default;
  Params(std::initializer_list<Given> given);

  void set(ParamName name, ParamValue value);
  const ParamValue* find(ParamName name) const;
  bool has(ParamName name) const { return find(name) != nullptr; }

  template <class T>
  const T& get(ParamName name) const {
    const ParamValue* value = find(name);
    if (!value || !std::holds_alternative<T>(*value)) [[unlikely]] {
      unfit(name, value, param_kind<T>());
    }
    return std::get<T>(*value);
  }
  template <class T>
  const T& get(ParamKey<T> key) const {
    return get<T>(key.name);
  }
  bool flag(ParamKey<bool> key) const { return get(key); }
  std::int64_t integer(ParamKey<std::int64_t> key) const { return get(key); }
  const Ints& ints(ParamKey<Ints> key) const { return get(key); }
  DType dtype(ParamKey<DType> key) const { return get(key); }
  const ProgramPtr& program(ParamKey<ProgramPtr> key) const { return get(key); }
  const Programs& programs(ParamKey<Programs> key) const { return get(key); }
  const Function& function(ParamKey<FunctionPtr> key) const { return *get(key); }
  const AxisSet& axes(ParamKey<AxisNames> key) const { return get(key).names; }
  const std::string& text(ParamKey<std::string> key) const { return get(key); }
  Params with(ParamName name, ParamValue value) const;

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  friend bool operator==(const Params&, const Params&) = default;

 private:
  [[noreturn]] static void unfit(std::string_view name, const ParamValue* value,
                                 std::string_view expected);
  std::vector<Entry> entries_;
};

// Is `test` true of a program among the params? They come in order, up to that one.
template <class Test>
bool any_program(const Params& params, const Test& test) {
  for (const auto& [name, value] : params) {
    if (const auto* program = std::get_if<ProgramPtr>(&value)) {
      if (test(*program)) return true;
    } else if (const auto* list = std::get_if<Programs>(&value)) {
      if (std::any_of(list->begin(), list->end(), test)) return true;
    }
  }
  return false;
}
template <class Visit>
void for_each_program(const Params& params, const Visit& visit) {
  any_program(params, [&](const ProgramPtr& program) {
    visit(program);
    return false;
  });
}

std::size_t hash(const Params& params);
std::string to_string(const ParamValue& value);

}  // namespace shardax
