// ops/linalg/reflectors.cpp - geqrf, geqp3, householder_product and ormqr: Householder's
// reflectors, of which a QR decomposition is made.
#include "ops/linalg/matrices.h"

namespace shardax::ops {
namespace {

double qr_flops(std::int64_t m, std::int64_t n) {
  return 2.0 * static_cast<double>(m * n * std::min(m, n));
}

// ---- geqrf, geqp3 ----------------------------------------------------------------------------

template <class T>
struct Geqrf {
  explicit Geqrf(const JobArgs& args)
      : in(args.in[0]),
        out(args.out[0]),
        taus_out(args.out[1], 1),
        m(in.rows()),
        n(in.columns()),
        a(elements(m, n)),
        taus(elements(std::min(m, n), 1)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(qr_flops(m, n)); }
  void load(std::int64_t i) { in.load(i, a); }
  void compute() { lapack::geqrf(lapack_size(m), lapack_size(n), a.data(), taus.data(), work); }
  void store(std::int64_t i) {
    out.store(i, a);
    taus_out.store(i, taus);
  }

  Stack in, out, taus_out;
  std::int64_t m, n;
  Scratch<T> a, taus;
  lapack::Work<T> work;
};

const Op geqrf_op{stacked(
    {.name = "geqrf",
     .operands = 1,
     .doc = "QR decompositions of stacks of matrices: R in the upper triangle, below it the "
            "reflectors whose product is Q; and their factors.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_operands(op, in, {2});
       return {in[0], with_vector(in[0], least_of(in[0].shape))};
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("geqrf"); },
     .multiple_results = true,
     .kernel = stack_kernel<Geqrf>})};

template <class T>
struct Geqp3 {
  explicit Geqp3(const JobArgs& args)
      : in(args.in[0]),
        columns_in(args.in[1], 1),
        out(args.out[0]),
        columns_out(args.out[1], 1),
        taus_out(args.out[2], 1),
        m(in.rows()),
        n(in.columns()),
        a(elements(m, n)),
        taus(elements(std::min(m, n), 1)),
        columns(elements(n, 1)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(qr_flops(m, n)); }
  void load(std::int64_t i) {
    in.load(i, a);
    columns_in.load(i, columns);
  }
  void compute() {
    lapack::geqp3(lapack_size(m), lapack_size(n), a.data(), columns.data(), taus.data(), work);
  }
  void store(std::int64_t i) {
    out.store(i, a);
    columns_out.store(i, columns);
    taus_out.store(i, taus);
  }

  Stack in, columns_in, out, columns_out, taus_out;
  std::int64_t m, n;
  Scratch<T> a, taus;
  std::vector<Int> columns;
  lapack::Work<T> work;
};

const Op geqp3_op{stacked(
    {.name = "geqp3",
     .operands = 2,
     .doc =
         "QR decompositions with column pivots of stacks of matrices: as geqrf, and the order of "
         "columns, counted from 1. Columns that the second operand marks (not 0) come first.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_operands(op, {in[0]}, {2});
       const Type order = with_vector(with_dtype(in[0], DType::int32), columns_of(in[0].shape));
       if (in[1].dtype != DType::int32 || in[1].shape != order.shape) {
         type_error("geqp3: the columns' marks are ", to_string(in[1]), "; int32 numbers of shape ",
                    to_string(order.shape), " were expected.");
       }
       return {in[0], order, with_vector(in[0], least_of(in[0].shape))};
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("geqp3"); },
     .multiple_results = true,
     .kernel = stack_kernel<Geqp3>})};

// ---- householder_product ---------------------------------------------------------------------

template <class T>
struct HouseholderProduct {
  explicit HouseholderProduct(const JobArgs& args)
      : in(args.in[0]),
        taus_in(args.in[1], 1),
        out(args.out[0]),
        m(in.rows()),
        n(in.columns()),
        a(elements(m, n)),
        taus(elements(taus_in.rows(), 1)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(qr_flops(m, n)); }
  void load(std::int64_t i) {
    in.load(i, a);
    taus_in.load(i, taus);
  }
  void compute() {
    lapack::orgqr(lapack_size(m), lapack_size(n), lapack_size(taus_in.rows()), a.data(),
                  taus.data(), work);
  }
  void store(std::int64_t i) { out.store(i, a); }

  Stack in, taus_in, out;
  std::int64_t m, n;
  Scratch<T> a, taus;
  lapack::Work<T> work;
};

