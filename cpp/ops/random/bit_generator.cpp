// ops/random/bit_generator.cpp - rng_bit_generator, and what the keys of that generator are made
// of.
#include "ops/random/bit_generator.h"

#include <algorithm>
#include <vector>

#include "base/index.h"
#include "ops/contiguous.h"
#include "ops/family.h"
#include "ops/random/draw.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

// Splitting and folding hash a key by ten blocks of its stream, of which one is used.
constexpr std::int64_t hash_blocks = 10;

constexpr std::int64_t blocks_per_task = 4096;  // 100 us on one core

// Elements of a block of four words: two of 64 bits, else one a word, cut to the type's width.
template <class T>
constexpr std::int64_t block_elements = sizeof(T) == 8 ? 2 : 4;

template <class T, class Block>
void draw_blocks(std::int64_t n, T* out, Block block) {
  constexpr std::int64_t each = block_elements<T>;
  const std::int64_t blocks = (n + each - 1) / each;
  runtime::parallel_for((blocks + blocks_per_task - 1) / blocks_per_task, [&](std::int64_t task) {
    const std::int64_t end = std::min(blocks, (task + 1) * blocks_per_task);
    for (std::int64_t b = task * blocks_per_task; b < end; ++b) {
      const kernels::PhiloxBlock words = block(static_cast<std::uint64_t>(b));
      for (std::int64_t i = 0; i < std::min(each, n - b * each); ++i) {
        const auto w = index(i);
        if constexpr (sizeof(T) == 8)
          out[b * each + i] = joined(words[2 * w + 1], words[2 * w]);
        else
          out[b * each + i] = static_cast<T>(words[w]);
      }
    }
  });
}

}  // namespace

template <class T>
void draw_stream(const StateGroups& groups, std::int64_t n, T* out) {
  const std::int64_t length = groups.together * n;
  for (std::int64_t k = 0; k < groups.count; k += groups.together) {
    const wide_key_t& state = groups.states[k];
    draw_blocks(length, out + k * n, [&](std::uint64_t b) { return stream_block(state, b); });
  }
}
template void draw_stream(const StateGroups&, std::int64_t, std::uint8_t*);
template void draw_stream(const StateGroups&, std::int64_t, std::uint16_t*);
template void draw_stream(const StateGroups&, std::int64_t, std::uint32_t*);
template void draw_stream(const StateGroups&, std::int64_t, std::uint64_t*);

// The two halves of a key are threefry keys, split by themselves.
void split_rbg(const wide_key_t* keys, std::int64_t count, std::int64_t n, bool old_stream,
               wide_key_t* out) {
  const auto* halves = reinterpret_cast<const std::uint32_t*>(keys);
  std::vector<key_t> made(index(2 * count * n));
  if (old_stream) {
    draw_words(halves, 2 * count, 2 * n, reinterpret_cast<std::uint32_t*>(made.data()));
  } else {
    draw_elements(halves, 2 * count, n, false, made.data(),
                  [](std::uint32_t a, std::uint32_t b) { return key_t{{a, b}}; });
  }
  for (std::int64_t k = 0; k < count; ++k) {
    for (std::int64_t i = 0; i < n; ++i) {
      const key_t& a = made[index(2 * k * n + i)];
      const key_t& b = made[index((2 * k + 1) * n + i)];
      out[k * n + i] = {{a.words[0], a.words[1], b.words[0], b.words[1]}};
    }
  }
}

void split_unsafe_rbg(const StateGroups& groups, std::int64_t n, wide_key_t* out) {
  for (std::int64_t k = 0; k < groups.count; k += groups.together) {
    for (std::int64_t i = 0; i < groups.together * n; ++i) {
      const auto index = static_cast<std::uint64_t>(hash_blocks * i);
      const kernels::PhiloxBlock words = stream_block(groups.states[k], index);
      out[k * n + i] = {{words[0], words[1], words[2], words[3]}};
    }
  }
}

wide_key_t fold_rbg(const wide_key_t& key, std::uint32_t data) {
  const auto* w = key.words;
  const std::uint32_t key0[] = {w[0], w[2]}, key1[] = {w[1], w[3]};
  std::uint32_t first[] = {0, 0}, second[] = {data, data};
  kernels::threefry_elements(key0, key1, first, second, 2, first, second);
  return {{first[0], second[0], first[1], second[1]}};
}

wide_key_t fold_unsafe_rbg(const wide_key_t& key, std::uint32_t first, std::int64_t index) {
  const wide_key_t seeded{{0, first, 0, first}};
  const auto last = static_cast<std::uint64_t>(hash_blocks * index + hash_blocks - 1);
  const kernels::PhiloxBlock words = stream_block(seeded, last);
  wide_key_t out = key;
  for (std::size_t i = 0; i < 4; ++i) out.words[i] ^= words[i];
  return out;
}

