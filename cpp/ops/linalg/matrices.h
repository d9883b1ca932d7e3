// ops/linalg/matrices.h - shared parts of ops on stacks: types, kernels, matrix algebra for
// derivatives.
//
// The last two dimensions are a matrix, those before them the stack. A kernel is a Job for one
// matrix at a time. It copies the matrix into memory of its own, in columns, calls LAPACK there,
// and copies the results out:
//
//   template <class T>
//   struct Cholesky {
//     explicit Cholesky(const JobArgs&);  // the operands and the results
//     std::int64_t count() const;         // of matrices in the stack
//     double flops() const;               // that one of them takes
//     void load(std::int64_t i);          // reads matrix i
//     void compute();                     // touches the job's own memory only
//     void store(std::int64_t i);         // writes the results
//   };
#pragma once

#include <limits>
#include <memory>

#include "base/index.h"
#include "lapack/routines.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/sharding_rules/stacks.h"
#include "runtime/pool.h"
#include "runtime/scratch.h"

namespace shardax::ops {

using lapack::Int;
using runtime::Scratch;

// The dtypes of LAPACK; 16-bit floats are widened for it.
inline constexpr DTypeSet lapack_dtypes = full_floats | complexes;
inline constexpr DTypeSet matrix_dtypes = lapack_dtypes | halves;

// ---- types -----------------------------------------------------------------------------------

inline std::int64_t rows_of(const Shape& shape) { return shape[shape.size() - 2]; }
inline std::int64_t columns_of(const Shape& shape) { return shape[shape.size() - 1]; }
inline std::int64_t least_of(const Shape& shape) {
  return std::min(rows_of(shape), columns_of(shape));
}

// The type with its last dimensions, as many as `rank`, replaced.
Type with_last(Type type, std::size_t rank, const Shape& last);
inline Type with_matrix(const Type& type, std::int64_t rows, std::int64_t columns) {
  return with_last(type, 2, {rows, columns});
}
inline Type with_vector(const Type& matrix, std::int64_t n) { return with_last(matrix, 2, {n}); }
// Operand i has at least ranks[i] dimensions, and all have one stack before them. The first ones
// have the dtypes of the op, and one dtype.
void check_operands(const Op& op, const Types& in, std::initializer_list<std::size_t> ranks);

// ---- kernels ---------------------------------------------------------------------------------

struct JobArgs {
  const Params& params;
  std::span<const View> in, out;
};

// Stacked matrices or vectors in strided memory.
class Stack {
 public:
  // `rank`: how many of the last dimensions are one element of the stack, 1 (a column) or 2.
  explicit Stack(const View& view, std::size_t rank = 2);
  std::int64_t count() const { return count_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t size() const { return rows_ * columns_; }

  // Matrix i, column after column; `out` has `height` rows, at least as many as the matrix.
  template <class T>
  void load(std::int64_t i, T* out, std::int64_t height) const;
  template <class T, class Memory>
  void load(std::int64_t i, std::vector<T, Memory>& out) const {
    load(i, out.data(), rows_);
  }
  // The first rows of columns of `height` elements.
  template <class T>
  void store(std::int64_t i, const T* in, std::int64_t height) const;
  template <class T, class Memory>
  void store(std::int64_t i, const std::vector<T, Memory>& in) const {
    store(i, in.data(), rows_);
  }
  // The same, row after row: the transpose in columns.
  template <class T>
  void load_rows(std::int64_t i, T* out) const;
  template <class T>
  void store_rows(std::int64_t i, const T* in) const;
  template <class T>
  void fill(std::int64_t i, T value) const;

  // Matrix i where it lies: its first element, and the steps to the next row and column.
  template <class T>
  struct Placed {
    T* first;
    std::int64_t down, along;
  };
  template <class T>
  Placed<T> matrix(std::int64_t i) const {
    return {reinterpret_cast<T*>(data_) + offset(i), row_stride_, column_stride_};
  }

 private:
  std::int64_t offset(std::int64_t i) const;
  std::byte* data_;
  Shape shape_, strides_;  // of the stack
  std::int64_t count_ = 1, rows_, columns_ = 1, row_stride_, column_stride_ = 0;
};

// to[i * to_rows + j * to_columns] = from[i * from_rows + j * from_columns], i < m, j < n.
template <class T>
void copy_matrix(const T* from, std::int64_t from_rows, std::int64_t from_columns, T* to,
                 std::int64_t to_rows, std::int64_t to_columns, std::int64_t m, std::int64_t n) {
  if (from_rows == 1 && to_rows == 1) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::copy_n(from + j * from_columns, m, to + j * to_columns);
    }
    return;
  }
  constexpr std::int64_t block = 16;  // lines of cache that both sides keep
  for (std::int64_t i = 0; i < m; i += block) {
    for (std::int64_t j = 0; j < n; j += block) {
      const std::int64_t i_end = std::min(m, i + block), j_end = std::min(n, j + block);
      for (std::int64_t b = j; b < j_end; ++b) {
        for (std::int64_t a = i; a < i_end; ++a) {
          to[a * to_rows + b * to_columns] = from[a * from_rows + b * from_columns];
        }
      }
    }
  }
}

