// codegen/x86/assembly_avx512.cpp - 512 bits: truth values have mask registers, and the last mask
// says which elements are in range, so that any number of them is computed.
#include <algorithm>

#include "codegen/x86/assembly.h"

namespace shardax::codegen {
namespace {

constexpr Vector scratch{31};
constexpr Mask in_range = 7, next_in_range = 6;  // of a vector, and of the one after it
constexpr int vector_bytes = 64;

class Avx512 final : public Assembly {
 public:
  Avx512(const VectorProgram& program, std::span<const OperandForm> operands, bool streams,
         std::string* listing, int lanes)
      : Assembly(program, operands, streams, listing,
                 {lanes, 31, next_in_range - 1, scratch, std::size_t{8}}) {}

 private:
  void open() override {
    const Opcode& ones = machine_.lanes == 16 ? opcodes::kxnorw : opcodes::kxnorb;
    encoder_.vector(ones, in_range, {in_range}, Vector{in_range});
    if (!streams_ && vectors_ == 2)
      encoder_.vector(ones, next_in_range, {next_in_range}, Vector{next_in_range});
  }
  // Another turn with fewer elements in range, after which none is left.
  void rest(std::size_t start) override {
    if (streams_) return;
    const General left = General::rax;
    encoder_.move(left, count);
    encoder_.subtract(left, at);
    encoder_.add(left, step());
    const std::size_t done = encoder_.jump(Condition::less_equal);
    encoder_.set(count, -1);
    encoder_.low_bits(count, left);
    if (vectors_ == 2) {
      encoder_.mask_from_general(next_in_range, count, 32);
      encoder_.vector(opcodes::kshiftrd, next_in_range, unused, Vector{next_in_range});
      encoder_.immediate(static_cast<std::uint8_t>(machine_.lanes));
    }
    encoder_.mask_from_general(in_range, count, machine_.lanes);
    encoder_.clear(count);
    encoder_.jump_back(start);
    encoder_.land(done);
  }
  Mask guard(int vector) const override {
    return streams_ ? Mask{0} : vector == 0 ? in_range : next_in_range;
  }
  // The address for truth values. With fewer than 16 lanes they are shorter than the least vector
  // register.
  Address truths(Address at) const {
    if (streams_ && machine_.lanes < 16) at.guard = in_range;
    return at;
  }

  Size size(Kind kind) const override {
    return static_cast<Size>(std::max(machine_.lanes * width_of(kind), 16));
  }
  const Opcode* find(Code code, Kind kind) const override { return opcodes::find_evex(code, kind); }
  const Opcode* find_conversion(Kind from, Kind to) const override {
    return opcodes::find_evex_conversion(from, to);
  }
  Encoder::Operand constant(int v) override {
    return Encoder::Operand::constant(pool_entry(v), true);
  }

  void fetch(int v, std::uint8_t reg) override {
    const Kind kind = node(v).kind;
    const bool truth = kind == Kind::truth;
    if (node(v).code == Code::constant) {
      if (truth) {
        const Opcode& op = node(v).bits ? opcodes::kxnorw : opcodes::kxorw;
        encoder_.vector(op, reg, {reg}, Vector{reg});
      } else {
        encoder_.vector(width_of(kind) == 8 ? opcodes::broadcast_8 : opcodes::broadcast_4, reg,
                        unused, Encoder::Operand::constant(pool_entry(v)), size(kind));
      }
      return;
    }
    const Address from = element(v);
    if (truth) {  // bytes 0 and 1
      encoder_.vector(opcodes::load_1, scratch.number, unused, truths(from), Size::xmm);
      encoder_.vector(opcodes::ptestmb, reg, scratch, scratch, Size::xmm);
    } else {
      const int width = width_of(kind);
      const bool same = repeats(v);
      encoder_.vector(width == 8   ? (same ? opcodes::broadcast_8 : opcodes::load_8)
                      : width == 2 ? opcodes::load_2
                      : same       ? opcodes::broadcast_4
                                   : opcodes::load,
                      reg, unused, from, size(kind));
    }
  }
  void spill(int v) override {
    const Address to = slot_address(registers_.slot(v));
    if (registers_.is_mask(v))
      encoder_.vector(opcodes::kmovw_store, registers_.number(v), unused, to);
    else
      encoder_.vector(opcodes::store, registers_.number(v), unused, to, size(node(v).kind));
  }
  void reload(int v, std::uint8_t reg) override {
    const Address from = slot_address(registers_.slot(v));
    if (registers_.is_mask(v))
      encoder_.vector(opcodes::kmovw, reg, unused, from);
    else
      encoder_.vector(opcodes::load, reg, unused, from, size(node(v).kind));
  }

  void select(int i, const Opcode& op) override {
    const auto& in = node(i).in;
    const Vector mask = need(stored(in[0])), no = need(stored(in[2]));
    if (node(i).kind == Kind::truth) {  // ((yes ^ no) & mask) ^ no
      const Vector yes = need(stored(in[1]));
      const std::uint8_t to = free_register(true);
      registers_.give(i, to);
      encoder_.vector(opcodes::kxorw, to, yes, no);
      encoder_.vector(opcodes::kandw, to, {to}, mask);
      encoder_.vector(opcodes::kxorw, to, {to}, no);
      for (int v : in) {
        if (registers_.dies(stored(v))) registers_.release(stored(v));
      }
      return;
    }
    const Encoder::Operand yes = last(stored(in[1]), true);
    encoder_.vector(op, result(i), no, yes, size(node(i).kind), static_cast<Mask>(mask.number));
  }

  void compare(int i, const Opcode& op) override {
    const Node& n = node(i);
    const Kind kind = node(n.in[0]).kind;
    int a = stored(n.in[0]), b = stored(n.in[1]);
    const bool swapped = goes_last(a, b);
    if (swapped) std::swap(a, b);
    two_operands(i, op, a, b, size(kind));
    encoder_.immediate(is_float(kind) ? opcodes::predicate(n.code, swapped)
                                      : opcodes::integer_predicate(n.code, swapped));
  }

  void of_truths(int i, const Opcode& op) override {
    const auto& in = node(i).in;
    int a = stored(in[0]), b = stored(in[1]);
    if (node(a).code == Code::constant) std::swap(a, b);
    if (node(i).code == Code::bit_xor && node(b).code == Code::constant && node(b).bits != 0) {
      const Vector from = need(a);
      encoder_.vector(opcodes::knotw, result(i), unused, from);
      return;
    }
    const Vector first = need(a), second = need(b);
    encoder_.vector(op, result(i), first, second);
  }

  void store(int v, const Address& to) override {
    const Kind kind = node(v).kind;
    if (kind == Kind::truth) {  // bytes -1 become 1
      encoder_.vector(opcodes::pmovm2b, scratch.number, unused, vector(v), Size::xmm);
      encoder_.vector(opcodes::pabsb, scratch.number, unused, scratch, Size::xmm);
      encoder_.vector(opcodes::store_1, scratch.number, unused, truths(to), Size::xmm);
    } else {
      const int width = width_of(kind);
      encoder_.vector(streams_ && width >= 4 ? opcodes::store_past
                      : width == 8           ? opcodes::store_8
                      : width == 2           ? opcodes::store_2
                                             : opcodes::store,
                      registers_.number(v), unused, to, size(kind));
    }
  }
};

}  // namespace

std::unique_ptr<Assembly> assembly_avx512(const VectorProgram& program,
                                          std::span<const OperandForm> operands, bool streams,
                                          std::string* listing) {
  return std::make_unique<Avx512>(program, operands, streams, listing,
                                  vector_bytes / program.width());
}

}  // namespace shardax::codegen
