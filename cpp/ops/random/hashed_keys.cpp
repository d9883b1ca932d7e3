// ops/random/hashed_keys.cpp - streams and keys of those generators, and their ciphers as ops.
#include "ops/random/hashed_keys.h"

#include <algorithm>
#include <array>

#include "kernels/random/philox.h"
#include "kernels/random/threefry4.h"
#include "kernels/tiles/dispatch.h"
#include "ops/contiguous.h"
#include "ops/random/keys.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

constexpr std::int64_t chunk = 16384;  // elements of a task: 50 to 100 us on one core

std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint64_t joined_words(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}

// ---- the generators: a cipher, and how its blocks become keys and elements ------------------

struct Philox2 {
  using Key = short_key_t;
  using Block = kernels::PhiloxPair;
  static Block cipher(const Key& k, Block x) { return kernels::philox2(x, k.words[0]); }
  static Block element(const Key& k, std::uint64_t i) {
    return cipher(k, {high_word(i), low_word(i)});
  }
  static Key derived(const Key& k, std::uint64_t i) { return {{element(k, i)[0]}}; }
  static Key seeded(std::uint32_t high, std::uint32_t low) {
    return {{cipher({{0}}, {high, low})[0]}};
  }
  static std::uint64_t joined(const Block& b) { return joined_words(b[0], b[1]); }
};

struct Philox4 {
  using Key = key_t;
  using Block = kernels::PhiloxBlock;
  static Block cipher(const Key& k, Block x) { return kernels::philox(x, k.words[0], k.words[1]); }
  static Block element(const Key& k, std::uint64_t i) {
    return cipher(k, {high_word(i), low_word(i), 0, 0});
  }
  static Key derived(const Key& k, std::uint64_t i) {
    const Block b = cipher(k, {0, 0, high_word(i), low_word(i)});
    return {{b[0], b[1]}};
  }
  static Key seeded(std::uint32_t high, std::uint32_t low) {
    const Block b = cipher({{0, 0}}, {high, low, 0, 0});
    return {{b[0], b[1]}};
  }
  static std::uint64_t joined(const Block& b) { return joined_words(b[0], b[1]); }
};

struct Threefry4 {
  using Key = wide_key_t;
  using Block = kernels::ThreefryBlock;
  static Block cipher(const Key& k, Block x) {
    return kernels::threefry4(x, k.words[0], k.words[1], k.words[2], k.words[3]);
  }
  static Block element(const Key& k, std::uint64_t i) {
    return cipher(k, {high_word(i), low_word(i), 0, 0});
  }
  static Key derived(const Key& k, std::uint64_t i) {
    const Block b = cipher(k, {0, 0, high_word(i), low_word(i)});
    return {{b[0], b[1], b[2], b[3]}};
  }
  static Key seeded(std::uint32_t high, std::uint32_t low) {
    const Block b = cipher({{high, low, 0, 0}}, {});
    return {{b[0], b[1], b[2], b[3]}};
  }
  static std::uint64_t joined(const Block& b) { return joined_words(b[0] ^ b[2], b[1] ^ b[3]); }
};

// ---- streams -------------------------------------------------------------------------------

// Elements from..to of a key's draw. Fewer than 64 bits are cut from all words of a block together.
template <class G, class T>
void draw_run(typename G::Key key, std::uint64_t from, std::uint64_t to, T* out) {
  dispatch([=] {
    for (std::uint64_t i = from; i < to; ++i) {
      const typename G::Block block = G::element(key, i);
      if constexpr (sizeof(T) == 8) {
        out[i] = G::joined(block);
      } else {
        std::uint32_t word = 0;
        for (std::uint32_t part : block) word ^= part;
        out[i] = static_cast<T>(word);
      }
    }
  });
}

template <class G>
void split_run(typename G::Key key, std::uint64_t from, std::uint64_t to, typename G::Key* out) {
  dispatch([=] {
    for (std::uint64_t i = from; i < to; ++i) out[i] = G::derived(key, i);
  });
}

// run(key, from, to) for all of `n` of each of `count` keys, in tasks that depend on sizes only.
template <class Run>
void in_tasks(std::int64_t count, std::int64_t n, Run run) {
  if (count == 0 || n == 0) return;
  const std::int64_t keys = std::max<std::int64_t>(1, chunk / n), parts = (n + chunk - 1) / chunk;
  runtime::parallel_for((count + keys - 1) / keys * parts, [&](std::int64_t i) {
    const std::int64_t group = i / parts, part = i % parts;
    for (std::int64_t key = group * keys; key < std::min(count, (group + 1) * keys); ++key) {
      run(key, static_cast<std::uint64_t>(part * chunk),
          static_cast<std::uint64_t>(std::min(n, (part + 1) * chunk)));
    }
  });
}

template <class G, class T>
void draw_all_of(const typename G::Key* keys, std::int64_t count, std::int64_t n, T* out) {
  in_tasks(count, n, [=](std::int64_t key, std::uint64_t from, std::uint64_t to) {
    draw_run<G, T>(keys[key], from, to, out + key * n);
  });
}

