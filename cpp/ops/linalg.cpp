// ops/linalg.cpp - cholesky and triangular_solve, on stacks of matrices.
#include <cmath>
#include <limits>

#include "kernels/copy.h"
#include "ops/family.h"
#include "runtime/interrupt.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

constexpr DTypeSet factored = full_floats | complexes;

std::int64_t rows_of(const Shape& shape) { return shape[shape.size() - 2]; }

void check_square(const char* api, const Type& a) {
  if (a.rank() >= 2 && rows_of(a.shape) == a.shape.back()) return;
  value_error("Argument to ", api, " must have shape [..., n, n], got shape ", to_string(a.shape),
              ".");
}

std::int64_t count_matrices(const Shape& shape) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) count *= shape[d];
  return count;
}

template <class T>
T conjugate(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return x;
  } else {
    return std::conj(x);
  }
}
template <class T>
auto real_part(T x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return x;
  } else {
    return x.real();
  }
}

// A dense row-major copy.
template <class T>
std::vector<T> dense(const View& view) {
  std::int64_t count = 1;
  for (std::int64_t n : view.shape) count *= n;
  std::vector<T> out(static_cast<std::size_t>(count));
  kernels::copy_strided(reinterpret_cast<std::byte*>(out.data()), row_major_strides(view.shape),
                        view.data, view.strides, view.shape, sizeof(T));
  return out;
}

// Calls f with a value of the element type, one of `factored`.
template <class F>
void with_type(DType dtype, const F& f) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kernels::is_computed<T> && (factored & bit(kernels::dtype_of<T>)) != 0) f(zero);
  });
}

// The work of a task: some 100 us.
constexpr std::int64_t chunk_flops = 100'000;

void for_matrices(std::int64_t count, std::int64_t flops,
                  FunctionRef<void(std::int64_t from, std::int64_t to)> f) {
  const std::int64_t each =
      std::max<std::int64_t>(1, chunk_flops / std::max<std::int64_t>(flops, 1));
  runtime::parallel_for((count + each - 1) / each, [&](std::int64_t chunk) {
    f(chunk * each, std::min(count, (chunk + 1) * each));
  });
}

// Between rows that take `flops`; the clock is read where a stretch of them is long.
void poll_row(std::int64_t flops) {
  if (flops > 20'000) {
    runtime::poll_clock();
  } else if (flops > 100) {
    runtime::poll();
  }
}

// Every operand with the leading axis.
Batched stack_batch(const BatchArgs& a) { return batched1(bind1(a.op, a.params, all_batched(a))); }

// ---- rules' helpers --------------------------------------------------------------------------

Value product(const Value& a, const Value& b) {
  const std::size_t rank = a->shape().size();
  const Ints batch = iota_ints(rank - 2);
  const auto last = static_cast<std::int64_t>(rank - 1);
  return dot_general(a, b, {{last}, {last - 1}, batch, batch}, a->dtype());
}

// `a` where row - column is at least `offset` (lower) or at most -offset (upper), else 0.
Value triangle(const Value& a, bool lower, std::int64_t offset) {
  const Shape square{rows_of(a->shape()), a->shape().back()};
  const Value row = iota(DType::int32, square, 0), column = iota(DType::int32, square, 1);
  const Value shift = scalar(DType::int32, static_cast<double>(offset));
  const Value inside = lower ? ge(row, add(column, shift)) : ge(column, add(row, shift));
  return where(broadcast_to(inside, a->shape()), a, full_like(a, 0));
}

// ---- triangular_solve ------------------------------------------------------------------------

struct SolveOptions {
  bool left_side, lower, transpose_a, conjugate_a, unit_diagonal;
};
SolveOptions options_of(const Params& p) {
  return {p.flag("left_side"), p.flag("lower"), p.flag("transpose_a"), p.flag("conjugate_a"),
          p.flag("unit_diagonal")};
}

extern const Op triangular_solve_op;

Value solve(const Value& a, const Value& b, const SolveOptions& o) {
  return bind1(triangular_solve_op,
               {{"left_side", o.left_side},
                {"lower", o.lower},
                {"transpose_a", o.transpose_a},
                {"conjugate_a", o.conjugate_a},
                {"unit_diagonal", o.unit_diagonal}},
               {a, b});
}

