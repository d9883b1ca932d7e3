// codegen/x86/scalar_code.cpp - the function around the numbers of a scalar program: memory, calls,
// loops.
#include "codegen/x86/scalar_code.h"

#include <span>

#include "codegen/x86/general_opcodes.h"
#include "codegen/x86/opcodes.h"
#include "codegen/x86/scalar_numbers.h"

namespace shardax::codegen {
namespace {

namespace ops = opcodes;

constexpr General pointers = General::rbx, budget = General::r12, frame = General::rbp;
// Below the frame's address: rbx, r12, the other registers that belong to who calls, and 8 bytes,
// so that the stack stays a multiple of 16.
constexpr int saved_bytes = 48;

class ScalarAssembly final : NumberCode {
 public:
  ScalarAssembly(const ScalarProgram& program, Poll poll, std::string* listing)
      : NumberCode(program, listing), poll_(poll) {}

  std::vector<std::uint8_t> run() {
    enter();
    if (!write_body()) return {};
    leave();
    return encoder_.finish(pool_, vector_bytes, nodes_.tables());
  }

 private:
  // ---- the function -------------------------------------------------------------------------

  void enter() {
    encoder_.push(frame);
    encoder_.general(ops::mov_load, frame, rsp);
    encoder_.push(pointers);
    encoder_.push(budget);
    for (const General r : kept()) encoder_.push(r);
    encoder_.general(ops::sub_number, rsp, rsp, true, 8 + vector_bytes * schedule_.slots);
    encoder_.general(ops::mov_load, pointers, General::rdi);
    set_budget();
  }
  void set_budget() {
    encoder_.general(ops::mov_number, budget, budget, true, turns_between_polls(program_));
  }
  void leave() {
    encoder_.general(ops::clear_register, rax, rax, false);
    for (const std::size_t jump : leaving_) encoder_.land(jump);
    const std::size_t end = encoder_.here();
    encoder_.general(ops::lea, rsp, Address{frame, 8 - saved_bytes});
    for (int k = kept_registers; k-- > 0;) encoder_.pop(kept()[index(k)]);
    encoder_.pop(budget);
    encoder_.pop(pointers);
    encoder_.pop(frame);
    encoder_.zero_upper();
    encoder_.ret();
    if (!polls_.empty()) poll(end);
  }
  // A function in the function: asks `poll_`, and keeps all registers.
  void poll(std::size_t end) {
    for (const std::size_t call : polls_) encoder_.land(call);
    constexpr int bytes = 16 * vector_bytes + 8;  // with the address to return to, a multiple of 16
    encoder_.general(ops::sub_number, rsp, rsp, true, bytes);
    for (int r = 0; r < registers; ++r)
      encoder_.vector(ops::store, static_cast<std::uint8_t>(r), unused, slot(r));
    for (int k = 0; k < not_kept; ++k)
      encoder_.general(ops::mov_store, general_registers[index(k)], aside(k));
    encoder_.zero_upper();
    call_function(reinterpret_cast<const void*>(poll_),
                  [&] { encoder_.general(ops::mov_load, General::rdi, pointers); });
    encoder_.general(ops::test_register, rax, rax, false);
    encoder_.jump_back(Condition::nonzero, end);
    for (int r = 0; r < registers; ++r)
      encoder_.vector(ops::load, static_cast<std::uint8_t>(r), unused, slot(r));
    for (int k = 0; k < not_kept; ++k)
      encoder_.general(ops::mov_load, general_registers[index(k)], aside(k));
    set_budget();
    encoder_.general(ops::add_number, rsp, rsp, true, bytes);
    encoder_.ret();
  }
  // Of general registers, those that functions keep, and where others lie while one is called.
  static constexpr int not_kept = static_cast<int>(general_registers.size()) - kept_registers;
  static std::span<const General> kept() { return std::span(general_registers).subspan(not_kept); }
  static Address aside(int k) { return {rsp, vector_bytes * registers + 8 * k}; }

  template <class Arguments>
  void call_function(const void* function, Arguments&& arguments) {
    arguments();
    encoder_.set_wide(rax, reinterpret_cast<std::uint64_t>(function));
    encoder_.call(rax);
  }

  // ---- memory -------------------------------------------------------------------------------

  Address address(const Access& access) {
    encoder_.general(ops::mov_load, rax, Address{pointers, 8 * access.pointer});
    Address out{rax, 0};
    if (access.offset != static_cast<std::int32_t>(access.offset)) {
      encoder_.set_wide(rdx, static_cast<std::uint64_t>(access.offset));
      encoder_.general(ops::add_register, rax, rdx);
    } else {
      out.offset = static_cast<std::int32_t>(access.offset);
    }
    if (access.index < 0) return out;
    const bool wide = node(access.index).kind != Kind::i32;
    out.indexed = true;
    out.index = rcx;
    const std::int64_t stride = access.stride;
    const bool scales = stride == 1 || stride == 2 || stride == 4 || stride == 8;
    if (scales && wide) {
      out.index = general(access.index, rcx);
    } else {
      to_general(rcx, access.index, wide);
      if (!wide) encoder_.general(ops::extend_sign, rcx, rcx);
    }
    if (scales) {
      out.scale = static_cast<int>(stride);
    } else if (stride == static_cast<std::int32_t>(stride)) {
      encoder_.general(ops::multiply_by, rcx, rcx, true, static_cast<std::int32_t>(stride));
    } else {
      encoder_.set_wide(rdx, static_cast<std::uint64_t>(stride));
      encoder_.general(ops::multiply, rcx, rdx);
    }
    return out;
  }

