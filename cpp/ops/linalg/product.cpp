// ops/linalg/product.cpp - strides of a matrix product, and copies of other operands.
#include "ops/linalg/product.h"

#include "base/errors.h"
#include "base/index.h"
#include "base/lists.h"
#include "kernels/aligned_buffer.h"
#include "kernels/copy/copy.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

// Dimensions of a view that walk memory like one: their joint stride, if there is one.
bool joint_stride(const View& view, const Ints& dims, std::int64_t& size, std::int64_t& stride) {
  size = 1;
  stride = 0;
  bool first = true;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const std::int64_t n = view.shape[index(dims[i])], s = view.strides[index(dims[i])];
    if (n == 1) continue;
    if (n == 0) {
      size = stride = 0;
      return true;
    }
    if (!first && s != stride * size) return false;
    if (first) stride = s;
    first = false;
    size *= n;
  }
  return true;
}

// An operand's dimensions by their roles.
struct Uses {
  const Ints &batch, &free, &contract;
};
Uses uses_of_lhs(const ProductDims& d) {
  return {d.dims.lhs_batch, d.lhs_free, d.dims.lhs_contract};
}
Uses uses_of_rhs(const ProductDims& d) {
  return {d.dims.rhs_batch, d.rhs_free, d.dims.rhs_contract};
}

struct Side {
  std::int64_t batch_size, batch, free_size, free, contract_size, contract;
};

bool side_of(const View& view, const Uses& uses, Side& side) {
  return joint_stride(view, uses.batch, side.batch_size, side.batch) &&
         joint_stride(view, uses.free, side.free_size, side.free) &&
         joint_stride(view, uses.contract, side.contract_size, side.contract);
}

// Is the right operand matrices whose columns lie in panels (compile/loops/prepack_operands.cpp)?
bool in_panels(const View& view, const Uses& uses, DType out, Side& side) {
  const std::int64_t width = kernels::matmul_panel_columns(view.dtype);
  if (width == 0 || view.dtype != out || uses.free.size() != 2 || uses.contract.size() != 1)
    return false;
  const std::size_t panel = index(uses.free[0]), column = index(uses.free[1]),
                    k = index(uses.contract[0]);
  if (view.shape[column] != width || view.strides[column] != 1 || view.strides[k] != width ||
      view.strides[panel] < view.shape[k] * width)
    return false;
  side.free_size = view.shape[panel] * width;
  side.free = 1;
  side.contract_size = view.shape[k];
  side.contract = width;
  return joint_stride(view, uses.batch, side.batch_size, side.batch);
}

using Storage = std::optional<kernels::AlignedBuffer<std::byte>>;

// Large copies go by slices along dimension 0, on all threads.
void copy_slices(const View& to, const View& from, std::int64_t bytes) {
  constexpr std::int64_t least_bytes = 1 << 20;
  const int width = itemsize(from.dtype);
  if (bytes < least_bytes || from.shape[0] < 2)
    return kernels::copy_strided(to.data, to.strides, from.data, from.strides, from.shape, width);
  Shape shape = from.shape;
  shape[0] = 1;
  runtime::parallel_for(from.shape[0], [&](std::int64_t i) {
    kernels::copy_strided(to.data + i * to.strides[0] * width, to.strides,
                          from.data + i * from.strides[0] * width, from.strides, shape, width);
  });
}

View dense_copy(const View& view, Storage& storage) {
  View copy = view;
  copy.strides = row_major_strides(view.shape);
  std::int64_t count = 1;
  for (std::int64_t n : view.shape) count *= n;
  storage.emplace(count * itemsize(view.dtype));
  copy.data = storage->data();
  copy_slices(copy, view, count * itemsize(view.dtype));
  return copy;
}

// The smallest stride of dimensions of more than one element.
std::int64_t least_stride(const View& view, const Ints& dims) {
  std::int64_t least = INT64_MAX;
  for (std::int64_t d : dims) {
    if (view.shape[index(d)] > 1) least = std::min(least, std::abs(view.strides[index(d)]));
  }
  return least;
}

