// codegen/x86/legalize_avx2.cpp - conversions in AVX2 instructions.
#include "codegen/x86/legalize_avx2.h"

#include <bit>

#include "codegen/vector/legalizer.h"

namespace shardax::codegen {
namespace {

class Avx2Legalizer final : public Legalizer {
 public:
  using Legalizer::Legalizer;

 private:
  int convert(int x, Kind to) override {
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
  // For whole numbers below 2^32.
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
};

}  // namespace

VectorProgram legalize_avx2(const VectorProgram& program) { return Avx2Legalizer(program).write(); }

}  // namespace shardax::codegen
