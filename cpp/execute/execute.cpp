// execute/execute.cpp - plan caches, uniform inputs, and releasing the interpreter's lock.
#include "execute/execute.h"

#include <atomic>
#include <list>
#include <mutex>
#include <numeric>
#include <optional>

#include "analysis/nonfinite.h"
#include "analysis/shardings.h"
#include "analysis/uniform.h"
#include "base/errors.h"
#include "compile/pipeline.h"
#include "control/control.h"
#include "runtime/interrupt.h"

namespace shardax {
namespace {

std::atomic<bool> execution_refused = false;

void check_execution() {
  if (!execution_refused.load(std::memory_order_relaxed)) return;
  fail(ErrorKind::runtime_error,
       "a program or op was to run, but the 'no_execution' option is set: leave the block of "
       "jax.no_execution first.");
}

LockHooks hooks;

// Handing the lock over costs about a microsecond; worth it from some tens of microseconds on.
constexpr double long_work_ns = 50'000;

// Work without the interpreter's lock, which the caller's signals can end.
class LockReleased {
 public:
  explicit LockReleased(bool wanted) : state_(wanted && hooks.release ? hooks.release() : nullptr) {
    if (state_ && hooks.gets_signals()) signals_.emplace(hooks.check_signals, state_);
  }
  ~LockReleased() {
    if (state_) hooks.acquire(state_);
  }
  LockReleased(const LockReleased&) = delete;
  LockReleased& operator=(const LockReleased&) = delete;

 private:
  void* state_;
  std::optional<runtime::Interruptible> signals_;
};

// A callback, or another thread while the lock is released, may delete the arrays; their memory
// stays until the end.
Values run_plan(const Plan& plan, const Values& arrays) {
  std::vector<Shared<Buffer>> memory;
  memory.reserve(arrays.size());
  for (const Value& array : arrays) memory.push_back(as_array(array).buffer());
  const LockReleased released(plan.cost > long_work_ns);
  return plan.run(arrays, memory);
}

void check_alive(const Array& array) {
  if (array.deleted()) {
    fail(ErrorKind::runtime_error, "Array has been deleted with shape=", to_string(array.type()),
         ".");
  }
}

}  // namespace

void set_lock_hooks(const LockHooks& installed) { hooks = installed; }

namespace {

// How a call's arrays are seen.
struct Seen {
  SmallVector<const Shape*, 16> strides;  // 0 along the mapped axis of uniform inputs
  std::vector<Shape> changed;             // those strides that are not the array's own
  Values arrays;  // those to run on, where some had to be spread out in memory; else empty
};

}  // namespace

struct Callable::State {
  struct Entry {
    std::vector<Shape> strides;
    PlanPtr plan;
  };
  std::mutex mutex;  // guards what follows, not the runs
  std::vector<Entry> entries;
  std::vector<Mapped> mapped;
  // The sets of mapped inputs that have been taken as uniform together. As a program is compiled
  // for each, there are at most one more than mapped inputs; the last place is for none of them,
  // as which a set that finds no place is run, spread out in memory.
  std::vector<std::vector<bool>> variants;

  bool admit(const std::vector<bool>& uniform);
  void see(const Values& arrays, Seen& seen);
  PlanPtr find(const Seen& seen) const;

