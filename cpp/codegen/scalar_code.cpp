// codegen/scalar_code.cpp - instructions of scalar programs.
//
// A number stands in all 8 (or 4) lanes of its register: constants are read as they lie in the
// pool, comparisons of one width select numbers of another, and no lane holds what would be slow to
// compute with. Division of integers and addresses go through general registers.
#include "codegen/scalar_code.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

#include "codegen/general_opcodes.h"
#include "codegen/opcodes.h"
#include "codegen/scalar_schedule.h"

namespace shardax::codegen {
namespace {

namespace ops = opcodes;

constexpr int registers = 14;  // the last two are for sequences of instructions
constexpr Vector scratch0{14}, scratch1{15}, unused{0};
constexpr General pointers = General::rbx, budget = General::r12, frame = General::rbp;
constexpr General rax = General::rax, rcx = General::rcx, rdx = General::rdx, rsi = General::rsi,
                  rsp = General::rsp;
constexpr int saved_bytes = 16;  // rbx and r12, below the frame's address
constexpr int vector_bytes = 32;

// A node takes a nanosecond at most, a call thirty.
constexpr double node_ns = 1, call_ns = 30, poll_ns = 1e6;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

class Assembly {
 public:
  Assembly(const ScalarProgram& program, Poll poll, std::string* listing)
      : program_(program),
        nodes_(program.nodes),
        poll_(poll),
        schedule_(schedule(program, registers)),
        encoder_(listing) {}

  std::vector<std::uint8_t> run() {
    enter();
    for (const Item& item : schedule_.items) {
      if (item.event >= 0) {
        happen(item.event);
      } else if (!compute(item.node)) {
        return {};
      }
    }
    leave();
    return encoder_.finish(pool_, 8);
  }

 private:
  const Node& node(int i) const { return nodes_.node(i); }
  Place place(int i) const { return schedule_.places[index(stored(nodes_, i))]; }

  // ---- the function -------------------------------------------------------------------------

  void enter() {
    encoder_.push(frame);
    encoder_.general(ops::mov_load, frame, rsp);
    encoder_.push(pointers);
    encoder_.push(budget);
    encoder_.general(ops::sub_number, rsp, rsp, true, vector_bytes * schedule_.slots);
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
    encoder_.general(ops::lea, rsp, Address{frame, -saved_bytes});
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
    encoder_.zero_upper();
    call_function(reinterpret_cast<const void*>(poll_),
                  [&] { encoder_.general(ops::mov_load, General::rdi, pointers); });
    encoder_.general(ops::test_register, rax, rax, false);
    encoder_.jump_back(Condition::nonzero, end);
    for (int r = 0; r < registers; ++r)
      encoder_.vector(ops::load, static_cast<std::uint8_t>(r), unused, slot(r));
    set_budget();
    encoder_.general(ops::add_number, rsp, rsp, true, bytes);
    encoder_.ret();
  }
  template <class Arguments>
  void call_function(const void* function, Arguments&& arguments) {
    arguments();
    encoder_.set_wide(rax, reinterpret_cast<std::uint64_t>(function));
    encoder_.call(rax);
  }

  // ---- operands -----------------------------------------------------------------------------

  static Address slot(int i) { return {rsp, vector_bytes * i}; }
  Encoder::Operand constant(int i) {
    std::uint64_t bits = node(i).bits;
    if (width_of(node(i).kind) == 4) bits = bits << 32 | (bits & 0xFFFFFFFF);
    const auto found = std::find(pool_.begin(), pool_.end(), bits);
    const auto entry = static_cast<std::size_t>(found - pool_.begin());
    if (found == pool_.end()) pool_.push_back(bits);
    return Encoder::Operand::constant(entry);
  }
  bool is_constant(int i) const { return node(stored(nodes_, i)).code == Code::constant; }
  // What the last operand of an instruction may be.
  Encoder::Operand last(int i) {
    const Place p = place(i);
    if (p.reg >= 0) return Vector{static_cast<std::uint8_t>(p.reg)};
    if (p.slot >= 0) return slot(p.slot);
    return constant(stored(nodes_, i));
  }
  bool in_register(int i) const { return place(i).reg >= 0; }
  // A number in its register, or read into `otherwise`.
  Vector first(int i, Vector otherwise) {
    const Encoder::Operand from = last(i);
    if (from.is == Encoder::Operand::Is::vector) return from.vector;
    encoder_.vector(ops::load, otherwise.number, unused, from);
    return otherwise;
  }
  // The low bits of a number in a general register.
  void to_general(General to, int i, bool wide) {
    const Place p = place(i);
    if (p.reg >= 0) {
      encoder_.vector(wide ? ops::to_general_8 : ops::to_general_4,
                      static_cast<std::uint8_t>(p.reg), unused, to, Size::xmm);
    } else if (p.slot >= 0) {
      encoder_.general(ops::mov_load, to, slot(p.slot), wide);
    } else {
      const std::uint64_t bits = node(stored(nodes_, i)).bits;
      encoder_.set_wide(to, wide ? bits : bits & 0xFFFFFFFF);
    }
  }

