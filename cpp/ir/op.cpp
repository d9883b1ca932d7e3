// ir/op.cpp - the registry of records.
#include "ir/op.h"

#include <algorithm>
#include <set>

#include "array/checked_axis.h"
#include "base/errors.h"
#include "base/stack.h"
#include "ir/limits.h"
#include "ir/regions.h"
#include "ir/sharding_given.h"

namespace shardax {
namespace {

std::vector<const Op*>& registry() {
  static auto& list = *new std::vector<const Op*>;  // threads may compute while the process ends
  return list;
}

}  // namespace

Op::Op(const OpSpec& spec) : OpSpec(spec) {
  auto& list = registry();
  list.insert(std::upper_bound(list.begin(), list.end(), this,
                               [](const Op* a, const Op* b) { return a->name < b->name; }),
              this);
}

const std::vector<const Op*>& all_ops() { return registry(); }

const Op* find_op(std::string_view name) {
  const auto& list = registry();
  const auto it = std::lower_bound(list.begin(), list.end(), name,
                                   [](const Op* op, std::string_view n) { return op->name < n; });
  return it != list.end() && (*it)->name == name ? *it : nullptr;
}

bool any_equation(const Equation& eqn, const std::function<bool(const Equation&)>& test) {
  check_stack("a program within programs");
  return test(eqn) || any_program(eqn.params, [&](const ProgramPtr& program) {
           return std::any_of(program->equations.begin(), program->equations.end(),
                              [&](const Equation& e) { return any_equation(e, test); });
         });
}

bool has_effects(const Equation& eqn) {
  return !eqn.op->effect.empty() || any_program(eqn.params, [](const ProgramPtr& program) {
    return *program->derived<bool>("has_effects",
                                   [&] { return std::make_shared<bool>(has_effects(*program)); });
  });
}

bool has_effects(const Program& program) {
  return std::any_of(program.equations.begin(), program.equations.end(),
                     [](const Equation& e) { return has_effects(e); });
}

std::vector<std::string_view> effects(const Program& program) {
  std::set<std::string_view> found;
  for (const Equation& eqn : program.equations) {
    any_equation(eqn, [&](const Equation& e) {
      if (!e.op->effect.empty()) found.insert(e.op->effect);
      return false;
    });
  }
  return {found.begin(), found.end()};
}

namespace {
ShardingTypeRule sharding_type_rule = nullptr;
}
void set_sharding_type_rule(ShardingTypeRule rule) { sharding_type_rule = rule; }

namespace {

// Results lie where operands do; scalars go anywhere. An op that says so itself has "memory".
void type_memory(const Op& op, const Types& in, const Params& params, Types& out) {
  if (op.kind == Kind::control || params.has("memory") || params.has("sharding")) return;
  const Type* first = nullptr;
  for (const Type& type : in) {
    if (type.rank() == 0) continue;
    if (first && first->host != type.host && !sharding_given())
      value_error("memory_space of all inputs passed to `", op.name,
                  "` must be the same. Got one operand with type: ", to_string(*first),
                  " and another operand with type: ", to_string(type),
                  ". Bring one to the other's with device_put(x, memory.Space).");
    first = &type;
  }
  for (Type& type : out) type.host = first ? first->host : in[0].host;
}

[[noreturn]] void refuse_count(const Op& op, std::size_t count) {
  const auto [least, most] = op.operands;
  type_error(op.name, ": ", count, count == 1 ? " operand; " : " operands; ",
             least == most ? "" : "at least ", least, least == 1 ? " was" : " were", " expected.");
}

}  // namespace

Types infer_types(const Op& op, const Types& in, const Params& params) {
  const auto [least, most] = op.operands;
  if (in.size() < least || in.size() > most) refuse_count(op, in.size());
  Types out = op.type(op, in, params);
  if (op.regions) check_regions(op, regions_of(op, params), in);
  for (const Type& type : out) check_limits(op.name, type);
  AxisSet varying;
  if (op.kind != Kind::collective) {
    for (const Type& type : in) varying = join(varying, type.varying);
  }
  // The results of a program have types already, and need not depend on all operands.
  if (op.kind == Kind::control) varying = unchecked_axes(varying);
  if (!varying.empty()) {
    for (Type& type : out) type.varying = join(type.varying, varying);
  }
  if (std::any_of(in.begin(), in.end(), [](const Type& type) { return type.host; }))
    type_memory(op, in, params, out);
  if (sharding_type_rule &&
      (has_sums(varying) ||
       std::any_of(in.begin(), in.end(), [](const Type& type) { return bool(type.sharding); })))
    sharding_type_rule(op, in, params, out);
  return out;
}

}  // namespace shardax
