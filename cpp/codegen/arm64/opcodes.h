// codegen/arm64/opcodes.h - the instructions of vector registers in use, as words.
//
// A word has 32 bits (Arm's reference manual, chapter C4): an opcode, the registers, and for
// vectors how they are divided, which is an Arrangement. All functions are pure and compile on
// every machine; tests/codegen compares them with the system's assembler.
#pragma once

#include <cstdint>
#include <string_view>

namespace shardax::codegen::arm64 {

// A vector register, v0 to v31.
struct Vector {
  std::uint8_t number;
};

// The lanes of a register: elements of 1 << size bytes in all 16 bytes, or in the low 8.
struct Arrangement {
  std::uint8_t size;
  bool whole = true;
};

enum class Form : std::uint8_t {
  same,          // all operands have one arrangement
  floats,        // the same of floats, whose size is one bit
  bytes,         // the same of bits
  narrow,        // elements of the result are half as wide; the arrangement is the result's
  narrow_float,  // the same of floats
  widen,         // twice as wide; the arrangement is the operands'
  widen_float,
  widen_bits,  // a shift by no bits
};

struct Opcode {
  std::string_view name;
  std::uint32_t bits;
  Form form = Form::same;
};

namespace opcodes {

inline constexpr Opcode add{"add", 0x0E208400}, sub{"sub", 0x2E208400}, mul{"mul", 0x0E209C00},
    smax{"smax", 0x0E206400}, smin{"smin", 0x0E206C00}, umin{"umin", 0x2E206C00},
    cmeq{"cmeq", 0x2E208C00}, cmgt{"cmgt", 0x0E203400}, cmhi{"cmhi", 0x2E203400},
    sshl{"sshl", 0x0E204400}, ushl{"ushl", 0x2E204400}, uzp1{"uzp1", 0x0E001800},
    uzp2{"uzp2", 0x0E005800};
inline constexpr Opcode neg{"neg", 0x2E20B800};
inline constexpr Opcode bit_and{"and", 0x0E201C00, Form::bytes},
    bit_or{"orr", 0x0EA01C00, Form::bytes}, bit_xor{"eor", 0x2E201C00, Form::bytes},
    bsl{"bsl", 0x2E601C00, Form::bytes}, bit{"bit", 0x2EA01C00, Form::bytes},
    bif{"bif", 0x2EE01C00, Form::bytes}, mvn{"mvn", 0x2E205800, Form::bytes};
inline constexpr Opcode fadd{"fadd", 0x0E20D400, Form::floats},
    fsub{"fsub", 0x0EA0D400, Form::floats}, fmul{"fmul", 0x2E20DC00, Form::floats},
    fdiv{"fdiv", 0x2E20FC00, Form::floats}, fmla{"fmla", 0x0E20CC00, Form::floats},
    fcmeq{"fcmeq", 0x0E20E400, Form::floats}, fcmge{"fcmge", 0x2E20E400, Form::floats},
    fcmgt{"fcmgt", 0x2EA0E400, Form::floats};
inline constexpr Opcode fsqrt{"fsqrt", 0x2EA1F800, Form::floats},
    frintn{"frintn", 0x0E218800, Form::floats}, frintm{"frintm", 0x0E219800, Form::floats},
    frintp{"frintp", 0x0EA18800, Form::floats}, frintz{"frintz", 0x0EA19800, Form::floats},
    fcvtzs{"fcvtzs", 0x0EA1B800, Form::floats}, fcvtzu{"fcvtzu", 0x2EA1B800, Form::floats},
    scvtf{"scvtf", 0x0E21D800, Form::floats}, ucvtf{"ucvtf", 0x2E21D800, Form::floats};
inline constexpr Opcode xtn{"xtn", 0x0E212800, Form::narrow},
    sqxtn{"sqxtn", 0x0E214800, Form::narrow}, uqxtn{"uqxtn", 0x2E214800, Form::narrow},
    fcvtn{"fcvtn", 0x0E216800, Form::narrow_float}, fcvtl{"fcvtl", 0x0E217800, Form::widen_float};
inline constexpr Opcode sxtl{"sxtl", 0x0F00A400, Form::widen_bits},
    uxtl{"uxtl", 0x2F00A400, Form::widen_bits};
// Of the low halves, and of the high ones.
inline constexpr Opcode smull{"smull", 0x0E20C000, Form::widen},
    umull{"umull", 0x2E20C000, Form::widen};
// By a number of bits.
inline constexpr Opcode shl{"shl", 0x0F005400}, sshr{"sshr", 0x0F000400}, ushr{"ushr", 0x2F000400},
    shrn{"shrn", 0x0F008400, Form::narrow};

}  // namespace opcodes

// The bits that say what an instruction's elements are.
constexpr std::uint32_t divided(Form form, Arrangement a) {
  const std::uint32_t whole = a.whole ? std::uint32_t{1} << 30 : 0;
  const std::uint32_t size = a.size;
  switch (form) {
    case Form::same:
    case Form::narrow:
    case Form::widen: return whole | size << 22;
    case Form::floats: return whole | (size == 3 ? 1u : 0u) << 22;
    case Form::narrow_float:
    case Form::widen_float: return whole | (size == 2 ? 1u : 0u) << 22;
    case Form::widen_bits: return whole | (8u << size) << 16;
    case Form::bytes: return whole;
  }
  return 0;
}

constexpr std::uint32_t registers(Vector d, Vector n, Vector m = {0}) {
  return std::uint32_t{m.number} << 16 | std::uint32_t{n.number} << 5 | d.number;
}

constexpr std::uint32_t word(const Opcode& op, Arrangement a, Vector d, Vector n, Vector m = {0}) {
  return op.bits | divided(op.form, a) | registers(d, n, m);
}

// Shifts say their elements and how far in one number; those to the right count from its top.
constexpr std::uint32_t shift_word(const Opcode& op, Arrangement a, Vector d, Vector n,
                                   std::uint32_t by) {
  const std::uint32_t width = 8u << a.size;
  const std::uint32_t number = op.bits == opcodes::shl.bits ? width + by : 2 * width - by;
  return op.bits | (a.whole ? std::uint32_t{1} << 30 : 0) | number << 16 | registers(d, n);
}

// Bytes of n and the register after it, as the bytes of m say.
constexpr std::uint32_t table_word(Vector d, Vector n, Vector m) {
  return 0x4E002000 | registers(d, n, m);
}

// One lane in all.
constexpr std::uint32_t dup_word(Arrangement a, Vector d, Vector n, std::uint32_t lane) {
  return 0x0E000400 | (a.whole ? std::uint32_t{1} << 30 : 0) | (2 * lane + 1) << a.size << 16 |
         registers(d, n);
}

// A small number in all bytes, or in all words of 32 bits.
constexpr std::uint32_t movi_word(Arrangement a, Vector d, std::uint32_t value) {
  return (a.size == 0 ? 0x4F00E400 : 0x4F000400) | (value >> 5 & 7) << 16 | (value & 31) << 5 |
         d.number;
}

}  // namespace shardax::codegen::arm64
