// ops/linalg/qr.cpp - qr.
#include "base/index.h"
#include "ops/linalg/batched_small_lapack.h"

namespace shardax::ops {
namespace {

template <class T>
struct Qr {
  explicit Qr(const JobArgs& args)
      : in(args.in[0]),
        q_out(args.out[0]),
        r_out(args.out[1]),
        m(in.rows()),
        n(in.columns()),
        k(std::min(m, n)),
        a(elements(m, n)),
        q(elements(m, q_out.columns())),
        r(elements(r_out.rows(), n)),
        taus(elements(k, 1)) {
    if (!args.params.flag(param::pivoting)) return;
    order_out.emplace_back(args.out[2], 1);
    order.resize(elements(n, 1));
  }

  std::int64_t count() const { return in.count(); }
  double flops() const {
    return flops_of<T>(2.0 * static_cast<double>(k) *
                       static_cast<double>(in.size() + q_out.size()));
  }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() {
    const Int rows = lapack_size(m), columns = lapack_size(n);
    std::fill(order.begin(), order.end(), 0);  // no column is marked to come first
    if (order_out.empty()) {
      lapack::geqrf(rows, columns, a.data(), taus.data(), work);
    } else if (k > 0) {
      lapack::geqp3(rows, columns, a.data(), order.data(), taus.data(), work);
      for (Int& column : order) --column;
    }
    const std::int64_t height = r_out.rows();
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < height; ++i) {
        r[index(j * height + i)] = i <= j ? a[index(j * m + i)] : T(0);
      }
    }
    std::copy_n(a.begin(), elements(m, k), q.begin());
    lapack::orgqr(rows, lapack_size(q_out.columns()), lapack_size(k), q.data(), taus.data(),
                  product_work);
  }
  void store(std::int64_t i) {
    q_out.store(i, q);
    r_out.store(i, r);
    for (const Stack& out : order_out) out.store(i, order);
  }

  Stack in, q_out, r_out;
  std::vector<Stack> order_out;  // one, or none
  std::int64_t m, n, k;
  Scratch<T> a, q, r, taus;
  std::vector<Int> order;
  lapack::Work<T> work, product_work;
};

template <class L>
struct QrLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) {
    return fits_lanes<T>(Stack(args.in[0])) && !args.params.flag(param::pivoting);
  }
  explicit QrLanes(const JobArgs& args)
      : one(args), a(one.a.size()), q(one.q.size()), taus(one.taus.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<L>& group) { load_group(one.in, group, a); }
  void compute() {
    lanes::qr(a.data(), taus.data(), one.m, one.n);
    lanes::product_of_reflectors(a.data(), taus.data(), q.data(), one.m, one.n,
                                 one.q_out.columns());
  }
  void store(const Group<L>& group) {
    store_group(one.q_out, group, q);
    for (std::int64_t r = 0; r < one.r_out.rows(); ++r) {
      for (std::int64_t c = 0; c < std::min(r, one.n); ++c) {
        a[index(r * one.n + c)] = lanes::Cell<L>();
      }
    }
    store_group(one.r_out, group, a);
  }

  Qr<T> one;
  Cells<L> a, q, taus;
};

struct Factors {
  Value q, r;
};

// The tangents of a matrix of as many rows as columns or more. Q* dA R^-1 = Q* dQ + dR R^-1 is a
// skew-Hermitian and an upper triangular part, whose diagonal is real. See Walter, Lehmann, Lamour:
// "On evaluating higher-order derivatives of the QR decomposition", 2012; Townsend,
// "Differentiating the QR decomposition", 2018.
Factors thin_tangents(const Value& q, const Value& r, const Value& da) {
  const Value scaled = triangular_solve(r, da, {});
  const Value inner = product(adjoint(q), scaled);
  const Value lower = triangle(inner, true, 1);
  Value skew = sub(lower, adjoint(lower));
  if (is_complex(inner->dtype())) {
    const Value imaginary = sub(inner, convert(unary("real", inner), inner->dtype()));
    skew = add(skew, mul(identity_like(inner), imaginary));
  }
  const Value dq = add(product(q, sub(skew, inner)), scaled);
  return {dq, product(sub(inner, skew), r)};
}

// The columns beyond the thin Q, which LAPACK chooses as the product of reflectors does. Roberts
// and Roberts, "QR and LQ decomposition matrix backpropagation algorithms for square, wide, and
// deep matrices", 2020, gives the thin part. The rest follows from the compact form Q = I - Y T Y*.
Value completed_tangent(const Value& q, const Value& dq_thin, std::int64_t n) {
  const std::int64_t m = rows_of(q->shape());
  const Value thin = columns_between(q, 0, n), beyond = columns_between(q, n, m);
  const Value top = rows_between(thin, 0, n), bottom = rows_between(thin, n, m);
  const Value eye = identity_like(top);
  // Z = bottom (top - 1)^-1
  const Value z_adjoint = solve(adjoint(sub(top, eye)), adjoint(bottom));
  const Value z = adjoint(z_adjoint);
  const Value moved = sub(rows_between(dq_thin, n, m), product(z, rows_between(dq_thin, 0, n)));
  return sub(product(dq_thin, z_adjoint), product(add(thin, product(beyond, z)), adjoint(moved)));
}

Values qr_jvp(const JvpArgs& args) {
  const Value &q = args.out[0], &r = args.out[1];
  const std::int64_t m = rows_of(args.in[0]->shape()), n = columns_of(args.in[0]->shape());
  const bool pivoting = args.params.flag(param::pivoting);
  const Value da = pivoting ? columns_in_order(args.t[0], args.out[2]) : args.t[0];
  Values out;
  if (m < n) {
    // The first m columns make Q; R = Q* A for the others.
    const Factors first = thin_tangents(q, columns_between(r, 0, m), columns_between(da, 0, m));
    const Value others = product(q, columns_between(r, m, n));
    const Value rest =
        add(product(adjoint(first.q), others), product(adjoint(q), columns_between(da, m, n)));
    out = {first.q, side_by_side(first.r, rest)};
  } else {
    const bool more = args.params.flag(param::full_matrices) && m > n;
    const Factors thin =
        thin_tangents(more ? columns_between(q, 0, n) : q, more ? rows_between(r, 0, n) : r, da);
    out = {thin.q, thin.r};
    if (more) {
      Ints low(r->shape().size(), 0), high = low;
      high[high.size() - 2] = m - n;
      out = {side_by_side(thin.q, completed_tangent(q, thin.q, n)),
             pad(thin.r, scalar(r->dtype(), 0), low, high, low)};
    }
  }
  if (pivoting) out.push_back(nullptr);
  return out;
}

const Op qr_op{stacked(
    {.name = "qr",
     .operands = 1,
     .doc =
         "Q and R of stacks of matrices, R upper triangular; with `pivoting` of a[:, order], and "
         "the order, in which R's diagonal does not grow.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_operands(op, in, {2});
       const std::int64_t m = rows_of(in[0].shape), n = columns_of(in[0].shape);
       const std::int64_t k = params.flag(param::full_matrices) ? m : std::min(m, n);
       Types out{with_matrix(in[0], m, k), with_matrix(in[0], k, n)};
       if (params.flag(param::pivoting)) {
         out.push_back(with_vector(with_dtype(in[0], DType::int32), n));
       }
       return out;
     },
     .jvp = qr_jvp,
     .multiple_results = true,
     .kernel = small_stack_kernel<Qr, QrLanes>})};

}  // namespace
}  // namespace shardax::ops
