// codegen/vector/program.h - vector programs: straight-line code on lanes in SSA form.
//
// A program says how one element of a tile is computed. Machine code does it for a register of
// elements at a time, as many as the widest numbers of the program leave room for. The 16-bit
// floats are only moved, chosen and converted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/index.h"

namespace shardax::codegen {

enum class Kind : std::uint8_t {
  f32,
  f64,
  i32,
  u32,
  i64,
  u64,
  bf16,
  f16,
  truth,
  truth_4,  // of programs for AVX2 alone: truth values for numbers of 4 and of 2 bytes where wider
  truth_2,  // ones are there too (codegen/x86/legalize_avx2.h)
  c64,
  c128,
  none
};

constexpr bool is_float(Kind kind) { return kind == Kind::f32 || kind == Kind::f64; }
constexpr bool is_complex(Kind kind) { return kind == Kind::c64 || kind == Kind::c128; }
constexpr bool is_truth(Kind kind) {
  return kind == Kind::truth || kind == Kind::truth_4 || kind == Kind::truth_2;
}
constexpr bool is_unsigned(Kind kind) { return kind == Kind::u32 || kind == Kind::u64; }
// Bytes of a lane, of complex numbers of each of two; 0 for truth values, which are as wide as the
// program's numbers.
constexpr int width_of(Kind kind) {
  switch (kind) {
    case Kind::f32:
    case Kind::i32:
    case Kind::u32:
    case Kind::c64: return 4;
    case Kind::f64:
    case Kind::i64:
    case Kind::u64:
    case Kind::c128: return 8;
    case Kind::bf16:
    case Kind::f16: return 2;
    default: return 0;
  }
}

enum class Code : std::uint8_t {
  input,     // element of the operand that the low half of `bits` says; see vector_of()
  constant,  // the number whose bits are `bits`
  add,
  sub,
  mul,
  div,
  max,  // of floats and int32: a > b ? a : b, which is b where one is NaN
  min,  // a < b ? a : b
  sqrt,
  round,  // `bits`: 0 to the nearest (ties to even), 1 down, 2 up, 3 towards zero
  bit_and,
  bit_or,
  bit_xor,
  shift_left,  // by `bits`
  shift_right,
  shift_right_arithmetic,  // of 32-bit integers
  shift_left_by,           // by as many bits as another number says: as an unsigned one, and by
  shift_right_by,          // its width or more nothing is left
  shift_right_arithmetic_by,
  equal,
  not_equal,  // floats only
  less,
  less_equal,  // floats only
  select,      // a ? b : c
  fma,         // a * b + c, rounded once
  scale,       // a * 2^b for a whole number b, rounded once; `bits`: 2^b is a normal number
  // the number as another kind: floats become integers towards zero, wider integers lose their high
  // bits; bfloat16 and uint32 keep the low bits
  convert,
  view,          // the same bits as another kind
  pair,          // the complex number of two parts: no instruction, what uses it uses those
  table_lookup,  // the number of table `bits` that the low three bits of a say
  mul_words,     // the product of the low halves of two 64-bit integers, all of its bits
  mul_high,      // the upper half of the product of a 32-bit integer and a constant, for AVX2 alone
  // In scalar programs alone (codegen/scalar/program.h):
  quotient,   // of integers, towards zero; x / 0 is -1, and -x is x / -1
  remainder,  // x - quotient * b; that by 0 is x
  unique,     // made by what stands around the nodes: loads, carries, results of loops and branches
};

struct Node {
  Code code;
  Kind kind;
  std::array<int, 3> in = {-1, -1, -1};
  std::uint64_t bits = 0;
  bool operator==(const Node&) const = default;
};

// The operand of an input, and the number of vectors from the current one to it.
inline int operand_of(const Node& input) { return static_cast<int>(input.bits & 0xffffffff); }
inline int vector_of(const Node& input) { return static_cast<int>(input.bits >> 32); }

// The coefficients of a piece of a domain, one for each of eight pieces for example.
using Table = std::array<float, 8>;

struct Output {
  int node;
  int operand;     // its destination
  int vector = 0;  // as vector_of()
};

class VectorProgram {
 public:
  // `multiplies`: quotients by constants are products, since there is mul_high. `scales`: there is
  // an instruction for powers of two.
  explicit VectorProgram(bool multiplies = false, bool scales = true)
      : multiplies_(multiplies), scales_(scales) {}
  // The position of a node, which may have been there before. The larger and the smaller one of two
  // floats or int32, written as a selection, are one instruction.
  int add(const Node& node);
  const Node& node(int i) const { return nodes_[index(i)]; }
  // The division whose result it is, or the node itself.
  const Node& meaning(int i) const {
    const auto found = divisions_.find(i);
    return found == divisions_.end() ? node(i) : found->second;
  }
  // In place of a node that is there: another one of its kind, of the same value.
  void replace(int i, Node node);
  // Nodes from this one on are not given again for equal ones.
  void forget(int first);
  // The place of a table, which may have been there before.
  std::uint64_t add(const Table& table);
  const std::vector<Table>& tables() const { return tables_; }
  // Nodes that an output needs and that are instructions.
  int work() const;
  int size() const { return static_cast<int>(nodes_.size()); }
  // Bytes of the widest numbers, 4 or 8.
  int width() const;

  // The program for so many vectors one after the other, node by node in turns.
  VectorProgram interleaved(int vectors) const;

  std::vector<Output> outputs;

 private:
  int* place(const Node& node);
  bool is_forgotten(int i) const { return index(i) < forgotten_.size() && forgotten_[index(i)]; }
  std::optional<Node> folded(const Node& node) const;
  int same_as(const Node& node) const;
  int by_power_of_two(const Node& node);
  int by_multiplication(const Node& division);
  int by_constant(const Node& shift);
  int by_power(const Node& scale);

  bool multiplies_, scales_;
  std::vector<Node> nodes_;
  std::vector<Table> tables_;
  std::unordered_map<int, Node> divisions_;  // the nodes that replace divisions
  std::vector<bool> forgotten_;
  std::vector<int> places_;  // of nodes, by hash; -1: free
};

}  // namespace shardax::codegen
