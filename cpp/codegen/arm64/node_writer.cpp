// codegen/arm64/node_writer.cpp - one instruction for most nodes, short sequences for others.
#include "codegen/arm64/node_writer.h"

#include <algorithm>
#include <bit>

namespace shardax::codegen::arm64 {
namespace {

namespace ops = opcodes;

constexpr bool operator==(Vector a, Vector b) { return a.number == b.number; }
constexpr std::uint8_t word_size = 2, wide_size = 3;

struct Row {
  Code code;
  const Opcode *floats, *integers;
};
// Instructions of as many operands as the node has.
constexpr std::array rows{
    Row{Code::add, &ops::fadd, &ops::add},
    Row{Code::sub, &ops::fsub, &ops::sub},
    Row{Code::mul, &ops::fmul, &ops::mul},
    Row{Code::div, &ops::fdiv, nullptr},
    Row{Code::max, nullptr, &ops::smax},
    Row{Code::min, nullptr, &ops::smin},
    Row{Code::bit_and, &ops::bit_and, &ops::bit_and},
    Row{Code::bit_or, &ops::bit_or, &ops::bit_or},
    Row{Code::bit_xor, &ops::bit_xor, &ops::bit_xor},
    Row{Code::equal, &ops::fcmeq, &ops::cmeq},
    // a < b is b > a: the operands change places.
    Row{Code::less, &ops::fcmgt, &ops::cmgt},
    Row{Code::less_equal, &ops::fcmge, nullptr},
};

const Opcode* find(Code code, Kind kind) {
  for (const Row& row : rows) {
    if (row.code == code) return is_float(kind) ? row.floats : row.integers;
  }
  return nullptr;
}

const Opcode& rounding(std::uint64_t bits) {
  switch (bits) {
    case 0: return ops::frintn;
    case 1: return ops::frintm;
    case 2: return ops::frintp;
    default: return ops::frintz;
  }
}

class Writer {
 public:
  Writer(Encoder& encoder, const Instruction& i, const std::vector<Table>& tables)
      : encoder_(encoder), i_(i), to_(i.to), tables_(tables) {}

  bool write() {
    const Node& n = i_.node;
    const auto [a, b, c] = i_.in;
    switch (n.code) {
      case Code::convert: return convert();
      case Code::select: select(a, b, c); return true;
      case Code::fma: fused(a, b, c); return true;
      case Code::sqrt: encoder_.vector(ops::fsqrt, i_.a, to_, a); return true;
      case Code::round: encoder_.vector(rounding(n.bits), i_.a, to_, a); return true;
      case Code::shift_left:
      case Code::shift_right:
      case Code::shift_right_arithmetic: shift(); return true;
      case Code::shift_left_by:
      case Code::shift_right_by:
      case Code::shift_right_arithmetic_by: return shift_by();
      case Code::mul_words: product(a, b); return true;
      case Code::mul_high: upper_half(a, b); return true;
      case Code::table_lookup: look_up(a); return true;
      case Code::not_equal:
        if (!is_float(i_.from)) return false;
        encoder_.vector(ops::fcmeq, i_.a, to_, a, b);
        encoder_.vector(ops::mvn, i_.a, to_, to_);
        return true;
      case Code::less:
      case Code::less_equal: return two(i_.from, b, a);
      case Code::equal: return two(i_.from, a, b);
      case Code::max:
      case Code::min:
        if (is_float(n.kind)) return extremum(a, b), true;
        if (n.kind != Kind::i32) return false;
        return two(n.kind, a, b);
      case Code::mul:
        if (!is_float(n.kind) && width_of(n.kind) == 8) return false;
        return two(n.kind, a, b);
      default: return two(n.kind, a, b);
    }
  }

 private:
  bool two(Kind kind, Vector a, Vector b) {
    const Opcode* op = find(i_.node.code, kind);
    if (!op) return false;
    encoder_.vector(*op, i_.a, to_, a, b);
    return true;
  }

