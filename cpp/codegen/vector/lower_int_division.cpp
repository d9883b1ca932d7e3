// codegen/vector/lower_int_division.cpp - integer quotients by products, or as exact quotients of
// float64. A quotient that is no integer lies 2^-32 of itself from the next, and rounding moves it
// by 2^-53.
#include "codegen/vector/lower_int_division.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "base/index.h"

namespace shardax::codegen {
namespace {

bool divides(const Node& node) {
  return (node.code == Code::quotient || node.code == Code::remainder) && width_of(node.kind) == 4;
}

class Divider {
 public:
  Divider(VectorProgram& program, Kind kind, bool saturates)
      : program_(program), kind_(kind), saturates_(saturates) {}

  int divide(Code code, int a, int b) {
    const int quotient = divide(a, b);
    if (code == Code::quotient) return quotient;
    return add(Code::sub, kind_, a, add(Code::mul, kind_, quotient, b));
  }

 private:
  int add(Code code, Kind kind, int a, int b = -1, int c = -1) {
    return program_.add({code, kind, {a, b, c}});
  }
  int constant(Kind kind, std::uint64_t bits) {
    return program_.add({Code::constant, kind, {}, bits});
  }
  int number(double x) { return constant(Kind::f64, std::bit_cast<std::uint64_t>(x)); }
  int integer(std::uint32_t x) { return constant(kind_, x); }
  bool has_sign() const { return !is_unsigned(kind_); }

  // Instructions convert integers with a sign: others are moved by 2^31.
  int to_float(int x) {
    if (has_sign()) return add(Code::convert, Kind::f64, x);
    const int moved = add(Code::bit_xor, kind_, x, integer(0x80000000u));
    const int near = add(Code::convert, Kind::f64, add(Code::view, Kind::i32, moved));
    return add(Code::add, Kind::f64, near, number(0x1p31));
  }
  // Towards zero; 2^31, which is INT_MIN / -1, becomes INT_MIN.
  int to_integer(int x) {
    if (has_sign())
      return add(Code::convert, kind_, saturates_ ? add(Code::convert, Kind::i64, x) : x);
    const int whole = program_.add({Code::round, Kind::f64, {x}, 1});
    const int near = add(Code::sub, Kind::f64, whole, number(0x1p31));
    const int moved = add(Code::view, kind_, add(Code::convert, Kind::i32, near));
    return add(Code::bit_xor, kind_, moved, integer(0x80000000u));
  }

  int divide(int a, int b) {
    const Node divisor = program_.node(b);
    const auto low = static_cast<std::uint32_t>(divisor.bits);
    if (divisor.code == Code::constant && low != 0) {
      // Times the reciprocal, rounded away from zero so that multiples do not fall short.
      const double d = has_sign() ? static_cast<double>(static_cast<std::int32_t>(low))
                                  : static_cast<double>(low);
      const double reciprocal = std::nextafter(1 / d, d > 0 ? 2.0 : -2.0);
      return to_integer(add(Code::mul, Kind::f64, to_float(a), number(reciprocal)));
    }
    const int ratio = add(Code::div, Kind::f64, to_float(a), to_float(b));
    const int by_zero = add(Code::equal, Kind::truth, b, integer(0));
    return add(Code::select, kind_, by_zero, integer(~0u), to_integer(ratio));
  }

  VectorProgram& program_;
  Kind kind_;
  bool saturates_;
};

}  // namespace

// Division of 32 bits by multiplications (Granlund and Montgomery, Division by invariant integers
// using multiplication, 1994). Without a sign, 2^(l - 1) < d < 2^l, t is the upper half of a m,
// where m = floor(2^32 (2^l - d) / d) + 1, and the quotient (t + (a - t) / 2) / 2^(l - 1). With
// one, m = floor(2^(31 + l) / |d|) + 1 is 2^32 and a number with a sign; a m / 2^(31 + l) is one
// too small where a < 0.
int VectorProgram::by_multiplication(const Node& division) {
  const Kind kind = division.kind;
  const int a = division.in[0], b = division.in[1];
  const auto d = static_cast<std::uint32_t>(node(b).bits);
  if (node(b).code != Code::constant || width_of(kind) != 4 || d == 0) return -1;
  const auto two = [&](Code code, int x, int y) { return add({code, kind, {x, y}}); };
  const auto shifted = [&](Code code, int x, int bits) {
    return bits == 0 ? x : add({code, kind, {x}, static_cast<std::uint64_t>(bits)});
  };
  const auto upper_half = [&](std::uint64_t m) {
    const std::uint64_t word = m & 0xffffffff;
    return two(Code::mul_high, a, add({Code::constant, kind, {}, word}));
  };
  int quotient = 0;
  if (is_unsigned(kind)) {
    const int bits = std::bit_width(d - 1);
    const int t = upper_half((((std::uint64_t{1} << bits) - d) << 32) / d + 1);
    const int half = shifted(Code::shift_right, two(Code::sub, a, t), 1);
    quotient = shifted(Code::shift_right, two(Code::add, half, t), bits - 1);
  } else {
    const auto divisor = static_cast<std::int32_t>(d);
    const auto size = static_cast<std::uint64_t>(std::abs(std::int64_t{divisor}));
    const int bits = std::max(1, static_cast<int>(std::bit_width(size - 1)));
    const int high = upper_half((std::uint64_t{1} << (31 + bits)) / size + 1);
    const int below = shifted(Code::shift_right_arithmetic, two(Code::add, high, a), bits - 1);
    const int sign = shifted(Code::shift_right_arithmetic, a, 31);
    quotient = divisor > 0 ? two(Code::sub, below, sign) : two(Code::sub, sign, below);
  }
  const bool whole = division.code == Code::quotient;
  const int result = whole ? quotient : two(Code::sub, a, two(Code::mul, quotient, b));
  divisions_.emplace(result, division);
  return result;
}

VectorProgram lower_int_division(VectorProgram program, bool saturates) {
  bool any = false;
  for (int i = 0; i < program.size(); ++i) any = any || divides(program.node(i));
  if (!any) return program;
  VectorProgram out;
  for (const Table& table : program.tables()) out.add(table);
  std::vector<int> places;
  for (int i = 0; i < program.size(); ++i) {
    Node node = program.node(i);
    for (int& in : node.in) in = in < 0 ? in : places[index(in)];
    places.push_back(
        divides(node) ? Divider(out, node.kind, saturates).divide(node.code, node.in[0], node.in[1])
                      : out.add(node));
  }
  for (const Output& output : program.outputs)
    out.outputs.push_back({places[index(output.node)], output.operand});
  return out;
}

}  // namespace shardax::codegen
