// compile/lower/control_steps.cpp - steps of cond, scan and while: compiled regions run in place.
//
// Carries live in two sets of buffers that swap roles from one iteration to the next, so that an
// iteration allocates nothing. A carry that a result stacks lives in the slices of that result.
// Operands and results are row-major (compile/lower/lower.cpp sees to it); only arrays that a scan
// reads in slices may have any strides.
#include <cstring>
#include <optional>

#include "base/errors.h"
#include "base/index.h"
#include "compile/lower/lower.h"
#include "compile/lower/scalar_step.h"
#include "compile/lower/steps.h"
#include "ir/regions.h"
#include "kernels/aligned_buffer.h"
#include "ops/callback.h"
#include "runtime/pool.h"
#include "runtime/progress.h"

namespace shardax {
namespace {

std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

using Pointers = std::vector<std::byte*>;

std::byte* address(const Window& w, std::byte* const* base) {
  return base[w.slot] + w.offset * itemsize(w.type.dtype);
}
Pointers addresses(const std::vector<Window>& windows, std::byte* const* base) {
  Pointers out;
  for (const Window& w : windows) out.push_back(address(w, base));
  return out;
}
std::vector<std::int64_t> sizes(const Types& types) {
  std::vector<std::int64_t> out;
  for (const Type& type : types) out.push_back(type.bytes());
  return out;
}

class ControlStep : public Step {
 public:
  ControlStep(std::vector<Window> in, std::vector<Window> out)
      : in_(std::move(in)), out_(std::move(out)) {}

 protected:
  std::vector<Window> in_, out_;
};

class CondStep final : public ControlStep {
 public:
  CondStep(std::vector<PlanPtr> branches, std::vector<Window> in, std::vector<Window> out)
      : ControlStep(std::move(in), std::move(out)), branches_(std::move(branches)) {}
  void run(std::byte* const* base) const override {
    const Pointers in = addresses(in_, base), out = addresses(out_, base);
    std::int32_t choice;
    std::memcpy(&choice, in[0], sizeof choice);
    const auto last = static_cast<std::int32_t>(branches_.size()) - 1;
    const Plan& branch = *branches_[index(std::clamp(choice, 0, last))];
    const kernels::AlignedBuffer<std::byte> arena(branch.arena_bytes);
    branch.run_raw(in.data() + 1, out.data(), arena.data());
  }
  std::string text() const override { return concat("cond of ", branches_.size(), " branches"); }
  std::int64_t workspace() const override {
    std::int64_t most = 0;
    for (const PlanPtr& b : branches_) most = std::max(most, b->memory());
    return most;
  }
  double cost() const override {
    double most = 0;
    for (const PlanPtr& b : branches_) most = std::max(most, b->cost);
    return most;
  }

 private:
  std::vector<PlanPtr> branches_;
};

// Two sets of carry buffers.
class Carry {
 public:
  // A carry that the body updates in place has one buffer, a carry that a result stacks has none.
  Carry(const std::vector<std::int64_t>& bytes, const Plan& body, const std::byte* const* initial)
      : bytes_(bytes), stacked_(body.stacked), memory_(Carry::bytes(bytes, body)) {
    std::byte* at = memory_.data();
    for (Pointers& set : sets_) {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        set.push_back(stacked_[i] < 0 ? at : const_cast<std::byte*>(initial[i]));
        if (stacked_[i] < 0) at += aligned(bytes[i]);
      }
    }
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (stacked_[i] < 0) copy(sets_[0][i], initial[i], i);
      if (body.in_place[i]) sets_[1][i] = sets_[0][i];
    }
  }
  static std::int64_t bytes(const std::vector<std::int64_t>& each, const Plan& body) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < each.size(); ++i) {
      if (body.stacked[i] < 0) sum += aligned(each[i]);
    }
    return 2 * sum;
  }
  const Pointers& now() const { return sets_[current_]; }
  const Pointers& next() const { return sets_[1 - current_]; }
  // `results`, those of the turn that has run, stay where they are.
  void advance(const Pointers& results) {
    current_ = 1 - current_;
    for (std::size_t i = 0; i < stacked_.size(); ++i) {
      if (stacked_[i] >= 0) sets_[current_][i] = results[index(stacked_[i])];
    }
  }
  void finish(std::byte* const* out) const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) copy(out[i], now()[i], i);
  }

 private:
  void copy(std::byte* to, const std::byte* from, std::size_t i) const {
    std::memcpy(to, from, index(bytes_[i]));
  }
  const std::vector<std::int64_t>& bytes_;
  const std::vector<int>& stacked_;
  kernels::AlignedBuffer<std::byte> memory_;
  Pointers sets_[2];
  std::size_t current_ = 0;
};

