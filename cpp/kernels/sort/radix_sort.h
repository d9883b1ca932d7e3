// kernels/sort/radix_sort.h - stable sorting of unsigned keys, alone or with their positions.
//
// Long runs go digit by digit from the lowest (digits that are equal everywhere are skipped), short
// ones by comparison. Signed and floating keys become unsigned by sortable().
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "array/half.h"
#include "base/index.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::kernels {

// From here on passes over bytes beat comparisons (measured on uint32: 11 us both at 400 elements).
inline constexpr std::int64_t radix_threshold = 400;

// Elements between two looks at whether the caller goes on: some milliseconds, at any order.
inline constexpr std::int64_t sort_stretch = 1 << 18;

// A key and where it stood. Positions fit 32 bits, so most keys share a word with theirs.
template <class K, bool wide = (sizeof(K) > 4)>
struct Ranked;
template <class K>
struct Ranked<K, false> {
  std::uint64_t word;
  Ranked() = default;
  Ranked(K key, std::uint32_t position) : word(std::uint64_t{key} << 32 | position) {}
  K key() const { return static_cast<K>(word >> 32); }
  std::uint32_t position() const { return static_cast<std::uint32_t>(word); }
  friend bool operator<(Ranked a, Ranked b) { return a.word < b.word; }
};
template <class K>
struct Ranked<K, true> {
  K key_;
  std::uint32_t position_;
  Ranked() = default;
  Ranked(K key, std::uint32_t position) : key_(key), position_(position) {}
  K key() const { return key_; }
  std::uint32_t position() const { return position_; }
  friend bool operator<(const Ranked& a, const Ranked& b) {
    return a.key_ != b.key_ ? a.key_ < b.key_ : a.position_ < b.position_;
  }
};

// body(from, to) over parts of [0, n), which threads share where there are several.
inline constexpr std::int64_t sort_part = 1 << 14;
template <class F>
void in_sort_parts(std::int64_t n, F&& body) {
  if (n < 2 * sort_part) return body(std::int64_t{0}, n);
  runtime::parallel_for((n + sort_part - 1) / sort_part, [&](std::int64_t part) {
    body(part * sort_part, std::min(n, (part + 1) * sort_part));
  });
}

// Moves items in the order of `bits` bits of their keys from `shift` on, stably. Each part of the
// items has a count of each value. False where all have the same value.
template <int bits, class Item, class KeyOf>
bool radix_pass(const Item* from, Item* to, std::int64_t n, int shift, std::int64_t parts,
                std::uint32_t* counts, KeyOf key_of) {
  constexpr std::int64_t values = std::int64_t{1} << bits;
  const std::int64_t size = (n + parts - 1) / parts;
  const auto value_of = [&](const Item& item) {
    return static_cast<std::uint32_t>(key_of(item) >> shift) & (values - 1);
  };
  const auto of_part = [&](auto&& body) {
    runtime::parallel_for(parts, [&](std::int64_t part) {
      const std::int64_t first = part * size, end = std::min(n, first + size);
      body(counts + part * values, first, end);
    });
  };
  of_part([&](std::uint32_t* own, std::int64_t first, std::int64_t end) {
    std::fill_n(own, values, 0);
    for (std::int64_t i = first; i < end; ++i) ++own[value_of(from[i])];
  });
  const std::int64_t any = value_of(from[0]);
  std::int64_t same = 0;
  for (std::int64_t part = 0; part < parts; ++part) same += counts[part * values + any];
  if (same == n) return false;
  std::uint32_t sum = 0;
  for (std::int64_t v = 0; v < values; ++v) {
    for (std::int64_t part = 0; part < parts; ++part)
      sum += std::exchange(counts[part * values + v], sum);
  }
  of_part([&](std::uint32_t* own, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) to[own[value_of(from[i])]++] = from[i];
  });
  return true;
}

