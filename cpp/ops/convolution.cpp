// ops/convolution.cpp - conv_general_dilated: products of a kernel with the windows of an array.
//
// It is linear in either operand, and the gradients are convolutions again. One is of the cotangent
// with the flipped kernel, the other of the operand with the cotangent. A batch is a leading
// dimension of the operands that have it, which the kernel walks by its stride. The sum of a batch
// of convolutions is one convolution, so that devices have no weight gradients of their own.
#include "ops/convolution.h"

#include "base/index.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"
#include "ops/sharding_rules/spmd_partition_rules.h"

namespace shardax::ops {
namespace {

extern const Op conv_op;

ParamValue param(const Params& p, ParamName name) {
  const ParamValue* value = p.find(name);
  return value ? *value : ParamValue{};
}

Value conv(const Value& lhs, const Value& rhs, const ConvNumbers& n, const ParamValue& preferred,
           const ParamValue& precision) {
  Params params{{"window_strides", n.strides},
                {"padding", n.padding},
                {"lhs_dilation", n.lhs_dilation},
                {"rhs_dilation", n.rhs_dilation},
                {"lhs_spec", n.lhs_spec},
                {"rhs_spec", n.rhs_spec},
                {"out_spec", n.out_spec},
                {"feature_group_count", n.feature_groups},
                {"batch_group_count", n.batch_groups},
                {"precision", precision},
                {"preferred_element_type", preferred}};
  if (!n.leading.empty()) params.set("leading", n.leading);
  return bind1(conv_op, params, {lhs, rhs});
}

Ints spatial_sizes(const Shape& shape, const Ints& spec, std::int64_t leading) {
  Ints out;
  for (std::size_t i = 2; i < spec.size(); ++i) out.push_back(shape[index(leading + spec[i])]);
  return out;
}

// (feature, batch, ...)
Ints turned(const Ints& spec) {
  Ints out = spec;
  std::swap(out[0], out[1]);
  return out;
}

// The leading dimensions of a gradient: those that one operand has alone are those summed over.
Ints turned_leading(const Ints& leading, Leading alone) {
  Ints out;
  for (std::int64_t kind : leading) {
    const auto own = static_cast<Leading>(kind);
    out.push_back(static_cast<std::int64_t>(own == alone             ? Leading::summed
                                            : own == Leading::summed ? alone
                                                                     : own));
  }
  return out;
}

// Dimension `from` of groups * size elements: its groups become the slow part of dimension `to`.
Value groups_moved(const Value& x, std::int64_t from, std::int64_t to, std::int64_t groups) {
  Shape split;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(x->shape().size()); ++d) {
    if (d == from) split.push_back(groups);
    split.push_back(d == from ? x->shape()[index(d)] / groups : x->shape()[index(d)]);
  }
  const Value parts = reshape(x, split);
  const Value moved = moveaxis(parts, from, to);
  Shape joined = x->shape();
  joined[index(from)] /= groups;
  joined[index(to)] *= groups;
  return reshape(moved, joined);
}

// d lhs: the cotangent, with gaps as wide as the strides, meets the flipped kernel.
Value transpose_lhs(const TransposeArgs& a, const ConvNumbers& n) {
  const Value ct = a.ct[0];
  Value rhs = a.in[1];
  if (rhs->dtype() != ct->dtype()) rhs = convert(rhs, ct->dtype());
  const std::int64_t lead = n.of_rhs();
  const std::int64_t groups = std::max(n.feature_groups, n.batch_groups);
  if (groups > 1) rhs = groups_moved(rhs, lead + n.rhs_spec[0], lead + n.rhs_spec[1], groups);
  Ints flipped;
  for (std::size_t i = 2; i < n.rhs_spec.size(); ++i) flipped.push_back(lead + n.rhs_spec[i]);
  if (!flipped.empty()) rhs = rev(rhs, flipped);

  const Ints in = spatial_sizes(a.in_types[0].shape, n.lhs_spec, n.of_lhs()),
             window = spatial_sizes(a.in_types[1].shape, n.rhs_spec, lead),
             out = spatial_sizes(ct->shape(), n.out_spec, n.of_out());
  ConvNumbers t{n.lhs_dilation,     {},        n.strides, n.rhs_dilation, n.out_spec,
                turned(n.rhs_spec), n.lhs_spec};
  for (std::size_t d = 0; d < in.size(); ++d) {
    const std::int64_t wide = dilated_size(window[d], n.rhs_dilation[d]);
    const std::int64_t before = wide - n.padding[2 * d] - 1;
    t.padding.push_back(before);
    t.padding.push_back(dilated_size(in[d], n.lhs_dilation[d]) + wide - 1 -
                        dilated_size(out[d], n.strides[d]) - before);
  }
  t.feature_groups = groups;
  t.leading = turned_leading(n.leading, Leading::rhs);
  const Value grad = conv(ct, rhs, t, {}, param(a.params, "precision"));
  const std::int64_t own = n.of_lhs();
  return n.batch_groups > 1
             ? groups_moved(grad, own + n.lhs_spec[1], own + n.lhs_spec[0], n.batch_groups)
             : grad;
}

// d rhs: the operand meets the cotangent, over all places; the batch is summed over.
Value transpose_rhs(const TransposeArgs& a, const ConvNumbers& n) {
  const Value ct = a.ct[0];
  if (a.out_types[0].size() == 0) return nullptr;
  const Value lhs = a.in[0]->dtype() == ct->dtype() ? a.in[0] : convert(a.in[0], ct->dtype());
  const Ints in = spatial_sizes(lhs->shape(), n.lhs_spec, n.of_lhs()),
             window = spatial_sizes(a.in_types[1].shape, n.rhs_spec, n.of_rhs()),
             out = spatial_sizes(ct->shape(), n.out_spec, n.of_out());
  ConvNumbers t{
      n.rhs_dilation,    {}, n.lhs_dilation, n.strides, turned(n.lhs_spec), turned(n.out_spec),
      turned(n.rhs_spec)};
  for (std::size_t d = 0; d < in.size(); ++d) {
    t.padding.push_back(n.padding[2 * d]);
    t.padding.push_back(dilated_size(out[d], n.strides[d]) -
                        dilated_size(in[d], n.lhs_dilation[d]) +
                        dilated_size(window[d], n.rhs_dilation[d]) - n.padding[2 * d] - 1);
  }
  t.feature_groups = n.batch_groups;
  t.batch_groups = n.feature_groups;
  t.leading = turned_leading(n.leading, Leading::lhs);
  return conv(lhs, ct, t, {}, param(a.params, "precision"));
}

Value as_type(const Value& x, const Type& type) {
  return !x || x->dtype() == type.dtype ? x : convert(x, type.dtype);
}

Values conv_transpose(const TransposeArgs& a) {
  const ConvNumbers n = conv_numbers(a.params);
  if (a.linear(0)) return {as_type(transpose_lhs(a, n), a.in_types[0]), nullptr};
  return {nullptr, as_type(transpose_rhs(a, n), a.in_types[1])};
}

Batched conv_batch(const BatchArgs& a) {
  ConvNumbers n = conv_numbers(a.params);
  const Leading kind = !a.batched[1] ? Leading::lhs : !a.batched[0] ? Leading::rhs : Leading::both;
  n.leading.insert(0, static_cast<std::int64_t>(kind));
  return batched1(conv(a.in[0], a.in[1], n, param(a.params, "preferred_element_type"),
                       param(a.params, "precision")));
}

// Features of several groups count as whole, and so do batches.
DimFactors conv_factors(const Params& params, const Types& in, const Type& out) {
  const ConvNumbers n = conv_numbers(params);
  DimFactors made;
  ArrayFactors lhs(in[0].rank()), rhs(in[1].rank()), result(out.rank());
  std::size_t l = 0, r = 0, o = 0;
  for (const std::int64_t kind : n.leading) {
    const auto own = static_cast<Leading>(kind);
    const FactorList factor{
        made.add(own == Leading::summed ? FactorUse::reduced : FactorUse::parallel,
                 own == Leading::rhs ? in[1].shape[r] : in[0].shape[l])};
    if (own != Leading::rhs) lhs[l++] = factor;
    if (own != Leading::lhs) rhs[r++] = factor;
    if (own != Leading::summed) result[o++] = factor;
  }
  const auto share = [&](FactorList& x, FactorList& y, FactorUse use, std::int64_t size) {
    x = y = {made.add(use, size)};
  };
  const auto of_lhs = [&](std::size_t i) { return l + index(n.lhs_spec[i]); };
  const auto of_rhs = [&](std::size_t i) { return r + index(n.rhs_spec[i]); };
  const auto of_out = [&](std::size_t i) { return o + index(n.out_spec[i]); };
  if (n.batch_groups == 1)
    share(lhs[of_lhs(0)], result[of_out(0)], FactorUse::parallel, out.shape[of_out(0)]);
  for (std::size_t k = 0; k < n.spatial(); ++k) {
    const Slide slide{dilated_size(in[1].shape[of_rhs(k + 2)], n.rhs_dilation[k]), n.strides[k],
                      n.padding[2 * k]};
    SlideDims own = add_slide(made, in[0].shape[of_lhs(k + 2)], out.shape[of_out(k + 2)],
                              n.lhs_dilation[k] == 1 ? slide : Slide());
    lhs[of_lhs(k + 2)] = std::move(own.operand);
    result[of_out(k + 2)] = std::move(own.windows);
  }
  if (n.feature_groups == 1 && n.batch_groups == 1)
    share(rhs[of_rhs(0)], result[of_out(1)], FactorUse::parallel, out.shape[of_out(1)]);
  if (n.feature_groups == 1)
    share(lhs[of_lhs(1)], rhs[of_rhs(1)], FactorUse::reduced, in[1].shape[of_rhs(1)]);
  made.add_rest(lhs, in[0].shape);
  made.add_rest(rhs, in[1].shape);
  made.add_rest(result, out.shape);
  made.operands = {std::move(lhs), std::move(rhs)};
  made.result = std::move(result);
  return made;
}

// As in JAX, a split of the kernel, or of the features that it sums over, leaves the split of
// results open.
void conv_check_split(const Op& op, const Params& params, const Types& in, const Types& out) {
  const ConvNumbers n = conv_numbers(params);
  if (!n.leading.empty()) return;
  const auto is_split = [](const Type& type, std::size_t d) {
    return type.sharding && !type.sharding->explicit_split(d).empty();
  };
  bool open = is_split(in[0], index(n.lhs_spec[1]));
  for (std::size_t d = 0; d < in[1].rank(); ++d) open = open || is_split(in[1], d);
  if (open) {
    fail(ErrorKind::sharding_type_error,
         "Please specify the output sharding via `out_sharding` parameter of `", op.name,
         "`: its kernel, or what it sums over, is split.");
  }
  check_comes_out_even(op.name, in[0], out[0]);
}

// Zeros, or edges of other parts, come in place of padding.
Parts conv_parts(const SplitArgs& a) {
  const ConvNumbers n = conv_numbers(a.params);
  Parts out = parts_by_dims(a, {.joins = "psum", .alike = true, .halos = true});
  Ints padding = n.padding;
  for (std::size_t k = 0; k < n.spatial(); ++k) {
    if (!out.out[index(n.of_out() + n.out_spec[k + 2])].empty())
      padding[2 * k] = padding[2 * k + 1] = 0;
  }
  out.params.set("padding", padding);
  return out;
}

const Op conv_op{
    {.name = "conv_general_dilated",
     .operands = 2,
     .doc = "Sums of products of a kernel with the windows of an array, without a flip. Operands: "
            "lhs (batch, feature, ...) and rhs (out, in, ...), or as the specs say.",
     .checks = makes_nan,
     .dtypes = any_dtype,
     .type = conv_type,
     .jvp = [](const JvpArgs& a) -> Values {
       const ConvNumbers n = conv_numbers(a.params);
       const auto product = [&](const Value& lhs, const Value& rhs) {
         return conv(lhs, rhs, n, param(a.params, "preferred_element_type"),
                     param(a.params, "precision"));
       };
       Value sum;
       if (a.t[0]) sum = product(a.t[0], a.in[1]);
       if (a.t[1]) {
         const Value right = product(a.in[0], a.t[1]);
         sum = sum ? add(sum, right) : right;
       }
       return {sum};
     },
     .transpose = conv_transpose,
     .batch = conv_batch,
     .half_native = true,
     .dims = conv_factors,
     .split = [](const SplitArgs& a) { return split_evenly(split_by_dims(a), a); },
     .check_split = conv_check_split,
     .parts = conv_parts,
     .kernel = conv_kernel,
     .show = show_conv}};

}  // namespace
}  // namespace shardax::ops