// `calls`: the body calls functions of the host, which run on the calling thread, in order.
class ScanStep final : public ControlStep {
 public:
  ScanStep(std::string_view op, const Regions& regions, PlanPtr body, bool calls,
           std::vector<Window> in, std::vector<Window> out)
      : ControlStep(std::move(in), std::move(out)),
        op_(regions.devices ? "devices" : op),
        consts_(regions.operands_of(PortKind::whole).size()),
        carry_(regions.operands_of(PortKind::carried).size()),
        body_(std::move(body)),
        length_(regions.length),
        reverse_(regions.reverse),
        in_bytes_(slice_steps()),
        out_bytes_(sizes(regions.programs[0]->output_types())),
        carry_bytes_(out_bytes_.begin(), out_bytes_.begin() + static_cast<std::ptrdiff_t>(carry_)),
        devices_(regions.devices),
        parallel_(carry_ == 0 && !calls) {}

  void run(std::byte* const* base) const override {
    const Pointers in = addresses(in_, base), out = addresses(out_, base);
    const auto told = [this] { return loop_text(*this, op_); };
    runtime::Task task(runtime::TaskKind::loop, told, length_, true);
    if (parallel_ && cost() > tuning::plan::worth_sharing_ns) {
      iterations(in, out, task);
    } else {
      loop(in, out, task);
    }
  }
  std::string text() const override {
    return concat("scan of ", length_, " steps of ", body_->steps.size());
  }
  double cost() const override { return static_cast<double>(length_) * (body_->cost + 100); }
  double handed_out() const override {
    return parallel_ ? Step::handed_out() : static_cast<double>(length_) * body_->handed_out;
  }
  std::int64_t workspace() const override {
    const std::int64_t at_once = parallel_ ? std::min(length_, most_chunks) : 1;
    return Carry::bytes(carry_bytes_, *body_) + at_once * body_->memory();
  }

 private:
  static constexpr std::int64_t most_chunks = 64;

  // From one slice to the next, in bytes.
  std::vector<std::int64_t> slice_steps() const {
    std::vector<std::int64_t> out(in_.size(), 0);
    for (std::size_t i = consts_ + carry_; i < in_.size(); ++i)
      out[i] = in_[i].strides[0] * itemsize(in_[i].type.dtype);
    return out;
  }

  // Iterations that do not depend on each other.
  void iterations(const Pointers& in, const Pointers& out, runtime::Task& task) const {
    const std::int64_t chunks = std::min(length_, most_chunks);
    runtime::parallel_for(chunks, [&](std::int64_t chunk) {
      Pointers body_in = in, body_out = out;
      const kernels::AlignedBuffer<std::byte> arena(body_->arena_bytes);
      const std::int64_t end = (chunk + 1) * length_ / chunks;
      for (std::int64_t i = chunk * length_ / chunks; i < end; ++i) {
        for (std::size_t k = consts_; k < in.size(); ++k) body_in[k] = in[k] + i * in_bytes_[k];
        for (std::size_t k = 0; k < out.size(); ++k) body_out[k] = out[k] + i * out_bytes_[k];
        body_->run_raw(body_in.data(), body_out.data(), arena.data());
        task.add(1);
      }
    });
  }

