// control/forwarding.cpp - finds what passes through, and binds the rest.
#include "control/forwarding.h"

#include "base/errors.h"
#include "control/control.h"
#include "trace/trace.h"

namespace shardax {
namespace {

// Puts `some` where `mask` is false into `out`.
void fill_rest(Values& out, const std::vector<bool>& mask, const Values& some) {
  for (std::size_t i = 0, next = 0; i < out.size(); ++i) {
    if (!mask[i]) out[i] = some[next++];
  }
}

// `program` with these inputs and outputs, out of its own.
ProgramPtr arranged(const ProgramPtr& program, const std::string& key,
                    const std::vector<Var>& inputs, const std::vector<Var>& outputs) {
  return *program->derived<ProgramPtr>(key, [&] {
    MutableProgram copy = copy_of(*program);
    copy->inputs = inputs;
    copy->outputs = outputs;
    return std::make_shared<ProgramPtr>(copy);
  });
}

// Which carries come out as they went in; inputs and outputs of the body start with them, the
// inputs behind `consts` constants.
std::vector<bool> kept_carries(const Program& body, std::size_t consts, std::size_t count) {
  std::vector<bool> kept;
  for (std::size_t i = 0; i < count; ++i) {
    kept.push_back(body.outputs[i] == body.inputs[consts + i]);
  }
  return kept;
}

bool reads(const Program& program, Var v) {
  const auto has = [&](const auto& vars) {
    return std::find(vars.begin(), vars.end(), v) != vars.end();
  };
  return has(program.outputs) || std::any_of(program.equations.begin(), program.equations.end(),
                                             [&](const Equation& eqn) { return has(eqn.inputs); });
}

// ---- cond ------------------------------------------------------------------------------------

// The input that an output of the branch is, or -1.
std::int64_t passed_input(const Program& branch, std::size_t output) {
  const auto at = std::find(branch.inputs.begin(), branch.inputs.end(), branch.outputs[output]);
  return at == branch.inputs.end() ? -1 : at - branch.inputs.begin();
}

Values cond_forwarding(const Op& op, const Params& params, const Values& in) {
  const Programs& branches = params.programs("branches");
  Values out(branches[0]->outputs.size());
  std::vector<bool> passed(out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t source = passed_input(*branches[0], i);
    passed[i] = source >= 0 && std::all_of(branches.begin(), branches.end(), [&](const auto& b) {
                  return passed_input(*b, i) == source;
                });
    if (passed[i]) out[i] = in[static_cast<std::size_t>(source) + 1];
  }
  if (!any(passed)) return shardax::bind(op, params, in);
  Programs fewer;
  for (const ProgramPtr& b : branches) {
    fewer.push_back(arranged(b, mask_key("cond_forwarding", passed), b->inputs,
                             select(b->outputs, inverse(passed))));
  }
  fill_rest(out, passed, shardax::bind(op, params.with("branches", fewer), in));
  return out;
}

// ---- scan ------------------------------------------------------------------------------------

Values scan_forwarding(const Op& op, const Params& params, const Values& in) {
  const ProgramPtr& body = params.program("jaxpr");
  const auto consts = static_cast<std::size_t>(params.integer("num_consts"));
  const auto carries = static_cast<std::size_t>(params.integer("num_carry"));
  const std::vector<bool> kept = kept_carries(*body, consts, carries);
  const std::vector<Var> carry = part(body->inputs, consts, carries);
  const std::vector<Var> xs =
      part(body->inputs, consts + carries, body->inputs.size() - consts - carries);
  const std::vector<Var> ys = part(body->outputs, carries, body->outputs.size() - carries);
  const Values init = part(in, consts, carries), slices = part(in, consts + carries, xs.size());
  Values out = select(init, kept);
  out = spread(out, kept);
  std::vector<bool> passed = kept;
  for (Var y : ys) {
    const auto at = std::find(xs.begin(), xs.end(), y);
    passed.push_back(at != xs.end());
    out.push_back(at == xs.end() ? Value() : slices[static_cast<std::size_t>(at - xs.begin())]);
  }
  if (!any(passed)) return shardax::bind(op, params, in);
  const std::vector<bool> changing = inverse(kept);
  const std::vector<Var> inputs = joined(joined(part(body->inputs, 0, consts), select(carry, kept)),
                                         joined(select(carry, changing), xs));
  const ProgramPtr fewer = arranged(body, mask_key(concat("scan_forwarding", consts), passed),
                                    inputs, select(body->outputs, inverse(passed)));
  const std::int64_t fixed = std::count(kept.begin(), kept.end(), true);
  const Params rest = params.with("jaxpr", fewer)
                          .with("num_consts", static_cast<std::int64_t>(consts) + fixed)
                          .with("num_carry", static_cast<std::int64_t>(carries) - fixed);
  fill_rest(out, passed,
            shardax::bind(op, rest,
                          joined(joined(part(in, 0, consts), select(init, kept)),
                                 joined(select(init, changing), slices))));
  return out;
}

// ---- while -----------------------------------------------------------------------------------

Values while_forwarding(const Op& op, const Params& params, const Values& in) {
  const ProgramPtr &cond = params.program("cond_jaxpr"), &body = params.program("body_jaxpr");
  const auto cond_consts = static_cast<std::size_t>(params.integer("cond_nconsts"));
  const auto body_consts = static_cast<std::size_t>(params.integer("body_nconsts"));
  const std::size_t carries = body->outputs.size();
  const std::vector<Var> body_carry = part(body->inputs, body_consts, carries);
  const std::vector<Var> cond_carry = part(cond->inputs, cond_consts, carries);
  // What the condition reads stays in the carry, as in JAX.
  std::vector<bool> kept = kept_carries(*body, body_consts, carries);
  for (std::size_t i = 0; i < carries; ++i) kept[i] = kept[i] && !reads(*cond, cond_carry[i]);
  const std::vector<bool> changing = inverse(kept);
  // A loop in which nothing changes keeps its carry, so that it has one.
  if (!any(kept) || !any(changing)) return shardax::bind(op, params, in);

  const std::vector<Var> cond_inputs =
      joined(part(cond->inputs, 0, cond_consts), select(cond_carry, changing));
  const std::vector<Var> body_inputs =
      joined(joined(part(body->inputs, 0, body_consts), select(body_carry, kept)),
             select(body_carry, changing));
  const Values init = part(in, cond_consts + body_consts, carries);
  const Params rest =
      params
          .with("cond_jaxpr",
                arranged(cond, mask_key(concat("while_forwarding", cond_consts), kept), cond_inputs,
                         cond->outputs))
          .with("body_jaxpr",
                arranged(body, mask_key(concat("while_forwarding", body_consts), kept), body_inputs,
                         select(body->outputs, changing)))
          .with("body_nconsts", static_cast<std::int64_t>(body_consts + count_true(kept)));
  const Values operands = joined(joined(part(in, 0, cond_consts + body_consts), select(init, kept)),
                                 select(init, changing));
  Values out = spread(select(init, kept), kept);
  fill_rest(out, kept, shardax::bind(op, rest, operands));
  return out;
}

}  // namespace

Values bind_forwarding(const Op& op, const Params& params, const Values& in) {
  if (is_cond(op)) return cond_forwarding(op, params, in);
  if (is_scan(op)) return scan_forwarding(op, params, in);
  if (is_while(op)) return while_forwarding(op, params, in);
  return shardax::bind(op, params, in);
}

}  // namespace shardax
