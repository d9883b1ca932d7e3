// codegen/arm64/scalar_numbers.cpp - operands, results, and nodes in vector registers.
#include "codegen/arm64/scalar_numbers.h"

namespace shardax::codegen::arm64 {

namespace ops = opcodes;

namespace {
constexpr Arrangement words{2}, wide_words{3}, low_words{2, false};
constexpr Arrangement lanes_of(bool wide) { return wide ? wide_words : words; }
}  // namespace

// ---- operands -----------------------------------------------------------------------------

Vector NumberCode::in_lanes(int i, Vector otherwise) {
  const Place p = lanes(i);
  if (p.reg >= 0) return vector_of(p.reg);
  if (p.slot >= 0)
    encoder_.load(otherwise, slot(p.slot), vector_bytes);
  else
    write_constant(encoder_, otherwise, node(stored(nodes_, i)));
  return otherwise;
}

General NumberCode::in_general(int i, General otherwise) {
  const Place p = place(i);
  if (is_general(i) && p.reg >= 0) return general_of(p.reg);
  to_general(otherwise, i);
  return otherwise;
}

void NumberCode::to_general(General to, int i) {
  const Place p = place(i);
  if (p.reg >= 0 && is_general(i)) {
    if (general_of(p.reg) != to) encoder_.move(to, general_of(p.reg));
  } else if (p.reg >= 0) {
    encoder_.to_general(to, vector_of(p.reg), is_wide(i));
  } else if (p.slot >= 0) {
    encoder_.load(to, slot(p.slot));
  } else {
    const Node& n = node(stored(nodes_, i));
    std::int64_t value = static_cast<std::int64_t>(n.bits);
    if (n.kind == Kind::truth) value = n.bits != 0 ? -1 : 0;
    if (width_of(n.kind) == 4) value = static_cast<std::int32_t>(n.bits);
    encoder_.set(to, static_cast<std::uint64_t>(value));
  }
}

void NumberCode::to_lanes(int i, Vector to) {
  encoder_.duplicate(lanes_of(is_wide(i)), to, in_general(i, spare0));
}

// ---- results ------------------------------------------------------------------------------

Vector NumberCode::target(int i) const {
  const Place p = place(i);
  return p.reg >= 0 ? vector_of(p.reg) : unplaced;
}
void NumberCode::done(int i) {
  const Place p = place(i);
  if (p.slot >= 0) encoder_.store(unplaced, slot(p.slot), vector_bytes);
}

General NumberCode::general_target(int i) const {
  const Place p = place(i);
  return p.reg >= 0 ? general_of(p.reg) : spare0;
}
void NumberCode::general_done(int i) {
  const Place p = place(i);
  if (p.slot >= 0) encoder_.store(spare0, slot(p.slot));
}

void NumberCode::spread(int i) {
  const Place p = lanes(i);
  if (p.none()) return;  // nothing needs it there
  const Vector to = p.reg >= 0 ? vector_of(p.reg) : unplaced;
  to_lanes(i, to);
  if (p.slot >= 0) encoder_.store(to, slot(p.slot), vector_bytes);
}

// ---- nodes --------------------------------------------------------------------------------

Arrangement NumberCode::arrangement(Kind kind) const { return lanes_of(width_of(kind) == 8); }

bool NumberCode::compute(int i) {
  const Node& n = node(i);
  if (is_general(i)) return integer(i);
  const bool wide_integer = n.kind == Kind::i64 || n.kind == Kind::u64;
  if (n.code == Code::convert) return convert(i);
  if (n.code == Code::fma) return fused(i), true;
  if (n.code == Code::table_lookup) return look_up(i), true;
  if (n.code == Code::mul && wide_integer) return multiply_wide(i), true;
  if (n.code == Code::quotient || n.code == Code::remainder) {
    divide(i, spare0);
    encoder_.duplicate(arrangement(n.kind), target(i), spare0);
    done(i);
    return true;
  }
  return instruction(i);
}

bool NumberCode::instruction(int i) {
  const Node& n = node(i);
  const Kind from = n.in[0] < 0 ? n.kind : node(n.in[0]).kind;
  const bool compares = is_truth(n.kind) && n.code != Code::select;
  Instruction instruction{n, from, arrangement(compares ? from : n.kind), target(i), {}};
  for (std::size_t k = 0; k < n.in.size(); ++k) {
    if (n.in[k] >= 0) instruction.in[k] = in_lanes(n.in[k], operands[k]);
  }
  if (!write_node(encoder_, instruction, nodes_.tables())) return false;
  done(i);
  return true;
}

// The sum's register is the result's, which may not be a factor's.
void NumberCode::fused(int i) {
  const Node& n = node(i);
  const Vector a = in_lanes(n.in[0], operands[0]), b = in_lanes(n.in[1], operands[1]);
  const Vector to = target(i);
  const bool is_factor = to.number == a.number || to.number == b.number;
  const Vector sum = is_factor ? operands[2] : to;
  const Vector c = in_lanes(n.in[2], sum);
  write_node(encoder_, {n, n.kind, arrangement(n.kind), sum, {a, b, c}}, nodes_.tables());
  if (is_factor) encoder_.move(to, sum);
  done(i);
}

// The number's place in the table says which bytes of it.
void NumberCode::look_up(int i) {
  const Node& n = node(i);
  const Vector from = in_lanes(n.in[0], operands[0]), bytes = operands[1];
  const auto number = [&](std::uint64_t value) {
    write_constant(encoder_, scratch0, {Code::constant, Kind::u32, {}, value});
  };
  number(7);
  encoder_.vector(ops::bit_and, words, bytes, from, scratch0);
  number(0x04040404);
  encoder_.vector(ops::mul, words, bytes, bytes, scratch0);
  number(0x03020100);
  encoder_.vector(ops::add, words, bytes, bytes, scratch0);
  const Instruction instruction{n, Kind::u32, words, target(i), {bytes, bytes, bytes}};
  write_node(encoder_, instruction, nodes_.tables());
  done(i);
}

void NumberCode::multiply_wide(int i) {
  const General a = in_general(node(i).in[0], spare0), b = in_general(node(i).in[1], spare1);
  encoder_.general(ops::multiply, spare0, a, b);
  encoder_.duplicate(wide_words, target(i), spare0);
  done(i);
}

// ---- conversions --------------------------------------------------------------------------

bool NumberCode::convert(int i) {
  const Kind to = node(i).kind, from = node(node(i).in[0]).kind;
  if (is_truth(to) || is_truth(from)) return false;
  if (is_float(from) && is_float(to))
    float_to_float(i, to);
  else if (is_float(to))
    integer_to_float(i, from, to);
  else if (is_float(from))
    float_to_integer(i, from, to);
  else
    integer_to_integer(i, from, to);
  done(i);
  return true;
}

void NumberCode::float_to_float(int i, Kind to) {
  const Vector a = in_lanes(node(i).in[0], operands[0]);
  if (to == Kind::f64) return encoder_.vector(ops::fcvtl, low_words, target(i), a);
  encoder_.vector(ops::fcvtn, low_words, target(i), a);
  encoder_.duplicate(words, target(i), target(i));
}

// Rounded once.
void NumberCode::integer_to_float(int i, Kind from, Kind to) {
  const int a = node(i).in[0];
  const bool wide = width_of(from) == 8, wide_float = to == Kind::f64;
  if (!is_general(a) && wide == wide_float) {
    encoder_.vector(is_unsigned(from) ? ops::ucvtf : ops::scvtf, lanes_of(wide), target(i),
                    in_lanes(a, operands[0]));
    return;
  }
  encoder_.integer_to_float(target(i), in_general(a, spare0), wide_float, wide, !is_unsigned(from));
  encoder_.duplicate(lanes_of(wide_float), target(i), target(i));
}

// Rounds towards zero. A float beyond the range of an integer becomes its nearest end.
void NumberCode::float_to_integer(int i, Kind from, Kind to) {
  const Vector a = in_lanes(node(i).in[0], operands[0]);
  const bool wide = width_of(to) == 8, wide_float = from == Kind::f64;
  if (wide == wide_float)
    return encoder_.vector(is_unsigned(to) ? ops::fcvtzu : ops::fcvtzs, lanes_of(wide), target(i),
                           a);
  encoder_.float_to_integer(spare0, a, wide_float, wide, !is_unsigned(to));
  encoder_.duplicate(lanes_of(wide), target(i), spare0);
}

void NumberCode::integer_to_integer(int i, Kind from, Kind to) {
  const Vector a = in_lanes(node(i).in[0], operands[0]), into = target(i);
  const int bytes = width_of(from);
  if (width_of(to) == bytes) {
    if (into.number != a.number) encoder_.move(into, a);
  } else if (bytes == 4) {
    encoder_.vector(is_unsigned(from) ? ops::uxtl : ops::sxtl, low_words, into, a);
  } else {
    encoder_.duplicate(words, into, a);
  }
}

}  // namespace shardax::codegen::arm64
