// compile/pass_table.cpp - passes, rewrites of loops and patterns that run alone, by their names.
#include "compile/pass_table.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/errors.h"
#include "base/index.h"
#include "compile/lower/liveness.h"
#include "compile/passes.h"
#include "compile/pipeline.h"
#include "compile/simplify/fold_empty.h"
#include "compile/simplify/pattern_table.h"
#include "ir/verify.h"

namespace shardax {
namespace {

// The parts of fusion and lowering, whose work shows in the plan.
struct PlanPart {
  std::string_view name;
  std::string_view doc;
};
constexpr PlanPart plan_parts[] = {
    {"fuse", "groups elementwise ops and reductions into loops"},
    {"overlap_messages", "orders loops so that some run while messages travel"},
    {"tiled_step", "runs the loops of a group tile by tile"},
    {"elide_concat", "writes operands of a concatenation into its result"},
    {"branch_aliasing", "writes results of branches over their operands"},
    {"buffer_assignment", "gives temporaries their place in one arena"},
    {"lower", "makes a step of each group"},
};

constexpr Pattern fold_empty_pattern{"", "fold_empty", fold_empty};

// Is it a loop or a branch, which inlining leaves?
bool remains(const Equation& eqn) {
  if (!eqn.op->regions) return false;
  const ExecutionKind runs = eqn.op->regions(eqn.params).runs;
  return runs == ExecutionKind::one_of || runs == ExecutionKind::counted ||
         runs == ExecutionKind::looped;
}

ProgramPtr rewrite_loops(const ProgramPtr& program, const LoopRewrite& row) {
  PatternDriver driver(*program);
  Builder& builder = driver.builder();
  return eliminate_dead_code(
      emit_again(*program, builder, [&](const Equation& eqn, const Vars& in) -> Vars {
        if (remains(eqn)) {
          if (auto rewritten = row.rewrite(driver, eqn, in)) return *rewritten;
        }
        return builder.emit(*eqn.op, eqn.params, in, eqn.location);
      }));
}

// `patterns`: of one name.
ProgramPtr rewrite_patterns(const ProgramPtr& program, const std::vector<Pattern>& patterns) {
  std::vector<int> uses = count_uses(*program);
  for (const Var v : program->outputs) ++uses[index(v)];
  Builder builder(*program);
  const auto step = [&](const Equation& eqn, const Vars& in) {
    const PatternContext match{builder, *eqn.op, eqn.params, in, eqn.location, true};
    for (const Pattern& pattern : patterns) {
      const bool meant = pattern.apply == fold_empty || meant_for(pattern, *eqn.op);
      if (auto replaced = meant ? pattern.apply(match) : std::nullopt) return *replaced;
    }
    return builder.emit(*eqn.op, eqn.params, in, eqn.location);
  };
  return eliminate_dead_code(
      emit_again(*program, builder, [&](const Equation& eqn, const Vars& in) {
        const Vars out = step(eqn, in);
        for (std::size_t i = 0; i < out.size(); ++i)
          builder.count_uses(out[i], uses[index(eqn.outputs[i])]);
        return out;
      }));
}

std::vector<Pattern> patterns_named(std::string_view name) {
  std::vector<Pattern> out;
  if (name == fold_empty_pattern.name) out.push_back(fold_empty_pattern);
  for (const Pattern& pattern : simplify_patterns()) {
    if (pattern.name == name) out.push_back(pattern);
  }
  return out;
}

// The state of a pass that runs alone: dense strides where none are given.
PassState state_of(const Program& program, const PassArgs& args) {
  PassState state{args.input_strides, args.stripmine, args.overwritten, {}, {}};
  for (std::size_t i = state.strides.size(); i < program.inputs.size(); ++i)
    state.strides.push_back(row_major_strides(program.type(program.inputs[i]).shape));
  state.overwritten.resize(program.inputs.size());
  return state;
}

ProgramPtr unverified(std::string_view name, const ProgramPtr& program, const PassArgs& args) {
  for (const ProgramPass& pass : program_passes()) {
    if (pass.name != name) continue;
    PassState state = state_of(*program, args);
    return pass.run(program, state);
  }
  for (const LoopRewrite& row : loop_rewrites()) {
    if (row.name == name) return rewrite_loops(program, row);
  }
  const std::vector<Pattern> patterns = patterns_named(name);
  if (patterns.empty())
    value_error("run_pass: there is no pass '", name, "'; `passes()` lists them.");
  return rewrite_patterns(program, patterns);
}

void check_args(const Program& program, const PassArgs& args) {
  const std::size_t inputs = program.inputs.size();
  if (args.input_strides.size() > inputs || args.overwritten.size() > inputs)
    value_error("run_pass: strides of ", args.input_strides.size(), " and overwritten of ",
                args.overwritten.size(), " inputs; the program has ", inputs, ".");
  for (std::size_t i = 0; i < args.input_strides.size(); ++i) {
    const std::size_t rank = program.type(program.inputs[i]).rank();
    if (args.input_strides[i].size() != rank)
      value_error("run_pass: strides ", to_string(args.input_strides[i]), " of input ", i,
                  ", which has ", rank, " dimensions.");
  }
}

}  // namespace

std::vector<Pass> all_passes() {
  std::vector<Pass> out;
  for (const ProgramPass& pass : program_passes()) {
    if (std::ranges::find(plan_parts, pass.name, &PlanPart::name) == std::end(plan_parts))
      out.push_back({pass.name, Pass::Kind::program, pass.doc, pass.example});
  }
  for (const LoopRewrite& row : loop_rewrites())
    out.push_back({row.name, Pass::Kind::loops, row.doc, row.example});
  out.push_back(
      {fold_empty_pattern.name, Pass::Kind::pattern, "arrays without elements take no work"});
  for (const Pattern& pattern : simplify_patterns()) {
    const auto same = [&](const Pass& pass) { return pass.name == pattern.name; };
    if (std::none_of(out.begin(), out.end(), same))
      out.push_back(
          {pattern.name, Pass::Kind::pattern, pattern.op.empty() ? "elementwise ops" : pattern.op});
  }
  for (const PlanPart& part : plan_parts) out.push_back({part.name, Pass::Kind::plan, part.doc});
  return out;
}

ProgramPtr apply_pass(std::string_view name, const ProgramPtr& program, const PassArgs& args) {
  check_args(*program, args);
  ProgramPtr out = unverified(name, program, args);
  verify(*out, std::string(name));
  return out;
}

bool makes_plan(std::string_view name) {
  return std::any_of(std::begin(plan_parts), std::end(plan_parts),
                     [&](const PlanPart& part) { return part.name == name; });
}

std::string plan_text(const ProgramPtr& program, const PassArgs& args) {
  check_args(*program, args);
  CompileOptions options;
  for (const Type& type : program->input_types())
    options.input_strides.push_back(row_major_strides(type.shape));
  options.donated = args.overwritten;
  options.rewritten = program;
  return compile(program, options)->text();
}

}  // namespace shardax
