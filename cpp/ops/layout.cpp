// ops/layout.cpp - ops that show the same elements in another shape; most are views.
#include "ops/layout.h"

#include "base/index.h"
#include "ir/limits.h"
#include "ops/dim_rules.h"
#include "ops/family.h"
#include "ops/param_checks.h"
#include "ops/permutations.h"
#include "ops/sharding_rules/ambiguity.h"
#include "ops/sharding_rules/sharding_rules.h"

namespace shardax::ops {
namespace {

// ---- broadcast_in_dim ------------------------------------------------------------------------

Types broadcast_type(const Op& op, const Types& in, const Params& params) {
  const Ints& shape = params.ints(param::shape);
  const ParamValue* asked = params.find("sharding");
  if (asked && !std::holds_alternative<std::monostate>(*asked))
    checked_sharding(op, params, "sharding", shape.size());
  for (std::int64_t n : shape) {
    if (n < 0) value_error("broadcast_in_dim: shape ", list(shape), " has a negative size.");
  }
  const Ints& dims = params.ints(param::broadcast_dimensions);
  if (dims.size() != in[0].rank()) {
    type_error("broadcast_in_dim broadcast_dimensions must have length equal to operand ndim; got ",
               list(dims), " for an operand of shape ", to_string(in[0].shape), ".");
  }
  if (shape.size() < in[0].rank()) {
    type_error(
        "broadcast_in_dim target broadcast shape must have equal or higher rank to the operand "
        "shape; got ",
        to_string(shape), " for ", to_string(in[0].shape), ".");
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= static_cast<std::int64_t>(shape.size())) {
      type_error(
          "broadcast_in_dim broadcast_dimensions must be a subset of output dimensions, got ",
          list(dims), " for shape ", to_string(shape), ".");
    }
    if (in[0].shape[i] != 1 && in[0].shape[i] != shape[index(dims[i])]) {
      type_error(
          "broadcast_in_dim operand dimension sizes must either be 1, or be equal to their "
          "corresponding dimensions in the target broadcast shape; got operand of shape ",
          to_string(in[0].shape), ", target broadcast shape ", to_string(shape),
          ", broadcast_dimensions ", list(dims), ".");
    }
    if (std::find(dims.begin(), dims.begin() + i, dims[i]) != dims.begin() + i) {
      type_error("broadcast_in_dim broadcast_dimensions must not contain duplicates, got ",
                 list(dims), ".");
    }
  }
  return one(in[0], shape);
}

bool broadcast_view(const Params& params, const Type& in, const Shape& strides, const Type& out,
                    ViewLayout& result) {
  const Ints& dims = params.ints(param::broadcast_dimensions);
  result.strides.assign(out.rank(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto d = index(dims[i]);
    result.strides[d] = in.shape[i] == 1 && out.shape[d] != 1 ? 0 : strides[i];
  }
  return true;
}

// Sums over the dimensions that broadcasting added or stretched.
Value unbroadcast_dims(const Value& ct, const Type& in, const Ints& dims) {
  Ints summed, kept_one;
  for (std::size_t d = 0; d < ct->shape().size(); ++d) {
    const auto at = std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d));
    if (at == dims.end()) {
      summed.push_back(static_cast<std::int64_t>(d));
    } else if (in.shape[index(at - dims.begin())] == 1 && ct->shape()[d] != 1) {
      summed.push_back(static_cast<std::int64_t>(d));
      kept_one.push_back(at - dims.begin());
    }
  }
  Value sum = summed.empty() ? ct : reduce_sum(ct, summed);
  return sum->shape() == in.shape ? sum : reshape(sum, in.shape);
}

// The split of the result if it does not follow from the operand.
ShardingPtr asked_split(const Params& params) {
  const ParamValue* asked = params.find("sharding");
  const auto* sharding = asked ? std::get_if<ShardingPtr>(asked) : nullptr;
  return sharding ? *sharding : nullptr;
}

