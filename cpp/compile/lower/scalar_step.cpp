// compile/lower/scalar_step.cpp - runs scalar programs.
#include "compile/lower/scalar_step.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/errors.h"
#include "base/index.h"
#include "codegen/executable.h"
#include "codegen/scalar/code.h"
#include "compile/lower/steps.h"
#include "compile/pipeline.h"
#include "compile/scalar/scalarize.h"
#include "ir/op.h"
#include "kernels/aligned_buffer.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"
#include "runtime/progress.h"

namespace shardax {
namespace {

// Machine code is no part of a stack that C++ unwinds: an exception waits here.
struct State {
  std::exception_ptr error;
  runtime::Task& task;
  std::int64_t turns_a_poll;  // 0: polls do not tell the turns
  std::int64_t polls = 0;
};

template <class F>
int caught(State* state, F&& f) {
  try {
    f();
    return 0;
  } catch (...) {
    state->error = std::current_exception();
    return 1;
  }
}

int poll(std::byte* const* pointers) {
  State* const state = reinterpret_cast<State*>(pointers[0]);
  return caught(state, [&] {
    ++state->polls;
    state->task.add(state->turns_a_poll);
    runtime::poll_clock();
  });
}

int call_plan(void* state, const PlanCall* call, std::byte* frame) {
  return caught(static_cast<State*>(state), [&] {
    call->plan->run_raw(reinterpret_cast<const std::byte* const*>(frame + call->in),
                        reinterpret_cast<std::byte* const*>(frame + call->out),
                        frame + call->arena);
  });
}

// Polls count the turns of all loops together.
bool is_one_loop(const codegen::ScalarProgram& program) {
  return std::ranges::count(program.events(), codegen::Mark::again, &codegen::Event::mark) == 1;
}

class ScalarStep final : public Step {
 public:
  ScalarStep(std::string_view op, std::unique_ptr<ScalarLoop> loop,
             std::shared_ptr<const codegen::Native> native, const Regions& regions,
             std::vector<Window> in, std::vector<Window> out)
      : op_(op),
        loop_(std::move(loop)),
        native_(std::move(native)),
        runs_(regions.runs),
        length_(regions.length),
        turns_a_poll_(runs_ != ExecutionKind::one_of && is_one_loop(loop_->program)
                          ? codegen::turns_between_polls(loop_->program)
                          : 0),
        turn_ns_(codegen::scalar_cost(loop_->program)),
        in_(std::move(in)),
        out_(std::move(out)) {}

  void run(std::byte* const* base) const override {
    const auto told = [this] { return loop_text(*this, op_); };
    const bool counted = runs_ == ExecutionKind::counted;
    runtime::Task task(runtime::TaskKind::loop, told, counted ? length_ : runtime::no_count,
                       turns_a_poll_ > 0);
    if (loop_->range < 0 || cost() < tuning::plan::worth_sharing_ns)
      return run_part(base, 0, length_, task);
    const std::int64_t chunks = std::min(length_, most_chunks);
    runtime::parallel_for(chunks, [&](std::int64_t chunk) {
      run_part(base, chunk * length_ / chunks, (chunk + 1) * length_ / chunks, task);
    });
  }
  std::string text() const override {
    const std::string calls = loop_->calls ? concat(", ", loop_->calls, " calls") : "";
    const std::string what = concat(" of ", loop_->program.nodes.size(), " numbers", calls);
    switch (runs_) {
      case ExecutionKind::one_of: return "native cond" + what;
      case ExecutionKind::counted: return concat("native scan of ", length_, " steps", what);
      default: return "native while" + what;
    }
  }
  // A while is of unknown length: taken as long.
  double cost() const override {
    return runs_ == ExecutionKind::looped ? 1e6 : static_cast<double>(length_) * turn_ns_;
  }
  std::int64_t workspace() const override {
    return loop_->frame_bytes * (loop_->range < 0 ? 1 : most_chunks);
  }

 private:
  static constexpr std::int64_t most_chunks = 64;

  void run_part(std::byte* const* base, std::int64_t from, std::int64_t to,
                runtime::Task& task) const {
    State state{nullptr, task, turns_a_poll_};
    SmallVector<std::byte*, 24> pointers;
    pointers.push_back(reinterpret_cast<std::byte*>(&state));
    for (const auto* windows : {&in_, &out_}) {
      for (const Window& w : *windows)
        pointers.push_back(base[w.slot] + w.offset * itemsize(w.type.dtype));
    }
    for (const ArrayPtr& array : loop_->constant_arrays) pointers.push_back(array->data());
    const kernels::AlignedBuffer<std::byte> frame(loop_->frame_bytes);
    pointers.push_back(frame.data());
    for (const FrameAddress& a : loop_->addresses) {
      std::byte* address = pointers[index(a.pointer)] + a.value;
      std::memcpy(frame.data() + a.at, &address, sizeof address);
    }
    for (const InitialCopy& copy : loop_->copies) {
      std::memcpy(pointers[index(copy.to)], pointers[index(copy.from)], index(copy.bytes));
    }
    if (loop_->range >= 0) {
      const std::int64_t range[] = {from, to};
      std::memcpy(frame.data() + loop_->range, range, sizeof range);
    }
    if (native_->as<codegen::ScalarCode>()(pointers.data())) std::rethrow_exception(state.error);
    if (runs_ == ExecutionKind::counted) task.add(to - from - state.polls * turns_a_poll_);
  }

  std::string_view op_;
  std::unique_ptr<ScalarLoop> loop_;
  std::shared_ptr<const codegen::Native> native_;
  ExecutionKind runs_;
  std::int64_t length_;
  std::int64_t turns_a_poll_;
  double turn_ns_;
  std::vector<Window> in_, out_;
};

}  // namespace

std::unique_ptr<Step> scalar_step(const Equation& eqn, const std::vector<Window>& in,
                                  const std::vector<ArrayPtr>& scalars,
                                  const std::vector<Window>& out) {
  if (codegen::wanted() == codegen::Wanted::none) return nullptr;
  Types types;
  for (const Window& w : in) types.push_back(w.type);
  std::unique_ptr<ScalarLoop> loop = write_scalar_loop(eqn, types, scalars, call_plan);
  if (!loop) return nullptr;
  std::string listing;
  const std::vector<std::uint8_t> code =
      codegen::scalar_code(loop->program, poll, dump_flags().code ? &listing : nullptr);
  if (!listing.empty()) {
    const std::string name(eqn.op->name);
    std::fprintf(stderr, "-- machine code of: %s\n%s", name.c_str(), listing.c_str());
  }
  if (!codegen::runs(codegen::instructions())) return nullptr;
  std::shared_ptr<const codegen::Native> native = codegen::Native::place(code, eqn.op->name);
  if (!native) return nullptr;
  return std::make_unique<ScalarStep>(eqn.op->name, std::move(loop), std::move(native),
                                      eqn.op->regions(eqn.params), in, out);
}

}  // namespace shardax
