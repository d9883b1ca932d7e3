// ops/linalg/eig.cpp - eig.
#include "base/index.h"
#include "ir/core_ops.h"
#include "kernels/small_linalg/eigenvectors.h"
#include "ops/linalg/interleaved_schur.h"

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
    const bool left = args.params.flag(param::compute_left_eigenvectors),
               right = args.params.flag(param::compute_right_eigenvectors);
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

  void add(const View& view, Scratch<T>& memory) {
    vectors.emplace_back(view);
    // Not empty for an empty matrix either: emptiness says that no vectors are wanted.
    memory.resize(std::max<std::size_t>(elements(n, n), 1));
  }
  const Scratch<T>* memories(std::size_t k) const { return k == 0 && !vl.empty() ? &vl : &vr; }
  void join_values() {
    joined.clear();
    for (std::size_t j = 0; j < w.size(); ++j) joined.emplace_back(std::real(w[j]), imaginary[j]);
  }
  // The vectors of a pair of conjugate eigenvalues lie as real and imaginary part.
  Scratch<C> join(const Scratch<T>& parts) const {
    Scratch<C> out(elements(n, n));
    const auto size = index(n);
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
  Scratch<T> a, w, vl, vr;
  std::vector<R> imaginary;
  std::vector<C> joined;
  lapack::Work<T> work;
};

template <class L>
struct EigLanes {
  using T = lanes::Number<L>;
  using C = lanes::ComplexLanes<L>;
  static bool takes(const JobArgs& args) {
    return fits_lanes<T>(Stack(args.in[0])) && columns_of(args.in[0].shape) > 1 &&
           !args.params.flag(param::compute_left_eigenvectors);
  }
  explicit EigLanes(const JobArgs& args)
      : one(args),
        form(one.in, !one.vectors.empty()),
        scales(one.w.size()),
        values(one.w.size()),
        t(lapack::is_complex<T> ? 0 : one.a.size()),
        u(lapack::is_complex<T> || one.vectors.empty() ? 0 : one.a.size()),
        v(one.vectors.empty() ? 0 : one.a.size()),
        room(one.w.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<L>& group) { form.load(group); }
  void compute() {
    const std::int64_t n = one.n;
    lanes::balance(form.a.data(), scales.data(), n);
    form.compute();
    const lanes::Cell<C>*triangle, *basis;
    if constexpr (lapack::is_complex<T>) {
      triangle = form.a.data();
      basis = form.z.data();
    } else {
      lanes::make_triangular<L>(form.a.data(), form.vectors(), t.data(), u.data(), n);
      triangle = t.data();
      basis = u.data();
    }
    for (std::int64_t k = 0; k < n; ++k) {
      auto& value = values[index(k)];
      value = triangle[k * n + k];
      lanes::multiply_real(value, form.scale);
    }
    if (v.empty()) return;
    lanes::eigenvectors(triangle, basis, scales.data(), v.data(), room.data(), n,
                        !lapack::is_complex<T>);
  }
  void store(const Group<L>& group) {
    store_group(one.values, group, values);
    for (const Stack& out : one.vectors) store_group(out, group, v);
    form.store_others(group, one);
  }

  Eig<T> one;
  SchurForm<L> form;
  Cells<lanes::RealLanes<L>> scales;
  Cells<C> values, t, u, v, room;
};

extern const Op eig_op;

// The derivative of eigenvectors for distinct eigenvalues, fixed as geev does it: of length 1 and
// with a real largest component. It is u + c v with c from both conditions (Giles 2008, 3.1).
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
      bind1(core_ops().argmax, {{"axes", Ints{rank - 2}}, {"index_dtype", DType::int32}}, {size});
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
  const bool left = args.params.flag(param::compute_left_eigenvectors),
             right = args.params.flag(param::compute_right_eigenvectors);
  const Value& w = args.out[0];
  const Value da = convert(args.t[0], w->dtype());
  if (!left && !right) {
    // The rest does not depend on the factors up to which vectors are free.
    Params params = args.params.with("compute_right_eigenvectors", true);
    params.set("enable_eigvec_derivs", true);
    const Value v = shardax::bind(eig_op, params, args.in)[1];
    const auto last = static_cast<std::int64_t>(v->shape().size() - 1);
    return {reduce_sum(mul(solve(v, da), transposed(v)), {last})};
  }
  if (!args.params.flag(param::enable_eigvec_derivs)) {
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

const Op eig_op{
    stacked({.name = "eig",
             .operands = 1,
             .doc = "Eigenvalues of stacks of square matrices and, where asked for, left and right "
                    "eigenvectors in columns; all complex.",
             .dtypes = matrix_dtypes,
             .type = [](const Op& op, const Types& in, const Params& params) -> Types {
               check_operands(op, in, {2});
               check_square(op, in[0]);
               params.flag(param::enable_eigvec_derivs);
               const Type type = with_dtype(in[0], complex_dtype(in[0].dtype), in[0].weak);
               Types out{with_vector(type, columns_of(type.shape))};
               for (const auto side :
                    {param::compute_left_eigenvectors, param::compute_right_eigenvectors}) {
                 if (params.flag(side)) out.push_back(type);
               }
               return out;
             },
             .jvp = eig_jvp,
             .multiple_results = true,
             .kernel = small_stack_kernel<Eig, EigLanes>})};

}  // namespace
}  // namespace shardax::ops
