// ops/linalg/eigh.cpp - eigh and tridiagonal: Hermitian matrices.
#include <algorithm>

#include "base/index.h"
#include "kernels/small_linalg/tridiagonal.h"
#include "ops/linalg/batched_small_lapack.h"

namespace shardax::ops {
namespace {

void check_subset(const Params& params, std::int64_t size) {
  if (!params.has("subset_by_index")) return;
  const ParamValue& subset = *params.find("subset_by_index");
  const auto* range = std::get_if<Ints>(&subset);
  if (!range || *range == Ints{0, size}) return;
  fail(ErrorKind::not_implemented_error, "subset_by_index not supported on CPU and GPU");
}

// One triangle, the other of which is not read, without an infinity or NaN?
template <class T>
bool finite_triangle(const Scratch<T>& a, std::int64_t n, bool lower) {
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = lower ? j : 0; i < (lower ? n : j + 1); ++i) {
      const T& x = a[index(j * n + i)];
      if (!std::isfinite(std::real(x)) || !std::isfinite(std::imag(x))) return false;
    }
  }
  return true;
}

// ---- eigh ------------------------------------------------------------------------------------

// Are eigenvectors wanted? A missing parameter means yes.
bool with_vectors(const Params& params) {
  return !params.has("compute_eigenvectors") || params.flag(param::compute_eigenvectors);
}

extern const Op eigh_op;

template <class T>
struct Eigh {
  explicit Eigh(const JobArgs& args)
      : in(args.in[0]),
        values(args.out.back(), 1),
        n(in.rows()),
        lower(args.params.flag(param::lower)),
        a(elements(n, n)),
        w(elements(n, 1)) {
    if (with_vectors(args.params)) vectors.emplace_back(args.out[0]);
  }

  std::int64_t count() const { return in.count(); }
  double flops() const {
    return flops_of<T>((vectors.empty() ? 3.0 : 9.0) * static_cast<double>(n * n * n));
  }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() {
    good = finite_triangle(a, n, lower) &&
           lapack::heevd(vectors.empty() ? 'N' : 'V', lower ? 'L' : 'U', lapack_size(n), a.data(),
                         w.data(), work) == 0;
  }
  void store(std::int64_t i) {
    if (good) {
      for (const Stack& out : vectors) out.store(i, a);
      values.store(i, w);
    } else {
      for (const Stack& out : vectors) out.fill(i, nan_of<T>());
      values.fill(i, nan_of<lapack::Real<T>>());
    }
  }

  Stack in, values;
  std::vector<Stack> vectors;  // one, or none
  std::int64_t n;
  bool lower, good = false;
  Scratch<T> a;
  std::vector<lapack::Real<T>> w;
  lapack::Work<T> work;
};

template <class L>
struct EighLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) { return fits_lanes<T>(Stack(args.in[0])); }
  explicit EighLanes(const JobArgs& args)
      : one(args),
        a(one.a.size()),
        w(one.w.size()),
        e(one.w.size()),
        v(one.vectors.empty() ? 0 : one.a.size()),
        taus(one.w.size()),
        work(one.w.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }

  void load(const Group<L>& group) {
    load_group(one.in, group, a);
    const auto at = [n = one.n](std::int64_t i, std::int64_t j) { return index(i * n + j); };
    for (std::int64_t i = 0; i < one.n; ++i) {
      if constexpr (lanes::complex_cells<L>) a[at(i, i)].im = lanes::Vector<L>{};
      for (std::int64_t j = 0; j < i; ++j) {  // both triangles are the one that is read
        if (one.lower) {
          a[at(j, i)] = a[at(i, j)];
          lanes::conjugate(a[at(j, i)]);
        } else {
          a[at(i, j)] = a[at(j, i)];
        }
      }
    }
    finite.fill(true);
    for (std::size_t lane = 0; lane < finite.size(); ++lane) {
      for (const lanes::Cell<L>& cell : a) {
        const T x = lanes::get(cell, static_cast<std::int64_t>(lane));
        finite[lane] &= std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
      }
    }
  }
  void compute() {
    lanes::eigh(a.data(), w.data(), v.empty() ? nullptr : v.data(), one.n, taus.data(), work.data(),
                e.data());
  }
  void store(const Group<L>& group) {
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      const auto at = static_cast<std::int64_t>(lane);
      for (std::int64_t i = 0; i < one.n; ++i) {
        order[index(i)] = i;
        one.w[index(i)] = w[index(i)].re[at];
      }
      const auto value = [&](std::int64_t i) { return one.w[index(i)]; };
      if (finite[lane]) {
        std::stable_sort(order.begin(), order.begin() + one.n,
                         [&](std::int64_t i, std::int64_t j) { return value(i) < value(j); });
      }
      for (std::int64_t j = 0; !v.empty() && j < one.n; ++j) {
        for (std::int64_t i = 0; i < one.n; ++i) {
          one.a[index(j * one.n + i)] = lanes::get(v[index(order[index(j)] * one.n + i)], at);
        }
      }
      if (finite[lane]) std::sort(one.w.begin(), one.w.end());
      one.good = finite[lane];
      one.store(group[lane]);
    }
  }

  Eigh<T> one;
  Cells<L> a;
  Cells<lanes::RealLanes<L>> w, e;
  Cells<L> v, taus, work;
  std::array<bool, lanes::width<L>> finite;
  std::array<std::int64_t, lane_rows> order;
};