  // Those of the last call's inputs, and what followed for its results.
  std::optional<Shardings> in_shardings;
  Shardings out_shardings;
  bool gathers = false;  // what maps over devices takes operands from wherever they are
  bool labels = false;  // something within gives a sharding whatever the inputs have
  void label(const Program& program, const Values& arrays, const Values& results);
};

void Callable::State::label(const Program& program, const Values& arrays, const Values& results) {
  if (!labels && !any_sharding(arrays)) return place_in_context(results);
  Shardings in = shardings_of(arrays);
  const std::lock_guard lock(mutex);
  if (in != in_shardings) {
    out_shardings = replicated_rest(propagate(program, in));
    in_shardings = std::move(in);
  }
  set_shardings(results, out_shardings);
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
  for (Mapped& m : mapped) uniform.push_back(is_uniform(m, as_array(arrays[m.input])));
  if (!mapped.empty() && !admit(uniform)) {
    seen.arrays = arrays;
    for (const Mapped& m : mapped) {
      const Array& array = as_array(arrays[m.input]);
      if (array.strides()[static_cast<std::size_t>(m.axis)] == 0)
        seen.arrays[m.input] = spread_out(array);
    }
    uniform.assign(mapped.size(), false);
  }
  for (const Value& value : seen.arrays.empty() ? arrays : seen.arrays)
    seen.strides.push_back(&as_array(value).strides());
  seen.changed.reserve(mapped.size());
  for (std::size_t i = 0; i < mapped.size(); ++i) {
    if (!uniform[i]) continue;
    seen.changed.push_back(*seen.strides[mapped[i].input]);
    seen.changed.back()[static_cast<std::size_t>(mapped[i].axis)] = 0;
    seen.strides[mapped[i].input] = &seen.changed.back();
  }
}

PlanPtr Callable::State::find(const Seen& seen) const {
  for (const Entry& entry : entries) {
    if (std::equal(entry.strides.begin(), entry.strides.end(), seen.strides.begin(),
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
    state_->gathers |= maps_over_devices(*eqn.op, eqn.params);
  }
}

Callable::~Callable() = default;

Values Callable::operator()(const Values& arrays) {
  check_execution();
  for (const Value& value : arrays) check_alive(as_array(value));
  if (!state_->gathers && any_sharding(arrays)) require_same_devices(program_->name, arrays);
  Seen seen;
  PlanPtr plan;
  {
    const std::lock_guard lock(state_->mutex);
    state_->see(arrays, seen);
    plan = state_->find(seen);
  }
  if (!plan) {
    CompileOptions options;
    for (const Shape* s : seen.strides) options.input_strides.push_back(*s);
    plan = compile(program_, options);
    const std::lock_guard lock(state_->mutex);
    // Unusual layouts must not pile up: a call site has few of them.
    constexpr std::size_t max_layouts = 32;
    if (state_->entries.size() == max_layouts) state_->entries.erase(state_->entries.begin());
    std::vector<Shape> key;
    for (const Shape* s : seen.strides) key.push_back(*s);
    state_->entries.push_back({std::move(key), plan});
  }
  Values results = run_plan(*plan, seen.arrays.empty() ? arrays : seen.arrays);
  if (watching_nonfinite()) inspect_results(*program_, arrays, results);
  state_->label(*program_, arrays, results);
  return results;
}

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
  const std::lock_guard lock(mutex);
  entries.push_front(std::move(entry));
  places.emplace(entries.front().key, entries.begin());
  if (entries.size() <= most_entries) return;
  const auto oldest = std::prev(entries.end());
  const auto [first, last] = places.equal_range(oldest->key);
  places.erase(std::find_if(first, last, [&](const auto& p) { return p.second == oldest; }));
  entries.pop_back();
}

// Never destroyed: threads may compute while the process ends.
EagerCache& eager_cache() {
  static EagerCache& cache = *new EagerCache;
  return cache;
}

ProgramPtr one_op_program(const Op& op, const Params& params, const Values& in) {
  MutableProgram program(new Program);
  program->name = op.name;
  Types types;
  Equation eqn{&op, params, {}, {}, nullptr};
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

Types types_of(const Values& values) {
  Types types;
  for (const Value& value : values) types.push_back(value->type());
  return types;
}

// Views of arrays need no plan.
bool evaluate_view(const Op& op, const Params& params, const Values& in, Values& out) {
  if (!op.view) return false;
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
  PlanPtr plan = compile(one_op_program(op, params, in), options);
  eager_cache().insert({key, &op, params, std::move(types), options.input_strides, plan});
  return plan;
}

// Calls of ops that carry programs, most recent first. Few are kept, as each keeps its programs
// alive; the calls of jit and pmap themselves have Callables of their own.
struct ControlCache {
  struct Entry {
    const Op* op;
    Params params;
    Types types;
    std::shared_ptr<Callable> callable;
  };
  std::mutex mutex;
  std::list<Entry> entries;
};

std::shared_ptr<Callable> control_callable(const Op& op, const Params& params, const Values& in) {
  static ControlCache& cache = *new ControlCache;  // never destroyed, as above
  constexpr std::size_t max_entries = 64;
  const std::lock_guard lock(cache.mutex);
  for (auto it = cache.entries.begin(); it != cache.entries.end(); ++it) {
    bool same = it->op == &op && it->params == params;
    for (std::size_t i = 0; same && i < in.size(); ++i) same = it->types[i] == in[i]->type();
    if (!same) continue;
    cache.entries.splice(cache.entries.begin(), cache.entries, it);
    return it->callable;
  }
  Types types = types_of(in);
  auto callable = std::make_shared<Callable>(one_op_program(op, params, in));
  cache.entries.push_front({&op, params, std::move(types), callable});
  if (cache.entries.size() > max_entries) cache.entries.pop_back();
  return callable;
}

}  // namespace

void refuse_execution(bool refused) { execution_refused = refused; }

Values evaluate_op(const Op& op, const Params& params, const Values& in) {
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
  if (op.kind == Kind::control) {
    return (*control_callable(op, params, in))(in);
  }
  Values out;
  if (!evaluate_view(op, params, in, out)) {
    out = run_plan(*eager_plan(op, params, in), in);
    if (watching_nonfinite()) inspect_results(op, in, out);
  }
  if (any_sharding(in) || gives_sharding(op, params)) {
    set_shardings(out, propagate(op, params, types_of(in), types_of(out), shardings_of(in)));
  } else {
    place_in_context(out);
  }
  return out;
}

namespace {
const bool installed = [] {
  set_evaluator(evaluate_op);
  return true;
}();
}  // namespace

}  // namespace shardax
