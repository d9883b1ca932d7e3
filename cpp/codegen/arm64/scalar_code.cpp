// codegen/arm64/scalar_code.cpp - the function around the numbers of a scalar program: memory,
// calls, loops.
#include "codegen/arm64/scalar_code.h"

#include <bit>

#include "codegen/arm64/scalar_numbers.h"

namespace shardax::codegen::arm64 {
namespace {

namespace ops = opcodes;

constexpr General first{0}, pointers{19}, budget{20}, frame{29}, link{30};
// Jumps reach over 2^18 instructions, addresses of the stack over 2^12 registers.
constexpr int most_nodes = 1 << 13;
constexpr int most_slots = 1 << 11;

class ScalarAssembly final : NumberCode {
 public:
  ScalarAssembly(const ScalarProgram& program, Poll poll, bool lists)
      : NumberCode(program, lists), poll_(poll) {}

  std::vector<std::uint8_t> run(std::string* listing) {
    if (nodes_.size() > most_nodes || schedule_.slots > most_slots) return {};
    enter();
    if (!write_body() || too_far_) return {};
    leave();
    return encoder_.finish(listing);
  }

 private:
  // ---- the function -------------------------------------------------------------------------

  void enter() {
    encoder_.add(stack, stack, -32);
    encoder_.two(true, false, frame.number, link.number, {stack});
    encoder_.two(true, false, pointers.number, budget.number, {stack, 16});
    encoder_.add(frame, stack, 0);
    if (schedule_.slots > 0) encoder_.add(stack, stack, -vector_bytes * schedule_.slots);
    encoder_.move(pointers, first);
    set_budget();
  }
  void set_budget() {
    encoder_.set(budget, static_cast<std::uint64_t>(turns_between_polls(program_)));
  }
  void leave() {
    encoder_.set(first, 0);
    for (const std::size_t jump : leaving_) encoder_.land(jump);
    const std::size_t end = encoder_.here();
    encoder_.add(stack, frame, 0);
    encoder_.two(false, false, frame.number, link.number, {stack});
    encoder_.two(false, false, pointers.number, budget.number, {stack, 16});
    encoder_.add(stack, stack, 32);
    encoder_.ret();
    if (!polls_.empty()) poll(end);
  }
  // A function in the function: asks `poll_`, and keeps all registers of numbers.
  void poll(std::size_t end) {
    for (const std::size_t call : polls_) encoder_.land(call);
    constexpr int bytes = vector_bytes * registers + 8 * general_registers + 16;
    constexpr int of_link = bytes - 16;
    static_assert(bytes % 16 == 0);
    encoder_.add(stack, stack, -bytes);
    encoder_.store(link, {stack, of_link});
    for (int r = 0; r < registers; ++r) encoder_.store(vector_of(r), slot(r), vector_bytes);
    for (int r = 0; r < general_registers; ++r) encoder_.store(general_of(r), aside(r));
    encoder_.move(first, pointers);
    call_function(reinterpret_cast<const void*>(poll_));
    encoder_.jump_back_if(false, first, false, end);
    for (int r = 0; r < registers; ++r) encoder_.load(vector_of(r), slot(r), vector_bytes);
    for (int r = 0; r < general_registers; ++r) encoder_.load(general_of(r), aside(r));
    encoder_.load(link, {stack, of_link});
    set_budget();
    encoder_.add(stack, stack, bytes);
    encoder_.ret();
  }
  static Address aside(int r) { return {stack, vector_bytes * registers + 8 * r}; }

  void call_function(const void* function) {
    encoder_.set(spare1, reinterpret_cast<std::uint64_t>(function));
    encoder_.call(spare1);
  }

  // ---- memory -------------------------------------------------------------------------------

  void pointer(General to, int pointer) {
    too_far_ = too_far_ || pointer >= 1 << 12;
    encoder_.load(to, {pointers, 8 * pointer});
  }
  void add_any(General to, std::int64_t value) {
    if (-(1 << 24) < value && value < 1 << 24) return encoder_.add(to, to, value);
    encoder_.set(spare2, static_cast<std::uint64_t>(value));
    encoder_.general(ops::add_register, to, to, spare2);
  }

  Address address(const Access& access) {
    pointer(where, access.pointer);
    if (access.index >= 0) {
      General by = in_general(access.index, spare1);
      if (node(access.index).kind == Kind::i32) {
        encoder_.extend_sign(spare1, by);
        by = spare1;
      }
      const auto stride = static_cast<std::uint64_t>(access.stride);
      if (std::has_single_bit(stride)) {
        encoder_.add_shifted(where, where, by, std::countr_zero(stride));
      } else {
        encoder_.set(spare2, stride);
        encoder_.general(ops::multiply, spare1, by, spare2);
        encoder_.general(ops::add_register, where, where, spare1);
      }
    }
    const std::int64_t offset = access.offset;
    if (offset >= 0 && offset % access.bytes == 0 && offset / access.bytes < 1 << 12)
      return {where, offset};
    add_any(where, offset);
    return {where};
  }