Types eigh_type(const Op& op, const Types& in, const Params& params) {
  check_operands(op, in, {2});
  params.flag(param::lower);
  const Shape& shape = in[0].shape;
  if (rows_of(shape) != columns_of(shape)) {
    value_error("Argument to symmetric eigendecomposition must have shape [..., n, n], got shape ",
                to_string(shape));
  }
  check_subset(params, columns_of(shape));
  const Type real = with_dtype(in[0], real_dtype(in[0].dtype), in[0].weak);
  const Type values = with_vector(real, columns_of(shape));
  return with_vectors(params) ? Types{in[0], values} : Types{values};
}

// Perturbation theory for distinct eigenvalues (Giles, "An extended collection of matrix derivative
// results", 2008, 3.1): equal ones give infinities and NaN, as in JAX.
Values eigh_jvp(const JvpArgs& args) {
  if (!with_vectors(args.params)) {
    const Params params = args.params.with("compute_eigenvectors", true);
    const Value v = shardax::bind(eigh_op, params, args.in)[0];
    return {diagonal_of(real_part(product(product(adjoint(v), args.t[0]), v)))};
  }
  const Value &v = args.out[0], &w = args.out[1];
  const std::int64_t n = columns_of(v->shape());
  const Value change = product(product(adjoint(v), args.t[0]), v);
  const Value wide = convert(w, v->dtype());
  const Value gaps = sub(along_rows(wide, n), along_columns(wide, n));
  return {product(v, mul(inverse_off_diagonal(gaps), change)), diagonal_of(real_part(change))};
}

const Op eigh_op{stacked(
    {.name = "eigh",
     .operands = 1,
     .doc = "Eigenvectors in columns (unless `compute_eigenvectors` is false), and eigenvalues in "
            "ascending order, of stacks of Hermitian matrices, of which one triangle is read.",
     .dtypes = matrix_dtypes,
     .type = eigh_type,
     .jvp = eigh_jvp,
     .multiple_results = true,
     .kernel = small_stack_kernel<Eigh, EighLanes>})};

// ---- tridiagonal -----------------------------------------------------------------------------

template <class T>
struct Tridiagonal {
  using R = lapack::Real<T>;
  explicit Tridiagonal(const JobArgs& args)
      : in(args.in[0]),
        out(args.out[0]),
        d_out(args.out[1], 1),
        e_out(args.out[2], 1),
        taus_out(args.out[3], 1),
        n(in.rows()),
        lower(args.params.flag(param::lower)),
        a(elements(n, n)),
        taus(elements(n, 1)),
        d(elements(n, 1)),
        e(elements(n, 1)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(n * n * n) * 4 / 3); }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() {
    lapack::hetrd(lower ? 'L' : 'U', lapack_size(n), a.data(), d.data(), e.data(), taus.data(),
                  work);
  }
  void store(std::int64_t i) {
    out.store(i, a);
    d_out.store(i, d);
    e_out.store(i, e);
    taus_out.store(i, taus);
  }

  Stack in, out, d_out, e_out, taus_out;
  std::int64_t n;
  bool lower;
  Scratch<T> a, taus;
  std::vector<R> d, e;
  lapack::Work<T> work;
};

template <class L>
struct TridiagonalLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) {
    return args.params.flag(param::lower) && fits_lanes<T>(Stack(args.in[0]));
  }
  explicit TridiagonalLanes(const JobArgs& args)
      : one(args), a(one.a.size()), taus(one.taus.size()), work(one.taus.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<L>& group) { load_group(one.in, group, a); }
  void compute() { lanes::tridiagonalise(a.data(), taus.data(), work.data(), one.n); }
  void store(const Group<L>& group) {
    store_group(one.out, group, a);
    for (std::size_t lane = 0; lane < group.size(); ++lane) {
      const auto at = static_cast<std::int64_t>(lane);
      const auto real = [&](std::int64_t i, std::int64_t j) {
        return a[index(i * one.n + j)].re[at];
      };
      for (std::int64_t i = 0; i < one.n; ++i) one.d[index(i)] = real(i, i);
      for (std::int64_t i = 0; i + 1 < one.n; ++i) {
        one.e[index(i)] = real(i + 1, i);
        one.taus[index(i)] = lanes::get(taus[index(i)], at);
      }
      one.d_out.store(group[lane], one.d);
      one.e_out.store(group[lane], one.e);
      one.taus_out.store(group[lane], one.taus);
    }
  }

  Tridiagonal<T> one;
  Cells<L> a, taus, work;
};

const Op tridiagonal_op{stacked(
    {.name = "tridiagonal",
     .operands = 1,
     .doc =
         "Hermitian matrices in tridiagonal form: the matrices with the reflectors that make it, "
         "its diagonals and first off-diagonals, and the reflectors' factors.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_operands(op, in, {2});
       params.flag(param::lower);
       const Shape& shape = in[0].shape;
       const std::int64_t n = columns_of(shape);
       if (rows_of(shape) != n || n == 0) {
         value_error("The input to tridiagonal must be a square matrix. Got shape ",
                     to_string(shape), ".");
       }
       const Type real = with_dtype(in[0], real_dtype(in[0].dtype), in[0].weak);
       return {in[0], with_vector(real, n), with_vector(real, n - 1), with_vector(in[0], n - 1)};
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("tridiagonal"); },
     .multiple_results = true,
     .kernel = small_stack_kernel<Tridiagonal, TridiagonalLanes>})};

}  // namespace
}  // namespace shardax::ops