  void loop(const Pointers& in, const Pointers& out, runtime::Task& task) const {
    Pointers body_in = in, body_out = out;
    Carry carry(carry_bytes_, *body_, in.data() + consts_);
    const kernels::AlignedBuffer<std::byte> arena(body_->arena_bytes);
    for (std::int64_t step = 0; step < length_; ++step) {
      const std::int64_t i = reverse_ ? length_ - 1 - step : step;
      for (std::size_t k = 0; k < carry_; ++k) {
        body_in[consts_ + k] = carry.now()[k];
        body_out[k] = carry.next()[k];
      }
      for (std::size_t k = consts_ + carry_; k < in.size(); ++k)
        body_in[k] = in[k] + i * in_bytes_[k];
      for (std::size_t k = carry_; k < out.size(); ++k) body_out[k] = out[k] + i * out_bytes_[k];
      std::optional<CallbackSlice> slice;
      if (devices_) slice.emplace(concat("device ", i));
      body_->run_raw(body_in.data(), body_out.data(), arena.data());
      carry.advance(body_out);
      task.add(1);
    }
    carry.finish(out.data());
  }

  std::string_view op_;
  std::size_t consts_, carry_;
  PlanPtr body_;
  std::int64_t length_;
  bool reverse_;
  std::vector<std::int64_t> in_bytes_, out_bytes_, carry_bytes_;
  bool devices_;   // an iteration is a device
  bool parallel_;  // iterations do not depend on each other
};

class WhileStep final : public ControlStep {
 public:
  WhileStep(std::string_view op, const Regions& regions, std::vector<Window> in,
            std::vector<Window> out)
      : ControlStep(std::move(in), std::move(out)),
        op_(op),
        carry_bytes_(sizes(regions.programs[1]->output_types())),
        cond_consts_(regions.programs[0]->inputs.size() - carry_bytes_.size()),
        body_consts_(regions.programs[1]->inputs.size() - carry_bytes_.size()),
        cond_(compile_body(regions.programs[0])),
        body_(compile_body(regions.programs[1], body_consts_, carry_bytes_.size())) {}

  void run(std::byte* const* base) const override {
    const Pointers in = addresses(in_, base), out = addresses(out_, base);
    const std::size_t first = cond_consts_ + body_consts_;
    Pointers cond_in(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(cond_consts_));
    Pointers body_in(in.begin() + static_cast<std::ptrdiff_t>(cond_consts_),
                     in.begin() + static_cast<std::ptrdiff_t>(first));
    cond_in.resize(cond_consts_ + carry_bytes_.size());
    body_in.resize(body_consts_ + carry_bytes_.size());
    Carry carry(carry_bytes_, *body_, in.data() + first);
    const kernels::AlignedBuffer<std::byte> arena(std::max(cond_->arena_bytes, body_->arena_bytes));
    const auto told = [this] { return loop_text(*this, op_); };
    runtime::Task task(runtime::TaskKind::loop, told, runtime::no_count, true);
    for (;;) {
      for (std::size_t k = 0; k < carry_bytes_.size(); ++k) {
        cond_in[cond_consts_ + k] = body_in[body_consts_ + k] = carry.now()[k];
      }
      bool go_on = false;
      std::byte* flag = reinterpret_cast<std::byte*>(&go_on);
      cond_->run_raw(cond_in.data(), &flag, arena.data());
      if (!go_on) break;
      body_->run_raw(body_in.data(), carry.next().data(), arena.data());
      carry.advance(carry.next());
      task.add(1);
    }
    carry.finish(out.data());
  }
  std::string text() const override {
    return concat("while over ", carry_bytes_.size(), " carries");
  }
  double cost() const override { return 1e6; }  // of unknown length: taken as long
  std::int64_t workspace() const override {
    return Carry::bytes(carry_bytes_, *body_) + std::max(cond_->memory(), body_->memory());
  }

