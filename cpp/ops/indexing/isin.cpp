// ops/indexing/isin.cpp - isin: membership of elements in a set.
#include <bit>
#include <complex>
#include <vector>

#include "base/errors.h"
#include "base/index.h"
#include "kernels/aligned_buffer.h"
#include "kernels/sort/radix_sort.h"
#include "ops/contiguous.h"
#include "ops/family.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

constexpr std::int64_t stretch = 1 << 16;  // elements, of about 0.2 ms

// body(from, to) over n elements, in parallel.
template <class F>
void over_stretches(std::int64_t n, F&& body) {
  runtime::parallel_for((n + stretch - 1) / stretch, [&](std::int64_t chunk) {
    body(chunk * stretch, std::min(n, (chunk + 1) * stretch));
  });
}

// ---- integers of a short range: a bit for each -------------------------------------------------

// The least and the greatest of n > 0 elements.
template <class T>
std::pair<T, T> range_of(const T* x, std::int64_t n) {
  T low = x[0], high = x[0];
  for (std::int64_t i = 1; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  return {low, high};
}

template <class T>
void look_up_bits(const T* x, std::int64_t n, const T* others, std::int64_t count, T low,
                  std::uint64_t width, bool* out) {
  const auto place = [low](T value) {
    return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(low);
  };
  std::vector<std::uint64_t> bits(index(width / 64 + 1), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t at = place(others[i]);
    bits[index(at / 64)] |= std::uint64_t{1} << at % 64;
  }
  over_stretches(n, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const std::uint64_t at = place(x[i]);
      out[i] = at <= width && (bits[index(at / 64)] >> at % 64 & 1);
    }
  });
}

// ---- other numbers: a table of those that were hashed to each place ----------------------------

// The bits of a number, the same for 0 and -0. The bits of NaN, which equals nothing, mark free
// places.
template <class T>
struct Hashed {
  using Key = kernels::KeyOf<T>;
  static constexpr Key none = static_cast<Key>(~Key{0});
  static Key key(T x) { return kernels::sortable(x); }
  static bool is_number(T x) { return !kernels::is_float_key<T> || key(x) != none; }
  static std::uint64_t mix(Key key) { return key * 0x9e3779b97f4a7c15ull; }
};
template <class R>
struct Hashed<std::complex<R>> {
  struct Key {
    kernels::KeyOf<R> re, im;
    friend bool operator==(const Key&, const Key&) = default;
  };
  static constexpr Key none{Hashed<R>::none, Hashed<R>::none};
  static Key key(std::complex<R> x) {
    return {kernels::sortable(x.real()), kernels::sortable(x.imag())};
  }
  static bool is_number(std::complex<R> x) {
    return Hashed<R>::is_number(x.real()) && Hashed<R>::is_number(x.imag());
  }
  static std::uint64_t mix(Key key) {
    const std::uint64_t half = Hashed<R>::mix(key.re);
    return (std::rotl(half, 32) ^ key.im) * 0x9e3779b97f4a7c15ull;
  }
};

template <class T>
class Table {
 public:
  using H = Hashed<T>;
  using Key = typename H::Key;

