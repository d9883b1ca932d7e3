// codegen/arm64/encoder.h - instructions of AArch64 as words, and as text.
//
// A function's body is written first. finish() then puts its start, its end and the constants that
// it reads around it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/index.h"
#include "codegen/arm64/opcodes.h"

namespace shardax::codegen::arm64 {

// A general register, x0 to x30; 31 is the stack's address or zero, as the instruction has it.
struct General {
  std::uint8_t number;
  bool operator==(const General&) const = default;
};
inline constexpr General stack{31}, zero{31};

// Of signed numbers, and of unsigned ones.
enum class Condition : std::uint8_t {
  equal = 0,
  not_equal = 1,
  above = 8,
  below_equal = 9,
  greater_equal = 10,
  less = 11,
  greater = 12,
  less_equal = 13
};
constexpr Condition opposite(Condition c) {
  return static_cast<Condition>(static_cast<std::uint8_t>(c) ^ 1);
}

// [base + offset]
struct Address {
  General base;
  std::int64_t offset = 0;
};

// An instruction of three general registers.
struct GeneralOpcode {
  std::string_view name;
  std::uint32_t bits;
};
namespace opcodes {
inline constexpr GeneralOpcode add_register{"add", 0x0B000000}, sub_register{"sub", 0x4B000000},
    and_register{"and", 0x0A000000}, or_register{"orr", 0x2A000000},
    xor_register{"eor", 0x4A000000}, multiply{"mul", 0x1B007C00}, divide{"udiv", 0x1AC00800},
    divide_signed{"sdiv", 0x1AC00C00}, shift_left{"lsl", 0x1AC02000},
    shift_right{"lsr", 0x1AC02400}, shift_right_signed{"asr", 0x1AC02800};
}  // namespace opcodes

// The numbers that code reads, each of 16 bytes.
struct Quad {
  std::uint64_t low, high;
  bool operator==(const Quad&) const = default;
};

class Encoder {
 public:
  // With a listing, each instruction is written down too: "offset: text", as the assembler reads
  // it.
  explicit Encoder(bool lists = false) : lists_(lists) {}
  bool lists() const { return lists_; }

  // ---- vectors
  void vector(const Opcode& op, Arrangement a, Vector d, Vector n, Vector m);
  void vector(const Opcode& op, Arrangement a, Vector d, Vector n);
  // The product of the high halves.
  void upper_product(const Opcode& op, Arrangement a, Vector d, Vector n, Vector m);
  void shift(const Opcode& op, Arrangement a, Vector d, Vector n, std::uint64_t by);
  void move(Vector d, Vector n);
  void duplicate(Arrangement a, Vector d, Vector n, int lane = 0);
  void duplicate(Arrangement a, Vector d, General n);
  void look_up(Vector d, Vector n, Vector m);
  void small_number(Arrangement a, Vector d, std::uint32_t value);
  // Bytes 1, 2, 4, 8 or 16 of a register; a load clears the others.
  void load(Vector d, const Address& from, int bytes);
  void store(Vector d, const Address& to, int bytes);
  // One number for all lanes.
  void load_all(Arrangement a, Vector d, General from);
  // A constant.
  void load(Vector d, const Quad& constant);
  // The low bits.
  void to_general(General d, Vector n, bool wide);
  // An integer as a float in the low bits of a register, and a float towards zero.
  void integer_to_float(Vector d, General n, bool wide_float, bool wide, bool has_sign);
  void float_to_integer(General d, Vector n, bool wide_float, bool wide, bool has_sign);

  // ---- general registers
  void load(General d, const Address& from, int bytes = 8);
  void store(General d, const Address& to, int bytes = 8);
  void set(General d, std::uint64_t value);
  void move(General d, General n);
  void add(General d, General n, std::int64_t value);  // |value| < 2^24
  void add_shifted(General d, General n, General m, int bits);
  void compare(General n, General m, bool wide);
  void compare(General n, std::uint32_t value, bool wide);  // < 2^12
  void general(const GeneralOpcode& op, General d, General n, General m, bool wide = true);
  void select(General d, General n, General m, Condition holds, bool wide = true);  // n, else m
  void all_ones_if(General d, Condition holds);                                     // of 32 bits
  void shift(const GeneralOpcode& op, General d, General n, int bits, bool wide);
  void subtract_product(General d, General n, General m, General a, bool wide);  // a - n * m
  void multiply_words(General d, General n, General m, bool has_sign);  // 64 bits of 32-bit numbers
  void extend_sign(General d, General n);                               // from 32 bits
  void subtract_and_compare(General d, General n, std::uint32_t value);  // with zero; < 2^12
  void call(General target);
  void ret();
  void two(bool stores, bool vectors, int first, int second, const Address& at);

  // The position of the next instruction, and jumps to such a position. A jump forward is landed
  // later: land(jump()) makes it lead to the next instruction.
  std::size_t here() const { return words_.size(); }
  void jump_back(Condition condition, std::size_t target);
  void jump_back(std::size_t target);
  void jump_back_if(bool is_zero, General n, bool wide, std::size_t target);
  std::size_t jump(Condition condition);
  std::size_t jump();
  std::size_t jump_if(bool is_zero, General n, bool wide);  // is it zero, or is it not?
  std::size_t call_later();                                 // of what follows where it lands
  void land(std::size_t jump);

  // Puts the instructions of another encoder before those of this one.
  void put_before(const Encoder& start);

  // The code, then the constants that it reads.
  std::vector<std::uint8_t> finish(std::string* listing);

 private:
  template <class Text>
  void put(std::uint32_t word, Text&& text) {
    words_.push_back(word);
    if (lists_) texts_.push_back(text());
  }
  void jump_to(std::size_t at, std::size_t target);

  struct Reference {
    std::size_t at;
    std::size_t entry;
  };
  bool lists_;
  std::vector<std::uint32_t> words_;
  std::vector<std::string> texts_;  // of a jump, without where it leads
  std::vector<Reference> references_;
  std::vector<Quad> pool_;
};

}  // namespace shardax::codegen::arm64
