// ops/linalg/interleaved_schur.h - shared parts of eig and schur: Schur forms of interleaved
// matrices.
#pragma once

#include "base/index.h"
#include "kernels/small_linalg/schur.h"
#include "ops/linalg/batched_small_lapack.h"

namespace shardax::ops {

// The form of matrices divided by a power of 2 (`scale`), so that their largest number is about 1.
// Some are left to LAPACK: those that are not finite, and those with a row or a column of zeros
// beside the diagonal. LAPACK's permutations find the eigenvalues of the latter exactly.
template <class L>
struct SchurForm {
  using T = lanes::Number<L>;
  using R = lanes::Real<L>;
  SchurForm(const Stack& in, bool with_vectors)
      : in(in),
        n(in.rows()),
        a(elements(n, n)),
        z(with_vectors ? a.size() : 0),
        taus(elements(n, 1)) {}

  void load(const Group<L>& group) {
    load_group(in, group, a);
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      const auto at = static_cast<std::int64_t>(lane);
      R largest = 0;
      bool finite = true;
      for (const lanes::Cell<L>& cell : a) {
        const T x = lanes::get(cell, at);
        largest = std::max({largest, std::abs(std::real(x)), std::abs(std::imag(x))});
        finite &= std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
      }
      others[lane] = !finite || permutes(at);
      int exponent = 0;
      if (!others[lane]) std::frexp(largest, &exponent);
      // As two factors, one of which could be infinite.
      const R half = std::ldexp(R(1), -(exponent / 2)),
              rest = std::ldexp(R(1), exponent / 2 - exponent);
      for (lanes::Cell<L>& cell : a) {
        lanes::set(cell, at, others[lane] ? T(0) : lanes::get(cell, at) * half * rest);
      }
      scale[at] = std::ldexp(R(1), exponent);
    }
  }
  lanes::Cell<L>* vectors() { return z.empty() ? nullptr : z.data(); }
  void compute() { lanes::schur_form(a.data(), taus.data(), vectors(), n, unfinished); }
  // The matrices that are left, by the job that calls LAPACK.
  template <class Job>
  void store_others(const Group<L>& group, Job& job) const {
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      if (!others[lane] && unfinished[static_cast<std::int64_t>(lane)] == 0) continue;
      const lapack::Small turn;
      job.load(group[lane]);
      job.compute();
      job.store(group[lane]);
    }
  }

  Stack in;
  std::int64_t n;
  Cells<L> a, z, taus;
  std::array<bool, lanes::width<L>> others;
  lanes::Vector<L> scale;
  lanes::Index<L> unfinished;

 private:
  bool permutes(std::int64_t lane) const {
    const auto zeros = [&](std::int64_t i, std::int64_t down, std::int64_t along) {
      for (std::int64_t j = 0; j < n; ++j) {
        if (j == i) continue;
        if (lanes::get(a[index(i * down + j * along)], lane) != T(0)) return false;
      }
      return true;
    };
    for (std::int64_t i = 0; i < n; ++i) {
      if (zeros(i, n, 1) || zeros(i, 1, n)) return true;
    }
    return false;
  }
};

}  // namespace shardax::ops
