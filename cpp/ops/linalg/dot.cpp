// ops/linalg/dot.cpp - dot_general: the product of two arrays over contracted and batch dimensions.
#include <optional>

#include "base/index.h"
#include "base/lists.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/linalg/product.h"
#include "ops/param_checks.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"
#include "ops/sharding_rules/unreduced_rules.h"

namespace shardax::ops {
namespace {

extern const Op dot_op;

// `preferred` is the result's dtype, or none for that of the operands. `precision` is shown in
// programs: products are always in full precision.
Value product_of(const Value& a, const Value& b, const DotDims& d, const ParamValue& preferred,
                 const ParamValue& precision, const ShardingPtr& asked = nullptr) {
  Params params{{"lhs_contract", d.lhs_contract},
                {"rhs_contract", d.rhs_contract},
                {"lhs_batch", d.lhs_batch},
                {"rhs_batch", d.rhs_batch},
                {"preferred_element_type", preferred},
                {"precision", precision}};
  if (asked) params.set("sharding", asked);
  return bind1(dot_op, std::move(params), {a, b});
}
const ParamValue& preferred_of(const Params& p) {
  const ParamValue* given = p.find("preferred_element_type");
  if (!given) value_error("dot_general: the param preferred_element_type is missing.");
  return *given;
}
ParamValue precision_of(const Params& p) {
  const ParamValue* given = p.find("precision");
  return given ? *given : ParamValue{};
}

// Kernels add up in the result's dtype, or a wider one of its class.
int class_of(DType dtype) {
  return is_complex(dtype) ? 3 : is_floating(dtype) ? 2 : is_integer(dtype) ? 1 : 0;
}

Shape picked(const Shape& shape, const Ints& dims) {
  Shape out;
  for (std::int64_t d : dims) out.push_back(shape[index(d)]);
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
  check_dims(op, "lhs_contract and lhs_batch", joined(d.lhs_contract, d.lhs_batch), a.rank());
  check_dims(op, "rhs_contract and rhs_batch", joined(d.rhs_contract, d.rhs_batch), b.rank());
  const auto same = [&](const Ints& lhs, const Ints& rhs, const char* kind) {
    if (lhs.size() != rhs.size()) {
      type_error("dot_general requires equal numbers of ", kind, " dimensions, got ",
                 to_string(lhs), " and ", to_string(rhs), ".");
    }
    for (std::size_t i = 0; i < lhs.size(); ++i) {
      if (a.shape[index(lhs[i])] != b.shape[index(rhs[i])]) {
        type_error("dot_general requires ", kind, " dimensions to have the same shape, got ",
                   to_string(picked(a.shape, lhs)), " and ", to_string(picked(b.shape, rhs)), ".");
      }
    }
  };
  same(d.lhs_batch, d.rhs_batch, "batch");
  same(d.lhs_contract, d.rhs_contract, "contracting");
  Shape shape = picked(a.shape, d.lhs_batch);
  for (std::int64_t f : free_dims(a.rank(), d.lhs_contract, d.lhs_batch))
    shape.push_back(a.shape[index(f)]);
  for (std::int64_t f : free_dims(b.rank(), d.rhs_contract, d.rhs_batch))
    shape.push_back(b.shape[index(f)]);
  const DType* preferred = std::get_if<DType>(&preferred_of(params));
  if (preferred && class_of(*preferred) != class_of(a.dtype)) {
    type_error("dot_general: preferred_element_type ", name(*preferred),
               " is of another kind than the operands, ", name(a.dtype), "; convert them first.");
  }
  Type out{preferred ? *preferred : a.dtype, a.weak && b.weak, shape, {}};
  return {out};
}

// The sharding of a product whose dimensions are then ordered as the operand's. Null unless sums
// over mesh axes are left to do in the operand's cotangent.
ShardingPtr left_to_sum(const Type& operand, const Ints& order) {
  const ShardingPtr wanted = of_cotangent(operand.sharding);
  if (!wanted || wanted->unreduced.empty()) return nullptr;
  Split split(order.size());
  for (std::size_t d = 0; d < wanted->spec.size(); ++d) split[index(order[d])] = wanted->spec[d];
  return with_spec(*wanted, std::move(split));
}

// The cotangent of one operand is a product of the other with that of the result. `last`: it is the
// second operand, whose free dimensions are the result's last.
Value dot_transpose_operand(const Value& ct, const Value& b, const DotDims& d, const Type& a_type,
                            const ParamValue& precision, bool last) {
  const std::size_t batch = d.lhs_batch.size();
  const Ints a_free = free_dims(a_type.rank(), d.lhs_contract, d.lhs_batch);
  const Ints b_free = free_dims(b->shape().size(), d.rhs_contract, d.rhs_batch);
  DotDims dims;
  dims.lhs_batch = iota_ints(batch);
  dims.rhs_batch = d.rhs_batch;
  dims.lhs_contract =
      iota_ints(b_free.size(), static_cast<std::int64_t>(last ? batch : batch + a_free.size()));
  dims.rhs_contract = b_free;
  // Its dimensions: batch, a's free ones, then b's contracted ones in ascending order.
  Ints b_contract = d.rhs_contract;
  std::sort(b_contract.begin(), b_contract.end());
  Ints order(a_type.rank());
  for (std::size_t i = 0; i < batch; ++i)
    order[index(d.lhs_batch[i])] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < a_free.size(); ++i) {
    order[index(a_free[i])] = static_cast<std::int64_t>(batch + i);
  }
  for (std::size_t i = 0; i < d.lhs_contract.size(); ++i) {
    const auto place =
        std::find(b_contract.begin(), b_contract.end(), d.rhs_contract[i]) - b_contract.begin();
    order[index(d.lhs_contract[i])] = static_cast<std::int64_t>(batch + a_free.size()) + place;
  }
  const Value product = product_of(ct->dtype() == b->dtype() ? ct : convert(ct, b->dtype()), b,
                                   dims, a_type.dtype, precision, left_to_sum(a_type, order));
  return transpose(product, order);
}

Values dot_transpose(const TransposeArgs& a) {
  const DotDims d = dims_of(a.params);
  Values out(2);
  if (a.linear(0) && a.linear(1)) throw MissingOperand{};
  const ParamValue precision = precision_of(a.params);
  if (a.linear(0)) {
    out[0] = dot_transpose_operand(a.ct[0], a.in[1], d, a.in_types[0], precision, false);
  } else {
    const DotDims swapped{d.rhs_contract, d.lhs_contract, d.rhs_batch, d.lhs_batch};
    out[1] = dot_transpose_operand(a.ct[0], a.in[0], swapped, a.in_types[1], precision, true);
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

const Op dot_op{
    {.name = "dot_general",
     .operands = 2,
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
     .dims = dims_product,
     .split = split_product,
     .check_split = check_split_product,
     .parts = parts_product,
     .sums = sums_contracted,
     .kernel = [](const Types& in, const Types&, const Params& params) -> Kernel {
       const ProductDims dims(params, in[0].rank(), in[1].rank());
       return [dims](std::span<const View> in, std::span<const View> out) {
         multiply(dims, in[0], in[1], out[0]);
       };
     },
     .show = [](const Params& p) -> std::vector<std::string> {
       const auto bracket = [](const Ints& ints) {
         std::string text;
         for (std::int64_t i : ints) text += (text.empty() ? "" : ", ") + std::to_string(i);
         return "[" + text + "]";
       };
       std::vector<std::string> text{"dimension_numbers=((" + bracket(p.ints(param::lhs_contract)) +
                                     ", " + bracket(p.ints(param::rhs_contract)) + "), (" +
                                     bracket(p.ints(param::lhs_batch)) + ", " +
                                     bracket(p.ints(param::rhs_batch)) + "))"};
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
