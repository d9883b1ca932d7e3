// codegen/arm64/scalar_integers.cpp - instructions of integers in general registers.
#include <algorithm>

#include "codegen/arm64/scalar_numbers.h"

namespace shardax::codegen::arm64 {

namespace ops = opcodes;

// A constant that an instruction can hold, or its negative.
std::optional<std::int64_t> NumberCode::small(int i) const {
  const Node& n = node(stored(nodes_, i));
  if (n.code != Code::constant || is_truth(n.kind)) return {};
  const auto value = width_of(n.kind) == 4 ? std::int64_t{static_cast<std::int32_t>(n.bits)}
                                           : static_cast<std::int64_t>(n.bits);
  return -4096 < value && value < 4096 ? std::optional(value) : std::nullopt;
}

bool NumberCode::integer(int i) {
  const Node& n = node(i);
  switch (n.code) {
    case Code::add: add(i, false); break;
    case Code::sub: add(i, true); break;
    case Code::bit_and: two(i, ops::and_register); break;
    case Code::bit_or: two(i, ops::or_register); break;
    case Code::bit_xor: two(i, ops::xor_register); break;
    case Code::mul: two(i, ops::multiply); break;
    case Code::mul_words: multiply_words(i); break;
    case Code::mul_high: upper_word(i); break;
    case Code::shift_left: shift(i, ops::shift_left); break;
    case Code::shift_right: shift(i, ops::shift_right); break;
    case Code::shift_right_arithmetic: shift(i, ops::shift_right_signed); break;
    case Code::quotient:
    case Code::remainder: divide(i, general_target(i)); break;
    case Code::equal:
    case Code::less: encoder_.all_ones_if(general_target(i), compare(i)); break;
    case Code::select: choose(i); break;
    case Code::max:
    case Code::min: extremum(i); break;
    case Code::convert: resize(i); break;
    default: return false;
  }
  general_done(i);
  return true;
}

void NumberCode::two(int i, const GeneralOpcode& op) {
  const General a = in_general(node(i).in[0], spare1), b = in_general(node(i).in[1], spare2);
  encoder_.general(op, general_target(i), a, b, is_wide(i));
}

void NumberCode::add(int i, bool subtracts) {
  int a = node(i).in[0], b = node(i).in[1];
  if (!subtracts && small(a)) std::swap(a, b);
  const auto value = small(b);
  if (!value) return two(i, subtracts ? ops::sub_register : ops::add_register);
  encoder_.add(general_target(i), in_general(a, spare1), subtracts ? -*value : *value);
}

void NumberCode::shift(int i, const GeneralOpcode& op) {
  const Node& n = node(i);
  const std::uint64_t width = is_wide(i) ? 64 : 32;
  const General to = general_target(i);
  if (n.bits >= width && n.code != Code::shift_right_arithmetic) return encoder_.set(to, 0);
  const General from = in_general(n.in[0], spare1);
  const auto bits = static_cast<int>(std::min(n.bits, width - 1));
  if (bits == 0)
    encoder_.move(to, from);
  else
    encoder_.shift(op, to, from, bits, is_wide(i));
}

// The product of the low halves.
void NumberCode::multiply_words(int i) {
  const General a = in_general(node(i).in[0], spare1), b = in_general(node(i).in[1], spare2);
  encoder_.multiply_words(general_target(i), a, b, false);
}

// The upper half of the product of 32-bit numbers.
void NumberCode::upper_word(int i) {
  const Node& n = node(i);
  const General a = in_general(n.in[0], spare1), b = in_general(n.in[1], spare2);
  encoder_.multiply_words(spare1, a, b, !is_unsigned(n.kind));
  encoder_.shift(ops::shift_right, general_target(i), spare1, 32, true);
}

// The instruction gives 0 for x / 0, which has to be -1, and x for the remainder as it should be.
void NumberCode::divide(int i, General to) {
  const Node& n = node(i);
  const bool wide = is_wide(i);
  const General a = in_general(n.in[0], spare1), b = in_general(n.in[1], spare2);
  encoder_.general(is_unsigned(n.kind) ? ops::divide : ops::divide_signed, where, a, b, wide);
  if (n.code == Code::remainder) return encoder_.subtract_product(to, where, b, a, wide);
  if (is_constant(n.in[1]) && node(stored(nodes_, n.in[1])).bits != 0)
    return encoder_.move(to, where);
  encoder_.compare(b, 0, wide);
  encoder_.set(spare1, ~std::uint64_t{0});
  encoder_.select(to, where, spare1, Condition::not_equal, wide);
}

void NumberCode::resize(int i) {
  const int a = node(i).in[0];
  const General from = in_general(a, spare1), to = general_target(i);
  const bool grows = is_wide(i) && !is_wide(a);
  if (grows && node(a).kind == Kind::i32)
    encoder_.extend_sign(to, from);
  else
    encoder_.general(ops::or_register, to, zero, from, !grows);
}

// ---- truth values -------------------------------------------------------------------------

Condition NumberCode::compare(int i) {
  const Node& n = node(i);
  const bool wide = is_wide(n.in[0]);
  const General a = in_general(n.in[0], spare1);
  const auto value = small(n.in[1]);
  if (value && *value >= 0)
    encoder_.compare(a, static_cast<std::uint32_t>(*value), wide);
  else
    encoder_.compare(a, in_general(n.in[1], spare2), wide);
  return n.code == Code::equal ? Condition::equal : Condition::less;
}

Condition NumberCode::flags(int i) {
  const int v = stored(nodes_, i);
  if (schedule_.homes.flags[index(v)]) return compare(v);
  encoder_.compare(in_general(i, spare1), 0, false);
  return Condition::not_equal;
}

void NumberCode::choose(int i) {
  const Node& n = node(i);
  const Condition holds = flags(n.in[0]);
  const General yes = in_general(n.in[1], spare1), no = in_general(n.in[2], spare2);
  encoder_.select(general_target(i), yes, no, holds, is_wide(i));
}

// Of int32: a > b ? a : b, or a < b ? a : b.
void NumberCode::extremum(int i) {
  const Node& n = node(i);
  const General a = in_general(n.in[0], spare1), b = in_general(n.in[1], spare2);
  encoder_.compare(a, b, false);
  encoder_.select(general_target(i), a, b,
                  n.code == Code::max ? Condition::greater : Condition::less, false);
}

}  // namespace shardax::codegen::arm64
