// ops/dot.cpp - dot_general: the product of two arrays over contracted and batch dimensions.
#include <optional>

#include "base/lists.h"
#include "kernels/copy.h"
#include "kernels/matmul.h"
#include "kernels/room.h"
#include "ops/family.h"
#include "ops/parts.h"
#include "ops/split.h"
#include "ops/split_check.h"
#include "ops/sums.h"
#include "runtime/pool.h"

namespace shardax::ops {
namespace {

DotDims dims_of(const Params& p) {
  return {p.ints("lhs_contract"), p.ints("rhs_contract"), p.ints("lhs_batch"), p.ints("rhs_batch")};
}

extern const Op dot_op;

// `preferred` is the result's dtype, or none for that of the operands; `precision` is what programs
// show: products are always in full precision.
Value product_of(const Value& a, const Value& b, const DotDims& d, const ParamValue& preferred,
                 const ParamValue& precision) {
  return bind1(dot_op,
               {{"lhs_contract", d.lhs_contract},
                {"rhs_contract", d.rhs_contract},
                {"lhs_batch", d.lhs_batch},
                {"rhs_batch", d.rhs_batch},
                {"preferred_element_type", preferred},
                {"precision", precision}},
               {a, b});
}
const ParamValue& preferred_of(const Params& p) { return *p.find("preferred_element_type"); }
ParamValue precision_of(const Params& p) {
  const ParamValue* given = p.find("precision");
  return given ? *given : ParamValue{};
}

// Kernels add up in the result's dtype, or a wider one of its class.
int class_of(DType dtype) {
  return is_complex(dtype) ? 3 : is_floating(dtype) ? 2 : is_integer(dtype) ? 1 : 0;
}

Ints free_dims(std::size_t rank, const Ints& contract, const Ints& batch) {
  Ints out;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(rank); ++d) {
    if (!has(contract, d) && !has(batch, d)) out.push_back(d);
  }
  return out;
}

std::int64_t at(const Shape& shape, std::int64_t d) { return shape[static_cast<std::size_t>(d)]; }

Shape picked(const Shape& shape, const Ints& dims) {
  Shape out;
  for (std::int64_t d : dims) out.push_back(at(shape, d));
  return out;
}

Types dot_type(const Op& op, const Types& in, const Params& params) {
  const DotDims d = dims_of(params);
  const Type& a = in[0];
  const Type& b = in[1];
  check_dtype(op, a.dtype);
  check_dtype(op, b.dtype);
  if (a.dtype != b.dtype) {
    type_error("lax.dot_general requires arguments to have the same dtypes, got ", name(a.dtype),
               ", ", name(b.dtype), ".");
  }
  const auto same = [&](const Ints& lhs, const Ints& rhs, const char* kind) {
    for (std::size_t i = 0; i < lhs.size(); ++i) {
      if (at(a.shape, lhs[i]) != at(b.shape, rhs[i])) {
        type_error("dot_general requires ", kind, " dimensions to have the same shape, got ",
                   to_string(picked(a.shape, lhs)), " and ", to_string(picked(b.shape, rhs)), ".");
      }
    }
  };
  same(d.lhs_batch, d.rhs_batch, "batch");
  same(d.lhs_contract, d.rhs_contract, "contracting");
  Shape shape = picked(a.shape, d.lhs_batch);
  for (std::int64_t f : free_dims(a.rank(), d.lhs_contract, d.lhs_batch))
    shape.push_back(at(a.shape, f));
  for (std::int64_t f : free_dims(b.rank(), d.rhs_contract, d.rhs_batch))
    shape.push_back(at(b.shape, f));
  const DType* preferred = std::get_if<DType>(&preferred_of(params));
  if (preferred && class_of(*preferred) != class_of(a.dtype)) {
    type_error("dot_general: preferred_element_type ", name(*preferred),
               " is of another kind than the operands, ", name(a.dtype), "; convert them first.");
  }
  Type out{preferred ? *preferred : a.dtype, a.weak && b.weak, shape, {}};
  return {out};
}

// The cotangent of one operand is a product of the other with that of the result.
Value dot_transpose_lhs(const Value& ct, const Value& b, const DotDims& d, const Type& a_type,
                        const ParamValue& precision) {
  const std::size_t batch = d.lhs_batch.size();
  const Ints a_free = free_dims(a_type.rank(), d.lhs_contract, d.lhs_batch);
  const Ints b_free = free_dims(b->shape().size(), d.rhs_contract, d.rhs_batch);
  DotDims dims;
  dims.lhs_batch = iota_ints(batch);
  dims.rhs_batch = d.rhs_batch;
  dims.lhs_contract = iota_ints(b_free.size(), static_cast<std::int64_t>(batch + a_free.size()));
  dims.rhs_contract = b_free;
  const Value product = product_of(ct->dtype() == b->dtype() ? ct : convert(ct, b->dtype()), b,
                                   dims, a_type.dtype, precision);
  // Its dimensions: batch, a's free ones, then b's contracted ones in ascending order.
  Ints b_contract = d.rhs_contract;
  std::sort(b_contract.begin(), b_contract.end());
  Ints order(a_type.rank());
  for (std::size_t i = 0; i < batch; ++i)
    order[static_cast<std::size_t>(d.lhs_batch[i])] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < a_free.size(); ++i) {
    order[static_cast<std::size_t>(a_free[i])] = static_cast<std::int64_t>(batch + i);
  }
  for (std::size_t i = 0; i < d.lhs_contract.size(); ++i) {
    const auto place =
        std::find(b_contract.begin(), b_contract.end(), d.rhs_contract[i]) - b_contract.begin();
    order[static_cast<std::size_t>(d.lhs_contract[i])] =
        static_cast<std::int64_t>(batch + a_free.size()) + place;
  }
  return transpose(product, order);
}

