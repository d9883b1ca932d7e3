// ops/linalg/lu.cpp - lu, lu_diagonal and lu_pivots_to_permutation.
#include <numeric>

#include "ops/linalg/batched_small_lapack.h"

namespace shardax::ops {
namespace {

// The order of rows after the swaps i <-> pivots[i], one after the other.
void permute(const std::int32_t* pivots, std::int64_t swaps, std::int32_t* order, std::int64_t n) {
  std::iota(order, order + n, 0);
  for (std::int64_t i = 0; i < swaps; ++i) {
    if (pivots[i] >= 0 && pivots[i] < n) std::swap(order[i], order[pivots[i]]);
  }
}

template <class T>
struct Lu {
  explicit Lu(const JobArgs& args)
      : in(args.in[0]),
        out(args.out[0]),
        pivots_out(args.out[1], 1),
        order_out(args.out[2], 1),
        m(in.rows()),
        n(in.columns()),
        a(elements(m, n)),
        pivots(elements(std::min(m, n), 1)),
        order(elements(m, 1)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(m * n * std::min(m, n)) * 2 / 3); }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() {
    lapack::getrf(lapack_size(m), lapack_size(n), a.data(), pivots.data());
    for (Int& pivot : pivots) --pivot;
    permute(pivots.data(), std::min(m, n), order.data(), m);
  }
  void store(std::int64_t i) {
    out.store(i, a);
    pivots_out.store(i, pivots);
    order_out.store(i, order);
  }

  Stack in, out, pivots_out, order_out;
  std::int64_t m, n;
  Scratch<T> a;
  std::vector<Int> pivots, order;
};

template <class L>
struct alignas(L::bytes) Pivots {
  lanes::Index<L> at;
};

template <class L>
struct LuLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) { return fits_lanes<T>(Stack(args.in[0])); }
  explicit LuLanes(const JobArgs& args) : one(args), a(one.a.size()), pivots(one.pivots.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<L>& group) { load_group(one.in, group, a); }
  void compute() { lanes::lu(a.data(), &pivots.data()->at, one.m, one.n); }
  void store(const Group<L>& group) {
    store_group(one.out, group, a);
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      for (std::size_t k = 0; k < pivots.size(); ++k) {
        one.pivots[k] = static_cast<Int>(pivots[k].at[lane]);
      }
      permute(one.pivots.data(), std::ssize(pivots), one.order.data(), one.m);
      one.pivots_out.store(group[lane], one.pivots);
      one.order_out.store(group[lane], one.order);
    }
  }

  Lu<T> one;
  Cells<L> a;
  std::vector<Pivots<L>> pivots;
};

Value padded(const Value& a, std::size_t dim, std::int64_t size) {
  Ints low(a->shape().size(), 0), high = low, interior = low;
  high[dim] = size - a->shape()[dim];
  return pad(a, scalar(a->dtype(), 0), low, high, interior);
}

// With P dA = dL U + L dU: L^-1 P dA U^-1 = L^-1 dL + dU U^-1, a strictly lower and an upper
// triangular part. The source is de Hoog, Anderssen, Lukas, "Differentiation of matrix functionals
// using triangular factorization", 2011. L and U are completed to square matrices by identities.
Values lu_jvp(const JvpArgs& args) {
  const Value& lu = args.out[0];
  const std::size_t rank = lu->shape().size();
  const std::int64_t m = rows_of(lu->shape()), n = columns_of(lu->shape()), k = std::min(m, n);
  Value l = padded(triangle(columns_between(lu, 0, k), true, 1), rank - 1, m);
  l = add(l, identity_like(l));
  Value u = padded(triangle(rows_between(lu, 0, k), false), rank - 2, n);
  if (n > k) {
    const Value eye = identity_like(u);
    const Value beyond = padded(rows_between(eye, 0, k), rank - 2, n);
    u = add(u, sub(eye, beyond));
  }
  const Value moved = rows_in_order(args.t[0], args.out[2]);
  const Value left =
      triangular_solve(l, moved, {.left_side = true, .lower = true, .unit_diagonal = true});
  const Value inner = triangular_solve(u, left, {});
  const Value dl = product(l, triangle(inner, true, 1)), du = product(triangle(inner, false), u);
  return {add(dl, du), nullptr, nullptr};
}

const Op lu_op{
    stacked({.name = "lu",
             .operands = 1,
             .doc = "L (its diagonal of ones left out) and U in one matrix, the row swaps, and the "
                    "order of rows that they make, for stacks of matrices.",
             .dtypes = matrix_dtypes,
             .type = [](const Op& op, const Types& in, const Params&) -> Types {
               check_operands(op, in, {2});
               const Type index = with_dtype(in[0], DType::int32);
               return {in[0], with_vector(index, least_of(in[0].shape)),
                       with_vector(index, rows_of(in[0].shape))};
             },
             .jvp = lu_jvp,
             .multiple_results = true,
             .kernel = small_stack_kernel<Lu, LuLanes>})};

// ---- lu_diagonal -----------------------------------------------------------------------------

