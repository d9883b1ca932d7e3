// ops/linalg/triangular_root.cpp - square roots of upper triangular matrices.
#include <cmath>

#include "ops/linalg/matrices.h"

namespace shardax::ops {
namespace {

// y -= a x for n elements; complex products are those of finite numbers.
template <class T>
void subtract(std::int64_t n, T a, const T* x, T* y) {
  if constexpr (lapack::is_complex<T>) {
    using R = lapack::Real<T>;
    const R re = a.real(), im = a.imag();
    const R* from = reinterpret_cast<const R*>(x);
    R* to = reinterpret_cast<R*>(y);
    for (std::int64_t i = 0; i < 2 * n; i += 2) {
      to[i] -= re * from[i] - im * from[i + 1];
      to[i + 1] -= re * from[i + 1] + im * from[i];
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] -= a * x[i];
  }
}

// Column j of the root u solves (u + u[j, j]) x = t[:, j] above the diagonal. The method is Bjorck
// and Hammarling's, "A Schur method for the square root of a matrix", 1983.
template <class T>
struct TriangularRoot {
  explicit TriangularRoot(const JobArgs& args)
      : in(args.in[0]), out(args.out[0]), n(in.rows()), u(elements(n, n)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(n * n * n) / 3); }

  void load(std::int64_t i) { in.load(i, u); }
  void compute() {
    for (std::int64_t j = 0; j < n; ++j) {
      T* x = u.data() + j * n;
      std::fill(x + j + 1, x + n, T(0));
      x[j] = std::sqrt(x[j]);
      for (std::int64_t i = j; i-- > 0;) {
        const T* column = u.data() + i * n;
        const T sum = column[i] + x[j];
        if (sum != T(0)) x[i] /= sum;
        subtract(i, x[i], column, x);
      }
    }
  }
  void store(std::int64_t i) { out.store(i, u); }

  Stack in, out;
  std::int64_t n;
  std::vector<T> u;
};

const Op triangular_root_op{stacked(
    {.name = "triangular_root",
     .operands = 1,
     .doc = "Square roots of upper triangular matrices, stacked; what lies below is not read.",
     .dtypes = lapack_dtypes,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_operands(op, in, {2});
       if (rows_of(in[0].shape) == columns_of(in[0].shape)) return {in[0]};
       value_error("The input to ", op.name, " must be a square matrix. Got shape ",
                   to_string(in[0].shape), ".");
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("triangular_root"); },
     .kernel = stack_kernel<TriangularRoot>})};

}  // namespace
}  // namespace shardax::ops
