// control/linear_call.cpp - linear functions whose transposes are given: linear_call, and
// custom_linear_solve, the solution x of A x = b by a solver that is never differentiated.
//
// Every program of a call takes the nonlinear values first: residuals, and values that the user's
// functions close over.
#include <algorithm>

#include "base/errors.h"
#include "base/index.h"
#include "control/control.h"
#include "ops/ops.h"

namespace shardax {
namespace {

extern const Op linear_call_op, linear_solve_op;

std::size_t known_count(const Params& params) { return index(params.integer(param::num_consts)); }

// Tangents, cotangents or operands beyond the first `count`, zeros where null.
void append_linear(Values& operands, const Values& values, const Types& types, std::size_t count) {
  for (std::size_t i = count; i < values.size(); ++i)
    operands.push_back(zeros_if_null(values[i], types[i]));
}

// Do all elements of a batch, whose operands are shared, have the same results?
bool shares_results(const Params& params, const BatchAxis& axis, ParamNames names) {
  return std::all_of(names.begin(), names.end(), [&](ParamName name) {
    if (!params.has(name)) return true;
    const ProgramPtr& program = params.get<ProgramPtr>(name);
    const std::vector<bool> none(program->inputs.size(), false);
    return !any(batch_program(program, none, axis).batched);
  });
}

// The programs that `names` lists over a batch in which all linear inputs, and with them all
// results, carry the axis.
Batched batch_linear(const BatchArgs& a, ParamNames names) {
  if (!any(a.batched) && shares_results(a.params, a.axis, names)) {
    Values out = shardax::bind(a.op, a.params, a.in);
    std::vector<bool> none(out.size(), false);
    return {std::move(out), std::move(none)};
  }
  const std::size_t count = known_count(a.params);
  Values in = a.in;
  for (std::size_t i = count; i < in.size(); ++i) {
    if (!a.batched[i]) in[i] = ops::broadcast_leading(in[i], a.axis.size);
  }
  Params params = a.params;
  for (const ParamName name : names) {
    if (!params.has(name)) continue;
    const ProgramPtr& program = a.params.get<ProgramPtr>(name);
    std::vector<bool> mask = part(a.batched, 0, count);
    mask.resize(program->inputs.size(), true);
    const std::vector<bool> wanted(program->outputs.size(), true);
    params.set(name, batch_program(program, mask, a.axis, &wanted).program);
  }
  Values out = shardax::bind(a.op, params, in);
  std::vector<bool> all(out.size(), true);
  return {std::move(out), std::move(all)};
}

Params swapped(const Params& params, ParamName a, ParamName b) {
  Params result = params;
  result.set(a, params.get<ProgramPtr>(b));
  result.set(b, params.get<ProgramPtr>(a));
  return result;
}

// Throws unless the program of the op takes the known values, then `in`, and gives `out` first.
void check_map(const Op& op, const Params& params, ParamName name, const Types& operands,
               const Types& in, const Types& out) {
  const Program& program = *params.get<ProgramPtr>(name);
  const Types wanted = joined(part(operands, 0, known_count(params)), in);
  const Types takes = program.input_types(), gives = program.output_types();
  const bool fits = takes.size() == wanted.size() && gives.size() >= out.size() &&
                    std::equal(takes.begin(), takes.end(), wanted.begin(), same_shape_and_dtype) &&
                    std::equal(out.begin(), out.end(), gives.begin(), same_shape_and_dtype);
  if (fits) return;
  value_error(op.name, ": the program ", name, " takes ", to_string(ParamValue(takes)),
              " and gives ", to_string(ParamValue(gives)), "; ", to_string(ParamValue(wanted)),
              " and ", to_string(ParamValue(out)), " were expected.");
}

// The operands that the op is linear in.
Types linear_types(const Op& op, const Types& in, const Params& params) {
  if (known_count(params) > in.size())
    value_error(op.name, ": num_consts ", params.integer(param::num_consts), " of ", in.size(),
                " operands.");
  return Types(in.begin() + static_cast<std::ptrdiff_t>(known_count(params)), in.end());
}

// ---- linear_call -----------------------------------------------------------------------------

Types linear_call_type(const Op& op, const Types& in, const Params& params) {
  const Types linear = linear_types(op, in, params);
  const Types out = params.program(param::callee)->output_types();
  check_map(op, params, "transpose", in, out, linear);
  return out;
}

Values linear_call_jvp(const JvpArgs& a) {
  const std::size_t count = known_count(a.params);
  for (std::size_t i = 0; i < count; ++i) {
    if (!a.t[i]) continue;
    type_error(
        "linear_call: the derivative by residual_args does not exist, since only the transpose of "
        "the linear function is given. Differentiate by linear_args only, or put "
        "lax.stop_gradient around the residuals.");
  }
  Values operands = part(a.in, 0, count);
  append_linear(operands, a.t, types_of(a.in), count);
  return shardax::bind(linear_call_op, a.params, operands);
}

Values linear_call_transpose(const TransposeArgs& a) {
  const std::size_t count = known_count(a.params);
  Values operands = part(a.in, 0, count);
  append_linear(operands, a.ct, a.out_types, 0);
  return joined(Values(count),
                shardax::bind(linear_call_op, swapped(a.params, "callee", "transpose"), operands));
}

const Op linear_call_op{
    {.name = "linear_call",
     .doc = "A linear function with a transpose of the user's own.",
     .kind = Kind::control,
     .type = linear_call_type,
     .jvp = linear_call_jvp,
     .transpose = linear_call_transpose,
     .batch = [](const BatchArgs& a) { return batch_linear(a, {"callee", "transpose"}); },
     .regions = [](const Params& params) { return call_of(params.program(param::callee), true); },
     .with_regions =
         [](const Params& params, const Regions& regions) {
           return params.with("callee", regions.programs[0]);
         }}};

// ---- custom_linear_solve ---------------------------------------------------------------------

// A is square: x has the types of b. Solvers may give more.
Types linear_solve_type(const Op& op, const Types& in, const Params& params) {
  const Types b = linear_types(op, in, params);
  for (const ParamName name : ParamNames{"matvec", "vecmat", "solve", "transpose_solve"}) {
    if (name == "matvec" || name == "solve" || params.has(name))
      check_map(op, params, name, in, b, b);
  }
  return params.program(param::solve)->output_types();
}

// From A x = b: A dx = db - dA x.
Values solve_jvp(const JvpArgs& a) {
  const std::size_t count = known_count(a.params);
  const Values consts = part(a.in, 0, count);
  const Values const_tangents = part(a.t, 0, count);
  const std::size_t size = a.in.size() - count;
  Values operands = consts;
  append_linear(operands, a.t, types_of(a.in), count);
  bool moves = false;
  for (const Value& t : const_tangents) moves |= bool(t);
  if (moves) {
    const Values x = part(a.out, 0, size);
    const ProgramPtr matvec = a.params.program(param::matvec);
    const JvpResult product = jvp([&](const Values& v) { return evaluate(*matvec, joined(v, x)); },
                                  consts, const_tangents);
    for (std::size_t i = 0; i < size; ++i) {
      if (product.t[i]) operands[count + i] = ops::sub(operands[count + i], product.t[i]);
    }
  }
  Values t = part(shardax::bind(linear_solve_op, a.params, operands), 0, size);
  t.resize(a.out.size());
  return t;
}

Values solve_transpose(const TransposeArgs& a) {
  if (!a.params.has("transpose_solve")) {
    type_error(
        "transpose_solve required for backwards mode automatic differentiation of "
        "custom_linear_solve");
  }
  const std::size_t count = known_count(a.params);
  const std::size_t size = a.in.size() - count;
  Values operands = part(a.in, 0, count);
  append_linear(operands, part(a.ct, 0, size), a.out_types, 0);
  const Params params = swapped(swapped(a.params, "matvec", "vecmat"), "solve", "transpose_solve");
  return joined(Values(count), part(shardax::bind(linear_solve_op, params, operands), 0, size));
}

const Op linear_solve_op{
    {.name = "custom_linear_solve",
     .doc = "The solution of a linear system, differentiated as such.",
     .kind = Kind::control,
     .type = linear_solve_type,
     .jvp = solve_jvp,
     .transpose = solve_transpose,
     .batch =
         [](const BatchArgs& a) {
           return batch_linear(a, {"matvec", "vecmat", "solve", "transpose_solve"});
         },
     .regions = [](const Params& params) { return call_of(params.program(param::solve), true); },
     .with_regions =
         [](const Params& params, const Regions& regions) {
           return params.with("solve", regions.programs[0]);
         }}};

}  // namespace
}  // namespace shardax
