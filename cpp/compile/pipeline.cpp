// compile/pipeline.cpp - the passes, in order.
#include "compile/pipeline.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/errors.h"
#include "base/lists.h"
#include "compile/fusion/fuse.h"
#include "compile/lower/lower.h"
#include "compile/pass_table.h"
#include "compile/passes.h"
#include "compile/remat/remat_into_consumers.h"
#include "compile/remat/remat_tiled_groups.h"
#include "ir/regions.h"
#include "ir/sharding_given.h"
#include "ir/text_form.h"
#include "ir/verify.h"
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
  static const bool wanted = [] {
    const char* text = std::getenv("SHARDAX_VERIFY");
    return dump_flags().passes || (text && std::string_view(text) == "1");
  }();
  return wanted;
}

// Runs one pass, showing what it did where SHARDAX_DUMP asks for it.
template <class Pass>
ProgramPtr run_pass(const char* name, const ProgramPtr& before, Pass&& pass) {
  ProgramPtr after = pass(before);
  if (verifies_passes()) {
    verify(*after, name);
    ++verified;
  }
  if (dump_flags().passes) {
    if (after == before || same(*after, *before)) {
      std::fprintf(stderr, "-- %s: unchanged\n", name);
    } else {
      std::fprintf(stderr, "-- %s:\n%s\n", name, text_form(*after).c_str());
    }
  }
  return after;
}

// Rewriting makes room for rewriting; three rounds settle every program of the tests.
constexpr int max_rounds = 4;

}  // namespace

const DumpFlags& dump_flags() {
  static const DumpFlags flags = [] {
    const char* text = std::getenv("SHARDAX_DUMP");
    const std::string wanted = text ? text : "";
    const auto has = [&](const char* word) { return wanted.find(word) != std::string::npos; };
    return DumpFlags{has("passes"), has("plan"), has("time"), has("asm")};
  }();
  return flags;
}

namespace {

// Where a plan's temporaries take more, its mapped functions are tried a few devices at a time.
constexpr std::int64_t temporary_budget = std::int64_t{64} << 20;
// Where they take more than this, half of it is worth any time.
constexpr std::int64_t large_temporaries = std::int64_t{1} << 30;

// Nanoseconds on two cores. Where work is handed out one core waits for the other, and reads what
// that one has written: 40 us each time in the steps of a transformer (Emerald Rapids).
double time_of(const Plan& plan) {
  constexpr double hand_out_ns = 40'000;
  return plan.cost / 2 + plan.handed_out * hand_out_ns;
}

// Sums that are products over all devices at once are made, and added up, for each few of them, and
// work is handed out more often: that may take 5 % more time where it halves the temporaries.
bool is_better(const Plan& segmented, const Plan& whole) {
  return 2 * segmented.memory() <= whole.memory() &&
         (whole.memory() > large_temporaries || time_of(segmented) <= 1.05 * time_of(whole));
}

// The passes over programs. `strides`, those of the inputs, follow what becomes of these.
ProgramPtr rewritten(const ProgramPtr& source, std::vector<Shape>& strides, bool stripmine) {
  ProgramPtr program = run_pass("expose_uniform", source, [&](const ProgramPtr& p) {
    return expose_uniform(p, strides, stripmine);
  });
  for (int round = 0; round < max_rounds; ++round) {
    const ProgramPtr before = program;
    program =
        run_pass("simplify", program, [&](const ProgramPtr& p) { return simplify(p, stripmine); });
    program = run_pass("eliminate_dead_code", program, eliminate_dead_code);
    if (same(*before, *program)) break;
  }
  program = run_pass("assign_layouts", program, assign_layouts);
  program = run_pass("split_complex_carries", program, split_complex_carries);
  program = run_pass("legalize_types", program, legalize_types);
  program = run_pass("sink_adds_into_branches", program, sink_adds_into_branches);
  program = run_pass("hoist_transposes", program, hoist_transposes);
  return run_pass("prepack_operands", program, prepack_operands);
}

Compilation plan_for(const ProgramPtr& source, const CompileOptions& given, bool stripmine) {
  CompileOptions options = given;
  ProgramPtr program = options.rewritten && !stripmine
                           ? options.rewritten
                           : rewritten(source, options.input_strides, stripmine);
  program = run_pass("fold_index_wrap", program, fold_index_wrap);
  std::vector<bool> overwritten(program->inputs.size(), false);
  for (std::size_t i = 0; i < overwritten.size(); ++i)
    overwritten[i] = (i < options.donated.size() && options.donated[i]) ||
                     (i >= options.first_carry && i < options.first_carry + options.carry) ||
                     has(options.over, static_cast<int>(i));
  program = run_pass("remat_long_lived", program,
                     [&](const ProgramPtr& p) { return remat_long_lived(p, overwritten); });
  std::vector<TileGroup> groups;
  program = run_pass("form_tile_groups", program, [&](const ProgramPtr& p) {
    GroupedProgram grouped = form_tile_groups(p);
    groups = std::move(grouped.groups);
    return grouped.program;
  });
  FusedProgram fused;
  run_pass("remat_into_consumers", program, [&](const ProgramPtr& p) {
    fused = remat_into_consumers(p, fuse(*p, groups), overwritten);
    return fused.program;
  });
  Compilation out{fused.program, std::move(fused.units), {}, {}};
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
  const auto name = [&] { return "compile " + source->name; };
  const runtime::Span span(name);
  const auto start = std::chrono::steady_clock::now();
  if (dump_flags().passes) std::fprintf(stderr, "-- source:\n%s\n", text_form(*source).c_str());
  Compilation made = plan_for(source, options, false);
  if (made.plan->memory() > temporary_budget && maps(source)) {
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
    std::vector<Shape> strides = body_options(*program, 0, 0).input_strides;
    return std::make_shared<ProgramPtr>(rewritten(program, strides, false));
  });
}

}  // namespace shardax