// Sorts items[0, n) by key_of(item), stably; `scratch` has room for n more.
template <int bits, class Item, class KeyOf>
void radix_sort_by(Item* items, Item* scratch, std::int64_t n, KeyOf key_of) {
  constexpr int width = 8 * sizeof(decltype(key_of(items[0])));
  constexpr std::int64_t most_parts = 64;
  const std::int64_t parts = std::clamp<std::int64_t>(n / sort_part, 1, most_parts);
  std::vector<std::uint32_t> counts(index(parts) << bits);
  Item *from = items, *to = scratch;
  for (int shift = 0; shift < width; shift += bits) {
    runtime::poll_clock();
    if (radix_pass<bits>(from, to, n, shift, parts, counts.data(), key_of)) std::swap(from, to);
  }
  if (from != items) std::memcpy(static_cast<void*>(items), from, index(n) * sizeof(Item));
}
// Of some thousand items 11 bits at a time are fastest: fewer passes. Their counts take as long as
// fewer items, and more items lie in more pages than are known at once.
template <class Item, class KeyOf>
void radix_sort(Item* items, Item* scratch, std::int64_t n, KeyOf key_of) {
  constexpr std::int64_t few = 4096;
  if constexpr (sizeof(key_of(items[0])) >= 4) {
    if (n >= few && n < 2 * sort_part) return radix_sort_by<11>(items, scratch, n, key_of);
  }
  radix_sort_by<8>(items, scratch, n, key_of);
}

// Items stand in the order of their positions before.
template <class K>
void sort_ranked(Ranked<K>* items, Ranked<K>* scratch, std::int64_t n) {
  if (n < radix_threshold) {
    std::sort(items, items + n);
  } else {
    radix_sort(items, scratch, n, [](const Ranked<K>& item) { return item.key(); });
  }
}

template <class K>
void sort_keys(K* keys, K* scratch, std::int64_t n) {
  if (n < radix_threshold) {
    std::sort(keys, keys + n);
  } else {
    radix_sort(keys, scratch, n, [](K key) { return key; });
  }
}

// The unsigned type of the width of T.
template <class T>
using KeyOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
inline constexpr bool is_float_key =
    std::is_floating_point_v<T> || std::is_same_v<T, bfloat16_t> || std::is_same_v<T, float16_t>;
template <class T>
inline constexpr int mantissa_bits = std::is_same_v<T, double>       ? 52
                                     : std::is_same_v<T, float>      ? 23
                                     : std::is_same_v<T, bfloat16_t> ? 7
                                                                     : 10;

// Bits whose unsigned order is that of the bits as sign and magnitude: -NaN < -inf < -0 < 0 < NaN.
template <class T>
KeyOf<T> total_order(T x) {
  using K = KeyOf<T>;
  constexpr K sign = K{1} << (sizeof(K) * 8 - 1);
  const K bits = std::bit_cast<K>(x);
  if constexpr (is_float_key<T>) {
    return static_cast<K>(bits & sign ? ~bits : bits | sign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<K>(bits ^ sign);
  } else {
    return bits;
  }
}

// The order of sort: -0 equals 0, and any NaN is last and equals the others.
template <class T>
KeyOf<T> sortable(T x) {
  if constexpr (is_float_key<T>) {
    using K = KeyOf<T>;
    constexpr K sign = K{1} << (sizeof(K) * 8 - 1);
    constexpr K infinity = static_cast<K>(((sign - 1) >> mantissa_bits<T>) << mantissa_bits<T>);
    const K bits = std::bit_cast<K>(x);
    const K magnitude = static_cast<K>(bits & ~sign);
    if (magnitude > infinity) return static_cast<K>(~K{0});
    if (magnitude == 0) return sign;
    return static_cast<K>(bits & sign ? ~bits : bits | sign);
  } else {
    return total_order(x);
  }
}

// The float of such a key; not for NaN.
template <class T>
T from_sortable(KeyOf<T> key) {
  using K = KeyOf<T>;
  constexpr K sign = K{1} << (sizeof(K) * 8 - 1);
  if constexpr (is_float_key<T>) {
    return std::bit_cast<T>(static_cast<K>(key & sign ? key & ~sign : ~key));
  } else if constexpr (std::is_signed_v<T>) {
    return std::bit_cast<T>(static_cast<K>(key ^ sign));
  } else {
    return std::bit_cast<T>(key);
  }
}

}  // namespace shardax::kernels
