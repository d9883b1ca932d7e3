// ops/eig.cpp - eig, schur and hessenberg: general square matrices.
#include "kernels/matrix_hessenberg.h"
#include "ops/lane_jobs.h"

namespace shardax::ops {
namespace {

void check_square(const Op& op, const Type& a) {
  if (rows_of(a.shape) == columns_of(a.shape)) return;
  value_error("The input to ", op.name, " must be a square matrix. Got shape ", to_string(a.shape),
              ".");
}

// ---- eig -------------------------------------------------------------------------------------

template <class T>
struct Eig {
  using R = lapack::Real<T>;
  using C = std::complex<R>;
  explicit Eig(const JobArgs& args)
      : in(args.in[0]),
        values(args.out[0], 1),
        n(in.rows()),
        a(elements(n, n)),
        w(elements(n, 1)),
        imaginary(elements(n, 1)) {
    const bool left = args.params.flag("compute_left_eigenvectors"),
               right = args.params.flag("compute_right_eigenvectors");
    if (left) add(args.out[1], vl);
    if (right) add(args.out[left ? 2 : 1], vr);
  }

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(25.0 * static_cast<double>(n * n * n)); }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() {
    good = all_finite(a) &&
           lapack::geev(vl.empty() ? 'N' : 'V', vr.empty() ? 'N' : 'V', lapack_size(n), a.data(),
                        w.data(), imaginary.data(), vl.data(), vr.data(), work) == 0;
    if (good && !lapack::is_complex<T>) join_values();
  }
  void store(std::int64_t i) {
    if (!good) {
      values.fill(i, nan_of<C>());
      for (const Stack& out : vectors) out.fill(i, nan_of<C>());
    } else if constexpr (lapack::is_complex<T>) {
      values.store(i, w);
      for (std::size_t k = 0; k < vectors.size(); ++k) vectors[k].store(i, *memories(k));
    } else {
      values.store(i, joined);
      for (std::size_t k = 0; k < vectors.size(); ++k) vectors[k].store(i, join(*memories(k)));
    }
  }

 private:
  void add(const View& view, std::vector<T>& memory) {
    vectors.emplace_back(view);
    // Not empty for an empty matrix either: emptiness says that no vectors are wanted.
    memory.resize(std::max<std::size_t>(elements(n, n), 1));
  }
  const std::vector<T>* memories(std::size_t k) const { return k == 0 && !vl.empty() ? &vl : &vr; }
  void join_values() {
    joined.clear();
    for (std::size_t j = 0; j < w.size(); ++j) joined.emplace_back(std::real(w[j]), imaginary[j]);
  }
  // The vectors of a pair of conjugate eigenvalues lie as real and imaginary part.
  std::vector<C> join(const std::vector<T>& parts) const {
    std::vector<C> out(elements(n, n));
    const auto size = static_cast<std::size_t>(n);
    for (std::size_t j = 0; j < size; ++j) {
      const bool pair = imaginary[j] != R(0) && j + 1 < size;
      for (std::size_t i = 0; i < size; ++i) {
        const R re = std::real(parts[j * size + i]);
        if (!pair) {
          out[j * size + i] = C(re);
          continue;
        }
        const R im = std::real(parts[(j + 1) * size + i]);
        out[j * size + i] = C(re, im);
        out[(j + 1) * size + i] = C(re, -im);
      }
      if (pair) ++j;
    }
    return out;
  }

  Stack in, values;
  std::vector<Stack> vectors;
  std::int64_t n;
  bool good = false;
  std::vector<T> a, w, vl, vr;
  std::vector<R> imaginary;
  std::vector<C> joined;
  lapack::Work<T> work;
};

extern const Op eig_op;

// The derivative of eigenvectors fixed as geev does it, of length 1 and with a real largest
// component, for distinct eigenvalues (Giles 2008, 3.1): u + c v with c from both conditions.
struct Moved {
  Value values, vectors;
};
Moved moved_vectors(const Value& w, const Value& v, const Value& da) {
  const auto rank = static_cast<std::int64_t>(v->shape().size());
  const std::int64_t n = columns_of(v->shape());
  const Value gaps = sub(along_rows(w, n), along_columns(w, n));
  const Value inner = product(solve(v, da), v);
  const Value u = product(v, mul(inverse_off_diagonal(gaps), inner));
  const Value size = unary("abs", v);
  const Value largest =
      bind1(*find_op("argmax"), {{"axes", Ints{rank - 2}}, {"index_dtype", DType::int32}}, {size});
  const Value row = iota(DType::int32, v->shape(), rank - 2);
  const Value mask = eq(row, along_rows(largest, n));
  const auto at_largest = [&](const Value& a) {
    return reduce_sum(where(mask, a, full_like(a, 0)), {rank - 2});
  };
  const Value along = reduce_sum(unary("real", mul(conj(v), u)), {rank - 2});
  const Value turn = div(at_largest(unary("imag", u)), at_largest(unary("real", v)));
  const Value c = binary("complex", neg(along), neg(turn));
  return {diagonal_of(inner), add(u, mul(v, along_rows(c, n)))};
}

Values eig_jvp(const JvpArgs& args) {
  const bool left = args.params.flag("compute_left_eigenvectors"),
             right = args.params.flag("compute_right_eigenvectors");
  const Value& w = args.out[0];
  const Value da = convert(args.t[0], w->dtype());
  if (!left && !right) {
    // What follows does not depend on the factors that vectors are free by.
    Params params = args.params.with("compute_right_eigenvectors", true);
    params.set("enable_eigvec_derivs", true);
    const Value v = shardax::bind(eig_op, params, args.in)[1];
    const auto last = static_cast<std::int64_t>(v->shape().size() - 1);
    return {reduce_sum(mul(solve(v, da), transposed(v)), {last})};
  }
  if (!args.params.flag("enable_eigvec_derivs")) {
    fail(ErrorKind::not_implemented_error,
         "Derivatives of non-symmetric eigenvectors are only valid under assumptions on the input "
         "that cannot be checked (see the enable_eigvec_derivs argument to lax.linalg.eig). Pass "
         "enable_eigvec_derivs=True to lax.linalg.eig to opt in.");
  }
  Values out;
  if (right) {
    const Moved moved = moved_vectors(w, args.out.back(), da);
    out = {moved.values, moved.vectors};
  }
  if (left) {
    const Moved moved = moved_vectors(conj(w), args.out[1], adjoint(da));
    if (out.empty()) out = {conj(moved.values)};
    out.insert(out.begin() + 1, moved.vectors);
  }
  return out;
}

const Op eig_op{stacked(
    {.name = "eig",
     .doc = "Eigenvalues of stacks of square matrices and, where asked for, left and right "
            "eigenvectors in columns; all complex.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_operands(op, in, {2});
       check_square(op, in[0]);
       const Type type = with_dtype(in[0], complex_dtype(in[0].dtype), in[0].weak);
       Types out{with_vector(type, columns_of(type.shape))};
       for (const char* side : {"compute_left_eigenvectors", "compute_right_eigenvectors"}) {
         if (params.flag(side)) out.push_back(type);
       }
       return out;
     },
     .jvp = eig_jvp,
     .multiple_results = true,
     .kernel = stack_kernel<Eig>})};

