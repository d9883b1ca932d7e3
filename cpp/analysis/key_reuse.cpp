// analysis/key_reuse.cpp - the signatures of programs, and the keys of arrays that have been used.
#include "analysis/key_reuse.h"

#include <algorithm>
#include <atomic>

#include "base/index.h"
#include "base/lists.h"
#include "ir/regions.h"

namespace shardax {
namespace {

std::atomic<bool> watching = false;

bool overlap(const KeyMask& a, const KeyMask& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] && b[i]) return true;
  }
  return false;
}
void add(KeyMask& to, const KeyMask& mask) {
  to.resize(std::max(to.size(), mask.size()));
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i]) to[i] = true;
  }
}
KeyMask all_of(const Type& type) { return KeyMask(index(type.size()), true); }

// `mask` of keys of which there are `from`, for an array of `count` that shows them otherwise:
// where the numbers differ, one stands for all.
KeyMask seen_as(const KeyMask& mask, std::int64_t from, std::int64_t count) {
  if (from == count) return mask;
  return KeyMask(index(count), any(mask));
}

KeyUse use_of(const Op& op) {
  if (op.keys != KeyUse::by_kind) return op.keys;
  if (op.in_place) return KeyUse::updates;
  return op.kind == Kind::layout || op.first_index > 0 ? KeyUse::forwards : KeyUse::consumes;
}

// Does an op select its keys from several arrays of keys?
bool chooses(const Op& op) {
  return op.keys == KeyUse::by_kind && op.kind == Kind::elementwise && !op.in_place;
}

// The elements of an array that a slice of it takes.
KeyMask sliced(const Type& type, const Params& params) {
  const Ints &start = params.ints(param::start_indices), &limit = params.ints(param::limit_indices),
             &stride = params.ints(param::strides);
  KeyMask mask(index(type.size()));
  for (std::size_t i = 0; i < mask.size(); ++i) {
    auto left = static_cast<std::int64_t>(i);
    bool inside = true;
    for (std::size_t d = type.rank(); d-- > 0;) {
      const std::int64_t at = left % type.shape[d] - start[d];
      left /= type.shape[d];
      inside &= at >= 0 && at < limit[d] - start[d] && at % stride[d] == 0;
    }
    mask[i] = inside;
  }
  return mask;
}

// The effect of one equation on keys, as a signature of its operands and results.
KeySignature of_equation(const Program& program, const Equation& eqn);

// Follows the keys of one program, equation by equation.
class KeyWalk {
 public:
  explicit KeyWalk(const Program& program)
      : program_(program), roots_(program.types.size()), used_(program.types.size()) {
    for (std::size_t v = 0; v < roots_.size(); ++v) roots_[v] = static_cast<Var>(v);
  }

  KeySignature signature() {
    for (const Equation& eqn : program_.equations) step(eqn);
    std::vector<Var> inputs = program_.inputs;
    for (const Constant& c : program_.constants) inputs.push_back(c.var);
    KeySignature result;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (is_key_var(inputs[i]) && any(used(inputs[i])))
        result.uses.push_back({i, used(inputs[i])});
    }
    for (std::size_t i = 0; i < program_.outputs.size(); ++i) {
      const Var out = program_.outputs[i];
      if (!is_key_var(out)) continue;
      const auto from = std::find(inputs.begin(), inputs.end(), root(out));
      if (from != inputs.end())
        result.passed.emplace_back(index(from - inputs.begin()), i);
      else if (!any(used(out)))
        result.fresh.push_back(i);
    }
    return result;
  }

 private:
  bool is_key_var(Var v) const { return is_key(program_.type(v).dtype); }
  Var root(Var v) const { return roots_[index(v)]; }
  KeyMask& used(Var v) { return used_[index(root(v))]; }

  void step(const Equation& eqn) {
    const auto has_key = [&](Var v) { return is_key_var(v); };
    if (std::none_of(eqn.inputs.begin(), eqn.inputs.end(), has_key) &&
        std::none_of(eqn.outputs.begin(), eqn.outputs.end(), has_key) && !eqn.op->regions)
      return;
    if (chooses(*eqn.op)) return choose(eqn);
    const KeySignature does = of_equation(program_, eqn);
    for (const auto& [index, mask] : does.uses) use(eqn, index, mask);
    std::vector<bool> known(eqn.outputs.size());
    for (const auto& [in, out] : does.passed) {
      roots_[index(eqn.outputs[out])] = root(eqn.inputs[in]);
      known[out] = true;
    }
    for (const std::size_t out : does.fresh) known[out] = true;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!known[i] && is_key_var(eqn.outputs[i]))
        used(eqn.outputs[i]) = all_of(program_.type(eqn.outputs[i]));
    }
  }

  // A batched loop keeps the used keys of elements that have finished, and nothing draws from
  // these. A selection is therefore fresh if one of its choices is.
  void choose(const Equation& eqn) {
    bool fresh = false;
    for (const Var v : eqn.inputs) {
      if (!is_key_var(v)) continue;
      fresh |= !any(used(v));
      add(used(v), all_of(program_.type(root(v))));
    }
    if (!fresh) used(eqn.outputs[0]) = all_of(program_.type(eqn.outputs[0]));
  }

  void use(const Equation& eqn, std::size_t index, const KeyMask& mask) {
    const Var v = eqn.inputs[index];
    const KeyMask whole = seen_as(mask, program_.type(v).size(), program_.type(root(v)).size());
    if (overlap(used(v), whole)) {
      fail(ErrorKind::key_reuse_error, "In ", eqn.op->name, ", argument ", index,
           " is already consumed.", eqn.location ? " At " + to_string(*eqn.location) + "." : "",
           " Split a key, or clone it, to draw from it again.");
    }
    add(used(v), whole);
  }

  const Program& program_;
  std::vector<Var> roots_;  // the variable whose keys each one shows
  std::vector<KeyMask> used_;
};

