// codegen/vector/simplify_floor_div.cpp - fewer instructions for floor division and its remainder.
//
// Libraries write them as quotients towards zero, corrected if signs differ and there is a
// remainder. For constant divisors the sign decides most of that; for powers of two a shift or a
// mask is left.
#include <bit>

#include "codegen/vector/lower_int_division.h"

namespace shardax::codegen {
namespace {

class Floors {
 public:
  explicit Floors(VectorProgram& program) : program_(program) {}

  int of(const Node& n) {
    switch (n.code) {
      case Code::bit_and: return n.kind == Kind::truth ? of_and(n.in[0], n.in[1]) : -1;
      case Code::equal: return of_equal(n);
      case Code::select: return n.kind == Kind::truth ? of_truths(n) : of_select(n);
      default: return -1;
    }
  }

 private:
  const Node& node(int i) const { return program_.node(i); }
  bool is_constant(int i) const { return node(i).code == Code::constant; }
  bool is(int i, std::int64_t value) const {
    const Node& n = node(i);
    if (n.code != Code::constant || width_of(n.kind) == 0) return false;
    return width_of(n.kind) == 4 ? static_cast<std::int32_t>(n.bits) == value
                                 : static_cast<std::int64_t>(n.bits) == value;
  }
  int truth(bool x) {
    return program_.add({Code::constant, Kind::truth, {}, x ? ~std::uint64_t{0} : 0});
  }
  int negated(int i) { return program_.add({Code::bit_xor, Kind::truth, {i, truth(true)}}); }
  // The node whose negation node i is, or -1.
  int inner(int i) const {
    const Node& n = node(i);
    if (n.code != Code::bit_xor || n.kind != Kind::truth) return -1;
    for (const int k : {0, 1}) {
      const auto [one, other] = k ? std::pair(n.in[1], n.in[0]) : std::pair(n.in[0], n.in[1]);
      if (is_constant(other) && node(other).bits != 0) return one;
    }
    return -1;
  }
  // Is i the statement that x is not zero? Gives x, or -1.
  int not_zero(int i) const {
    const int equal = inner(i);
    if (equal < 0 || node(equal).code != Code::equal) return -1;
    for (const std::size_t k : {0u, 1u}) {
      if (is(node(equal).in[1 - k], 0)) return node(equal).in[k];
    }
    return -1;
  }
  bool below_zero(int i, int x) const {
    const Node& n = node(i);
    return n.code == Code::less && n.in[0] == x && is(n.in[1], 0);
  }
  bool above_zero(int i, int x) const {
    const Node& n = node(i);
    return n.code == Code::less && n.in[1] == x && is(n.in[0], 0);
  }

  // x < 0 says that x is not 0; a remainder of x that is not 0 has the sign of x.
  int of_and(int a, int b) {
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
      const int x = not_zero(one);
      if (x < 0) continue;
      if (below_zero(other, x) || above_zero(other, x)) return other;
      const Node division = program_.meaning(x);
      const int above = inner(other);
      if (division.code == Code::remainder && above >= 0 && above_zero(above, division.in[0])) {
        const int zero = program_.add({Code::constant, division.kind, {}, 0});
        return program_.add({Code::less, Kind::truth, {x, zero}});
      }
    }
    return -1;
  }

  // A choice between constants.
  bool is_choice(int i, int depth = 3) const {
    const Node& n = node(i);
    if (n.code == Code::constant) return true;
    return n.code == Code::select && depth > 0 && is_choice(n.in[1], depth - 1) &&
           is_choice(n.in[2], depth - 1);
  }
  // Is a choice between constants equal to one: a choice between truths.
  int of_equal(const Node& n) {
    for (const std::size_t k : {0u, 1u}) {
      const Node choice = node(n.in[k]);
      const int constant = n.in[1 - k];
      if (choice.code != Code::select || !is_constant(constant) || is_float(choice.kind) ||
          !is_choice(n.in[k]))
        continue;
      const auto equal = [&](int x) {
        return program_.add({Code::equal, Kind::truth, {x, constant}});
      };
      const int yes = equal(choice.in[1]), no = equal(choice.in[2]);
      return program_.add({Code::select, Kind::truth, {choice.in[0], yes, no}});
    }
    return -1;
  }
  int of_truths(const Node& n) {
    const auto two = [&](Code code, int a, int b) {
      return program_.add({code, Kind::truth, {a, b}});
    };
    const int test = n.in[0], yes = n.in[1], no = n.in[2];
    if (is_constant(yes)) {
      return node(yes).bits ? two(Code::bit_or, test, no) : two(Code::bit_and, negated(test), no);
    }
    if (is_constant(no)) {
      return node(no).bits ? two(Code::bit_or, negated(test), yes) : two(Code::bit_and, test, yes);
    }
    return -1;
  }

  // r < 0 ? r + d : r and r < 0 ? q - 1 : q, where q and r are of x by d, a power of two.
  int of_select(const Node& n) {
    const Node test = node(n.in[0]);
    if (test.code != Code::less || !is(test.in[1], 0) || n.kind != Kind::i32) return -1;
    const Node rest = program_.meaning(test.in[0]), changed = node(n.in[1]);
    if (rest.code != Code::remainder || !is_constant(rest.in[1])) return -1;
    const auto d = static_cast<std::uint32_t>(node(rest.in[1]).bits);
    if (!std::has_single_bit(d) || d > INT32_MAX) return -1;
    const auto adds = [&](Code code, int x, std::int64_t value) {
      return changed.code == code && changed.in[0] == x && is(changed.in[1], value);
    };
    if (n.in[2] == test.in[0] && adds(Code::add, n.in[2], d)) {
      const int mask = program_.add({Code::constant, n.kind, {}, d - 1});
      return program_.add({Code::bit_and, n.kind, {rest.in[0], mask}});
    }
    const Node quotient = program_.meaning(n.in[2]);
    if (quotient.code == Code::quotient && quotient.in == rest.in &&
        (adds(Code::sub, n.in[2], 1) || adds(Code::add, n.in[2], -1))) {
      return program_.add({Code::shift_right_arithmetic,
                           n.kind,
                           {rest.in[0]},
                           static_cast<std::uint64_t>(std::countr_zero(d))});
    }
    return -1;
  }

  VectorProgram& program_;
};

}  // namespace

int by_signs(VectorProgram& program, const Node& node) { return Floors(program).of(node); }

}  // namespace shardax::codegen