  void load(int i, const Access& access) override {
    const Address from = address(access);
    if (is_general(i)) {
      const General to = general_target(i);
      encoder_.general(ops::mov_load, to, from, access.bytes == 8);
      return general_done(i, to);
    }
    const Vector to = target(i);
    encoder_.vector(access.bytes == vector_bytes ? ops::load
                    : access.bytes == 1          ? ops::spread_1
                    : access.bytes == 2          ? ops::spread_2
                    : access.bytes == 4          ? ops::spread_4
                                                 : ops::spread_8,
                    to.number, unused, from);
    if (node(i).kind == Kind::truth) negate_bytes(to, to);
    done(i);
  }
  // Bytes 0 and 1 become 0 and -1, and back.
  void negate_bytes(Vector to, Vector from) {
    encoder_.vector(ops::pxor, scratch1.number, scratch1, scratch1);
    encoder_.vector(ops::psubb, to.number, scratch1, from);
  }

  void store(int i, const Access& access) override {
    const Address to = address(access);
    if (is_general(i) && is_integer(node(i).kind) && access.bytes == width_of(node(i).kind))
      return encoder_.general(ops::mov_store, general(i, rdx), to, access.bytes == 8);
    if (is_general(i)) to_lanes(i, scratch0);
    Vector from = is_general(i) ? scratch0 : first(i, scratch0);
    if (access.bytes == vector_bytes) return encoder_.vector(ops::store, from.number, unused, to);
    if (node(i).kind == Kind::truth) {
      negate_bytes(scratch0, from);
      from = scratch0;
    }
    encoder_.vector(access.bytes == 1   ? ops::extract_1
                    : access.bytes == 2 ? ops::extract_2
                    : access.bytes == 4 ? ops::store_lowest
                                        : ops::store_low,
                    from.number, unused, to, Size::xmm);
    if (access.bytes < 4) encoder_.immediate(0);
  }

  void call(const Call& call) override {
    constexpr General in[] = {General::rdi, General::rsi, General::rdx, General::rcx};
    encoder_.zero_upper();
    call_function(call.function, [&] {
      for (std::size_t k = 0; k < call.arguments.size(); ++k) {
        const Argument& argument = call.arguments[k];
        if (argument.pointer < 0) {
          encoder_.set_wide(in[k], static_cast<std::uint64_t>(argument.value));
          continue;
        }
        encoder_.general(ops::mov_load, in[k], Address{pointers, 8 * argument.pointer});
        encoder_.general(ops::add_number, in[k], in[k], true,
                         static_cast<std::int32_t>(argument.value));
      }
    });
    if (!call.checked) return;
    encoder_.general(ops::test_register, rax, rax, false);
    leaving_.push_back(encoder_.jump(Condition::nonzero));
  }

  // ---- loops and branches -------------------------------------------------------------------

  std::size_t here() const override { return encoder_.here(); }
  std::size_t jump() override { return encoder_.jump(); }
  std::size_t jump_unless(int condition) override {
    if (is_general(condition)) return encoder_.jump(opposite(flags(condition)));
    const Vector lanes = first(condition, scratch0);
    encoder_.vector(ops::test, lanes.number, unused, lanes);
    return encoder_.jump(Condition::zero);
  }
  void land(std::size_t jump) override { encoder_.land(jump); }
  void turn_again(std::size_t head) override {
    encoder_.general(ops::sub_number, budget, budget, true, 1);
    encoder_.jump_back(Condition::nonzero, head);
    polls_.push_back(encoder_.call());
    encoder_.jump_back(head);
  }

  // A value that waits lies in scratch1 or rdx.
  void step_aside(const Pending& p) override {
    if (is_general(p.from))
      to_general(rdx, p.from, true);
    else
      encoder_.vector(ops::load, scratch1.number, unused, last(p.from));
  }
  void bring(const Pending& p) override { p.general ? bring_general(p) : bring_lanes(p); }
  void bring_lanes(const Pending& p) {
    const auto to = static_cast<std::uint8_t>(p.to.reg);
    if (is_general(p.from)) {
      const Vector into = p.to.reg >= 0 ? Vector{to} : scratch0;
      p.aside ? to_lanes(rdx, into, is_wide(p.from)) : to_lanes(p.from, into);
      if (p.to.slot >= 0) encoder_.vector(ops::store, into.number, unused, slot(p.to.slot));
    } else if (p.to.reg >= 0) {
      encoder_.vector(ops::load, to, unused, p.aside ? Encoder::Operand(scratch1) : last(p.from));
    } else {
      const Vector from = p.aside ? scratch1 : first(p.from, scratch0);
      encoder_.vector(ops::store, from.number, unused, slot(p.to.slot));
    }
  }
  void bring_general(const Pending& p) {
    const General into = p.to.reg >= 0 ? register_of(p.to) : rcx;
    if (p.aside && is_general(p.from)) {
      encoder_.general(ops::mov_load, into, rdx);
    } else if (p.aside) {
      encoder_.vector(ops::to_general_8, scratch1.number, unused, into, Size::xmm);
    } else {
      to_general(into, p.from, is_wide(p.from));
    }
    if (p.to.slot >= 0) encoder_.general(ops::mov_store, into, slot(p.to.slot));
  }

  const Poll poll_;
  std::vector<std::size_t> leaving_, polls_;
};

}  // namespace

std::vector<std::uint8_t> scalar_code_x86(const ScalarProgram& program, Poll poll,
                                          std::string* listing) {
  return ScalarAssembly(program, poll, listing).run();
}

}  // namespace shardax::codegen
