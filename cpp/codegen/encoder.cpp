// codegen/encoder.cpp - prefixes, ModRM bytes, displacements.
#include "codegen/encoder.h"

#include <cstdio>
#include <cstring>
#include <utility>

#include "base/errors.h"
#include "codegen/encoder_text.h"

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
  const std::string index = a.indexed ? concat("+", text(a.index), "*", a.scale) : "";
  return concat("[", text(a.base), index, a.offset < 0 ? "" : "+", text(std::int64_t{a.offset}),
                "]");
}
std::string text(Vector v, bool wide) { return concat(wide ? "ymm" : "xmm", int{v.number}); }
std::string text(const Encoder::Operand& last, bool wide) {
  switch (last.is) {
    case Encoder::Operand::Is::vector: return text(last.vector, wide);
    case Encoder::Operand::Is::memory: return text(last.address);
    case Encoder::Operand::Is::general: return text(last.general, wide);
    default: return concat("[constant ", last.entry, "]");
  }
}
namespace {

std::string text(const Opcode& op, Vector reg, Vector second, const Encoder::Operand& last,
                 bool wide) {
  // The upper half of a register is a register of 128 bits.
  const bool narrow_last = op.shape == Opcode::Shape::narrow_last || op.name == "vextracti128";
  const bool general = last.is == Encoder::Operand::Is::general;
  const std::string at_last = text(last, general ? op.w == 1 : wide && !narrow_last);
  if (op.shape == Opcode::Shape::general_first)
    return concat(op.name, " ", text(General{reg.number}, op.w == 1), ",", at_last);
  if (op.shape == Opcode::Shape::narrow_first) wide = false;
  switch (op.form) {
    case Form::two: return concat(op.name, " ", text(reg, wide), ",", at_last);
    case Form::store: return concat(op.name, " ", at_last, ",", text(reg, wide));
    case Form::shift: return concat(op.name, " ", text(second, wide), ",", at_last);
    default: return concat(op.name, " ", text(reg, wide), ",", text(second, wide), ",", at_last);
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

void Encoder::modrm(std::uint8_t reg, const Operand& last) {
  const auto field = static_cast<std::uint8_t>(low(reg) << 3);
  switch (last.is) {
    case Operand::Is::vector: byte(0xC0 | field | low(last.vector.number)); return;
    case Operand::Is::general: byte(0xC0 | field | low(number(last.general))); return;
    case Operand::Is::pool:  // relative to the next instruction
      byte(0x05 | field);
      references_.push_back({here(), last.entry, here() + 4});
      word(0);
      return;
    case Operand::Is::memory: break;
  }
  const Address& a = last.address;
  const std::uint8_t base = low(number(a.base));
  // A base of rsp or r12 needs the SIB byte; all addresses here have 32 bits of offset.
  if (a.indexed || base == 4) {
    byte(0x84 | field);
    const std::uint8_t index = a.indexed ? low(number(a.index)) : 4;
    byte(static_cast<std::uint8_t>(log2(a.scale) << 6 | index << 3 | base));
  } else {
    byte(0x80 | field | base);
  }
  word(a.offset);
}

void Encoder::vector(const Opcode& op, std::uint8_t reg, Vector second, const Operand& last,
                     bool wide) {
  if (listing_) list(here(), text(op, Vector{reg}, second, last, wide));
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
void Encoder::jump_below(std::size_t target) {
  if (listing_) list(here(), concat("jb ", text(static_cast<std::int64_t>(target))));
  byte(0x0F);
  byte(0x82);
  word(static_cast<std::int32_t>(static_cast<std::int64_t>(target) -
                                 static_cast<std::int64_t>(here() + 4)));
}
void Encoder::zero_upper() {
  if (listing_) list(here(), "vzeroupper");
  for (const std::uint8_t b : {0xC5, 0xF8, 0x77}) byte(b);
}
void Encoder::ret() {
  if (listing_) list(here(), "ret");
  byte(0xC3);
}

std::vector<std::uint8_t> Encoder::finish(const std::vector<std::uint64_t>& pool, int width) {
  constexpr std::size_t vector_bytes = 32;
  while (code_.size() % vector_bytes != 0) byte(0xCC);
  const std::size_t start = code_.size();
  for (const std::uint64_t bits : pool) {
    if (listing_) list(here(), concat("constant ", text(static_cast<std::int64_t>(bits))));
    std::uint8_t value[8];
    std::memcpy(value, &bits, sizeof value);
    for (std::size_t i = 0; i < vector_bytes; ++i) byte(value[i % static_cast<std::size_t>(width)]);
  }
  for (const Reference& r : references_) {
    const auto distance = static_cast<std::int32_t>(start + r.entry * vector_bytes) -
                          static_cast<std::int32_t>(r.end);
    patch(r.at, distance);
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