const Op householder_product_op{stacked(
    {.name = "householder_product",
     .operands = 2,
     .doc =
         "The first columns of products of reflectors, which lie below the diagonal of stacks of "
         "matrices; operands: these, and the reflectors' factors.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_operands(op, in, {2, 1});
       const std::int64_t m = rows_of(in[0].shape), n = columns_of(in[0].shape);
       const std::int64_t k = in[1].shape.back();
       if (m < n) {
         value_error(
             "The first argument to householder_product must have at least as many rows as "
             "columns, got shape ",
             to_string(Shape{m, n}));
       }
       if (k > std::min(m, n)) {
         value_error(
             "The second argument to householder_product must not have more rows than the "
             "minimum of the first argument's rows and columns. Got shapes ",
             to_string(in[0].shape), " and ", to_string(in[1].shape));
       }
       return {in[0]};
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("householder_product"); },
     .kernel = stack_kernel<HouseholderProduct>})};

// ---- ormqr -----------------------------------------------------------------------------------

template <class T>
struct Ormqr {
  explicit Ormqr(const JobArgs& args)
      : a_in(args.in[0]),
        taus_in(args.in[1], 1),
        c_in(args.in[2]),
        out(args.out[0]),
        left(args.params.flag(param::left)),
        transpose(args.params.flag(param::transpose)),
        a(elements(a_in.rows(), a_in.columns())),
        taus(elements(taus_in.rows(), 1)),
        c(elements(c_in.rows(), c_in.columns())) {}

  std::int64_t count() const { return c_in.count(); }
  double flops() const {
    return flops_of<T>(4.0 * static_cast<double>(c_in.size() * taus_in.rows()));
  }
  void load(std::int64_t i) {
    a_in.load(i, a);
    taus_in.load(i, taus);
    c_in.load(i, c);
  }
  void compute() {
    if (c.empty() || taus.empty()) return;
    const char trans = !transpose ? 'N' : lapack::is_complex<T> ? 'C' : 'T';
    lapack::ormqr(left ? 'L' : 'R', trans, lapack_size(c_in.rows()), lapack_size(c_in.columns()),
                  lapack_size(taus_in.rows()), lapack_size(a_in.rows()), a.data(), taus.data(),
                  c.data(), work);
  }
  void store(std::int64_t i) { out.store(i, c); }

  Stack a_in, taus_in, c_in, out;
  bool left, transpose;
  Scratch<T> a, taus, c;
  lapack::Work<T> work;
};

extern const Op ormqr_op;

const Op ormqr_op{stacked(
    {.name = "ormqr",
     .operands = 3,
     .doc =
         "Stacks of matrices c times the product Q of reflectors, from the left or the right, or "
         "times its conjugate transpose; operands: reflectors, their factors, c.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_operands(op, in, {2, 1, 2});
       const std::int64_t m = rows_of(in[0].shape);
       const bool left = params.flag(param::left);
       params.flag(param::transpose);
       if ((left ? rows_of(in[2].shape) : columns_of(in[2].shape)) != m) {
         value_error("ormqr with left=", left ? "True" : "False",
                     " expects c to have the same number of ",
                     left ? "rows as the Householder matrix a"
                          : "columns as the Householder matrix a has rows",
                     ". Got a shape ", to_string(in[0].shape), " and c shape ",
                     to_string(in[2].shape), ".");
       }
       if (in[1].shape.back() > std::min(m, columns_of(in[0].shape))) {
         value_error("ormqr: there are ", in[1].shape.back(),
                     " factors of reflectors for a of shape ", to_string(in[0].shape),
                     "; at most as many as its rows and columns fit.");
       }
       return {in[2]};
     },
     .jvp = [](const JvpArgs& args) -> Values {
       if (args.t[0] || args.t[1]) no_derivative("ormqr");
       return {bind1(ormqr_op, args.params, {args.in[0], args.in[1], args.t[2]})};
     },
     // Q^T = conj(Q^H).
     .transpose = [](const TransposeArgs& a) -> Values {
       const Params params = a.params.with("transpose", !a.params.flag(param::transpose));
       return {nullptr, nullptr, conj(bind1(ormqr_op, params, {a.in[0], a.in[1], conj(a.ct[0])}))};
     },
     .kernel = stack_kernel<Ormqr>})};

}  // namespace
}  // namespace shardax::ops
