// ops/linalg/cholesky.cpp - cholesky and cholesky_update.
#include "base/index.h"
#include "ops/linalg/batched_small_lapack.h"

namespace shardax::ops {
namespace {

// ---- cholesky --------------------------------------------------------------------------------

// Row after row in memory is the transpose in columns, whose upper factor is the lower one of the
// matrix: nothing is rearranged.
template <class T>
struct Cholesky {
  explicit Cholesky(const JobArgs& args)
      : in(args.in[0]), out(args.out[0]), n(in.rows()), a(elements(n, n)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(n * n * n) / 3); }

  void load(std::int64_t i) { in.load_rows(i, a.data()); }
  void compute() {
    const bool good = lapack::potrf('U', lapack_size(n), a.data()) == 0;
    for (std::int64_t row = 0; row < n; ++row) {
      T* first = a.data() + row * n;
      if (!good) std::fill(first, first + row + 1, nan_of<T>());
      std::fill(first + row + 1, first + n, T(0));
    }
  }
  void store(std::int64_t i) { out.store_rows(i, a.data()); }

  Stack in, out;
  std::int64_t n;
  Scratch<T> a;
};

template <class L>
struct CholeskyLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) { return fits_lanes<T>(Stack(args.in[0])); }
  explicit CholeskyLanes(const JobArgs& args)
      : in(args.in[0]), out(args.out[0]), n(in.rows()), a(elements(n, n)) {}
  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(n * n * n) / 3); }
  void load(const Group<L>& group) { load_group(in, group, a); }
  void compute() { lanes::cholesky(a.data(), n); }
  void store(const Group<L>& group) { store_group(out, group, a); }

  Stack in, out;
  std::int64_t n;
  Cells<L> a;
};

// dL = L phi(L^-1 dA L^-H), where phi keeps the lower triangle and half of the diagonal (Murray,
// "Differentiation of the Cholesky decomposition", 2016).
Value factor_tangent(const Value& l, const Value& da) {
  const Value right =
      triangular_solve(l, da, {.lower = true, .transpose_a = true, .conjugate_a = true});
  const Value inner = triangular_solve(l, right, {.left_side = true, .lower = true});
  const Value kept = add(triangle(inner, true, 1), triangle(inner, true, 0));
  // Above the diagonal there is nothing, also where the factor is NaN.
  return triangle(product(l, mul(kept, scalar(l->dtype(), 0.5))), true);
}

const Op cholesky_op{stacked(
    {.name = "cholesky",
     .operands = 1,
     .doc = "The lower triangular L with L L* = a, for stacks of Hermitian positive definite "
            "matrices, whose lower triangle is read; NaN for others.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_operands(op, in, {2});
       const Shape& shape = in[0].shape;
       if (rows_of(shape) != columns_of(shape)) {
         value_error("The input to cholesky must be a square matrix. Got shape ", to_string(shape),
                     ".");
       }
       return {in[0]};
     },
     .jvp = [](const JvpArgs& a) -> Values { return {factor_tangent(a.out[0], a.t[0])}; },
     .kernel = small_stack_kernel<Cholesky, CholeskyLanes>})};

// ---- cholesky_update -------------------------------------------------------------------------

// Givens rotations that bring w into R, row after row (Gill, Golub, Murray, Saunders: "Methods for
// modifying matrix factorizations", 1974).
template <class T>
struct Update {
  explicit Update(const JobArgs& args)
      : r_in(args.in[0]),
        w_in(args.in[1], 1),
        out(args.out[0]),
        n(r_in.rows()),
        r(elements(n, n)),
        w(elements(n, 1)) {}

  std::int64_t count() const { return r_in.count(); }
  double flops() const { return std::min(3.0 * static_cast<double>(n * n), 1e6); }

  void load(std::int64_t i) {
    r_in.load_rows(i, r.data());
    w_in.load(i, w);
  }
  void compute() {
    for (std::int64_t k = 0; k < n; ++k) {
      T* row = r.data() + k * n;
      T& z = w[index(k)];
      if (z == T(0)) continue;
      const auto norm = std::hypot(row[k], z);
      const T cos = row[k] / norm, sin = -z / norm;
      for (std::int64_t j = 0; j < n; ++j) {
        T& other = w[index(j)];
        const T x = row[j], y = other;
        row[j] = cos * x - sin * y;
        other = cos * y + sin * x;
      }
    }
  }
  void store(std::int64_t i) { out.store_rows(i, r.data()); }

  Stack r_in, w_in, out;
  std::int64_t n;
  std::vector<T> r, w;
};

Kernel update_kernel(const Types&, const Types&, const Params& params) {
  return [params](std::span<const View> in, std::span<const View> out) {
    const JobArgs args{params, in, out};
    if (in[0].dtype == DType::float32) {
      in_tasks<NoTurn>(Update<float>(args));
    } else {
      in_tasks<NoTurn>(Update<double>(args));
    }
  };
}

// d(R^T R) = dR^T R + R^T dR + dw w^T + w dw^T of the operands.
Values update_jvp(const JvpArgs& a) {
  const Value &r = a.in[0], &w = a.in[1];
  Value half;
  if (a.t[0]) half = product(transposed(r), a.t[0]);
  if (a.t[1]) half = add_tangents(half, product(along_columns(w, 1), along_rows(a.t[1], 1)));
  const Value change = add(half, transposed(half));
  return {transposed(factor_tangent(transposed(a.out[0]), change))};
}

const Op cholesky_update_op{stacked(
    {.name = "cholesky_update",
     .operands = 2,
     .doc =
         "The upper triangular factor of R^T R + w w^T, for stacks of real upper triangular R and "
         "vectors w.",
     .dtypes = full_floats,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_operands(op, in, {2, 1});
       const Shape& r = in[0].shape;
       if (rows_of(r) != columns_of(r) || in[1].shape.back() != columns_of(r)) {
         value_error(
             "Rank-1 update to Cholesky decomposition takes a square matrix and a vector of the "
             "same size as input. Got shapes ",
             to_string(r), " and ", to_string(in[1].shape), " instead");
       }
       return {in[0]};
     },
     .jvp = update_jvp,
     .kernel = update_kernel})};

}  // namespace
}  // namespace shardax::ops