  // ---- results ------------------------------------------------------------------------------

  // Where a result is computed: its register, or scratch0, from which `done` stores it.
  Vector target(int i) const {
    const Place p = place(i);
    return p.reg >= 0 ? Vector{static_cast<std::uint8_t>(p.reg)} : scratch0;
  }
  void done(int i) {
    const Place p = place(i);
    if (p.slot >= 0) encoder_.vector(ops::store, scratch0.number, unused, slot(p.slot));
  }
  void spread(int i, Vector from, bool wide) {
    encoder_.vector(wide ? ops::spread_8 : ops::spread_4, target(i).number, unused, from);
    done(i);
  }
  void from_general(int i, General from, bool wide) {
    encoder_.vector(wide ? ops::from_general_8 : ops::from_general_4, scratch0.number, unused, from,
                    Size::xmm);
    spread(i, scratch0, wide);
  }

  // ---- nodes --------------------------------------------------------------------------------

  bool compute(int i) {
    const Node& n = node(i);
    if (place(i).none()) return true;
    switch (n.code) {
      case Code::unique: load(i, *program_.loaded(i)); return true;
      case Code::quotient:
      case Code::remainder: divide(i); return true;
      case Code::convert: return convert(i);
      case Code::mul:
        if (n.kind == Kind::i64 || n.kind == Kind::u64) return multiply_wide(i);
        break;
      case Code::shift_right_arithmetic:
        if (n.kind == Kind::i64) return shift_wide(i);
        break;
      case Code::fma: fused(i); return true;
      case Code::to_float: return integer_to_float(i, n.in[0], node(n.in[0]).kind, n.kind);
      default: break;
    }
    return instruction(i);
  }

  bool instruction(int i) {
    const Node& n = node(i);
    const bool compares = n.code == Code::equal || n.code == Code::not_equal ||
                          n.code == Code::less || n.code == Code::less_equal;
    const Kind kind = compares ? node(n.in[0]).kind : n.kind;
    const Opcode* op = ops::find(n.code, kind);
    if (!op) return false;
    int a = n.in[0], b = n.in[1];
    const std::uint8_t to = target(i).number;
    switch (n.code) {
      case Code::select: {
        const Vector mask = first(a, scratch1), no = first(n.in[2], scratch0);
        encoder_.vector(*op, to, no, last(b));
        encoder_.immediate(static_cast<std::uint8_t>(mask.number << 4));
        break;
      }
      case Code::shift_left:
      case Code::shift_right:
      case Code::shift_right_arithmetic:
        encoder_.vector(*op, op->extension, Vector{to}, first(a, scratch0));
        encoder_.immediate(static_cast<std::uint8_t>(n.bits));
        break;
      case Code::sqrt: encoder_.vector(*op, to, unused, last(a)); break;
      case Code::round:
        encoder_.vector(*op, to, unused, last(a));
        encoder_.immediate(static_cast<std::uint8_t>(n.bits | 8));
        break;
      default: {
        const bool floats = is_float(kind);
        if (n.code == Code::less && !floats) std::swap(a, b);  // a > b is what there is
        encoder_.vector(*op, to, first(a, scratch0), last(b));
        if (compares && floats) encoder_.immediate(ops::predicate(n.code));
      }
    }
    done(i);
    return true;
  }

  // a * b + c, which the instruction writes over a.
  void fused(int i) {
    const Node& n = node(i);
    const Opcode& op = n.kind == Kind::f64 ? ops::fmadd213pd : ops::fmadd213ps;
    Vector to = target(i);
    const auto holds = [&](int v) { return place(v).reg == to.number; };
    if (holds(n.in[1]) || holds(n.in[2])) to = scratch0;
    const Vector b = first(n.in[1], scratch1);
    if (!(in_register(n.in[0]) && place(n.in[0]).reg == to.number))
      encoder_.vector(ops::load, to.number, unused, last(n.in[0]));
    encoder_.vector(op, to.number, b, last(n.in[2]));
    if (place(i).reg >= 0 && to.number == scratch0.number)
      encoder_.vector(ops::load, target(i).number, unused, scratch0);
    done(i);
  }

  bool multiply_wide(int i) {
    to_general(rax, node(i).in[0], true);
    to_general(rcx, node(i).in[1], true);
    encoder_.general(ops::multiply, rax, rcx);
    from_general(i, rax, true);
    return true;
  }
  bool shift_wide(int i) {
    to_general(rax, node(i).in[0], true);
    encoder_.general(ops::shift_right_signed, rax, rax, true,
                     static_cast<std::int32_t>(node(i).bits), 1);
    from_general(i, rax, true);
    return true;
  }

