// codegen/opcodes.h - the vector instructions in use, and those of each node.
#pragma once

#include <array>

#include "codegen/encoder.h"
#include "codegen/program.h"

namespace shardax::codegen::opcodes {

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

// The predicates of vcmpps that give false for NaN, and `not equal`, which gives true; quiet.
inline constexpr std::uint8_t equal = 0x00, less = 0x11, less_equal = 0x12, not_equal = 0x04;

// The instruction of a node whose operands are of `kind`; null where there is none.
const Opcode* find(Code code, Kind kind);

}  // namespace shardax::codegen::opcodes
