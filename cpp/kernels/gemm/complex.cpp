// kernels/gemm/complex.cpp - the complex product as one real product of twice the sizes.
//
// Row (ar, ai) of a, in memory order, times the 2 x 2 block (br, bi; -bi, br) of b gives (re, im)
// of c, in memory order.
#include <complex>
#include <memory>

#include "base/index.h"
#include "kernels/gemm/kernels.h"

namespace shardax::kernels {
namespace {

template <class S, class T>
void expand_a(const MatmulArgs& p, T* out) {
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      const std::complex<S>* row =
          static_cast<const std::complex<S>*>(p.a) + b * p.a_batch + i * p.a_m;
      for (std::int64_t k = 0; k < p.k; ++k, out += 2) {
        out[0] = static_cast<T>(row[k * p.a_k].real());
        out[1] = static_cast<T>(row[k * p.a_k].imag());
      }
    }
  }
}

template <class S, class T>
void expand_b(const MatmulArgs& p, T* out) {
  const std::int64_t width = 2 * p.n;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    for (std::int64_t k = 0; k < p.k; ++k, out += 2 * width) {
      const std::complex<S>* row =
          static_cast<const std::complex<S>*>(p.b) + b * p.b_batch + k * p.b_k;
      for (std::int64_t j = 0; j < p.n; ++j) {
        const T re = static_cast<T>(row[j * p.b_n].real()),
                im = static_cast<T>(row[j * p.b_n].imag());
        out[2 * j] = re;
        out[2 * j + 1] = im;
        out[width + 2 * j] = -im;
        out[width + 2 * j + 1] = re;
      }
    }
  }
}

template <class S, class T>
void product(const MatmulArgs& p, Isa isa, ParallelFor parallel_for) {
  const auto room = [](std::int64_t n) { return std::make_unique_for_overwrite<T[]>(index(n)); };
  const bool same = std::is_same_v<S, T>;
  MatmulArgs real = p;
  real.dtype = real.out_dtype = std::is_same_v<T, float> ? DType::float32 : DType::float64;
  real.n = 2 * p.n;
  real.k = 2 * p.k;

  std::unique_ptr<T[]> a, c;
  if (same && p.a_k == 1) {
    real.a_batch = 2 * p.a_batch;
    real.a_m = 2 * p.a_m;
  } else {
    a = room(p.batch * p.m * real.k);
    expand_a<S>(p, a.get());
    real.a = a.get(), real.a_batch = p.m * real.k, real.a_m = real.k, real.a_k = 1;
  }
  const std::unique_ptr<T[]> b = room(p.batch * real.k * real.n);
  expand_b<S>(p, b.get());
  real.b = b.get(), real.b_batch = real.k * real.n, real.b_k = real.n, real.b_n = 1;

  if (p.c_n == 1) {
    real.c_batch = 2 * p.c_batch;
    real.c_m = 2 * p.c_m;
    return matmul_float(real, isa, parallel_for);
  }
  c = room(p.batch * p.m * real.n);
  real.c = c.get(), real.c_batch = p.m * real.n, real.c_m = real.n, real.c_n = 1;
  matmul_float(real, isa, parallel_for);
  const T* sum = c.get();
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    for (std::int64_t i = 0; i < p.m; ++i) {
      std::complex<T>* row = static_cast<std::complex<T>*>(p.c) + batch * p.c_batch + i * p.c_m;
      for (std::int64_t j = 0; j < p.n; ++j, sum += 2) row[j * p.c_n] = {sum[0], sum[1]};
    }
  }
}

}  // namespace

void matmul_complex(const MatmulArgs& args, Isa isa, ParallelFor parallel_for) {
  if (args.dtype == DType::complex128) {
    product<double, double>(args, isa, parallel_for);
  } else if (args.out_dtype == DType::complex128) {
    product<float, double>(args, isa, parallel_for);
  } else {
    product<float, float>(args, isa, parallel_for);
  }
}

}  // namespace shardax::kernels
