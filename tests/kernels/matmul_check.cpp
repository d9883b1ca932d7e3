// tests/kernels/matmul_check.cpp - every element of a product has the bits of a plain loop over k.
//
// Built and run by test_matmul_kernel.py. Prints what differs; the exit status says whether any
// does.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "array/half.h"
#include "base/float_control.h"
#include "kernels/gemm/amx.h"
#include "kernels/gemm/few_rows.h"
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/matmul.h"
#include "kernels/tiles/dispatch.h"
#include "runtime/pool.h"

using namespace shardax;
using namespace shardax::kernels;

namespace {

int failures = 0;
std::uint64_t state = 1;

std::uint64_t random_bits() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}
double uniform() {
  return static_cast<double>(random_bits()) / static_cast<double>(1u << 30) - 1.0;
}

}  // namespace

// In place of the pool's: products are cut for few threads or for many, with the same bits.
int shardax::runtime::thread_count() { return state / 64 % 2 == 0 ? 2 : 40; }

namespace {

void fail(const char* what, const MatmulArgs& p, std::int64_t at) {
  if (++failures > 20) return;
  std::printf(
      "%s: %s -> %s, batch %ld m %ld n %ld k %ld, a (%ld, %ld, %ld), b (%ld, %ld, %ld): element "
      "%ld\n",
      what, name(p.dtype).data(), name(p.out_dtype).data(), long(p.batch), long(p.m), long(p.n),
      long(p.k), long(p.a_batch), long(p.a_m), long(p.a_k), long(p.b_batch), long(p.b_k),
      long(p.b_n), long(at));
}

// Chunks in descending order on one thread, or on three threads.
void backwards(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  for (std::int64_t i = chunks; i-- > 0;) body(i);
}
void threads(std::int64_t chunks, FunctionRef<void(std::int64_t)> body) {
  std::vector<std::thread> all;
  for (std::int64_t t = 0; t < 3; ++t) {
    all.emplace_back([=] {
      for (std::int64_t i = t; i < chunks; i += 3) body(i);
    });
  }
  for (std::thread& t : all) t.join();
}

// ---- the plain loops -------------------------------------------------------------------------

template <class S>
auto widened(S x) {
  if constexpr (std::is_same_v<S, bfloat16_t> || std::is_same_v<S, float16_t>) {
    return to_float(x);
  } else {
    return x;
  }
}

template <class Out, class T>
Out rounded(T x) {
  if constexpr (std::is_same_v<Out, bfloat16_t>) {
    return to_bfloat16(x);
  } else if constexpr (std::is_same_v<Out, float16_t>) {
    return to_float16(x);
  } else {
    return static_cast<Out>(x);
  }
}

template <class T>
void multiply_add(T& sum, T a, T b) {
  sum = std::fma(a, b, sum);
}
template <class T>
void multiply_add(std::complex<T>& sum, std::complex<T> a, std::complex<T> b) {
  T re = sum.real(), im = sum.imag();
  re = std::fma(a.imag(), -b.imag(), std::fma(a.real(), b.real(), re));
  im = std::fma(a.imag(), b.real(), std::fma(a.real(), b.imag(), im));
  sum = {re, im};
}

// The instructions that compute.
Isa current = best_isa();

// Are products of few rows called by themselves?
bool is_alone = false;

// As AMX adds up: of 32 elements those of even and of odd places first.
float in_tiles(const bfloat16_t* a, std::int64_t a_k, const bfloat16_t* b, std::int64_t b_k,
               std::int64_t k) {
  float sum = 0;
  for (std::int64_t k0 = 0; k0 < k; k0 += 32) {
    float halves[2] = {};
    for (std::int64_t i = k0; i < std::min(k, k0 + 32); ++i)
      multiply_add(halves[i % 2], to_float(a[i * a_k]), to_float(b[i * b_k]));
    sum += halves[0] + halves[1];
  }
  return sum;
}

template <class S, class Out>
Out element(const MatmulArgs& p, std::int64_t batch, std::int64_t i, std::int64_t j) {
  const S* a = static_cast<const S*>(p.a) + batch * p.a_batch + i * p.a_m;
  const S* b = static_cast<const S*>(p.b) + batch * p.b_batch + j * p.b_n;
  if constexpr (std::is_same_v<S, bool>) {
    bool any = false;
    for (std::int64_t k = 0; k < p.k; ++k) any |= a[k * p.a_k] && b[k * p.b_k];
    return any;
  } else if constexpr (std::is_integral_v<S>) {
    std::uint64_t sum = 0;
    for (std::int64_t k = 0; k < p.k; ++k) {
      sum += static_cast<std::uint64_t>(a[k * p.a_k]) * static_cast<std::uint64_t>(b[k * p.b_k]);
    }
    return static_cast<Out>(sum);
  } else {
    using Sum = std::conditional_t<sizeof(Out) < 4, float, Out>;
    // A complex multiply-add is two real ones.
    const bool is_pair = is_complex(p.dtype);
    const std::int64_t block_size = is_pair ? matmul_k_block / 2 : matmul_k_block;
    if constexpr (std::is_same_v<S, bfloat16_t> && std::is_same_v<Sum, float>) {
      if ((current >= Isa::avx512 && has_tiles()) || is_alone)
        return rounded<Out>(in_tiles(a, p.a_k, b, p.b_k, p.k));
    }
    Sum sum{};
    for (std::int64_t k0 = 0; k0 < p.k; k0 += block_size) {
      Sum block{};
      for (std::int64_t k = k0; k < std::min(p.k, k0 + block_size); ++k) {
        multiply_add(block, Sum(widened(a[k * p.a_k])), Sum(widened(b[k * p.b_k])));
      }
      sum = k0 ? sum + block : block;
    }
    return rounded<Out>(sum);
  }
}

// ---- one case --------------------------------------------------------------------------------

template <class S>
S sample() {
  if constexpr (std::is_same_v<S, bool>) {
    return random_bits() % 4 == 0;
  } else if constexpr (std::is_integral_v<S>) {
    return static_cast<S>(random_bits() * 0x9e3779b97f4a7c15u >> 8);
  } else if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) {
    return static_cast<S>(uniform());
  } else if constexpr (sizeof(S) == 2) {
    return rounded<S>(static_cast<float>(uniform()));
  } else {
    using R = typename S::value_type;
    return {static_cast<R>(uniform()), static_cast<R>(uniform())};
  }
}

