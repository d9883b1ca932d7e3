// ops/svd.cpp - svd.
#include "ops/matrices.h"

namespace shardax::ops {
namespace {

extern const Op svd_op;

template <class T>
struct Svd {
  using R = lapack::Real<T>;
  explicit Svd(const JobArgs& args)
      : in(args.in[0]),
        values(args.out[0], 1),
        m(in.rows()),
        n(in.columns()),
        by_qr(std::holds_alternative<std::string>(*args.params.find("algorithm")) &&
              args.params.text("algorithm") == "QR"),
        a(elements(m, n)),
        s(elements(std::min(m, n), 1)) {
    if (!args.params.flag("compute_uv")) return;
    job = args.params.flag("full_matrices") ? 'A' : 'S';
    vectors.emplace_back(args.out[1]);
    vectors.emplace_back(args.out[2]);
    u.resize(elements(m, vectors[0].columns()));
    vt.resize(elements(vectors[1].rows(), n));
  }

  std::int64_t count() const { return in.count(); }
  double flops() const {
    const auto least = static_cast<double>(std::min(m, n)),
               most = static_cast<double>(std::max(m, n));
    const double vectors_flops =
        job == 'N' ? 0 : 4 * most * least * least + 13 * least * least * least;
    const double basis = job == 'A' ? 4 * most * most * least : 0;
    return flops_of<T>(4 * most * least * least + vectors_flops + basis);
  }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() {
    if (s.empty()) return complete_basis();
    const Int rows = lapack_size(m), columns = lapack_size(n);
    const Int ldu = job == 'N' ? 1 : rows;
    const Int ldvt = job == 'N' ? 1 : lapack_size(vectors[1].rows());
    good = all_finite(a) && (by_qr ? lapack::gesvd(job, job, rows, columns, a.data(), s.data(),
                                                   u.data(), ldu, vt.data(), ldvt, work)
                                   : lapack::gesdd(job, rows, columns, a.data(), s.data(), u.data(),
                                                   ldu, vt.data(), ldvt, work)) == 0;
  }
  void store(std::int64_t i) {
    if (good) {
      values.store(i, s);
    } else {
      values.fill(i, nan_of<R>());
    }
    for (std::size_t k = 0; k < vectors.size(); ++k) {
      if (good) {
        vectors[k].store(i, k == 0 ? u : vt);
      } else {
        vectors[k].fill(i, nan_of<T>());
      }
    }
  }

  // Of a matrix without elements the vectors are any basis.
  void complete_basis() {
    good = true;
    if (vectors.empty()) return;
    for (std::int64_t i = 0; i < std::min(m, vectors[0].columns()); ++i) {
      u[static_cast<std::size_t>(i * m + i)] = T(1);
    }
    const std::int64_t rows = vectors[1].rows();
    for (std::int64_t i = 0; i < std::min(n, rows); ++i) {
      vt[static_cast<std::size_t>(i * rows + i)] = T(1);
    }
  }

  Stack in, values;
  std::vector<Stack> vectors;  // two, or none
  std::int64_t m, n;
  bool by_qr, good = false;
  char job = 'N';
  std::vector<T> a, u, vt;
  std::vector<R> s;
  lapack::Work<T> work;
};

Types svd_type(const Op& op, const Types& in, const Params& params) {
  check_operands(op, in, {2});
  const std::int64_t m = rows_of(in[0].shape), n = columns_of(in[0].shape), k = std::min(m, n);
  const bool full = params.flag("full_matrices");
  if (params.has("subset_by_index")) {
    const auto* range = std::get_if<Ints>(params.find("subset_by_index"));
    if (range && *range != Ints{0, k}) {
      if (full) value_error("full_matrices and subset_by_index cannot both be set");
      fail(ErrorKind::not_implemented_error, "subset_by_index not implemented for CPU and GPU");
    }
  }
  const Type real = with_dtype(in[0], real_dtype(in[0].dtype), in[0].weak);
  Types out{with_vector(real, k)};
  if (params.flag("compute_uv")) {
    out.push_back(with_matrix(in[0], m, full ? m : k));
    out.push_back(with_matrix(in[0], full ? n : k, n));
  }
  return out;
}

// 1 / a where a is not 0, else 0.
Value inverse_of_nonzero(const Value& a) {
  const Value zero = convert(eq(a, full_like(a, 0)), a->dtype());
  return sub(div(full_like(a, 1), add(a, zero)), zero);
}

// Giles 2008, 3.2, and Townsend, "Differentiating the singular value decomposition", 2016, for
// distinct values; equal ones give infinities and NaN, as in JAX.
Values svd_jvp(const JvpArgs& args) {
  const Value& a = args.in[0];
  const Value& da = args.t[0];
  const std::int64_t m = rows_of(a->shape()), n = columns_of(a->shape()), k = std::min(m, n);
  const bool vectors = args.params.flag("compute_uv");
  if (vectors && args.params.flag("full_matrices") && m != n) {
    fail(ErrorKind::not_implemented_error,
         "Singular value decomposition JVP not implemented for full matrices");
  }
  Values out = args.out;
  if (!vectors) {
    Params params = args.params.with("compute_uv", true);
    params.set("full_matrices", false);
    out = shardax::bind(svd_op, params, args.in);
  }
  const Value &s = out[0], &u = out[1], &vt = out[2];
  const Value v = adjoint(vt), ut = adjoint(u);
  const Value change = product(product(ut, da), v);
  const Value ds = diagonal_of(real_part(change));
  if (!vectors) return {ds};

  const Value across = along_rows(s, k), down = along_columns(s, k);
  const Value gaps = mul(add(across, down), sub(across, down));
  const Value f = convert(inverse_off_diagonal(gaps), a->dtype());
  const Value scaled = mul(convert(across, a->dtype()), change),
              scaled_rows = mul(convert(down, a->dtype()), change);
  Value du = mul(f, add(scaled, adjoint(scaled)));
  const Value dv = mul(f, add(scaled_rows, adjoint(scaled_rows)));
  if (is_complex(a->dtype())) {
    const Value skew = mul(sub(change, adjoint(change)), scalar(a->dtype(), 0.5));
    du = add(du, mul(skew, convert(diagonal_matrix(inverse_of_nonzero(s)), a->dtype())));
  }
  Value u_moved = product(u, du), v_moved = product(v, dv);
  if (m > n) {
    const Value beyond = product(da, v);
    const Value left = sub(beyond, product(u, product(ut, beyond)));
    u_moved = add(u_moved, div(left, convert(along_rows(s, m), a->dtype())));
  }
  if (n > m) {
    const Value beyond = product(adjoint(da), u);
    const Value left = sub(beyond, product(v, product(vt, beyond)));
    v_moved = add(v_moved, div(left, convert(along_rows(s, n), a->dtype())));
  }
  return {ds, u_moved, adjoint(v_moved)};
}

const Op svd_op{{.name = "svd",
                 .doc = "Singular values in descending order, and where asked for left singular "
                        "vectors in columns and right ones, conjugated, in rows, of stacks of "
                        "matrices.",
                 .dtypes = matrix_dtypes,
                 .type = svd_type,
                 .jvp = svd_jvp,
                 .batch = batch_stack,
                 .multiple_results = true,
                 .split = split_stack<2>,
                 .check_split = check_split_stack<2>,
                 .parts = parts_stack<2>,
                 .kernel = stack_kernel<Svd>}};

}  // namespace
}  // namespace shardax::ops
