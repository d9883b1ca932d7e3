// ops/linalg/tridiagonal.cpp - tridiagonal_solve.
#include "kernels/small_linalg/tridiagonal.h"

#include "base/index.h"
#include "ops/linalg/batched_small_lapack.h"

namespace shardax::ops {
namespace {

Value solve_tridiagonal(const Params& params, const Values& diagonals, const Value& b);

template <class T>
struct TridiagonalSolve {
  explicit TridiagonalSolve(const JobArgs& args)
      : b_in(args.in[3]),
        out(args.out[0]),
        n(b_in.rows()),
        perturb(args.params.flag(param::perturb_singular)),
        b(elements(n, b_in.columns())) {
    for (std::size_t i = 0; i < 3; ++i) {
      in.emplace_back(args.in[i], 1);
      diagonals[i].resize(elements(n, 1));
    }
  }

  std::int64_t count() const { return b_in.count(); }
  double flops() const { return flops_of<T>(std::min(8.0 * static_cast<double>(b.size()), 1e6)); }

  void load(std::int64_t i) {
    for (std::size_t k = 0; k < 3; ++k) in[k].load(i, diagonals[k]);
    b_in.load(i, b);
  }
  void compute() {
    auto& [below, diagonal, above] = diagonals;
    // LAPACK's first element below is ours of row 1.
    T* const first_below = below.data() + (n > 0 ? 1 : 0);
    if (perturb) return eliminate();
    good = lapack::gtsv(lapack_size(n), lapack_size(b_in.columns()), first_below, diagonal.data(),
                        above.data(), b.data()) == 0;
  }
  void store(std::int64_t i) {
    if (good) {
      out.store(i, b);
    } else {
      out.fill(i, nan_of<T>());
    }
  }

  // Elimination with row pivots, those near 0 moved to rounding's size of the largest element.
  void eliminate() {
    good = true;
    auto& [below, diagonal, above] = diagonals;
    const auto size = index(n), columns = elements(b_in.columns(), 1);
    using R = lapack::Real<T>;
    R tiny = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    for (const auto& part : diagonals) {
      for (const T& x : part) tiny = std::max(tiny, std::abs(x));
    }
    tiny *= std::numeric_limits<R>::epsilon();
    const auto move_away = [&](T& pivot) {
      if (std::abs(pivot) < tiny) pivot = T(tiny);
    };
    std::vector<T> second(size);  // above the diagonal above
    for (std::size_t k = 0; k + 1 < size; ++k) {
      const bool swap = std::abs(diagonal[k]) < std::abs(below[k + 1]);
      if (swap) {
        std::swap(diagonal[k], below[k + 1]);
        std::swap(above[k], diagonal[k + 1]);
        if (k + 2 < size) std::swap(second[k], above[k + 1]);
        for (std::size_t j = 0; j < columns; ++j) std::swap(b[j * size + k], b[j * size + k + 1]);
      }
      move_away(diagonal[k]);
      const T factor = below[k + 1] / diagonal[k];
      diagonal[k + 1] -= factor * above[k];
      if (k + 2 < size) above[k + 1] -= factor * second[k];
      for (std::size_t j = 0; j < columns; ++j) b[j * size + k + 1] -= factor * b[j * size + k];
    }
    if (size > 0) move_away(diagonal[size - 1]);
    for (std::size_t j = 0; j < columns; ++j) {
      T* x = b.data() + j * size;
      for (std::size_t k = size; k-- > 0;) {
        if (k + 1 < size) x[k] -= above[k] * x[k + 1];
        if (k + 2 < size) x[k] -= second[k] * x[k + 2];
        x[k] /= diagonal[k];
      }
    }
  }

  Stack b_in, out;
  std::vector<Stack> in;
  std::int64_t n;
  bool perturb, good = false;
  std::array<std::vector<T>, 3> diagonals;
  std::vector<T> b;
};

template <class L>
struct TridiagonalSolveLanes {
  using T = lanes::Number<L>;
  // Each row waits for a division: a vector of them takes as long as one. Cells stay in a
  // second-level cache.
  static bool takes(const JobArgs& args) {
    constexpr std::int64_t fewest_systems = 4, most_cells = 8192;
    const Stack b(args.in[3]);
    return !args.params.flag(param::perturb_singular) && b.count() >= fewest_systems &&
           b.rows() > 0 && b.columns() > 0 && b.rows() * (b.columns() + 4) <= most_cells;
  }
  explicit TridiagonalSolveLanes(const JobArgs& args) : one(args), b(one.b.size()) {
    for (auto& part : diagonals) part.resize(elements(one.n, 1));
  }
  std::int64_t count() const { return one.count(); }
  double flops() const { return one.flops(); }
  void load(const Group<L>& group) {
    for (std::size_t k = 0; k < 3; ++k) load_group(one.in[k], group, diagonals[k]);
    load_group(one.b_in, group, b);
  }
  void compute() {
    auto& [below, middle, above, second] = diagonals;
    lanes::solve_tridiagonal(below.data(), middle.data(), above.data(), second.data(), b.data(),
                             one.n, std::ssize(b) / one.n);
  }
  void store(const Group<L>& group) { store_group(one.out, group, b); }

