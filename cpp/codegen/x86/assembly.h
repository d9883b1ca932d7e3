// codegen/x86/assembly.h - instructions of a vector program, common to all instruction sets.
//
// One pass over the nodes: each brings its operands into registers (registers.h) and writes its
// instruction. An operand that is used once, and a constant, is read by the instruction itself.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/index.h"
#include "codegen/tile_code.h"
#include "codegen/vector/registers.h"
#include "codegen/x86/opcodes.h"

namespace shardax::codegen {

class Assembly {
 public:
  virtual ~Assembly() = default;
  // As tile_code().
  std::vector<std::uint8_t> run();
  // Elements of a turn of the loop, once the code is there.
  int step() const { return vectors_ * machine_.lanes; }

 protected:
  struct Machine {
    int lanes;             // elements at a time
    int vectors, masks;    // registers for values
    Vector scratch;        // one that no value has
    std::size_t constant;  // bytes of one of the pool
  };
  Assembly(const VectorProgram& program, std::span<const OperandForm> operands, bool streams,
           std::string* listing, const Machine& machine)
      : program_(&program),
        machine_(machine),
        encoder_(listing),
        registers_(program, machine.vectors, machine.masks),
        streams_(streams),
        operands_(operands) {}

  // ---- what each machine has its own way for
  // Before the loop.
  virtual void open() = 0;
  // After whole vectors: elements that are left over, for which the body at `start` may run again.
  virtual void rest(std::size_t start) = 0;
  // The mask register of a vector's elements in range; 0: all are.
  virtual Mask guard(int vector) const = 0;
  // The instruction of a node whose operands are of `kind`; null where there is none.
  virtual const Opcode* find(Code code, Kind kind) const = 0;
  virtual const Opcode* find_conversion(Kind from, Kind to) const = 0;
  // False where the machine has no instruction for it.
  virtual bool convert(int i);
  virtual Encoder::Operand constant(int v) = 0;
  // Brings an input or a constant into a register.
  virtual void fetch(int v, std::uint8_t reg) = 0;
  // Writes a value to its slot, and reads it.
  virtual void spill(int v) = 0;
  virtual void reload(int v, std::uint8_t reg) = 0;
  virtual void select(int i, const Opcode& op) = 0;
  virtual void compare(int i, const Opcode& op) = 0;
  virtual void of_truths(int i, const Opcode& op) = 0;
  // For machines on which `find` knows mul_high.
  virtual void upper_half(int) {}
  virtual void store(int v, const Address& to) = 0;

  const Node& node(int i) const { return program_->node(i); }
  bool is_constant(int v) const { return node(v).code == Code::constant; }
  int stored(int v) const { return registers_.stored(v); }
  Vector vector(int v) const { return {registers_.number(v)}; }
  // The size of a register of numbers of this kind.
  virtual Size size(Kind kind) const = 0;

  bool repeats(int input) const { return operands_[index(operand_of(node(input)))].repeats; }
  // The current vector of an operand, or one after it; valid until the next call.
  Address element(int operand, int vector);
  Address element(int input) { return element(operand_of(node(input)), vector_of(node(input))); }
  Address slot_address(int slot) const;
  std::size_t pool_entry(int v);
  std::uint8_t free_register(bool mask);
  // The register of a value, which it keeps during the current node.
  Vector need(int v);
  // The last operand of an instruction, which may lie in memory; unless `everywhere`, only where
  // its lanes are in range.
  Encoder::Operand last(int v, bool everywhere = false);
  // The register of a result, after its operands have been brought: that of one that dies, if any.
  std::uint8_t result(int i);
  // Should the first of two operands be the last of the instruction? A constant should; else what
  // is read once.
  bool goes_last(int a, int b) const {
    return !is_constant(b) && registers_.reread(a) && !registers_.in_place(a);
  }
  // One of two operands, both brought, and a result.
  void two_operands(int i, const Opcode& op, int a, int b, Size size);

  const VectorProgram* program_;
  const Machine machine_;
  Encoder encoder_;
  Registers registers_;
  int vectors_ = 1;  // vectors that a turn of the loop computes
  const bool streams_;

 private:
  void place_pointers();
  bool emit(int i);
  void fused(int i, int a, int b, int c);
  void replace(int i, int old, std::initializer_list<int> others);
  bool store_outputs();

  std::span<const OperandForm> operands_;
  std::vector<int> held_;  // operands whose addresses are in registers
  std::vector<std::uint64_t> pool_;
};

inline constexpr General pointers = General::rdi, count = General::rsi, at = General::rcx;
inline constexpr Vector unused{0};

bool commutes(Code code);
constexpr bool compares(Code code) {
  return code == Code::equal || code == Code::not_equal || code == Code::less ||
         code == Code::less_equal;
}

// The first takes programs of legalize_avx2() (codegen/x86/legalize_avx2.h).
std::unique_ptr<Assembly> assembly_avx2(const VectorProgram& program,
                                        std::span<const OperandForm> operands, bool streams,
                                        std::string* listing);
std::unique_ptr<Assembly> assembly_avx512(const VectorProgram& program,
                                          std::span<const OperandForm> operands, bool streams,
                                          std::string* listing);

}  // namespace shardax::codegen
