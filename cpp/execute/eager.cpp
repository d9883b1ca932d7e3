// execute/eager.cpp - single ops computed at once: caches of their plans.
#include <algorithm>
#include <list>
#include <mutex>

#include "analysis/device_sets.h"
#include "analysis/key_reuse.h"
#include "analysis/nonfinite.h"
#include "analysis/shardings.h"
#include "compile/pipeline.h"
#include "control/control.h"
#include "execute/execute.h"
#include "execute/partial_sums.h"
#include "execute/process_programs.h"
#include "execute/run.h"
#include "ir/core_ops.h"
#include "ir/structural_equal.h"
#include "runtime/processes.h"
#include "runtime/spans.h"

namespace shardax {
namespace {

// Plans of single ops, by everything that a plan depends on; most recently used first.
struct EagerCache {
  struct Entry {
    std::size_t key;
    const Op* op;
    Params params;
    Types types;
    std::vector<Shape> strides;
    PlanPtr plan;
  };
  // A plan takes some 3 KB.
  static constexpr std::size_t most_entries = 2048;

  std::mutex mutex;
  std::list<Entry> entries;
  std::unordered_multimap<std::size_t, std::list<Entry>::iterator> places;

  PlanPtr find(std::size_t key, const Op& op, const Params& params, const Values& in);
  void insert(Entry entry);
};

PlanPtr EagerCache::find(std::size_t key, const Op& op, const Params& params, const Values& in) {
  const std::lock_guard lock(mutex);
  const auto [first, last] = places.equal_range(key);
  for (auto it = first; it != last; ++it) {
    const Entry& e = *it->second;
    bool same = e.op == &op && e.types.size() == in.size() && e.params == params;
    for (std::size_t i = 0; same && i < in.size(); ++i) {
      same = e.types[i] == in[i]->type() && e.strides[i] == as_array(in[i]).strides();
    }
    if (!same) continue;
    entries.splice(entries.begin(), entries, it->second);
    return e.plan;
  }
  return nullptr;
}

void EagerCache::insert(Entry entry) {
  std::list<Entry> gone;  // dropped without the lock: that may run Python
  const std::lock_guard lock(mutex);
  entries.push_front(std::move(entry));
  places.emplace(entries.front().key, entries.begin());
  if (entries.size() <= most_entries) return;
  const auto oldest = std::prev(entries.end());
  const auto [first, last] = places.equal_range(oldest->key);
  places.erase(std::find_if(first, last, [&](const auto& p) { return p.second == oldest; }));
  gone.splice(gone.begin(), entries, oldest);
}

// Never destroyed: threads may compute while the process ends.
EagerCache& eager_cache() {
  static EagerCache& cache = *new EagerCache;
  return cache;
}

ProgramPtr one_op_program(const Op& op, const Params& params, const Values& in,
                          std::string_view name, LocationPtr location = nullptr) {
  MutableProgram program(new Program);
  program->name = name;
  Types types;
  Equation eqn{&op, params, {}, {}, std::move(location)};
  for (const Value& value : in) {
    const Var v = program->add(value->type());
    program->inputs.push_back(v);
    eqn.inputs.push_back(v);
    types.push_back(value->type());
  }
  for (Type& type : infer_types(op, types, params)) {
    const Var v = program->add(std::move(type));
    eqn.outputs.push_back(v);
    program->outputs.push_back(v);
  }
  program->equations.push_back(std::move(eqn));
  return program;
}

// Views of arrays need no plan.
bool evaluate_view(const Op& op, const Params& params, const Values& in, Values& out) {
  if (!op.view || in.size() != 1) return false;
  const Array& source = as_array(in[0]);
  Types types = infer_types(op, {source.type()}, params);
  ViewLayout layout;
  if (!op.view(params, source.type(), source.strides(), types[0], layout)) return false;
  out.push_back(view_of(source, std::move(types[0]), std::move(layout.strides), layout.offset));
  return true;
}

PlanPtr eager_plan(const Op& op, const Params& params, const Values& in) {
  std::size_t key = mix(std::hash<const void*>{}(&op), hash(params));
  for (const Value& value : in) {
    key = mix(key, hash(value->type()));
    key = mix_all(key, as_array(value).strides());
  }
  if (PlanPtr known = eager_cache().find(key, op, params, in)) return known;
  CompileOptions options;
  Types types;
  for (const Value& value : in) {
    options.input_strides.push_back(as_array(value).strides());
    types.push_back(value->type());
  }
  PlanPtr plan = compile(one_op_program(op, params, in, op.name), options);
  eager_cache().insert({key, &op, params, std::move(types), options.input_strides, plan});
  return plan;
}

// Calls of ops that carry programs, most recent first. Few are kept, as each keeps its programs
// alive; the calls of jit and pmap themselves have Callables of their own.
struct ControlCache {
  struct Entry {
    const Op* op;
    Params params;
    std::size_t key;  // of the same params
    Types types;
    std::shared_ptr<Callable> callable;
  };
  std::mutex mutex;
  std::list<Entry> entries;

