// execute/execute.cpp - plan caches of call sites, uniform and donated inputs.
#include "execute/execute.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>

#include "analysis/device_sets.h"
#include "analysis/nonfinite.h"
#include "analysis/partition.h"
#include "analysis/shardings.h"
#include "analysis/uniform.h"
#include "base/errors.h"
#include "base/index.h"
#include "compile/pipeline.h"
#include "control/control.h"
#include "execute/partial_sums.h"
#include "execute/process_programs.h"
#include "execute/program_agreement.h"
#include "execute/run.h"
#include "ops/collectives/sum_groups.h"
#include "runtime/spans.h"
#include "runtime/transfer.h"

namespace shardax {
namespace {

// The arrays of a call, as its plan sees them.
struct Seen {
  SmallVector<const Shape*, 16> strides;  // 0 along the mapped axis of uniform inputs
  std::vector<Shape> changed;             // those strides that are not the array's own
  Values arrays;  // those to run on, where some had to be spread out in memory; else empty
};

}  // namespace

struct Callable::State {
  struct Entry {
    std::vector<Shape> strides;
    std::vector<bool> donated;
    PlanPtr plan;
  };
  std::mutex mutex;  // guards what follows, not the runs
  std::vector<Entry> entries;
  std::vector<Mapped> mapped;
  // The sets of mapped inputs that have been taken as uniform together. A program is compiled for
  // each, so there are at most one more than mapped inputs. The last place is for the empty set: a
  // set that finds no place runs as this one, spread out in memory.
  std::vector<std::vector<bool>> variants;

  bool admit(const std::vector<bool>& uniform);
  void see(const Values& arrays, Seen& seen);
  PlanPtr find(const Seen& seen, const std::vector<bool>& donated) const;

  // The shardings of the last call's inputs, and of its results.
  std::optional<Shardings> in_shardings;
  Shardings out_shardings;
  bool gathers = false;    // a map over devices takes operands from any device
  bool labels = false;     // something within gives a sharding whatever the inputs have
  AskedDevices devices;    // those that a sharding within asks for
  bool in_groups = false;  // sums over devices in groups take equal slices as they take others
  bool parts = false;      // it takes sums over devices apart
  std::shared_ptr<AgreedProgram> agreed;  // of programs that send messages
  bool spans = false;                     // it names devices of other processes
  bool inspects = false;                  // something within is told how an array is split
  bool always = false;                    // ... before each call
  std::optional<Shardings> inspected_for;
  void inspect(const Program& program, const Values& arrays);
  bool set_known(const Values& results, const Shardings& in);
  void label(const Program& program, const Values& arrays, const Values& results);
  Values run(const Plan& plan, const Values& arrays) const;
};

// Labels the results of arrays that are split as those of the last call.
bool Callable::State::set_known(const Values& results, const Shardings& in) {
  const std::lock_guard lock(mutex);
  if (in != in_shardings) return false;
  set_shardings(results, out_shardings);
  return true;
}

void Callable::State::label(const Program& program, const Values& arrays, const Values& results) {
  if (!labels && !any_sharding(arrays)) return place_in_context(results);
  Shardings in = shardings_of(arrays);
  if (!set_known(results, in)) {
    // Staging within may hand Python's lock to a thread that asks for this one: it has to be free.
    Shardings out = as_results_show(replicated_rest(propagate(program, in)), program.output_types(),
                                    in, program.input_types());
    set_shardings(results, out);
    const std::lock_guard lock(mutex);
    out_shardings = std::move(out);
    in_shardings = std::move(in);
  }
  keep_partial_sums(program, arrays, results);
}

// Tells callbacks how their arrays are split, at the first call and when inputs are split
// differently; with `always` at each call. Functions run without the lock.
void Callable::State::inspect(const Program& program, const Values& arrays) {
  Shardings in = shardings_of(arrays);
  {
    const std::lock_guard lock(mutex);
    if (in == inspected_for && !always) return;
    inspected_for = in;
  }
  for (const Inspected& asked : inspected(program, in)) {
    const ArrayPtr zero = scalar_array(asked.type.dtype, 0);
    const ArrayPtr array = view_of(*zero, asked.type, Shape(asked.type.rank(), 0), 0);
    array->set_sharding(asked.sharding);
    asked.function->call({array});
  }
}

Values Callable::State::run(const Plan& plan, const Values& arrays) const {
  if (!agreed) return run_plan(plan, arrays);
  agreed->compare();
  const runtime::ProgramScope scope(agreed->hash());
  return run_plan(plan, arrays);
}

bool Callable::State::admit(const std::vector<bool>& uniform) {
  if (std::find(variants.begin(), variants.end(), uniform) != variants.end()) return true;
  const std::vector<bool> none(mapped.size(), false);
  const bool kept_free = std::find(variants.begin(), variants.end(), none) == variants.end();
  if (uniform != none && variants.size() + (kept_free ? 1 : 0) > mapped.size()) return false;
  variants.push_back(uniform);
  return true;
}

void Callable::State::see(const Values& arrays, Seen& seen) {
  std::vector<bool> uniform;
  for (Mapped& m : mapped)
    uniform.push_back(!in_groups && is_uniform(m, as_array(arrays[m.input])));
  if (!mapped.empty() && (in_groups || !admit(uniform))) {
    seen.arrays = arrays;
    for (const Mapped& m : mapped) {
      const Array& array = as_array(arrays[m.input]);
      if (array.strides()[index(m.axis)] == 0) seen.arrays[m.input] = spread_out(array);
    }
    uniform.assign(mapped.size(), false);
  }
  for (const Value& value : seen.arrays.empty() ? arrays : seen.arrays)
    seen.strides.push_back(&as_array(value).strides());
  seen.changed.reserve(mapped.size());
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    if (!uniform[i]) continue;
    seen.changed.push_back(*seen.strides[mapped[i].input]);
    seen.changed.back()[index(mapped[i].axis)] = 0;
    seen.strides[mapped[i].input] = &seen.changed.back();
  }
}