Types solve_type(const Op& op, const Types& in, const Params& params) {
  const Type &a = in[0], &b = in[1];
  check_dtype(op, a.dtype);
  if (a.dtype != b.dtype) {
    type_error("lax.linalg.triangular_solve requires arguments to have the same dtypes, got ",
               name(a.dtype), ", ", name(b.dtype), ".");
  }
  if (a.rank() < 2 || rows_of(a.shape) != a.shape.back()) {
    type_error(
        "triangular_solve requires the last two dimensions of a to be equal in size, got a "
        "shape of ",
        to_string(a.shape), ".");
  }
  if (b.rank() != a.rank()) {
    type_error(
        "triangular_solve requires both arguments to have the same number of dimensions, "
        "got ",
        to_string(a.shape), " and ", to_string(b.shape), ".");
  }
  for (std::size_t d = 0; d + 2 < a.rank(); ++d) {
    if (a.shape[d] == b.shape[d]) continue;
    type_error("triangular_solve requires both arguments to have the same batch dimensions, got ",
               to_string(a.shape), " and ", to_string(b.shape), ".");
  }
  const bool left = params.flag("left_side");
  if ((left ? rows_of(b.shape) : b.shape.back()) != a.shape.back()) {
    type_error("Incompatible shapes for arguments to triangular_solve: ", to_string(a.shape),
               " and ", to_string(b.shape), ", with left_side=", left ? "True" : "False", ".");
  }
  Type out = b;
  out.weak = a.weak && b.weak;
  return {out};
}

// x of op(a) x = b, in place of b, for one matrix; `element(i, j)` is op(a). A row at a time, so
// that the inner loop goes along the right-hand sides.
template <class T, class E>
void solve_left(const E& element, bool lower, bool unit, std::int64_t n, std::int64_t m, T* x) {
  for (std::int64_t step = 0; step < n; ++step) {
    poll_row(step * m);
    const std::int64_t i = lower ? step : n - 1 - step;
    T* row = x + i * m;
    for (std::int64_t done = 0; done < step; ++done) {
      const std::int64_t k = lower ? done : n - 1 - done;
      const T factor = element(i, k);
      const T* known = x + k * m;
      for (std::int64_t j = 0; j < m; ++j) row[j] -= factor * known[j];
    }
    if (unit) continue;
    const T diagonal = element(i, i);
    for (std::int64_t j = 0; j < m; ++j) row[j] /= diagonal;
  }
}

// x of x op(a) = b, in place of b: n columns, m rows.
template <class T, class E>
void solve_right(const E& element, bool lower, bool unit, std::int64_t n, std::int64_t m, T* x) {
  for (std::int64_t r = 0; r < m; ++r) {
    T* row = x + r * n;
    for (std::int64_t step = 0; step < n; ++step) {
      poll_row(step);
      const std::int64_t j = lower ? n - 1 - step : step;
      if (!unit) row[j] /= element(j, j);
      const T known = row[j];
      const std::int64_t from = lower ? 0 : j + 1, to = lower ? j : n;
      for (std::int64_t k = from; k < to; ++k) row[k] -= known * element(j, k);
    }
  }
}

Kernel solve_kernel(const Types& in, const Types&, const Params& params) {
  const SolveOptions o = options_of(params);
  const Shape shape = in[1].shape;
  const std::int64_t n = in[0].shape.back();
  return [o, shape, n](std::span<const View> views, std::span<const View> outs) {
    const std::int64_t count = count_matrices(shape), size = rows_of(shape) * shape.back();
    if (count * size == 0) return;
    with_type(views[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      const std::vector<T> a = dense<T>(views[0]);
      std::vector<T> x = dense<T>(views[1]);
      const std::int64_t others = size / n;
      // op(a) of a lower triangular a that is transposed is upper triangular.
      const bool lower = o.lower != o.transpose_a;
      for_matrices(count, n * size, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) {
          const T* matrix = a.data() + i * n * n;
          const auto element = [&](std::int64_t r, std::int64_t c) {
            const T value = o.transpose_a ? matrix[c * n + r] : matrix[r * n + c];
            return o.conjugate_a ? conjugate(value) : value;
          };
          T* target = x.data() + i * size;
          if (o.left_side) {
            solve_left<T>(element, lower, o.unit_diagonal, n, others, target);
          } else {
            solve_right<T>(element, lower, o.unit_diagonal, n, others, target);
          }
        }
      });
      kernels::copy_strided(outs[0].data, outs[0].strides,
                            reinterpret_cast<const std::byte*>(x.data()), row_major_strides(shape),
                            shape, sizeof(T));
    });
  };
}

