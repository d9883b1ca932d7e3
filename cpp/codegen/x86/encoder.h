// codegen/x86/encoder.h - instructions of x86-64 as bytes.
//
// Vector instructions have the VEX form with three bytes of prefix (Intel's manual, volume 2,
// section 2.3), which every processor with AVX2 knows. Those of AVX-512 have the EVEX form with
// four (section 2.7). It has 32 registers of 512 bits, masks, and constants that are broadcast as
// they are read. A table gives each its prefix, opcode map, W bit and opcode. tests/codegen
// compares all of them with the system's assembler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/vector/program.h"

namespace shardax::codegen {

// The operands of an instruction: the register of ModRM, that of the prefix, and the last, a
// register or memory.
enum class Form : std::uint8_t {
  three,       // reg = f(second, last)
  two,         // reg = f(last)
  narrow,      // the same, reg with half of the bytes
  store,       // last = f(reg)
  shift,       // second = f(last); `extension` is in the register's field
  compare,     // mask register reg = f(second, last)
  mask_three,  // the same of mask registers alone
  mask_two,
  mask_store,
  from_mask,  // vector register reg = f(mask register last)
};

// pp: 0 none, 1 66, 2 F3, 3 F2; map: 1 0F, 2 0F38, 3 0F3A. `w` where VEX ignores it is that of
// EVEX.
struct Opcode {
  std::string_view name;
  std::uint8_t pp, map, w, code;
  Form form = Form::three;
  std::uint8_t extension = 0;
  bool evex = false;      // has no VEX form of that name
  std::uint8_t part = 1;  // the bytes of a vector over those of the last operand
  // The first operand: a vector, half of one, or a general register.
  enum class First : std::uint8_t { vector, half, general } first{};
};

// General registers, by their numbers.
enum class General : std::uint8_t {
  rax,
  rcx,
  rdx,
  rbx,
  rsp,
  rbp,
  rsi,
  rdi,
  r8,
  r9,
  r10,
  r11,
  r12,
  r13,
  r14,
  r15,
};

// An instruction of general registers. `escaped`: its opcode follows 0F.
struct GeneralOpcode {
  std::string_view name;
  std::uint8_t code;
  Form form = Form::two;  // two: reg = f(reg, last); store: last = f(reg); shift: last = f(last)
  std::uint8_t extension = 0;
  bool escaped = false;
  bool narrow_last = false;  // the last operand has 32 bits
};

struct Vector {
  std::uint8_t number;  // 0 to 15, with EVEX to 31
};
using Mask = std::uint8_t;  // 1 to 7; 0: none

// Vector registers, by their bytes.
enum class Size : std::uint8_t { xmm = 16, ymm = 32, zmm = 64 };

// Conditions after a comparison: less and greater of signed numbers, below of unsigned ones.
enum class Condition : std::uint8_t {
  below = 2,
  zero = 4,
  nonzero = 5,
  below_equal = 6,
  less = 12,
  greater_equal = 13,
  less_equal = 14,
  greater = 15
};
constexpr Condition opposite(Condition c) {
  return static_cast<Condition>(static_cast<std::uint8_t>(c) ^ 1);
}

// [base + index * scale + offset]
struct Address {
  General base;
  std::int32_t offset = 0;
  bool indexed = false;
  General index = General::rcx;
  int scale = 1;
  Mask guard = 0;  // elements that it leaves out are not touched, and zero in a result
};

class Encoder {
 public:
  // With a listing, each instruction is written down too: "offset: text", in Intel's syntax.
  explicit Encoder(std::string* listing = nullptr) : listing_(listing) {}

