// compile/pipeline.cpp - the table of passes, and the phases that run them.
#include "compile/pipeline.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>

#include "base/errors.h"
#include "base/lists.h"
#include "base/settings.h"
#include "compile/fusion/fuse.h"
#include "compile/fusion/overlap_messages.h"
#include "compile/lower/lower.h"
#include "compile/pass_table.h"
#include "compile/passes.h"
#include "compile/remat/remat_into_consumers.h"
#include "compile/remat/remat_tiled_groups.h"
#include "compile/tuning.h"
#include "ir/regions.h"
#include "ir/sharding_given.h"
#include "ir/text/text_form.h"
#include "ir/verify.h"
#include "runtime/progress.h"
#include "runtime/spans.h"

namespace shardax {
namespace {

bool same(const Program& a, const Program& b) {
  if (a.equations.size() != b.equations.size() || a.outputs != b.outputs) return false;
  for (std::size_t i = 0; i < a.equations.size(); ++i) {
    const Equation &x = a.equations[i], &y = b.equations[i];
    if (x.op != y.op || !(x.inputs == y.inputs) || !(x.params == y.params)) return false;
  }
  return true;
}

std::atomic<std::int64_t> verified = 0;

// Is what each pass makes to be verified? Dumps of it are.
bool verifies_passes() {
  static const bool wanted = dump_flags().passes || setting("SHARDAX_VERIFY") == "1";
  return wanted;
}

// A row for a pass that looks at the program alone.
template <ProgramPtr (*pass)(const ProgramPtr&)>
ProgramPtr plain(const ProgramPtr& program, PassState&) {
  return pass(program);
}
ProgramPtr run_expose_uniform(const ProgramPtr& program, PassState& state) {
  return expose_uniform(program, state.strides, state.stripmine);
}
ProgramPtr run_simplify(const ProgramPtr& program, PassState& state) {
  return simplify(program, state.stripmine);
}
ProgramPtr run_remat_long_lived(const ProgramPtr& program, PassState& state) {
  return remat_long_lived(program, state.overwritten);
}
ProgramPtr run_form_tile_groups(const ProgramPtr& program, PassState& state) {
  GroupedProgram grouped = form_tile_groups(program);
  state.tile_groups = std::move(grouped.groups);
  return grouped.program;
}
ProgramPtr run_remat_into_consumers(const ProgramPtr& program, PassState& state) {
  FusedProgram fused =
      remat_into_consumers(program, fuse(*program, state.tile_groups), state.overwritten);
  state.fusion_groups = std::move(fused.units);
  return fused.program;
}

ProgramPtr run_overlap_messages(const ProgramPtr& program, PassState& state) {
  state.fusion_groups = overlap_messages(*program, std::move(state.fusion_groups));
  return program;
}

constexpr ProgramPass passes[] = {
    {Phase::specialize, "combine_all_reduces", "sums over processes travel as one message",
     "b = psum[axes=('i@process', 'i')] a; d = psum[axes=('i@process', 'i')] c -> e = psum[axes="
     "('i',)] a; f = psum[axes=('i',)] c; b d = process_all_reduce[axes=('i@process',)] e f",
     plain<combine_all_reduces>},
    {Phase::specialize, "expose_uniform", "inputs of stride 0 become smaller and are broadcast",
     "a:f32[8,5] (strides 0,1) -> a:f32[5]; b:f32[8,5] = broadcast_in_dim a", run_expose_uniform},
    {Phase::simplify, "simplify", "inlines calls, batches device axes, applies patterns",
     "pmap { psum (mul a b) } -> c = mul a b; reduce_sum[axes=(0,)] c", run_simplify},
    {Phase::simplify, "eliminate_dead_code", "removes equations without uses",
     "b = sin a; c = cos a in (c) -> c = cos a in (c)", plain<eliminate_dead_code>},
    {Phase::prepare, "expand_products", "products that add nothing up become elementwise ones",
     "c:f32[9,3] = dot_general a:f32[9] b:f32[3] -> d = broadcast_in_dim a; e = broadcast_in_dim "
     "b; "
     "c = mul d e",
     plain<expand_products>},
    {Phase::prepare, "assign_layouts", "swaps short last dimensions with long ones",
     "d:f32[9,900,3] = sub b c -> d:f32[9,3,900] = sub b' c'", plain<assign_layouts>},
    {Phase::prepare, "split_complex_carries", "carries complex numbers as their parts",
     "z = scan { mul z z } -> x, y = scan { ... } (real z) (imag z); complex x y",
     plain<split_complex_carries>},
    {Phase::prepare, "legalize_types", "computes narrow dtypes in wide ones",
     "b:i4 = add a a -> c:i32 = convert a; d:i32 = add c c; b:i4 = convert d",
     plain<legalize_types>},
    {Phase::prepare, "sink_adds_into_branches", "adds to a branch's result within the branch",
     "add c (cond p { 0 } { a b }) -> cond p { c } { c + a b }", plain<sink_adds_into_branches>},
    {Phase::prepare, "hoist_transposes", "transposes matrices before the loop",
     "while { dot a x } -> t = transpose a; while { dot t x }", plain<hoist_transposes>},
    {Phase::prepare, "prepack_operands", "packs matrices before the loop",
     "scan { dot h w } -> p = pack w; scan { dot h p }", plain<prepack_operands>},
    {Phase::schedule, "fold_index_wrap", "lets gather and scatter wrap negative indices",
     "gather a (select (lt b 0) b (add b 9)) -> gather[wraps=(9,)] a b", plain<fold_index_wrap>},
    {Phase::schedule, "remat_long_lived", "recomputes cheap values for late uses",
     "t = tanh x; ...; mul t z -> ...; v = tanh x; mul v z", run_remat_long_lived},
    {Phase::schedule, "form_tile_groups", "recomputes large values of tile groups",
     "e = exp d; f = reduce_sum e; ...; mul e g -> ...; h = exp d; mul h g", run_form_tile_groups},
    {Phase::schedule, "remat_into_consumers", "recomputes cheap values in the loops that use them",
     "loop { d = sub x m }; loop { mul d s } -> loop { d = sub x m; mul d s }",
     run_remat_into_consumers},
    {Phase::schedule, "overlap_messages", "orders loops so that some run while messages travel",
     "b = sin a; m = process_all_gather a; c = cos m; d = cos a -> m = process_all_gather a; "
     "b = sin a; d = cos a; c = cos m",
     run_overlap_messages},
};

// Runs one pass, and shows its result if SHARDAX_DUMP asks for it.
ProgramPtr run_pass(const ProgramPass& pass, const ProgramPtr& before, PassState& state) {
  ProgramPtr after = pass.run(before, state);
  if (verifies_passes()) {
    verify(*after, std::string(pass.name));
    ++verified;
  }
  if (dump_flags().passes) {
    const std::string name(pass.name);
    if (after == before || same(*after, *before)) {
      std::fprintf(stderr, "-- %s: unchanged\n", name.c_str());
    } else {
      std::fprintf(stderr, "-- %s:\n%s\n", name.c_str(), text_form(*after).c_str());
    }
  }
  return after;
}

ProgramPtr run_phase(Phase phase, ProgramPtr program, PassState& state) {
  for (const ProgramPass& pass : passes) {
    if (pass.phase == phase) program = run_pass(pass, program, state);
  }
  return program;
}

// Rewriting makes room for rewriting; three rounds settle every program of the tests.
constexpr int max_rounds = 4;

}  // namespace

std::span<const ProgramPass> program_passes() { return passes; }

const DumpFlags& dump_flags() {
  static const DumpFlags flags = [] {
    const auto has = [](const char* word) { return setting_has("SHARDAX_DUMP", word); };
    return DumpFlags{has("passes"), has("plan"), has("time"), has("asm")};
  }();
  return flags;
}

namespace {

// Nanoseconds on two cores. Each hand-out makes one core wait for the other and read its results:
// 40 us in the steps of a transformer (Emerald Rapids).
double time_of(const Plan& plan) {
  return plan.cost / 2 + plan.handed_out * tuning::pipeline::hand_out_ns;
}

// The segmented plan adds up sums over all devices for a few devices at a time, and hands out work
// more often. It may take 5 % more time if it halves the temporaries.
bool is_better(const Plan& segmented, const Plan& whole) {
  return 2 * segmented.memory() <= whole.memory() &&
         (whole.memory() > tuning::pipeline::large_temporaries ||
          time_of(segmented) <= 1.05 * time_of(whole));
}

// The phases that do not depend on the places of results.
ProgramPtr rewritten(const ProgramPtr& source, PassState& state) {
  ProgramPtr program = run_phase(Phase::specialize, source, state);
  for (int round = 0; round < max_rounds; ++round) {
    const ProgramPtr before = program;
    program = run_phase(Phase::simplify, program, state);
    if (same(*before, *program)) break;
  }
  return run_phase(Phase::prepare, program, state);
}

Compilation plan_for(const ProgramPtr& source, const CompileOptions& given, bool stripmine) {
  CompileOptions options = given;
  PassState state{given.input_strides, stripmine, {}, {}, {}};
  ProgramPtr program = given.rewritten && !stripmine ? given.rewritten : rewritten(source, state);
  options.input_strides = state.strides;
  state.overwritten.resize(program->inputs.size());
  for (std::size_t i = 0; i < state.overwritten.size(); ++i)
    state.overwritten[i] = (i < options.donated.size() && options.donated[i]) ||
                           (i >= options.first_carry && i < options.first_carry + options.carry) ||
                           has(options.over, static_cast<int>(i));
  program = run_phase(Phase::schedule, program, state);
  Compilation out{program, std::move(state.fusion_groups), {}, {}};
  out.plan = lower(out.program, out.units, options, source->output_types(), &out.placement);
  return out;
}

bool is_mapped(const Equation& eqn) {
  if (!eqn.op->regions) return false;
  const ExecutionKind runs = eqn.op->regions(eqn.params).runs;
  return runs == ExecutionKind::mapped || runs == ExecutionKind::mesh;
}

bool maps(const ProgramPtr& program) {
  return std::any_of(program->equations.begin(), program->equations.end(),
                     [](const Equation& e) { return any_equation(e, is_mapped); });
}

}  // namespace

Compilation compile_visibly(const ProgramPtr& source, const CompileOptions& options) {
  check_stack("a program within programs");
  const ShardingGiven asked_already;
  const auto text = [&]() -> runtime::SpanText { return {source->name, "compilation"}; };
  const runtime::Span span(text);
  const auto told = [&]() -> runtime::TaskText { return {source->name}; };
  const runtime::Task task(runtime::TaskKind::compilation, told);
  const auto start = std::chrono::steady_clock::now();
  if (dump_flags().passes) std::fprintf(stderr, "-- source:\n%s\n", text_form(*source).c_str());
  Compilation made = plan_for(source, options, false);
  if (made.plan->memory() > tuning::pipeline::temporary_budget && maps(source)) {
    if (dump_flags().passes) std::fprintf(stderr, "-- again, in stripmine\n");
    Compilation segmented = plan_for(source, options, true);
    if (is_better(*segmented.plan, *made.plan)) made = std::move(segmented);
  }
  if (dump_flags().plan) std::fprintf(stderr, "-- %s", made.plan->text().c_str());
  if (dump_flags().time) {
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "-- compile %s: %zu steps, %.3f ms\n", source->name.c_str(),
                 made.plan->steps.size(), elapsed.count());
  }
  return made;
}