// It factors the transpose, which has the same determinant: rows in memory are its columns.
template <class T>
struct Diagonal {
  explicit Diagonal(const JobArgs& args)
      : in(args.in[0]),
        out(args.out[0], 1),
        pivots_out(args.out[1], 1),
        n(in.rows()),
        a(elements(n, n)),
        diagonal(elements(n, 1)),
        pivots(elements(n, 1)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(n * n * n) * 2 / 3); }

  void load(std::int64_t i) { in.load_rows(i, a.data()); }
  void compute() {
    lapack::getrf(lapack_size(n), lapack_size(n), a.data(), pivots.data());
    for (Int& pivot : pivots) --pivot;
    for (std::size_t k = 0; k < diagonal.size(); ++k) diagonal[k] = a[k * (diagonal.size() + 1)];
  }
  void store(std::int64_t i) {
    out.store(i, diagonal);
    pivots_out.store(i, pivots);
  }

  Stack in, out, pivots_out;
  std::int64_t n;
  Scratch<T> a, diagonal;
  std::vector<Int> pivots;
};

template <class L>
struct DiagonalLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) { return fits_lanes<T>(Stack(args.in[0])); }
  explicit DiagonalLanes(const JobArgs& args)
      : one(args), a(one.a.size()), diagonal(one.pivots.size()), pivots(one.pivots.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<L>& group) { load_group(one.in, group, a); }
  void compute() {
    lanes::lu(a.data(), &pivots.data()->at, one.n, one.n);
    for (std::size_t k = 0; k < diagonal.size(); ++k) diagonal[k] = a[k * (diagonal.size() + 1)];
  }
  void store(const Group<L>& group) {
    store_group(one.out, group, diagonal);
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      for (std::size_t k = 0; k < pivots.size(); ++k) {
        one.pivots[k] = static_cast<Int>(pivots[k].at[lane]);
      }
      one.pivots_out.store(group[lane], one.pivots);
    }
  }

  Diagonal<T> one;
  Cells<L> a, diagonal;
  std::vector<Pivots<L>> pivots;
};

const Op diagonal_op{
    stacked({.name = "lu_diagonal",
             .operands = 1,
             .doc = "What determinants are made of, for stacks of square matrices: the diagonal of "
                    "U, where L U is the matrix or its transpose with rows swapped, and the swaps.",
             .dtypes = matrix_dtypes,
             .type = [](const Op& op, const Types& in, const Params&) -> Types {
               check_operands(op, in, {2});
               const std::int64_t n = rows_of(in[0].shape);
               if (n != columns_of(in[0].shape)) {
                 value_error("lu_diagonal: the matrices are ", n, " by ", columns_of(in[0].shape),
                             "; square ones were expected.");
               }
               const Type index = with_dtype(in[0], DType::int32);
               return {with_vector(in[0], n), with_vector(index, n)};
             },
             .jvp = [](const JvpArgs&) -> Values { no_derivative("lu_diagonal"); },
             .multiple_results = true,
             .kernel = small_stack_kernel<Diagonal, DiagonalLanes>})};

// ---- lu_pivots_to_permutation ----------------------------------------------------------------

struct Permutation {
  explicit Permutation(const JobArgs& args)
      : in(args.in[0], 1),
        out(args.out[0], 1),
        pivots(elements(in.rows(), 1)),
        order(elements(out.rows(), 1)) {}
  std::int64_t count() const { return in.count(); }
  double flops() const { return static_cast<double>(out.rows()); }
  void load(std::int64_t i) { in.load(i, pivots); }
  void compute() { permute(pivots.data(), in.rows(), order.data(), out.rows()); }
  void store(std::int64_t i) { out.store(i, order); }

  Stack in, out;
  std::vector<std::int32_t> pivots, order;
};

const Op permutation_op{stacked<1>(
    {.name = "lu_pivots_to_permutation",
     .operands = 1,
     .doc = "The order of rows that row swaps make, for stacks of them.",
     .dtypes = bit(DType::int32),
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_operands(op, in, {1});
       const std::int64_t size = params.integer(param::permutation_size);
       if (size < in[0].shape.back()) {
         value_error("Output permutation size ", size,
                     " has to exceed the trailing dimension of the pivots. Got pivots size ",
                     in[0].shape.back());
       }
       return {with_last(in[0], 1, {size})};
     },
     .no_gradient = true,
     .kernel = [](const Types&, const Types&, const Params& params) -> Kernel {
       return [params](std::span<const View> in, std::span<const View> out) {
         in_tasks<NoTurn>(Permutation(JobArgs{params, in, out}));
       };
     }})};

}  // namespace

Value solve(const Value& a, const Value& b) {
  const Values factors = shardax::bind(lu_op, {}, {a});
  const Value y = triangular_solve(factors[0], rows_in_order(b, factors[2]),
                                   {.left_side = true, .lower = true, .unit_diagonal = true});
  return triangular_solve(factors[0], y, {.left_side = true});
}

}  // namespace shardax::ops
