// trace/trace.cpp - the stack of traces, bind, and the axes in scope.
#include "trace/trace.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "array/checked_axis.h"
#include "base/errors.h"
#include "base/index.h"
#include "base/per_thread.h"
#include "base/stack.h"
#include "ir/core_ops.h"
#include "runtime/interrupt.h"
#include "trace/auto_pvary.h"
#include "trace/current.h"
#include "trace/depth.h"
#include "trace/eval_program.h"
#include "trace/leaks.h"
#include "trace/reentry.h"

namespace shardax {
namespace {

struct State {
  std::vector<Trace*> stack;  // level l is stack[l - 1]; level 0 computes
  int dynamic = 0;            // level of the innermost staging trace
  std::uint64_t generations = 0;
  std::vector<BoundAxis> axes;
  int function_level = 0;                    // ops that call functions go at least there
  std::vector<std::pair<int, int>> aliases;  // of levels, outermost first
  LocationPtr location;                      // overrides the locator
  NamesPtr names;
};

State& state() { return per_thread<State, State>(); }

Evaluator evaluator = nullptr;
Locator locator = nullptr;
LeakDescriber leak_describer = nullptr;

}  // namespace

Trace::Trace(bool staging) : staging_(staging) {
  State& s = state();
  generation_ = ++s.generations;
  s.stack.push_back(this);
  level_ = static_cast<int>(s.stack.size());
  outer_dynamic_ = s.dynamic;
  if (staging_) s.dynamic = level_;
  outer_names_ = staging_ ? std::exchange(s.names, nullptr) : s.names;
}

Trace::~Trace() {
  State& s = state();
  s.stack.pop_back();
  s.dynamic = outer_dynamic_;
  s.names = outer_names_;
}

bool Trace::owns(const Value& value) const {
  if (!value->is_tracer()) return false;
  const auto& tracer = static_cast<const Tracer&>(*value);
  return tracer.level() == level_ && tracer.generation() == generation_;
}

namespace {
using Watched = std::unordered_set<const Tracer*>;
// The values watched by this thread's outermost TracerWatch, which owns the set.
constinit thread_local Watched* watched = nullptr;
}  // namespace

Tracer::Tracer(const Trace& trace, Type type)
    : ValueBase(std::move(type), true), level_(trace.level()), generation_(trace.generation()) {
  if (watched) watched->insert(this);
}

Tracer::~Tracer() {
  if (watched) watched->erase(this);
}

TracerWatch::TracerWatch() {
  if (watched) return;
  own_ = std::make_unique<Watched>();
  watched = own_.get();
}

TracerWatch::~TracerWatch() {
  if (own_) watched = nullptr;
}

std::vector<const Tracer*> TracerWatch::alive(const Trace& trace) const {
  return tracers_alive(trace.generation());
}

std::vector<const Tracer*> tracers_alive(std::uint64_t generation) {
  std::vector<const Tracer*> out;
  for (const Tracer* tracer : *watched) {
    if (tracer->generation() == generation) out.push_back(tracer);
  }
  return out;
}

bool Tracer::alive() const {
  const State& s = state();
  return static_cast<int>(s.stack.size()) >= level_ &&
         s.stack[index(level_) - 1]->generation() == generation_;
}

Trace& Tracer::trace() const {
  if (!alive()) {
    const std::string source = leak_describer ? leak_describer(*this) : "";
    fail(ErrorKind::unexpected_tracer_error,
         "Encountered an unexpected tracer. A function transformed by shardax had a side effect, "
         "allowing for a reference to an intermediate value with type ",
         to_string(type_), " wrapped in a ", class_name(),
         " to escape the scope of the transformation.",
         source.empty() ? ""
                        : "\nThe function being traced when the value leaked was " + source + ".",
         "\nReturn the value from the function instead of saving it to global state: a variable, "
         "list or attribute outside of it.");
  }
  return *state().stack[index(level_) - 1];
}

std::uint64_t staging_generation() {
  const State& s = state();
  return s.dynamic == 0 ? 0 : s.stack[index(s.dynamic) - 1]->generation();
}

int trace_depth() { return static_cast<int>(state().stack.size()); }

EagerScope::EagerScope() : outer_dynamic_(state().dynamic) { state().dynamic = 0; }
EagerScope::~EagerScope() { state().dynamic = outer_dynamic_; }

namespace {

bool names_axis(const Params& params, AxisName name) {
  for (const auto& [key, value] : params) {
    const AxisNames* names = std::get_if<AxisNames>(&value);
    if (names && contains(names->names, name)) return true;
  }
  return false;
}

// The level of the innermost trace whose axis the op names; programs may name any, and effects
// happen on every device.
int axis_level(const State& s, const Op& op, const Params& params) {
  int level = 0;
  for (const BoundAxis& axis : s.axes) {
    if (axis.level > level && (op.kind == Kind::control || (!op.effect.empty() && axis.devices) ||
                               names_axis(params, axis.name))) {
      level = axis.level;
    }
  }
  return level;
}

// Do the operands of an op such as add have to agree on the checked axes over which they vary? A
// function of the user's gets them as they are.
bool must_agree(const State& s, const Op& op, const Params& params, const Values& in) {
  if (in.size() < 2 || op.kind == Kind::collective || op.kind == Kind::control) return false;
  if (std::none_of(s.axes.begin(), s.axes.end(),
                   [](const BoundAxis& axis) { return is_checked(axis.name); }))
    return false;
  if (std::any_of(params.begin(), params.end(), [](const Params::Entry& entry) {
        return std::holds_alternative<FunctionPtr>(entry.second);
      }))
    return false;
  return std::any_of(in.begin(), in.end(), [&](const Value& value) {
    return value && in[0] && value->type().varying != in[0]->type().varying;
  });
}

std::atomic<bool> casts = true;

[[noreturn]] void refuse_to_cast(const Op& op, const Values& in) {
  std::string types;
  for (const Value& value : in)
    types += concat(types.empty() ? "" : ", ", to_string(value->type()));
  value_error(
      "Primitive ", op.name, " requires varying manual axes to match, but got [", types,
      "]. Please open up those that lack an axis with shardax.lax.pcast(..., to='varying'), "
      "or set the flag jax_auto_pcast.");
}

// The operands, each varying over the checked axes of all. A scalar that devices share, beside an
// operand that is left to sum over an axis, is reduced over it.
Values agreeing(const Values& in) {
  const Op &pvary = core_ops().pvary, &preduced = core_ops().preduced,
           &to_varying = core_ops().reduced_vary_cast;
  AxisSet all;
  for (const Value& value : in) all = join(all, value->type().varying);
  const AxisSet sums =
      join(axes_in_state(all, AxisState::unreduced), axes_in_state(all, AxisState::reduced));
  const auto cast = [](const Op& op, const Value& value, const AxisSet& axes) {
    return axes.empty() ? value : bind1(op, {{"axes", AxisNames{axes}}}, {value});
  };
  Values out;
  for (const Value& value : in) {
    AxisSet shared, reduced, open;
    for (const AxisName name : lacking(value->type().varying, all)) {
      const bool is_reduced = state_over(value->type().varying, name) == AxisState::reduced;
      (is_reduced ? reduced : shared).push_back(name);
    }
    if (value->type().rank() == 0) {
      for (const AxisName name : sums) {
        const bool left =
            !contains(all, name) && state_over(value->type().varying, name) == AxisState::shared;
        if (left) open.push_back(name);
      }
    }
    out.push_back(cast(preduced, cast(to_varying, cast(pvary, value, shared), reduced), open));
  }
  return out;
}

int aliased(const State& s, int level) {
  for (const auto& [from, to] : s.aliases) {
    if (level == from) level = to;
  }
  return level;
}

}  // namespace

void cast_operands(bool on) { casts = on; }

Values bind(const Op& op, const Params& params, const Values& operands) {
  State& s = state();
  int top = s.dynamic;
  const bool differ = !s.axes.empty() && must_agree(s, op, params, operands);
  if (differ && !casts.load(std::memory_order_relaxed)) refuse_to_cast(op, operands);
  const Values agreed = differ ? agreeing(operands) : Values();
  const Values& in = differ ? agreed : operands;
  if (!s.axes.empty() &&
      (op.kind == Kind::collective || op.kind == Kind::control || !op.effect.empty())) {
    top = std::max(top, axis_level(s, op, params));
  }
  if (op.stage) top = std::max(top, s.function_level);
  for (const Value& value : in) {
    if (!value) throw MissingOperand();
    if (!value->is_tracer()) continue;
    auto& tracer = static_cast<const Tracer&>(*value);
    tracer.trace();
    top = std::max(top, aliased(s, tracer.level()));
  }
  if (top == 0) return evaluator(op, params, in);
  check_stack("tracing");
  runtime::poll_caller();
  return s.stack[index(top) - 1]->process(op, params, in);
}

FunctionLevel::FunctionLevel(int level) : outer_(state().function_level) {
  state().function_level = level;
}
FunctionLevel::~FunctionLevel() { state().function_level = outer_; }

TraceAlias::TraceAlias(int from, int to) { state().aliases.emplace_back(from, to); }
TraceAlias::~TraceAlias() { state().aliases.pop_back(); }

CurrentTrace current_trace() {
  const State& s = state();
  return {s.stack.empty() ? nullptr : s.stack.back(), s.dynamic};
}

DynamicScope::DynamicScope(int level) : outer_(state().dynamic) { state().dynamic = level; }
DynamicScope::~DynamicScope() { state().dynamic = outer_; }

std::uint64_t generation_at(int level) {
  const State& s = state();
  const auto at = index(level);
  return level > 0 && at <= s.stack.size() ? s.stack[at - 1]->generation() : 0;
}

bool staging_in_progress() { return state().dynamic != 0; }

const Array* concrete(const Value& value) {
  Value inner = value;
  while (inner && inner->is_tracer()) inner = static_cast<const Tracer&>(*inner).underlying();
  return inner ? static_cast<const Array*>(inner.get()) : nullptr;
}

void set_evaluator(Evaluator e) { evaluator = e; }
void set_locator(Locator l) { locator = l; }
void set_leak_describer(LeakDescriber describe) { leak_describer = describe; }
LocationPtr current_location() {
  const LocationPtr& given = state().location;
  return given ? given : locator ? locator() : nullptr;
}

LocationScope::LocationScope(LocationPtr location) : outer_(std::move(location)) {
  std::swap(outer_, state().location);
}
LocationScope::~LocationScope() { std::swap(outer_, state().location); }

const NamesPtr& current_names() { return state().names; }
NamesScope::NamesScope(NamesPtr names) : outer_(std::move(names)) {
  std::swap(outer_, state().names);
}
NamesScope::~NamesScope() { std::swap(outer_, state().names); }
TransformationScope::TransformationScope(const char* name)
    : NamesScope(std::make_shared<const Names>(Names{current_names(), name, true})) {}

Values evaluate(const Program& program, const Values& inputs) {
  return eval_program(program, inputs, [](const Equation& eqn, const Values& in) {
    return shardax::bind(*eqn.op, eqn.params, in);
  });
}

AxisScope::AxisScope(BoundAxis axis) { state().axes.push_back(axis); }
AxisScope::~AxisScope() { state().axes.pop_back(); }

AxisLevelHidden::AxisLevelHidden(int level) : level_(level) {
  for (BoundAxis& axis : state().axes) {
    if (axis.level == level_) axis.level = -level_;
  }
}
AxisLevelHidden::~AxisLevelHidden() {
  for (BoundAxis& axis : state().axes) {
    if (axis.level == -level_) axis.level = level_;
  }
}

AxisEnvironment::AxisEnvironment(std::vector<BoundAxis> axes) : outer_(std::move(axes)) {
  std::swap(outer_, state().axes);
}
AxisEnvironment::~AxisEnvironment() { std::swap(outer_, state().axes); }

std::span<const BoundAxis> bound_axes() { return state().axes; }

namespace {

// The number of letters to insert, remove or change to get from one text to the other.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

// The axes in scope, for a message, and the one whose name may be meant.
std::string axes_in_scope(std::string_view name) {
  std::string known, meant;
  std::size_t fewest = name.size() / 3;
  for (const BoundAxis& axis : state().axes) {
    // Axes that the user has not named have names of this kind.
    const std::string& text = axis_text(axis.name);
    const bool unnamed = text.starts_with("_internal");
    known += (known.empty() ? "" : ", ") + (unnamed ? "one without a name" : text);
    const std::size_t edits = edits_between(name, text);
    if (!unnamed && edits <= fewest) {
      fewest = edits;
      meant = text;
    }
  }
  if (known.empty()) return "No mapped axis is in scope here.";
  const std::string question = meant.empty() ? "." : "; did you mean '" + meant + "'?";
  return "The axes in scope are: " + known + question;
}

}  // namespace

std::int64_t axis_size(AxisName name, std::string_view user) {
  const auto& axes = state().axes;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes[i].name == name) return axes[i].size;
  }
  const std::string& text = axis_text(name);
  fail(ErrorKind::name_error, user, ": Found an unbound axis name: ", text, ". ",
       axes_in_scope(text), " To fix this, please call ", user,
       " inside a function mapped with pmap, vmap or shard_map and axis_name='", text, "'.");
}

}  // namespace shardax