Values dot_transpose(const TransposeArgs& a) {
  const DotDims d = dims_of(a.params);
  Values out(2);
  if (a.linear(0) && a.linear(1)) throw MissingOperand{};
  if (a.linear(0)) {
    out[0] = dot_transpose_lhs(a.ct[0], a.in[1], d, a.in_types[0], precision_of(a.params));
  } else {
    // The product with swapped operands has rhs's free dimensions first.
    const std::size_t batch = d.lhs_batch.size();
    const std::size_t a_free = a.in_types[0].rank() - batch - d.lhs_contract.size();
    Ints order = iota_ints(batch);
    for (std::size_t i = batch + a_free; i < a.ct[0]->shape().size(); ++i)
      order.push_back(static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < a_free; ++i) order.push_back(static_cast<std::int64_t>(batch + i));
    const DotDims swapped{d.rhs_contract, d.lhs_contract, d.rhs_batch, d.lhs_batch};
    out[1] = dot_transpose_lhs(transpose(a.ct[0], order), a.in[0], swapped, a.in_types[1],
                               precision_of(a.params));
  }
  return out;
}

Ints shifted(const Ints& ints) {
  Ints out;
  for (std::int64_t i : ints) out.push_back(i + 1);
  return out;
}

// A batch on both sides is a batch dimension; on one side it is one more free dimension.
Batched dot_batch(const BatchArgs& a) {
  DotDims d = dims_of(a.params);
  if (a.batched[0]) d.lhs_contract = shifted(d.lhs_contract), d.lhs_batch = shifted(d.lhs_batch);
  if (a.batched[1]) d.rhs_contract = shifted(d.rhs_contract), d.rhs_batch = shifted(d.rhs_batch);
  if (a.batched[0] && a.batched[1]) {
    d.lhs_batch.insert(0, 0);
    d.rhs_batch.insert(0, 0);
    return batched1(
        product_of(a.in[0], a.in[1], d, preferred_of(a.params), precision_of(a.params)));
  }
  const Value product =
      product_of(a.in[0], a.in[1], d, preferred_of(a.params), precision_of(a.params));
  // The batch is the first free dimension of its side.
  std::int64_t position = static_cast<std::int64_t>(d.lhs_batch.size());
  if (a.batched[1]) {
    position += static_cast<std::int64_t>(
        free_dims(a.in[0]->shape().size(), d.lhs_contract, d.lhs_batch).size());
  }
  return batched1(moveaxis(product, position, 0));
}

// ---- kernel ----------------------------------------------------------------------------------

