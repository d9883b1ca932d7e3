// transform/jvp.h - forward-mode differentiation, and the split into known and linear parts.
//
// jvp pushes a trace whose tracers pair a primal with a tangent. linearize does the same, but its
// tangents are tracers of a recording trace that sees only them. Primal work is done (or staged) at
// once, while the linear part becomes a Program whose transpose is the vector-Jacobian product.
#pragma once

#include <functional>

#include "trace/stage.h"

namespace shardax {

using ValueFunction = std::function<Values(const Values&)>;

// Values and tangents of f at `primals`; a null tangent is zero, in and out.
JvpResult jvp(const ValueFunction& f, const Values& primals, const Values& tangents);

// The linear map d f at `primals`, for those inputs that `nonzero` selects.
struct LinearMap {
  Values out;          // primal outputs
  ProgramPtr program;  // inputs: the selected tangents, then the residuals
  Values residuals;
  std::vector<bool> nonzero;  // outputs with a tangent: the program's outputs, in order
  Types in_types;             // of the selected tangents
};
LinearMap linearize(const ValueFunction& f, const Values& primals,
                    const std::vector<bool>& nonzero);
// One tangent per selected input gives one per output, null where zero.
Values apply(const LinearMap& map, const Values& tangents);
// One cotangent per output (null: zero) gives one per selected input, null where zero.
Values apply_transpose(const LinearMap& map, const Values& cotangents);

// The error if a function with rules of the user's own closes over a differentiated value.
[[noreturn]] void fail_closed_over(const Op& op, const Params& params);

// The text of an array's elements in printed tracers.
void set_array_text(std::string (*text)(const Value& array));

// Is it a value whose derivative is being taken?
bool is_differentiated(const Value& value);

// Does a tangent of this type exist (is it inexact)?
bool differentiable(const Type& type);
Type tangent_type(const Type& type);

// Does `found` select all that `wanted` does? The result of a transformation then serves as it is;
// making it again would double the work at each level of nested regions.
bool covers(const std::vector<bool>& found, const std::vector<bool>& wanted);

// The derivative of a program. Inputs are followed by the tangents of those that `nonzero` selects,
// outputs by the tangents of those in the result's `nonzero`.
struct JvpProgram {
  ProgramPtr program;
  std::vector<bool> nonzero;
};
// `wanted`, where given, forces tangents (zeros if need be) for the outputs it selects.
JvpProgram jvp_program(const ProgramPtr& program, const std::vector<bool>& nonzero,
                       const std::vector<bool>* wanted = nullptr);

// A program split in two. known: inputs -> outputs, residuals. linear: residuals, tangents of the
// selected inputs -> tangents of the outputs in `nonzero`.
struct LinearizedProgram {
  ProgramPtr known;
  ProgramPtr linear;
  std::size_t residual_count;
  Types residual_types;
  std::vector<bool> nonzero;
};
LinearizedProgram linearize_program(const ProgramPtr& program, const std::vector<bool>& nonzero,
                                    const std::vector<bool>* wanted = nullptr);

}  // namespace shardax
