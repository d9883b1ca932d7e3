// codegen/x86/opcodes.cpp - the instruction of each node.
#include "codegen/x86/opcodes.h"

namespace shardax::codegen::opcodes {
namespace {

struct Row {
  Code code;
  const Opcode *f32, *f64, *word, *wide;  // integers of 32 and of 64 bits
  const Opcode* truth = word;
};

constexpr std::array rows{
    Row{Code::add, &addps, &addpd, &paddd, &paddq},
    Row{Code::sub, &subps, &subpd, &psubd, &psubq},
    Row{Code::mul, &mulps, &mulpd, &pmulld, nullptr},
    Row{Code::div, &divps, &divpd, nullptr, nullptr},
    Row{Code::max, &maxps, &maxpd, &pmaxsd, nullptr},
    Row{Code::min, &minps, &minpd, &pminsd, nullptr},
    Row{Code::sqrt, &sqrtps, &sqrtpd, nullptr, nullptr},
    Row{Code::round, &roundps, &roundpd, nullptr, nullptr},
    Row{Code::bit_and, &pand, &pand, &pand, &pand},
    Row{Code::bit_or, &por, &por, &por, &por},
    Row{Code::bit_xor, &pxor, &pxor, &pxor, &pxor},
    Row{Code::shift_left, nullptr, nullptr, &pslld, &psllq},
    Row{Code::shift_right, nullptr, nullptr, &psrld, &psrlq},
    Row{Code::shift_right_arithmetic, nullptr, nullptr, &psrad, nullptr},
    Row{Code::shift_left_by, nullptr, nullptr, &psllvd, &psllvq},
    Row{Code::shift_right_by, nullptr, nullptr, &psrlvd, &psrlvq},
    Row{Code::shift_right_arithmetic_by, nullptr, nullptr, &psravd, nullptr},
    Row{Code::equal, &cmpps, &cmppd, &pcmpeqd, &pcmpeqq},
    Row{Code::not_equal, &cmpps, &cmppd, nullptr, nullptr},
    // For integers a < b is b > a: the operands change places.
    Row{Code::less, &cmpps, &cmppd, &pcmpgtd, &pcmpgtq},
    Row{Code::less_equal, &cmpps, &cmppd, nullptr, nullptr},
    Row{Code::select, &blendvps, &blendvpd, &blendvps, &blendvpd},
    Row{Code::fma, &fmadd213ps, &fmadd213pd, nullptr, nullptr},
    Row{Code::table_lookup, &permps, nullptr, nullptr, nullptr},
    Row{Code::mul_words, nullptr, nullptr, nullptr, &pmuludq},
    Row{Code::mul_high, nullptr, nullptr, &pmuldq, nullptr},
};

constexpr std::array evex_rows{
    Row{Code::add, &addps, &addpd, &paddd, &paddq},
    Row{Code::sub, &subps, &subpd, &psubd, &psubq},
    Row{Code::mul, &mulps, &mulpd, &pmulld, &pmullq},
    Row{Code::div, &divps, &divpd, nullptr, nullptr},
    Row{Code::max, &maxps, &maxpd, &pmaxsd, nullptr},
    Row{Code::min, &minps, &minpd, &pminsd, nullptr},
    Row{Code::sqrt, &sqrtps, &sqrtpd, nullptr, nullptr},
    Row{Code::round, &rndscaleps, &rndscalepd, nullptr, nullptr},
    Row{Code::bit_and, &pandd, &pandq, &pandd, &pandq, &kandw},
    Row{Code::bit_or, &pord, &porq, &pord, &porq, &korw},
    Row{Code::bit_xor, &pxord, &pxorq, &pxord, &pxorq, &kxorw},
    Row{Code::shift_left, nullptr, nullptr, &pslld, &psllq},
    Row{Code::shift_right, nullptr, nullptr, &psrld, &psrlq},
    Row{Code::shift_right_arithmetic, nullptr, nullptr, &psrad, nullptr},
    Row{Code::shift_left_by, nullptr, nullptr, &psllvd, &psllvq},
    Row{Code::shift_right_by, nullptr, nullptr, &psrlvd, &psrlvq},
    Row{Code::shift_right_arithmetic_by, nullptr, nullptr, &psravd, nullptr},
    Row{Code::equal, &compareps, &comparepd, &pcmpd, &pcmpq, &kxnorw},
    Row{Code::not_equal, &compareps, &comparepd, &pcmpd, &pcmpq, &kxorw},
    Row{Code::less, &compareps, &comparepd, &pcmpd, &pcmpq, nullptr},
    Row{Code::less_equal, &compareps, &comparepd, &pcmpd, &pcmpq, nullptr},
    Row{Code::select, &blendmps, &blendmpd, &blendmps, &blendmpd},
    Row{Code::fma, &fmadd213ps, &fmadd213pd, nullptr, nullptr},
    Row{Code::scale, &scalefps, &scalefpd, nullptr, nullptr},
    Row{Code::table_lookup, &permps, nullptr, nullptr, nullptr},
};

struct Conversion {
  Kind from, to;
  const Opcode* op;
};
constexpr std::array conversions{
    Conversion{Kind::f32, Kind::f64, &vex_cvtps2pd},
    Conversion{Kind::f64, Kind::f32, &vex_cvtpd2ps},
    Conversion{Kind::i32, Kind::f32, &cvtdq2ps},
    Conversion{Kind::i32, Kind::f64, &vex_cvtdq2pd},
    Conversion{Kind::f32, Kind::i32, &cvttps2dq},
    Conversion{Kind::f64, Kind::i32, &vex_cvttpd2dq},
    Conversion{Kind::i32, Kind::i64, &widen_signed},
    Conversion{Kind::i32, Kind::u64, &widen_signed},
    Conversion{Kind::u32, Kind::i64, &widen_unsigned},
    Conversion{Kind::u32, Kind::u64, &widen_unsigned},
    Conversion{Kind::bf16, Kind::u32, &widen_words},
    Conversion{Kind::f16, Kind::f32, &vex_cvtph2ps},
    Conversion{Kind::f32, Kind::f16, &vex_cvtps2ph},
    Conversion{Kind::truth_4, Kind::truth, &widen_signed},
};
constexpr std::array evex_conversions{
    Conversion{Kind::f32, Kind::f64, &cvtps2pd},  Conversion{Kind::f64, Kind::f32, &cvtpd2ps},
    Conversion{Kind::i32, Kind::f32, &cvtdq2ps},  Conversion{Kind::i32, Kind::f64, &cvtdq2pd},
    Conversion{Kind::u32, Kind::f32, &cvtudq2ps}, Conversion{Kind::u32, Kind::f64, &cvtudq2pd},
    Conversion{Kind::i64, Kind::f32, &cvtqq2ps},  Conversion{Kind::i64, Kind::f64, &cvtqq2pd},
    Conversion{Kind::u64, Kind::f32, &cvtuqq2ps}, Conversion{Kind::u64, Kind::f64, &cvtuqq2pd},
    Conversion{Kind::f32, Kind::i32, &cvttps2dq}, Conversion{Kind::f32, Kind::u32, &cvttps2udq},
    Conversion{Kind::f32, Kind::i64, &cvttps2qq}, Conversion{Kind::f32, Kind::u64, &cvttps2uqq},
    Conversion{Kind::f64, Kind::i32, &cvttpd2dq}, Conversion{Kind::f64, Kind::u32, &cvttpd2udq},
    Conversion{Kind::f64, Kind::i64, &cvttpd2qq}, Conversion{Kind::f64, Kind::u64, &cvttpd2uqq},
    Conversion{Kind::i32, Kind::i64, &pmovsxdq},  Conversion{Kind::i32, Kind::u64, &pmovsxdq},
    Conversion{Kind::u32, Kind::i64, &pmovzxdq},  Conversion{Kind::u32, Kind::u64, &pmovzxdq},
    Conversion{Kind::i64, Kind::i32, &pmovqd},    Conversion{Kind::i64, Kind::u32, &pmovqd},
    Conversion{Kind::u64, Kind::i32, &pmovqd},    Conversion{Kind::u64, Kind::u32, &pmovqd},
    Conversion{Kind::bf16, Kind::u32, &pmovzxwd}, Conversion{Kind::u32, Kind::bf16, &pmovdw},
    Conversion{Kind::f16, Kind::f32, &cvtph2ps},  Conversion{Kind::f32, Kind::f16, &cvtps2ph},
};

template <class Rows>
const Opcode* find_in(const Rows& rows, Kind from, Kind to) {
  for (const Conversion& row : rows) {
    if (row.from == from && row.to == to) return row.op;
  }
  return nullptr;
}
template <class Rows>
const Opcode* find_in(const Rows& rows, Code code, Kind kind) {
  for (const Row& row : rows) {
    if (row.code != code) continue;
    switch (kind) {
      case Kind::f32: return row.f32;
      case Kind::f64: return row.f64;
      case Kind::i32:
      case Kind::u32: return row.word;
      case Kind::i64:
      case Kind::u64: return row.wide;
      default: return row.truth;
    }
  }
  return nullptr;
}

}  // namespace

const Opcode* find(Code code, Kind kind) {
  if (width_of(kind) == 2) return code == Code::select ? &blend_bytes : nullptr;
  return find_in(rows, code, kind);
}
const Opcode* find_evex(Code code, Kind kind) {
  if (width_of(kind) == 2) return code == Code::select ? &pblendmw : nullptr;
  return find_in(evex_rows, code, kind);
}
const Opcode* find_conversion(Kind from, Kind to) { return find_in(conversions, from, to); }
const Opcode* find_evex_conversion(Kind from, Kind to) {
  return find_in(evex_conversions, from, to);
}

}  // namespace shardax::codegen::opcodes