enum class Layout { rows, columns, spread, reversed, broadcast };

// Strides of an operand of shape (batch, r, c), and the elements that it spans.
struct Placed {
  std::int64_t batch, r, c, first, size;
};
Placed place(Layout layout, std::int64_t batch, std::int64_t r, std::int64_t c) {
  switch (layout) {
    case Layout::rows: return {r * c, c, 1, 0, batch * r * c};
    case Layout::columns: return {r * c, 1, r, 0, batch * r * c};
    case Layout::spread: return {r * (2 * c + 3), 2 * c + 3, 2, 0, batch * r * (2 * c + 3)};
    case Layout::reversed: return {-r * c, -c, -1, batch * r * c - 1, batch * r * c};
    case Layout::broadcast: return {0, 0, 1, 0, c};
  }
  std::abort();
}

using Run = void (*)(const MatmulArgs&);

template <class S, class Out>
void check(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k, Layout la, Layout lb,
           Layout lc, const char* what, Run run) {
  const Placed pa = place(la, batch, m, k), pb = place(lb, batch, k, n),
               pc = place(lc, batch, m, n);
  // Exact sizes, so that a read or write outside is seen by the sanitizer.
  const auto a = std::make_unique<S[]>(static_cast<std::size_t>(pa.size));
  const auto b = std::make_unique<S[]>(static_cast<std::size_t>(pb.size));
  const auto c = std::make_unique<Out[]>(static_cast<std::size_t>(pc.size));
  for (std::int64_t i = 0; i < pa.size; ++i) a[static_cast<std::size_t>(i)] = sample<S>();
  for (std::int64_t i = 0; i < pb.size; ++i) b[static_cast<std::size_t>(i)] = sample<S>();
  std::memset(static_cast<void*>(c.get()), 0x7b, static_cast<std::size_t>(pc.size) * sizeof(Out));
  const MatmulArgs p{dtype_of<S>,
                     dtype_of<Out>,
                     batch,
                     m,
                     n,
                     k,
                     a.get() + pa.first,
                     pa.batch,
                     pa.r,
                     pa.c,
                     b.get() + pb.first,
                     pb.batch,
                     pb.r,
                     pb.c,
                     c.get() + pc.first,
                     pc.batch,
                     pc.r,
                     pc.c};
  run(p);
  std::int64_t written = 0;
  const Out* out = c.get() + pc.first;
  // All elements of small products, about 3,000 of large ones.
  const std::int64_t step = std::max<std::int64_t>(1, batch * m * n * k / 3'000'000);
  for (std::int64_t at = 0; at < batch * m * n; ++at) {
    const std::int64_t x = at / n / m, i = at / n % m, j = at % n;
    const Out& got = out[x * pc.batch + i * pc.r + j * pc.c];
    Out filler;
    std::memset(static_cast<void*>(&filler), 0x7b, sizeof(Out));
    written += std::memcmp(&got, &filler, sizeof(Out)) != 0;
    if (step > 1 && random_bits() % static_cast<std::uint64_t>(step) != 0) continue;
    const Out want = element<S, Out>(p, x, i, j);
    if (std::memcmp(&got, &want, sizeof(Out)) != 0) return fail(what, p, at);
  }
  // Between the elements of a spread result nothing is written.
  if (lc == Layout::spread) {
    std::int64_t changed = 0;
    for (std::int64_t i = 0; i < pc.size * static_cast<std::int64_t>(sizeof(Out)); ++i) {
      changed += reinterpret_cast<const unsigned char*>(c.get())[i] != 0x7b;
    }
    if (changed > batch * m * n * static_cast<std::int64_t>(sizeof(Out)))
      fail("written outside", p, 0);
  }
  if (written == 0 && batch * m * n > 0 && sizeof(Out) > 1) fail("not written", p, 0);
}