  // Divisors 0 and -1 are no business of the instruction, which would trap.
  void divide(int i) {
    const Node& n = node(i);
    const bool wide = width_of(n.kind) == 8, has_sign = !is_unsigned(n.kind);
    const bool rest = n.code == Code::remainder;
    to_general(rax, n.in[0], wide);
    to_general(rcx, n.in[1], wide);
    if (!wide && is_constant(n.in[1]) && !is_special(n.in[1], wide)) return divide_by_constant(i);
    std::optional<std::size_t> special;
    if (!is_constant(n.in[1]) || is_special(n.in[1], wide)) {
      if (has_sign) {
        encoder_.general(ops::lea, rdx, Address{rcx, 1}, wide);
        encoder_.general(ops::compare_number, rdx, rdx, wide, 1);
        special = encoder_.jump(Condition::below_equal);
      } else {
        encoder_.general(ops::test_register, rcx, rcx, wide);
        special = encoder_.jump(Condition::zero);
      }
    }
    if (has_sign) {
      encoder_.sign_into_rdx(wide);
      encoder_.general(ops::divide_signed, rcx, rcx, wide);
    } else {
      encoder_.general(ops::clear_register, rdx, rdx, false);
      encoder_.general(ops::divide, rcx, rcx, wide);
    }
    if (special) {
      const std::size_t end = encoder_.jump();
      encoder_.land(*special);
      divide_specially(rest, wide, has_sign);
      encoder_.land(end);
    }
    from_general(i, rest ? rdx : rax, wide);
  }
  // 32 bits: a multiplication by 2^n / d, rounded up (Granlund and Montgomery 1994).
  void divide_by_constant(int i) {
    const Node& n = node(i);
    const auto divisor = static_cast<std::int32_t>(node(stored(nodes_, n.in[1])).bits);
    const bool rest = n.code == Code::remainder;
    to_general(rax, n.in[0], false);
    const General quotient = is_unsigned(n.kind)
                                 ? unsigned_quotient(static_cast<std::uint32_t>(divisor))
                                 : signed_quotient(divisor);
    if (!rest) return from_general(i, quotient, false);
    encoder_.general(ops::multiply_by, quotient, quotient, false, divisor);
    encoder_.general(ops::sub_register, rsi, quotient, false);
    from_general(i, rsi, false);
  }
  // Of eax, which stays in esi.
  General unsigned_quotient(std::uint32_t d) {
    encoder_.general(ops::mov_load, rsi, rax, false);
    encoder_.set_wide(rcx, ~std::uint64_t{0} / d + 1);
    encoder_.general(ops::multiply_into_rdx, rcx, rcx);
    return rdx;
  }
  General signed_quotient(std::int32_t divisor) {
    const std::uint64_t d = static_cast<std::uint64_t>(std::abs(std::int64_t{divisor}));
    const int shift = 31 + std::max(1, static_cast<int>(std::bit_width(d - 1)));
    encoder_.general(ops::extend_sign, rsi, rax);
    encoder_.set_wide(rcx, (std::uint64_t{1} << shift) / d + 1);
    encoder_.general(ops::multiply, rcx, rsi);
    encoder_.general(ops::shift_right_signed, rcx, rcx, true, shift, 1);
    encoder_.general(ops::mov_load, rdx, rsi);
    encoder_.general(ops::shift_right, rdx, rdx, true, 63, 1);
    encoder_.general(ops::add_register, rcx, rdx);  // towards zero
    if (divisor < 0) encoder_.general(ops::negate, rcx, rcx);
    return rcx;
  }
  bool is_special(int divisor, bool wide) const {
    const std::uint64_t bits = node(stored(nodes_, divisor)).bits;
    return bits == 0 || bits == (wide ? ~std::uint64_t{0} : 0xFFFFFFFF);
  }
  void divide_specially(bool rest, bool wide, bool has_sign) {
    if (rest) {
      encoder_.general(ops::mov_load, rdx, rax);
      if (!has_sign) return;
      encoder_.general(ops::test_register, rcx, rcx, wide);
      const std::size_t by_zero = encoder_.jump(Condition::zero);
      encoder_.general(ops::clear_register, rdx, rdx, false);
      encoder_.land(by_zero);
      return;
    }
    std::optional<std::size_t> end;
    if (has_sign) {
      encoder_.general(ops::test_register, rcx, rcx, wide);
      const std::size_t by_zero = encoder_.jump(Condition::zero);
      encoder_.general(ops::negate, rax, rax, wide);
      end = encoder_.jump();
      encoder_.land(by_zero);
    }
    encoder_.general(ops::mov_number, rax, rax, true, -1);
    if (end) encoder_.land(*end);
  }

