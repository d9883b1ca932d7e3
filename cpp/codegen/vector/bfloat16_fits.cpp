// codegen/vector/bfloat16_fits.cpp - low bits that are zero, from the operands on.
#include "codegen/vector/bfloat16_fits.h"

#include <algorithm>

namespace shardax::codegen {
namespace {

constexpr std::uint64_t low_half = 0xffff;
constexpr int deepest = 6;  // operands of operands that are looked at

class Fits {
 public:
  explicit Fits(const VectorProgram& program) : program_(program) {}

  // Are the low bits zero?
  bool all(int i, int depth) const {
    const Node& n = program_.node(i);
    if (depth == 0 || width_of(n.kind) != 4) return false;
    const auto operand = [&](int k) { return all(n.in[index(k)], depth - 1); };
    switch (n.code) {
      case Code::constant: return (n.bits & low_half) == 0;
      case Code::shift_left: return n.bits >= 16;
      case Code::view: return operand(0);
      case Code::bit_and: return operand(0) || operand(1);
      case Code::bit_or:
      case Code::bit_xor: return operand(0) && operand(1);
      case Code::max:
      case Code::min: return is_float(n.kind) && operand(0) && operand(1);
      case Code::select: return operand(1) && operand(2);
      default: return false;
    }
  }

  // Are those of NaNs zero? Processors make such NaNs, or give an operand's quiet.
  bool nans(int i, int depth) const {
    const Node& n = program_.node(i);
    if (depth == 0 || n.kind != Kind::f32) return false;
    const auto operand = [&](int k) { return nans(n.in[index(k)], depth - 1); };
    switch (n.code) {
      case Code::convert: return is_integer(program_.node(n.in[0]).kind);
      case Code::max:
      case Code::min: return operand(0) && operand(1);
      case Code::select: return operand(1) && operand(2);
      case Code::bit_and: return operand(0) || operand(1);
      case Code::bit_or:
      case Code::bit_xor: return operand(0) && is_sign(n.in[1]);
      default: return all(i, depth) || arithmetic(i, depth);
    }
  }

  bool arithmetic(int i, int depth) const {
    const Node& n = program_.node(i);
    const auto operand = [&](int k) { return nans(n.in[index(k)], depth - 1); };
    switch (n.code) {
      case Code::add:
      case Code::sub:
      case Code::mul:
      case Code::div: return n.kind == Kind::f32 && operand(0) && operand(1);
      case Code::sqrt: return n.kind == Kind::f32 && operand(0);
      case Code::fma: return n.kind == Kind::f32 && operand(0) && operand(1) && operand(2);
      default: return false;
    }
  }

 private:
  static bool is_integer(Kind kind) {
    return kind == Kind::i32 || kind == Kind::u32 || kind == Kind::i64 || kind == Kind::u64;
  }
  // No bit but the sign.
  bool is_sign(int i) const {
    const Node& n = program_.node(i);
    if (n.code == Code::bit_and) return is_sign(n.in[1]);
    return n.code == Code::constant && (n.bits & 0x7fffffff) == 0;
  }

  const VectorProgram& program_;
};

}  // namespace

bool fits_bfloat16(const VectorProgram& program, int node) {
  return Fits(program).all(node, deepest);
}

bool makes_bfloat16_nans(const VectorProgram& program, int node) {
  return Fits(program).arithmetic(node, deepest);
}

}  // namespace shardax::codegen
