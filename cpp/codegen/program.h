// codegen/program.h - vector programs: straight-line code on lanes, in static single assignment.
//
// A program says what one element of a tile goes through; machine code does it for a register of
// elements at a time. Numbers of one program are all 32 or all 64 bits wide, so that every register
// has as many lanes. Truth values are lanes of all ones or all zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace shardax::codegen {

enum class Kind : std::uint8_t { f32, f64, i32, u32, i64, u64, truth, none };

constexpr bool is_float(Kind kind) { return kind == Kind::f32 || kind == Kind::f64; }
constexpr bool is_unsigned(Kind kind) { return kind == Kind::u32 || kind == Kind::u64; }
// Bytes of a lane; 0 for truth values, which are as wide as the program's numbers.
constexpr int width_of(Kind kind) {
  switch (kind) {
    case Kind::f32:
    case Kind::i32:
    case Kind::u32: return 4;
    case Kind::f64:
    case Kind::i64:
    case Kind::u64: return 8;
    default: return 0;
  }
}

enum class Code : std::uint8_t {
  input,     // element of operand `bits`
  constant,  // the number whose bits are `bits`
  add,
  sub,
  mul,
  div,
  max,  // of floats: a > b ? a : b, which is b where one is NaN
  min,  // a < b ? a : b
  sqrt,
  round,  // `bits`: 0 to the nearest (ties to even), 1 down, 2 up, 3 towards zero
  bit_and,
  bit_or,
  bit_xor,
  shift_left,  // by `bits`
  shift_right,
  shift_right_arithmetic,  // of 32-bit integers
  equal,
  not_equal,  // floats only
  less,
  less_equal,  // floats only
  select,      // a ? b : c
  fma,         // a * b + c, rounded once
  to_float,    // of an integer of the same width
  view,        // the same bits as another kind
  // Of single numbers (codegen/scalar_program.h):
  convert,    // to another kind; floats that become integers lie within their range
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

struct Output {
  int node;
  int operand;  // where it goes
};

class VectorProgram {
 public:
  // The position of a node, which may have been there before. The larger and the smaller one of two
  // floats, written as a selection, are one instruction.
  int add(const Node& node);
  const Node& node(int i) const { return nodes_[static_cast<std::size_t>(i)]; }
  // Nodes from this one on are not given again for equal ones.
  void forget(int first);
  // Nodes that an output needs and that are instructions.
  int work() const;
  int size() const { return static_cast<int>(nodes_.size()); }
  // Bytes of the numbers: 4 or 8; 0 where they differ.
  int width() const;

  std::vector<Output> outputs;

 private:
  std::optional<Node> folded(const Node& node) const;
  int same_as(const Node& node) const;
  int by_power_of_two(const Node& node);

  struct Hash {
    std::size_t operator()(const Node& node) const;
  };
  std::vector<Node> nodes_;
  std::unordered_map<Node, int, Hash> places_;
};

}  // namespace shardax::codegen