// ---- schur -----------------------------------------------------------------------------------

template <class T>
struct Schur {
  explicit Schur(const JobArgs& args)
      : in(args.in[0]),
        form(args.out[0]),
        n(in.rows()),
        a(elements(n, n)),
        w(elements(n, 1)),
        imaginary(elements(n, 1)) {
    if (!args.params.flag("compute_schur_vectors")) return;
    vectors.emplace_back(args.out[1]);
    v.resize(elements(n, n));
  }

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(25.0 * static_cast<double>(n * n * n)); }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() {
    good = all_finite(a) && lapack::gees(vectors.empty() ? 'N' : 'V', lapack_size(n), a.data(),
                                         w.data(), imaginary.data(), v.data(), work) == 0;
  }
  void store(std::int64_t i) {
    if (!good) {
      form.fill(i, nan_of<T>());
      for (const Stack& out : vectors) out.fill(i, nan_of<T>());
      return;
    }
    form.store(i, a);
    for (const Stack& out : vectors) out.store(i, v);
  }

  Stack in, form;
  std::vector<Stack> vectors;  // one, or none
  std::int64_t n;
  bool good = false;
  std::vector<T> a, w, v;
  std::vector<lapack::Real<T>> imaginary;
  lapack::Work<T> work;
};

const Op schur_op{stacked(
    {.name = "schur",
     .doc =
         "The Schur form of stacks of square matrices (of real ones the real form, with blocks of "
         "size 2) and, where asked for, the Schur vectors in columns.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       check_operands(op, in, {2});
       check_square(op, in[0]);
       if (params.flag("compute_schur_vectors")) return {in[0], in[0]};
       return {in[0]};
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("schur"); },
     .multiple_results = true,
     .kernel = stack_kernel<Schur>})};

// ---- hessenberg ------------------------------------------------------------------------------

template <class T>
struct Hessenberg {
  explicit Hessenberg(const JobArgs& args)
      : in(args.in[0]),
        out(args.out[0]),
        taus_out(args.out[1], 1),
        n(in.rows()),
        a(elements(n, n)),
        taus(elements(n, 1)) {}

  std::int64_t count() const { return in.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(n * n * n) * 10 / 3); }

  void load(std::int64_t i) { in.load(i, a); }
  void compute() { lapack::gehrd(lapack_size(n), a.data(), taus.data(), work); }
  void store(std::int64_t i) {
    out.store(i, a);
    taus_out.store(i, taus);
  }

  Stack in, out, taus_out;
  std::int64_t n;
  std::vector<T> a, taus;
  lapack::Work<T> work;
};

template <class T>
struct HessenbergLanes {
  static bool takes(const JobArgs& args) { return fits_lanes<T>(Stack(args.in[0])); }
  explicit HessenbergLanes(const JobArgs& args)
      : one(args), a(one.a.size()), taus(one.taus.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<T>& group) { load_group(one.in, group, a); }
  void compute() { lanes::hessenberg(a.data(), taus.data(), one.n); }
  void store(const Group<T>& group) {
    store_group(one.out, group, a);
    store_group(one.taus_out, group, taus);
  }

  Hessenberg<T> one;
  Cells<T> a, taus;
};

const Op hessenberg_op{stacked(
    {.name = "hessenberg",
     .doc = "Stacks of square matrices in upper Hessenberg form, below it the reflectors that make "
            "it; and the reflectors' factors.",
     .dtypes = matrix_dtypes,
     .type = [](const Op& op, const Types& in, const Params&) -> Types {
       check_operands(op, in, {2});
       const std::int64_t n = columns_of(in[0].shape);
       if (rows_of(in[0].shape) != n) {
         value_error("Argument to Hessenberg reduction must have shape [..., n, n], got shape ",
                     to_string(in[0].shape));
       }
       return {in[0], with_vector(in[0], std::max<std::int64_t>(n - 1, 0))};
     },
     .jvp = [](const JvpArgs&) -> Values { no_derivative("hessenberg"); },
     .multiple_results = true,
     .kernel = small_stack_kernel<Hessenberg, HessenbergLanes>})};

}  // namespace
}  // namespace shardax::ops
