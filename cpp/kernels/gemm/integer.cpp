// kernels/gemm/integer.cpp - products of integers, which wrap, and of bools: or of ands.
#include <algorithm>
#include <type_traits>

#include "kernels/gemm/kernels.h"
#include "kernels/tiles/dispatch.h"

namespace shardax::kernels {
namespace {

// A block of c in the stack, and of b packed beside it.
constexpr std::int64_t columns = 128, depth = 32;

struct IntegerPart {
  std::int64_t m, n, k;
  const void* a;
  std::int64_t a_m, a_k;
  const void* b;
  std::int64_t b_k, b_n;
  void* c;
  std::int64_t c_m, c_n;
};

// S: operands, T: the unsigned type of the sums (unsigned char for bool, with |= and &).
template <class S, class T, bool logical>
void integer_block(const IntegerPart& p, std::int64_t j, std::int64_t n) {
  dispatch([=, &p] {
    using Wide = std::common_type_t<T, unsigned>;  // 16-bit factors would become int, and overflow
    const S* a = static_cast<const S*>(p.a);
    const S* b = static_cast<const S*>(p.b) + j * p.b_n;
    T* c = static_cast<T*>(p.c) + j * p.c_n;
    T packed[depth][columns];
    for (std::int64_t k = 0; k < p.k; k += depth) {
      const std::int64_t steps = std::min(depth, p.k - k);
      for (std::int64_t s = 0; s < steps; ++s) {
        const S* row = b + (k + s) * p.b_k;
        for (std::int64_t l = 0; l < n; ++l) packed[s][l] = static_cast<T>(row[l * p.b_n]);
      }
      for (std::int64_t i = 0; i < p.m; ++i) {
        T sum[columns] = {};
        T* to = c + i * p.c_m;
        if (k > 0) {
          for (std::int64_t l = 0; l < n; ++l) sum[l] = to[l * p.c_n];
        }
        const S* from = a + i * p.a_m + k * p.a_k;
        for (std::int64_t s = 0; s < steps; ++s) {
          const T x = static_cast<T>(from[s * p.a_k]);
          for (std::int64_t l = 0; l < n; ++l) {
            if constexpr (logical) {
              sum[l] = static_cast<T>(sum[l] | (x & packed[s][l]));
            } else {
              sum[l] = static_cast<T>(sum[l] + Wide{x} * packed[s][l]);
            }
          }
        }
        for (std::int64_t l = 0; l < n; ++l) to[l * p.c_n] = sum[l];
      }
    }
  });
}

template <class S, class T, bool logical>
void integer_product(const MatmulArgs& p, ParallelFor parallel_for) {
  const double work = static_cast<double>(p.m * p.n) * static_cast<double>(p.k);
  const MatmulChunks plan = plan_chunks(p, work * sizeof(T) / 32, 8, columns);
  const auto part = [&](std::int64_t batch, std::int64_t i, std::int64_t j, std::int64_t m,
                        std::int64_t n) {
    const IntegerPart at{m,
                         n,
                         p.k,
                         static_cast<const S*>(p.a) + batch * p.a_batch + i * p.a_m,
                         p.a_m,
                         p.a_k,
                         static_cast<const S*>(p.b) + batch * p.b_batch + j * p.b_n,
                         p.b_k,
                         p.b_n,
                         static_cast<T*>(p.c) + batch * p.c_batch + i * p.c_m + j * p.c_n,
                         p.c_m,
                         p.c_n};
    for (std::int64_t l = 0; l < n; l += columns) {
      integer_block<S, T, logical>(at, l, std::min(columns, n - l));
    }
  };
  const auto body = [&](std::int64_t index) {
    if (plan.products != 1 || plan.count == 1) {
      const std::int64_t first = index * plan.products,
                         end = std::min(p.batch, first + plan.products);
      for (std::int64_t b = first; b < end; ++b) part(b, 0, 0, p.m, p.n);
      return;
    }
    const std::int64_t j = index % plan.column_chunks * plan.columns;
    const std::int64_t i = index / plan.column_chunks % plan.row_chunks * plan.rows;
    part(index / plan.column_chunks / plan.row_chunks, i, j, std::min(plan.rows, p.m - i),
         std::min(plan.columns, p.n - j));
  };
  if (plan.count == 1) return body(0);
  parallel_for(plan.count, body);
}

}  // namespace

void matmul_integer(const MatmulArgs& args, ParallelFor parallel_for) {
  visit_dtype(args.dtype, [&](auto in) {
    using S = decltype(in);
    if constexpr (std::is_same_v<S, bool>) {
      integer_product<std::uint8_t, std::uint8_t, true>(args, parallel_for);
    } else if constexpr (std::is_integral_v<S>) {
      visit_dtype(args.out_dtype, [&](auto out) {
        using Out = decltype(out);
        if constexpr (std::is_integral_v<Out> && !std::is_same_v<Out, bool>) {
          if constexpr (sizeof(Out) == sizeof(S)) {
            using T = std::make_unsigned_t<S>;
            integer_product<T, T, false>(args, parallel_for);
          } else if constexpr (sizeof(Out) > sizeof(S)) {
            integer_product<S, std::make_unsigned_t<Out>, false>(args, parallel_for);
          }
        }
      });
    }
  });
}

}  // namespace shardax::kernels
