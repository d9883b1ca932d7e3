// codegen/x86/legalize_avx2.cpp - products, conversions and truth values in AVX2 instructions.
#include "codegen/x86/legalize_avx2.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "base/index.h"

namespace shardax::codegen {
namespace {

class Writer {
 public:
  explicit Writer(const VectorProgram& program) : program_(program), width_(program.width()) {
    for (const Table& table : program.tables()) out_.add(table);
  }

  VectorProgram write() {
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

 private:
  int write(Node node) {
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
    return out_.add(node);
  }

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

  // ---- truth values ---------------------------------------------------------------------------

  Kind truth(int bytes) const {
    return bytes == width_ ? Kind::truth : bytes == 4 ? Kind::truth_4 : Kind::truth_2;
  }
  int bytes_of(int v) const { return kind(v) == Kind::truth ? width_ : 4; }
  // What can be had in any width.
  bool any_width(int v) const {
    return out_.node(v).code == Code::input || out_.node(v).code == Code::constant;
  }
  int common_bytes(const std::array<int, 3>& values) const {
    int bytes = 4;
    for (const int v : values) {
      if (v >= 0 && !any_width(v)) bytes = std::max(bytes, bytes_of(v));
    }
    return bytes;
  }
  int as_truth(int v, int bytes) {
    if (bytes == 2) return add(Code::convert, Kind::truth_2, as_truth(v, 4));
    if (bytes_of(v) == bytes) return v;
    if (!any_width(v)) return add(Code::convert, truth(bytes), v);
    Node node = out_.node(v);
    node.kind = truth(bytes);
    return out_.add(node);
  }

  // ---- products -------------------------------------------------------------------------------

  // Of words: low a * low b, and 2^32 times the sum of the two others, whose high halves are lost.
  int product(Kind kind, int a, int b) {
    const auto words = [&](int x, int y) { return add(Code::mul_words, Kind::u64, x, y); };
    const auto high = [&](int x) { return shifted(Code::shift_right, Kind::u64, x, 32); };
    const int others = add(Code::add, Kind::u64, words(high(a), b), words(a, high(b)));
    const int sum =
        add(Code::add, Kind::u64, words(a, b), shifted(Code::shift_left, Kind::u64, others, 32));
    return view(kind, sum);
  }

  // ---- conversions ----------------------------------------------------------------------------

  int convert(int x, Kind to) {
    const Kind from = kind(x);
    if (from == Kind::u32 && is_float(to)) return word_to_float(x, to);
    if (from == Kind::u32 && to == Kind::bf16) {
      const bool is_half = out_.node(x).code == Code::shift_right && out_.node(x).bits == 16;
      return add(Code::convert, to, is_half ? x : low_half(x));
    }
    const bool from_wide = from == Kind::i64 || from == Kind::u64;
    const bool to_wide = to == Kind::i64 || to == Kind::u64;
    if (from_wide && to == Kind::f64) return wide_to_float(x);
    if (from_wide && to == Kind::f32) return convert(wide_to_float(without_middle(x)), to);
    if (from == Kind::f32 && to_wide) return float_to_wide(convert(x, Kind::f64), to);
    if (from == Kind::f64 && to_wide) return float_to_wide(x, to);
    if (from == Kind::f32 && to == Kind::u32) return float_to_word(x);
    if (from == Kind::f64 && to == Kind::u32) return to_word(whole(x));
    return add(Code::convert, to, x);
  }

  int low_half(int x) { return add(Code::bit_and, Kind::u32, x, constant(Kind::u32, 0xffff)); }
  int word_to_float(int x, Kind to) {
    if (to == Kind::f64) {  // instructions convert integers with a sign
      const int moved = add(Code::bit_xor, Kind::u32, x, constant(Kind::u32, 0x80000000));
      const int near = add(Code::convert, Kind::f64, view(Kind::i32, moved));
      return add(Code::add, Kind::f64, near, number(0x1p31));
    }
    const auto half = [&](int bits) {
      return add(Code::convert, Kind::f32, view(Kind::i32, bits));
    };
    const int high = half(shifted(Code::shift_right, Kind::u32, x, 16));
    const int low = half(low_half(x));
    return add(Code::fma, Kind::f32, high, number(0x1p16f), low);  // the one rounding
  }

  int whole(int x) { return out_.add({Code::round, Kind::f64, {x}, 3}); }
  // Of whole numbers below 2^32.
  int to_word(int x) {
    const int near = add(Code::sub, Kind::f64, x, number(0x1p31));
    const int moved = view(Kind::u32, add(Code::convert, Kind::i32, near));
    return add(Code::bit_xor, Kind::u32, moved, constant(Kind::u32, 0x80000000));
  }
  int float_to_word(int x) {
    const int large = out_.add({Code::less_equal, truth(4), {number(0x1p31f), x}});
    const int moved = add(Code::sub, Kind::f32, x,
                          add(Code::select, Kind::f32, large, number(0x1p31f), number(0.0f)));
    const int bits = view(Kind::u32, add(Code::convert, Kind::i32, moved));
    const int sign = add(Code::select, Kind::u32, large, constant(Kind::u32, 0x80000000),
                         constant(Kind::u32, 0));
    return add(Code::bit_xor, Kind::u32, bits, sign);
  }
  // By words: x = high 2^32 + low.
  int float_to_wide(int given, Kind to) {
    const int x = whole(given);
    const int part = add(Code::mul, Kind::f64, x, number(0x1p-32));
    const int high = out_.add({Code::round, Kind::f64, {part}, 1});
    const int low = add(Code::fma, Kind::f64, high, number(-0x1p32), x);
    const int high_word =
        to == Kind::u64 ? to_word(high) : view(Kind::u32, add(Code::convert, Kind::i32, high));
    const auto wide = [&](int word) { return add(Code::convert, Kind::u64, word); };
    const int bits =
        add(Code::bit_or, Kind::u64, shifted(Code::shift_left, Kind::u64, wide(high_word), 32),
            wide(to_word(low)));
    return view(to, bits);
  }
  // The two words as the low bits of 2^84 and 2^52, from which floats with the words remain; the
  // last sum is the one rounding.
  int wide_to_float(int x) {
    const bool has_sign = kind(x) == Kind::i64;
    const auto bits = [&](double d) {
      return constant(Kind::u64, std::bit_cast<std::uint64_t>(d));
    };
    const auto as_float = [&](Code code, int word, double d) {
      return view(Kind::f64, add(code, Kind::u64, word, bits(d)));
    };
    const double middle = has_sign ? 0x1p63 : 0;  // a high word with a sign is moved by 2^31
    const int high_word = shifted(Code::shift_right, Kind::u64, x, 32);
    const int low_word = add(Code::bit_and, Kind::u64, x, constant(Kind::u64, 0xffffffff));
    const int high = as_float(Code::bit_xor, high_word, 0x1p84 + middle);
    const int low = as_float(Code::bit_or, low_word, 0x1p52);
    const int rest = add(Code::sub, Kind::f64, high, number(0x1p84 + middle + 0x1p52));
    return add(Code::add, Kind::f64, rest, low);
  }
  // What is rounded to float64 and then to float32 as if it were to float32 at once: of 2^53 and
  // more the low 11 bits only say whether it lies between two of these.
  int without_middle(int x) {
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

  const VectorProgram& program_;
  const int width_;
  VectorProgram out_;
};

}  // namespace

VectorProgram legalize_avx2(const VectorProgram& program) { return Writer(program).write(); }

}  // namespace shardax::codegen
