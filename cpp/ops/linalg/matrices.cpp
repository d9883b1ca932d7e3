// ops/linalg/matrices.cpp - stacks of matrices: types, access, algebra on Values.
#include "ops/linalg/matrices.h"

#include "base/index.h"
#include "ir/core_ops.h"
#include "ops/contiguous.h"
#include "ops/indexing/index.h"

namespace shardax::ops {

// ---- types -----------------------------------------------------------------------------------

Type with_last(Type type, std::size_t rank, const Shape& last) {
  Shape shape(type.shape.begin(), type.shape.end() - static_cast<std::ptrdiff_t>(rank));
  for (std::int64_t n : last) shape.push_back(n);
  type.shape = shape;
  return type;
}

void check_operands(const Op& op, const Types& in, std::initializer_list<std::size_t> ranks) {
  std::size_t i = 0;
  for (const std::size_t rank : ranks) {
    check_dtype(op, in[i].dtype);
    if (in[i].rank() < rank) {
      type_error("Input ", i, " to ", op.name, " must have rank at least ", rank,
                 ", but got shape=", to_string(in[i].shape));
    }
    if (in[i].dtype != in[0].dtype) {
      type_error(op.name, " requires arguments to have the same dtypes, got ", name(in[0].dtype),
                 ", ", name(in[i].dtype), ".");
    }
    ++i;
  }
  const std::size_t stack = in[0].rank() - *ranks.begin();
  i = 0;
  for (const std::size_t rank : ranks) {
    if (in[i].rank() - rank != stack) {
      type_error("All inputs to ", op.name,
                 " must have the same number of batch dimensions, but got shapes ",
                 to_string(in[0].shape), " and ", to_string(in[i].shape), ".");
    }
    for (std::size_t d = 0; d < stack; ++d) {
      if (in[i].shape[d] == in[0].shape[d]) continue;
      type_error(op.name, " requires all arguments to have the same batch dimensions, got ",
                 to_string(in[0].shape), " and ", to_string(in[i].shape), ".");
    }
    ++i;
  }
}

// ---- kernels ---------------------------------------------------------------------------------

Stack::Stack(const View& view, std::size_t rank) : data_(view.data) {
  const std::size_t stack = view.shape.size() - rank;
  for (std::size_t d = 0; d < stack; ++d) {
    shape_.push_back(view.shape[d]);
    strides_.push_back(view.strides[d]);
    count_ *= view.shape[d];
  }
  rows_ = view.shape[stack];
  row_stride_ = view.strides[stack];
  if (rank == 2) {
    columns_ = view.shape[stack + 1];
    column_stride_ = view.strides[stack + 1];
  }
}

std::int64_t Stack::offset(std::int64_t i) const {
  std::int64_t at = 0;
  for (std::size_t d = shape_.size(); d-- > 0;) {
    at += i % shape_[d] * strides_[d];
    i /= shape_[d];
  }
  return at;
}

Int lapack_size(std::int64_t n) {
  if (n <= std::numeric_limits<Int>::max()) return static_cast<Int>(n);
  value_error("linalg: a matrix has a dimension of size ", n,
              "; LAPACK's integers hold sizes up to 2147483647.");
}

namespace {

// Calls f with a value of the type of `dtype`, a 16-bit float.
template <class F>
void with_half(DType dtype, const F& f) {
  if (dtype == DType::bfloat16) {
    f(bfloat16_t());
  } else {
    f(float16_t());
  }
}
bool is_half(const View& view) { return (halves & bit(view.dtype)) != 0; }

// The window's elements in row-major float32 memory.
View wide_view(const View& view, std::vector<Shared<Buffer>>& memory) {
  View out{nullptr, DType::float32, view.shape, row_major_strides(view.shape)};
  memory.push_back(dense_buffer(out));
  out.data = memory.back()->data();
  return out;
}
std::int64_t size_of(const View& view) {
  std::int64_t size = 1;
  for (std::int64_t n : view.shape) size *= n;
  return size;
}

}  // namespace

Kernel widened(Kernel kernel) {
  return [kernel = std::move(kernel)](std::span<const View> in, std::span<const View> out) {
    std::vector<Shared<Buffer>> memory;
    std::vector<View> wide_in(in.begin(), in.end()), wide_out(out.begin(), out.end());
    for (View& view : wide_in) {
      if (!is_half(view)) continue;
      const DenseInput dense(view);
      const View wide = wide_view(view, memory);
      with_half(view.dtype, [&](auto zero) {
        using T = decltype(zero);
        std::transform(dense.as<T>(), dense.as<T>() + size_of(view),
                       reinterpret_cast<float*>(wide.data), [](T x) { return to_float(x); });
      });
      view = wide;
    }
    for (View& view : wide_out) {
      if (is_half(view)) view = wide_view(view, memory);
    }
    kernel(wide_in, wide_out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!is_half(out[i])) continue;
      const DenseOutput dense(out[i]);
      with_half(out[i].dtype, [&](auto zero) {
        using T = decltype(zero);
        const auto* wide = reinterpret_cast<const float*>(wide_out[i].data);
        std::transform(wide, wide + size_of(out[i]), dense.as<T>(), [](float x) {
          if constexpr (std::is_same_v<T, bfloat16_t>) {
            return to_bfloat16(x);
          } else {
            return to_float16(x);
          }
        });
      });
      dense.finish();
    }
  };
}

