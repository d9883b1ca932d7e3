// compile/plan.h - a compiled program: steps over memory, in order.
//
// Memory is addressed through base pointers, one per Slot. Slots are inputs and constants (owned by
// others), outputs (fresh buffers, one each) and the arena (temporaries at planned offsets).
// Everything but the base pointers is fixed when the plan is made, so a plan can run on several
// threads at once.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compile/tuning.h"
#include "ir/program.h"
#include "kernels/tiles/tile_loop.h"

namespace shardax {

// A strided window on a slot.
struct Window {
  int slot = 0;
  std::int64_t offset = 0;  // in elements
  Type type;
  Shape strides;
};

struct Slot {
  enum class Kind : std::uint8_t { input, constant, output, arena };
  Kind kind;
  int index = 0;            // of the input, constant or output buffer
  std::int64_t bytes = 0;   // outputs and arena
  std::int64_t offset = 0;  // arena: bytes from its start
};

class Step {
 public:
  virtual ~Step() = default;
  virtual void run(std::byte* const* base) const = 0;
  virtual std::string text() const = 0;                // as SHARDAX_DUMP=plan shows it
  virtual const char* kind() const { return "step"; }  // for traces (runtime/spans.h)
  // About how many nanoseconds it takes on one core; decides about releasing locks.
  virtual double cost() const = 0;
  // The number of times that it hands out work to threads.
  virtual double handed_out() const { return cost() > tuning::plan::worth_sharing_ns ? 1 : 0; }
  // Bytes that it allocates for the time it runs.
  virtual std::int64_t workspace() const { return 0; }

  LocationPtr location;  // the user's line of its last result; null where none is known
};

class Plan final : public RefCounted {
 public:
  std::vector<Slot> slots;
  std::vector<std::unique_ptr<Step>> steps;
  std::vector<ArrayPtr> constants;
  std::vector<Window> inputs;   // the view of each input
  std::vector<Window> outputs;  // the place of each result: in an output, input or constant slot
  std::vector<std::int64_t> output_bytes;
  // Results that a loop's body leaves in the memory of the carry that they replace.
  std::vector<bool> in_place;
  // For a loop's body, for each carry: the result that stacks it, whose slice the next turn reads;
  // -1: none. The carry then has no memory of its own.
  std::vector<int> stacked;
  // Donated inputs whose memory is written to; results lie in it.
  std::vector<std::size_t> overwritten;
  std::int64_t arena_bytes = 0;
  bool sends = false;     // messages to other processes that end at later steps
  double cost = 0;        // of its steps
  double handed_out = 0;  // likewise

  // Bytes of temporaries, those of its steps included.
  std::int64_t memory() const;

  // Runs on arrays whose strides are those the plan was made for. `memory` are their buffers, which
  // the caller holds: arrays can be deleted meanwhile.
  Values run(const Values& arrays, const std::vector<Shared<Buffer>>& memory) const;
  // Runs on raw memory: for plans made with `dense_outputs`, which write every result, row-major,
  // at outputs[i]. `arena` has arena_bytes.
  void run_raw(const std::byte* const* inputs, std::byte* const* outputs, std::byte* arena) const;
  std::string text() const;

 private:
  void run_steps(std::byte* const* base) const;
  void run_sending(std::byte* const* base) const;
};
using PlanPtr = Shared<const Plan>;

}  // namespace shardax
