// codegen/x86/scalar_integers.cpp - instructions of integers in general registers.
//
// The upper half of a register that holds 32 bits is zero or of no account: who reads 64 bits of it
// extends it first.
#include <algorithm>

#include "base/errors.h"
#include "codegen/x86/general_opcodes.h"
#include "codegen/x86/scalar_numbers.h"

namespace shardax::codegen {

namespace ops = opcodes;

namespace {

const GeneralOpcode& move_if(Condition condition) {
  switch (condition) {
    case Condition::zero: return ops::move_if_equal;
    case Condition::nonzero: return ops::move_if_not_equal;
    case Condition::less: return ops::move_if_less;
    case Condition::greater_equal: return ops::move_if_not_less;
    default: throw InternalError("codegen: no move under this condition");
  }
}

}  // namespace

// ---- operands and results -----------------------------------------------------------------

General NumberCode::general(int i, General otherwise) {
  const Place p = place(i);
  if (is_general(i) && p.reg >= 0) return register_of(p);
  to_general(otherwise, i, is_wide(i));
  return otherwise;
}

Encoder::Operand NumberCode::general_last(int i, General otherwise) {
  const Place p = place(i);
  if (is_general(i) && p.slot >= 0) return slot(p.slot);
  return general(i, otherwise);
}

// A constant that an instruction can hold.
std::optional<std::int32_t> NumberCode::immediate(int i) const {
  const Node& n = node(stored(nodes_, i));
  if (n.code != Code::constant) return {};
  if (n.kind == Kind::truth) return n.bits ? -1 : 0;
  const auto low = static_cast<std::int32_t>(n.bits);
  const bool fits =
      width_of(n.kind) == 4 || static_cast<std::uint64_t>(std::int64_t{low}) == n.bits;
  return fits ? std::optional(low) : std::nullopt;
}

General NumberCode::general_target(int i) const {
  const Place p = place(i);
  return p.reg >= 0 ? register_of(p) : rax;
}

void NumberCode::general_done(int i, General from) {
  const Place p = place(i);
  if (p.slot >= 0) {
    encoder_.general(ops::mov_store, from, slot(p.slot));
  } else if (register_of(p) != from) {
    encoder_.general(ops::mov_load, register_of(p), from);
  }
}

// ---- nodes --------------------------------------------------------------------------------

bool NumberCode::integer(int i) {
  switch (node(i).code) {
    case Code::add: two_integers(i, ops::add_register, ops::add_number); return true;
    case Code::sub: two_integers(i, ops::sub_register, ops::sub_number); return true;
    case Code::bit_and: two_integers(i, ops::and_register, ops::and_number); return true;
    case Code::bit_or: two_integers(i, ops::or_register, ops::or_number); return true;
    case Code::bit_xor: two_integers(i, ops::xor_register, ops::xor_number); return true;
    case Code::mul: multiply(i); return true;
    case Code::mul_words: multiply_words(i); return true;
    case Code::mul_high: upper_word(i); return true;
    case Code::shift_left: shift(i, ops::shift_left); return true;
    case Code::shift_right: shift(i, ops::shift_right); return true;
    case Code::shift_right_arithmetic: shift(i, ops::shift_right_signed); return true;
    case Code::equal:
    case Code::less: truth(i); return true;
    case Code::select: choose(i); return true;
    case Code::max:
    case Code::min: extremum(i); return true;
    case Code::convert: resize(i); return true;
    default: return false;
  }
}

// The instruction writes over its first operand.
void NumberCode::two_integers(int i, const GeneralOpcode& op, const GeneralOpcode& by_number) {
  const Node& n = node(i);
  int a = n.in[0], b = n.in[1];
  General to = general_target(i);
  const auto holds = [&](int v) {
    return is_general(v) && place(v).reg >= 0 && register_of(place(v)) == to;
  };
  if (n.code != Code::sub && (immediate(a) || holds(b))) std::swap(a, b);
  if (holds(b)) to = rax;
  const bool wide = is_wide(i);
  if (!holds(a)) to_general(to, a, wide);
  if (const auto value = immediate(b)) {
    encoder_.general(by_number, to, to, wide, *value);
  } else {
    encoder_.general(op, to, general_last(b, rcx), wide);
  }
  general_done(i, to);
}

void NumberCode::multiply(int i) {
  const Node& n = node(i);
  int a = n.in[0], b = n.in[1];
  if (immediate(a)) std::swap(a, b);
  const auto value = immediate(b);
  if (!value) return two_integers(i, ops::multiply, ops::multiply_by);
  const General to = general_target(i);
  encoder_.general(ops::multiply_by, to, general_last(a, rcx), is_wide(i), *value);
  general_done(i, to);
}

void NumberCode::shift(int i, const GeneralOpcode& op) {
  const Node& n = node(i);
  const bool wide = is_wide(i), is_signed = n.code == Code::shift_right_arithmetic;
  const std::uint64_t width = wide ? 64 : 32;
  const General to = general_target(i);
  if (n.bits >= width && !is_signed) {
    encoder_.general(ops::mov_number, to, to, wide, 0);
  } else {
    to_general(to, n.in[0], wide);
    encoder_.general(op, to, to, wide, static_cast<std::int32_t>(std::min(n.bits, width - 1)), 1);
  }
  general_done(i, to);
}

// The product of the low halves.
void NumberCode::multiply_words(int i) {
  to_general(rax, node(i).in[0], false);
  to_general(rcx, node(i).in[1], false);
  encoder_.general(ops::multiply, rax, rcx);
  general_done(i, rax);
}

// The upper half of the product by a constant of 32 bits.
void NumberCode::upper_word(int i) {
  const Node& n = node(i);
  const std::uint64_t by = node(stored(nodes_, n.in[1])).bits & 0xFFFFFFFF;
  to_general(rax, n.in[0], false);
  if (!is_unsigned(n.kind)) encoder_.general(ops::extend_sign, rax, rax);
  if (is_unsigned(n.kind) && by >> 31) {
    encoder_.set_wide(rcx, by);
    encoder_.general(ops::multiply, rax, rcx);
  } else {
    encoder_.general(ops::multiply_by, rax, rax, true, static_cast<std::int32_t>(by));
  }
  encoder_.general(ops::shift_right, rax, rax, true, 32, 1);
  general_done(i, rax);
}

void NumberCode::resize(int i) {
  const int a = node(i).in[0];
  const General to = general_target(i);
  if (is_wide(i) && node(a).kind == Kind::i32) {
    encoder_.general(ops::extend_sign, to, general_last(a, rax));
  } else {
    encoder_.general(ops::mov_load, to, general_last(a, to), is_wide(i) && is_wide(a));
  }
  general_done(i, to);
}

// ---- truth values -------------------------------------------------------------------------

Condition NumberCode::compare(int i) {
  const Node& n = node(i);
  const bool wide = is_wide(n.in[0]);
  const General first = general(n.in[0], rax);
  if (const auto value = immediate(n.in[1])) {
    encoder_.general(ops::compare_number, first, first, wide, *value);
  } else {
    encoder_.general(ops::compare_register, first, general_last(n.in[1], rcx), wide);
  }
  return n.code == Code::equal ? Condition::zero : Condition::less;
}

Condition NumberCode::flags(int i) {
  const int v = stored(nodes_, i);
  if (schedule_.homes.flags[index(v)]) return compare(v);
  const General truth = general(i, rax);
  encoder_.general(ops::test_register, truth, truth, false);
  return Condition::nonzero;
}

void NumberCode::truth(int i) {
  const Condition holds = compare(i);
  encoder_.general(ops::mov_number, rax, rax, false, 0);
  encoder_.general(ops::mov_number, rcx, rcx, false, -1);
  encoder_.general(move_if(holds), rax, rcx, false);
  general_done(i, rax);
}

// The result may have the register of any operand.
void NumberCode::choose(int i) {
  const Node& n = node(i);
  const bool wide = is_wide(i);
  const Condition holds = flags(n.in[0]);
  const General yes = general(n.in[1], rcx), no = general(n.in[2], rdx), to = general_target(i);
  if (to == yes) {
    encoder_.general(move_if(opposite(holds)), to, no, wide);
  } else {
    if (to != no) encoder_.general(ops::mov_load, to, no);
    encoder_.general(move_if(holds), to, yes, wide);
  }
  general_done(i, to);
}

// The extremum of int32: a > b ? a : b, or a < b ? a : b.
void NumberCode::extremum(int i) {
  const Node& n = node(i);
  to_general(rax, n.in[0], false);
  const General b = general(n.in[1], rcx);
  encoder_.general(ops::compare_register, rax, b, false);
  const bool larger = n.code == Code::max;
  encoder_.general(larger ? ops::move_if_less : ops::move_if_greater, rax, b, false);
  general_done(i, rax);
}

}  // namespace shardax::codegen
