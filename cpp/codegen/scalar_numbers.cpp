// codegen/scalar_numbers.cpp - which instructions compute a number.
#include "codegen/scalar_numbers.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>

#include "codegen/general_opcodes.h"
#include "codegen/opcodes.h"

namespace shardax::codegen {

namespace ops = opcodes;

// ---- operands -----------------------------------------------------------------------------

Encoder::Operand NumberCode::constant(int i) {
  const std::uint64_t bits = node(i).bits;
  return width_of(node(i).kind) == 4 ? word(static_cast<std::uint32_t>(bits)) : pooled(bits);
}
Encoder::Operand NumberCode::word(std::uint32_t bits) {
  return pooled(std::uint64_t{bits} << 32 | bits);
}
Encoder::Operand NumberCode::pooled(std::uint64_t bits) {
  const auto found = std::find(pool_.begin(), pool_.end(), bits);
  const auto entry = static_cast<std::size_t>(found - pool_.begin());
  if (found == pool_.end()) pool_.push_back(bits);
  return Encoder::Operand::constant(entry);
}

Encoder::Operand NumberCode::last(int i) {
  const Place p = place(i);
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
  if (p.reg >= 0) {
    encoder_.vector(wide ? ops::to_general_8 : ops::to_general_4, static_cast<std::uint8_t>(p.reg),
                    unused, to, Size::xmm);
  } else if (p.slot >= 0) {
    encoder_.general(ops::mov_load, to, slot(p.slot), wide);
  } else {
    const std::uint64_t bits = node(stored(nodes_, i)).bits;
    encoder_.set_wide(to, wide ? bits : bits & 0xFFFFFFFF);
  }
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
  encoder_.vector(wide ? ops::from_general_8 : ops::from_general_4, scratch0.number, unused, from,
                  Size::xmm);
  spread(i, scratch0, wide);
}

// ---- nodes --------------------------------------------------------------------------------

bool NumberCode::compute(int i) {
  const Node& n = node(i);
  switch (n.code) {
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
    default: break;
  }
  return instruction(i);
}

bool NumberCode::instruction(int i) {
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
    case Code::pick:
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
  if (!wide && is_constant(n.in[1]) && !is_special(n.in[1], wide)) return divide_by_constant(i);
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

// 32 bits: a multiplication by 2^n / d, rounded up (Granlund and Montgomery, Division by invariant
// integers using multiplication, 1994).
void NumberCode::divide_by_constant(int i) {
  const Node& n = node(i);
  const auto divisor = static_cast<std::uint32_t>(node(stored(nodes_, n.in[1])).bits);
  const bool rest = n.code == Code::remainder;
  const Vector quotient = rest ? scratch1 : target(i);
  if (is_unsigned(n.kind))
    unsigned_quotient(quotient, n.in[0], divisor);
  else
    signed_quotient(quotient, n.in[0], static_cast<std::int32_t>(divisor));
  if (rest) {
    encoder_.vector(ops::pmulld, scratch1.number, scratch1, word(divisor));
    encoder_.vector(ops::psubd, target(i).number, first(n.in[0], scratch0), scratch1);
  }
  done(i);
}

// scratch1 becomes the upper half of the product of a number and a multiplier.
void NumberCode::upper_half(const Opcode& multiply, int a, std::uint32_t multiplier) {
  constexpr std::uint8_t upper_words = 0xF5;
  encoder_.vector(multiply, scratch1.number, first(a, scratch1), word(multiplier));
  encoder_.vector(ops::pshufd, scratch1.number, unused, scratch1);
  encoder_.immediate(upper_words);
}
void NumberCode::shift_by(const Opcode& op, Vector to, Vector from, int bits) {
  encoder_.vector(op, op.extension, to, from);
  encoder_.immediate(static_cast<std::uint8_t>(bits));
}

// With m = floor(2^32 (2^l - d) / d) + 1, 2^(l - 1) < d < 2^l, and t the upper half of a m:
// (t + (a - t) / 2) / 2^(l - 1).
void NumberCode::unsigned_quotient(Vector to, int a, std::uint32_t d) {
  const int bits = std::bit_width(d - 1);
  const std::uint64_t beyond = ((std::uint64_t{1} << bits) - d) << 32;
  upper_half(ops::pmuludq, a, static_cast<std::uint32_t>(beyond / d + 1));
  encoder_.vector(ops::psubd, scratch0.number, first(a, scratch0), scratch1);
  shift_by(ops::psrld, scratch0, scratch0, 1);
  encoder_.vector(ops::paddd, scratch1.number, scratch0, scratch1);
  shift_by(ops::psrld, to, scratch1, bits - 1);
}

// With m = floor(2^(31 + l) / |d|) + 1, which is 2^32 and a number with a sign, a m / 2^(31 + l),
// and one more where a < 0.
void NumberCode::signed_quotient(Vector to, int a, std::int32_t divisor) {
  const auto d = static_cast<std::uint64_t>(std::abs(std::int64_t{divisor}));
  const int bits = std::max(1, static_cast<int>(std::bit_width(d - 1)));
  upper_half(ops::pmuldq, a, static_cast<std::uint32_t>((std::uint64_t{1} << (31 + bits)) / d + 1));
  encoder_.vector(ops::paddd, scratch1.number, scratch1, last(a));
  shift_by(ops::psrad, scratch1, scratch1, bits - 1);
  shift_by(ops::psrad, scratch0, first(a, scratch0), 31);
  if (divisor > 0)
    encoder_.vector(ops::psubd, to.number, scratch1, scratch0);
  else
    encoder_.vector(ops::psubd, to.number, scratch0, scratch1);
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
  if (from == Kind::i32) {
    encoder_.vector(to == Kind::f64 ? ops::vex_cvtdq2pd : ops::cvtdq2ps, target(i).number, unused,
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
