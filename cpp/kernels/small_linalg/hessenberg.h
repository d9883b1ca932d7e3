// kernels/small_linalg/hessenberg.h - Hessenberg forms, one small matrix per lane.
#pragma once

#include "kernels/small_linalg/interleaved_lapack.h"

namespace shardax::kernels::interleaved {

template <class L>
SHARDAX_INLINE void subtract(Cell<L>& out, const Cell<L>& x) {
  out.re -= x.re;
  if constexpr (complex_cells<L>) out.im -= x.im;
}

template <class L>
SHARDAX_INLINE IndexOf<Real<L>> row(std::int64_t k) {  // a lane's number of a row
  return static_cast<IndexOf<Real<L>>>(k);
}
template <class L>
SHARDAX_INLINE void assign_where(Cell<L>& out, const Index<L>& where, const Cell<L>& x) {
  select(out, where, x, out);
}

// Takes tau x v v* from columns head..n of the n x n matrix x. v is 1 in row `head`, and its rest
// is below in column k of x.
template <class L>
SHARDAX_INLINE void reflect_rows(Cell<L>* x, std::int64_t n, std::int64_t head, std::int64_t k,
                                 const Cell<L>& tau) {
  by_columns(0, n, [&](std::int64_t r, auto count) {
    Cell<L> w[count];  // -x v, of some rows
    for (int q = 0; q < count; ++q) {
      w[q] = Cell<L>();
      subtract(w[q], x[(r + q) * n + head]);
    }
    for (std::int64_t j = head + 1; j < n; ++j) {
      const Cell<L> v = x[j * n + k];
      for (int q = 0; q < count; ++q) take(w[q], x[(r + q) * n + j], v);
    }
    for (int q = 0; q < count; ++q) {
      multiply(w[q], tau);
      Cell<L> negative{};
      subtract(negative, w[q]);
      subtract(x[(r + q) * n + head], negative);
      w[q] = negative;
    }
    for (std::int64_t j = head + 1; j < n; ++j) {
      const Cell<L> v = x[j * n + k];
      for (int q = 0; q < count; ++q) take_conjugate(x[(r + q) * n + j], w[q], v);
    }
  });
}

// The upper Hessenberg form and, below it, Householder's vectors in place of the n x n matrix; the
// n - 1 factors of these.
template <class L>
SHARDAX_INLINE void hessenberg(Cell<L>* a, Cell<L>* taus, std::int64_t n) {
  for (std::int64_t k = 0; k + 1 < n; ++k) {
    make_reflector(a, taus[k], n, n, k + 1, k);
    reflect_rows(a, n, k + 1, k, taus[k]);
    reflect(a, n, k + 1, k, taus[k], true, a, n, n, k + 1);
  }
}

}  // namespace shardax::kernels::interleaved