const Op broadcast_op{layout(
    {.name = "broadcast_in_dim",
     .operands = 1,
     .doc = "Repeats an array along new or unit dimensions, without a copy.",
     .type = broadcast_type,
     .jvp = [](const JvpArgs& a) -> Values {
       return {broadcast_in_dim(a.t[0], a.params.ints(param::shape),
                                a.params.ints(param::broadcast_dimensions), asked_split(a.params))};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       return {
           unbroadcast_dims(a.ct[0], a.in_types[0], a.params.ints(param::broadcast_dimensions))};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       ShardingPtr asked = asked_split(a.params);
       if (asked) {
         Split spec = asked->spec;
         spec.insert(spec.begin(), a.axis.split);
         asked = with_spec(*asked, std::move(spec));
       }
       return batched1(broadcast_in_dim(
           a.in[0], with_front(a.axis.size, a.params.ints(param::shape)),
           with_front(0, shifted(a.params.ints(param::broadcast_dimensions))), asked));
     },
     .view = broadcast_view,
     .dims = dims_broadcast,
     .resize = [](const Params& p, const Shape& out) { return p.with("shape", out); },
     .split = [](const SplitArgs& a) -> Split {
       const ShardingPtr asked = asked_split(a.params);
       return asked ? asked->spec : split_by_dims(a);
     },
     .show = [](const Params& p) -> std::vector<std::string> {
       const Ints& dims = p.ints(param::broadcast_dimensions);
       if (dims.empty()) return {};
       return {"broadcast_dimensions=" + list(dims)};
     }})};

// ---- reshape ---------------------------------------------------------------------------------

Types reshape_type(const Op& op, const Types& in, const Params& params) {
  const Ints& shape = params.ints(param::new_sizes);
  check_sizes(op, "new_sizes", shape);
  const Type out = with_shape(in[0], shape);
  check_limits("reshape", out);
  if (out.size() != in[0].size()) {
    type_error("cannot reshape array of shape ", to_string(in[0].shape), " (size ", in[0].size(),
               ") into shape ", to_string(shape), " (size ", out.size(), ")");
  }
  return {out};
}

// Matches runs of dimensions of equal product; each run of the input must be dense in itself.
bool reshape_view(const Params&, const Type& in, const Shape& strides, const Type& out,
                  ViewLayout& result) {
  result.strides.assign(out.rank(), 0);
  if (in.size() <= 1) return true;
  std::size_t i = 0, o = 0;
  while (i < in.rank() && o < out.rank()) {
    std::size_t i_end = i + 1, o_end = o + 1;
    std::int64_t i_size = in.shape[i], o_size = out.shape[o];
    while (i_size != o_size) {
      if (i_size < o_size) {
        i_size *= in.shape[i_end++];
      } else {
        o_size *= out.shape[o_end++];
      }
    }
    std::int64_t stride = 0, expected = 0;
    bool first = true;
    for (std::size_t k = i_end; k-- > i;) {
      if (in.shape[k] == 1) continue;
      if (!first && strides[k] != expected) return false;
      if (first) stride = strides[k];
      first = false;
      expected = strides[k] * in.shape[k];
    }
    for (std::size_t k = o_end; k-- > o;) {
      result.strides[k] = stride;
      stride *= out.shape[k];
    }
    i = i_end;
    o = o_end;
  }
  return true;
}

const Op reshape_op{layout(
    {.name = "reshape",
     .operands = 1,
     .doc = "The same elements in row-major order, in another shape.",
     .type = reshape_type,
     .jvp = [](const JvpArgs& a) -> Values {
       return {reshape(a.t[0], a.params.ints(param::new_sizes))};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       return {reshape(a.ct[0], a.in_types[0].shape)};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       return batched1(reshape(a.in[0], with_front(a.axis.size, a.params.ints(param::new_sizes))));
     },
     .view = reshape_view,
     .dims = dims_reshaped,
     .resize = [](const Params& p, const Shape& out) { return p.with("new_sizes", out); },
     .split = split_reshaped,
     .check_split = check_split_reshaped})};

// ---- transpose -------------------------------------------------------------------------------

Types transpose_type(const Op&, const Types& in, const Params& params) {
  const Ints& permutation = params.ints(param::permutation);
  Ints sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  if (!(sorted == iota_ints(in[0].rank()))) {
    type_error("transpose permutation isn't a permutation of operand dimensions, got permutation ",
               list(permutation), " for operand shape ", to_string(in[0].shape), ".");
  }
  Shape shape;
  for (std::int64_t d : permutation) shape.push_back(in[0].shape[index(d)]);
  return one(in[0], shape);
}

const Op transpose_op{
    layout({.name = "transpose",
            .operands = 1,
            .doc = "Dimensions in another order, without a copy.",
            .type = transpose_type,
            .jvp = [](const JvpArgs& a) -> Values {
              return {transpose(a.t[0], a.params.ints(param::permutation))};
            },
            .transpose = [](const TransposeArgs& a) -> Values {
              return {transpose(a.ct[0], inverse_order(a.params.ints(param::permutation)))};
            },
            .batch = [](const BatchArgs& a) -> Batched {
              return batched1(
                  transpose(a.in[0], with_front(0, shifted(a.params.ints(param::permutation)))));
            },
            .view =
                [](const Params& params, const Type&, const Shape& strides, const Type&,
                   ViewLayout& result) {
                  for (std::int64_t d : params.ints(param::permutation)) {
                    result.strides.push_back(strides[index(d)]);
                  }
                  return true;
                },
            .dims = dims_transposed})};

