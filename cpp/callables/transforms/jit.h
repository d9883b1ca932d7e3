// callables/transforms/jit.h - jit: staged once per signature, then run as one program.
#pragma once

#include <memory>
#include <utility>

#include "analysis/device_sets.h"
#include "analysis/shardings.h"
#include "callables/cache.h"
#include "callables/function.h"
#include "callables/host_function.h"
#include "callables/program/shown.h"
#include "callables/run.h"
#include "callables/staging/traced.h"

namespace shardax::callables {

struct JitEntry {
  BoundOp op;
  // the first operands: values that the function closes over, if they include tracers
  Values closed;
  TreeDefPtr out_tree;
  Donation donation;
  KeptFunctions functions;
  std::shared_ptr<JitEntry> program;  // of a patient function: its second call's entry
  Ref references;                     // as in Staged
  std::size_t held_in = 0, held_out = 0;
  std::vector<ShardingPtr> placed;  // of the last call's leaves, which agree with in_shardings
  Shardings asked = {};             // of out_shardings, as results show them; empty: none
  KeepsShown shown = {};
};
using JitCache = Cache<JitEntry>;

struct JitOptions {
  StaticSpec statics;
  std::vector<int> donated_positions;
  std::vector<Ref> donated_names;
  bool inlined = false;             // programs that call it get its equations, not the call
  bool patient = false;             // the first call of a signature runs the function as it is
  Ref in_shardings, out_shardings;  // null: none
};

class Jit final : public Transform {
 public:
  Jit(JitOptions options, std::shared_ptr<JitCache> cache)
      : options_(std::move(options)), cache_(std::move(cache)) {}
  ~Jit() override { JitCache::release_own(cache_); }
  PyObject* call(PyObject* function, const CallArguments& arguments) override;
  int traverse(visitproc visit, void* arg) override;
  void clear() override { JitCache::clear_own(cache_); }
  Ref staged(PyObject* fun) const override;
  Ref recipe(PyObject* function) const override;
  const StaticSpec& statics() const override { return options_.statics; }
  const JitOptions& options() const { return options_; }
  StaticSpec donated() const override {
    return {options_.donated_positions, options_.donated_names};
  }
  const void* leaves() const override { return JitCache::left_by(cache_); }
  JitCache& cache() { return *cache_; }
  // `fun` as a program for leaves of these types: that of its calls.
  Staged program_for(PyObject* fun, FlatCall& call, const Types& types);

 private:
  Ref call_program(PyObject* fun, const CallArguments& arguments);
  std::shared_ptr<JitEntry> with_held_values(std::shared_ptr<JitEntry> entry, PyObject* fun,
                                             FlatCall& call, Values& values);
  Shardings asked_of_results(const Staged& staged) const;
  // Arrays that were placed lie as in_shardings say: ValueError otherwise.
  void require_given(FlatCall& call, const Values& values, JitEntry& entry) const;
  PyObject* call_with_refs(PyObject* fun, const CallArguments& arguments) const;
  std::shared_ptr<JitEntry> patient_entry(PyObject* fun, FlatCall& call, const Values& values);
  void expect_again(FlatCall& call, const Values& values);
  std::shared_ptr<JitEntry> stage(PyObject* fun, FlatCall& call, const Values& values);
  Staged trace(PyObject* fun, FlatCall& call, const Types& types);
  std::shared_ptr<JitEntry> keep(FlatCall& call, const Types& types, const Staged& staged);

  JitOptions options_;
  std::shared_ptr<JitCache> cache_;  // shared with other functions made from the same one
  bool meets_references_ = false;    // a call did
};

// A new PjitFunction around `fun`.
Ref make_jit(PyObject* fun, JitOptions options);

}  // namespace shardax::callables
