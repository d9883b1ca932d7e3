// codegen/assembly_avx2.cpp - 256 bits: truth values are lanes of all ones or all zeros.
#include "codegen/assembly.h"

namespace shardax::codegen {
namespace {

constexpr Vector scratch0{14}, scratch1{15};

class Avx2 final : public Assembly {
 public:
  Avx2(const VectorProgram& program, std::span<const OperandForm> operands, bool streams,
       std::string* listing, int width)
      : Assembly(program, operands, streams, listing,
                 {32 / width, 14, 0, scratch0, width, std::size_t{32}}),
        wide_(width == 8) {}

 private:
  void open() override {}
  void rest(std::size_t) override {}
  Mask guard(int) const override { return 0; }

  Size size(Kind) const override { return Size::ymm; }
  const Opcode* find(Code code, Kind kind) const override { return opcodes::find(code, kind); }
  const Opcode* find_conversion(Kind from, Kind to) const override {
    if (from == Kind::i32 && to == Kind::f32) return &opcodes::cvtdq2ps;
    return from == Kind::f32 && to == Kind::i32 ? &opcodes::cvttps2dq : nullptr;
  }
  Encoder::Operand constant(int v) override { return Encoder::Operand::constant(pool_entry(v)); }

  void fetch(int v, std::uint8_t reg) override {
    if (node(v).code == Code::constant) {
      encoder_.vector(opcodes::load, reg, unused, constant(v));
      return;
    }
    const Address from = element(v);
    if (node(v).kind == Kind::truth) {  // bytes 0 and 1
      encoder_.vector(wide_ ? opcodes::widen_bytes_to_8 : opcodes::widen_bytes_to_4, reg, unused,
                      from);
      encoder_.vector(opcodes::pxor, scratch0.number, scratch0, scratch0);
      encoder_.vector(wide_ ? opcodes::psubq : opcodes::psubd, reg, scratch0, Vector{reg});
    } else if (repeats(v)) {
      encoder_.vector(wide_ ? opcodes::spread_8 : opcodes::spread_4, reg, unused, from);
    } else {
      encoder_.vector(opcodes::load, reg, unused, from);
    }
  }
  void spill(int v) override {
    encoder_.vector(opcodes::store, registers_.number(v), unused, slot_address(registers_.slot(v)));
  }
  void reload(int v, std::uint8_t reg) override {
    encoder_.vector(opcodes::load, reg, unused, slot_address(registers_.slot(v)));
  }

  void select(int i, const Opcode& op) override {
    const auto& in = node(i).in;
    const Vector mask = need(stored(in[0])), no = need(stored(in[2]));
    const Encoder::Operand yes = last(stored(in[1]));
    encoder_.vector(op, result(i), no, yes);
    encoder_.immediate(static_cast<std::uint8_t>(mask.number << 4));
  }

  void compare(int i, const Opcode& op) override {
    const Node& n = node(i);
    int a = stored(n.in[0]), b = stored(n.in[1]);
    const bool floats = is_float(node(n.in[0]).kind);
    // Of integers a < b is b > a: the operands change places.
    if (n.code == Code::less && !floats) {
      const Vector first = need(b);
      const Encoder::Operand second = last(a);
      encoder_.vector(op, result(i), first, second);
      return;
    }
    const bool swapped = floats && goes_last(a, b);
    if (swapped) std::swap(a, b);
    two_operands(i, op, a, b, Size::ymm);
    if (floats) encoder_.immediate(opcodes::predicate(n.code, swapped));
  }

  void of_truths(int i, const Opcode& op) override {
    two_operands(i, op, stored(node(i).in[0]), stored(node(i).in[1]), Size::ymm);
  }

  void store(int v, const Address& to) override {
    if (node(v).kind == Kind::truth)
      store_truth(registers_.vector(v), to);
    else
      encoder_.vector(streams_ ? opcodes::store_past : opcodes::store, registers_.number(v), unused,
                      to);
  }
  // Lanes of ones and zeros as bytes 1 and 0.
  void store_truth(Vector from, const Address& to) {
    encoder_.vector(opcodes::upper_half, from.number, unused, scratch0);
    encoder_.immediate(1);
    Vector low = from;
    if (wide_) {  // the low words of four lanes
      encoder_.vector(opcodes::shuffle, scratch0.number, from, scratch0, Size::xmm);
      encoder_.immediate(0x88);
      low = scratch0;
    }
    encoder_.vector(opcodes::pack_to_2, scratch0.number, low, scratch0, Size::xmm);
    encoder_.vector(opcodes::pack_to_1, scratch0.number, scratch0, scratch0, Size::xmm);
    // -1 becomes 1: zero less it.
    encoder_.vector(opcodes::pxor, scratch1.number, scratch1, scratch1);
    encoder_.vector(opcodes::psubb, scratch0.number, scratch1, scratch0, Size::xmm);
    encoder_.vector(wide_ ? opcodes::store_lowest : opcodes::store_low, scratch0.number, unused, to,
                    Size::xmm);
  }

  bool wide_;  // numbers of 64 bits
};

}  // namespace

std::unique_ptr<Assembly> assembly_avx2(const VectorProgram& program,
                                        std::span<const OperandForm> operands, bool streams,
                                        std::string* listing) {
  if (!program.is_uniform()) return nullptr;
  return std::make_unique<Avx2>(program, operands, streams, listing, program.width());
}

}  // namespace shardax::codegen