  void load(int i, const Access& access) override {
    const Address from = address(access);
    if (is_general(i)) {
      encoder_.load(general_target(i), from, access.bytes);
      return general_done(i);
    }
    const Vector to = target(i);
    const Arrangement a{static_cast<std::uint8_t>(std::countr_zero(unsigned(access.bytes)))};
    if (access.bytes == vector_bytes) {
      encoder_.load(to, from, vector_bytes);
    } else if (from.offset == 0) {
      encoder_.load_all(a, to, from.base);
    } else {
      encoder_.load(to, from, access.bytes);
      encoder_.duplicate(a, to, to);
    }
    if (node(i).kind == Kind::truth) encoder_.vector(ops::neg, {0}, to, to);
    done(i);
  }

  void store(int i, const Access& access) override {
    const Address to = address(access);
    if (is_general(i) && is_integer(node(i).kind) && access.bytes < vector_bytes)
      return encoder_.store(in_general(i, spare0), to, access.bytes);
    Vector from = operands[0];
    if (is_general(i))
      to_lanes(i, from);
    else
      from = in_lanes(i, from);
    if (node(i).kind == Kind::truth && access.bytes < vector_bytes) {
      encoder_.vector(ops::neg, {0}, operands[1], from);
      from = operands[1];
    }
    encoder_.store(from, to, access.bytes);
  }

  void call(const Call& call) override {
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
      const Argument& argument = call.arguments[k];
      const General in{static_cast<std::uint8_t>(k)};
      if (argument.pointer < 0) {
        encoder_.set(in, static_cast<std::uint64_t>(argument.value));
      } else {
        pointer(in, argument.pointer);
        if (argument.value != 0) add_any(in, argument.value);
      }
    }
    call_function(call.function);
    if (call.checked) leaving_.push_back(encoder_.jump_if(false, first, false));
  }

  // ---- loops and branches -------------------------------------------------------------------

  std::size_t here() const override { return encoder_.here(); }
  std::size_t jump() override { return encoder_.jump(); }
  std::size_t jump_unless(int condition) override {
    if (is_general(condition)) return encoder_.jump(opposite(flags(condition)));
    return encoder_.jump_if(true, in_general(condition, spare0), false);
  }
  void land(std::size_t jump) override { encoder_.land(jump); }
  void turn_again(std::size_t head) override {
    encoder_.subtract_and_compare(budget, budget, 1);
    encoder_.jump_back(Condition::not_equal, head);
    polls_.push_back(encoder_.call_later());
    encoder_.jump_back(head);
  }

  // A value that waits lies in a register of its kind.
  void step_aside(const Pending& p) override {
    if (is_general(p.from)) return to_general(spare2, p.from);
    const Vector from = in_lanes(p.from, waiting);
    if (from.number != waiting.number) encoder_.move(waiting, from);
  }
  void bring(const Pending& p) override { p.general ? bring_general(p) : bring_lanes(p); }
  void bring_lanes(const Pending& p) {
    Vector to = p.to.reg >= 0 ? vector_of(p.to.reg) : operands[0];
    if (is_general(p.from) && p.aside) {
      encoder_.duplicate({static_cast<std::uint8_t>(is_wide(p.from) ? 3 : 2)}, to, spare2);
    } else if (is_general(p.from)) {
      to_lanes(p.from, to);
    } else {
      const Vector from = p.aside ? waiting : in_lanes(p.from, to);
      if (p.to.reg < 0)
        to = from;
      else if (from.number != to.number)
        encoder_.move(to, from);
    }
    if (p.to.slot >= 0) encoder_.store(to, slot(p.to.slot), vector_bytes);
  }
  void bring_general(const Pending& p) {
    const General to = p.to.reg >= 0 ? general_of(p.to.reg) : spare0;
    if (!p.aside)
      to_general(to, p.from);
    else if (is_general(p.from))
      encoder_.move(to, spare2);
    else
      encoder_.to_general(to, waiting, true);
    if (p.to.slot >= 0) encoder_.store(to, slot(p.to.slot));
  }

  const Poll poll_;
  std::vector<std::size_t> leaving_, polls_;
  bool too_far_ = false;
};

}  // namespace

std::vector<std::uint8_t> scalar_code(const ScalarProgram& program, Poll poll,
                                      std::string* listing) {
  return ScalarAssembly(program, poll, listing != nullptr).run(listing);
}

}  // namespace shardax::codegen::arm64
