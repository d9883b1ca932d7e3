// ops/linalg/svd.cpp - svd.
#include <algorithm>
#include <functional>
#include <numeric>

#include "base/index.h"
#include "kernels/small_linalg/tridiagonal.h"
#include "ops/linalg/batched_small_lapack.h"

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
              args.params.text(param::algorithm_name) == "QR"),
        a(elements(m, n)),
        s(elements(std::min(m, n), 1)) {
    if (!args.params.flag(param::compute_uv)) return;
    job = args.params.flag(param::full_matrices) ? 'A' : 'S';
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

  // The vectors of a matrix without elements are any basis.
  void complete_basis() {
    good = true;
    if (vectors.empty()) return;
    std::fill(u.begin(), u.end(), T(0));
    std::fill(vt.begin(), vt.end(), T(0));
    for (std::int64_t i = 0; i < std::min(m, vectors[0].columns()); ++i) {
      u[index(i * m + i)] = T(1);
    }
    const std::int64_t rows = vectors[1].rows();
    for (std::int64_t i = 0; i < std::min(n, rows); ++i) {
      vt[index(i * rows + i)] = T(1);
    }
  }

  Stack in, values;
  std::vector<Stack> vectors;  // two, or none
  std::int64_t m, n;
  bool by_qr, good = false;
  char job = 'N';
  Scratch<T> a, u, vt;
  std::vector<R> s;
  lapack::Work<T> work;
};

// It works on the adjoints if there are more columns than rows.
template <class L>
struct SvdLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) {
    return fits_lanes<T>(Stack(args.in[0])) && !Svd<T>(args).by_qr;
  }
  explicit SvdLanes(const JobArgs& args)
      : one(args),
        wide(one.n > one.m),
        m(std::max(one.m, one.n)),
        n(std::min(one.m, one.n)),
        a(one.a.size()),
        values(elements(n, one.job == 'N' ? 2 : 1)),
        e(values.size()),
        v(one.job == 'N' ? 0 : elements(n, n)),
        gram(v.size()),
        sorted(one.job == 'N' ? 0 : one.a.size()),
        taus(one.s.size()),
        work(one.s.size()),
        basis(one.job == 'N' ? 0 : elements(m, width())) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }

  void load(const Group<L>& group) {
    load_group(one.in, group, a, !wide);
    finite.fill(true);
    for (std::size_t lane = 0; lane < finite.size(); ++lane) {
      for (lanes::Cell<L>& cell : a) {
        const T x = lanes::get(cell, static_cast<std::int64_t>(lane));
        finite[lane] &= std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
      }
    }
    for (lanes::Cell<L>& cell : a) {
      if (wide) lanes::conjugate(cell);
    }
  }
  void compute() {
    if (one.job == 'N') return lanes::singular_values(a.data(), values.data(), e.data(), n, m);
    lanes::svd(a.data(), values.data(), v.data(), m, n, gram.data(), sorted.data(), taus.data(),
               work.data(), e.data());
  }
  void store(const Group<L>& group) {
    for (std::size_t lane = 0; lane < group.size(); ++lane) sort(lane);
    // Vectors orthogonal to all vectors of nonzero values complete a basis.
    const bool incomplete =
        one.job != 'N' &&
        (width() > n || std::ranges::any_of(rank, [&](std::int64_t r) { return r < n; }));
    if (incomplete) {
      lanes::in_vectors<L>([&] {
        lanes::qr(sorted.data(), taus.data(), m, n);
        lanes::product_of_reflectors(sorted.data(), taus.data(), basis.data(), m, n, width());
      });
    }
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      const auto at = static_cast<std::int64_t>(lane);
      for (std::int64_t j = 0; j < n; ++j) {
        one.s[index(j)] = values[position(order[lane], j)].re[at];
      }
      for (std::int64_t j = 0; one.job != 'N' && j < width(); ++j) {
        for (std::int64_t i = 0; i < m; ++i) set_long(i, j, long_vector(lane, i, j));
      }
      for (std::int64_t j = 0; one.job != 'N' && j < n; ++j) {
        const auto from = static_cast<std::int64_t>(position(order[lane], j)) * n;
        for (std::int64_t i = 0; i < n; ++i) {
          set_short(i, j, lanes::get(v[index(from + i)], at));
        }
      }
      one.good = finite[lane];
      one.store(group[lane]);
    }
  }

 private:
  using Order = std::array<std::int64_t, lane_rows>;
  static std::size_t position(const Order& order, std::int64_t j) { return index(order[index(j)]); }
  // The number of vectors of m elements that are wanted.
  std::int64_t width() const {
    return one.job == 'N' ? 0 : wide ? one.vectors[1].rows() : one.vectors[0].columns();
  }

  // Singular values in descending order, and the vectors of those that are not 0 in columns.
  void sort(std::size_t lane) {
    const auto at = static_cast<std::int64_t>(lane);
    const auto value = [&](std::int64_t j) { return values[index(j)].re[at]; };
    const auto begin = order[lane].begin(), end = begin + n;
    std::iota(begin, end, 0);
    rank[lane] = n;
    if (!finite[lane]) return;
    if (one.job == 'N') return sort_values(at);
    std::stable_sort(begin, end, [&](auto i, auto j) { return value(i) > value(j); });
    const auto least = std::numeric_limits<lanes::Real<L>>::epsilon() *
                       static_cast<lanes::Real<L>>(m) * value(*begin);
    while (rank[lane] > 0 && !(value(order[lane][index(rank[lane] - 1)]) > least)) {
      --rank[lane];
    }
    for (std::int64_t j = 0; !sorted.empty() && j < n; ++j) {
      const auto from = static_cast<std::int64_t>(position(order[lane], j)) * m;
      for (std::int64_t i = 0; i < m; ++i) {
        const T x = j < rank[lane] ? lanes::get(a[index(from + i)], at) : T(0);
        lanes::set(sorted[index(i * n + j)], at, x);
      }
    }
  }
  // Keeps the values, of the values and their negatives.
  void sort_values(std::int64_t lane) {
    std::array<lanes::Real<L>, 2 * lane_rows> both;
    const auto end = both.begin() + 2 * n;
    std::transform(values.begin(), values.end(), both.begin(),
                   [&](const auto& cell) { return cell.re[lane]; });
    std::sort(both.begin(), end, std::greater<>());
    for (std::int64_t j = 0; j < n; ++j) {
      values[index(j)].re[lane] = std::max(both[index(j)], lanes::Real<L>(0));
    }
  }
  // Element i of the jth vector of m elements, as rotations left it, or of the basis. The first
  // vectors of the basis are the same but for their signs, which R's diagonal has.
  T long_vector(std::size_t lane, std::int64_t i, std::int64_t j) const {
    const auto at = static_cast<std::int64_t>(lane);
    if (j < rank[lane]) {
      const auto from = static_cast<std::int64_t>(position(order[lane], j)) * m;
      return lanes::get(a[index(from + i)], at);
    }
    return lanes::get(basis[index(i * width() + j)], at);
  }
  void set_long(std::int64_t i, std::int64_t j, T x) {
    if (wide) {
      set_vt(j, i, x);
    } else {
      one.u[index(j * one.m + i)] = x;
    }
  }
  void set_short(std::int64_t i, std::int64_t j, T x) {
    if (wide) {
      one.u[index(j * one.m + i)] = x;
    } else {
      set_vt(j, i, x);
    }
  }
  void set_vt(std::int64_t row, std::int64_t column, T x) {
    if constexpr (lanes::complex_cells<L>) x = std::conj(x);
    one.vt[index(column * one.vectors[1].rows() + row)] = x;
  }

  Svd<T> one;
  bool wide;
  std::int64_t m, n;
  Cells<L> a;
  Cells<lanes::RealLanes<L>> values, e;
  Cells<L> v, gram, sorted, taus, work, basis;
  std::array<bool, lanes::width<L>> finite;
  std::array<Order, lanes::width<L>> order;
  std::array<std::int64_t, lanes::width<L>> rank;
};

