// ops/random/bit_generator.h - streams of random bits out of a state of four words, as XLA's
// RngBitGenerator has them, and the keys `rbg` and `unsafe_rbg` made of such states.
//
// The first two words are the cipher's key. All four are where its 128-bit counter starts: the last
// two its low half, the first two its high one.
//
// Over a batch of states (vmap) JAX draws one long stream from the first of them. States that
// belong to different devices are `separate`: each group draws its own stream.
#pragma once

#include <cstdint>

#include "array/dtype.h"
#include "kernels/random/philox.h"

namespace shardax::ops {

// Block `index` of the stream of `state`.
inline kernels::PhiloxBlock stream_block(const wide_key_t& state, std::uint64_t index) {
  const auto* w = state.words;
  const std::uint64_t start = std::uint64_t{w[3]} << 32 | w[2], low = start + index;
  const std::uint64_t high = (std::uint64_t{w[1]} << 32 | w[0]) + (low < start ? 1 : 0);
  return kernels::philox({static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                          static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)},
                         w[0], w[1]);
}

// States in groups of `together` that draw one stream, that of the group's first.
struct StateGroups {
  const wide_key_t* states;
  std::int64_t count;
  std::int64_t together;
};

// `n` elements for each state, group after group. T: unsigned integers.
template <class T>
void draw_stream(const StateGroups& groups, std::int64_t n, T* out);

// New keys of `count` keys: `n` for each.
void split_rbg(const wide_key_t* keys, std::int64_t count, std::int64_t n, bool old_stream,
               wide_key_t* out);
void split_unsafe_rbg(const StateGroups& groups, std::int64_t n, wide_key_t* out);

// A key of a key and a number.
wide_key_t fold_rbg(const wide_key_t& key, std::uint32_t data);
// `index` is where `data` is in its batch, `first` that batch's first.
wide_key_t fold_unsafe_rbg(const wide_key_t& key, std::uint32_t first, std::int64_t index);

}  // namespace shardax::ops
