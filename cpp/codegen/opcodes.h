// codegen/opcodes.h - the vector instructions in use, and those of each node.
#pragma once

#include <array>

#include "codegen/encoder.h"
#include "codegen/program.h"

namespace shardax::codegen::opcodes {

inline constexpr auto narrow_last = Opcode::Shape::narrow_last,
                      narrow_first = Opcode::Shape::narrow_first,
                      general_first = Opcode::Shape::general_first;

inline constexpr Opcode addps{"vaddps", 0, 1, 0, 0x58}, addpd{"vaddpd", 1, 1, 0, 0x58};
inline constexpr Opcode subps{"vsubps", 0, 1, 0, 0x5C}, subpd{"vsubpd", 1, 1, 0, 0x5C};
inline constexpr Opcode mulps{"vmulps", 0, 1, 0, 0x59}, mulpd{"vmulpd", 1, 1, 0, 0x59};
inline constexpr Opcode divps{"vdivps", 0, 1, 0, 0x5E}, divpd{"vdivpd", 1, 1, 0, 0x5E};
inline constexpr Opcode maxps{"vmaxps", 0, 1, 0, 0x5F}, maxpd{"vmaxpd", 1, 1, 0, 0x5F};
inline constexpr Opcode minps{"vminps", 0, 1, 0, 0x5D}, minpd{"vminpd", 1, 1, 0, 0x5D};
inline constexpr Opcode sqrtps{"vsqrtps", 0, 1, 0, 0x51, Form::two},
    sqrtpd{"vsqrtpd", 1, 1, 0, 0x51, Form::two};
inline constexpr Opcode roundps{"vroundps", 1, 3, 0, 0x08, Form::two},
    roundpd{"vroundpd", 1, 3, 0, 0x09, Form::two};
inline constexpr Opcode cmpps{"vcmpps", 0, 1, 0, 0xC2}, cmppd{"vcmppd", 1, 1, 0, 0xC2};
inline constexpr Opcode fmadd213ps{"vfmadd213ps", 1, 2, 0, 0xA8};
inline constexpr Opcode fmadd213pd{"vfmadd213pd", 1, 2, 1, 0xA8};
inline constexpr Opcode fmadd231ps{"vfmadd231ps", 1, 2, 0, 0xB8};
inline constexpr Opcode fmadd231pd{"vfmadd231pd", 1, 2, 1, 0xB8};
inline constexpr Opcode blendvps{"vblendvps", 1, 3, 0, 0x4A}, blendvpd{"vblendvpd", 1, 3, 0, 0x4B};
inline constexpr Opcode paddd{"vpaddd", 1, 1, 0, 0xFE}, paddq{"vpaddq", 1, 1, 0, 0xD4};
inline constexpr Opcode psubd{"vpsubd", 1, 1, 0, 0xFA}, psubq{"vpsubq", 1, 1, 0, 0xFB};
inline constexpr Opcode pmulld{"vpmulld", 1, 2, 0, 0x40};
inline constexpr Opcode pand{"vpand", 1, 1, 0, 0xDB};
inline constexpr Opcode por{"vpor", 1, 1, 0, 0xEB}, pxor{"vpxor", 1, 1, 0, 0xEF};
inline constexpr Opcode pcmpeqd{"vpcmpeqd", 1, 1, 0, 0x76}, pcmpeqq{"vpcmpeqq", 1, 2, 0, 0x29};
inline constexpr Opcode pcmpgtd{"vpcmpgtd", 1, 1, 0, 0x66}, pcmpgtq{"vpcmpgtq", 1, 2, 0, 0x37};
inline constexpr Opcode pslld{"vpslld", 1, 1, 0, 0x72, Form::shift, 6},
    psllq{"vpsllq", 1, 1, 0, 0x73, Form::shift, 6};
inline constexpr Opcode psrld{"vpsrld", 1, 1, 0, 0x72, Form::shift, 2},
    psrlq{"vpsrlq", 1, 1, 0, 0x73, Form::shift, 2};
inline constexpr Opcode psrad{"vpsrad", 1, 1, 0, 0x72, Form::shift, 4};
inline constexpr Opcode cvtdq2ps{"vcvtdq2ps", 0, 1, 0, 0x5B, Form::two};
inline constexpr Opcode load{"vmovups", 0, 1, 0, 0x10, Form::two},
    store{"vmovups", 0, 1, 0, 0x11, Form::store};
inline constexpr Opcode store_low{"vmovq", 1, 1, 0, 0xD6, Form::store},
    store_lowest{"vmovd", 1, 1, 0, 0x7E, Form::store};
inline constexpr Opcode widen_bytes_to_4{"vpmovzxbd", 1, 2, 0, 0x31, Form::two};
inline constexpr Opcode widen_bytes_to_8{"vpmovzxbq", 1, 2, 0, 0x32, Form::two};
inline constexpr Opcode psubb{"vpsubb", 1, 1, 0, 0xF8};
inline constexpr Opcode upper_half{"vextracti128", 1, 3, 0, 0x39, Form::store};
inline constexpr Opcode pack_to_2{"vpackssdw", 1, 1, 0, 0x6B};
inline constexpr Opcode pack_to_1{"vpacksswb", 1, 1, 0, 0x63};
inline constexpr Opcode shuffle{"vshufps", 0, 1, 0, 0xC6};

// Those of code with branches, whose numbers are of several widths.
inline constexpr Opcode broadcast_1{"vpbroadcastb", 1, 2, 0, 0x78, Form::two, 0, narrow_last},
    broadcast_2{"vpbroadcastw", 1, 2, 0, 0x79, Form::two, 0, narrow_last},
    broadcast_4{"vpbroadcastd", 1, 2, 0, 0x58, Form::two, 0, narrow_last},
    broadcast_8{"vpbroadcastq", 1, 2, 0, 0x59, Form::two, 0, narrow_last};
inline constexpr Opcode store_1{"vpextrb", 1, 3, 0, 0x14, Form::store},
    store_2{"vpextrw", 1, 3, 0, 0x15, Form::store};
// Between vector and general registers, by their 32 and 64 bits.
inline constexpr Opcode from_general_4{"vmovd", 1, 1, 0, 0x6E, Form::two},
    from_general_8{"vmovq", 1, 1, 1, 0x6E, Form::two};
inline constexpr Opcode to_general_4{"vmovd", 1, 1, 0, 0x7E, Form::store},
    to_general_8{"vmovq", 1, 1, 1, 0x7E, Form::store};
inline constexpr Opcode cvtdq2pd{"vcvtdq2pd", 2, 1, 0, 0xE6, Form::two, 0, narrow_last},
    cvtps2pd{"vcvtps2pd", 0, 1, 0, 0x5A, Form::two, 0, narrow_last},
    cvtpd2ps{"vcvtpd2ps", 1, 1, 0, 0x5A, Form::two, 0, narrow_first},
    cvttps2dq{"vcvttps2dq", 2, 1, 0, 0x5B, Form::two},
    cvttpd2dq{"vcvttpd2dq", 1, 1, 0, 0xE6, Form::two, 0, narrow_first};
inline constexpr Opcode cvtsi2ss{"vcvtsi2ss", 2, 1, 1, 0x2A}, cvtsi2sd{"vcvtsi2sd", 3, 1, 1, 0x2A};
inline constexpr Opcode cvttss2si{"vcvttss2si", 2, 1, 1, 0x2C, Form::two, 0, general_first},
    cvttsd2si{"vcvttsd2si", 3, 1, 1, 0x2C, Form::two, 0, general_first};
inline constexpr Opcode widen_signed{"vpmovsxdq", 1, 2, 0, 0x25, Form::two, 0, narrow_last},
    widen_unsigned{"vpmovzxdq", 1, 2, 0, 0x35, Form::two, 0, narrow_last};
inline constexpr Opcode test{"vptest", 1, 2, 0, 0x17, Form::two};

// The predicates of vcmpps that give false for NaN, and `not equal`, which gives true; quiet.
inline constexpr std::uint8_t equal = 0x00, less = 0x11, less_equal = 0x12, not_equal = 0x04;

// The instruction of a node whose operands are of `kind`; null where there is none.
const Opcode* find(Code code, Kind kind);

}  // namespace shardax::codegen::opcodes
