// compile/simplify/pattern_driver.h - the walk over a program that applies patterns to each
// equation.
//
// A PatternDriver re-emits equations into a Builder, one after the other, and offers each to the
// rules (compile/simplify/patterns.cpp) first. Calls are replaced by their regions, which are
// walked in place. pmap is replaced by its body batched over the mapped axis; inputs that repeat
// along that axis stay without it.
//
// A value *repeats* along a dimension if it is a broadcast along it: replicated parameters repeat
// along the device dimension. Repeating values are kept, computed and carried by loops once.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "compile/builder.h"
#include "ir/regions.h"

namespace shardax {

class PatternDriver {
 public:
  // `stripmine`: mapped functions run a few devices at a time
  // (compile/loops/stripmine_devices.cpp). `uses`, where given, is how often `source`, the program
  // to be walked, uses each variable.
  explicit PatternDriver(const Program& source, bool stripmine = false,
                         const std::vector<int>* uses = nullptr)
      : builder_(source), stripmine_(stripmine), uses_(uses) {}

  Builder& builder() { return builder_; }
  bool stripmine() const { return stripmine_; }
  // Walks `program` on these variables; its outputs.
  Vars walk(const Program& program, const Vars& inputs);
  // Declares the program's inputs without the dimensions along which each is known to repeat
  // (ascending), and walks it on broadcasts of them.
  Vars walk_narrow(const Program& program, const std::vector<Ints>& repeated);

  // The dimensions of `v`, of more than one element, along which it repeats, ascending.
  Ints repeated_dims(Var v) const;
  // `v` without `dims`, along which it repeats; and back: `v` repeated along new dimensions, which
  // are `dims` of the result's shape.
  Var without(Var v, const Ints& dims, const LocationPtr& location);
  Var repeat(Var v, const Shape& shape, const Ints& dims, const LocationPtr& location);

 private:
  Vars step(const Equation& eqn, const Vars& in);
  // Operands of an elementwise op as the rules and the loops have them: of one shape, or rank 0.
  Vars equal_shapes(const Vars& in, const LocationPtr& location);
  Vars map(const Equation& eqn, const Regions& regions, const Vars& in);
  // A mapped function's results, with a leading axis where they vary.
  std::pair<Vars, std::vector<bool>> mapped_body(const ProgramPtr& body, const BatchAxis& axis,
                                                 const Vars& inputs,
                                                 const std::vector<bool>& batched,
                                                 const LocationPtr& location);
  Var moved(Var v, std::int64_t from, std::int64_t to, const LocationPtr& location);

  Builder builder_;
  bool stripmine_;
  const std::vector<int>* uses_;
  int depth_ = 0;
  LocationPtr caller_;  // of the mesh axes that is walked: its expansion has none
};

// The view that a rule has of an equation: its operands are simplified already.
struct PatternContext {
  Builder& b;
  const Op& op;
  const Params& params;
  const Vars& in;
  const LocationPtr& location;
  bool uses_known;

  Var emit(const Op& made, const Params& p, const Vars& inputs) const {
    return b.emit1(made, p, inputs, location);
  }
};
// The result of a rule with one output.
inline std::optional<Vars> one(Var v) { return Vars{v}; }

// The variables that replace the equation's results, if a rule applies.
// compile/simplify/patterns.cpp
std::optional<Vars> apply_rules(const PatternContext& match);

// A loop or branch whose operands repeat, with a body that carries repeating values once. None if
// its results do not repeat. compile/loops/sink_broadcasts.cpp
std::optional<Vars> sink_broadcasts(PatternDriver& driver, const Equation& eqn, const Vars& in);

// A loop that adds up products, with one product after it; nothing where it is not worth it.
// compile/loops/batch_accumulated_dots.cpp
std::optional<Vars> batch_accumulated_dots(PatternDriver& driver, const Equation& eqn,
                                           const Vars& in);

// A loop that adds to parts of its carry, with a carry for each part. None if there is no such
// carry. compile/loops/split_accumulators.cpp
std::optional<Vars> split_accumulators(PatternDriver& driver, const Equation& eqn, const Vars& in);

// Turns a loop that moves its carry at the end into one that moves it where its turns take it. None
// if the carry is not moved. compile/loops/sink_carry_permutes.cpp
std::optional<Vars> sink_carry_permutes(PatternDriver& driver, const Equation& eqn, const Vars& in);

// A mapped function's results, and which of them vary, with its stripmine as scans over chunks of
// devices. compile/loops/stripmine_devices.cpp
std::pair<Vars, std::vector<bool>> stripmine_devices(PatternDriver& driver, const ProgramPtr& body,
                                                     const BatchAxis& axis, const Vars& inputs,
                                                     const std::vector<bool>& batched,
                                                     const LocationPtr& location);

// Rewrites of loops and branches, in the order in which the walk tries them.
struct LoopRewrite {
  std::string_view name;
  std::string_view doc;      // one line
  std::string_view example;  // before -> after
  std::optional<Vars> (*rewrite)(PatternDriver& driver, const Equation& eqn, const Vars& in);
};
std::span<const LoopRewrite> loop_rewrites();

// The shape without `dims` (ascending), and the type of it.
Shape without_dims(const Shape& shape, const Ints& dims);

}  // namespace shardax
