// control/control.h - ops that carry programs: jit, pmap, cond, scan, while.
//
// Each has a file of its own with its jvp_body, linearize, transpose and batch rules, built from
// the program-to-program transformations.
#pragma once

#include "base/lists.h"
#include "ir/regions.h"
#include "transform/batch.h"
#include "transform/dce.h"
#include "transform/jvp.h"
#include "transform/transpose.h"

namespace shardax {

// The reverse of `select`: `values` at the places that `mask` selects, null elsewhere.
Values spread(const Values& values, const std::vector<bool>& mask);

Values bind_jit(const ProgramPtr& body, const Values& in);
// The transpose of a call of `body`, which is a call too. `in` are the known operands and the
// cotangents that are not zero. `spread` places its results.
struct TransposedCall {
  ProgramPtr program;
  Values in;
  std::vector<bool> known;  // of the call's operands
  std::size_t cotangents;   // the number of cotangents in `in`

  Values placed(const Values& results) const { return spread(results, inverse(known)); }
};
TransposedCall transposed_call(const ProgramPtr& body, const TransposeArgs& a);
// The transpose of an op that does no more than call `body`.
Values transpose_call(const ProgramPtr& body, const TransposeArgs& a);

// `body`, a function of one device's values, run op by op over the device axis that `regions`
// describes.
Values run_mapped(const ValueFunction& body, const Regions& regions, const Values& in);
// Inputs with the mapped axis first, and results where it belongs: `axis` -1 is the first device's
// value.
Values mapped_first(const Values& in, const Ints& axes);
Value place_mapped(const Value& value, bool mapped, std::int64_t axis, std::int64_t size);

// Functions with derivative rules of the user's own. `rule` takes primals and tangents and gives
// outputs and their tangents. `forward` gives outputs and residuals; `backward` takes residuals and
// cotangents and gives a cotangent per argument. With `symbolic_zeros`, null stands for zero
// tangents and cotangents. `forward` then gets each argument twice, the second time null unless it
// is differentiated.
Values bind_custom_jvp(const std::string& name, const FunctionPtr& fun, const FunctionPtr& rule,
                       bool symbolic_zeros, const Values& in);
Values bind_custom_vjp(const std::string& name, const FunctionPtr& fun, const FunctionPtr& forward,
                       const FunctionPtr& backward, bool symbolic_zeros, const Values& in);

// The forward rule of a function where its residuals may turn out not to be needed: then it is the
// function. Results: the outputs, then the residuals.
Values bind_remat_opt(const FunctionPtr& fun, const FunctionPtr& forward, const Values& in);

// A function with a batching rule of the user's own; control/custom_vmap.cpp describes its
// operands.
Values bind_custom_vmap(const ProgramPtr& call, const FunctionPtr& rule, const Values& in);

// The values that a checkpoint keeps besides its inputs.
class CheckpointPolicy : public Function {
 public:
  virtual bool saves(const Program& program, const Equation& eqn) const = 0;
  std::vector<Values> call(const Values&) const final { return {}; }
};
// `policy` may be null: nothing is kept. `barriers` select the inputs that a second evaluation must
// not share with the first.
Values bind_checkpoint(const ProgramPtr& body, const FunctionPtr& policy,
                       const std::vector<bool>& barriers, const Values& in);

// A scan without carry whose iterations are the devices of a mapped axis.
Values bind_device_loop(const ProgramPtr& body, std::int64_t size, std::size_t consts,
                        const Values& in);

// A property of a loop's carry (it has a tangent, it is batched), iterated until nothing changes.
// `once` gives it for the carry that comes out, given that of the carry that goes in.
std::vector<bool> carry_fixpoint(
    std::vector<bool> carry,
    const std::function<std::vector<bool>(const std::vector<bool>&)>& once);
std::vector<bool> nonnull(const Values& values);
Value zeros_if_null(const Value& value, const Type& type);

}  // namespace shardax
