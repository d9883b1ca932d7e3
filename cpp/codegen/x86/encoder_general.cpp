// codegen/x86/encoder_general.cpp - instructions of general registers, jumps and calls.
#include <cstdio>
#include <cstring>

#include "base/errors.h"
#include "codegen/x86/encoder_text.h"

namespace shardax::codegen {
namespace {

std::string text(const Encoder::Operand& last, bool wide) {
  return last.is == Encoder::Operand::Is::general ? text(last.general, wide) : text(last.address);
}
std::string text(const GeneralOpcode& op, General reg, const Encoder::Operand& last, bool wide) {
  const std::string at_last = text(last, wide && !op.narrow_last);
  switch (op.form) {
    case Form::two: return concat(op.name, " ", text(reg, wide), ",", at_last);
    case Form::store: return concat(op.name, " ", at_last, ",", text(reg, wide));
    default: return concat(op.name, " ", at_last);
  }
}

}  // namespace

void Encoder::general(const GeneralOpcode& op, General reg, const Operand& last, bool wide) {
  if (listing_) list(here(), text(op, reg, last, wide));
  const std::uint8_t field = op.form == Form::shift ? op.extension : number(reg);
  std::uint8_t b = 0, x = 0;
  if (last.is == Operand::Is::general) b = number(last.general) >> 3;
  if (last.is == Operand::Is::memory) {
    b = number(last.address.base) >> 3;
    x = last.address.indexed ? number(last.address.index) >> 3 : 0;
  }
  const auto rex =
      static_cast<std::uint8_t>(0x40 | (wide ? 8 : 0) | (field >> 3) << 2 | x << 1 | b);
  if (rex != 0x40) byte(rex);
  if (op.escaped) byte(0x0F);
  byte(op.code);
  modrm(field, last);
}
void Encoder::general(const GeneralOpcode& op, General reg, const Operand& last, bool wide,
                      std::int32_t value, int value_bytes) {
  general(op, reg, last, wide);
  if (listing_) {
    const std::int64_t shown = wide || value_bytes == 1
                                   ? std::int64_t{value}
                                   : std::int64_t{static_cast<std::uint32_t>(value)};
    amend(concat(",", text(shown)));
  }
  if (value_bytes == 1)
    byte(static_cast<std::uint8_t>(value));
  else
    word(value);
}

void Encoder::set_wide(General dst, std::uint64_t value) {
  if (listing_) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
    list(here(), concat("movabs ", text(dst), ",", digits));
  }
  byte(static_cast<std::uint8_t>(0x48 | number(dst) >> 3));
  byte(static_cast<std::uint8_t>(0xB8 | low(number(dst))));
  word(static_cast<std::int32_t>(value));
  word(static_cast<std::int32_t>(value >> 32));
}
void Encoder::call(General target) {
  if (listing_) list(here(), concat("call ", text(target)));
  if (number(target) > 7) byte(0x41);
  byte(0xFF);
  byte(static_cast<std::uint8_t>(0xD0 | low(number(target))));
}
void Encoder::push(General r) {
  if (listing_) list(here(), concat("push ", text(r)));
  if (number(r) > 7) byte(0x41);
  byte(static_cast<std::uint8_t>(0x50 | low(number(r))));
}
void Encoder::pop(General r) {
  if (listing_) list(here(), concat("pop ", text(r)));
  if (number(r) > 7) byte(0x41);
  byte(static_cast<std::uint8_t>(0x58 | low(number(r))));
}
void Encoder::sign_into_rdx(bool wide) {
  if (listing_) list(here(), wide ? "cqo" : "cdq");
  if (wide) byte(0x48);
  byte(0x99);
}

// A jump to a place that `land` tells.
std::size_t Encoder::leap(std::uint8_t opcode, const char* name) {
  if (listing_) list(here(), concat(name, " @", here() + 5));
  byte(opcode);
  word(0);
  return here();
}
std::size_t Encoder::jump() { return leap(0xE9, "jmp"); }
std::size_t Encoder::call() { return leap(0xE8, "call"); }

}  // namespace shardax::codegen