  TridiagonalSolve<T> one;
  std::array<Cells<L>, 4> diagonals;
  Cells<L> b;
};

Value shifted(const Value& a, std::int64_t by) {
  const std::size_t last = a->shape().size() - 1;
  Ints low(last + 1, 0), high = low;
  low[last] = by;
  high[last] = -by;
  return pad(a, scalar(a->dtype(), 0), low, high, Ints(last + 1, 0));
}
// Rows moved down (by > 0) or up, zeros where none comes from.
Value shifted_rows(const Value& a, std::int64_t by) {
  const std::size_t rows = a->shape().size() - 2;
  Ints low(rows + 2, 0), high = low;
  low[rows] = by;
  high[rows] = -by;
  return pad(a, scalar(a->dtype(), 0), low, high, Ints(rows + 2, 0));
}

// (the matrix with these diagonals, null where zero) x
Value tridiagonal_product(const Values& diagonals, const Value& x) {
  const std::int64_t columns = columns_of(x->shape());
  const auto times = [&](const Value& d, const Value& rows) -> Value {
    return d ? mul(along_columns(d, columns), rows) : nullptr;
  };
  const Value below = times(diagonals[0], shifted_rows(x, 1));
  const Value above = times(diagonals[2], shifted_rows(x, -1));
  return add_tangents(add_tangents(times(diagonals[1], x), below), above);
}

// dx of A dx = db - dA x.
Values solve_jvp(const JvpArgs& a) {
  const Value moved = tridiagonal_product({a.t[0], a.t[1], a.t[2]}, a.out[0]);
  const Value change = add_tangents(a.t[3], moved ? neg(moved) : nullptr);
  return {solve_tridiagonal(a.params, {a.in[0], a.in[1], a.in[2]}, change)};
}

// The diagonals of the transpose.
Values solve_transpose(const TransposeArgs& a) {
  const Values diagonals{shifted(a.in[2], 1), a.in[1], shifted(a.in[0], -1)};
  return {nullptr, nullptr, nullptr, solve_tridiagonal(a.params, diagonals, a.ct[0])};
}

Types solve_type(const Op& op, const Types& in, const Params& params) {
  if (in[0].shape != in[1].shape || in[0].shape != in[2].shape) {
    type_error("tridiagonal_solve requires that all diagonal arguments have the same shape, got ",
               to_string(in[0].shape), ", ", to_string(in[1].shape), " and ",
               to_string(in[2].shape), ".");
  }
  if (in[3].rank() < 2 || Shape(in[3].shape.begin(), in[3].shape.end() - 1) != in[0].shape) {
    type_error(
        "tridiagonal_solve requires that the leading ndim-1 dimensions of b equal the dimensions "
        "of the diagonal arguments, got ",
        to_string(in[3].shape), " and ", to_string(in[0].shape), ".");
  }
  check_operands(op, in, {1, 1, 1, 2});
  params.flag(param::perturb_singular);
  return {in[3]};
}

const Op tridiagonal_solve_op{stacked<1>(
    {.name = "tridiagonal_solve",
     .operands = 4,
     .doc =
         "x with A x = b, for stacks of tridiagonal matrices A: operands are the diagonals below, "
         "in and above the middle, and b. NaN where A is singular, unless `perturb_singular`.",
     .dtypes = matrix_dtypes,
     .type = solve_type,
     .jvp = solve_jvp,
     .transpose = solve_transpose,
     .kernel = small_stack_kernel<TridiagonalSolve, TridiagonalSolveLanes>})};

Value solve_tridiagonal(const Params& params, const Values& diagonals, const Value& b) {
  return bind1(tridiagonal_solve_op, params, {diagonals[0], diagonals[1], diagonals[2], b});
}

}  // namespace
}  // namespace shardax::ops