PlanPtr Callable::State::find(const Seen& seen, const std::vector<bool>& donated) const {
  for (const Entry& entry : entries) {
    if (entry.donated == donated &&
        std::equal(entry.strides.begin(), entry.strides.end(), seen.strides.begin(),
                   [](const Shape& a, const Shape* b) { return a == *b; })) {
      return entry.plan;
    }
  }
  return nullptr;
}

Callable::Callable(ProgramPtr program) : program_(std::move(program)), state_(new State) {
  std::vector<std::int64_t> inputs(program_->inputs.size());
  std::iota(inputs.begin(), inputs.end(), 0);
  find_mapped(*program_, inputs, state_->mapped);
  for (const Constant& constant : program_->constants)
    state_->labels |= bool(constant.value->sharding());
  for (const Equation& eqn : program_->equations) {
    state_->labels |= gives_sharding(eqn);
    state_->gathers |= gathers_operands(*eqn.op, eqn.params);
    state_->inspects |= inspects_sharding(eqn);
    state_->always |= splits_callbacks(eqn);
    state_->in_groups |=
        any_equation(eqn, [](const Equation& e) { return ops::has_sum_groups(e.params); });
  }
  state_->parts = asks_for_terms(*program_);
  state_->spans = spans_processes(*program_);
  if (!state_->spans) state_->agreed = agreed_program(program_);
  if (state_->labels) state_->devices = devices_asked(*program_);
}

Callable::~Callable() = default;

namespace {

// Does the array, seen once where it repeats, fill memory in order?
bool fills_memory(const Array& array) {
  Shape shape, strides;
  for (std::size_t d = 0; d < array.shape().size(); ++d) {
    if (array.shape()[d] > 1 && array.strides()[d] == 0) continue;
    shape.push_back(array.shape()[d]);
    strides.push_back(array.strides()[d]);
  }
  return is_contiguous(shape, strides);
}

// Donated arrays whose memory nobody else holds; empty: none. The search for NaN runs the program
// again, on the same arrays.
std::vector<bool> given_away(const Values& arrays, const std::vector<bool>* donated) {
  if (!donated || watching_nonfinite()) return {};
  std::vector<const ValueBase*> all;
  for (const Value& value : arrays) all.push_back(value.get());
  std::sort(all.begin(), all.end());
  std::vector<bool> out(arrays.size());
  bool any = false;
  for (std::size_t i = 0; i < donated->size(); ++i) {
    const Array& array = as_array(arrays[i]);
    const Shared<Buffer>& buffer = array.buffer();
    const auto [first, last] = std::equal_range(all.begin(), all.end(), arrays[i].get());
    out[i] = (*donated)[i] && last - first == 1 && buffer->own() && buffer->unique() &&
             fills_memory(array);
    any = any || out[i];
  }
  return any ? out : std::vector<bool>();
}

}  // namespace

Values Callable::operator()(const Values& arrays, const std::vector<bool>* donated) {
  check_execution();
  const auto text = [this]() -> runtime::SpanText { return {program_->name, "program"}; };
  const runtime::Span span(text);
  for (const Value& value : arrays) check_alive(as_array(value));
  const bool placed = !state_->gathers && any_sharding(arrays);
  if (placed) require_same_devices(program_->name, arrays);
  if (state_->spans || any_spans_processes(arrays)) return run_on_processes(program_, arrays);
  if (placed) require_devices(program_->name, arrays, state_->devices);
  if (state_->parts) {
    if (const std::optional<Values> results = run_on_parts(program_, arrays)) {
      state_->label(*program_, arrays, *results);
      return *results;
    }
  }
  Seen seen;
  std::vector<bool> given;
  PlanPtr plan;
  bool first = false;
  {
    const std::lock_guard lock(state_->mutex);
    first = state_->entries.empty();
    state_->see(arrays, seen);
    given = seen.arrays.empty() ? given_away(arrays, donated) : std::vector<bool>();
    plan = state_->find(seen, given);
  }
  if (!plan) {
    CompileOptions options;
    options.donated = given;
    for (const Shape* s : seen.strides) options.input_strides.push_back(*s);
    plan = first ? compile_told(program_, options) : compile(program_, options);
    const std::lock_guard lock(state_->mutex);
    // Unusual layouts must not pile up: a call site has few of them.
    constexpr std::size_t max_layouts = 32;
    if (state_->entries.size() == max_layouts) state_->entries.erase(state_->entries.begin());
    std::vector<Shape> key;
    for (const Shape* s : seen.strides) key.push_back(*s);
    state_->entries.push_back({std::move(key), std::move(given), plan});
  }
  if (state_->inspects) state_->inspect(*program_, arrays);
  Values results = state_->run(*plan, seen.arrays.empty() ? arrays : seen.arrays);
  if (watching_nonfinite()) inspect_results(*program_, arrays, results);
  state_->label(*program_, arrays, results);
  return results;
}

}  // namespace shardax