// ---- the cases -------------------------------------------------------------------------------

void run_public(const MatmulArgs& p) { matmul(p, backwards); }
void run_threads(const MatmulArgs& p) { matmul(p, threads); }
template <Isa isa>
void run_isa(const MatmulArgs& p) {
  if (p.k == 0 || p.m * p.n * p.batch == 0) return matmul(p, backwards);
  if (is_complex(p.dtype)) return matmul_complex(p, isa, backwards);
  if (matmul_grouped(p, isa, backwards)) return;
  if (!is_floating(p.dtype)) return matmul_integer(p, backwards);
  matmul_float(p, isa, backwards);
}

constexpr Layout layouts[] = {Layout::rows, Layout::columns, Layout::spread, Layout::reversed,
                              Layout::broadcast};

template <class S, class Out>
void check_random(int count, std::int64_t largest, const char* what, Run run) {
  const auto size = [&] {
    const std::int64_t limit = random_bits() % 3 == 0 ? 5 : largest;
    return 1 + static_cast<std::int64_t>(random_bits() % static_cast<std::uint64_t>(limit));
  };
  for (int i = 0; i < count; ++i) {
    const std::int64_t k = random_bits() % 8 == 0 ? 250 + size() * 9 : size();
    check<S, Out>(random_bits() % 3 == 0 ? size() % 5 : 1, size(), size(), k,
                  layouts[random_bits() % 5], layouts[random_bits() % 5],
                  layouts[random_bits() % 3], what, run);
  }
}

template <class S, class Out>
void check_type(const char* what, Run run) {
  check_random<S, Out>(150, 40, what, run);
  for (Layout l : {Layout::rows, Layout::columns}) {
    check<S, Out>(1, 1, 70, 600, l, l, Layout::rows, what, run);
    check<S, Out>(1, 70, 1, 600, l, l, Layout::rows, what, run);
    check<S, Out>(2, 300, 65, 270, l, l, Layout::rows, what, run);
    // Stacks of dot products: each lane of a vector has one.
    for (const std::int64_t batch : {2, 3, 4, 5, 16, 23})
      check<S, Out>(batch, 1, 1, 600 - batch, l, l, l, what, run);
    check<S, Out>(1, 30, 530, 40, l, l, Layout::columns, what, run);
    check<S, Out>(2, 3, 4, 0, l, l, Layout::rows, what, run);
    check<S, Out>(0, 3, 4, 5, l, l, Layout::rows, what, run);
  }
}