template <class T>
void Stack::load(std::int64_t i, T* out, std::int64_t height) const {
  const T* from = reinterpret_cast<const T*>(data_) + offset(i);
  copy_matrix(from, row_stride_, column_stride_, out, 1, height, rows_, columns_);
}
template <class T>
void Stack::store(std::int64_t i, const T* in, std::int64_t height) const {
  T* to = reinterpret_cast<T*>(data_) + offset(i);
  copy_matrix(in, height, 1, to, column_stride_, row_stride_, columns_, rows_);
}
template <class T>
void Stack::load_rows(std::int64_t i, T* out) const {
  const T* from = reinterpret_cast<const T*>(data_) + offset(i);
  copy_matrix(from, column_stride_, row_stride_, out, 1, columns_, columns_, rows_);
}
template <class T>
void Stack::store_rows(std::int64_t i, const T* in) const {
  T* to = reinterpret_cast<T*>(data_) + offset(i);
  copy_matrix(in, 1, columns_, to, column_stride_, row_stride_, columns_, rows_);
}
template <class T>
void Stack::fill(std::int64_t i, T value) const {
  T* to = reinterpret_cast<T*>(data_) + offset(i);
  copy_matrix(&value, 0, 0, to, row_stride_, column_stride_, rows_, columns_);
}

// f(x) with x of the element type, one of `lapack_dtypes`.
template <class F>
void with_type(DType dtype, const F& f) {
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kernels::is_computed<T> && (lapack_dtypes & bit(kernels::dtype_of<T>)) != 0) {
      f(zero);
    }
  });
}

// The work of a task of the pool: some 100 us.
inline constexpr double task_flops = 100'000;

// Runs a job over its stack, copies of it where there are several tasks of the pool, each of which
// takes a Turn.
struct NoTurn {};
template <class Turn, class Job>
void in_tasks(Job prototype) {
  const std::int64_t count = prototype.count();
  const double flops = std::max(prototype.flops(), 100.0);
  const auto each = static_cast<std::int64_t>(std::max(1.0, task_flops / flops));
  const auto run = [&](Job& job, std::int64_t first) {
    [[maybe_unused]] const Turn turn;
    for (std::int64_t i = first; i < std::min(count, first + each); ++i) {
      job.load(i);
      job.compute();
      job.store(i);
    }
  };
  if (count <= each) return run(prototype, 0);
  runtime::parallel_for((count + each - 1) / each, [&](std::int64_t task) {
    Job job = prototype;
    run(job, task * each);
  });
}

// The same for a job that calls LAPACK. The cost of one matrix decides if LAPACK's threads or ours
// share the work.
template <class Job>
void in_turns(Job prototype) {
  const std::int64_t count = prototype.count();
  const double flops = prototype.flops();
  if (flops < lapack::medium_flops) return in_tasks<lapack::Small>(std::move(prototype));
  const auto job = std::make_shared<Job>(std::move(prototype));
  for (std::int64_t i = 0; i < count; ++i) {
    job->load(i);
    lapack::run_large(flops, [job] { job->compute(); });
    job->store(i);
  }
}

