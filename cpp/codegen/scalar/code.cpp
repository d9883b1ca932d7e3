// codegen/scalar/code.cpp - the function around the numbers of a scalar program: memory, calls,
// loops.
#include "codegen/scalar/code.h"

#include <algorithm>
#include <span>

#include "codegen/scalar/numbers.h"
#include "codegen/x86/general_opcodes.h"
#include "codegen/x86/opcodes.h"

namespace shardax::codegen {
namespace {

namespace ops = opcodes;

constexpr General pointers = General::rbx, budget = General::r12, frame = General::rbp;
// Below the frame's address: rbx, r12, the other registers that belong to who calls, and 8 bytes,
// so that the stack stays a multiple of 16.
constexpr int saved_bytes = 48;

// A node takes a nanosecond at most, a call thirty.
constexpr double node_ns = 1, call_ns = 30, poll_ns = 1e6;

class Assembly : NumberCode {
 public:
  Assembly(const ScalarProgram& program, Poll poll, std::string* listing)
      : NumberCode(program, listing), poll_(poll) {}

  std::vector<std::uint8_t> run() {
    enter();
    for (const Item& item : schedule_.items) {
      if (item.event >= 0) {
        happen(item.event);
      } else if (item.spreads) {
        spread(item.node);
      } else if (!place(item.node).none() && !number(item.node)) {
        return {};
      }
    }
    leave();
    return encoder_.finish(pool_, vector_bytes, nodes_.tables());
  }

 private:
  bool number(int i) {
    const Access* access = program_.loaded(i);
    if (!access) return compute(i);
    load(i, *access);
    return true;
  }

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
    encoder_.general(ops::mov_number, budget, budget, true,
                     static_cast<std::int32_t>(std::max(1.0, poll_ns / scalar_cost(program_))));
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
  // The general registers that functions keep, and the places of the others during a call.
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

  void load(int i, const Access& access) {
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

  void store(int i, const Access& access) {
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

  void call(const Call& call) {
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

  struct Open {
    std::size_t head = 0;
    std::vector<std::size_t> jumps;
  };

  void happen(int e) {
    const Event& event = program_.events()[index(e)];
    switch (event.mark) {
      case Mark::store: store(event.node, program_.access(event.place)); break;
      case Mark::call: call(program_.call_at(event.place)); break;
      case Mark::loop:
        move(event.moves);
        open_.push_back({encoder_.here(), {}});
        break;
      case Mark::branch: open_.emplace_back(); [[fallthrough]];
      case Mark::test: {
        if (is_general(event.node)) {
          const Condition holds = flags(event.node);
          open_.back().jumps.push_back(encoder_.jump(opposite(holds)));
          break;
        }
        const Vector condition = first(event.node, scratch0);
        encoder_.vector(ops::test, condition.number, unused, condition);
        open_.back().jumps.push_back(encoder_.jump(Condition::zero));
        break;
      }
      case Mark::again: {
        move(event.moves);
        encoder_.general(ops::sub_number, budget, budget, true, 1);
        encoder_.jump_back(Condition::nonzero, open_.back().head);
        polls_.push_back(encoder_.call());
        encoder_.jump_back(open_.back().head);
        close();
        move(event.leaving);
        break;
      }
      case Mark::otherwise: {
        move(program_.events()[index(schedule_.partner[index(e)])].leaving);
        const std::size_t end = encoder_.jump();
        close();
        open_.push_back({0, {end}});
        break;
      }
      case Mark::join:
        move(event.moves);
        close();
        break;
    }
  }
  void close() {
    for (const std::size_t jump : open_.back().jumps) encoder_.land(jump);
    open_.pop_back();
  }

  // All at once: a number is read before its place is written.
  void move(const std::vector<Move>& moves) {
    std::vector<Pending> pending;
    for (const Move& m : moves) {
      const Pending p{place(m.to), is_general(m.to), m.from};
      const bool there = p.to == place(m.from) && p.general == is_general(m.from);
      if (!p.to.none() && !there) pending.push_back(p);
    }
    const auto read = [&](const Pending& p, const Pending& other) {  // by another number
      return &other != &p && !other.aside && place(other.from) == p.to &&
             is_general(other.from) == p.general;
    };
    while (!pending.empty()) {
      const auto free = std::find_if(pending.begin(), pending.end(), [&](const Pending& p) {
        return std::none_of(pending.begin(), pending.end(),
                            [&](const Pending& other) { return read(p, other); });
      });
      if (free == pending.end()) {  // a cycle: one of its numbers steps aside
        step_aside(pending[0]);
        continue;
      }
      free->general ? bring_general(*free) : bring(*free);
      pending.erase(free);
    }
  }
  struct Pending {
    Place to;
    bool general;  // the registers of `to`
    int from;
    bool aside = false;  // it waits in scratch1, or rdx
  };
  void step_aside(Pending& p) {
    if (is_general(p.from))
      to_general(rdx, p.from, true);
    else
      encoder_.vector(ops::load, scratch1.number, unused, last(p.from));
    p.aside = true;
  }
  void bring(const Pending& p) {
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
  std::vector<Open> open_;
  std::vector<std::size_t> leaving_, polls_;
};

}  // namespace

double scalar_cost(const ScalarProgram& program) {
  double cost = node_ns * program.nodes.size();
  for (const Event& event : program.events()) cost += event.mark == Mark::call ? call_ns : node_ns;
  return cost;
}

std::vector<std::uint8_t> scalar_code(const ScalarProgram& program, Poll poll,
                                      std::string* listing) {
  std::vector<std::uint8_t> code = Assembly(program, poll, listing).run();
  if (code.empty() && listing) listing->clear();
  return code;
}

}  // namespace shardax::codegen