// d(op(a) x) = db, so that op(a) dx = db - op(da) x; what lies beyond the triangle is not read.
Values solve_jvp(const JvpArgs& args) {
  const SolveOptions o = options_of(args.params);
  Value change = args.t[1];
  if (args.t[0]) {
    Value da = triangle(args.t[0], o.lower, o.unit_diagonal ? 1 : 0);
    if (o.conjugate_a && is_complex(da->dtype())) da = unary("conj", da);
    if (o.transpose_a) {
      const auto rank = static_cast<std::int64_t>(da->shape().size());
      da = moveaxis(da, rank - 1, rank - 2);
    }
    const Value moved = neg(o.left_side ? product(da, args.out[0]) : product(args.out[0], da));
    change = change ? add(change, moved) : moved;
  }
  return {solve(args.in[0], change, o)};
}

Values solve_transpose(const TransposeArgs& a) {
  SolveOptions o = options_of(a.params);
  o.transpose_a = !o.transpose_a;
  return {nullptr, solve(a.in[0], a.ct[0], o)};
}

const Op triangular_solve_op{
    {.name = "triangular_solve",
     .doc = "x with op(a) x = b (left_side), or x op(a) = b, for stacks of triangular matrices; "
            "operands a, b.",
     .dtypes = factored,
     .type = solve_type,
     .jvp = solve_jvp,
     .transpose = solve_transpose,
     .batch = stack_batch,
     .kernel = solve_kernel}};

// ---- cholesky --------------------------------------------------------------------------------

// The factor of one matrix, whose lower triangle is read; all NaN if it is not positive definite.
template <class T>
void factor(T* l, std::int64_t n) {
  using R = decltype(real_part(T()));
  bool good = true;
  for (std::int64_t i = 0; i < n && good; ++i) {
    T* row = l + i * n;
    for (std::int64_t j = 0; j <= i; ++j) {
      poll_row(j);
      const T* other = l + j * n;
      T sum = row[j];
      for (std::int64_t k = 0; k < j; ++k) sum -= row[k] * conjugate(other[k]);
      if (j < i) {
        row[j] = sum / other[j];
      } else {
        good = real_part(sum) > 0;
        row[i] = T(std::sqrt(real_part(sum)));
      }
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (j > i) l[i * n + j] = T(0);
      if (j <= i && !good) l[i * n + j] = T(std::numeric_limits<R>::quiet_NaN());
    }
  }
}

Kernel cholesky_kernel(const Types& in, const Types&, const Params&) {
  return [shape = in[0].shape](std::span<const View> views, std::span<const View> outs) {
    const std::int64_t count = count_matrices(shape), n = shape.back();
    if (count * n == 0) return;
    with_type(views[0].dtype, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> l = dense<T>(views[0]);
      for_matrices(count, n * n * n / 3, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t i = from; i < to; ++i) factor(l.data() + i * n * n, n);
      });
      kernels::copy_strided(outs[0].data, outs[0].strides,
                            reinterpret_cast<const std::byte*>(l.data()), row_major_strides(shape),
                            shape, sizeof(T));
    });
  };
}

// dL = L phi(L^-1 dA L^-H), where phi keeps the lower triangle and half of the diagonal (Murray,
// "Differentiation of the Cholesky decomposition", 2016).
Values cholesky_jvp(const JvpArgs& a) {
  const Value& l = a.out[0];
  const Value right = solve(l, a.t[0], {false, true, true, true, false});
  const Value inner = solve(l, right, {true, true, false, false, false});
  const Value kept = add(triangle(inner, true, 1), triangle(inner, true, 0));
  return {product(l, mul(kept, scalar(l->dtype(), 0.5)))};
}

const Op cholesky_op{{.name = "cholesky",
                      .doc =
                          "The lower triangular L with L L* = a, for stacks of Hermitian positive "
                          "definite matrices; NaN for others.",
                      .dtypes = factored,
                      .type = [](const Op& op, const Types& in, const Params&) -> Types {
                        check_dtype(op, in[0].dtype);
                        check_square("cholesky", in[0]);
                        return {in[0]};
                      },
                      .jvp = cholesky_jvp,
                      .batch = stack_batch,
                      .kernel = cholesky_kernel}};

}  // namespace
}  // namespace shardax::ops