  // The callable of the first entry for these types that `fits`; null if there is none.
  template <class Fits>
  std::shared_ptr<Callable> find(const Op& op, const Values& in, Fits fits);
};

template <class Fits>
std::shared_ptr<Callable> ControlCache::find(const Op& op, const Values& in, Fits fits) {
  for (auto it = entries.begin(); it != entries.end(); ++it) {
    if (it->op != &op || it->types.size() != in.size() || !fits(*it)) continue;
    bool same = true;
    for (std::size_t i = 0; same && i < in.size(); ++i) same = it->types[i] == in[i]->type();
    if (!same) continue;
    entries.splice(entries.begin(), entries, it);
    return it->callable;
  }
  return nullptr;
}

// A function that is made anew for each call (a lambda, say) is staged anew; where that gives the
// same program, it is compiled once.
std::shared_ptr<Callable> control_callable(const Op& op, const Params& params, const Values& in) {
  using Entry = ControlCache::Entry;
  static ControlCache& cache = *new ControlCache;  // never destroyed, as above
  constexpr std::size_t max_entries = 64;
  std::size_t key = 0;
  std::list<Entry> gone;  // dropped without the lock: that may run Python
  const auto same = [&](const Entry& e) {
    return e.key == key && structurally_equal_params(e.params, params);
  };
  {
    const std::lock_guard lock(cache.mutex);
    if (auto known = cache.find(op, in, [&](const Entry& e) { return e.params == params; }))
      return known;
    key = hash_same(params);
    if (auto known = cache.find(op, in, same)) return known;
  }
  // Staging within may hand Python's lock to a thread that asks for this one: it has to be free.
  auto callable = std::make_shared<Callable>(one_op_program(op, params, in, op.name));
  const std::lock_guard lock(cache.mutex);
  if (auto known = cache.find(op, in, same)) return known;
  cache.entries.push_front({&op, params, key, types_of(in), callable});
  if (cache.entries.size() > max_entries)
    gone.splice(gone.begin(), cache.entries, std::prev(cache.entries.end()));
  return callable;
}

// Does a sharding that it gives have devices of other processes?
bool names_processes(const Params& params) {
  if (runtime::process_count() == 1) return false;
  return std::any_of(params.begin(), params.end(), [](const Params::Entry& entry) {
    const auto* sharding = std::get_if<ShardingPtr>(&entry.second);
    return sharding && spans_processes(*sharding);
  });
}

Values evaluate_unwatched(const Op& op, const Params& params, const Values& in) {
  check_execution();
  for (const Value& value : in) check_alive(as_array(value));
  if (op.kind == Kind::collective) {
    for (const auto& [key, value] : params) {
      if (const auto* names = std::get_if<AxisNames>(&value)) {
        for (AxisName name : names->names) axis_size(name, op.name);
      }
    }
  }
  if (op.eager) return op.eager(params, in);
  if (op.kind != Kind::control && any_sharding(in)) require_same_devices(op.name, in);
  if (op.kind != Kind::control && (any_spans_processes(in) || names_processes(params)))
    return run_on_processes(one_op_program(op, params, in, op.name), in);
  if (op.kind == Kind::control) {
    return (*control_callable(op, params, in))(in);
  }
  const auto text = [&]() -> runtime::SpanText { return {std::string(op.name), "op"}; };
  const runtime::Span span(text);
  // Plans are kept by shapes: questions that explicit axes leave open are asked each time.
  if (std::any_of(in.begin(), in.end(), [](const Value& v) { return bool(v->type().sharding); }))
    infer_types(op, types_of(in), params);
  Values out;
  if (!evaluate_view(op, params, in, out)) {
    out = run_plan(*eager_plan(op, params, in), in);
    if (watching_nonfinite()) inspect_results(op, in, out);
  }
  if (any_sharding(in) || gives_sharding(op, params)) {
    const Types given = types_of(in), made = types_of(out);
    const Shardings known = shardings_of(in);
    set_shardings(out, as_results_show(propagate_at_once(op, params, given, made, known), made,
                                       known, given));
    if (any_unreduced(out)) keep_partial_sums(*one_op_program(op, params, in, op.name), in, out);
  } else {
    place_in_context(out);
  }
  return out;
}

}  // namespace

ProgramPtr program_of(const Op& op, const Params& params, const Values& values) {
  if (&op == &core_ops().jit) return params.program(param::jaxpr);
  const std::string_view name = params.has("name") ? params.text(param::name) : op.name;
  return one_op_program(op, params, values, name, current_location());
}

Values evaluate_op(const Op& op, const Params& params, const Values& in) {
  if (!watching_key_reuse()) return evaluate_unwatched(op, params, in);
  const KeysInUse keys(*one_op_program(op, params, in, op.name), in, op.name);
  Values out = evaluate_unwatched(op, params, in);
  keys.mark(out);
  return out;
}

namespace {
const bool installed = [] {
  set_evaluator(evaluate_op);
  return true;
}();
}  // namespace

}  // namespace shardax