// Few elements of many k-blocks, which threads share.
template <class S, class Out>
void check_long_sums(Run run) {
  constexpr std::int64_t some = 64 * matmul_k_block;
  for (const Layout a : {Layout::rows, Layout::columns, Layout::spread, Layout::reversed}) {
    for (const Layout b : {Layout::rows, Layout::columns}) {
      for (const std::int64_t k : {some - 255, some, some + 1, 3 * some + 130}) {
        check<S, Out>(1, 3, 3, k, a, b, Layout::rows, "long sums", run);
        check<S, Out>(1, 5, 1, k, a, b, Layout::columns, "long sums", run);
        check<S, Out>(1, 1, 4, k, a, b, Layout::spread, "long sums", run);
        check<S, Out>(1, 17, 9, k, a, b, Layout::columns, "long sums", run);
      }
    }
  }
}

void run_few_rows(const MatmulArgs& p) {
  if (!matmul_few_rows(p, threads)) fail("few rows", p, -1);
}

// Products of few rows, or columns, that read the other operand in place.
void check_few_rows() {
  if (best_isa() < Isa::avx512 || !SHARDAX_CPU_SUPPORTS("avx512bw")) return;
  is_alone = true;
  for (const Layout b : {Layout::rows, Layout::columns}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 8}) {
      for (const std::int64_t k : {1, 31, 32, 33, 300}) {
        for (const std::int64_t n : {32, 33, 63, 700}) {
          check<bfloat16_t, float>(1, rows, n, k, Layout::spread, b, Layout::rows, "few rows",
                                   run_few_rows);
          check<bfloat16_t, bfloat16_t>(2, n, rows, k, b, Layout::columns, Layout::columns,
                                        "few columns", run_few_rows);
        }
      }
    }
  }
  for (const std::int64_t batch : {70, 700}) {
    check<bfloat16_t, float>(batch, 3, 65, 70, Layout::rows, Layout::rows, Layout::rows,
                             "stacks of few rows", run_few_rows);
  }
  is_alone = false;
  // Denormal numbers count as zero, and the caller's arithmetic stays as it was.
  std::vector<bfloat16_t> a(40), b(40 * 32);
  for (bfloat16_t& x : a) x = to_bfloat16(1e-39f);
  for (bfloat16_t& x : b) x = to_bfloat16(1e30f);
  std::vector<float> c(32, 7.0f);
  const std::uint64_t before = read_float_control();
  MatmulArgs p{DType::bfloat16, DType::float32, 1,  1, 32,       40, a.data(), 40, 40, 1,
               b.data(),        40 * 32,        32, 1, c.data(), 32, 32,       1};
  run_few_rows(p);
  for (const float x : c) {
    if (x != 0) fail("few rows of denormal numbers", p, 0);
  }
  if (read_float_control() != before) fail("few rows: arithmetic of the caller", p, 0);
}

// Parts of a product, computed alone, against the whole.
template <class T>
void check_parts(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto make = [](std::int64_t size) {
    std::vector<T> v(static_cast<std::size_t>(size));
    for (T& x : v) x = static_cast<T>(uniform());
    return v;
  };
  std::vector<T> a = make(batch * m * k), b = make(batch * k * n), whole = make(batch * m * n);
  std::vector<T> parts = whole;
  MatmulArgs p{dtype_of<T>, dtype_of<T>,  batch, m, n, k, a.data(), m * k, k, 1, b.data(), k * n, n,
               1,           whole.data(), m * n, n, 1};
  matmul(p, threads);
  const auto compare = [&](const char* what) {
    if (std::memcmp(whole.data(), parts.data(), whole.size() * sizeof(T)) != 0) fail(what, p, -1);
    for (T& x : parts) x = T(7);
  };
  for (std::int64_t size : {std::int64_t{1}, std::int64_t{5}, m / 2 + 1}) {
    for (std::int64_t x = 0; x < batch; ++x) {
      for (std::int64_t i = 0; i < m; i += size) {
        MatmulArgs q = p;
        q.batch = 1, q.m = std::min(size, m - i);
        q.a = a.data() + (x * m + i) * k, q.b = b.data() + x * k * n;
        q.c = parts.data() + (x * m + i) * n;
        matmul(q, backwards);
      }
    }
    compare("rows alone");
  }
  for (std::int64_t size : {std::int64_t{1}, std::int64_t{3}, n / 2 + 1}) {
    for (std::int64_t j = 0; j < n; j += size) {
      MatmulArgs q = p;
      q.n = std::min(size, n - j);
      q.b = b.data() + j, q.c = parts.data() + j;
      matmul(q, backwards);
    }
    compare("columns alone");
  }
  // The other way round, and with the operands copied to the other order.
  MatmulArgs t = p;
  t.m = n, t.n = m;
  t.a = p.b, t.a_batch = k * n, t.a_m = 1, t.a_k = n;
  t.b = p.a, t.b_batch = m * k, t.b_k = 1, t.b_n = k;
  t.c = parts.data(), t.c_m = 1, t.c_n = n;
  matmul(t, backwards);
  compare("transposed");
}