template <class G>
constexpr HashedGenerator make_generator() {
  using Key = typename G::Key;
  return {.seed = [](std::uint32_t high, std::uint32_t low,
                     void* key) { *static_cast<Key*>(key) = G::seeded(high, low); },
          .derive =
              [](const void* key, std::uint64_t counter, void* out) {
                *static_cast<Key*>(out) = G::derived(*static_cast<const Key*>(key), counter);
              },
          .split =
              [](const void* keys, std::int64_t count, std::int64_t n, void* out) {
                const auto* from_keys = static_cast<const Key*>(keys);
                auto* made = static_cast<Key*>(out);
                in_tasks(count, n, [=](std::int64_t key, std::uint64_t from, std::uint64_t to) {
                  split_run<G>(from_keys[key], from, to, made + key * n);
                });
              },
          .draw =
              [](const void* keys, std::int64_t count, std::int64_t n, int bits, void* out) {
                const auto* all = static_cast<const Key*>(keys);
                switch (bits) {
                  case 8: return draw_all_of<G>(all, count, n, static_cast<std::uint8_t*>(out));
                  case 16: return draw_all_of<G>(all, count, n, static_cast<std::uint16_t*>(out));
                  case 32: return draw_all_of<G>(all, count, n, static_cast<std::uint32_t*>(out));
                  default: return draw_all_of<G>(all, count, n, static_cast<std::uint64_t*>(out));
                }
              }};
}

// ---- the ciphers as ops --------------------------------------------------------------------

// Operands: the words of keys, then those of counters.
template <class G>
Kernel cipher_kernel(const Types&, const Types& out, const Params&) {
  static constexpr std::size_t key_size = sizeof(typename G::Key) / 4,
                               size = sizeof(typename G::Block) / 4;
  return [shape = out[0].shape, n = out[0].size()](std::span<const View> in,
                                                   std::span<const View> outs) {
    const auto inputs = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::array{DenseInput(spread(in[i], shape))...};
    }(std::make_index_sequence<key_size + size>());
    const auto outputs = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::array{DenseOutput(outs[i])...};
    }(std::make_index_sequence<size>());
    const std::uint32_t* from[key_size + size];
    std::uint32_t* to[size];
    for (std::size_t i = 0; i < key_size + size; ++i)
      from[i] = inputs[i].template as<std::uint32_t>();
    for (std::size_t i = 0; i < size; ++i) to[i] = outputs[i].template as<std::uint32_t>();
    runtime::parallel_for((n + chunk - 1) / chunk, [&](std::int64_t task) {
      for (std::int64_t i = task * chunk; i < std::min(n, (task + 1) * chunk); ++i) {
        typename G::Key key;
        typename G::Block block;
        for (std::size_t w = 0; w < key_size; ++w) key.words[w] = from[w][i];
        for (std::size_t w = 0; w < size; ++w) block[w] = from[key_size + w][i];
        block = G::cipher(key, block);
        for (std::size_t w = 0; w < size; ++w) to[w][i] = block[w];
      }
    });
    for (const DenseOutput& output : outputs) output.finish();
  };
}

template <class G>
Types cipher_type(const Op& op, const Types& in, const Params&) {
  for (const Type& type : in) {
    if (type.dtype != DType::uint32)
      type_error("Arguments to ", op.name, " must have uint32 type, got ", to_string(type));
  }
  const Type out{DType::uint32, false, elementwise_shape(op, in), {}};
  return Types(sizeof(typename G::Block) / 4, out);
}

template <class G>
OpSpec cipher(std::string_view name, std::string_view doc) {
  return {.name = name,
          .operands = (sizeof(typename G::Key) + sizeof(typename G::Block)) / 4,
          .doc = doc,
          .type = cipher_type<G>,
          .batch = [](const BatchArgs& a) -> Batched {
            constexpr std::size_t results = sizeof(typename G::Block) / 4;
            return {shardax::bind(a.op, a.params, all_batched(a)), std::vector(results, true)};
          },
          .no_gradient = true,
          .multiple_results = true,
          .kernel = cipher_kernel<G>};
}

const Op philox2_op{cipher<Philox2>(
    "philox2x32", "Elementwise hash of two words of counters under a key of one word.")};
const Op philox4_op{cipher<Philox4>(
    "philox4x32", "Elementwise hash of four words of counters under a key of two words.")};
const Op threefry4_op{cipher<Threefry4>(
    "threefry4x32", "Elementwise hash of four words of counters under a key of four words.")};

}  // namespace

const HashedGenerator* hashed_generator(DType impl) {
  static constexpr HashedGenerator philox2 = make_generator<Philox2>(),
                                   philox4 = make_generator<Philox4>(),
                                   threefry4 = make_generator<Threefry4>();
  switch (impl) {
    case DType::key_phx2: return &philox2;
    case DType::key_phx4: return &philox4;
    case DType::key_fry4: return &threefry4;
    default: return nullptr;
  }
}

}  // namespace shardax::ops
