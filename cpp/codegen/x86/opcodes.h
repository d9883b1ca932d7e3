// codegen/x86/opcodes.h - the vector instructions in use, and those of each node.
#pragma once

#include <array>

#include "codegen/vector/program.h"
#include "codegen/x86/encoder.h"

namespace shardax::codegen::opcodes {

inline constexpr Opcode addps{"vaddps", 0, 1, 0, 0x58}, addpd{"vaddpd", 1, 1, 1, 0x58};
inline constexpr Opcode subps{"vsubps", 0, 1, 0, 0x5C}, subpd{"vsubpd", 1, 1, 1, 0x5C};
inline constexpr Opcode mulps{"vmulps", 0, 1, 0, 0x59}, mulpd{"vmulpd", 1, 1, 1, 0x59};
inline constexpr Opcode divps{"vdivps", 0, 1, 0, 0x5E}, divpd{"vdivpd", 1, 1, 1, 0x5E};
inline constexpr Opcode maxps{"vmaxps", 0, 1, 0, 0x5F}, maxpd{"vmaxpd", 1, 1, 1, 0x5F};
inline constexpr Opcode minps{"vminps", 0, 1, 0, 0x5D}, minpd{"vminpd", 1, 1, 1, 0x5D};
inline constexpr Opcode pmaxsd{"vpmaxsd", 1, 2, 0, 0x3D}, pminsd{"vpminsd", 1, 2, 0, 0x39};
inline constexpr Opcode sqrtps{"vsqrtps", 0, 1, 0, 0x51, Form::two},
    sqrtpd{"vsqrtpd", 1, 1, 1, 0x51, Form::two};
inline constexpr Opcode roundps{"vroundps", 1, 3, 0, 0x08, Form::two},
    roundpd{"vroundpd", 1, 3, 1, 0x09, Form::two};
inline constexpr Opcode cmpps{"vcmpps", 0, 1, 0, 0xC2}, cmppd{"vcmppd", 1, 1, 1, 0xC2};
inline constexpr Opcode fmadd213ps{"vfmadd213ps", 1, 2, 0, 0xA8};
inline constexpr Opcode fmadd213pd{"vfmadd213pd", 1, 2, 1, 0xA8};
inline constexpr Opcode fmadd231ps{"vfmadd231ps", 1, 2, 0, 0xB8};
inline constexpr Opcode fmadd231pd{"vfmadd231pd", 1, 2, 1, 0xB8};
inline constexpr Opcode permps{"vpermps", 1, 2, 0, 0x16};
inline constexpr Opcode blendvps{"vblendvps", 1, 3, 0, 0x4A}, blendvpd{"vblendvpd", 1, 3, 0, 0x4B};
inline constexpr Opcode paddd{"vpaddd", 1, 1, 0, 0xFE}, paddq{"vpaddq", 1, 1, 1, 0xD4};
inline constexpr Opcode psubd{"vpsubd", 1, 1, 0, 0xFA}, psubq{"vpsubq", 1, 1, 1, 0xFB};
inline constexpr Opcode pmulld{"vpmulld", 1, 2, 0, 0x40};
inline constexpr Opcode pand{"vpand", 1, 1, 0, 0xDB};
inline constexpr Opcode por{"vpor", 1, 1, 0, 0xEB}, pxor{"vpxor", 1, 1, 0, 0xEF};
inline constexpr Opcode pcmpeqd{"vpcmpeqd", 1, 1, 0, 0x76}, pcmpeqq{"vpcmpeqq", 1, 2, 1, 0x29};
inline constexpr Opcode pcmpgtd{"vpcmpgtd", 1, 1, 0, 0x66}, pcmpgtq{"vpcmpgtq", 1, 2, 1, 0x37};
inline constexpr Opcode pslld{"vpslld", 1, 1, 0, 0x72, Form::shift, 6},
    psllq{"vpsllq", 1, 1, 1, 0x73, Form::shift, 6};
inline constexpr Opcode psrld{"vpsrld", 1, 1, 0, 0x72, Form::shift, 2},
    psrlq{"vpsrlq", 1, 1, 1, 0x73, Form::shift, 2};
inline constexpr Opcode psrad{"vpsrad", 1, 1, 0, 0x72, Form::shift, 4};
inline constexpr Opcode psllvd{"vpsllvd", 1, 2, 0, 0x47}, psllvq{"vpsllvq", 1, 2, 1, 0x47};
inline constexpr Opcode psrlvd{"vpsrlvd", 1, 2, 0, 0x45}, psrlvq{"vpsrlvq", 1, 2, 1, 0x45};
inline constexpr Opcode psravd{"vpsravd", 1, 2, 0, 0x46};
inline constexpr Opcode cvtdq2ps{"vcvtdq2ps", 0, 1, 0, 0x5B, Form::two};
inline constexpr Opcode load{"vmovups", 0, 1, 0, 0x10, Form::two},
    store{"vmovups", 0, 1, 0, 0x11, Form::store};
// Past the caches, to an address that is a multiple of the vector's bytes.
inline constexpr Opcode store_past{"vmovntps", 0, 1, 0, 0x2B, Form::store};
inline constexpr Opcode store_low{"vmovq", 1, 1, 0, 0xD6, Form::store},
    store_lowest{"vmovd", 1, 1, 0, 0x7E, Form::store};
inline constexpr Opcode widen_bytes_to_4{"vpmovzxbd", 1, 2, 0, 0x31, Form::two};
inline constexpr Opcode widen_bytes_to_8{"vpmovzxbq", 1, 2, 0, 0x32, Form::two};
inline constexpr Opcode psubb{"vpsubb", 1, 1, 0, 0xF8};
inline constexpr Opcode upper_half{"vextracti128", 1, 3, 0, 0x39, Form::store, 0, false, 2};
inline constexpr Opcode pack_to_2{"vpackssdw", 1, 1, 0, 0x6B};
inline constexpr Opcode pack_to_1{"vpacksswb", 1, 1, 0, 0x63};
inline constexpr Opcode shuffle{"vshufps", 0, 1, 0, 0xC6};
// To 2 bytes without a sign.
inline constexpr Opcode pack_words{"vpackusdw", 1, 2, 0, 0x2B};
inline constexpr Opcode blend_bytes{"vpblendvb", 1, 3, 0, 0x4C};
inline constexpr Opcode pmuludq{"vpmuludq", 1, 1, 1, 0xF4}, pmuldq{"vpmuldq", 1, 2, 1, 0x28};
inline constexpr Opcode pshufd{"vpshufd", 1, 1, 0, 0x70, Form::two};
inline constexpr std::uint8_t upper_words = 0xF5;  // of each two words the upper one, twice
inline constexpr Opcode blend_words{"vpblendd", 1, 3, 0, 0x02};
inline constexpr std::uint8_t odd_words = 0xAA;

// Instructions of AVX-512 alone.
inline constexpr Opcode rndscaleps{"vrndscaleps", 1, 3, 0, 0x08, Form::two, 0, true},
    rndscalepd{"vrndscalepd", 1, 3, 1, 0x09, Form::two, 0, true};
inline constexpr Opcode pandd{"vpandd", 1, 1, 0, 0xDB, Form::three, 0, true},
    pandq{"vpandq", 1, 1, 1, 0xDB, Form::three, 0, true};
inline constexpr Opcode pord{"vpord", 1, 1, 0, 0xEB, Form::three, 0, true},
    porq{"vporq", 1, 1, 1, 0xEB, Form::three, 0, true};
inline constexpr Opcode pxord{"vpxord", 1, 1, 0, 0xEF, Form::three, 0, true},
    pxorq{"vpxorq", 1, 1, 1, 0xEF, Form::three, 0, true};
inline constexpr Opcode scalefps{"vscalefps", 1, 2, 0, 0x2C, Form::three, 0, true},
    scalefpd{"vscalefpd", 1, 2, 1, 0x2C, Form::three, 0, true};
inline constexpr Opcode pmullq{"vpmullq", 1, 2, 1, 0x40, Form::three, 0, true};
inline constexpr Opcode compareps{"vcmpps", 0, 1, 0, 0xC2, Form::compare, 0, true},
    comparepd{"vcmppd", 1, 1, 1, 0xC2, Form::compare, 0, true};
inline constexpr Opcode pcmpd{"vpcmpd", 1, 3, 0, 0x1F, Form::compare, 0, true},
    pcmpq{"vpcmpq", 1, 3, 1, 0x1F, Form::compare, 0, true};
inline constexpr Opcode ptestmb{"vptestmb", 1, 2, 0, 0x26, Form::compare, 0, true};
inline constexpr Opcode blendmps{"vblendmps", 1, 2, 0, 0x65, Form::three, 0, true},
    blendmpd{"vblendmpd", 1, 2, 1, 0x65, Form::three, 0, true};
inline constexpr Opcode broadcast_4{"vbroadcastss", 1, 2, 0, 0x18, Form::two, 0, true},
    broadcast_8{"vbroadcastsd", 1, 2, 1, 0x19, Form::two, 0, true};
inline constexpr Opcode load_8{"vmovupd", 1, 1, 1, 0x10, Form::two},
    store_8{"vmovupd", 1, 1, 1, 0x11, Form::store};
inline constexpr Opcode load_1{"vmovdqu8", 3, 1, 0, 0x6F, Form::two, 0, true},
    store_1{"vmovdqu8", 3, 1, 0, 0x7F, Form::store, 0, true};
inline constexpr Opcode pabsb{"vpabsb", 1, 2, 0, 0x1C, Form::two};
inline constexpr Opcode pmovm2b{"vpmovm2b", 2, 2, 0, 0x28, Form::from_mask, 0, true};
inline constexpr Opcode kandw{"kandw", 0, 1, 0, 0x41, Form::mask_three},
    korw{"korw", 0, 1, 0, 0x45, Form::mask_three}, kxorw{"kxorw", 0, 1, 0, 0x47, Form::mask_three},
    kxnorw{"kxnorw", 0, 1, 0, 0x46, Form::mask_three},
    kxnorb{"kxnorb", 1, 1, 0, 0x46, Form::mask_three};
inline constexpr Opcode knotw{"knotw", 0, 1, 0, 0x44, Form::mask_two},
    kshiftrd{"kshiftrd", 1, 3, 0, 0x31, Form::mask_two},
    kmovw{"kmovw", 0, 1, 0, 0x90, Form::mask_two},
    kmovw_store{"kmovw", 0, 1, 0, 0x91, Form::mask_store};

inline constexpr Opcode load_2{"vmovdqu16", 3, 1, 1, 0x6F, Form::two, 0, true},
    store_2{"vmovdqu16", 3, 1, 1, 0x7F, Form::store, 0, true};
inline constexpr Opcode pblendmw{"vpblendmw", 1, 2, 1, 0x66, Form::three, 0, true};
// Conversions: the longer of the operand and the result is a whole vector.
inline constexpr Opcode cvtps2pd{"vcvtps2pd", 0, 1, 0, 0x5A, Form::two, 0, true, 2},
    cvtpd2ps{"vcvtpd2ps", 1, 1, 1, 0x5A, Form::narrow, 0, true};
inline constexpr Opcode cvtdq2pd{"vcvtdq2pd", 2, 1, 0, 0xE6, Form::two, 0, true, 2},
    cvtudq2ps{"vcvtudq2ps", 3, 1, 0, 0x7A, Form::two, 0, true},
    cvtudq2pd{"vcvtudq2pd", 2, 1, 0, 0x7A, Form::two, 0, true, 2},
    cvtqq2ps{"vcvtqq2ps", 0, 1, 1, 0x5B, Form::narrow, 0, true},
    cvtqq2pd{"vcvtqq2pd", 2, 1, 1, 0xE6, Form::two, 0, true},
    cvtuqq2ps{"vcvtuqq2ps", 3, 1, 1, 0x7A, Form::narrow, 0, true},
    cvtuqq2pd{"vcvtuqq2pd", 2, 1, 1, 0x7A, Form::two, 0, true};
inline constexpr Opcode cvttps2dq{"vcvttps2dq", 2, 1, 0, 0x5B, Form::two},
    cvttps2udq{"vcvttps2udq", 0, 1, 0, 0x78, Form::two, 0, true},
    cvttps2qq{"vcvttps2qq", 1, 1, 0, 0x7A, Form::two, 0, true, 2},
    cvttps2uqq{"vcvttps2uqq", 1, 1, 0, 0x78, Form::two, 0, true, 2},
    cvttpd2dq{"vcvttpd2dq", 1, 1, 1, 0xE6, Form::narrow, 0, true},
    cvttpd2udq{"vcvttpd2udq", 0, 1, 1, 0x78, Form::narrow, 0, true},
    cvttpd2qq{"vcvttpd2qq", 1, 1, 1, 0x7A, Form::two, 0, true},
    cvttpd2uqq{"vcvttpd2uqq", 1, 1, 1, 0x78, Form::two, 0, true};
inline constexpr Opcode pmovsxdq{"vpmovsxdq", 1, 2, 0, 0x25, Form::two, 0, true, 2},
    pmovzxdq{"vpmovzxdq", 1, 2, 0, 0x35, Form::two, 0, true, 2},
    pmovqd{"vpmovqd", 2, 2, 0, 0x35, Form::store, 0, true, 2},
    pmovzxwd{"vpmovzxwd", 1, 2, 0, 0x33, Form::two, 0, true, 2},
    pmovdw{"vpmovdw", 2, 2, 0, 0x33, Form::store, 0, true, 2};
inline constexpr Opcode cvtph2ps{"vcvtph2ps", 1, 2, 0, 0x13, Form::two, 0, true, 2},
    cvtps2ph{"vcvtps2ph", 1, 3, 0, 0x1D, Form::store, 0, true, 2};  // its immediate: how to round

// From here on, the opcodes of code with branches, whose numbers are of several widths. One number
// for all lanes:
inline constexpr Opcode spread_1{"vpbroadcastb", 1, 2, 0, 0x78, Form::two, 0, false, 2},
    spread_2{"vpbroadcastw", 1, 2, 0, 0x79, Form::two, 0, false, 2},
    spread_4{"vpbroadcastd", 1, 2, 0, 0x58, Form::two, 0, false, 2},
    spread_8{"vpbroadcastq", 1, 2, 0, 0x59, Form::two, 0, false, 2};
inline constexpr Opcode extract_1{"vpextrb", 1, 3, 0, 0x14, Form::store},
    extract_2{"vpextrw", 1, 3, 0, 0x15, Form::store};
// Between vector and general registers, by their 32 and 64 bits.
inline constexpr Opcode from_general_4{"vmovd", 1, 1, 0, 0x6E, Form::two},
    from_general_8{"vmovq", 1, 1, 1, 0x6E, Form::two};
inline constexpr Opcode to_general_4{"vmovd", 1, 1, 0, 0x7E, Form::store},
    to_general_8{"vmovq", 1, 1, 1, 0x7E, Form::store};
inline constexpr auto half = Opcode::First::half, general = Opcode::First::general;
inline constexpr Opcode vex_cvtdq2pd{"vcvtdq2pd", 2, 1, 0, 0xE6, Form::two, 0, false, 2},
    vex_cvtps2pd{"vcvtps2pd", 0, 1, 0, 0x5A, Form::two, 0, false, 2},
    vex_cvtpd2ps{"vcvtpd2ps", 1, 1, 0, 0x5A, Form::two, 0, false, 1, half},
    vex_cvttpd2dq{"vcvttpd2dq", 1, 1, 0, 0xE6, Form::two, 0, false, 1, half};
inline constexpr Opcode cvtsi2ss{"vcvtsi2ss", 2, 1, 1, 0x2A}, cvtsi2sd{"vcvtsi2sd", 3, 1, 1, 0x2A};
inline constexpr Opcode cvttss2si{"vcvttss2si", 2, 1, 1, 0x2C, Form::two, 0, false, 1, general},
    cvttsd2si{"vcvttsd2si", 3, 1, 1, 0x2C, Form::two, 0, false, 1, general};
inline constexpr Opcode widen_signed{"vpmovsxdq", 1, 2, 0, 0x25, Form::two, 0, false, 2},
    widen_unsigned{"vpmovzxdq", 1, 2, 0, 0x35, Form::two, 0, false, 2};
inline constexpr Opcode widen_words{"vpmovzxwd", 1, 2, 0, 0x33, Form::two, 0, false, 2};
inline constexpr Opcode vex_cvtph2ps{"vcvtph2ps", 1, 2, 0, 0x13, Form::two, 0, false, 2},
    vex_cvtps2ph{"vcvtps2ph", 1, 3, 0, 0x1D, Form::store, 0, false, 2};
inline constexpr Opcode test{"vptest", 1, 2, 0, 0x17, Form::two};

// The predicates of vcmpps that give false for NaN, and `not equal`, which gives true; quiet.
// `swapped`: of operands that have changed places.
constexpr std::uint8_t predicate(Code code, bool swapped = false) {
  switch (code) {
    case Code::equal: return 0x00;
    case Code::not_equal: return 0x04;
    case Code::less: return swapped ? 0x1E : 0x11;
    default: return swapped ? 0x1D : 0x12;
  }
}
// The predicates of vpcmpd.
constexpr std::uint8_t integer_predicate(Code code, bool swapped = false) {
  switch (code) {
    case Code::equal: return 0;
    case Code::not_equal: return 4;
    case Code::less: return swapped ? 6 : 1;
    default: return swapped ? 5 : 2;
  }
}

// The instruction of a node whose operands are of `kind`, of AVX2 and of AVX-512; null where there
// is none.
const Opcode* find(Code code, Kind kind);
const Opcode* find_evex(Code code, Kind kind);
// The opcodes that convert numbers, for AVX2 (and F16C) also truth values to longer ones.
const Opcode* find_conversion(Kind from, Kind to);
const Opcode* find_evex_conversion(Kind from, Kind to);

}  // namespace shardax::codegen::opcodes
