// codegen/x86/encoder.cpp - prefixes, ModRM bytes, displacements.
#include "codegen/x86/encoder.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "codegen/x86/encoder_text.h"

namespace shardax::codegen {
namespace {

constexpr int log2(int scale) { return scale == 8 ? 3 : scale == 4 ? 2 : scale == 2 ? 1 : 0; }

constexpr std::string_view names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                      "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
}  // namespace

std::string text(std::int64_t value) {
  char out[24];
  const auto bits = static_cast<unsigned long long>(value);
  std::snprintf(out, sizeof out, value < 0 ? "-0x%llx" : "0x%llx", value < 0 ? 0 - bits : bits);
  return out;
}
std::string text(General r, bool wide) {
  const std::string name(names[number(r)]);
  return wide ? name : number(r) < 8 ? concat("e", name.substr(1)) : concat(name, "d");
}
std::string text(const Address& a) {
  std::string out = concat("[", text(a.base));
  if (a.indexed) out += concat("+", text(a.index), "*", a.scale);
  if (a.offset < 0) out += text(std::int64_t{a.offset});
  if (a.offset > 0) out += concat("+", text(std::int64_t{a.offset}));
  return out + "]";
}
namespace {

std::string text(Vector v, Size size) {
  const char* kind = size == Size::zmm ? "zmm" : size == Size::ymm ? "ymm" : "xmm";
  return concat(kind, int{v.number});
}
std::string mask_text(int number) { return concat("k", number); }
Size part_of(Size size, int part) {
  return static_cast<Size>(std::max(static_cast<int>(size) / part, static_cast<int>(Size::xmm)));
}
std::string text(const Opcode& op, const Encoder::Operand& last, Size size) {
  switch (last.is) {
    case Encoder::Operand::Is::vector:
      return op.form >= Form::mask_three ? mask_text(last.vector.number)
                                         : text(last.vector, part_of(size, op.part));
    case Encoder::Operand::Is::memory: return text(last.address);
    case Encoder::Operand::Is::general: return text(last.general, op.w == 1);
    case Encoder::Operand::Is::table: return concat("[table ", last.entry, "]");
    default: return concat(last.broadcast ? "bcst " : "", "[constant ", last.entry, "]");
  }
}
std::string text(const Opcode& op, Vector reg, Vector second, const Encoder::Operand& last,
                 Size size, Mask mask) {
  const Mask guard = last.is == Encoder::Operand::Is::memory ? last.address.guard : Mask{0};
  const std::string under = mask    ? concat("{", mask_text(mask), "}")
                            : guard ? concat("{", mask_text(guard), "}")
                                    : "";
  const std::string at_last = text(op, last, size), zeroed = under + (guard ? "{z}" : "");
  if (op.first == Opcode::First::general)
    return concat(op.name, " ", text(General{reg.number}, op.w == 1), ",", at_last);
  if (op.first == Opcode::First::half) size = part_of(size, 2);
  switch (op.form) {
    case Form::two: return concat(op.name, " ", text(reg, size), zeroed, ",", at_last);
    case Form::narrow:
      return concat(op.name, " ", text(reg, part_of(size, 2)), zeroed, ",", at_last);
    case Form::store: return concat(op.name, " ", at_last, under, ",", text(reg, size));
    case Form::shift: return concat(op.name, " ", text(second, size), ",", at_last);
    case Form::compare:
      return concat(op.name, " ", mask_text(reg.number), under, ",", text(second, size), ",",
                    at_last);
    case Form::mask_three:
      return concat(op.name, " ", mask_text(reg.number), ",", mask_text(second.number), ",",
                    at_last);
    case Form::mask_two: return concat(op.name, " ", mask_text(reg.number), ",", at_last);
    case Form::mask_store: return concat(op.name, " ", at_last, ",", mask_text(reg.number));
    case Form::from_mask: return concat(op.name, " ", text(reg, size), ",", at_last);
    default:
      return concat(op.name, " ", text(reg, size), zeroed, ",", text(second, size), ",", at_last);
  }
}
std::string condition_text(Condition c) {
  switch (c) {
    case Condition::below: return "jb";
    case Condition::zero: return "je";
    case Condition::nonzero: return "jne";
    case Condition::below_equal: return "jbe";
    case Condition::less: return "jl";
    case Condition::greater_equal: return "jge";
    case Condition::less_equal: return "jle";
    default: return "jg";
  }
}

}  // namespace

void Encoder::list(std::size_t start, const std::string& text) {
  char offset[24];
  std::snprintf(offset, sizeof offset, "%4zx: ", start);
  *listing_ += offset + text + "\n";
}
// Adds to the last line.
void Encoder::amend(const std::string& text) { listing_->insert(listing_->size() - 1, text); }

void Encoder::word(std::int32_t value) {
  for (int i = 0; i < 4; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
}

// `unit`: the bytes that an offset of one byte counts in.
void Encoder::modrm(std::uint8_t reg, const Operand& last, int unit) {
  const auto field = static_cast<std::uint8_t>(low(reg) << 3);
  switch (last.is) {
    case Operand::Is::vector: byte(0xC0 | field | low(last.vector.number)); return;
    case Operand::Is::general: byte(0xC0 | field | low(number(last.general))); return;
    case Operand::Is::pool:
    case Operand::Is::table:  // relative to the next instruction
      byte(0x05 | field);
      references_.push_back({here(), last.entry, last.is == Operand::Is::table, here() + 4});
      word(0);
      return;
    case Operand::Is::memory: break;
  }
  const Address& a = last.address;
  const std::uint8_t base = low(number(a.base));
  const int short_offset = a.offset / unit;
  const bool fits = a.offset % unit == 0 && short_offset >= -128 && short_offset < 128;
  // No offset; one byte; four. A base of rbp or r13 has one always.
  const std::uint8_t mode = a.offset == 0 && base != 5 ? 0x00 : fits ? 0x40 : 0x80;
  if (a.indexed || base == 4) {  // a base of rsp or r12 needs the SIB byte
    byte(0x04 | mode | field);
    const std::uint8_t index = a.indexed ? low(number(a.index)) : 4;
    byte(static_cast<std::uint8_t>(log2(a.scale) << 6 | index << 3 | base));
  } else {
    byte(mode | field | base);
  }
  if (mode == 0x40) byte(static_cast<std::uint8_t>(short_offset));
  if (mode == 0x80) word(a.offset);
}

void Encoder::vector(const Opcode& op, std::uint8_t reg, Vector second, const Operand& last,
                     Size size, Mask mask) {
  if (listing_) list(here(), text(op, Vector{reg}, second, last, size, mask));
  const bool memory = last.is == Operand::Is::memory;
  const std::uint8_t last_number = last.is == Operand::Is::vector ? last.vector.number : 0;
  const bool of_masks = op.form >= Form::mask_three && op.form <= Form::mask_store;
  if (op.evex || mask != 0 || last.broadcast || (memory && last.address.guard != 0) ||
      (!of_masks && size == Size::zmm) || ((reg | second.number | last_number) & 16) != 0) {
    evex(op, reg, second, last, size, mask);
  } else {
    vex(op, reg, second, last, of_masks ? op.form == Form::mask_three : size == Size::ymm);
  }
}

void Encoder::vex(const Opcode& op, std::uint8_t reg, Vector second, const Operand& last,
                  bool wide) {
  std::uint8_t x = 0, b = 0;
  if (last.is == Operand::Is::vector) b = last.vector.number >> 3;
  if (last.is == Operand::Is::general) b = number(last.general) >> 3;
  if (last.is == Operand::Is::memory) {
    b = number(last.address.base) >> 3;
    x = last.address.indexed ? number(last.address.index) >> 3 : 0;
  }
  byte(0xC4);
  byte(static_cast<std::uint8_t>((reg >> 3 ? 0 : 0x80) | (x ? 0 : 0x40) | (b ? 0 : 0x20) | op.map));
  byte(static_cast<std::uint8_t>(op.w << 7 | (~second.number & 15) << 3 | (wide ? 4 : 0) | op.pp));
  byte(op.code);
  modrm(reg, last);
}

void Encoder::evex(const Opcode& op, std::uint8_t reg, Vector second, const Operand& last,
                   Size size, Mask mask) {
  std::uint8_t x = 0, b = 0;
  Mask guard = 0;
  if (last.is == Operand::Is::vector) {
    b = last.vector.number >> 3 & 1;
    x = last.vector.number >> 4;
  }
  if (last.is == Operand::Is::memory) {
    b = number(last.address.base) >> 3;
    x = last.address.indexed ? number(last.address.index) >> 3 : 0;
    guard = last.address.guard;
  }
  const bool shift = op.form == Form::shift;  // `reg` is part of the opcode
  const bool high = !shift && (reg >> 3 & 1), highest = !shift && (reg >> 4);
  const bool zeroes = guard != 0 && op.form != Form::store && op.form != Form::compare;
  const std::uint8_t length = size == Size::zmm ? 2 : size == Size::ymm ? 1 : 0;
  byte(0x62);
  byte(static_cast<std::uint8_t>((high ? 0 : 0x80) | (x ? 0 : 0x40) | (b ? 0 : 0x20) |
                                 (highest ? 0 : 0x10) | op.map));
  byte(static_cast<std::uint8_t>(op.w << 7 | (~second.number & 15) << 3 | 4 | op.pp));
  byte(static_cast<std::uint8_t>((zeroes ? 0x80 : 0) | length << 5 | (last.broadcast ? 0x10 : 0) |
                                 (second.number >> 4 ? 0 : 8) | (mask ? mask : guard)));
  byte(op.code);
  modrm(reg, last, static_cast<int>(size) / op.part);
}

void Encoder::immediate(std::uint8_t value) {
  if (listing_) amend(concat(",", text(std::int64_t{value})));
  if (!references_.empty() && references_.back().end == here()) ++references_.back().end;
  byte(value);
}

void Encoder::load(General dst, const Address& address) {
  if (listing_) list(here(), concat("mov ", text(dst), ",", text(address)));
  byte(static_cast<std::uint8_t>(0x48 | (number(dst) >> 3) << 2 | number(address.base) >> 3));
  byte(0x8B);
  modrm(number(dst), address);
}
void Encoder::clear(General dst) {
  if (listing_) list(here(), concat("xor ", text(dst), ",", text(dst)));
  const std::uint8_t high = number(dst) >> 3;
  byte(static_cast<std::uint8_t>(0x48 | high << 2 | high));
  byte(0x31);
  byte(static_cast<std::uint8_t>(0xC0 | low(number(dst)) << 3 | low(number(dst))));
}
void Encoder::add(General dst, std::int32_t value) {
  if (listing_) list(here(), concat("add ", text(dst), ",", text(std::int64_t{value})));
  byte(static_cast<std::uint8_t>(0x48 | number(dst) >> 3));
  byte(0x81);
  byte(0xC0 | low(number(dst)));
  word(value);
}
// One of the instructions of two general registers of 64 bits.
void Encoder::pair(std::uint8_t opcode, General reg, General last) {
  byte(static_cast<std::uint8_t>(0x48 | (number(reg) >> 3) << 2 | number(last) >> 3));
  byte(opcode);
  byte(static_cast<std::uint8_t>(0xC0 | low(number(reg)) << 3 | low(number(last))));
}
void Encoder::set(General dst, std::int32_t value) {
  if (listing_) list(here(), concat("mov ", text(dst), ",", text(std::int64_t{value})));
  byte(static_cast<std::uint8_t>(0x48 | number(dst) >> 3));
  byte(0xC7);
  byte(0xC0 | low(number(dst)));
  word(value);
}
void Encoder::move(General dst, General from) {
  if (listing_) list(here(), concat("mov ", text(dst), ",", text(from)));
  pair(0x89, from, dst);
}
void Encoder::subtract(General dst, General from) {
  if (listing_) list(here(), concat("sub ", text(dst), ",", text(from)));
  pair(0x29, from, dst);
}
void Encoder::low_bits(General dst, General count) {
  if (listing_) list(here(), concat("bzhi ", text(dst), ",", text(dst), ",", text(count)));
  constexpr Opcode bzhi{"bzhi", 0, 2, 1, 0xF5};
  vex(bzhi, number(dst), Vector{number(count)}, Vector{number(dst)}, false);
}
void Encoder::mask_from_general(Mask k, General from, int bits) {
  constexpr std::string_view halves[] = {"eax", "ecx", "edx", "ebx", "esp",  "ebp",
                                         "esi", "edi", "r8d", "r9d", "r10d", "r11d"};
  const Opcode op = bits == 8    ? Opcode{"kmovb", 1, 1, 0, 0x92}
                    : bits == 16 ? Opcode{"kmovw", 0, 1, 0, 0x92}
                                 : Opcode{"kmovd", 3, 1, 0, 0x92};
  if (listing_) list(here(), concat(op.name, " k", int{k}, ",", halves[number(from)]));
  vex(op, k, Vector{0}, Vector{number(from)}, false);
}
void Encoder::open_frame() { add(General::rsp, 0); }
void Encoder::close_frame(std::int32_t bytes) {
  constexpr std::size_t value_at = 3;
  patch(value_at, -bytes);
  add(General::rsp, bytes);
  if (!listing_) return;
  const std::string rest = listing_->substr(listing_->find('\n') + 1);
  listing_->clear();
  list(0, concat("add rsp,", text(std::int64_t{-bytes})));
  *listing_ += rest;
}
void Encoder::patch(std::size_t at, std::int32_t value) {
  std::memcpy(code_.data() + at, &value, sizeof value);
}
void Encoder::compare(General a, General b) {
  if (listing_) list(here(), concat("cmp ", text(a), ",", text(b)));
  byte(static_cast<std::uint8_t>(0x48 | (number(b) >> 3) << 2 | number(a) >> 3));
  byte(0x39);
  byte(static_cast<std::uint8_t>(0xC0 | low(number(b)) << 3 | low(number(a))));
}
void Encoder::jump_back(Condition condition, std::size_t target) {
  if (listing_) {
    list(here(), concat(condition_text(condition), " ", text(static_cast<std::int64_t>(target))));
  }
  byte(0x0F);
  byte(0x80 | static_cast<std::uint8_t>(condition));
  word(static_cast<std::int32_t>(static_cast<std::int64_t>(target) -
                                 static_cast<std::int64_t>(here() + 4)));
}
void Encoder::jump_back(std::size_t target) {
  if (listing_) list(here(), concat("jmp ", text(static_cast<std::int64_t>(target))));
  byte(0xE9);
  word(static_cast<std::int32_t>(static_cast<std::int64_t>(target) -
                                 static_cast<std::int64_t>(here() + 4)));
}
std::size_t Encoder::jump(Condition condition) {
  if (listing_) list(here(), concat(condition_text(condition), " @", here() + 6));
  byte(0x0F);
  byte(0x80 | static_cast<std::uint8_t>(condition));
  word(0);
  return here();
}
void Encoder::land(std::size_t jump) {
  patch(jump - 4, static_cast<std::int32_t>(here() - jump));
  if (!listing_) return;
  const std::string unknown = concat("@", jump, "\n");
  listing_->replace(listing_->find(unknown), unknown.size(),
                    text(static_cast<std::int64_t>(here())) + "\n");
}
void Encoder::zero_upper() {
  if (listing_) list(here(), "vzeroupper");
  for (const std::uint8_t b : {0xC5, 0xF8, 0x77}) byte(b);
}
void Encoder::ret() {
  if (listing_) list(here(), "ret");
  byte(0xC3);
}

std::vector<std::uint8_t> Encoder::finish(const std::vector<std::uint64_t>& pool,
                                          std::size_t stride, const std::vector<Table>& tables) {
  const auto align = [&](std::size_t bytes) {
    while (code_.size() % bytes != 0) byte(0xCC);
  };
  align(stride);
  const std::size_t start = code_.size();
  for (const std::uint64_t bits : pool) {
    if (listing_) list(here(), concat("constant ", text(static_cast<std::int64_t>(bits))));
    std::uint8_t value[8];
    std::memcpy(value, &bits, sizeof value);
    for (std::size_t i = 0; i < stride; ++i) byte(value[i % sizeof value]);
  }
  constexpr std::size_t table_bytes = 2 * sizeof(Table);
  if (!tables.empty()) align(table_bytes);
  const std::size_t first_table = code_.size();
  for (const Table& table : tables) {
    if (listing_) list(here(), concat("table ", table[0], " to ", table[7]));
    for (std::size_t i = 0; i < table_bytes; ++i)
      byte(reinterpret_cast<const std::uint8_t*>(table.data())[i % sizeof(Table)]);
  }
  for (const Reference& r : references_) {
    const std::size_t target =
        r.table ? first_table + r.entry * table_bytes : start + r.entry * stride;
    patch(r.at, static_cast<std::int32_t>(target) - static_cast<std::int32_t>(r.end));
  }
  if (listing_) {
    *listing_ += "bytes ";
    for (const std::uint8_t b : code_) {
      char digits[4];
      std::snprintf(digits, sizeof digits, "%02x", b);
      *listing_ += digits;
    }
    *listing_ += "\n";
  }
  return std::move(code_);
}

}  // namespace shardax::codegen
