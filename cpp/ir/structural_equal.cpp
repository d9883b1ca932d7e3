// ir/structural_equal.cpp - programs and params, compared part by part.
#include "ir/structural_equal.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace shardax {
namespace {

bool same_location(const LocationPtr& a, const LocationPtr& b) {
  if (a == b || !a || !b) return a == b;
  return a->line == b->line && a->column == b->column && a->file == b->file &&
         a->function == b->function;
}

bool same_names(const NamesPtr& a, const NamesPtr& b) {
  if (a == b || !a || !b) return a == b;
  return a->transformation == b->transformation && a->name == b->name &&
         same_names(a->outside, b->outside);
}

// Larger arrays are not read: a search must cost less than it saves.
bool same_value(const Array& a, const Array& b) {
  if (&a == &b) return true;
  const Type& type = a.type();
  return type == b.type() && type.rank() == 0 && !a.sharding() && !b.sharding() && !a.deleted() &&
         !b.deleted() && std::memcmp(a.data(), b.data(), itemsize(type.dtype)) == 0;
}

bool same_constant(const Constant& a, const Constant& b) {
  return a.var == b.var && same_value(*a.value, *b.value);
}

bool same_equation(const Equation& a, const Equation& b) {
  return a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs &&
         structurally_equal_params(a.params, b.params) && same_location(a.location, b.location) &&
         same_names(a.names, b.names);
}

bool same_param(const ParamValue& a, const ParamValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* p = std::get_if<ProgramPtr>(&a)) {
    const ProgramPtr& q = std::get<ProgramPtr>(b);
    return *p == q || (*p && q && structurally_equal(**p, *q));
  }
  if (const auto* list = std::get_if<Programs>(&a)) {
    return std::ranges::equal(*list, std::get<Programs>(b),
                              [](const ProgramPtr& p, const ProgramPtr& q) {
                                return p == q || (p && q && structurally_equal(*p, *q));
                              });
  }
  return a == b;
}

std::size_t hash_program(const ProgramPtr& program) {
  if (!program) return 0;
  std::size_t seed = mix_all(program->types.size(), program->outputs);
  for (const Equation& eqn : program->equations) {
    seed = mix(seed, std::hash<const void*>{}(eqn.op));
    seed = mix_all(seed, eqn.inputs);
  }
  return seed;
}

}  // namespace

bool structurally_equal(const Program& a, const Program& b) {
  if (&a == &b) return true;
  return a.inputs == b.inputs && a.outputs == b.outputs && a.name == b.name && a.types == b.types &&
         std::ranges::equal(a.constants, b.constants, same_constant) &&
         std::ranges::equal(a.equations, b.equations, same_equation);
}

bool structurally_equal_params(const Params& a, const Params& b) {
  return std::ranges::equal(a, b, [](const Params::Entry& x, const Params::Entry& y) {
    return x.first == y.first && same_param(x.second, y.second);
  });
}

std::size_t hash_same(const Params& params) {
  std::size_t seed = 7;
  for (const auto& [name, value] : params) {
    seed = mix(seed, hash_bytes(name));
    if (const auto* program = std::get_if<ProgramPtr>(&value))
      seed = mix(seed, hash_program(*program));
    if (const auto* list = std::get_if<Programs>(&value)) {
      for (const ProgramPtr& program : *list) seed = mix(seed, hash_program(program));
    }
  }
  return seed;
}

}  // namespace shardax
