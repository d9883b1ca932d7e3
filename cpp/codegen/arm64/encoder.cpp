// codegen/arm64/encoder.cpp - vector instructions, constants, jumps.
#include "codegen/arm64/encoder.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "codegen/arm64/encoder_text.h"

namespace shardax::codegen::arm64 {

// ---- vectors -------------------------------------------------------------------------------

namespace {
constexpr Arrangement wider(Arrangement a) { return {static_cast<std::uint8_t>(a.size + 1), true}; }

struct Arrangements {
  Arrangement result, operands;
};
constexpr Arrangements arrangements(Form form, Arrangement a) {
  switch (form) {
    case Form::narrow:
    case Form::narrow_float: return {a, wider(a)};
    case Form::widen:
    case Form::widen_float:
    case Form::widen_bits: return {wider(a), a};
    case Form::bytes: return {{0, a.whole}, {0, a.whole}};
    default: return {a, a};
  }
}
}  // namespace

void Encoder::vector(const Opcode& op, Arrangement a, Vector d, Vector n, Vector m) {
  put(word(op, a, d, n, m), [&] {
    const auto [result, operands] = arrangements(op.form, a);
    return concat(op.name, " ", text(d, result), ", ", text(n, operands), ", ", text(m, operands));
  });
}
void Encoder::vector(const Opcode& op, Arrangement a, Vector d, Vector n) {
  put(word(op, a, d, n), [&] {
    const auto [result, operands] = arrangements(op.form, a);
    return concat(op.name, " ", text(d, result), ", ", text(n, operands));
  });
}

void Encoder::upper_product(const Opcode& op, Arrangement a, Vector d, Vector n, Vector m) {
  put(word(op, {a.size, true}, d, n, m), [&] {
    return concat(op.name, "2 ", text(d, wider(a)), ", ", text(n, {a.size, true}), ", ",
                  text(m, {a.size, true}));
  });
}

void Encoder::shift(const Opcode& op, Arrangement a, Vector d, Vector n, std::uint64_t by) {
  put(shift_word(op, a, d, n, static_cast<std::uint32_t>(by)), [&] {
    const auto [result, operands] = arrangements(op.form, a);
    return concat(op.name, " ", text(d, result), ", ", text(n, operands), ", #", by);
  });
}

void Encoder::move(Vector d, Vector n) {
  put(word(opcodes::bit_or, {0}, d, n, n),
      [&] { return concat("mov ", text(d, {0}), ", ", text(n, {0})); });
}

void Encoder::duplicate(Arrangement a, Vector d, Vector n, int lane) {
  put(dup_word(a, d, n, static_cast<std::uint32_t>(lane)), [&] {
    return concat("dup ", text(d, a), ", v", int{n.number}, ".", "bhsd"[a.size], "[", lane, "]");
  });
}
void Encoder::duplicate(Arrangement a, Vector d, General n) {
  put(0x0E000C00 | (a.whole ? std::uint32_t{1} << 30 : 0) | (1u << a.size) << 16 |
          registers(d, {n.number}),
      [&] { return concat("dup ", text(d, a), ", ", text(n, a.size == 3)); });
}

void Encoder::look_up(Vector d, Vector n, Vector m) {
  put(table_word(d, n, m), [&] {
    const Vector next{static_cast<std::uint8_t>(n.number + 1)};
    return concat("tbl ", text(d, {0}), ", {", text(n, {0}), ", ", text(next, {0}), "}, ",
                  text(m, {0}));
  });
}

void Encoder::small_number(Arrangement a, Vector d, std::uint32_t value) {
  put(movi_word(a, d, value), [&] { return concat("movi ", text(d, a), ", #", value); });
}

namespace {
// Opcodes of loads by the logarithm of their bytes; a store has another bit.
constexpr std::array<std::uint32_t, 5> vector_loads{0x3D400000, 0x7D400000, 0xBD400000, 0xFD400000,
                                                    0x3DC00000};
constexpr std::uint32_t is_load = 1u << 22;
constexpr std::uint32_t scaled(std::int64_t offset, int bytes) {
  return static_cast<std::uint32_t>(offset / bytes) << 10;
}
int log2(int bytes) { return std::countr_zero(static_cast<unsigned>(bytes)); }
}  // namespace

void Encoder::load(Vector d, const Address& from, int bytes) {
  const int size = log2(bytes);
  put(vector_loads[index(size)] | scaled(from.offset, bytes) | registers(d, {from.base.number}),
      [&] { return concat("ldr ", scalar_text(d, size), ", ", text(from)); });
}
void Encoder::store(Vector d, const Address& to, int bytes) {
  const int size = log2(bytes);
  put((vector_loads[index(size)] ^ is_load) | scaled(to.offset, bytes) |
          registers(d, {to.base.number}),
      [&] { return concat("str ", scalar_text(d, size), ", ", text(to)); });
}
void Encoder::load_all(Arrangement a, Vector d, General from) {
  put(0x0D40C000 | (a.whole ? std::uint32_t{1} << 30 : 0) | std::uint32_t{a.size} << 10 |
          registers(d, {from.number}),
      [&] { return concat("ld1r {", text(d, a), "}, [", text(from), "]"); });
}

void Encoder::load(Vector d, const Quad& constant) {
  const auto found = std::find(pool_.begin(), pool_.end(), constant);
  references_.push_back({here(), index(found - pool_.begin())});
  if (found == pool_.end()) pool_.push_back(constant);
  put(0x9C000000 | d.number, [&] { return concat("ldr ", scalar_text(d, 4), ", "); });
}

void Encoder::to_general(General d, Vector n, bool wide) {
  put((wide ? 0x9E660000 : 0x1E260000) | registers({d.number}, n),
      [&] { return concat("fmov ", text(d, wide), ", ", scalar_text(n, wide ? 3 : 2)); });
}

void Encoder::integer_to_float(Vector d, General n, bool wide_float, bool wide, bool has_sign) {
  put((wide ? 0x9E220000 : 0x1E220000) | (wide_float ? 1u << 22 : 0) | (has_sign ? 0 : 1u << 16) |
          registers(d, {n.number}),
      [&] {
        return concat(has_sign ? "scvtf " : "ucvtf ", scalar_text(d, wide_float ? 3 : 2), ", ",
                      text(n, wide));
      });
}
void Encoder::float_to_integer(General d, Vector n, bool wide_float, bool wide, bool has_sign) {
  put((wide ? 0x9E380000 : 0x1E380000) | (wide_float ? 1u << 22 : 0) | (has_sign ? 0 : 1u << 16) |
          registers({d.number}, n),
      [&] {
        return concat(has_sign ? "fcvtzs " : "fcvtzu ", text(d, wide), ", ",
                      scalar_text(n, wide_float ? 3 : 2));
      });
}

// ---- jumps ---------------------------------------------------------------------------------

namespace {
constexpr std::uint32_t always = 0x14000000, call_near = 0x94000000, conditional = 0x54000000,
                        compare_zero = 0x34000000;
constexpr bool has_long_reach(std::uint32_t word) { return (word & 0x7C000000) == always; }
std::string_view name(Condition c) {
  switch (c) {
    case Condition::equal: return "eq";
    case Condition::not_equal: return "ne";
    case Condition::above: return "hi";
    case Condition::below_equal: return "ls";
    case Condition::greater_equal: return "ge";
    case Condition::less: return "lt";
    case Condition::greater: return "gt";
    case Condition::less_equal: return "le";
  }
  return "";
}
}  // namespace

std::string text(Condition c) { return std::string(name(c)); }

std::size_t Encoder::jump(Condition condition) {
  put(conditional | static_cast<std::uint32_t>(condition),
      [&] { return concat("b.", name(condition), " "); });
  return here() - 1;
}
std::size_t Encoder::jump() {
  put(always, [] { return std::string("b "); });
  return here() - 1;
}
std::size_t Encoder::jump_if(bool is_zero, General n, bool wide) {
  put(compare_zero | (wide ? 1u << 31 : 0) | (is_zero ? 0 : 1u << 24) | n.number,
      [&] { return concat(is_zero ? "cbz " : "cbnz ", text(n, wide), ", "); });
  return here() - 1;
}
std::size_t Encoder::call_later() {
  put(call_near, [] { return std::string("bl "); });
  return here() - 1;
}
void Encoder::jump_back(Condition condition, std::size_t target) {
  jump_to(jump(condition), target);
}
void Encoder::jump_back(std::size_t target) { jump_to(jump(), target); }
void Encoder::jump_back_if(bool is_zero, General n, bool wide, std::size_t target) {
  jump_to(jump_if(is_zero, n, wide), target);
}
void Encoder::land(std::size_t jump) { jump_to(jump, here()); }

// Programs are small: 19 bits of words, with a sign, are a megabyte.
void Encoder::jump_to(std::size_t at, std::size_t target) {
  const auto words = static_cast<std::int64_t>(target) - static_cast<std::int64_t>(at);
  if (words >= 1 << 18 || words < -(1 << 18)) throw InternalError("codegen: a jump is too long");
  const auto distance = static_cast<std::uint32_t>(words);
  words_[at] |= has_long_reach(words_[at]) ? distance & 0x3FFFFFF : (distance & 0x7FFFF) << 5;
  if (lists_) texts_[at] += concat(".", words < 0 ? "-" : "+", 4 * (words < 0 ? -words : words));
}

// ---- the whole -----------------------------------------------------------------------------

void Encoder::put_before(const Encoder& start) {
  for (Reference& reference : references_) reference.at += start.words_.size();
  words_.insert(words_.begin(), start.words_.begin(), start.words_.end());
  texts_.insert(texts_.begin(), start.texts_.begin(), start.texts_.end());
}

std::vector<std::uint8_t> Encoder::finish(std::string* listing) {
  while (words_.size() % 4 != 0 && !pool_.empty())
    put(0xD503201F, [] { return std::string("nop"); });
  const std::size_t pool = words_.size();
  for (const auto& [at, entry] : references_) {
    const std::size_t words = pool + 4 * entry - at;
    if (words >= 1 << 18) throw InternalError("codegen: a constant is too far away");
    words_[at] |= static_cast<std::uint32_t>(words) << 5;
    if (lists_) texts_[at] += concat(".+", 4 * words);
  }
  for (const Quad& quad : pool_) {
    for (const std::uint64_t half : {quad.low, quad.high}) {
      put(static_cast<std::uint32_t>(half), [&] { return concat(".xword ", half); });
      words_.push_back(static_cast<std::uint32_t>(half >> 32));
      if (lists_) texts_.emplace_back();
    }
  }
  if (listing) {
    char at[16];
    for (std::size_t k = 0; k < texts_.size(); ++k) {
      if (texts_[k].empty()) continue;
      std::snprintf(at, sizeof at, "%zx: ", 4 * k);
      *listing += at + texts_[k] + "\n";
    }
  }
  std::vector<std::uint8_t> code;
  code.reserve(4 * words_.size());
  for (const std::uint32_t word : words_) {
    for (int shift = 0; shift < 32; shift += 8)
      code.push_back(static_cast<std::uint8_t>(word >> shift));
  }
  if (listing) {
    char byte[4];
    *listing += "bytes ";
    for (const std::uint8_t b : code) {
      std::snprintf(byte, sizeof byte, "%02x", unsigned{b});
      *listing += byte;
    }
    *listing += "\n";
  }
  return code;
}

}  // namespace shardax::codegen::arm64
