// compile/plan.cpp - running the steps of a plan.
#include "compile/plan.h"

#include "base/errors.h"
#include "base/index.h"
#include "compile/lower/lower.h"
#include "kernels/aligned_buffer.h"
#include "runtime/interrupt.h"
#include "runtime/spans.h"
#include "runtime/transfer.h"

namespace shardax {
namespace {

using Bases = SmallVector<std::byte*, 24>;

// The constant of which a window shows elements; null where it is none.
ArrayPtr constant_of(const Plan& plan, const Window& window) {
  const Slot& slot = plan.slots[index(window.slot)];
  const bool constant = slot.kind == Slot::Kind::constant;
  return constant ? plan.constants[index(slot.index)] : nullptr;
}

void run_step(const Step& step, std::byte* const* base) {
  runtime::poll();
  const auto text = [&]() -> runtime::SpanText {
    return {step.text(), step.kind(), step.location ? short_string(*step.location) : ""};
  };
  const runtime::Span span(text);
  step.run(base);
}

}  // namespace

std::optional<std::uint64_t> known_integer(const Plan& plan, const Window& window) {
  const DType dtype = window.type.dtype;
  for (std::size_t d = 0; d < window.type.rank(); ++d) {
    if (window.strides[d] != 0 && window.type.shape[d] != 1) return {};
  }
  const ArrayPtr value = constant_of(plan, window);
  if (!value || (dtype != DType::int32 && dtype != DType::uint32)) return {};
  return reinterpret_cast<const std::uint32_t*>(value->data())[window.offset];
}

ArrayPtr known_scalar(const Plan& plan, const Window& window) {
  const ArrayPtr value = constant_of(plan, window);
  const bool whole = value && value->type().rank() == 0 && window.type.rank() == 0 &&
                     value->type().dtype == window.type.dtype;
  return whole ? value : nullptr;
}

// Steps run while messages are under way, which get some time between them.
void Plan::run_sending(std::byte* const* base) const {
  const runtime::TransferScope scope;
  for (const auto& step : steps) {
    run_step(*step, base);
    runtime::progress_transfers();
  }
}

void Plan::run_steps(std::byte* const* base) const {
  if (sends) return run_sending(base);
  for (const auto& step : steps) run_step(*step, base);
}

std::int64_t Plan::memory() const {
  std::int64_t most = 0;
  for (const auto& step : steps) most = std::max(most, step->workspace());
  return arena_bytes + most;
}

Values Plan::run(const Values& arrays, const std::vector<Shared<Buffer>>& memory) const {
  const kernels::AlignedBuffer<std::byte> arena(arena_bytes);
  std::vector<Shared<Buffer>> buffers;
  buffers.reserve(output_bytes.size());
  for (std::int64_t bytes : output_bytes) buffers.emplace_back(new Buffer(index(bytes)));
  Bases base;
  for (const Slot& slot : slots) {
    const auto i = index(slot.index);
    switch (slot.kind) {
      case Slot::Kind::input: base.push_back(as_array(arrays[i]).data()); break;
      case Slot::Kind::constant: base.push_back(constants[i]->data()); break;
      case Slot::Kind::output: base.push_back(buffers[i]->data()); break;
      case Slot::Kind::arena: base.push_back(arena.data() + slot.offset); break;
    }
  }
  run_steps(base.data());
  Values out;
  out.reserve(outputs.size());
  for (const Window& w : outputs) {
    const Slot& slot = slots[index(w.slot)];
    const auto i = index(slot.index);
    const Shared<Buffer>& buffer = slot.kind == Slot::Kind::input      ? memory[i]
                                   : slot.kind == Slot::Kind::constant ? constants[i]->buffer()
                                                                       : buffers[i];
    std::byte* data = base[index(w.slot)] + w.offset * itemsize(w.type.dtype);
    out.push_back(new Array(w.type, w.strides, buffer, data));
  }
  return out;
}

void Plan::run_raw(const std::byte* const* inputs_at, std::byte* const* outputs_at,
                   std::byte* arena) const {
  Bases base;
  for (const Slot& slot : slots) {
    const auto i = index(slot.index);
    switch (slot.kind) {
      case Slot::Kind::input: base.push_back(const_cast<std::byte*>(inputs_at[i])); break;
      case Slot::Kind::constant: base.push_back(constants[i]->data()); break;
      case Slot::Kind::output: base.push_back(outputs_at[i]); break;
      case Slot::Kind::arena: base.push_back(arena + slot.offset); break;
    }
  }
  run_steps(base.data());
}

std::string Plan::text() const {
  std::string out = concat("plan: ", steps.size(), " steps, ", memory(), " bytes of temporaries, ",
                           output_bytes.size(), " output buffers\n");
  for (const auto& step : steps) out += "  " + step->text() + "\n";
  return out;
}

}  // namespace shardax