// ---- ops that carry programs ---------------------------------------------------------------

// The keys of the operand that a run's keys are.
KeyMask in_operand(const Regions&, const RegionPort& port, const KeyMask& mask,
                   const Type& operand) {
  if (port.flow != PortKind::sliced) return mask;
  return any(mask) ? all_of(operand) : KeyMask(index(operand.size()));
}

[[noreturn]] void repeated_error(const Equation& eqn, std::string_view what, std::string_view why) {
  fail(ErrorKind::key_reuse_error, eqn.op->name, what, " function leads to key reuse when ",
       "repeatedly executed", why, eqn.location ? " (" + to_string(*eqn.location) + ")" : "",
       "; split the key in each turn and carry one half on.");
}

bool repeats(const Regions& regions) {
  return regions.runs == ExecutionKind::counted || regions.runs == ExecutionKind::looped;
}

// A turn may use keys that are sliced, and carried ones of which it gives new ones.
void check_turns(const Equation& eqn, const Regions& regions, std::size_t k,
                 const KeySignature& does, const std::vector<std::size_t>& taken,
                 const std::vector<bool>& renewed) {
  const std::string_view what = regions.runs == ExecutionKind::counted ? " body"
                                : k == 0                               ? "_loop cond"
                                                                       : "_loop body";
  const std::vector<std::size_t> carried = regions.operands_of(PortKind::carried);
  for (const auto& [input, mask] : does.uses) {
    if (input >= taken.size() || !any(mask)) continue;
    const RegionPort& port = regions.operands[taken[input]];
    if (port.flow == PortKind::whole)
      repeated_error(eqn, what, ", because key constants are repeatedly consumed");
    if (port.flow != PortKind::carried) continue;
    const auto at = std::find(carried.begin(), carried.end(), taken[input]) - carried.begin();
    if (!renewed[index(at)])
      repeated_error(eqn, what, ", because consumed inputs don't match sourced outputs");
  }
}

// A flag for each carried operand: the program that gives results makes new keys for it.
std::vector<bool> renewed_carries(const Regions& regions, const KeySignature& does) {
  std::vector<bool> renewed;
  for (const std::size_t r : regions.results_of(PortKind::carried))
    renewed.push_back(has(does.fresh, r));
  return renewed;
}

