// codegen/x86/scalar_numbers.h - instructions for the nodes of scalar programs.
//
// In a vector register a number stands in all 8 (or 4) lanes. Constants are read as they lie in the
// pool, and comparisons of one width select numbers of another. No lane holds a number that would
// be slow to compute with. Integers of general registers (register_bank_select.h) have instructions
// of their own (scalar_integers.cpp); true is -1 in both. Addresses, and quotients of integers by
// values that are no constants, go through general registers.
#pragma once

#include <array>
#include <optional>

#include "codegen/scalar/function.h"
#include "codegen/x86/encoder.h"

namespace shardax::codegen {

class NumberCode : protected ScalarFunction {
 protected:
  static constexpr int vector_bytes = 32;
  static constexpr int registers = 14;  // the last two are for sequences of instructions
  // Those that have no other purpose; a function that is called keeps the last three.
  static constexpr std::array general_registers{General::rsi, General::rdi, General::r8,
                                                General::r9,  General::r10, General::r11,
                                                General::r13, General::r14, General::r15};
  static constexpr int kept_registers = 3;

  NumberCode(const ScalarProgram& program, std::string* listing)
      : ScalarFunction(program, registers, static_cast<int>(general_registers.size())),
        encoder_(listing) {}

 protected:
  static constexpr Vector scratch0{14}, scratch1{15}, unused{0};
  static constexpr General rax = General::rax, rcx = General::rcx, rdx = General::rdx,
                           rsp = General::rsp;

  // A last operand: a register, or memory.
  Encoder::Operand last(int i);
  // A number in its register, or read into `otherwise`.
  Vector first(int i, Vector otherwise);
  // The low bits of a number in a general register; flags stay.
  void to_general(General to, int i, bool wide);
  // The register of an integer, or `otherwise`, to which it is brought.
  General general(int i, General otherwise);
  static General register_of(const Place& p) { return general_registers[index(p.reg)]; }
  // Flags that say whether it is true, by the condition.
  Condition flags(int i);
  static Address slot(int i) { return {rsp, vector_bytes * i}; }

  // The register of a result, or scratch0, from which `done` stores it.
  Vector target(int i) const;
  void done(int i);
  // Of general registers: rax, and what `from` holds is brought to its place.
  General general_target(int i) const;
  void general_done(int i, General from);

  // Computes a node that is no load; false where it has no instruction.
  bool compute(int i) override;
  // Copies a general register to all lanes of its second place, or of `to`.
  void spread(int i) override;
  void to_lanes(int i, Vector to);
  void to_lanes(General from, Vector to, bool wide);

  Encoder encoder_;
  std::vector<std::uint64_t> pool_;

 private:
  Encoder::Operand constant(int i);
  void spread(int i, Vector from, bool wide);
  void from_general(int i, General from, bool wide);

  // ---- integers in general registers (scalar_integers.cpp) -------------------------------------
  bool integer(int i);
  Encoder::Operand general_last(int i, General otherwise);
  std::optional<std::int32_t> immediate(int i) const;
  void two_integers(int i, const GeneralOpcode& op, const GeneralOpcode& by_number);
  void multiply(int i);
  void shift(int i, const GeneralOpcode& op);
  Condition compare(int i);
  void truth(int i);
  void choose(int i);
  void extremum(int i);
  void resize(int i);
  void multiply_words(int i);
  void upper_word(int i);

  bool instruction(int i);
  void fused(int i);
  void upper_half(int i);
  bool multiply_wide(int i);
  bool shift_wide(int i);

  void divide(int i);
  bool is_special(int divisor, bool wide) const;
  void divide_specially(bool rest, bool wide, bool has_sign);

  bool convert(int i);
  bool integer_to_float(int i, int a, Kind from, Kind to);
  bool integer_to_integer(int i, int a, Kind from, Kind to);
  bool float_to_integer(int i, int a, Kind from, Kind to);
};

}  // namespace shardax::codegen