 private:
  std::string_view op_;
  std::vector<std::int64_t> carry_bytes_;
  std::size_t cond_consts_, body_consts_;
  PlanPtr cond_, body_;
};

bool calls_function(const Equation& eqn) {
  return std::any_of(eqn.params.begin(), eqn.params.end(), [](const Params::Entry& entry) {
    return std::holds_alternative<FunctionPtr>(entry.second);
  });
}

bool has_any(const std::vector<int>& over) {
  return std::any_of(over.begin(), over.end(), [](int i) { return i >= 0; });
}

// Plans of the regions, with results left in the memory of operands, `over`, where all do that; the
// others are -1 then.
std::vector<PlanPtr> compiled(
    const Regions& regions, std::vector<int>& over,
    FunctionRef<PlanPtr(const ProgramPtr&, const std::vector<int>&)> one) {
  const std::vector<int> none;
  for (;;) {
    const bool some = has_any(over);
    std::vector<PlanPtr> plans;
    for (const ProgramPtr& body : regions.programs) plans.push_back(one(body, some ? over : none));
    bool kept = true;
    for (std::size_t k = 0; k < over.size(); ++k) {
      const bool all = std::all_of(plans.begin(), plans.end(),
                                   [&](const PlanPtr& plan) { return plan->in_place[k]; });
      if (over[k] < 0 || all) continue;
      over[k] = -1;
      kept = false;
    }
    if (kept) return plans;
  }
}

std::vector<PlanPtr> compiled_branches(const Regions& regions, std::vector<int>& over) {
  return compiled(regions, over, [](const ProgramPtr& branch, const std::vector<int>& operands) {
    std::vector<int> inputs;
    for (const int i : operands) inputs.push_back(i < 0 ? i : i - 1);
    return compile_body(branch, 0, 0, {}, inputs);
  });
}

PlanPtr compiled_turn(const Regions& regions, const std::vector<Window>& in,
                      std::vector<int>& over) {
  const std::size_t consts = regions.operands_of(PortKind::whole).size(),
                    carry = regions.operands_of(PortKind::carried).size();
  std::vector<Shape> strides;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t first = i < consts + carry ? 0 : 1;
    strides.emplace_back(in[i].strides.begin() + first, in[i].strides.end());
  }
  return compiled(regions, over, [&](const ProgramPtr& body, const std::vector<int>& inputs) {
    return compile_body(body, consts, carry, strides, inputs);
  })[0];
}

}  // namespace

std::unique_ptr<Step> lower_control(const Equation& eqn, const std::vector<Window>& in,
                                    const std::vector<ArrayPtr>& scalars, std::vector<int> over,
                                    PlaceOver place) {
  std::vector<Window> out;
  const bool dense = std::all_of(
      in.begin(), in.end(), [](const Window& w) { return is_contiguous(w.type.shape, w.strides); });
  out = place(std::vector<int>(over.size(), -1));
  if (std::unique_ptr<Step> native = dense ? scalar_step(eqn, in, scalars, out) : nullptr)
    return native;
  const Regions regions = eqn.op->regions(eqn.params);
  switch (regions.runs) {
    case ExecutionKind::one_of: {
      std::vector<PlanPtr> branches = compiled_branches(regions, over);
      if (has_any(over)) out = place(over);
      return std::make_unique<CondStep>(std::move(branches), in, out);
    }
    case ExecutionKind::counted: {
      PlanPtr body = compiled_turn(regions, in, over);
      if (has_any(over)) out = place(over);
      return std::make_unique<ScanStep>(eqn.op->name, regions, std::move(body),
                                        any_equation(eqn, calls_function), in, out);
    }
    case ExecutionKind::looped: return std::make_unique<WhileStep>(eqn.op->name, regions, in, out);
    case ExecutionKind::once:
    case ExecutionKind::mesh:
    case ExecutionKind::mapped: break;
  }
  throw InternalError(concat("'", eqn.op->name, "' was not compiled in place"));
}

}  // namespace shardax