  // ---- conversions --------------------------------------------------------------------------

  bool convert(int i) {
    const Kind to = node(i).kind, from = node(node(i).in[0]).kind;
    const int a = node(i).in[0];
    if (to == Kind::truth || from == Kind::truth) return false;
    if (!is_float(from))
      return is_float(to) ? integer_to_float(i, a, from, to) : integer_to_integer(i, a, from, to);
    if (!is_float(to)) return float_to_integer(i, a, from, to);
    if (to == Kind::f64) {
      encoder_.vector(ops::cvtps2pd, target(i).number, unused, last(a));
      done(i);
    } else {
      encoder_.vector(ops::cvtpd2ps, scratch0.number, unused, last(a));
      spread(i, scratch0, false);
    }
    return true;
  }
  bool integer_to_float(int i, int a, Kind from, Kind to) {
    if (from == Kind::u64) return false;
    if (from == Kind::i32) {
      encoder_.vector(to == Kind::f64 ? ops::cvtdq2pd : ops::cvtdq2ps, target(i).number, unused,
                      last(a));
      done(i);
      return true;
    }
    to_general(rax, a, from == Kind::i64);  // of 32 bits: the upper ones are 0
    encoder_.vector(to == Kind::f64 ? ops::cvtsi2sd : ops::cvtsi2ss, scratch0.number, scratch0, rax,
                    Size::xmm);
    spread(i, scratch0, to == Kind::f64);
    return true;
  }
  bool integer_to_integer(int i, int a, Kind from, Kind to) {
    const int bytes = width_of(from);
    if (width_of(to) == bytes) {
      encoder_.vector(ops::load, target(i).number, unused, last(a));
      done(i);
    } else if (bytes == 4) {
      encoder_.vector(from == Kind::i32 ? ops::widen_signed : ops::widen_unsigned, target(i).number,
                      unused, last(a));
      done(i);
    } else {
      spread(i, first(a, scratch0), false);
    }
    return true;
  }
  bool float_to_integer(int i, int a, Kind from, Kind to) {
    if (to == Kind::u64) return false;
    if (to == Kind::i32 && from == Kind::f32) {
      encoder_.vector(ops::cvttps2dq, target(i).number, unused, last(a));
      done(i);
    } else if (to == Kind::i32) {
      encoder_.vector(ops::cvttpd2dq, scratch0.number, unused, last(a));
      spread(i, scratch0, false);
    } else {
      encoder_.vector(from == Kind::f64 ? ops::cvttsd2si : ops::cvttss2si, 0, unused,
                      first(a, scratch0), Size::xmm);
      from_general(i, rax, to == Kind::i64);
    }
    return true;
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
    to_general(rcx, access.index, true);
    out.indexed = true;
    out.index = rcx;
    const std::int64_t stride = access.stride;
    if (stride == 1 || stride == 2 || stride == 4 || stride == 8) {
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
    const Vector to = target(i);
    encoder_.vector(access.bytes == 1   ? ops::spread_1
                    : access.bytes == 2 ? ops::spread_2
                    : access.bytes == 4 ? ops::spread_4
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
    Vector from = first(i, scratch0);
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
    struct Pending {
      Place to;
      int from;
      bool aside = false;  // it waits in scratch1
    };
    std::vector<Pending> pending;
    for (const Move& m : moves) {
      const Place to = place(m.to);
      if (!to.none() && !(to == place(m.from))) pending.push_back({to, m.from});
    }
    while (!pending.empty()) {
      const auto free = std::find_if(pending.begin(), pending.end(), [&](const Pending& p) {
        return std::none_of(pending.begin(), pending.end(), [&](const Pending& other) {
          return &other != &p && !other.aside && place(other.from) == p.to;
        });
      });
      if (free == pending.end()) {  // a cycle: one of its numbers steps aside
        encoder_.vector(ops::load, scratch1.number, unused, last(pending[0].from));
        pending[0].aside = true;
        continue;
      }
      if (free->to.reg >= 0) {
        encoder_.vector(ops::load, static_cast<std::uint8_t>(free->to.reg), unused,
                        free->aside ? Encoder::Operand(scratch1) : last(free->from));
      } else {
        const Vector from = free->aside ? scratch1 : first(free->from, scratch0);
        encoder_.vector(ops::store, from.number, unused, slot(free->to.slot));
      }
      pending.erase(free);
    }
  }

  const ScalarProgram& program_;
  const VectorProgram& nodes_;
  const Poll poll_;
  const Schedule schedule_;
  Encoder encoder_;
  std::vector<std::uint64_t> pool_;
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
