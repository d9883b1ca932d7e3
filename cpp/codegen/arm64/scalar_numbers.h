// codegen/arm64/scalar_numbers.h - NEON instructions for the nodes of scalar programs.
//
// In a vector register a number stands in all lanes of 16 bytes. Comparisons of one width therefore
// select numbers of another, and nodes have the instructions of vector programs (node_writer.h).
// Integers of general registers have instructions of their own (scalar_integers.cpp); true is -1 in
// both. Of a general register with 32 bits the upper half is of no account.
#pragma once

#include <array>
#include <optional>

#include "codegen/arm64/node_writer.h"
#include "codegen/scalar/function.h"

namespace shardax::codegen::arm64 {

class NumberCode : protected ScalarFunction {
 protected:
  static constexpr int vector_bytes = 16;
  // Of general registers x0 to x13 are numbers': a function that is called keeps none of them.
  static constexpr int registers = 18, general_registers = 14;
  static constexpr General where{14}, spare0{15}, spare1{16}, spare2{17};
  // Operands that are in no register, in the order of a node; a result on its way to memory; one of
  // numbers that change places.
  static constexpr std::array operands{Vector{26}, Vector{27}, Vector{28}};
  static constexpr Vector unplaced = operands[2], waiting{29};

  NumberCode(const ScalarProgram& program, bool lists)
      : ScalarFunction(program, registers, general_registers), encoder_(lists) {}

  // v8 to v15 belong to who calls.
  static constexpr Vector vector_of(int reg) {
    return {static_cast<std::uint8_t>(reg < 8 ? reg : reg + 8)};
  }
  static constexpr General general_of(int reg) { return {static_cast<std::uint8_t>(reg)}; }
  static Address slot(int i) { return {stack, std::int64_t{vector_bytes} * i}; }

  // A number in its vector register, or read into `otherwise`.
  Vector in_lanes(int i, Vector otherwise);
  // The same of general registers; flags stay.
  General in_general(int i, General otherwise);
  void to_general(General to, int i);
  // Flags that say whether it is true, by the condition.
  Condition flags(int i);

  // The register of a result, or `unplaced` and spare0, from which it is stored.
  Vector target(int i) const;
  void done(int i);
  General general_target(int i) const;
  void general_done(int i);

  bool compute(int i) override;
  void spread(int i) override;
  // Copies a general register to all lanes.
  void to_lanes(int i, Vector to);

  Encoder encoder_;

 private:
  Arrangement arrangement(Kind kind) const;
  bool instruction(int i);
  void fused(int i);
  void look_up(int i);
  void multiply_wide(int i);

  bool convert(int i);
  void integer_to_float(int i, Kind from, Kind to);
  void float_to_float(int i, Kind to);
  void float_to_integer(int i, Kind from, Kind to);
  void integer_to_integer(int i, Kind from, Kind to);

  // ---- integers in general registers (scalar_integers.cpp) -------------------------------------
  bool integer(int i);
  std::optional<std::int64_t> small(int i) const;
  void two(int i, const GeneralOpcode& op);
  void add(int i, bool subtracts);
  void multiply_words(int i);
  void shift(int i, const GeneralOpcode& op);
  void upper_word(int i);
  void divide(int i, General to);
  Condition compare(int i);
  void choose(int i);
  void extremum(int i);
  void resize(int i);
};

}  // namespace shardax::codegen::arm64