namespace {

constexpr std::int64_t threefry_algorithm = 1;  // JAX's RandomAlgorithm.RNG_THREE_FRY

bool is_state(const Type& type) {
  return type.rank() >= 1 && ((type.dtype == DType::uint32 && type.shape.back() == 4) ||
                              (type.dtype == DType::uint64 && type.shape.back() == 2));
}

Types generator_type(const Op&, const Types& in, const Params& params) {
  if (!is_state(in[0])) {
    type_error("rng_bit_generator: the key must be uint32[4] or uint64[2], got ", to_string(in[0]),
               ".");
  }
  const DType dtype = params.dtype(param::dtype);
  if (!is_unsigned_integer(dtype) || is_narrow(dtype)) {
    type_error("rng_bit_generator draws uint8, uint16, uint32 or uint64, got ", name(dtype), ".");
  }
  Shape shape(in[0].shape.begin(), in[0].shape.end() - 1);
  const Type states = with_shape(in[0], shape);
  const std::int64_t separate = params.integer(param::separate),
                     algorithm = params.integer(param::algorithm);
  if (separate < 0 || (separate > 0 && states.size() % separate != 0) || algorithm < 0 ||
      algorithm > 2) {
    value_error("rng_bit_generator: algorithm ", algorithm, " and ", separate, " groups of ",
                states.size(), " states; 0, 1 or 2 and a divisor were expected.");
  }
  for (std::int64_t d : params.ints(param::shape)) {
    if (d < 0)
      value_error("rng_bit_generator: shape ", to_string(params.ints(param::shape)),
                  " has a negative size.");
    shape.push_back(d);
  }
  return {in[0], with_dtype(with_shape(in[0], shape), dtype)};
}

// Threefry counts in pairs of words: one of 64 bits, or two of fewer.
kernels::PhiloxBlock threefry_pair(const wide_key_t& state, std::uint64_t index) {
  const auto* w = state.words;
  const std::uint64_t counter = (std::uint64_t{w[3]} << 32 | w[2]) + index;
  kernels::PhiloxBlock out{};
  const auto low = static_cast<std::uint32_t>(counter),
             high = static_cast<std::uint32_t>(counter >> 32);
  kernels::threefry_elements(&w[0], &w[1], &low, &high, 1, &out[0], &out[1]);
  return out;
}

// Two counters of threefry give as many bits as one of philox.
kernels::PhiloxBlock threefry_block(const wide_key_t& state, std::uint64_t index) {
  const kernels::PhiloxBlock a = threefry_pair(state, 2 * index),
                             b = threefry_pair(state, 2 * index + 1);
  return {a[0], a[1], b[0], b[1]};
}

Kernel generator_kernel(const Types& in, const Types&, const Params& params) {
  std::int64_t n = 1;
  for (std::int64_t d : params.ints(param::shape)) n *= d;
  const std::int64_t count = in[0].size() / in[0].shape.back();
  const std::int64_t together = count / std::max<std::int64_t>(1, params.integer(param::separate));
  const bool threefry = params.integer(param::algorithm) == threefry_algorithm;
  return [n, count, together, threefry](std::span<const View> views, std::span<const View> outs) {
    const DenseInput input(views[0]);
    const DenseOutput states(outs[0]), bits(outs[1]);
    const auto* from = input.as<wide_key_t>();
    auto* to = states.as<wide_key_t>();
    std::copy(from, from + count, to);
    visit_dtype(outs[1].dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
        const std::int64_t counters = threefry && sizeof(T) != 8 ? 2 : block_elements<T>;
        for (std::int64_t k = 0; k < count; k += together) {
          const std::int64_t length = together * n;
          draw_blocks(length, bits.as<T>() + k * n, [&](std::uint64_t b) {
            return threefry ? threefry_block(from[k], b) : stream_block(from[k], b);
          });
          const std::int64_t used = (length + counters - 1) / counters;
          const std::uint64_t next =
              joined(from[k].words[3], from[k].words[2]) + static_cast<std::uint64_t>(used);
          to[k].words[2] = static_cast<std::uint32_t>(next);
          to[k].words[3] = static_cast<std::uint32_t>(next >> 32);
        }
      }
    });
    states.finish();
    bits.finish();
  };
}

const Op generator_op{
    {.name = "rng_bit_generator",
     .operands = 1,
     .doc = "Random bits of `shape` out of a state, and the state after them.",
     .draws = true,
     .type = generator_type,
     .batch = [](const BatchArgs& a) -> Batched {
       Params params = a.params;
       if (a.axis.devices) params.set("separate", params.integer(param::separate) * a.axis.size);
       return {shardax::bind(a.op, params, a.in), {true, true}};
     },
     .no_gradient = true,
     .multiple_results = true,
     .kernel = generator_kernel,
     .show = [](const Params& p) -> std::vector<std::string> {
       return {"algorithm=" + std::string(p.integer(param::algorithm) == 0   ? "RNG_DEFAULT"
                                          : p.integer(param::algorithm) == 1 ? "RNG_THREE_FRY"
                                                                             : "RNG_PHILOX"),
               concat("dtype=", name(p.dtype(param::dtype))),
               "shape=" + to_string(p.ints(param::shape))};
     }}};

}  // namespace
}  // namespace shardax::ops
