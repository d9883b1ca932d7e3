// codegen/vector/legalizer.h - rewriting vector programs for machines without mask registers.
//
// Registers hold as many of a program's widest numbers as they can, others lane by lane in their
// low part. A truth value is a lane of all ones or zeros, as wide as the numbers that it comes from
// or selects. The kind `truth` is as wide as the widest numbers, truth_4 and truth_2 are for
// narrower ones. A machine adds the conversions that it has no instruction for.
#pragma once

#include <array>
#include <bit>

#include "base/index.h"
#include "codegen/vector/program.h"

namespace shardax::codegen {

class Legalizer {
 public:
  explicit Legalizer(const VectorProgram& program);
  virtual ~Legalizer() = default;
  VectorProgram write();

 protected:
  // The number x as another kind, in nodes that have instructions.
  virtual int convert(int x, Kind to) = 0;
  // A node of another code, or of select, once its truth values are as wide as they have to be.
  virtual int other(const Node& node) { return out_.add(node); }

  Kind kind(int v) const { return out_.node(v).kind; }
  int add(Code code, Kind kind, int a, int b = -1, int c = -1) {
    return out_.add({code, kind, {a, b, c}});
  }
  int constant(Kind kind, std::uint64_t bits) { return out_.add({Code::constant, kind, {}, bits}); }
  int number(double x) { return constant(Kind::f64, std::bit_cast<std::uint64_t>(x)); }
  int number(float x) { return constant(Kind::f32, std::bit_cast<std::uint32_t>(x)); }
  int view(Kind kind, int v) { return add(Code::view, kind, v); }
  int shifted(Code code, Kind kind, int v, std::uint64_t bits) {
    return out_.add({code, kind, {v}, bits});
  }
  // The kind of a truth value with lanes of so many bytes.
  Kind truth(int bytes) const {
    return bytes == width_ ? Kind::truth : bytes == 4 ? Kind::truth_4 : Kind::truth_2;
  }
  // A 64-bit integer that, rounded to float64 and then to float32, is x rounded to float32.
  int without_middle(int x);

  VectorProgram out_;

 private:
  int write(Node node);
  int bytes_of(int v) const { return kind(v) == Kind::truth ? width_ : 4; }
  bool any_width(int v) const;
  int common_bytes(const std::array<int, 3>& values) const;
  int as_truth(int v, int bytes);
  int product(Kind kind, int a, int b);

  const VectorProgram& program_;
  const int width_;
};

}  // namespace shardax::codegen