  // The instruction writes over the mask or one of the two others.
  void select(Vector mask, Vector yes, Vector no) {
    if (to_ == no) {
      encoder_.vector(ops::bit, i_.a, to_, yes, mask);
    } else if (to_ == yes) {
      encoder_.vector(ops::bif, i_.a, to_, no, mask);
    } else {
      if (!(to_ == mask)) encoder_.move(to_, mask);
      encoder_.vector(ops::bsl, i_.a, to_, yes, no);
    }
  }

  // a > b ? a : b, or a < b ? a : b.
  void extremum(Vector a, Vector b) {
    const bool larger = i_.node.code == Code::max;
    const Vector mask = to_ == a || to_ == b ? scratch0 : to_;
    encoder_.vector(ops::fcmgt, i_.a, mask, larger ? a : b, larger ? b : a);
    select(mask, a, b);
  }

  void fused(Vector a, Vector b, Vector c) {
    if (!(to_ == c)) encoder_.move(to_, c);
    encoder_.vector(ops::fmla, i_.a, to_, a, b);
  }

  void shift() {
    const Node& n = i_.node;
    const std::uint64_t width = std::uint64_t{8} << i_.a.size;
    const Vector a = i_.in[0];
    if (n.code == Code::shift_left && n.bits >= width) {
      encoder_.small_number({0}, to_, 0);
    } else if (n.bits == 0) {
      if (!(to_ == a)) encoder_.move(to_, a);
    } else {
      const Opcode& op = n.code == Code::shift_left    ? ops::shl
                         : n.code == Code::shift_right ? ops::ushr
                                                       : ops::sshr;
      encoder_.shift(op, i_.a, to_, a, std::min(n.bits, width));
    }
  }

  // Instructions shift to the left by a byte with a sign.
  bool shift_by() {
    const Node& n = i_.node;
    const auto [a, by, unused] = i_.in;
    const bool left = n.code == Code::shift_left_by;
    const bool has_sign = n.code == Code::shift_right_arithmetic_by;
    if (i_.a.size == word_size) {
      encoder_.small_number({word_size}, scratch0, has_sign ? 31 : 32);
      encoder_.vector(ops::umin, i_.a, scratch0, scratch0, by);
      if (!left) encoder_.vector(ops::neg, i_.a, scratch0, scratch0);
      encoder_.vector(has_sign ? ops::sshl : ops::ushl, i_.a, to_, a, scratch0);
      return true;
    }
    if (has_sign) return false;
    encoder_.load(scratch1, Quad{64, 64});
    encoder_.vector(ops::cmhi, i_.a, scratch1, scratch1, by);
    if (left) {
      encoder_.vector(ops::ushl, i_.a, to_, a, by);
    } else {
      encoder_.vector(ops::neg, i_.a, scratch0, by);
      encoder_.vector(ops::ushl, i_.a, to_, a, scratch0);
    }
    encoder_.vector(ops::bit_and, i_.a, to_, to_, scratch1);
    return true;
  }

  // Of the low words of 64 bits.
  void product(Vector a, Vector b) {
    encoder_.vector(ops::xtn, {word_size, false}, scratch0, a);
    encoder_.vector(ops::xtn, {word_size, false}, scratch1, b);
    encoder_.vector(ops::umull, {word_size, false}, to_, scratch0, scratch1);
  }

  void upper_half(Vector a, Vector b) {
    const Opcode& op = is_unsigned(i_.node.kind) ? ops::umull : ops::smull;
    encoder_.vector(op, {word_size, false}, scratch0, a, b);
    if (!i_.a.whole) return encoder_.shift(ops::shrn, {word_size, false}, to_, scratch0, 32);
    encoder_.upper_product(op, {word_size}, scratch1, a, b);
    encoder_.vector(ops::uzp2, {word_size}, to_, scratch0, scratch1);
  }