std::int64_t verified_passes() { return verified; }

PlanPtr compile(const ProgramPtr& source, const CompileOptions& options) {
  return compile_visibly(source, options).plan;
}

CompileOptions body_options(const Program& program, std::size_t first_carry, std::size_t carry) {
  CompileOptions options;
  for (const Type& type : program.input_types())
    options.input_strides.push_back(row_major_strides(type.shape));
  options.dense_outputs = true;
  options.first_carry = first_carry;
  options.carry = carry;
  return options;
}

PlanPtr compile_body(const ProgramPtr& program, std::size_t first_carry, std::size_t carry,
                     const std::vector<Shape>& strides, const std::vector<int>& over) {
  std::string key = concat("body_plan", first_carry, ",", carry);
  for (const Shape& input : strides) key += to_string(input);
  for (const int input : over) key += concat(";", input);
  return *program->derived<PlanPtr>(key, [&] {
    CompileOptions options = body_options(*program, first_carry, carry);
    if (!strides.empty()) options.input_strides = strides;
    options.over = over;
    options.rewritten = rewritten_body(program);
    return std::make_shared<PlanPtr>(compile(program, options));
  });
}

ProgramPtr rewritten_body(const ProgramPtr& program) {
  return *program->derived<ProgramPtr>("rewritten_body", [&] {
    check_stack("a program within programs");
    if (dump_flags().passes) std::fprintf(stderr, "-- body:\n%s\n", text_form(*program).c_str());
    PassState state{body_options(*program, 0, 0).input_strides, false, {}, {}, {}};
    return std::make_shared<ProgramPtr>(rewritten(program, state));
  });
}

}  // namespace shardax