  // The last operand of a vector instruction.
  struct Operand {
    enum class Is { vector, memory, pool, table, general } is;
    Vector vector{};
    General general{};
    Address address{};
    std::size_t entry = 0;   // of the pool of constants, or the tables
    bool broadcast = false;  // one number for all lanes
    Operand(Vector v) : is(Is::vector), vector(v) {}
    Operand(Address a) : is(Is::memory), address(a) {}
    Operand(General g) : is(Is::general), general(g) {}
    static Operand constant(std::size_t entry, bool broadcast = false) {
      Operand out{Vector{0}};
      out.is = Is::pool;
      out.entry = entry;
      out.broadcast = broadcast;
      return out;
    }
    static Operand table(std::size_t entry) {
      Operand out = constant(entry);
      out.is = Is::table;
      return out;
    }
  };

  // One vector instruction; without an operand of the prefix, register 0 stands for `second`.
  // `mask`: which lanes a blend takes from `last`.
  void vector(const Opcode& op, std::uint8_t reg, Vector second, const Operand& last,
              Size size = Size::ymm, Mask mask = 0);
  // The byte that ends the instruction before.
  void immediate(std::uint8_t value);

  // dst = [address], 64 bits.
  void load(General dst, const Address& address);
  void clear(General dst);                    // dst = 0
  void set(General dst, std::int32_t value);  // dst = value
  void add(General dst, std::int32_t value);  // dst += value
  void move(General dst, General from);
  void subtract(General dst, General from);   // dst -= from
  void low_bits(General dst, General count);  // clears the bits of dst from `count` on (BMI2)
  void mask_from_general(Mask k, General from, int bits);  // its 8, 16 or 32 low bits
  // The code starts with room on the stack, and ends by giving it back; how much is known then.
  void open_frame();
  void close_frame(std::int32_t bytes);
  void compare(General a, General b);
  // The start of a loop, and jumps: back to a known position, or forward. land() later lets the
  // jump that jump() returned lead to the next instruction.
  std::size_t here() const { return code_.size(); }
  void jump_below(std::size_t target) { jump_back(Condition::below, target); }
  void jump_back(Condition condition, std::size_t target);
  void jump_back(std::size_t target);
  std::size_t jump(Condition condition);
  void land(std::size_t jump);
  void zero_upper();
  void ret();

  // ---- for code with branches and calls (encoder_general.cpp) ---------------------------------
  // `wide`: 64 bits, else 32.
  void general(const GeneralOpcode& op, General reg, const Operand& last, bool wide = true);
  // The same with a number of 32 bits, or of 8, at its end.
  void general(const GeneralOpcode& op, General reg, const Operand& last, bool wide,
               std::int32_t value, int value_bytes = 4);
  void set_wide(General dst, std::uint64_t value);
  void call(General target);
  void push(General r);
  void pop(General r);
  void sign_into_rdx(bool wide);  // rdx:rax = rax
  std::size_t jump();
  std::size_t call();  // of what follows where it lands

  // The code, then the constants that it reads, `stride` bytes filled with copies of each; then
  // tables, each twice, which fills the longest register.
  std::vector<std::uint8_t> finish(const std::vector<std::uint64_t>& pool, std::size_t stride,
                                   const std::vector<Table>& tables);

 private:
  void byte(std::uint8_t b) { code_.push_back(b); }
  void patch(std::size_t at, std::int32_t value);
  void list(std::size_t start, const std::string& text);
  void amend(const std::string& text);
  void word(std::int32_t value);
  void vex(const Opcode& op, std::uint8_t reg, Vector second, const Operand& last, bool wide);
  void evex(const Opcode& op, std::uint8_t reg, Vector second, const Operand& last, Size size,
            Mask mask);
  void modrm(std::uint8_t reg, const Operand& last, int unit = 1);
  void pair(std::uint8_t opcode, General reg, General last);
  std::size_t leap(std::uint8_t opcode, const char* name);

  struct Reference {
    std::size_t at;  // of the four bytes
    std::size_t entry;
    bool table;
    std::size_t end;  // of the instruction, from which the distance counts
  };
  std::vector<std::uint8_t> code_;
  std::string* listing_;
  std::vector<Reference> references_;
};

}  // namespace shardax::codegen