// A kernel on 16-bit floats out of one on float32.
Kernel widened(Kernel kernel);

// A kernel that runs Job<T> for the element type T of the first operand.
template <template <class> class Job>
Kernel stack_kernel(const Types& types, const Types&, const Params& params) {
  lapack::load();
  Kernel kernel = [params](std::span<const View> in, std::span<const View> out) {
    with_type(in[0].dtype,
              [&](auto zero) { in_turns(Job<decltype(zero)>(JobArgs{params, in, out})); });
  };
  return (halves & bit(types[0].dtype)) != 0 ? widened(std::move(kernel)) : kernel;
}

template <class T>
constexpr T nan_of() {
  constexpr auto nan = std::numeric_limits<lapack::Real<T>>::quiet_NaN();
  if constexpr (std::is_floating_point_v<T>)
    return nan;
  else
    return T(nan, nan);
}
template <class T, class Memory>
bool all_finite(const std::vector<T, Memory>& values) {
  return std::all_of(values.begin(), values.end(), [](const T& x) {
    return std::isfinite(std::real(x)) && std::isfinite(std::imag(x));
  });
}
template <class T>
T conjugate(T x) {
  if constexpr (lapack::is_complex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}
// Complex numbers cost four times the operations of real ones.
template <class T>
double flops_of(double real_flops) {
  return lapack::is_complex<T> ? 4 * real_flops : real_flops;
}
inline std::size_t elements(std::int64_t rows, std::int64_t columns) {
  return index(rows) * index(columns);
}
// The size as LAPACK takes it. Throws where it does not fit.
Int lapack_size(std::int64_t n);

// Every operand with the leading axis, broadcast where it was missing.
Batched batch_stack(const BatchArgs& args);

// Completes the spec of an op on stacks: batching, unless the spec has it, and the dimensions.
// Those of the stack are the same in all arrays. `rank` is that of an element of operand 0, a
// matrix or a vector.
template <std::size_t rank = 2>
OpSpec stacked(OpSpec spec) {
  if (!spec.batch) spec.batch = batch_stack;
  spec.dims = [](const Params&, const Types& in, const Type& out) {
    return dims_leading(in[0].rank() - rank, in, out);
  };
  spec.check_split = check_split_stack<rank>;
  return spec;
}

// ---- algebra on Values -----------------------------------------------------------------------

Value product(const Value& a, const Value& b);
Value transposed(const Value& a);
Value adjoint(const Value& a);
Value conj(const Value& a);
// `a` where row - column is at least `offset` (lower) or at most -offset (upper), else 0.
Value triangle(const Value& a, bool lower, std::int64_t offset = 0);
// The diagonals of square matrices (..., n, n) -> (..., n), and the way back.
Value diagonal_of(const Value& a);
Value diagonal_matrix(const Value& a);
// Identities of the shape and dtype of `a`; rectangular ones too.
Value identity_like(const Value& a);
// (..., n) as (..., 1, n) or (..., n, 1), repeated to the other dimension's size.
Value along_rows(const Value& a, std::int64_t rows);
Value along_columns(const Value& a, std::int64_t columns);
// Rows or columns from..to of matrices.
Value rows_between(const Value& a, std::int64_t from, std::int64_t to);
Value columns_between(const Value& a, std::int64_t from, std::int64_t to);
Value side_by_side(const Value& a, const Value& b);
// 1 / a where it is not on the diagonal, else 0.
Value inverse_off_diagonal(const Value& a);
Value real_part(const Value& a);
Value add_tangents(const Value& a, const Value& b);  // null where zero
// Rows of matrices in the order of (..., m) indices.
Value rows_in_order(const Value& a, const Value& order);
Value columns_in_order(const Value& a, const Value& order);

struct SolveOptions {
  bool left_side = false, lower = false, transpose_a = false, conjugate_a = false,
       unit_diagonal = false;
};
Value triangular_solve(const Value& a, const Value& b, const SolveOptions& options);
// x with a x = b, by LU decomposition.
Value solve(const Value& a, const Value& b);

}  // namespace shardax::ops
