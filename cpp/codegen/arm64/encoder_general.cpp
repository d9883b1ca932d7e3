// codegen/arm64/encoder_general.cpp - instructions of general registers, and operands as text.
#include <bit>

#include "codegen/arm64/encoder_text.h"

namespace shardax::codegen::arm64 {

// ---- text ----------------------------------------------------------------------------------

std::string text(Vector v, Arrangement a) {
  return concat("v", int{v.number}, ".", (a.whole ? 16 : 8) >> a.size, "bhsd"[a.size]);
}
std::string scalar_text(Vector v, int size) {
  return concat("bhsdq" [size], int { v.number });
}
std::string text(General r, bool wide) {
  if (r == zero) return wide ? "xzr" : "wzr";
  return concat(wide ? "x" : "w", int{r.number});
}
std::string address_text(General r) { return r == stack ? "sp" : text(r); }
std::string text(const Address& a) {
  return concat("[", address_text(a.base), ", #", a.offset, "]");
}

// ---- instructions --------------------------------------------------------------------------

namespace {
constexpr std::uint32_t sixty_four = 1u << 31;
constexpr std::uint32_t of(General d, General n, General m = {0}) {
  return std::uint32_t{m.number} << 16 | std::uint32_t{n.number} << 5 | d.number;
}
constexpr std::uint32_t wide_bit(bool wide) { return wide ? sixty_four : 0; }
// Loads of 1, 2, 4 and 8 bytes.
constexpr std::uint32_t load_bits(int bytes) {
  return 0x39400000 | static_cast<std::uint32_t>(std::countr_zero(static_cast<unsigned>(bytes)))
                          << 30;
}
std::string_view suffix(int bytes) { return bytes == 1 ? "b" : bytes == 2 ? "h" : ""; }
}  // namespace

void Encoder::load(General d, const Address& from, int bytes) {
  put(load_bits(bytes) | static_cast<std::uint32_t>(from.offset / bytes) << 10 | of(d, from.base),
      [&] { return concat("ldr", suffix(bytes), " ", text(d, bytes == 8), ", ", text(from)); });
}
void Encoder::store(General d, const Address& to, int bytes) {
  put((load_bits(bytes) ^ 1u << 22) | static_cast<std::uint32_t>(to.offset / bytes) << 10 |
          of(d, to.base),
      [&] { return concat("str", suffix(bytes), " ", text(d, bytes == 8), ", ", text(to)); });
}

// By 16 bits at a time, of zeros or of ones.
void Encoder::set(General d, std::uint64_t value) {
  const auto part = [&](int k) { return static_cast<std::uint32_t>(value >> 16 * k & 0xFFFF); };
  int ones = 0, zeros = 0;
  for (int k = 0; k < 4; ++k) {
    ones += part(k) == 0xFFFF;
    zeros += part(k) == 0;
  }
  const std::uint32_t rest = ones > zeros ? 0xFFFF : 0;
  bool first = true;
  for (int k = 0; k < 4; ++k) {
    if (part(k) == rest && !(k == 3 && first)) continue;
    const auto at = static_cast<std::uint32_t>(k) << 21;
    const auto named = [&](const char* name, std::uint32_t number) {
      return concat(name, " ", text(d), ", #", number, ", lsl #", 16 * k);
    };
    if (!first) {
      put(0xF2800000 | at | part(k) << 5 | d.number, [&] { return named("movk", part(k)); });
    } else if (rest == 0) {
      put(0xD2800000 | at | part(k) << 5 | d.number, [&] { return named("movz", part(k)); });
    } else {
      const std::uint32_t number = part(k) ^ 0xFFFF;
      put(0x92800000 | at | number << 5 | d.number, [&] { return named("movn", number); });
    }
    first = false;
  }
}

void Encoder::move(General d, General n) {
  put(0xAA0003E0 | of(d, {0}, n), [&] { return concat("mov ", text(d), ", ", text(n)); });
}

void Encoder::add(General d, General n, std::int64_t value) {
  const bool negative = value < 0;
  const auto size = static_cast<std::uint32_t>(negative ? -value : value);
  const auto part = [&](std::uint32_t number, bool high, General from) {
    put((negative ? 0xD1000000 : 0x91000000) | (high ? 1u << 22 : 0) | number << 10 | of(d, from),
        [&] {
          return concat(negative ? "sub " : "add ", address_text(d), ", ", address_text(from),
                        ", #", number, high ? ", lsl #12" : "");
        });
  };
  const std::uint32_t low = size & 0xFFF, high = size >> 12;
  if (high != 0) part(high, true, n);
  if (low != 0 || high == 0) part(low, false, high != 0 ? d : n);
}

void Encoder::add_shifted(General d, General n, General m, int bits) {
  put(0x8B000000 | static_cast<std::uint32_t>(bits) << 10 | of(d, n, m),
      [&] { return concat("add ", text(d), ", ", text(n), ", ", text(m), ", lsl #", bits); });
}

void Encoder::compare(General n, General m, bool wide) {
  put(0x6B000000 | wide_bit(wide) | of(zero, n, m),
      [&] { return concat("cmp ", text(n, wide), ", ", text(m, wide)); });
}

void Encoder::compare(General n, std::uint32_t value, bool wide) {
  put(0x71000000 | wide_bit(wide) | value << 10 | of(zero, n),
      [&] { return concat("cmp ", text(n, wide), ", #", value); });
}

void Encoder::general(const GeneralOpcode& op, General d, General n, General m, bool wide) {
  put(op.bits | wide_bit(wide) | of(d, n, m), [&] {
    return concat(op.name, " ", text(d, wide), ", ", text(n, wide), ", ", text(m, wide));
  });
}

void Encoder::select(General d, General n, General m, Condition holds, bool wide) {
  put(0x1A800000 | wide_bit(wide) | static_cast<std::uint32_t>(holds) << 12 | of(d, n, m), [&] {
    return concat("csel ", text(d, wide), ", ", text(n, wide), ", ", text(m, wide), ", ",
                  text(holds));
  });
}
void Encoder::all_ones_if(General d, Condition holds) {
  put(0x5A800000 | static_cast<std::uint32_t>(opposite(holds)) << 12 | of(d, zero, zero),
      [&] { return concat("csetm ", text(d, false), ", ", text(holds)); });
}

void Encoder::shift(const GeneralOpcode& op, General d, General n, int bits, bool wide) {
  const int width = wide ? 64 : 32;
  const bool left = op.bits == opcodes::shift_left.bits;
  const bool has_sign = op.bits == opcodes::shift_right_signed.bits;
  const auto from = static_cast<std::uint32_t>(left ? (width - bits) % width : bits);
  const auto to = static_cast<std::uint32_t>(left ? width - 1 - bits : width - 1);
  put((has_sign ? 0x13000000 : 0x53000000) | (wide ? sixty_four | 1u << 22 : 0) | from << 16 |
          to << 10 | of(d, n),
      [&] { return concat(op.name, " ", text(d, wide), ", ", text(n, wide), ", #", bits); });
}

void Encoder::subtract_product(General d, General n, General m, General a, bool wide) {
  put(0x1B008000 | wide_bit(wide) | std::uint32_t{a.number} << 10 | of(d, n, m), [&] {
    return concat("msub ", text(d, wide), ", ", text(n, wide), ", ", text(m, wide), ", ",
                  text(a, wide));
  });
}
void Encoder::multiply_words(General d, General n, General m, bool has_sign) {
  put((has_sign ? 0x9B207C00 : 0x9BA07C00) | of(d, n, m), [&] {
    return concat(has_sign ? "smull " : "umull ", text(d), ", ", text(n, false), ", ",
                  text(m, false));
  });
}
void Encoder::extend_sign(General d, General n) {
  put(0x93407C00 | of(d, n), [&] { return concat("sxtw ", text(d), ", ", text(n, false)); });
}

void Encoder::subtract_and_compare(General d, General n, std::uint32_t value) {
  put(0xF1000000 | value << 10 | of(d, n),
      [&] { return concat("subs ", text(d), ", ", text(n), ", #", value); });
}

void Encoder::call(General target) {
  put(0xD63F0000 | of({0}, target), [&] { return concat("blr ", text(target)); });
}
void Encoder::ret() {
  put(0xD65F03C0, [] { return std::string("ret"); });
}

// Two registers of 8 bytes.
void Encoder::two(bool stores, bool vectors, int first, int second, const Address& at) {
  const auto part = static_cast<std::uint32_t>(at.offset / 8) & 0x7F;
  put((vectors ? 0x6D000000 : 0xA9000000) | (stores ? 0 : 1u << 22) | part << 15 |
          static_cast<std::uint32_t>(second) << 10 |
          of({static_cast<std::uint8_t>(first)}, at.base),
      [&] {
        const char* kind = vectors ? "d" : "x";
        return concat(stores ? "stp " : "ldp ", kind, first, ", ", kind, second, ", ", text(at));
      });
}

}  // namespace shardax::codegen::arm64
