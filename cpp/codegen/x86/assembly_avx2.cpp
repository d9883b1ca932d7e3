// codegen/x86/assembly_avx2.cpp - 256 bits: truth values are lanes of all ones or all zeros.
// Numbers that are less wide than the widest fill the low part of a register.
#include <algorithm>

#include "codegen/x86/assembly.h"

namespace shardax::codegen {
namespace {

constexpr Vector scratch0{14}, scratch1{15};
constexpr int vector_bytes = 32;

class Avx2 final : public Assembly {
 public:
  Avx2(const VectorProgram& program, std::span<const OperandForm> operands, bool streams,
       std::string* listing, int width)
      : Assembly(program, operands, streams, listing,
                 {vector_bytes / width, 14, 0, scratch0, std::size_t{vector_bytes}}),
        width_(width) {}

 private:
  void open() override {}
  // A turn that ends with the last element, which computes some of them again.
  void rest(std::size_t start) override {
    if (streams_) return;
    encoder_.add(at, -step());
    encoder_.compare(at, count);
    const std::size_t done = encoder_.jump(Condition::zero);
    encoder_.move(at, count);
    encoder_.jump_back(start);
    encoder_.land(done);
  }
  Mask guard(int) const override { return 0; }

  // Bytes of a lane.
  int bytes(Kind kind) const {
    switch (kind) {
      case Kind::truth: return width_;
      case Kind::truth_4: return 4;
      case Kind::truth_2: return 2;
      default: return width_of(kind);
    }
  }
  Size size(Kind kind) const override {
    return static_cast<Size>(std::max(machine_.lanes * bytes(kind), 16));
  }
  const Opcode* find(Code code, Kind kind) const override { return opcodes::find(code, kind); }
  const Opcode* find_conversion(Kind from, Kind to) const override {
    return opcodes::find_conversion(from, to);
  }
  Encoder::Operand constant(int v) override { return Encoder::Operand::constant(pool_entry(v)); }

  void fetch(int v, std::uint8_t reg) override {
    const Kind kind = node(v).kind;
    if (node(v).code == Code::constant) {
      encoder_.vector(opcodes::load, reg, unused, constant(v), size(kind));
      return;
    }
    const bool wide = bytes(kind) == 8;
    const Address from = element(v);
    if (is_truth(kind)) {  // bytes 0 and 1
      encoder_.vector(wide ? opcodes::widen_bytes_to_8 : opcodes::widen_bytes_to_4, reg, unused,
                      from, size(kind));
      encoder_.vector(opcodes::pxor, scratch0.number, scratch0, scratch0);
      encoder_.vector(wide ? opcodes::psubq : opcodes::psubd, reg, scratch0, Vector{reg},
                      size(kind));
    } else if (repeats(v)) {
      encoder_.vector(wide ? opcodes::spread_8 : opcodes::spread_4, reg, unused, from, size(kind));
    } else {
      encoder_.vector(fills(kind) ? opcodes::load : opcodes::from_general_8, reg, unused, from,
                      size(kind));
    }
  }
  // Does a vector of these fill a register of any size? Else it has 8 bytes.
  bool fills(Kind kind) const { return machine_.lanes * bytes(kind) >= 16; }
  void spill(int v) override {
    encoder_.vector(opcodes::store, registers_.number(v), unused, slot_address(registers_.slot(v)),
                    size(node(v).kind));
  }
  void reload(int v, std::uint8_t reg) override {
    encoder_.vector(opcodes::load, reg, unused, slot_address(registers_.slot(v)),
                    size(node(v).kind));
  }

  bool convert(int i) override {
    const Kind kind = node(node(i).in[0]).kind;
    const int from = bytes(kind), to = bytes(node(i).kind);
    if (is_float(kind) || to >= from) return Assembly::convert(i);
    const Vector whole = need(stored(node(i).in[0]));
    if (from == 8) {  // the low words
      encoder_.vector(opcodes::upper_half, whole.number, unused, scratch0);
      encoder_.immediate(1);
      encoder_.vector(opcodes::shuffle, result(i), whole, scratch0, Size::xmm);
      encoder_.immediate(0x88);
      return true;
    }
    const Opcode& pack = is_truth(node(i).kind) ? opcodes::pack_to_2 : opcodes::pack_words;
    Vector upper = whole;
    if (size(kind) == Size::ymm) {
      upper = scratch0;
      encoder_.vector(opcodes::upper_half, whole.number, unused, scratch0);
      encoder_.immediate(1);
    }
    encoder_.vector(pack, result(i), whole, upper, Size::xmm);
    return true;
  }

