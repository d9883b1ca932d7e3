// codegen/encoder.h - instructions of x86-64 as bytes.
//
// Vector instructions have the VEX form with three bytes of prefix (Intel's manual, volume 2,
// section 2.3), which every processor with AVX2 knows: a table gives each its prefix, opcode map,
// W bit and opcode. tests/codegen compares all of them with the system's assembler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardax::codegen {

// Which operands an instruction has: the register of ModRM, that of the prefix, and the last, a
// register or memory.
enum class Form : std::uint8_t {
  three,  // reg = f(second, last)
  two,    // reg = f(last)
  store,  // last = f(reg)
  shift,  // second = f(last); `extension` is in the register's field
};

// pp: 0 none, 1 66, 2 F3, 3 F2; map: 1 0F, 2 0F38, 3 0F3A.
struct Opcode {
  std::string_view name;
  std::uint8_t pp, map, w, code;
  Form form = Form::three;
  std::uint8_t extension = 0;
  // Where it differs: the last operand or the first is half a register, or the first a general one.
  enum class Shape : std::uint8_t { same, narrow_last, narrow_first, general_first } shape{};
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

// An instruction of general registers. `escaped`: its opcode follows 0F; `prefix`: 66, or none.
struct GeneralOpcode {
  std::string_view name;
  std::uint8_t code;
  Form form = Form::two;  // two: reg = f(reg, last); store: last = f(reg); shift: last = f(last)
  std::uint8_t extension = 0;
  bool escaped = false;
  std::uint8_t prefix = 0;
};
// Conditions of jumps, by their codes.
enum class When : std::uint8_t { below = 2, zero = 4, nonzero = 5, below_or_equal = 6 };

struct Vector {
  std::uint8_t number;  // 0 to 15
};

// [base + index * scale + offset]
struct Address {
  General base;
  std::int32_t offset = 0;
  bool indexed = false;
  General index = General::rcx;
  int scale = 1;
};

class Encoder {
 public:
  // With a listing, each instruction is written down too: "offset: text", in Intel's syntax.
  explicit Encoder(std::string* listing = nullptr) : listing_(listing) {}

  // What the last operand of a vector instruction may be.
  struct Operand {
    enum class Is { vector, memory, pool, general } is;
    Vector vector{};
    General general{};
    Address address{};
    std::size_t entry = 0;  // of the pool of constants
    Operand(Vector v) : is(Is::vector), vector(v) {}
    Operand(Address a) : is(Is::memory), address(a) {}
    Operand(General g) : is(Is::general), general(g) {}
    static Operand constant(std::size_t entry) {
      Operand out{Vector{0}};
      out.is = Is::pool;
      out.entry = entry;
      return out;
    }
  };

  // One vector instruction; without an operand of the prefix, register 0 stands for `second`.
  // `wide`: 256 bits, else 128.
  void vector(const Opcode& op, std::uint8_t reg, Vector second, const Operand& last,
              bool wide = true);
  // The byte that ends the instruction before.
  void immediate(std::uint8_t value);

  // dst = [address], 64 bits.
  void load(General dst, const Address& address);
  void clear(General dst);                    // dst = 0
  void add(General dst, std::int32_t value);  // dst += value
  // The code starts with room on the stack, and ends by giving it back; how much is known then.
  void open_frame();
  void close_frame(std::int32_t bytes);
  void compare(General a, General b);
  // Where a loop starts, and the jump back to it while a < b (unsigned).
  std::size_t here() const { return code_.size(); }
  void jump_below(std::size_t target);
  void zero_upper();
  void ret();

  // ---- for code with branches and calls (encoder_general.cpp) -------------------------------
  // `wide`: 64 bits, else 32.
  void general(const GeneralOpcode& op, General reg, const Operand& last, bool wide = true);
  // The same with a number of 32 bits, or of 8, at its end.
  void general(const GeneralOpcode& op, General reg, const Operand& last, bool wide,
               std::int32_t value, int value_bytes = 4);
  void set(General dst, std::uint64_t value);
  void call(General target);
  void push(General r);
  void pop(General r);
  void sign_into_rdx(bool wide);  // rdx:rax = rax
  // A jump to a place that `land` gives it later, and one back to `target`.
  std::size_t jump();
  std::size_t jump(When when);
  std::size_t call();
  void land(std::size_t jump);
  void jump_back(std::size_t target);
  void jump_back(When when, std::size_t target);

  // The code, then the constants that it reads, 32 bytes each.
  std::vector<std::uint8_t> finish(const std::vector<std::uint64_t>& pool, int width);

 private:
  void byte(std::uint8_t b) { code_.push_back(b); }
  void patch(std::size_t at, std::int32_t value);
  void list(std::size_t start, const std::string& text);
  void amend(const std::string& text);
  void word(std::int32_t value);
  void modrm(std::uint8_t reg, const Operand& last);
  std::size_t distance(std::size_t start, const char* name, std::int64_t target);

  struct Reference {
    std::size_t at;  // of the four bytes
    std::size_t entry;
    std::size_t end;  // of the instruction, from which the distance counts
  };
  std::vector<std::uint8_t> code_;
  std::string* listing_;

  std::vector<Reference> references_;
};

}  // namespace shardax::codegen
