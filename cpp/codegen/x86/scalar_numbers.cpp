// codegen/x86/scalar_numbers.cpp - instructions of each node of a scalar program.
#include "codegen/x86/scalar_numbers.h"

#include <algorithm>
#include <optional>

#include "base/index.h"
#include "codegen/x86/general_opcodes.h"
#include "codegen/x86/opcodes.h"

namespace shardax::codegen {

namespace ops = opcodes;

// ---- operands -----------------------------------------------------------------------------

Encoder::Operand NumberCode::constant(int i) {
  std::uint64_t bits = node(i).bits;
  if (width_of(node(i).kind) == 4) bits = bits << 32 | (bits & 0xFFFFFFFF);
  const auto found = std::find(pool_.begin(), pool_.end(), bits);
  const auto entry = index(found - pool_.begin());
  if (found == pool_.end()) pool_.push_back(bits);
  return Encoder::Operand::constant(entry);
}

Encoder::Operand NumberCode::last(int i) {
  const Place p = lanes(i);
  if (p.reg >= 0) return Vector{static_cast<std::uint8_t>(p.reg)};
  if (p.slot >= 0) return slot(p.slot);
  return constant(stored(nodes_, i));
}

Vector NumberCode::first(int i, Vector otherwise) {
  const Encoder::Operand from = last(i);
  if (from.is == Encoder::Operand::Is::vector) return from.vector;
  encoder_.vector(ops::load, otherwise.number, unused, from);
  return otherwise;
}

void NumberCode::to_general(General to, int i, bool wide) {
  const Place p = place(i);
  if (p.reg >= 0 && is_general(i)) {
    if (register_of(p) != to) encoder_.general(ops::mov_load, to, register_of(p), wide);
  } else if (p.reg >= 0) {
    encoder_.vector(wide ? ops::to_general_8 : ops::to_general_4, static_cast<std::uint8_t>(p.reg),
                    unused, to, Size::xmm);
  } else if (p.slot >= 0) {
    encoder_.general(ops::mov_load, to, slot(p.slot), wide);
  } else if (const auto value = immediate(i)) {
    encoder_.general(ops::mov_number, to, to, wide, *value);
  } else {
    encoder_.set_wide(to, node(stored(nodes_, i)).bits);
  }
}

void NumberCode::to_lanes(int i, Vector to) {
  const Place p = place(i);
  if (p.reg >= 0) return to_lanes(register_of(p), to, is_wide(i));
  encoder_.vector(is_wide(i) ? ops::spread_8 : ops::spread_4, to.number, unused, slot(p.slot));
}
void NumberCode::to_lanes(General from, Vector to, bool wide) {
  encoder_.vector(wide ? ops::from_general_8 : ops::from_general_4, to.number, unused, from,
                  Size::xmm);
  encoder_.vector(wide ? ops::spread_8 : ops::spread_4, to.number, unused, to);
}

// ---- results ------------------------------------------------------------------------------

Vector NumberCode::target(int i) const {
  const Place p = place(i);
  return p.reg >= 0 ? Vector{static_cast<std::uint8_t>(p.reg)} : scratch0;
}

void NumberCode::done(int i) {
  const Place p = place(i);
  if (p.slot >= 0) encoder_.vector(ops::store, scratch0.number, unused, slot(p.slot));
}

void NumberCode::spread(int i, Vector from, bool wide) {
  encoder_.vector(wide ? ops::spread_8 : ops::spread_4, target(i).number, unused, from);
  done(i);
}

void NumberCode::from_general(int i, General from, bool wide) {
  if (is_general(i)) return general_done(i, from);
  to_lanes(from, target(i), wide);
  done(i);
}

void NumberCode::spread(int i) {
  const Place p = lanes(i);
  if (p.none()) return;  // nothing needs it there
  const Vector to = p.reg >= 0 ? Vector{static_cast<std::uint8_t>(p.reg)} : scratch0;
  to_lanes(i, to);
  if (p.slot >= 0) encoder_.vector(ops::store, to.number, unused, slot(p.slot));
}

// ---- nodes --------------------------------------------------------------------------------

bool NumberCode::compute(int i) {
  const Node& n = node(i);
  if (n.code == Code::quotient || n.code == Code::remainder) {
    divide(i);
    return true;
  }
  if (is_general(i)) return integer(i);
  switch (n.code) {
    case Code::convert: return convert(i);
    case Code::mul:
      if (n.kind == Kind::i64 || n.kind == Kind::u64) return multiply_wide(i);
      break;
    case Code::shift_right_arithmetic:
      if (n.kind == Kind::i64) return shift_wide(i);
      break;
    case Code::mul_high: upper_half(i); return true;
    case Code::fma: fused(i); return true;
    default: break;
  }
  return instruction(i);
}

bool NumberCode::instruction(int i) {
  const Node& n = node(i);
  const bool compares = n.code == Code::equal || n.code == Code::not_equal ||
                        n.code == Code::less || n.code == Code::less_equal;
  const Kind kind = compares ? node(n.in[0]).kind : n.kind;
  const Opcode* op = n.code == Code::scale ? ops::find_evex(n.code, kind) : ops::find(n.code, kind);
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
    case Code::table_lookup:
      encoder_.vector(*op, to, first(a, scratch0), Encoder::Operand::table(n.bits));
      break;
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
void NumberCode::fused(int i) {
  const Node& n = node(i);
  const Opcode& op = n.kind == Kind::f64 ? ops::fmadd213pd : ops::fmadd213ps;
  Vector to = target(i);
  const auto holds = [&](int v) { return lanes(v).reg == to.number; };
  if (holds(n.in[1]) || holds(n.in[2])) to = scratch0;
  const Vector b = first(n.in[1], scratch1);
  if (!holds(n.in[0])) encoder_.vector(ops::load, to.number, unused, last(n.in[0]));
  encoder_.vector(op, to.number, b, last(n.in[2]));
  if (place(i).reg >= 0 && to.number == scratch0.number)
    encoder_.vector(ops::load, target(i).number, unused, scratch0);
  done(i);
}

// Multiplies the words with even places and those with odd ones apart: lanes may be elements of an
// array.
void NumberCode::upper_half(int i) {
  const Node& n = node(i);
  const Opcode& multiply = is_unsigned(n.kind) ? ops::pmuludq : ops::pmuldq;
  const std::uint8_t to = target(i).number;
  const auto upper = [&](std::uint8_t into, Vector from) {
    encoder_.vector(ops::pshufd, into, unused, from);
    encoder_.immediate(ops::upper_words);
  };
  const Vector a = first(n.in[0], scratch0);
  upper(scratch1.number, a);
  encoder_.vector(multiply, scratch1.number, scratch1, last(n.in[1]));
  encoder_.vector(multiply, to, a, last(n.in[1]));
  upper(to, {to});
  encoder_.vector(ops::blend_words, to, {to}, scratch1);
  encoder_.immediate(ops::odd_words);
  done(i);
}

bool NumberCode::multiply_wide(int i) {
  to_general(rax, node(i).in[0], true);
  to_general(rcx, node(i).in[1], true);
  encoder_.general(ops::multiply, rax, rcx);
  from_general(i, rax, true);
  return true;
}

bool NumberCode::shift_wide(int i) {
  to_general(rax, node(i).in[0], true);
  encoder_.general(ops::shift_right_signed, rax, rax, true, static_cast<std::int32_t>(node(i).bits),
                   1);
  from_general(i, rax, true);
  return true;
}

// Divisors 0 and -1 are no business of the instruction, which would trap.
void NumberCode::divide(int i) {
  const Node& n = node(i);
  const bool wide = width_of(n.kind) == 8, has_sign = !is_unsigned(n.kind);
  const bool rest = n.code == Code::remainder;
  to_general(rax, n.in[0], wide);
  to_general(rcx, n.in[1], wide);
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

bool NumberCode::is_special(int divisor, bool wide) const {
  const std::uint64_t bits = node(stored(nodes_, divisor)).bits;
  return bits == 0 || bits == (wide ? ~std::uint64_t{0} : 0xFFFFFFFF);
}

void NumberCode::divide_specially(bool rest, bool wide, bool has_sign) {
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

bool NumberCode::convert(int i) {
  const Kind to = node(i).kind, from = node(node(i).in[0]).kind;
  const int a = node(i).in[0];
  if (to == Kind::truth || from == Kind::truth) return false;
  if (!is_float(from))
    return is_float(to) ? integer_to_float(i, a, from, to) : integer_to_integer(i, a, from, to);
  if (!is_float(to)) return float_to_integer(i, a, from, to);
  if (to == Kind::f64) {
    encoder_.vector(ops::vex_cvtps2pd, target(i).number, unused, last(a));
    done(i);
  } else {
    encoder_.vector(ops::vex_cvtpd2ps, scratch0.number, unused, last(a));
    spread(i, scratch0, false);
  }
  return true;
}

bool NumberCode::integer_to_float(int i, int a, Kind from, Kind to) {
  if (from == Kind::u64) return false;
  if (from == Kind::i32 && !is_general(a)) {
    encoder_.vector(to == Kind::f64 ? ops::vex_cvtdq2pd : ops::cvtdq2ps, target(i).number, unused,
                    last(a));
    done(i);
    return true;
  }
  to_general(rax, a, from == Kind::i64);  // of 32 bits: the upper ones are 0
  if (from == Kind::i32) encoder_.general(ops::extend_sign, rax, rax);
  // The instruction keeps the other lanes, which nothing should wait for.
  encoder_.vector(ops::pxor, scratch0.number, scratch0, scratch0, Size::xmm);
  encoder_.vector(to == Kind::f64 ? ops::cvtsi2sd : ops::cvtsi2ss, scratch0.number, scratch0, rax,
                  Size::xmm);
  spread(i, scratch0, to == Kind::f64);
  return true;
}

bool NumberCode::integer_to_integer(int i, int a, Kind from, Kind to) {
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

bool NumberCode::float_to_integer(int i, int a, Kind from, Kind to) {
  if (to == Kind::u64) return false;
  if (to == Kind::i32 && from == Kind::f32) {
    encoder_.vector(ops::cvttps2dq, target(i).number, unused, last(a));
    done(i);
  } else if (to == Kind::i32) {
    encoder_.vector(ops::vex_cvttpd2dq, scratch0.number, unused, last(a));
    spread(i, scratch0, false);
  } else {
    encoder_.vector(from == Kind::f64 ? ops::cvttsd2si : ops::cvttss2si, 0, unused,
                    first(a, scratch0), Size::xmm);
    from_general(i, rax, to == Kind::i64);
  }
  return true;
}

}  // namespace shardax::codegen