  void select(int i, const Opcode& op) override {
    const auto& in = node(i).in;
    const Kind kind = node(i).kind;
    const Vector mask = need(stored(in[0])), no = need(stored(in[2]));
    // Not more than there is may be read.
    const int v = stored(in[1]);
    const Encoder::Operand yes = fills(kind) ? last(v) : Encoder::Operand(need(v));
    encoder_.vector(op, result(i), no, yes, size(kind));
    encoder_.immediate(static_cast<std::uint8_t>(mask.number << 4));
  }

  void compare(int i, const Opcode& op) override {
    const Node& n = node(i);
    int a = stored(n.in[0]), b = stored(n.in[1]);
    const Kind kind = node(n.in[0]).kind;
    const bool floats = is_float(kind);
    // For integers a < b is b > a: the operands change places.
    if (n.code == Code::less && !floats) {
      const Vector first = need(b);
      const Encoder::Operand second = last(a);
      encoder_.vector(op, result(i), first, second, size(kind));
      return;
    }
    const bool swapped = floats && goes_last(a, b);
    if (swapped) std::swap(a, b);
    two_operands(i, op, a, b, size(kind));
    if (floats) encoder_.immediate(opcodes::predicate(n.code, swapped));
  }

  // Multiplies the words with even places and those with odd ones apart.
  void upper_half(int i) override {
    const Kind kind = node(i).kind;
    const Opcode& multiply = is_unsigned(kind) ? opcodes::pmuludq : opcodes::pmuldq;
    const int b = stored(node(i).in[1]);
    const Vector a = need(stored(node(i).in[0]));
    const auto upper = [&](std::uint8_t to, Vector from) {
      encoder_.vector(opcodes::pshufd, to, unused, from, size(kind));
      encoder_.immediate(opcodes::upper_words);
    };
    upper(scratch0.number, a);
    encoder_.vector(multiply, scratch0.number, scratch0, last(b), size(kind));
    const Encoder::Operand by = last(b);
    const std::uint8_t to = result(i);
    encoder_.vector(multiply, to, a, by, size(kind));
    upper(to, {to});
    encoder_.vector(opcodes::blend_words, to, {to}, scratch0, size(kind));
    encoder_.immediate(opcodes::odd_words);
  }

  void of_truths(int i, const Opcode& op) override {
    two_operands(i, op, stored(node(i).in[0]), stored(node(i).in[1]), size(node(i).kind));
  }

  void store(int v, const Address& to) override {
    const Kind kind = node(v).kind;
    if (is_truth(kind))
      store_truth(vector(v), bytes(kind), to);
    else
      encoder_.vector(!fills(kind)                      ? opcodes::store_low
                      : streams_ && width_of(kind) >= 4 ? opcodes::store_past
                                                        : opcodes::store,
                      registers_.number(v), unused, to, size(kind));
  }
  // Lanes of ones and zeros as bytes 1 and 0.
  void store_truth(Vector from, int bytes, const Address& to) {
    Vector low = from, high = from;
    if (machine_.lanes * bytes == vector_bytes) {
      encoder_.vector(opcodes::upper_half, from.number, unused, scratch0);
      encoder_.immediate(1);
      high = scratch0;
    }
    if (bytes == 8) {  // the low words of four lanes
      encoder_.vector(opcodes::shuffle, scratch0.number, from, scratch0, Size::xmm);
      encoder_.immediate(0x88);
      low = scratch0;
    }
    encoder_.vector(opcodes::pack_to_2, scratch0.number, low, high, Size::xmm);
    encoder_.vector(opcodes::pack_to_1, scratch0.number, scratch0, scratch0, Size::xmm);
    // -1 becomes 1: zero less it.
    encoder_.vector(opcodes::pxor, scratch1.number, scratch1, scratch1);
    encoder_.vector(opcodes::psubb, scratch0.number, scratch1, scratch0, Size::xmm);
    encoder_.vector(machine_.lanes == 4 ? opcodes::store_lowest : opcodes::store_low,
                    scratch0.number, unused, to, Size::xmm);
  }

  int width_;  // bytes of the widest numbers
};

}  // namespace

std::unique_ptr<Assembly> assembly_avx2(const VectorProgram& program,
                                        std::span<const OperandForm> operands, bool streams,
                                        std::string* listing) {
  return std::make_unique<Avx2>(program, operands, streams, listing, program.width());
}

}  // namespace shardax::codegen
