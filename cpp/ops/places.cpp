// ops/places.cpp - places_of_true: where a mask holds.
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/errors.h"
#include "ops/dense.h"
#include "ops/family.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

constexpr std::int64_t stretch = 1 << 16;  // elements, of about 0.1 ms

std::int64_t count_true(const bool* mask, std::int64_t n) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += mask[i];
  return count;
}

// Writes the places of those that hold in [from, to), at most `room`.
void write_places(const bool* mask, std::int64_t from, std::int64_t to, std::int32_t* out,
                  std::int64_t room) {
  std::int32_t* const end = out + room;
  std::int64_t i = from;
  for (; i + 8 <= to && out < end; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, mask + i, 8);
    for (; eight && out < end; eight &= eight - 1) {
      *out++ = static_cast<std::int32_t>(i + std::countr_zero(eight) / 8);
    }
  }
  for (; i < to && out < end; ++i) {
    if (mask[i]) *out++ = static_cast<std::int32_t>(i);
  }
}

// The places in a row of n; `size` of them are wanted, missing ones are n.
void places_of_row(const bool* mask, std::int64_t n, std::int32_t* out, std::int64_t size) {
  const std::int64_t chunks = (n + stretch - 1) / stretch;
  const auto end = [n](std::int64_t chunk) { return std::min(n, (chunk + 1) * stretch); };
  std::vector<std::int64_t> before(static_cast<std::size_t>(chunks + 1), 0);
  runtime::parallel_for(chunks, [&](std::int64_t c) {
    before[static_cast<std::size_t>(c + 1)] = count_true(mask + c * stretch, end(c) - c * stretch);
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  runtime::parallel_for(chunks, [&](std::int64_t c) {
    const std::int64_t start = before[static_cast<std::size_t>(c)];
    if (start < size) write_places(mask, c * stretch, end(c), out + start, size - start);
  });
  if (before.back() < size) {
    std::fill(out + before.back(), out + size, static_cast<std::int32_t>(n));
  }
}

const Op places_of_true_op{
    {.name = "places_of_true",
     .doc = "The first `size` positions along the last dimension at which a mask holds, int32; the "
            "dimension's length where there are fewer.",
     .type = [](const Op&, const Types& in, const Params& params) -> Types {
       if (in[0].dtype != DType::boolean || in[0].shape.empty()) {
         type_error("places_of_true requires a bool array of one or more dimensions, got ",
                    to_string(in[0]), ".");
       }
       Type out = with_dtype(in[0], DType::int32);
       out.shape.back() = params.integer("size");
       return {out};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       return {shardax::bind(a.op, a.params, a.in), {true}};
     },
     .no_gradient = true,
     .kernel = [](const Types& in, const Types& out, const Params&) -> Kernel {
       const std::int64_t n = in[0].shape.back(), size = out[0].shape.back();
       const std::int64_t rows = size ? out[0].size() / size : 0;
       return [=](std::span<const View> views, std::span<const View> outs) {
         const DenseInput mask(views[0]);
         const DenseOutput places(outs[0]);
         runtime::parallel_for(rows, [&](std::int64_t row) {
           places_of_row(mask.as<bool>() + row * n, n, places.as<std::int32_t>() + row * size,
                         size);
         });
         places.finish();
       };
     }}};

}  // namespace
}  // namespace shardax::ops