Batched batch_stack(const BatchArgs& args) {
  Values out = shardax::bind(args.op, args.params, all_batched(args));
  std::vector<bool> batched(out.size(), true);
  return {std::move(out), std::move(batched)};
}

// ---- algebra on Values -----------------------------------------------------------------------

Value product(const Value& a, const Value& b) {
  const std::size_t rank = a->shape().size();
  const Ints batch = iota_ints(rank - 2);
  const auto last = static_cast<std::int64_t>(rank - 1);
  return bind1(core_ops().dot_general,
               {{"lhs_contract", Ints{last}},
                {"rhs_contract", Ints{last - 1}},
                {"lhs_batch", batch},
                {"rhs_batch", batch},
                {"preferred_element_type", a->dtype()},
                {"precision", std::string("(Precision.HIGHEST, Precision.HIGHEST)")}},
               {a, b});
}

Value transposed(const Value& a) {
  const auto rank = static_cast<std::int64_t>(a->shape().size());
  return moveaxis(a, rank - 1, rank - 2);
}

Value conj(const Value& a) { return is_complex(a->dtype()) ? unary("conj", a) : a; }

Value adjoint(const Value& a) { return conj(transposed(a)); }

namespace {

struct Places {
  Value row, column;
};
Places places(const Shape& shape) {
  const Shape matrix{rows_of(shape), columns_of(shape)};
  return {iota(DType::int32, matrix, 0), iota(DType::int32, matrix, 1)};
}
Value on_diagonal(const Shape& shape) {
  const Places at = places(shape);
  return broadcast_to(eq(at.row, at.column), shape);
}
Shape with_size(Shape shape, std::size_t at, std::int64_t size) {
  Shape out;
  for (std::size_t d = 0; d < at; ++d) out.push_back(shape[d]);
  out.push_back(size);
  for (std::size_t d = at; d < shape.size(); ++d) out.push_back(shape[d]);
  return out;
}
Value repeated(const Value& a, std::size_t at, std::int64_t size) {
  Ints dims;
  for (std::size_t d = 0; d < a->shape().size(); ++d) {
    dims.push_back(static_cast<std::int64_t>(d < at ? d : d + 1));
  }
  return broadcast_in_dim(a, with_size(a->shape(), at, size), dims);
}

}  // namespace

Value triangle(const Value& a, bool lower, std::int64_t offset) {
  const Places at = places(a->shape());
  const Value shift = scalar(DType::int32, static_cast<double>(offset));
  const Value inside =
      lower ? ge(at.row, add(at.column, shift)) : ge(at.column, add(at.row, shift));
  return where(broadcast_to(inside, a->shape()), a, full_like(a, 0));
}

Value diagonal_of(const Value& a) {
  const auto last = static_cast<std::int64_t>(a->shape().size() - 1);
  return reduce_sum(where(on_diagonal(a->shape()), a, full_like(a, 0)), {last});
}

Value diagonal_matrix(const Value& a) {
  const Value rows = along_rows(a, a->shape().back());
  return where(on_diagonal(rows->shape()), rows, full_like(rows, 0));
}

Value identity_like(const Value& a) {
  return where(on_diagonal(a->shape()), full_like(a, 1), full_like(a, 0));
}

Value along_rows(const Value& a, std::int64_t rows) {
  return repeated(a, a->shape().size() - 1, rows);
}
Value along_columns(const Value& a, std::int64_t columns) {
  return repeated(a, a->shape().size(), columns);
}

Value rows_between(const Value& a, std::int64_t from, std::int64_t to) {
  return slice_in_dim(a, from, to, static_cast<std::int64_t>(a->shape().size() - 2));
}
Value columns_between(const Value& a, std::int64_t from, std::int64_t to) {
  return slice_in_dim(a, from, to, static_cast<std::int64_t>(a->shape().size() - 1));
}
Value side_by_side(const Value& a, const Value& b) {
  return concatenate({a, b}, static_cast<std::int64_t>(a->shape().size() - 1));
}

Value inverse_off_diagonal(const Value& a) {
  const Value eye = identity_like(a);
  return sub(div(full_like(a, 1), add(eye, a)), eye);
}

Value real_part(const Value& a) { return is_complex(a->dtype()) ? unary("real", a) : a; }

Value add_tangents(const Value& a, const Value& b) {
  if (!a || !b) return a ? a : b;
  return add(a, b);
}

Value rows_in_order(const Value& a, const Value& order) {
  const auto rank = static_cast<std::int64_t>(a->shape().size());
  WindowDims dims;
  dims.window_dims = {rank - 1};
  dims.collapsed = dims.index_map = {rank - 2};
  dims.operand_batch = dims.index_batch = iota_ints(index(rank - 2));
  Ints sizes(index(rank), 1);
  sizes.back() = a->shape().back();
  return gather(a, expand_dims(order, {rank - 1}), dims, sizes, {"promise_in_bounds", false, true});
}
Value columns_in_order(const Value& a, const Value& order) {
  return transposed(rows_in_order(transposed(a), order));
}

}  // namespace shardax::ops
