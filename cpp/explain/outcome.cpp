// explain/outcome.cpp - compiling a tagged program and looking for its equations in the plan.
#include "explain/outcome.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "analysis/cost.h"
#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "compile/fusion/overlap_messages.h"
#include "ir/core_ops.h"
#include "ops/collectives/process_ops.h"
#include "runtime/message_times.h"

namespace shardax {
namespace {

bool is_product(const Op& op) {
  return &op == &core_ops().dot_general || &op == &core_ops().conv_general_dilated;
}

Fate kind_of(const Equation& eqn, bool copies) {
  if (eqn.op->regions) return Fate::loop;
  if (eqn.op->view) return copies ? Fate::copy : Fate::view;
  if (is_product(*eqn.op)) return Fate::product;
  if (eqn.op->kind == Kind::reduction) return Fate::reduction;
  if (eqn.op->kind == Kind::elementwise) return Fate::arithmetic;
  return eqn.op->kind == Kind::layout ? Fate::copy : Fate::kernel;
}

class Search {
 public:
  explicit Search(const TaggedProgram& tagged) : tagged_(tagged) {
    out_.sources.resize(tagged.sources.size());
  }

  Outcomes run(const CompileOptions& options) {
    const Compilation made = compile_visibly(tagged_.program, options);
    look(made, 1, 0);
    find_buffers(made);
    settle();
    return std::move(out_);
  }

 private:
  // Bytes that reading or writing `v` touches: a broadcast touches those of its operand.
  static double touched(const Compilation& made, const std::vector<int>& slot_of, Var v) {
    const std::int64_t all = made.program->type(v).bytes();
    const int slot = slot_of[index(v)];
    if (slot < 0) return static_cast<double>(all);
    const std::int64_t own = made.plan->slots[index(slot)].bytes;
    return static_cast<double>(own > 0 ? std::min(own, all) : all);
  }

  void look(const Compilation& made, double times, int depth) {
    const Program& program = *made.program;
    std::vector<int> slot_of(program.types.size(), -1), unit_of(program.types.size(), -1);
    for (std::size_t s = 0; s < made.placement.variables.size(); ++s) {
      for (Var v : made.placement.variables[s]) slot_of[index(v)] = static_cast<int>(s);
    }
    for (std::size_t u = 0; u < made.units.size(); ++u) {
      for (int e : made.units[u].equations) {
        for (Var v : program.equations[index(e)].outputs) unit_of[index(v)] = static_cast<int>(u);
      }
    }
    const std::vector<int>& units = made.placement.units;
    std::vector<int> numbers(made.units.size());
    if (depth == 0) number_of_.resize(units.size());
    for (std::size_t u = 0; u < made.units.size(); ++u) {
      const FusionGroup& unit = made.units[u];
      const bool steps = has(units, static_cast<int>(u));
      const Equation& head = program.equations[index(unit.equations[0])];
      const int number = static_cast<int>(out_.steps.size());
      numbers[u] = number;
      if (steps) add_step(made, unit, slot_of, unit_of, static_cast<int>(u), times, depth);
      for (int e : unit.equations) {
        const Equation& eqn = program.equations[index(e)];
        note(tagged_.source_of(eqn), kind_of(eqn, steps), steps ? number : -1);
      }
      if (head.op->regions) look_within(head, times, depth + 1);
    }
    const auto last = static_cast<int>(made.units.size());
    for (std::size_t s = 0; s < units.size(); ++s) {
      const bool copies = units[s] == last;
      if (depth == 0)
        number_of_[s] = copies ? static_cast<int>(out_.steps.size()) : numbers[index(units[s])];
      if (!copies) continue;
      ExplainedStep step{
          ExplainedStep::Kind::copy, "copy of a result", {}, 0, 0, 0, times, depth, {}};
      out_.steps.push_back(std::move(step));
    }
  }