void check_large() {
  for (Run run : {run_public, run_threads}) {
    const char* what = run == run_public ? "large" : "large, three threads";
    check<float, float>(1, 500, 700, 300, Layout::rows, Layout::rows, Layout::rows, what, run);
    check<float, float>(1, 500, 300, 300, Layout::columns, Layout::columns, Layout::rows, what,
                        run);
    check<float, float>(1, 300, 1000, 300, Layout::columns, Layout::rows, Layout::rows, what, run);
    check<float, float>(1, 1000, 200, 300, Layout::columns, Layout::spread, Layout::rows, what,
                        run);
    check<float16_t, float>(1, 500, 500, 300, Layout::columns, Layout::rows, Layout::rows, what,
                            run);
    check<double, double>(1, 500, 400, 300, Layout::columns, Layout::columns, Layout::rows, what,
                          run);
    check<float, float>(1, 3000, 1, 3000, Layout::rows, Layout::rows, Layout::rows, what, run);
    check<float, float>(1, 1, 3000, 3000, Layout::rows, Layout::rows, Layout::rows, what, run);
    check<float, float>(1, 2, 5000, 700, Layout::rows, Layout::rows, Layout::rows, what, run);
    check<float, float>(1, 1, 1, 1'000'000, Layout::rows, Layout::rows, Layout::rows, what, run);
    check<float, float>(100, 32, 64, 128, Layout::rows, Layout::rows, Layout::rows, what, run);
    check<float, float>(100, 32, 64, 128, Layout::rows, Layout::broadcast, Layout::rows, what, run);
    check<float, float>(1, 3000, 1000, 1, Layout::rows, Layout::rows, Layout::rows, what, run);
    check<double, double>(3, 300, 200, 300, Layout::rows, Layout::columns, Layout::rows, what, run);
    check<bfloat16_t, bfloat16_t>(1, 300, 400, 600, Layout::rows, Layout::rows, Layout::rows, what,
                                  run);
    check<bfloat16_t, float>(1, 90, 70, 5000, Layout::columns, Layout::columns, Layout::rows, what,
                             run);
    check<bfloat16_t, float>(20, 50, 60, 33, Layout::rows, Layout::columns, Layout::rows, what,
                             run);
    check<std::int32_t, std::int32_t>(1, 300, 400, 200, Layout::rows, Layout::rows, Layout::rows,
                                      what, run);
    check<std::int8_t, std::int32_t>(200, 32, 64, 128, Layout::rows, Layout::rows, Layout::rows,
                                     what, run);
    check<std::complex<float>, std::complex<float>>(1, 200, 150, 300, Layout::rows, Layout::rows,
                                                    Layout::rows, what, run);
  }
}

