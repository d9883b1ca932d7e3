// kernels/conv/convolution.cpp - the entry of convolutions, and the choice of an algorithm.
#include "kernels/conv/convolution.h"

#include <algorithm>
#include <utility>

#include "kernels/ceil_div.h"
#include "kernels/conv/depthwise.h"
#include "kernels/conv/packed.h"
#include "kernels/conv/winograd.h"

namespace shardax::kernels {
namespace {

bool is_empty(const ConvArgs& p) {
  bool empty = p.n.size == 0 || p.o.size == 0;
  for (const ConvAxis& b : p.batch) empty = empty || b.size == 0;
  for (const ConvSpace& s : p.space) empty = empty || s.out_size == 0;
  return empty;
}

// A kernel of one place on every place of lhs: a product, if its rows lie evenly.
bool as_product(const ConvArgs& p, MatmulArgs& out) {
  std::int64_t places = 1, lhs = 0, to = 0;
  for (std::size_t d = p.space.size(); d-- > 0;) {
    const ConvSpace& s = p.space[d];
    if (s.rhs_size != 1 || s.low != 0 || s.lhs_dilation != 1) return false;
    if ((s.out_size - 1) * s.stride >= s.lhs_size) return false;
    if (s.out_size == 1) continue;
    const std::int64_t step = s.stride * s.lhs;
    if (places > 1 && (step != lhs * places || s.out != to * places)) return false;
    if (places == 1) lhs = step, to = s.out;
    places *= s.out_size;
  }
  if (p.batch.size() > 1) return false;
  ConvAxis batch = p.batch.empty() ? ConvAxis{} : p.batch[0], n = p.n;
  std::int64_t rows = places;
  if (n.size > 1 && (places == 1 || (n.lhs == lhs * places && n.out == to * places))) {
    if (places == 1) lhs = n.lhs, to = n.out;
    rows = n.size * places;
    n = {};
  }
  if (n.size > 1 && batch.size > 1) return false;
  if (n.size > 1) batch = {n.size, n.lhs, 0, n.out};
  out = {p.dtype, p.out_dtype, batch.size, rows,      p.o.size, p.c.size,
         p.lhs,   batch.lhs,   lhs,        p.c.lhs,   p.rhs,    batch.rhs,
         p.c.rhs, p.o.rhs,     p.out,      batch.out, to,       p.o.out};
  return true;
}

// Operands that change places, and a result that is written backwards along space.
ConvArgs exchanged(ConvArgs p) {
  const std::int64_t bytes = itemsize(p.out_dtype);
  std::swap(p.lhs, p.rhs);
  std::swap(p.n, p.o);
  for (ConvAxis* a : {&p.n, &p.o, &p.c}) std::swap(a->lhs, a->rhs);
  for (ConvAxis& b : p.batch) std::swap(b.lhs, b.rhs);
  for (ConvSpace& s : p.space) {
    p.out += (s.out_size - 1) * s.out * bytes;
    s.out = -s.out;
    std::swap(s.lhs_size, s.rhs_size);
    std::swap(s.lhs, s.rhs);
    std::swap(s.lhs_dilation, s.rhs_dilation);
    s.low = (s.out_size - 1) * s.stride - s.low;
  }
  return p;
}

// Gradients of kernels with few features, whose channels lie side by side: channels fill vectors.
bool exchanges(const ConvArgs& p) {
  constexpr std::int64_t vector = 16, least = 2;
  if (p.n.lhs != 1 || !is_floating(p.dtype)) return false;
  double outputs = 1, taps = 1;
  for (const ConvSpace& s : p.space)
    outputs *= static_cast<double>(s.out_size), taps *= static_cast<double>(s.rhs_size);
  const auto multiplied = [](std::int64_t rows, std::int64_t columns) {
    return rows * parts_of(columns, vector) * vector;
  };
  return outputs < taps && least * multiplied(p.o.size, p.n.size) < multiplied(p.n.size, p.o.size);
}

}  // namespace

void run_chunks(std::int64_t count, double nanoseconds_each, ParallelFor parallel_for,
                FunctionRef<void(std::int64_t)> body) {
  constexpr double shortest = 50e3;
  const double total = nanoseconds_each * static_cast<double>(count);
  std::int64_t each = 1;
  if (total < 2 * shortest) {
    each = count;
  } else if (nanoseconds_each < shortest) {
    each = static_cast<std::int64_t>(shortest / std::max(nanoseconds_each, 1.0)) + 1;
  }
  const auto chunk = [&](std::int64_t index) {
    for (std::int64_t i = index * each; i < std::min(count, (index + 1) * each); ++i) body(i);
  };
  const std::int64_t chunks = (count + each - 1) / std::max<std::int64_t>(each, 1);
  if (chunks == 1) return chunk(0);
  parallel_for(chunks, chunk);
}

void convolution(const ConvArgs& args, ParallelFor parallel_for) {
  if (is_empty(args)) return;
  ConvArgs p = args;
  MatmulArgs product;
  if (as_product(p, product)) return matmul(product, parallel_for);
  if (exchanges(p)) p = exchanged(p);
  if (is_packed(p)) return convolution_packed(p, parallel_for);
  if (is_depthwise(p)) return convolution_depthwise(p, parallel_for);
  if (is_depthwise_kernel(p)) return convolution_depthwise_kernel(p, parallel_for);
  switch (winograd_of(p)) {
    case Winograd::forward: return winograd_forward(p, parallel_for);
    case Winograd::kernel: return winograd_kernel(p, parallel_for);
    case Winograd::none: break;
  }
  if (is_floating(p.dtype) && p.space.size() <= 3) return convolution_float(p, parallel_for);
  convolution_direct(p, parallel_for);
}

}  // namespace shardax::kernels