  Table(const T* others, std::int64_t count)
      : shift_(64 - std::bit_width(static_cast<std::uint64_t>(2 * count))),
        mask_((std::uint64_t{1} << (64 - shift_)) - 1),
        places_(static_cast<std::int64_t>(mask_ + 1)) {
    std::fill(places_.data(), places_.data() + places_.size(), H::none);
    runtime::in_stretches(count, stretch, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i) {
        if (!H::is_number(others[i])) continue;
        const Key key = H::key(others[i]);
        if (key == H::none) {
          has_none_ = true;
        } else {
          places_[find(key, H::mix(key) >> shift_)] = key;
        }
      }
    });
  }

  // Places are asked for some elements ahead, as each lies in memory of its own.
  void look_up(const T* x, std::int64_t from, std::int64_t to, bool* out) const {
    constexpr std::int64_t ahead = 16;
    for (std::int64_t i = from; i < to; ++i) {
      if (i + ahead < to) {
        __builtin_prefetch(places_.data() + (H::mix(H::key(x[i + ahead])) >> shift_));
      }
      const Key key = H::key(x[i]);
      if (key == H::none) {
        out[i] = has_none_ && H::is_number(x[i]);
      } else {
        out[i] = H::is_number(x[i]) && places_[find(key, H::mix(key) >> shift_)] == key;
      }
    }
  }

 private:
  // The place of the key, or the free place for it.
  std::int64_t find(Key key, std::uint64_t at) const {
    while (true) {
      const Key there = places_[static_cast<std::int64_t>(at)];
      if (there == key || there == H::none) return static_cast<std::int64_t>(at);
      at = (at + 1) & mask_;
    }
  }

  int shift_;
  std::uint64_t mask_;
  kernels::AlignedBuffer<Key> places_;
  bool has_none_ = false;
};

// One set, and the elements that are looked for in it.
template <class T>
void find_members(const T* x, std::int64_t n, const T* others, std::int64_t count, bool* out) {
  if (count == 0) {
    std::fill(out, out + n, false);
    return;
  }
  if constexpr (std::is_integral_v<T>) {
    const auto [low, high] = range_of(others, count);
    const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    if (width < static_cast<std::uint64_t>(8 * (n + count)) + 4096) {
      return look_up_bits(x, n, others, count, low, width, out);
    }
  }
  const Table<T> table(others, count);
  over_stretches(n, [&](std::int64_t from, std::int64_t to) { table.look_up(x, from, to, out); });
}

Kernel is_in_kernel(const Types& in, const Types&, const Params&) {
  const std::int64_t count = in[1].shape.back();
  std::int64_t sets = 1;
  for (std::size_t d = 0; d + 1 < in[1].shape.size(); ++d) sets *= in[1].shape[d];
  return
      [count, sets, size = in[0].size()](std::span<const View> views, std::span<const View> outs) {
        if (size == 0) return;
        const DenseInput x(views[0]), others(views[1]);
        const DenseOutput out(outs[0]);
        const std::int64_t each = size / sets;
        visit_dtype(views[0].dtype, [&](auto zero) {
          using T = decltype(zero);
          if constexpr (!is_opaque<T>) {
            for (std::int64_t s = 0; s < sets; ++s) {
              find_members(x.as<T>() + s * each, each, others.as<T>() + s * count, count,
                           out.as<bool>() + s * each);
            }
          }
        });
        out.finish();
      };
}

const Op is_in_op{
    {.name = "isin",
     .operands = 2,
     .doc = "Whether each element of the first operand is among those of the second, a vector, or "
            "a stack of vectors with a leading part of the first one's dimensions. 0 equals -0, "
            "NaN nothing.",
     .dtypes = any_dtype,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_dtype(op, in[0].dtype);
       if (in[0].dtype != in[1].dtype) {
         type_error("isin requires operands of one dtype, got ", name(in[0].dtype), " and ",
                    name(in[1].dtype), ".");
       }
       const Shape &shape = in[0].shape, &sets = in[1].shape;
       if (sets.empty() || sets.size() > shape.size() + 1 ||
           !std::equal(sets.begin(), sets.end() - 1, shape.begin())) {
         type_error("isin requires a vector for each leading dimension of its operand, got ",
                    to_string(shape), " and ", to_string(sets), ".");
       }
       return {with_dtype(in[0], DType::boolean)};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       const bool shared = !a.batched[1] && a.in[1]->shape().size() == 1;
       return {shardax::bind(a.op, a.params, shared ? a.in : all_batched(a)), {true}};
     },
     .no_gradient = true,
     .kernel = is_in_kernel}};

}  // namespace
}  // namespace shardax::ops