KeySignature of_regions(const Program& program, const Equation& eqn) {
  // A derivative that recomputes values draws the same numbers again.
  if (eqn.params.has("differentiated") && eqn.params.flag(param::differentiated)) return {};
  const Regions regions = regions_of(*eqn.op, eqn.params);
  std::vector<std::shared_ptr<const KeySignature>> all;
  for (const ProgramPtr& body : regions.programs) all.push_back(key_signature(*body));
  const std::size_t last = all.size() - 1;
  std::vector<KeyMask> used(eqn.inputs.size());
  KeySignature result;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::vector<std::size_t> taken = regions.taken_by(k);
    if (repeats(regions))
      check_turns(eqn, regions, k, *all[k], taken, renewed_carries(regions, *all[last]));
    for (const auto& [index, mask] : all[k]->uses) {
      if (index >= taken.size()) continue;  // a constant of the body
      const std::size_t operand = taken[index];
      const KeyMask whole =
          in_operand(regions, regions.operands[operand], mask, program.type(eqn.inputs[operand]));
      if (regions.runs == ExecutionKind::looped && overlap(used[operand], whole)) {
        fail(ErrorKind::key_reuse_error, eqn.op->name,
             "_loop cond and body functions both use the same key: operand ", operand, ".");
      }
      add(used[operand], whole);
    }
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (any(used[i])) result.uses.push_back({i, std::move(used[i])});
  }
  // Results are new where all programs that give them say so, and passed on likewise.
  for (std::size_t r = 0; r < regions.results.size(); ++r) {
    bool fresh = true;
    std::vector<std::size_t> from;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!regions.gives_results(k)) continue;
      fresh &= has(all[k]->fresh, r);
      const std::vector<std::size_t> taken = regions.taken_by(k);
      for (const auto& [in, out] : all[k]->passed) {
        if (out == r && in < taken.size()) from.push_back(taken[in]);
      }
    }
    const std::size_t givers = regions.runs == ExecutionKind::looped ? 1 : all.size();
    const bool same =
        from.size() == givers && std::equal(from.begin() + 1, from.end(), from.begin());
    if (fresh)
      result.fresh.push_back(r);
    else if (same)
      result.passed.emplace_back(from[0], r);
  }
  return result;
}

KeySignature of_equation(const Program& program, const Equation& eqn) {
  if (eqn.op->regions) return of_regions(program, eqn);
  const KeyUse use = use_of(*eqn.op);
  KeySignature result;
  const auto consume = [&](std::size_t i) {
    const Type& type = program.type(eqn.inputs[i]);
    if (is_key(type.dtype)) result.uses.push_back({i, all_of(type)});
  };
  const bool new_results = use == KeyUse::makes || use == KeyUse::splits || use == KeyUse::slices;
  for (std::size_t r = 0; new_results && r < eqn.outputs.size(); ++r) result.fresh.push_back(r);
  switch (use) {
    case KeyUse::reads:
    case KeyUse::makes: break;
    case KeyUse::slices:
      if (is_key(program.type(eqn.inputs[0]).dtype))
        result.uses.push_back({0, sliced(program.type(eqn.inputs[0]), eqn.params)});
      break;
    case KeyUse::forwards:
      for (std::size_t r = 0; r < eqn.outputs.size(); ++r) result.passed.emplace_back(r, r);
      break;
    case KeyUse::updates:
      for (std::size_t i = 1; i < eqn.inputs.size(); ++i) consume(i);
      result.passed.emplace_back(0, 0);
      break;
    default:
      for (std::size_t i = 0; i < eqn.inputs.size(); ++i) consume(i);
  }
  return result;
}

}  // namespace

std::shared_ptr<const KeySignature> key_signature(const Program& program) {
  return program.derived<KeySignature>("key_signature", [&] {
    return std::make_shared<KeySignature>(KeyWalk(program).signature());
  });
}

void watch_key_reuse(bool watch) { watching = watch; }
bool watching_key_reuse() { return watching; }

KeysInUse::KeysInUse(const Program& program, const Values& in, std::string_view caller)
    : signature_(key_signature(program)), in_(in) {
  for (const Constant& c : program.constants) in_.push_back(c.value);
  for (const auto& [index, mask] : signature_->uses) {
    if (!overlap(as_array(in_[index]).used_keys(), mask)) continue;
    fail(ErrorKind::key_reuse_error, "Previously-consumed key passed to ", caller, " at index ",
         index, "; split a key, or clone it, to draw from it again.");
  }
}

void KeysInUse::mark(const Values& out) const {
  for (const auto& [index, mask] : signature_->uses) {
    Array& array = as_array(in_[index]);
    KeyMask used = array.used_keys();
    add(used, mask);
    array.set_used_keys(std::move(used));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (is_key(out[i]->dtype()) && !has(signature_->fresh, i))
      as_array(out[i]).set_used_keys(all_of(out[i]->type()));
  }
  for (const auto& [from, to] : signature_->passed) {
    const Array& source = as_array(in_[from]);
    as_array(out[to]).set_used_keys(
        seen_as(source.used_keys(), source.type().size(), out[to]->type().size()));
  }
}

}  // namespace shardax
