// control/check.h - checks of a running program, and the op that reports one.
//
// A failure is a number and a payload. Number 0 says that no check has failed, k that the k-th
// check of a table has (they count from 1). The payload holds the values that its text shows. The
// op `check` takes both. Run on its own it raises; compiled, it is an error, unless checkify
// (control/checkify.h) has made it values of the program.
#pragma once

#include "base/errors.h"
#include "control/control.h"

namespace shardax {

enum class CheckKind : std::uint8_t { user, nan, division, bounds };
using CheckKinds = std::uint32_t;  // a set, one bit each
constexpr CheckKinds bit(CheckKind kind) { return CheckKinds{1} << static_cast<int>(kind); }

struct Check {
  CheckKind kind;
  std::string op;       // an automatic check: the op whose equation it looks at
  Shape shape;          // bounds: the shape of the array that is indexed
  FunctionPtr message;  // a check of the user's: the source of the host's text
  Types payload;        // the values that the text shows
};

// The checks that a number may stand for. Only one of them has failed, so those whose payloads
// have the same types share their place.
class CheckTable final : public Function {
 public:
  explicit CheckTable(std::vector<Check> checks);
  std::string text() const override { return concat(checks_.size(), " checks"); }
  std::vector<Values> call(const Values&) const override { return {}; }

  const std::vector<Check>& checks() const { return checks_; }
  const Types& payload() const { return payload_; }  // of all of them
  // start of the payload of checks()[k]
  std::size_t place(std::size_t k) const { return places_[k]; }

 private:
  std::vector<Check> checks_;
  Types payload_;
  std::vector<std::size_t> places_;
};
using CheckTablePtr = Shared<const CheckTable>;

// The first failure so far.
struct Failure {
  Value number;
  Values payload;
};
// The failure with the lowest number, of those stacked along a leading dimension; if several slices
// fail it, the last of them.
Failure joined_failure(const Failure& stacked);

// With `debug`, the check is made under checkify only.
void bind_check(const CheckTablePtr& table, bool debug, const Failure& failure);
bool is_check(const Op& op);
const CheckTable& table_of(const Params& params);

// Throws the exception of the host for a check that has failed. Installed by the bindings.
using CheckReporter = void (*)(const CheckTable& table, std::size_t check, const Values& payload);
void set_check_reporter(CheckReporter reporter);

}  // namespace shardax