// Groups of dimensions, each dense; adjacent elements stay so.
void make_joint(View& view, const Uses& uses, Storage& storage) {
  const bool free_last = least_stride(view, uses.free) < least_stride(view, uses.contract);
  Ints order = uses.batch;
  for (const Ints* group :
       {free_last ? &uses.contract : &uses.free, free_last ? &uses.free : &uses.contract})
    order.append(group->begin(), group->end());
  View permuted = view;
  for (std::size_t i = 0; i < order.size(); ++i) {
    permuted.shape[i] = view.shape[index(order[i])];
    permuted.strides[i] = view.strides[index(order[i])];
  }
  const View dense = dense_copy(permuted, storage);
  for (std::size_t i = 0; i < order.size(); ++i) view.strides[index(order[i])] = dense.strides[i];
  view.data = dense.data;
}

void compute(kernels::MatmulArgs args, const View& lhs, const View& rhs, const View& out) {
  args.a = lhs.data;
  args.b = rhs.data;
  args.c = out.data;
  kernels::matmul(args, runtime::parallel_for);
}

}  // namespace

DotDims dims_of(const Params& p) {
  return {p.ints(param::lhs_contract), p.ints(param::rhs_contract), p.ints(param::lhs_batch),
          p.ints(param::rhs_batch)};
}

Ints free_dims(std::size_t rank, const Ints& contract, const Ints& batch) {
  Ints out;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d) {
    if (!has(contract, d) && !has(batch, d)) out.push_back(d);
  }
  return out;
}

ProductDims::ProductDims(const Params& dot_general, std::size_t lhs_rank, std::size_t rhs_rank)
    : dims(dims_of(dot_general)),
      lhs_free(free_dims(lhs_rank, dims.lhs_contract, dims.lhs_batch)),
      rhs_free(free_dims(rhs_rank, dims.rhs_contract, dims.rhs_batch)) {}

std::optional<kernels::MatmulArgs> matmul_of(const ProductDims& dims, const View& lhs,
                                             const View& rhs, DType out) {
  Side l{}, r{};
  if (!side_of(lhs, uses_of_lhs(dims), l)) return {};
  kernels::MatmulArgs args{};
  if (in_panels(rhs, uses_of_rhs(dims), out, r)) {
    args.b_panel = rhs.strides[index(dims.rhs_free[0])];
  } else if (!side_of(rhs, uses_of_rhs(dims), r)) {
    return {};
  }
  args.dtype = lhs.dtype;
  args.out_dtype = out;
  args.batch = l.batch_size;
  args.m = l.free_size;
  args.n = r.free_size;
  args.k = l.contract_size;
  args.a_batch = l.batch, args.a_m = l.free, args.a_k = l.contract;
  args.b_batch = r.batch, args.b_k = r.contract, args.b_n = r.free;
  args.c_batch = args.m * args.n, args.c_m = args.n, args.c_n = 1;
  return args;
}

void multiply(const ProductDims& dims, View lhs, View rhs, const View& out) {
  if (const auto args = matmul_of(dims, lhs, rhs, out.dtype)) return compute(*args, lhs, rhs, out);
  Storage lhs_storage, rhs_storage;
  Side side{};
  if (!side_of(lhs, uses_of_lhs(dims), side)) make_joint(lhs, uses_of_lhs(dims), lhs_storage);
  if (!in_panels(rhs, uses_of_rhs(dims), out.dtype, side) && !side_of(rhs, uses_of_rhs(dims), side))
    make_joint(rhs, uses_of_rhs(dims), rhs_storage);
  const auto args = matmul_of(dims, lhs, rhs, out.dtype);
  if (!args) throw InternalError("dot_general: a dense operand has no joint strides");
  compute(*args, lhs, rhs, out);
}

}  // namespace shardax::ops