// ---- squeeze and expand_dims are kinds of reshape that views always serve ----------------------

Shape squeezed(const Shape& shape, const Ints& dims) {
  Shape out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) == dims.end()) {
      out.push_back(shape[d]);
    }
  }
  return out;
}

const Op squeeze_op{layout(
    {.name = "squeeze",
     .operands = 1,
     .doc = "Drops dimensions of size 1.",
     .type = [](const Op& op, const Types& in, const Params& params) -> Types {
       const Ints& dims = params.ints(param::dimensions);
       check_dims(op, "dimensions", dims, in[0].rank());
       for (std::int64_t d : dims) {
         if (in[0].shape[index(d)] != 1) {
           value_error(
               "cannot select an axis to squeeze out which has size not equal to one, got shape=",
               to_string(in[0].shape), " and dimensions=", list(dims));
         }
       }
       return one(in[0], squeezed(in[0].shape, dims));
     },
     .jvp = [](const JvpArgs& a) -> Values {
       return {squeeze(a.t[0], a.params.ints(param::dimensions))};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       return {reshape(a.ct[0], a.in_types[0].shape)};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       return batched1(squeeze(a.in[0], shifted(a.params.ints(param::dimensions))));
     },
     .view =
         [](const Params& params, const Type&, const Shape& strides, const Type&,
            ViewLayout& result) {
           result.strides = squeezed(strides, params.ints(param::dimensions));
           return true;
         },
     .dims = dims_squeezed})};

}  // namespace

Value broadcast_in_dim(const Value& a, const Shape& shape, const Ints& dims,
                       const ShardingPtr& asked) {
  Params params{{"shape", shape}, {"broadcast_dimensions", dims}};
  if (asked) params.set("sharding", asked);
  return bind1(broadcast_op, std::move(params), {a});
}

Value broadcast_to(const Value& a, const Shape& shape) {
  if (a->shape() == shape) return a;
  const std::size_t rank = a->shape().size();
  return broadcast_in_dim(a, shape,
                          iota_ints(rank, static_cast<std::int64_t>(shape.size() - rank)));
}

Value broadcast_leading(const Value& a, std::int64_t size) {
  return broadcast_in_dim(a, with_front(size, a->shape()), iota_ints(a->shape().size(), 1));
}

Value reshape(const Value& a, const Shape& shape) {
  if (a->shape() == shape) return a;
  return bind1(reshape_op, reshape_params(shape), {a});
}

Value transpose(const Value& a, const Ints& permutation) {
  if (permutation == iota_ints(permutation.size())) return a;
  return bind1(transpose_op, {{"permutation", permutation}}, {a});
}

Value moveaxis(const Value& a, std::int64_t from, std::int64_t to) {
  Ints order = iota_ints(a->shape().size());
  order.erase(index(from));
  order.insert(index(to), from);
  return transpose(a, order);
}

Value squeeze(const Value& a, const Ints& dims) {
  return dims.empty() ? a : bind1(squeeze_op, {{"dimensions", dims}}, {a});
}

Value expand_dims(const Value& a, const Ints& dims) {
  if (dims.empty()) return a;
  const std::size_t rank = a->shape().size() + dims.size();
  Shape shape;
  Ints kept;
  for (std::size_t d = 0, k = 0; d < rank; ++d) {
    const bool added =
        std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
    if (!added) kept.push_back(static_cast<std::int64_t>(d));
    shape.push_back(added ? 1 : a->shape()[k++]);
  }
  return broadcast_in_dim(a, shape, kept);
}

Value unbroadcast(const Value& a, const Type& type) {
  if (a->shape() == type.shape) return a;
  if (type.rank() == 0) return reduce_sum(a, iota_ints(a->shape().size()));
  Ints axes;
  for (std::size_t d = 0; d < type.rank(); ++d) {
    if (type.shape[d] != a->shape()[d]) axes.push_back(static_cast<std::int64_t>(d));
  }
  return reshape(reduce_sum(a, axes), type.shape);
}

Ints iota_ints(std::size_t count, std::int64_t start) {
  Ints out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(start + static_cast<std::int64_t>(i));
  return out;
}

}  // namespace shardax::ops
