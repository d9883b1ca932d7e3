// kernels/copy/copy.cpp - strided copies: whole runs where both sides are dense, blocks where they
// cross, on all threads.
#include "kernels/copy/copy.h"

#include <algorithm>
#include <cstring>

#include "base/index.h"
#include "kernels/copy/transposed.h"
#include "kernels/tiles/dispatch.h"
#include "kernels/width.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::kernels {
namespace {

// Copies dense memory by vectors. The C library copies long runs by one instruction. It takes 20
// times as long if both sides have nearly the same offset in their pages. On Zen 3 with `out` 12
// bytes after `in`, that is 1.8 GB/s, by vectors 27. Elsewhere both are alike.
void copy_run(std::byte* out, const std::byte* in, std::int64_t bytes) {
  dispatch([=]() mutable {
    typedef std::int64_t Piece __attribute__((vector_size(32), aligned(1), may_alias));
    constexpr std::int64_t pieces = 4, step = pieces * static_cast<std::int64_t>(sizeof(Piece));
    for (; bytes >= step; bytes -= step, out += step, in += step) {
      Piece part[pieces];
      for (int p = 0; p < pieces; ++p) part[p] = reinterpret_cast<const Piece*>(in)[p];
      for (int p = 0; p < pieces; ++p) reinterpret_cast<Piece*>(out)[p] = part[p];
    }
    std::memcpy(out, in, index(bytes));
  });
}

// A 2-d copy whose sides have their unit strides in different dimensions walks 16 x 16 blocks. Each
// cache line is then touched once while it is in the cache.
template <class T>
void copy_block(T* out, std::int64_t o0, std::int64_t o1, const T* in, std::int64_t i0,
                std::int64_t i1, std::int64_t n0, std::int64_t n1) {
  constexpr std::int64_t block = 16;
  if (o1 == 1 && i1 == 1) {
    for (std::int64_t r = 0; r < n0; ++r) {
      copy_run(reinterpret_cast<std::byte*>(out + r * o0),
               reinterpret_cast<const std::byte*>(in + r * i0),
               n1 * static_cast<std::int64_t>(sizeof(T)));
    }
    return;
  }
  if (o1 == 1 && i1 == 0) {
    for (std::int64_t r = 0; r < n0; ++r) std::fill_n(out + r * o0, n1, in[r * i0]);
    return;
  }
  if (o1 == 1 && (i1 == -1 || i1 == 2)) {
    for (std::int64_t r = 0; r < n0; ++r) read_strided(out + r * o0, in + r * i0, i1, n1);
    return;
  }
  if (i1 == 0 || i1 == 1 || n0 == 1) {
    for (std::int64_t r = 0; r < n0; ++r) {
      T* o = out + r * o0;
      const T* i = in + r * i0;
      for (std::int64_t c = 0; c < n1; ++c) o[c * o1] = i[c * i1];
    }
    return;
  }
  if (o1 == 1 && i0 == 1) return transpose_block(out, o0, in, i1, n0, n1);
  for (std::int64_t r = 0; r < n0; r += block) {
    const std::int64_t r_end = std::min(r + block, n0);
    for (std::int64_t c = 0; c < n1; c += block) {
      const std::int64_t c_end = std::min(c + block, n1);
      for (std::int64_t rr = r; rr < r_end; ++rr) {
        for (std::int64_t cc = c; cc < c_end; ++cc) out[rr * o0 + cc * o1] = in[rr * i0 + cc * i1];
      }
    }
  }
}

template <class T>
void copy_dims(T* out, const Shape& os, const T* in, const Shape& is, const Shape& shape,
               std::size_t dim) {
  const std::size_t left = shape.size() - dim;
  constexpr std::int64_t stretch = 1 << 20;  // elements: a few milliseconds
  if (left == 0) {
    *out = *in;
  } else if (left == 1) {
    const std::int64_t o = os[dim], i = is[dim];
    runtime::in_stretches(shape[dim], stretch, [&](std::int64_t from, std::int64_t to) {
      copy_block(out + from * o, 0, o, in + from * i, 0, i, 1, to - from);
    });
  } else if (left == 2) {
    const std::int64_t o = os[dim], i = is[dim], columns = shape[dim + 1];
    const std::int64_t rows = std::max<std::int64_t>(16, stretch / columns / 16 * 16);
    runtime::in_stretches(shape[dim], rows, [&](std::int64_t from, std::int64_t to) {
      copy_block(out + from * o, o, os[dim + 1], in + from * i, i, is[dim + 1], to - from, columns);
    });
  } else {
    for (std::int64_t i = 0; i < shape[dim]; ++i) {
      runtime::poll();
      copy_dims(out + i * os[dim], os, in + i * is[dim], is, shape, dim + 1);
    }
  }
}

// Threads share copies of more than twice these many bytes, which take some 10 us.
constexpr std::int64_t part_bytes = 64 << 10;

// The dimension in which a copy is split: the first one that is long, or else the longest.
std::size_t split_dim(const Shape& dims) {
  const auto is_long =
      std::find_if(dims.begin(), dims.end(), [](std::int64_t n) { return n >= 16; });
  const auto chosen = is_long != dims.end() ? is_long : std::max_element(dims.begin(), dims.end());
  return index(chosen - dims.begin());
}

}  // namespace

void collapse(Shape& shape, Shape& a, Shape& b) {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    if (kept > 0 && a[kept - 1] == a[d] * shape[d] && b[kept - 1] == b[d] * shape[d]) {
      shape[kept - 1] *= shape[d];
      a[kept - 1] = a[d];
      b[kept - 1] = b[d];
      continue;
    }
    shape[kept] = shape[d];
    a[kept] = a[d];
    b[kept] = b[d];
    ++kept;
  }
  shape.resize(kept);
  a.resize(kept);
  b.resize(kept);
}

void copy_strided(std::byte* out, const Shape& out_strides, const std::byte* in,
                  const Shape& in_strides, const Shape& shape, int itemsize) {
  for (std::int64_t d : shape) {
    if (d == 0) return;
  }
  Shape dims = shape, o = out_strides, i = in_strides;
  collapse(dims, o, i);
  std::int64_t bytes = itemsize;
  for (std::int64_t d : dims) bytes *= d;
  with_width(itemsize, [&](auto zero) {
    using T = decltype(zero);
    T* const to = reinterpret_cast<T*>(out);
    const T* const from = reinterpret_cast<const T*>(in);
    if (bytes < 2 * part_bytes) return copy_dims(to, o, from, i, dims, 0);
    const std::size_t split = split_dim(dims);
    const std::int64_t step = dims[split] >= 128 ? 16 : 1, steps = (dims[split] + step - 1) / step,
                       parts = std::min(steps, bytes / part_bytes);
    runtime::parallel_for_even(parts, [&](std::int64_t part) {
      const std::int64_t first = steps * part / parts * step,
                         end = std::min(dims[split], steps * (part + 1) / parts * step);
      Shape piece = dims;
      piece[split] = end - first;
      copy_dims(to + first * o[split], o, from + first * i[split], i, piece, 0);
    });
  });
}

void fill_strided(std::byte* out, const Shape& out_strides, const Shape& shape,
                  const std::byte* value, int itemsize) {
  copy_strided(out, out_strides, value, Shape(shape.size(), 0), shape, itemsize);
}

}  // namespace shardax::kernels