// Dimensions of a view that walk memory like one: their joint stride, if there is one.
bool joint_stride(const View& view, const Ints& dims, std::int64_t& size, std::int64_t& stride) {
  size = 1;
  stride = 0;
  bool first = true;
  for (std::size_t i = dims.size(); i-- > 0;) {
    const std::int64_t n = at(view.shape, dims[i]), s = at(view.strides, dims[i]);
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

using Storage = std::optional<kernels::Room<std::byte>>;

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

struct Side {
  std::int64_t batch_size, batch, free_size, free, contract_size, contract;
};

// The smallest stride of dimensions of more than one element.
std::int64_t least_stride(const View& view, const Ints& dims) {
  std::int64_t least = INT64_MAX;
  for (std::int64_t d : dims) {
    if (at(view.shape, d) > 1) least = std::min(least, std::abs(at(view.strides, d)));
  }
  return least;
}

Side side_of(View& view, const Ints& batch, const Ints& free, const Ints& contract,
             Storage& storage) {
  Side side{};
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (joint_stride(view, batch, side.batch_size, side.batch) &&
        joint_stride(view, free, side.free_size, side.free) &&
        joint_stride(view, contract, side.contract_size, side.contract)) {
      return side;
    }
    // Groups of dimensions, each dense; what lies side by side stays so.
    const bool free_last = least_stride(view, free) < least_stride(view, contract);
    Ints order = batch;
    for (const Ints* group : {free_last ? &contract : &free, free_last ? &free : &contract})
      order.append(group->begin(), group->end());
    View permuted = view;
    for (std::size_t i = 0; i < order.size(); ++i) {
      permuted.shape[i] = at(view.shape, order[i]);
      permuted.strides[i] = at(view.strides, order[i]);
    }
    const View dense = dense_copy(permuted, storage);
    for (std::size_t i = 0; i < order.size(); ++i) {
      view.strides[static_cast<std::size_t>(order[i])] = dense.strides[i];
    }
    view.data = dense.data;
  }
  throw InternalError("dot_general: a dense operand has no joint strides");
}

// Is the right operand matrices whose columns lie in panels (compile/panels.cpp)?
bool in_panels(const View& view, const Ints& batch, const Ints& free, const Ints& contract,
               DType out, Side& side) {
  const std::int64_t width = kernels::matmul_panel_columns(view.dtype);
  return width > 0 && view.dtype == out && free.size() == 2 &&
         joint_stride(view, batch, side.batch_size, side.batch) && contract.size() == 1 &&
         at(view.shape, free[1]) == width && at(view.strides, free[1]) == 1 &&
         at(view.strides, contract[0]) == width &&
         at(view.strides, free[0]) == at(view.shape, contract[0]) * width;
}

Kernel dot_kernel(const Types& in, const Types&, const Params& params) {
  const DotDims d = dims_of(params);
  const Ints a_free = free_dims(in[0].rank(), d.lhs_contract, d.lhs_batch);
  const Ints b_free = free_dims(in[1].rank(), d.rhs_contract, d.rhs_batch);
  return [d, a_free, b_free](std::span<const View> views, std::span<const View> out) {
    Storage a_storage, b_storage;
    View a = views[0], b = views[1];
    const Side l = side_of(a, d.lhs_batch, a_free, d.lhs_contract, a_storage);
    kernels::MatmulArgs args{};
    Side r{};
    if (in_panels(b, d.rhs_batch, b_free, d.rhs_contract, out[0].dtype, r)) {
      args.b_panel = at(b.strides, b_free[0]);
      r = {r.batch_size,
           r.batch,
           at(b.shape, b_free[0]) * at(b.shape, b_free[1]),
           1,
           at(b.shape, d.rhs_contract[0]),
           at(b.strides, d.rhs_contract[0])};
    } else {
      r = side_of(b, d.rhs_batch, b_free, d.rhs_contract, b_storage);
    }
    args.dtype = a.dtype;
    args.out_dtype = out[0].dtype;
    args.batch = l.batch_size;
    args.m = l.free_size;
    args.n = r.free_size;
    args.k = l.contract_size;
    args.a = a.data, args.a_batch = l.batch, args.a_m = l.free, args.a_k = l.contract;
    args.b = b.data, args.b_batch = r.batch, args.b_k = r.contract, args.b_n = r.free;
    args.c = out[0].data, args.c_batch = args.m * args.n, args.c_m = args.n, args.c_n = 1;
    kernels::matmul(args, runtime::parallel_for);
  };
}

const Op dot_op{
    {.name = "dot_general",
     .doc = "Sums of products over contracted dimensions, for each index of the batch dimensions. "
            "Result: batch, then the left operand's other dimensions, then the right one's.",
     .checks = makes_nan,
     .dtypes = any_dtype,
     .type = dot_type,
     .jvp = [](const JvpArgs& a) -> Values {
       const DotDims d = dims_of(a.params);
       const ParamValue& preferred = preferred_of(a.params);
       Value sum;
       if (a.t[0]) sum = product_of(a.t[0], a.in[1], d, preferred, precision_of(a.params));
       if (a.t[1]) {
         const Value right = product_of(a.in[0], a.t[1], d, preferred, precision_of(a.params));
         sum = sum ? add(sum, right) : right;
       }
       return {sum};
     },
     .transpose = dot_transpose,
     .batch = dot_batch,
     .half_native = true,
     .split = split_product,
     .check_split = check_split_product,
     .parts = parts_product,
     .sums = sums_contracted,
     .kernel = dot_kernel,
     .show = [](const Params& p) -> std::vector<std::string> {
       const auto bracket = [](const Ints& ints) {
         std::string text;
         for (std::int64_t i : ints) text += (text.empty() ? "" : ", ") + std::to_string(i);
         return "[" + text + "]";
       };
       std::vector<std::string> text{"dimension_numbers=((" + bracket(p.ints("lhs_contract")) +
                                     ", " + bracket(p.ints("rhs_contract")) + "), (" +
                                     bracket(p.ints("lhs_batch")) + ", " +
                                     bracket(p.ints("rhs_batch")) + "))"};
       if (const auto* precision = p.find("precision")) {
         if (const auto* given = std::get_if<std::string>(precision))
           text.push_back("precision=" + *given);
       }
       if (const DType* preferred = std::get_if<DType>(&preferred_of(p)))
         text.push_back(concat("preferred_element_type=", name(*preferred)));
       return text;
     }}};

}  // namespace

Value dot_general(const Value& a, const Value& b, const DotDims& d, DType out) {
  return product_of(a, b, d, out, {});
}

}  // namespace shardax::ops
