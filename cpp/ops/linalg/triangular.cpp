// ops/linalg/triangular.cpp - triangular_solve.
#include "base/index.h"
#include "ops/linalg/batched_small_lapack.h"

namespace shardax::ops {
namespace {

SolveOptions options_of(const Params& p) {
  return {p.flag(param::left_side), p.flag(param::lower), p.flag(param::transpose_a),
          p.flag(param::conjugate_a), p.flag(param::unit_diagonal)};
}

Types solve_type(const Op& op, const Types& in, const Params& params) {
  const Type &a = in[0], &b = in[1];
  check_operands(op, in, {2, 2});
  options_of(params);
  if (rows_of(a.shape) != columns_of(a.shape)) {
    value_error("The first input to triangular_solve must be a square matrix. Got shape ",
                to_string(a.shape), ".");
  }
  const bool left = params.flag(param::left_side);
  if ((left ? rows_of(b.shape) : columns_of(b.shape)) != columns_of(a.shape)) {
    value_error("Incompatible shapes for arguments to triangular_solve: ", to_string(a.shape),
                " and ", to_string(b.shape), ", with left_side=", left ? "True" : "False", ".");
  }
  Type out = b;
  out.weak = a.weak && b.weak;
  return {out};
}

// Rows are the columns of the transpose: op(a) x = b is solved as x^T op(a)^T = b^T, so that
// nothing is rearranged.
template <class T>
struct Solve {
  explicit Solve(const JobArgs& args)
      : options(options_of(args.params)),
        a_in(args.in[0]),
        b_in(args.in[1]),
        out(args.out[0]),
        x(elements(b_in.rows(), b_in.columns())) {}

  std::int64_t count() const { return out.count(); }
  double flops() const { return flops_of<T>(static_cast<double>(a_in.rows() * b_in.size())); }

  bool conjugates_only() const { return options.conjugate_a && !options.transpose_a; }
  // A matrix whose rows are contiguous is read where it lies, unless the call may be abandoned and
  // go on when that memory is gone.
  void load(std::int64_t i) {
    b_in.load_rows(i, x.data());
    const auto placed = a_in.matrix<T>(i);
    const std::int64_t n = a_in.rows();
    matrix = placed.first;
    step = placed.down;
    const bool stays = flops() < lapack::large_flops;
    if (stays && placed.along == 1 && step >= n && !conjugates_only()) return;
    a.resize(elements(n, n));
    a_in.load_rows(i, a.data());
    if (conjugates_only()) {
      for (T& element : a) element = conjugate(element);
    }
    matrix = a.data();
    step = n;
  }
  void compute() {
    if (x.empty()) return;
    const char uplo = options.lower ? 'U' : 'L', unit = options.unit_diagonal ? 'U' : 'N';
    const lapack::Int n = lapack_size(a_in.rows()), lead = lapack_size(step);
    const bool one_side = (options.left_side ? b_in.columns() : b_in.rows()) == 1;
    if (one_side && !(options.conjugate_a && options.transpose_a)) {
      const bool turned = options.left_side != options.transpose_a;
      return lapack::trsv(uplo, turned ? 'T' : 'N', unit, n, matrix, lead, x.data());
    }
    const char trans = !options.transpose_a ? 'N' : options.conjugate_a ? 'C' : 'T';
    lapack::trsm(options.left_side ? 'R' : 'L', uplo, trans, unit, lapack_size(b_in.columns()),
                 lapack_size(b_in.rows()), matrix, lead, x.data());
  }
  void store(std::int64_t i) { out.store_rows(i, x.data()); }

  SolveOptions options;
  Stack a_in, b_in, out;
  Scratch<T> a, x;
  const T* matrix = nullptr;
  std::int64_t step = 0;  // from row to row
};

// x op(a) = b is solved as op(a)^T x^T = b^T.
template <class L>
struct SolveLanes {
  using T = lanes::Number<L>;
  static bool takes(const JobArgs& args) {
    return fits_lanes<T>(Stack(args.in[0])) && fits_lanes<T>(Stack(args.in[1]));
  }
  explicit SolveLanes(const JobArgs& args)
      : one(args), a(elements(one.a_in.rows(), one.a_in.rows())), x(one.x.size()) {}
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  bool turned() const { return one.options.transpose_a == one.options.left_side; }
  void load(const Group<L>& group) {
    load_group(one.a_in, group, a, turned());
    load_group(one.b_in, group, x, !one.options.left_side);
  }
  void compute() {
    if constexpr (lapack::is_complex<T>) {
      if (one.options.conjugate_a) {
        for (auto& cell : a) cell.im = -cell.im;
      }
    }
    const std::int64_t n = one.a_in.rows();
    lanes::solve(a.data(), x.data(), n, std::ssize(x) / n, one.options.lower != turned(),
                 one.options.unit_diagonal);
  }
  void store(const Group<L>& group) { store_group(one.out, group, x, !one.options.left_side); }

  Solve<T> one;
  Cells<L> a, x;
};

// d(op(a) x) = db, so that op(a) dx = db - op(da) x; elements beyond the triangle are not read.
Values solve_jvp(const JvpArgs& args) {
  const SolveOptions o = options_of(args.params);
  Value change = args.t[1];
  if (args.t[0]) {
    Value da = triangle(args.t[0], o.lower, o.unit_diagonal ? 1 : 0);
    if (o.conjugate_a) da = conj(da);
    if (o.transpose_a) da = transposed(da);
    const Value moved = neg(o.left_side ? product(da, args.out[0]) : product(args.out[0], da));
    change = add_tangents(change, moved);
  }
  return {triangular_solve(args.in[0], change, o)};
}

Values solve_transpose(const TransposeArgs& a) {
  SolveOptions o = options_of(a.params);
  o.transpose_a = !o.transpose_a;
  return {nullptr, triangular_solve(a.in[0], a.ct[0], o)};
}

// One matrix with many right-hand sides is one system with more of them.
Batched solve_batch(const BatchArgs& args) {
  if (args.batched[0]) return batch_stack(args);
  const bool left = args.params.flag(param::left_side);
  const Value& b = args.in[1];
  const auto rank = static_cast<std::int64_t>(b->shape().size());
  const std::int64_t side = left ? rank - 1 : rank - 2;  // right-hand sides are contiguous along it
  const Value moved = moveaxis(b, 0, side - 1);
  Shape flat;
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t n = moved->shape()[index(d)];
    if (d == side) {
      flat.back() *= n;
    } else {
      flat.push_back(n);
    }
  }
  const Value x = bind1(args.op, args.params, {args.in[0], reshape(moved, flat)});
  return batched1(moveaxis(reshape(x, moved->shape()), side - 1, 0));
}

const Op triangular_solve_op{stacked(
    {.name = "triangular_solve",
     .operands = 2,
     .doc = "x with op(a) x = b (left_side), or x op(a) = b, for stacks of triangular matrices; "
            "operands a, b.",
     .dtypes = matrix_dtypes,
     .type = solve_type,
     .jvp = solve_jvp,
     .transpose = solve_transpose,
     .batch = solve_batch,
     .kernel = small_stack_kernel<Solve, SolveLanes>})};

}  // namespace

Value triangular_solve(const Value& a, const Value& b, const SolveOptions& o) {
  return bind1(triangular_solve_op,
               {{"left_side", o.left_side},
                {"lower", o.lower},
                {"transpose_a", o.transpose_a},
                {"conjugate_a", o.conjugate_a},
                {"unit_diagonal", o.unit_diagonal}},
               {a, b});
}

}  // namespace shardax::ops
