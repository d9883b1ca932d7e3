// codegen/scalar_numbers.h - instructions for the nodes of scalar programs.
//
// A number stands in all 8 (or 4) lanes of its register: constants are read as they lie in the
// pool, comparisons of one width select numbers of another, and no lane holds what would be slow to
// compute with. Addresses, and quotients of integers by what is no
// constant, go through general registers.
#pragma once

#include "codegen/encoder.h"
#include "codegen/scalar_schedule.h"

namespace shardax::codegen {

class NumberCode {
 public:
  static constexpr int registers = 14;  // the last two are for sequences of instructions

  NumberCode(const ScalarProgram& program, std::string* listing)
      : program_(program),
        nodes_(program.nodes),
        schedule_(schedule(program, registers)),
        encoder_(listing) {}

 protected:
  static constexpr Vector scratch0{14}, scratch1{15}, unused{0};
  static constexpr General rax = General::rax, rcx = General::rcx, rdx = General::rdx,
                           rsp = General::rsp;
  static constexpr std::size_t index(int i) { return static_cast<std::size_t>(i); }

  const Node& node(int i) const { return nodes_.node(i); }
  Place place(int i) const { return schedule_.places[index(stored(nodes_, i))]; }

  // What the last operand of an instruction may be.
  Encoder::Operand last(int i);
  // A number in its register, or read into `otherwise`.
  Vector first(int i, Vector otherwise);
  // The low bits of a number in a general register.
  void to_general(General to, int i, bool wide);
  static Address slot(int i) { return {rsp, vector_bytes * i}; }

  // Where a result is computed: its register, or scratch0, from which `done` stores it.
  Vector target(int i) const;
  void done(int i);

  // Computes a node that is no load; false where it has no instruction.
  bool compute(int i);

  const ScalarProgram& program_;
  const VectorProgram& nodes_;
  const Schedule schedule_;
  Encoder encoder_;
  std::vector<std::uint64_t> pool_;

 private:
  Encoder::Operand constant(int i);
  bool is_constant(int i) const { return node(stored(nodes_, i)).code == Code::constant; }
  bool in_register(int i) const { return place(i).reg >= 0; }
  void spread(int i, Vector from, bool wide);
  void from_general(int i, General from, bool wide);

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
