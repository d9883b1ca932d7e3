// codegen/vector/legalizer.cpp - products, truth values, and roundings in two steps.
#include "codegen/vector/legalizer.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace shardax::codegen {

Legalizer::Legalizer(const VectorProgram& program) : program_(program), width_(program.width()) {
  for (const Table& table : program.tables()) out_.add(table);
}

VectorProgram Legalizer::write() {
  std::vector<int> places;
  const auto place = [&](int v) { return v < 0 ? v : places[index(v)]; };
  for (int i = 0; i < program_.size(); ++i) {
    Node node = program_.node(i);
    for (int& in : node.in) in = place(in);
    places.push_back(write(node));
  }
  for (const Output& output : program_.outputs)
    out_.outputs.push_back({place(output.node), output.operand, output.vector});
  return std::move(out_);
}

int Legalizer::write(Node node) {
  const bool wide = width_of(node.kind) == 8;
  if (node.code == Code::convert) return convert(node.in[0], node.kind);
  if (node.code == Code::mul && wide && !is_float(node.kind))
    return product(node.kind, node.in[0], node.in[1]);
  if (node.code == Code::select) {
    const bool truths = is_truth(node.kind);
    const int bytes = truths ? common_bytes(node.in) : width_of(node.kind);
    if (truths) node.kind = truth(bytes);
    for (std::size_t k = 0; k < (truths ? 3 : 1); ++k) node.in[k] = as_truth(node.in[k], bytes);
  } else if (is_truth(node.kind) && node.in[0] >= 0) {
    const bool truths = is_truth(kind(node.in[0]));
    const int bytes = truths ? common_bytes(node.in) : width_of(kind(node.in[0]));
    node.kind = truth(bytes);
    for (std::size_t k = 0; truths && k < 2; ++k) node.in[k] = as_truth(node.in[k], bytes);
  }
  return other(node);
}

// ---- truth values -------------------------------------------------------------------------

// Does the value exist in any width?
bool Legalizer::any_width(int v) const {
  return out_.node(v).code == Code::input || out_.node(v).code == Code::constant;
}
int Legalizer::common_bytes(const std::array<int, 3>& values) const {
  int bytes = 4;
  for (const int v : values) {
    if (v >= 0 && !any_width(v)) bytes = std::max(bytes, bytes_of(v));
  }
  return bytes;
}
int Legalizer::as_truth(int v, int bytes) {
  if (bytes == 2) return add(Code::convert, Kind::truth_2, as_truth(v, 4));
  if (bytes_of(v) == bytes) return v;
  if (!any_width(v)) return add(Code::convert, truth(bytes), v);
  Node node = out_.node(v);
  node.kind = truth(bytes);
  return out_.add(node);
}

// ---- numbers ------------------------------------------------------------------------------

// The product by words: low a * low b, and 2^32 times the sum of the two others, whose high halves
// are lost.
int Legalizer::product(Kind kind, int a, int b) {
  const auto words = [&](int x, int y) { return add(Code::mul_words, Kind::u64, x, y); };
  const auto high = [&](int x) { return shifted(Code::shift_right, Kind::u64, x, 32); };
  const int others = add(Code::add, Kind::u64, words(high(a), b), words(a, high(b)));
  const int sum =
      add(Code::add, Kind::u64, words(a, b), shifted(Code::shift_left, Kind::u64, others, 32));
  return view(kind, sum);
}

// Replaces an integer by one that rounds to float64 and then to float32 as if rounded to float32 at
// once. Of numbers from 2^53 on, the low 11 bits only say whether one lies between two floats.
int Legalizer::without_middle(int x) {
  const Kind kind = this->kind(x);
  const auto wide = [&](std::uint64_t bits) { return constant(kind, bits); };
  const int low = add(Code::bit_and, kind, x, wide(0x7ff));
  const int none = out_.add({Code::equal, truth(8), {low, wide(0)}});
  const int between = add(Code::select, kind, none, wide(0), wide(0x800));
  const int high = add(Code::bit_and, kind, x, wide(~std::uint64_t{0x7ff}));
  const int moved = kind == Kind::i64 ? add(Code::add, kind, x, wide(std::uint64_t{1} << 53)) : x;
  const int far = shifted(Code::shift_right, kind, moved, kind == Kind::i64 ? 54 : 53);
  const int small = out_.add({Code::equal, truth(8), {far, wide(0)}});
  return add(Code::select, kind, small, x, add(Code::bit_or, kind, high, between));
}

}  // namespace shardax::codegen