Types svd_type(const Op& op, const Types& in, const Params& params) {
  check_operands(op, in, {2});
  const std::int64_t m = rows_of(in[0].shape), n = columns_of(in[0].shape), k = std::min(m, n);
  const bool full = params.flag(param::full_matrices);
  if (!params.has("algorithm")) value_error("svd: the param algorithm is missing.");
  if (params.has("subset_by_index")) {
    const auto* range = std::get_if<Ints>(params.find("subset_by_index"));
    if (range && *range != Ints{0, k}) {
      if (full) value_error("full_matrices and subset_by_index cannot both be set");
      fail(ErrorKind::not_implemented_error, "subset_by_index not implemented for CPU and GPU");
    }
  }
  const Type real = with_dtype(in[0], real_dtype(in[0].dtype), in[0].weak);
  Types out{with_vector(real, k)};
  if (params.flag(param::compute_uv)) {
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
  const bool vectors = args.params.flag(param::compute_uv);
  if (vectors && args.params.flag(param::full_matrices) && m != n) {
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

const Op svd_op{
    stacked({.name = "svd",
             .operands = 1,
             .doc = "Singular values in descending order, and where asked for left singular "
                    "vectors in columns and right ones, conjugated, in rows, of stacks of "
                    "matrices.",
             .dtypes = matrix_dtypes,
             .type = svd_type,
             .jvp = svd_jvp,
             .multiple_results = true,
             .kernel = small_stack_kernel<Svd, SvdLanes>})};

}  // namespace
}  // namespace shardax::ops
