// base/errors.h - the exceptions of the core, each with the Python class it becomes.
//
// Text follows one pattern: `<API>: <what is wrong, with the values>; <what was expected>.` and
// then the remedy. The bindings turn UserError into the Python class named by `kind`;
// InternalError means a defect of the system itself.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace shardax {

enum class ErrorKind {
  type_error,
  value_error,
  name_error,
  index_error,
  key_error,
  overflow_error,
  runtime_error,
  not_implemented_error,
  attribute_error,
  assertion_error,
  floating_point_error,
  recursion_error,
  type_promotion_error,
  sharding_type_error,
  concretization_error,
  tracer_bool_error,
  tracer_integer_error,
  tracer_array_error,
  boolean_index_error,
  unexpected_tracer_error,
  key_reuse_error,
};

class UserError : public std::runtime_error {
 public:
  UserError(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Joins its arguments as operator<< prints them.
template <class... Args>
std::string concat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

// "'a', 'b'"
template <class Names>
std::string quoted(const Names& names) {
  std::string text;
  for (const auto& name : names) text += concat(text.empty() ? "'" : ", '", name, "'");
  return text;
}

template <class... Args>
[[noreturn]] void fail(ErrorKind kind, const Args&... args) {
  throw UserError(kind, concat(args...));
}
template <class... Args>
[[noreturn]] void type_error(const Args&... args) {
  fail(ErrorKind::type_error, args...);
}
template <class... Args>
[[noreturn]] void value_error(const Args&... args) {
  fail(ErrorKind::value_error, args...);
}

}  // namespace shardax