  void add_step(const Compilation& made, const FusionGroup& unit, const std::vector<int>& slot_of,
                const std::vector<int>& unit_of, int u, double times, int depth) {
    using Kind = ExplainedStep::Kind;
    const Program& program = *made.program;
    const Equation& head = program.equations[index(unit.equations[0])];
    ExplainedStep step{unit.loop          ? Kind::loop
                       : head.op->regions ? Kind::control
                       : head.op->view    ? Kind::copy
                                          : Kind::kernel,
                       "",
                       {},
                       0,
                       0,
                       0,
                       times,
                       depth,
                       {}};
    std::set<int> sources;
    std::set<Var> read;
    for (int e : unit.equations) {
      const Equation& eqn = program.equations[index(e)];
      step.text += concat(step.text.empty() ? "" : " ", eqn.op->name);
      if (const int source = tagged_.source_of(eqn); source >= 0) sources.insert(source);
      if (!eqn.op->regions) {
        const Cost cost = cost_of(program, eqn);
        step.flops += cost.flops;
        step.transcendentals += cost.transcendentals;
      }
      for (Var v : eqn.inputs) {
        if (unit_of[index(v)] != u && read.insert(v).second)
          step.bytes += touched(made, slot_of, v);
      }
      for (Var v : eqn.outputs) {
        if (slot_of[index(v)] >= 0) step.bytes += touched(made, slot_of, v);
      }
    }
    if (head.op->regions) step.bytes = 0;  // those of its body count
    if (head.op->message) step.message = message_of(made, index(u));
    step.sources.assign(sources.begin(), sources.end());
    out_.steps.push_back(std::move(step));
  }

  static ExplainedMessage message_of(const Compilation& made, std::size_t u) {
    const Program& program = *made.program;
    const Equation& eqn = program.equations[index(made.units[u].equations[0])];
    Types in;
    ExplainedMessage message;
    for (const Var v : eqn.inputs) {
      in.push_back(program.type(v));
      message.bytes += program.type(v).bytes();
    }
    message.processes = ops::message_processes(eqn.params);
    const std::size_t end = end_of_message(program, made.units, u);
    for (std::size_t between = u + 1; between < end; ++between)
      message.meanwhile += has(made.placement.units, static_cast<int>(between)) ? 1 : 0;
    const LocationScope at(eqn.location);
    const runtime::MessageTimes& times = *ops::message_label(*eqn.op, in, eqn.params).times;
    message.under_way = times.under_way.load(std::memory_order_relaxed);
    message.waited = times.waited.load(std::memory_order_relaxed);
    return message;
  }

  void look_within(const Equation& eqn, double times, int depth) {
    const Regions regions = eqn.op->regions(eqn.params);
    if (regions.runs == ExecutionKind::counted) times *= static_cast<double>(regions.length);
    const std::size_t carry = regions.operands_of(PortKind::carried).size();
    for (std::size_t k = 0; k < regions.programs.size(); ++k) {
      const ProgramPtr& body = regions.programs[k];
      const bool carries = regions.runs == ExecutionKind::counted ||
                           (regions.runs == ExecutionKind::looped && k == 1);
      const std::size_t first = !carries ? 0
                                : regions.runs == ExecutionKind::looped
                                    ? body->inputs.size() - carry
                                    : regions.operands_of(PortKind::whole).size();
      look(compile_visibly(body, body_options(*body, first, carries ? carry : 0)), times, depth);
    }
  }

  void note(int source, Fate fate, int step) {
    if (source < 0) return;
    Outcome& outcome = out_.sources[index(source)];
    outcome.fate = std::max(outcome.fate, fate);
    if (step >= 0 &&
        std::find(outcome.steps.begin(), outcome.steps.end(), step) == outcome.steps.end())
      outcome.steps.push_back(step);
  }

