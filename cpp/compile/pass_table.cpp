// compile/pass_table.cpp - the passes, rewrites of loops and rules, each under its name.
#include "compile/pass_table.h"

#include <algorithm>
#include <optional>

#include "base/errors.h"
#include "compile/fold_empty.h"
#include "compile/fuse.h"
#include "compile/make_again.h"
#include "compile/passes.h"
#include "compile/recompute.h"
#include "compile/rewrite.h"
#include "compile/rules.h"
#include "compile/uses.h"
#include "ir/verify.h"

namespace shardax {
namespace {

struct ProgramPass {
  std::string_view name;
  ProgramPtr (*run)(const ProgramPtr& program, const PassArgs& args);
  std::string_view doc;
};
// Of a pass that only looks at the program.
template <ProgramPtr (*pass)(const ProgramPtr&)>
ProgramPtr plain(const ProgramPtr& program, const PassArgs&) {
  return pass(program);
}

ProgramPtr expose_uniform_inputs(const ProgramPtr& program, const PassArgs& args) {
  std::vector<Shape> strides = args.input_strides;
  for (std::size_t i = strides.size(); i < program->inputs.size(); ++i)
    strides.push_back(row_major_strides(program->type(program->inputs[i]).shape));
  return expose_uniform(program, strides);
}
ProgramPtr simplify_whole(const ProgramPtr& program, const PassArgs&) { return simplify(program); }
ProgramPtr simplify_segments(const ProgramPtr& program, const PassArgs&) {
  return simplify(program, true);
}
ProgramPtr shorten_lives_beside(const ProgramPtr& program, const PassArgs& args) {
  return shorten_lives(program, args.overwritten);
}
ProgramPtr group_rows_again(const ProgramPtr& program, const PassArgs&) {
  return group_rows(program).program;
}
// What loops make again stands at the end, in no order of its own: the program as the loops have
// it, each in its turn.
ProgramPtr make_again_in_loops(const ProgramPtr& program, const PassArgs& args) {
  const FusedProgram fused = make_again(program, fuse(*program), args.overwritten);
  if (fused.program == program) return program;
  const MutableProgram out = copy_of(*fused.program);
  out->equations.clear();
  for (const FusedUnit& unit : fused.units) {
    for (const int e : unit.equations)
      out->equations.push_back(fused.program->equations[static_cast<std::size_t>(e)]);
  }
  return out;
}

constexpr ProgramPass program_passes[] = {
    {"expose_uniform", expose_uniform_inputs, "inputs that repeat are smaller and broadcast"},
    {"simplify", simplify_whole, "calls become their bodies, device axes array axes; rules"},
    {"simplify_segments", simplify_segments, "the same, mapped functions a few devices at a time"},
    {"eliminate_dead", plain<eliminate_dead>, "equations without uses go"},
    {"lengthen_rows", plain<lengthen_rows>, "short last dimensions change places with long ones"},
    {"part_complex", plain<part_complex>, "complex carries become their parts"},
    {"widen", plain<widen>, "narrow numbers are computed with in wide dtypes"},
    {"add_within", plain<add_within>, "sums with a branch's result move into the branches"},
    {"turn_matrices", plain<turn_matrices>, "matrices are transposed before the loop"},
    {"lay_out_panels", plain<lay_out_panels>, "matrices are packed before the loop"},
    {"wrap_within", plain<wrap_within>, "gather and scatter count negative places themselves"},
    {"shorten_lives", shorten_lives_beside, "cheap values are made again where used late"},
    {"group_rows", group_rows_again, "large values of groups of rows are computed again"},
    {"make_again", make_again_in_loops, "loops make cheap values again"},
};

std::optional<Vars> no_turns(Rewriter& rewriter, const Equation& eqn, const Vars& in) {
  return fold_no_turns(rewriter.builder(), eqn, bodies_of(*eqn.op, eqn.params), in);
}

struct LoopRewrite {
  std::string_view name;
  std::optional<Vars> (*rewrite)(Rewriter& rewriter, const Equation& eqn, const Vars& in);
  std::string_view doc;
};
constexpr LoopRewrite loop_rewrites[] = {
    {"fold_no_turns", no_turns, "a loop of no turns gives its carries"},
    {"sum_after_loop", sum_after_loop, "products that a loop adds up are one after it"},
    {"split_sums", split_sums, "a carry that is added to in parts becomes several"},
    {"move_late", move_late, "carries are moved where the next turn takes them"},
    {"narrow_bodies", narrow_bodies, "loops and branches carry what repeats once"},
};

constexpr Rule fold_empty_rule{"", "fold_empty", fold_empty};

// Does a loop, or a branch, remain where calls have become their bodies?
bool remains(const Equation& eqn) {
  if (!eqn.op->bodies) return false;
  const Runs runs = eqn.op->bodies(eqn.params).runs;
  return runs == Runs::one_of || runs == Runs::counted || runs == Runs::looped;
}

ProgramPtr rewrite_loops(const ProgramPtr& program, const LoopRewrite& row) {
  Rewriter rewriter(*program);
  Builder& builder = rewriter.builder();
  return eliminate_dead(
      emit_again(*program, builder, [&](const Equation& eqn, const Vars& in) -> Vars {
        if (remains(eqn)) {
          if (auto rewritten = row.rewrite(rewriter, eqn, in)) return *rewritten;
        }
        return builder.emit(*eqn.op, eqn.params, in, eqn.location);
      }));
}

// `rules`: of one name.
ProgramPtr rewrite_by(const ProgramPtr& program, const std::vector<Rule>& rules) {
  std::vector<int> uses = count_uses(*program);
  for (const Var v : program->outputs) ++uses[static_cast<std::size_t>(v)];
  Builder builder(*program);
  const auto step = [&](const Equation& eqn, const Vars& in) {
    const Match match{builder, *eqn.op, eqn.params, in, eqn.location, true};
    for (const Rule& rule : rules) {
      const bool meant = rule.apply == fold_empty || meant_for(rule, *eqn.op);
      if (auto replaced = meant ? rule.apply(match) : std::nullopt) return *replaced;
    }
    return builder.emit(*eqn.op, eqn.params, in, eqn.location);
  };
  return eliminate_dead(emit_again(*program, builder, [&](const Equation& eqn, const Vars& in) {
    const Vars out = step(eqn, in);
    for (std::size_t i = 0; i < out.size(); ++i)
      builder.count_uses(out[i], uses[static_cast<std::size_t>(eqn.outputs[i])]);
    return out;
  }));
}

std::vector<Rule> rules_named(std::string_view name) {
  std::vector<Rule> out;
  if (name == fold_empty_rule.name) out.push_back(fold_empty_rule);
  for (const Rule& rule : simplify_rules()) {
    if (rule.name == name) out.push_back(rule);
  }
  return out;
}

ProgramPtr unverified(std::string_view name, const ProgramPtr& program, const PassArgs& args) {
  for (const ProgramPass& pass : program_passes) {
    if (pass.name == name) return pass.run(program, args);
  }
  for (const LoopRewrite& row : loop_rewrites) {
    if (row.name == name) return rewrite_loops(program, row);
  }
  const std::vector<Rule> rules = rules_named(name);
  if (rules.empty()) value_error("run_pass: there is no pass '", name, "'; `passes()` lists them.");
  return rewrite_by(program, rules);
}

}  // namespace

std::vector<Pass> all_passes() {
  std::vector<Pass> out;
  for (const ProgramPass& pass : program_passes)
    out.push_back({pass.name, Pass::Kind::program, pass.doc});
  for (const LoopRewrite& row : loop_rewrites)
    out.push_back({row.name, Pass::Kind::loops, row.doc});
  out.push_back({fold_empty_rule.name, Pass::Kind::rule, "arrays without elements take no work"});
  for (const Rule& rule : simplify_rules()) {
    const auto same = [&](const Pass& pass) { return pass.name == rule.name; };
    if (std::none_of(out.begin(), out.end(), same))
      out.push_back({rule.name, Pass::Kind::rule, rule.op.empty() ? "elementwise ops" : rule.op});
  }
  return out;
}

ProgramPtr apply_pass(std::string_view name, const ProgramPtr& program, const PassArgs& args) {
  PassArgs full = args;
  full.overwritten.resize(program->inputs.size());
  if (args.input_strides.size() > program->inputs.size())
    value_error("run_pass: strides of ", args.input_strides.size(), " inputs; the program has ",
                program->inputs.size(), ".");
  for (std::size_t i = 0; i < args.input_strides.size(); ++i) {
    const std::size_t rank = program->type(program->inputs[i]).rank();
    if (args.input_strides[i].size() != rank)
      value_error("run_pass: strides ", to_string(args.input_strides[i]), " of input ", i,
                  ", which has ", rank, " dimensions.");
  }
  ProgramPtr out = unverified(name, program, full);
  verify(*out, std::string(name));
  return out;
}

}  // namespace shardax
