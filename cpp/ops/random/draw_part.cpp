// ops/random/draw_part.cpp - random_bits_part: a device's part of a draw that is split.
#include "ops/random/draw_part.h"

#include "base/index.h"
#include "kernels/random/threefry.h"
#include "ops/contiguous.h"
#include "ops/family.h"
#include "ops/random/draw.h"
#include "ops/random/keys.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

// A part of an array: its shape, and how far apart in the whole its elements are.
struct PartOfDraw {
  Shape shape;
  Shape strides;

  // f(first counter, n) of runs of neighbours, for n elements of the part from `at` on.
  template <class F>
  void for_each_run(std::int64_t at, std::int64_t n, std::int64_t start, F&& f) const {
    while (n > 0) {
      std::int64_t rest = at, counter = start, run = n;
      for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
        counter += rest % shape[d] * strides[d];
        if (d + 1 == shape.size()) run = std::min(n, shape[d] - rest % shape[d]);
      }
      f(counter, run);
      at += run, n -= run;
    }
  }
};

template <class T>
void draw_tile_of(const std::uint32_t* key, const PartOfDraw& part, std::int64_t start,
                  std::int64_t at, std::int64_t n, T* out) {
  std::uint32_t key0[draw_tile] = {}, key1[draw_tile] = {}, first[draw_tile] = {},
                second[draw_tile] = {};
  std::fill_n(key0, n, key[0]);
  std::fill_n(key1, n, key[1]);
  std::int64_t to = 0;
  part.for_each_run(at, n, start, [&](std::int64_t counter, std::int64_t run) {
    for (std::int64_t i = 0; i < run; ++i, ++to) {
      first[to] = static_cast<std::uint32_t>((counter + i) >> 32);
      second[to] = static_cast<std::uint32_t>(counter + i);
    }
  });
  kernels::threefry_elements(key0, key1, first, second, n, first, second);
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof(T) == 8)
      out[i] = joined(first[i], second[i]);
    else
      out[i] = static_cast<T>(first[i] ^ second[i]);
  }
}

Shape shape_of_part(const Params& params) {
  const Ints &part = params.ints(param::shape), &whole = params.ints(param::whole_shape);
  bool fits = part.size() == whole.size();
  for (std::size_t d = 0; fits && d < part.size(); ++d) fits = part[d] >= 0 && part[d] <= whole[d];
  if (!fits) {
    value_error("random_bits_part: shape ", to_string(part), " is no part of whole_shape ",
                to_string(whole), ".");
  }
  return part;
}

Types part_type(const Op& op, const Types& in, const Params& params) {
  const Shape part = shape_of_part(params), keys = keys_shape(in[0]);
  if (is_key(in[0].dtype) && in[0].dtype != DType::key)
    type_error(op.name, " takes threefry keys, got ", name(in[0].dtype), ".");
  Shape starts = keys;
  starts.push_back(static_cast<std::int64_t>(part.size()));
  if (in[1].dtype != DType::int32 || in[1].shape != starts) {
    type_error(op.name, " takes an int32 start of each dimension for each key, of shape ",
               to_string(starts), ", got ", to_string(in[1]), ".");
  }
  Shape shape = keys;
  shape.append(part.begin(), part.end());
  return {with_dtype(with_shape(in[0], std::move(shape)),
                     unsigned_of_width(params.integer(param::bit_width)))};
}

Kernel part_kernel(const Types& in, const Types&, const Params& params) {
  const PartOfDraw part{params.ints(param::shape),
                        row_major_strides(params.ints(param::whole_shape))};
  return [part, keys = product(keys_shape(in[0])), n = product(part.shape)](
             std::span<const View> views, std::span<const View> outs) {
    const DenseInput key_words(views[0]), starts(views[1]);
    const DenseOutput out(outs[0]);
    const std::int64_t tiles = (n + draw_tile - 1) / draw_tile;
    visit_dtype(outs[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_unsigned_v<T> && !std::is_same_v<T, bool>) {
        runtime::parallel_for(keys * tiles, [&](std::int64_t i) {
          const std::int64_t key = i / tiles, at = i % tiles * draw_tile;
          const auto* start = starts.as<std::int32_t>() + key * std::ssize(part.shape);
          std::int64_t counter = 0;
          for (std::size_t d = 0; d < part.shape.size(); ++d) counter += start[d] * part.strides[d];
          draw_tile_of(key_words.as<std::uint32_t>() + 2 * key, part, counter, at,
                       std::min(draw_tile, n - at), out.as<T>() + key * n + at);
        });
      }
    });
    out.finish();
  };
}

const Op part_op{
    {.name = "random_bits_part",
     .operands = 2,
     .doc = "`shape` of the `whole_shape` unsigned integers that random_bits draws for each key, "
            "from those places on that operand 1 has.",
     .draws = true,
     .type = part_type,
     .batch = [](const BatchArgs& a) { return batched1(bind1(a.op, a.params, all_batched(a))); },
     .no_gradient = true,
     .kernel = part_kernel}};

}  // namespace

Value draw_part(const Value& key, std::int64_t bit_width, const Shape& whole, const Shape& part,
                const Values& starts) {
  Values places;
  for (const Value& start : starts) places.push_back(reshape(start, {1}));
  const Params params{{"bit_width", bit_width}, {"shape", part}, {"whole_shape", whole}};
  return bind1(part_op, params, {key, concatenate(places, 0)});
}

}  // namespace shardax::ops