  void look_up(Vector bytes) {
    const Table& table = tables_[i_.node.bits];
    const auto two = [&](std::size_t k) {
      return std::uint64_t{std::bit_cast<std::uint32_t>(table[k + 1])} << 32 |
             std::bit_cast<std::uint32_t>(table[k]);
    };
    encoder_.load(scratch0, Quad{two(0), two(2)});
    encoder_.load(scratch1, Quad{two(4), two(6)});
    encoder_.look_up(to_, scratch0, bytes);
  }

  // ---- conversions --------------------------------------------------------------------------

  // A float beyond the range of an integer becomes its nearest end.
  bool convert() {
    const Kind from = i_.from, to = i_.node.kind;
    const Vector a = i_.in[0];
    const auto one = [&](const Opcode& op, Arrangement arrangement) {
      encoder_.vector(op, arrangement, to_, a);
      return true;
    };
    constexpr Arrangement words{word_size, false}, wide{wide_size, true}, halves{1, false};
    if (is_truth(from)) {
      if (to == Kind::truth_2) return one(ops::xtn, halves);
      return one(to == Kind::truth ? ops::sxtl : ops::xtn, words);
    }
    if (to == Kind::truth) return false;
    if (from == Kind::bf16 || to == Kind::bf16) {
      if (from == Kind::u32 || to == Kind::u32)
        return one(to == Kind::u32 ? ops::uxtl : ops::xtn, halves);
      return false;
    }
    if (from == Kind::f16 || to == Kind::f16) {
      if (from != Kind::f32 && to != Kind::f32) return false;
      return one(to == Kind::f32 ? ops::fcvtl : ops::fcvtn, halves);
    }
    const int from_bytes = width_of(from), to_bytes = width_of(to);
    if (is_float(from) && is_float(to))
      return one(to == Kind::f64 ? ops::fcvtl : ops::fcvtn, words);
    if (!is_float(from) && !is_float(to)) {
      if (from_bytes == to_bytes) return false;
      return one(to_bytes == 4 ? ops::xtn : is_unsigned(from) ? ops::uxtl : ops::sxtl, words);
    }
    if (is_float(to)) {
      if (from_bytes != to_bytes) return false;
      return one(is_unsigned(from) ? ops::ucvtf : ops::scvtf, i_.a);
    }
    const Opcode& towards_zero = is_unsigned(to) ? ops::fcvtzu : ops::fcvtzs;
    if (from_bytes == to_bytes) return one(towards_zero, i_.a);
    if (from != Kind::f64) return false;
    one(towards_zero, wide);
    encoder_.vector(is_unsigned(to) ? ops::uqxtn : ops::sqxtn, words, to_, to_);
    return true;
  }

  Encoder& encoder_;
  const Instruction& i_;
  const Vector to_;
  const std::vector<Table>& tables_;
};

}  // namespace

bool write_node(Encoder& encoder, const Instruction& i, const std::vector<Table>& tables) {
  return Writer(encoder, i, tables).write();
}

void write_constant(Encoder& encoder, Vector to, const Node& constant) {
  std::uint64_t bits = constant.bits;  // copies of it fill 64 bits
  const int width = width_of(constant.kind);
  if (width == 2) bits = (bits & 0xffff) * 0x0001000100010001;
  if (width == 4) bits = (bits & 0xffffffff) * 0x0000000100000001;
  if (width == 0) bits = bits != 0 ? ~std::uint64_t{0} : 0;
  if (bits == (bits & 0xff) * 0x0101010101010101)
    encoder.small_number({0}, to, static_cast<std::uint32_t>(bits & 0xff));
  else if (width == 4 && (bits & 0xffffffff) < 256)
    encoder.small_number({word_size}, to, static_cast<std::uint32_t>(bits & 0xff));
  else
    encoder.load(to, Quad{bits, bits});
}

}  // namespace shardax::codegen::arm64
