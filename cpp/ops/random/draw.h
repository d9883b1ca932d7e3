// ops/random/draw.h - runs of hashes for many keys, cut into chunks that depend on sizes only.
//
// In the partitionable stream element i of a draw is the hash of the 64-bit counter i. In the older
// one the draw's n words are numbered 0 .. n-1, and word i is hashed together with word n/2 + i.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/index.h"
#include "kernels/random/threefry.h"
#include "runtime/pool.h"

namespace shardax::ops {

// A draw of `pairs` hashes for each of `count` keys. In the old stream a key's last word is missing
// where `words` is odd, and 0 stands for its number.
struct Draw {
  const std::uint32_t* keys;
  std::int64_t count;
  std::int64_t pairs;
  bool old;
  std::int64_t words;  // old stream only

  std::uint32_t second(std::int64_t pair) const {
    return old && pairs + pair >= words ? 0 : static_cast<std::uint32_t>(old ? pairs + pair : pair);
  }
};

inline constexpr std::int64_t draw_tile = 512;
inline constexpr std::int64_t draw_chunk = 32 * draw_tile;  // 25 us on one core

// emit(key, pair, n, first, second) gets n consecutive hashes of one key. Chunks and tiles depend
// on the draw's sizes only.
template <class Emit>
void draw_long(const Draw& draw, std::int64_t key, std::int64_t from, std::int64_t to, Emit emit) {
  std::uint32_t first[draw_tile], second[draw_tile];
  const std::uint32_t words[] = {draw.keys[2 * key], draw.keys[2 * key + 1]};
  for (std::int64_t at = from, n; at < to; at += n) {
    n = std::min(draw_tile, to - at);
    if (!draw.old) n = std::min(n, (at | 0xffffffff) + 1 - at);  // the high word stays
    const auto high = static_cast<std::uint32_t>(draw.old ? at : at >> 32);
    const auto low = static_cast<std::uint32_t>(draw.old ? draw.pairs + at : at);
    kernels::threefry_counters({words[0], words[1]}, high, draw.old, low, n, first, second);
    if (draw.old && 2 * (at + n) > draw.words && draw.words % 2) {
      const auto last = static_cast<std::uint32_t>(at + n - 1);
      constexpr std::uint32_t missing = 0;
      kernels::threefry_elements(&words[0], &words[1], &last, &missing, 1, first + n - 1,
                                 second + n - 1);
    }
    emit(key, at, n, first, second);
  }
}

// Few hashes a key: keys lie side by side.
template <class Emit>
void draw_short(const Draw& draw, std::int64_t from, std::int64_t to, Emit emit) {
  std::uint32_t key0[draw_tile], key1[draw_tile], first[draw_tile], second[draw_tile];
  const std::int64_t together = draw_tile / draw.pairs;
  for (std::int64_t key = from; key < to; key += together) {
    const std::int64_t keys = std::min(together, to - key);
    std::int64_t n = 0;
    for (std::int64_t k = key; k < key + keys; ++k) {
      for (std::int64_t pair = 0; pair < draw.pairs; ++pair, ++n) {
        key0[n] = draw.keys[2 * k];
        key1[n] = draw.keys[2 * k + 1];
        first[n] = draw.old ? static_cast<std::uint32_t>(pair) : 0;
        second[n] = draw.second(pair);
      }
    }
    kernels::threefry_elements(key0, key1, first, second, n, first, second);
    for (std::int64_t k = 0; k < keys; ++k) {
      emit(key + k, std::int64_t{0}, draw.pairs, first + k * draw.pairs, second + k * draw.pairs);
    }
  }
}

template <class Emit>
void draw_all(const Draw& draw, Emit emit) {
  if (draw.count == 0 || draw.pairs == 0) return;
  constexpr std::int64_t few = 32;
  if (draw.pairs < few) {
    const std::int64_t keys = std::max<std::int64_t>(1, draw_chunk / draw.pairs);
    runtime::parallel_for((draw.count + keys - 1) / keys, [&](std::int64_t i) {
      draw_short(draw, i * keys, std::min(draw.count, (i + 1) * keys), emit);
    });
    return;
  }
  const std::int64_t keys = std::max<std::int64_t>(1, draw_chunk / draw.pairs);
  const std::int64_t parts = (draw.pairs + draw_chunk - 1) / draw_chunk;  // of one key
  runtime::parallel_for((draw.count + keys - 1) / keys * parts, [&](std::int64_t i) {
    const std::int64_t group = i / parts, part = i % parts;
    for (std::int64_t key = group * keys; key < std::min(draw.count, (group + 1) * keys); ++key) {
      draw_long(draw, key, part * draw_chunk, std::min(draw.pairs, (part + 1) * draw_chunk), emit);
    }
  });
}

// The old stream's words in their order: `words` of them for each key.
inline void draw_words(const std::uint32_t* keys, std::int64_t count, std::int64_t words,
                       std::uint32_t* out) {
  const std::int64_t half = (words + 1) / 2;
  draw_all({keys, count, half, true, words}, [=](std::int64_t key, std::int64_t at, std::int64_t n,
                                                 const std::uint32_t* a, const std::uint32_t* b) {
    std::uint32_t* to = out + key * words;
    std::memcpy(to + at, a, index(n) * 4);
    std::memcpy(to + half + at, b, index(std::min(n, words - half - at)) * 4);
  });
}

// The partitionable stream: combine(first, second) of each hash.
template <class T, class Combine>
void draw_elements(const std::uint32_t* keys, std::int64_t count, std::int64_t n, bool old, T* out,
                   Combine combine) {
  draw_all({keys, count, n, old, 2 * n}, [=](std::int64_t key, std::int64_t at, std::int64_t m,
                                             const std::uint32_t* a, const std::uint32_t* b) {
    T* to = out + key * n + at;
    for (std::int64_t i = 0; i < m; ++i) to[i] = combine(a[i], b[i]);
  });
}

inline constexpr auto joined = [](std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
};

template <class T>
void draw_bits(const std::uint32_t* keys, std::int64_t count, std::int64_t n, bool old, T* out) {
  if constexpr (sizeof(T) == 8) {
    draw_elements(keys, count, n, old, out, joined);
  } else if (!old) {
    draw_elements(keys, count, n, false, out,
                  [](std::uint32_t a, std::uint32_t b) { return static_cast<T>(a ^ b); });
  } else if constexpr (sizeof(T) == 4) {
    draw_words(keys, count, n, out);
  } else {
    // Each word holds several elements, the lowest bits first.
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T)), words = (bytes + 3) / 4;
    std::vector<std::uint32_t> all(index(count * words));
    draw_words(keys, count, words, all.data());
    for (std::int64_t k = 0; k < count; ++k) {
      std::memcpy(out + k * n, all.data() + k * words, index(bytes));
    }
  }
}

}  // namespace shardax::ops
