// callables/run.h - running staged programs: at once on arrays, or as an op under transformations.
#pragma once

#include <memory>

#include "callables/call.h"
#include "execute/execute.h"

namespace shardax::callables {

// True where arrays can be computed on at once: no operand is a tracer, nothing is being staged and
// no mapped axis is in scope.
bool computes_at_once(const Values& values);

// An op with fixed params, applied to values: with its own Callable where it computes at once.
class BoundOp {
 public:
  BoundOp(const Op& op, Params params) : op_(op), params_(std::move(params)) {}
  const Params& params() const { return params_; }
  // For computing at once: `program` stands for the op applied to arrays of its input types.
  // Made at the first use.
  // `donated` as in Callable.
  Values compute(const Values& arrays, const std::vector<bool>* donated = nullptr);
  Values bind(const Values& values) const { return shardax::bind(op_, params_, values); }

 private:
  const Op& op_;
  Params params_;
  std::unique_ptr<Callable> callable_;
};

// Outputs that others hold as well (an argument, a constant) become separate objects over the same
// memory. Deleting or labelling one then leaves the other alone.
void detach(Values& outputs);

// The leaves that a call donates, and their deletion after it.
class Donation {
 public:
  Donation() = default;
  // Donates those leaves in the arguments `positions` and `names` that have an output of the same
  // type, or else of the same size. Warns about the rest.
  Donation(const CallForm& form, const std::vector<int>& positions, const std::vector<Ref>& names,
           const Types& inputs, const Types& outputs);
  // RuntimeError where a donated array is also an argument that is not.
  void require_distinct(const Values& inputs) const;
  // By leaf, whether a call deletes it; null where none is.
  const std::vector<bool>* mask() const { return deleted_.empty() ? nullptr : &deleted_; }
  void apply(const Values& inputs) const;

 private:
  std::vector<bool> asked_;    // those that the caller gives away, by leaf
  std::vector<bool> deleted_;  // those that a call deletes, by leaf; empty: none
};

}  // namespace shardax::callables