// Products whose chunks pack all that they multiply, and their neighbours.
void check_long() {
  const Layout layouts[] = {Layout::rows, Layout::columns, Layout::spread};
  int i = 0;
  for (const std::int64_t k : {1021, 1022, 1023, 1025, 1536, 2051}) {
    const Layout a = layouts[i % 3], b = layouts[(i + 1) % 3], c = layouts[(i + 2) % 3];
    for (const auto& run : {run_public, run_threads}) {
      check<bfloat16_t, float>(1, 48, 65, k, a, b, Layout::rows, "long", run);
      check<bfloat16_t, bfloat16_t>(1, 193, 90, k, b, a, Layout::rows, "long", run);
      check<bfloat16_t, bfloat16_t>(2, 50, 257, k, a, a, c, "long", run);
      check<std::int8_t, std::int32_t>(1, 49, 70, k, b, b, c, "long", run);
    }
    ++i;
  }
  check<bfloat16_t, bfloat16_t>(1, 192, 520, 1100, Layout::columns, Layout::rows, Layout::rows,
                                "long", run_threads);
  // Rows that tiles may read in place, of chunks that are wider than their sums.
  for (const Layout rows : {Layout::rows, Layout::columns}) {
    check<bfloat16_t, bfloat16_t>(1, 208, 1090, 544, rows, Layout::rows, Layout::rows,
                                  "rows in place", run_threads);
    check<std::int8_t, std::int32_t>(2, 48, 1030, 192, rows, Layout::columns, Layout::rows,
                                     "rows in place", run_public);
  }
}

template <Isa isa>
void check_isa(const char* what) {
  current = isa;
  check_type<float, float>(what, run_isa<isa>);
  check_type<double, double>(what, run_isa<isa>);
  check_type<bfloat16_t, bfloat16_t>(what, run_isa<isa>);
  check_type<float16_t, float>(what, run_isa<isa>);
  check_type<std::complex<float>, std::complex<float>>(what, run_isa<isa>);
  check_type<std::int8_t, std::int32_t>(what, run_isa<isa>);
  check_type<std::uint8_t, std::uint16_t>(what, run_isa<isa>);
  for (const Layout a : {Layout::rows, Layout::columns, Layout::spread}) {
    check<float, float>(1, 270, 333, 515, a, Layout::rows, Layout::rows, what, run_isa<isa>);
    check<double, double>(1, 145, 300, 514, a, Layout::columns, Layout::rows, what, run_isa<isa>);
    check<float, float>(1, 61, 67, 3333, a, Layout::rows, Layout::columns, what, run_isa<isa>);
  }
  check<std::int8_t, std::int8_t>(2, 130, 600, 1100, Layout::rows, Layout::columns, Layout::rows,
                                  what, run_isa<isa>);
  check<std::uint8_t, std::int32_t>(1, 100, 70, 4096, Layout::columns, Layout::rows, Layout::spread,
                                    what, run_isa<isa>);
  current = best_isa();
}

}  // namespace

int main() {
  check_type<float, double>("types", run_public);
  check_type<bfloat16_t, float>("types", run_public);
  check_type<float16_t, float16_t>("types", run_public);
  check_type<std::complex<float>, std::complex<double>>("types", run_public);
  check_type<std::complex<double>, std::complex<double>>("types", run_public);
  check_type<bool, bool>("types", run_public);
  check_type<std::int8_t, std::int8_t>("types", run_public);
  check_type<std::int8_t, std::int32_t>("types", run_public);
  check_type<std::uint8_t, std::uint16_t>("types", run_public);
  check_type<std::uint16_t, std::uint16_t>("types", run_public);
  check_type<std::int16_t, std::int64_t>("types", run_public);
  check_type<std::int32_t, std::int32_t>("types", run_public);
  check_type<std::uint32_t, std::uint32_t>("types", run_public);
  check_type<std::int64_t, std::int64_t>("types", run_public);
  check_type<std::uint64_t, std::uint64_t>("types", run_public);

  check_isa<Isa::baseline>("baseline");
  if (best_isa() >= Isa::avx2) check_isa<Isa::avx2>("AVX2");
  if (best_isa() >= Isa::avx512) check_isa<Isa::avx512>("AVX-512");
  if (best_isa() >= Isa::avx512) check_isa<Isa::avx512_intel>("AVX-512 of Intel");
  check_random<float, float>(2000, 70, "random", run_public);
  check_random<double, double>(1000, 50, "random", run_public);

  check_few_rows();
  check_long_sums<float, float>(run_threads);
  check_long_sums<double, double>(run_public);
  check_long_sums<bfloat16_t, float>(run_public);
  check_long_sums<float16_t, float16_t>(run_public);
  check_parts<float>(3, 23, 45, 300);
  check_parts<float>(1, 257, 130, 520);
  check_parts<double>(2, 67, 33, 270);
  check_large();
  check_long();
  if (failures) std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