  void find_buffers(const Compilation& made) {
    const Program& program = *made.program;
    const std::vector<int> made_by = makers(program);
    const Plan& plan = *made.plan;
    for (std::size_t s = 0; s < plan.slots.size(); ++s) {
      const Slot& slot = plan.slots[s];
      const bool result = slot.kind == Slot::Kind::output;
      if (!result && slot.kind != Slot::Kind::arena) continue;
      ExplainedBuffer buffer;
      buffer.result = result;
      buffer.bytes = slot.bytes;
      const Vars& held = made.placement.variables[s];
      if (!held.empty()) {
        buffer.type = program.type(held[0]);
        if (const int e = made_by[index(held[0])]; e >= 0)
          buffer.source = tagged_.source_of(program.equations[index(e)]);
      }
      const auto [first, last] = made.placement.uses[s];
      if (first < 0) continue;  // nothing is there
      buffer.first = number_of_[index(first)];
      buffer.last = result ? static_cast<int>(out_.steps.size()) : number_of_[index(last)];
      out_.buffers.push_back(std::move(buffer));
    }
    std::stable_sort(out_.buffers.begin(), out_.buffers.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    for (const ArrayPtr& constant : plan.constants) out_.constants += constant->type().bytes();
    for (const std::int64_t bytes : plan.output_bytes) out_.results += bytes;
    out_.temporaries = plan.memory();
  }

  // Equal computations are done once: for each source, the first that is equal to it, or itself.
  std::vector<int> find_equals() const {
    std::vector<int> first(tagged_.sources.size());
    std::unordered_multimap<std::size_t, int> known;
    for (std::size_t i = 0; i < first.size(); ++i) {
      const Source& source = tagged_.sources[i];
      first[i] = static_cast<int>(i);
      std::size_t key = std::hash<const void*>{}(source.op);
      bool followed = !source.called && !source.op->regions;
      for (std::size_t k = 0; k < source.needs.size() && followed; ++k) {
        followed = source.needs[k] >= 0 || source.arguments[k] >= 0;
        key = mix(key, index(origin(source, k, first)));
      }
      if (!followed || source.needs.empty()) continue;
      const auto [begin, end] = known.equal_range(key);
      for (auto it = begin; it != end; ++it) {
        if (!equal(source, tagged_.sources[index(it->second)], first)) continue;
        first[i] = it->second;
        break;
      }
      if (first[i] == static_cast<int>(i)) known.emplace(key, first[i]);
    }
    return first;
  }
  // The source of operand k: below 0 for arguments.
  static int origin(const Source& source, std::size_t k, const std::vector<int>& first) {
    const int need = source.needs[k];
    return need >= 0 ? first[index(need)] : -1 - source.arguments[k];
  }
  static bool equal(const Source& a, const Source& b, const std::vector<int>& first) {
    if (a.op != b.op || a.loop != b.loop || a.needs.size() != b.needs.size() ||
        !(a.params == b.params))
      return false;
    for (std::size_t k = 0; k < a.needs.size(); ++k) {
      if (origin(a, k, first) != origin(b, k, first)) return false;
    }
    return true;
  }

  // Sources that left nothing: they are dead, equal to others, part of their users, or cost
  // nothing.
  void settle() {
    const std::vector<int> first = find_equals();
    std::vector<int> doer(first.size(), -1);  // of those that are equal, one that is computed
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (!out_.sources[i].steps.empty()) doer[index(first[i])] = static_cast<int>(i);
    }
    std::vector<std::vector<int>> users(tagged_.sources.size());
    for (std::size_t i = 0; i < tagged_.sources.size(); ++i) {
      for (int need : tagged_.sources[i].needs) {
        if (need >= 0) users[index(need)].push_back(static_cast<int>(i));
      }
    }
    for (std::size_t i = tagged_.sources.size(); i-- > 0;) {
      Outcome& outcome = out_.sources[i];
      const Source& source = tagged_.sources[i];
      if (source.dead) {
        outcome.fate = Fate::dead;
        continue;
      }
      const int other = doer[index(first[i])];
      if (outcome.fate == Fate::free && other >= 0) {
        outcome = {Fate::absorbed, out_.sources[index(other)].steps, {other}};
        continue;
      }
      if (outcome.fate == Fate::free && works(source)) absorb(outcome, users, i);
      if (outcome.fate == Fate::absorbed || outcome.steps.empty()) continue;
      for (int step : outcome.steps) {
        for (int other : out_.steps[index(step)].sources) {
          if (other != static_cast<int>(i)) outcome.related.push_back(other);
        }
      }
    }
  }

  // Does it compute, so that its work must be found elsewhere?
  static bool works(const Source& source) {
    return !source.called && source.op != &core_ops().broadcast_in_dim &&
           (is_product(*source.op) || source.op->kind == Kind::reduction);
  }

  // Finds the step that does the work of source i, through uses that move its result without work.
  void absorb(Outcome& outcome, const std::vector<std::vector<int>>& users, std::size_t i) const {
    std::vector<int> frontier = users[i];
    for (std::size_t next = 0; next < frontier.size(); ++next) {
      const int user = frontier[next];
      const Outcome& by = out_.sources[index(user)];
      if (by.fate == Fate::product || by.fate == Fate::reduction || by.fate == Fate::loop) {
        outcome = {Fate::absorbed, by.steps, {user}};
        return;
      }
      if (by.fate == Fate::absorbed) {
        outcome = by;
        return;
      }
      if (by.fate != Fate::free && by.fate != Fate::view) continue;
      frontier.insert(frontier.end(), users[index(user)].begin(), users[index(user)].end());
    }
  }

  const TaggedProgram& tagged_;
  Outcomes out_;
  std::vector<int> number_of_;  // per step of the outermost plan: where it is in out_.steps
};

}  // namespace

std::string_view name(Fate fate) {
  constexpr std::string_view names[] = {"dead", "free",   "view",      "absorbed", "arithmetic",
                                        "copy", "kernel", "reduction", "product",  "loop"};
  return names[index(fate)];
}

Outcomes find_outcomes(const TaggedProgram& program, const CompileOptions& options) {
  return Search(program).run(options);
}

}  // namespace shardax
