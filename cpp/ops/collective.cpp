// ops/collective.cpp - collectives: reductions, gathers and permutations along a mapped axis.
//
// A collective has no kernel. Batching over its axis turns it into ordinary ops along dimension 0,
// where an operand without the axis is one value that all devices share.
#include "ops/collective.h"

#include "ops/family.h"

namespace shardax::ops {
namespace {

Ints names_param_shape(const Shape& shape, std::int64_t dim, std::int64_t size) {
  Shape out = shape;
  out.insert(static_cast<std::size_t>(dim), size);
  return out;
}

bool acts_on(const BatchArgs& a, std::string_view param) {
  return contains(a.params.axes(param), a.axis.name);
}

std::vector<std::string> show_reduction(const Params& p) {
  return {"axes=" + to_string(ParamValue(AxisNames{p.axes("axes")})), "axis_index_groups=None"};
}

OpSpec collective(OpSpec spec) {
  spec.kind = Kind::collective;
  spec.half_native = true;
  return spec;
}

// ---- psum, pmax, pmin ------------------------------------------------------------------------

Types reduce_axes_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  Type out = in[0];
  for (AxisName name : params.axes("axes")) out.varying = without(out.varying, name);
  return {out};
}

// The axes without the one being batched over, whose part `reduce` does along dimension 0.
template <class F>
Batched batch_reduction(const BatchArgs& a, F reduce_leading) {
  const AxisSet& axes = a.params.axes("axes");
  if (!contains(axes, a.axis.name)) {
    return {{bind1(a.op, a.params, a.in)}, {a.batched[0]}};
  }
  Value value = reduce_leading(a.in[0], bool(a.batched[0]));
  AxisSet rest;
  for (AxisName name : axes) {
    if (name != a.axis.name) rest.push_back(name);
  }
  if (!rest.empty()) value = bind1(a.op, a.params.with("axes", AxisNames{rest}), {value});
  return {{value}, {false}};
}

const Op psum_op{collective(
    {.name = "psum",
     .doc = "Sum over mapped axes; every device has the result.",
     .dtypes = numbers,
     .type = reduce_axes_type,
     .jvp = [](const JvpArgs& a) -> Values { return {psum(a.t[0], a.params.axes("axes"))}; },
     .transpose = [](const TransposeArgs& a) -> Values {
       return {psum(a.ct[0], a.params.axes("axes"))};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       return batch_reduction(a, [&](const Value& x, bool batched) {
         if (batched) return reduce_sum(x, {0});
         return mul(x, scalar(x->dtype(), static_cast<double>(a.axis.size), x->type().weak));
       });
     },
     .show = show_reduction})};

// Where a device attains the extremum it has a share of the tangent; ties share it equally.
Values jvp_extremum(const JvpArgs& a) {
  const AxisSet& axes = a.params.axes("axes");
  const Value mask = convert(eq(a.in[0], a.out[0]), a.in[0]->dtype());
  return {div(psum(mul(a.t[0], mask), axes), psum(mask, axes))};
}

const Op pmax_op{collective({.name = "pmax",
                             .doc = "Maximum over mapped axes. Ties share the gradient.",
                             .dtypes = any_dtype,
                             .type = reduce_axes_type,
                             .jvp = jvp_extremum,
                             .batch = [](const BatchArgs& a) -> Batched {
                               return batch_reduction(a, [](const Value& x, bool batched) {
                                 return batched ? reduce_max(x, {0}) : x;
                               });
                             },
                             .show = show_reduction})};

const Op pmin_op{collective({.name = "pmin",
                             .doc = "Minimum over mapped axes. Ties share the gradient.",
                             .dtypes = any_dtype,
                             .type = reduce_axes_type,
                             .jvp = jvp_extremum,
                             .batch = [](const BatchArgs& a) -> Batched {
                               return batch_reduction(a, [](const Value& x, bool batched) {
                                 return batched ? reduce_min(x, {0}) : x;
                               });
                             },
                             .show = show_reduction})};

// ---- all_gather, psum_scatter ------------------------------------------------------------------

struct AxisParams {
  AxisName name;
  std::int64_t size;
  std::int64_t dim;
  bool tiled;
  explicit AxisParams(const Params& p)
      : name(p.axes("axis_name")[0]),
        size(p.integer("axis_size")),
        dim(0),
        tiled(p.flag("tiled")) {}
  AxisParams(const Params& p, std::string_view dim_param) : AxisParams(p) {
    dim = p.integer(dim_param);
  }
};

Types gather_type(const Op&, const Types& in, const Params& params) {
  const AxisParams p(params, "all_gather_dimension");
  Type out = in[0];
  const auto rank = static_cast<std::int64_t>(out.rank());
  if (p.dim < 0 || p.dim > rank || (p.tiled && p.dim == rank)) {
    value_error("all_gather: axis ", p.dim, " is out of bounds for array of dimension ", rank, ".");
  }
  if (p.tiled) {
    out.shape[static_cast<std::size_t>(p.dim)] *= p.size;
  } else {
    out.shape = names_param_shape(out.shape, p.dim, p.size);
  }
  out.varying = without(out.varying, p.name);
  return {out};
}

// Dimensions `dim` and `dim + 1` become one.
Value merge_dims(const Value& a, std::int64_t dim) {
  Shape shape = a->shape();
  const auto d = static_cast<std::size_t>(dim);
  shape[d] *= shape[d + 1];
  shape.erase(d + 1);
  return reshape(a, shape);
}

// Dimension `dim` becomes `parts` x the rest.
Value split_dim(const Value& a, std::int64_t dim, std::int64_t parts) {
  Shape shape = a->shape();
  const auto d = static_cast<std::size_t>(dim);
  shape[d] /= parts;
  shape.insert(d, parts);
  return reshape(a, shape);
}

Batched gather_batch(const BatchArgs& a) {
  const AxisParams p(a.params, "all_gather_dimension");
  if (p.name != a.axis.name) {
    return batched1(all_gather(a.in[0], p.name, p.size, p.dim + 1, p.tiled));
  }
  const Value all = a.batched[0] ? a.in[0] : broadcast_leading(a.in[0], a.axis.size);
  const Value moved = moveaxis(all, 0, p.dim);
  return {{p.tiled ? merge_dims(moved, p.dim) : moved}, {false}};
}

const Op all_gather_op{
    collective({.name = "all_gather",
                .doc = "The values of all devices of an axis, along a dimension.",
                .type = gather_type,
                .jvp = [](const JvpArgs& a) -> Values {
                  return {bind1(*find_op("all_gather"), a.params, a.t)};
                },
                .transpose = [](const TransposeArgs& a) -> Values {
                  const AxisParams p(a.params, "all_gather_dimension");
                  return {psum_scatter(a.ct[0], p.name, p.size, p.dim, p.tiled)};
                },
                .batch = gather_batch})};

Types scatter_type(const Op&, const Types& in, const Params& params) {
  const AxisParams p(params, "scatter_dimension");
  Type out = in[0];
  const auto rank = static_cast<std::int64_t>(out.rank());
  if (p.dim < 0 || p.dim >= rank) {
    value_error("psum_scatter: scatter_dimension ", p.dim, " is out of bounds for shape ",
                to_string(out.shape), ".");
  }
  const auto d = static_cast<std::size_t>(p.dim);
  if (p.tiled) {
    if (out.shape[d] % p.size != 0) {
      value_error("tiled reduce_scatter operand scatter dimension size ", out.shape[d],
                  " must be divisible by shard_count ", p.size, ".");
    }
    out.shape[d] /= p.size;
  } else {
    if (out.shape[d] != p.size) {
      value_error("reduce_scatter operand scatter dimension size ", out.shape[d],
                  " must match shard count ", p.size, ".");
    }
    out.shape.erase(d);
  }
  return {out};
}

Batched scatter_batch(const BatchArgs& a) {
  const AxisParams p(a.params, "scatter_dimension");
  if (p.name != a.axis.name) {
    return batched1(psum_scatter(a.in[0], p.name, p.size, p.dim + 1, p.tiled));
  }
  const Value sum = a.batched[0]
                        ? reduce_sum(a.in[0], {0})
                        : mul(a.in[0], scalar(a.in[0]->dtype(), static_cast<double>(p.size)));
  return batched1(moveaxis(p.tiled ? split_dim(sum, p.dim, p.size) : sum, p.dim, 0));
}

const Op psum_scatter_op{
    collective({.name = "reduce_scatter",
                .doc = "The sum over an axis, of which each device keeps one part.",
                .type = scatter_type,
                .jvp = [](const JvpArgs& a) -> Values {
                  return {bind1(*find_op("reduce_scatter"), a.params, a.t)};
                },
                .transpose = [](const TransposeArgs& a) -> Values {
                  const AxisParams p(a.params, "scatter_dimension");
                  return {all_gather(a.ct[0], p.name, p.size, p.dim, p.tiled)};
                },
                .batch = scatter_batch})};

// ---- all_to_all --------------------------------------------------------------------------------

Types all_to_all_type(const Op&, const Types& in, const Params& params) {
  const AxisParams p(params);
  const auto split = static_cast<std::size_t>(params.integer("split_axis"));
  const auto join_at = static_cast<std::size_t>(params.integer("concat_axis"));
  Type out = in[0];
  if (p.tiled) {
    if (out.shape[split] % p.size != 0) {
      value_error("all_to_all: tiled split_axis size ", out.shape[split],
                  " must be divisible by the axis size ", p.size, ".");
    }
    out.shape[split] /= p.size;
    out.shape[join_at] *= p.size;
  } else {
    if (out.shape[split] != p.size) {
      value_error(
          "all_to_all requires the size of the mapped axis axis_name to equal "
          "x.shape[split_axis], but they are ",
          p.size, " and ", out.shape[split], " respectively.");
    }
    out.shape.erase(split);
    out.shape.insert(join_at, p.size);
  }
  return {out};
}

Batched all_to_all_batch(const BatchArgs& a) {
  const AxisParams p(a.params);
  const std::int64_t split = a.params.integer("split_axis");
  const std::int64_t join_at = a.params.integer("concat_axis");
  if (p.name != a.axis.name) {
    return batched1(all_to_all(a.in[0], p.name, p.size, split + 1, join_at + 1, p.tiled));
  }
  const Value x = a.batched[0] ? a.in[0] : broadcast_leading(a.in[0], a.axis.size);
  if (!p.tiled) {
    // The split dimension becomes the device axis and the device axis the joined dimension.
    Ints order = iota_ints(x->shape().size());
    order.erase(static_cast<std::size_t>(split) + 1);
    order.erase(0);
    order.insert(static_cast<std::size_t>(join_at), 0);
    order.insert(0, split + 1);
    return batched1(transpose(x, order));
  }
  const Value parts = split_dim(x, split + 1, p.size);  // device, ..., part, rest, ...
  Ints order = iota_ints(parts->shape().size());
  order.erase(static_cast<std::size_t>(split) + 1);
  order.erase(0);
  order.insert(static_cast<std::size_t>(join_at), 0);
  order.insert(0, split + 1);
  return batched1(merge_dims(transpose(parts, order), join_at + 1));
}

const Op all_to_all_op{collective(
    {.name = "all_to_all",
     .doc =
         "Each device splits a dimension over the axis and joins what it receives along another.",
     .type = all_to_all_type,
     .jvp = [](const JvpArgs& a) -> Values {
       return {bind1(*find_op("all_to_all"), a.params, a.t)};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       const AxisParams p(a.params);
       return {all_to_all(a.ct[0], p.name, p.size, a.params.integer("concat_axis"),
                          a.params.integer("split_axis"), p.tiled)};
     },
     .batch = all_to_all_batch})};

// ---- ppermute ----------------------------------------------------------------------------------

Types permute_type(const Op&, const Types& in, const Params& params) {
  const Ints& pairs = params.ints("perm");
  const std::int64_t size = params.integer("axis_size");
  std::vector<bool> from(static_cast<std::size_t>(size)), to(static_cast<std::size_t>(size));
  std::string text;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    text += concat(i ? ", (" : "(", pairs[i], ", ", pairs[i + 1], ")");
  }
  if (pairs.size() == 2) text += ",";
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    for (std::int64_t index : {pairs[i], pairs[i + 1]}) {
      if (index < 0 || index >= size) {
        value_error("ppermute: index ", index, " of perm (", text, ") is outside of the axis '",
                    axis_text(params.axes("axis_name")[0]), "' of size ", size,
                    "; sources and destinations run from 0 to ", size - 1, ".");
      }
    }
    if (from[static_cast<std::size_t>(pairs[i])] || to[static_cast<std::size_t>(pairs[i + 1])]) {
      value_error("ppermute sources and destinations must be unique, got (", text, ").");
    }
    from[static_cast<std::size_t>(pairs[i])] = to[static_cast<std::size_t>(pairs[i + 1])] = true;
  }
  return {in[0]};
}

// Runs of consecutive destinations with consecutive sources become one slice each.
Value permute_leading(const Value& x, const Ints& pairs, std::int64_t size) {
  std::vector<std::int64_t> source(static_cast<std::size_t>(size), -1);
  for (std::size_t i = 0; i < pairs.size(); i += 2)
    source[static_cast<std::size_t>(pairs[i + 1])] = pairs[i];
  Values parts;
  for (std::int64_t d = 0; d < size;) {
    const std::int64_t first = source[static_cast<std::size_t>(d)];
    std::int64_t end = d + 1;
    while (end < size &&
           source[static_cast<std::size_t>(end)] == (first < 0 ? -1 : first + end - d))
      ++end;
    if (first < 0) {
      parts.push_back(zeros(with_shape(x->type(), names_param_shape(
                                                      [&] {
                                                        Shape rest = x->shape();
                                                        rest.erase(0);
                                                        return rest;
                                                      }(),
                                                      0, end - d))));
    } else {
      parts.push_back(slice_in_dim(x, first, first + end - d, 0));
    }
    d = end;
  }
  return concatenate(parts, 0);
}

const Op ppermute_op{collective(
    {.name = "ppermute",
     .doc = "Sends each source's value to its destination; devices that receive none have zeros.",
     .type = permute_type,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(*find_op("ppermute"), a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values {
       Ints inverse = a.params.ints("perm");
       for (std::size_t i = 0; i < inverse.size(); i += 2) std::swap(inverse[i], inverse[i + 1]);
       return {bind1(*find_op("ppermute"), a.params.with("perm", inverse), {a.ct[0]})};
     },
     .batch = [](const BatchArgs& a) -> Batched {
       if (!acts_on(a, "axis_name")) return batched1(bind1(a.op, a.params, a.in));
       return batched1(permute_leading(all_batched(a)[0], a.params.ints("perm"), a.axis.size));
     }})};

// ---- axis_index --------------------------------------------------------------------------------

const Op axis_index_op{
    collective({.name = "axis_index",
                .doc = "The position of this device along an axis, int32.",
                .type = [](const Op&, const Types&, const Params& params) -> Types {
                  return {Type{DType::int32, false, {}, params.axes("axis_name")}};
                },
                .batch = [](const BatchArgs& a) -> Batched {
                  if (!acts_on(a, "axis_name")) return {{bind1(a.op, a.params, {})}, {false}};
                  return batched1(iota(DType::int32, {a.axis.size}, 0));
                },
                .no_gradient = true,
                .show = [](const Params& p) -> std::vector<std::string> {
                  return {"axis_name=" + axis_text(p.axes("axis_name")[0])};
                }})};

// ---- pvary -------------------------------------------------------------------------------------

const Op pvary_op{collective(
    {.name = "pvary",
     .doc = "The same value, typed as varying over axes; an identity at run time.",
     .type = [](const Op&, const Types& in, const Params& params) -> Types {
       Type out = in[0];
       AxisSet axes = params.axes("axes");
       std::sort(axes.begin(), axes.end());
       out.varying = join(out.varying, axes);
       return {out};
     },
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(*find_op("pvary"), a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values { return {a.ct[0]}; },
     .batch = [](const BatchArgs& a) -> Batched { return {{a.in[0]}, {a.batched[0]}}; }})};

Params axis_params(AxisName axis, std::int64_t size) {
  return {{"axis_name", AxisNames{{axis}}}, {"axis_size", size}};
}

}  // namespace

Value psum(const Value& a, const AxisSet& axes) {
  return bind1(psum_op, {{"axes", AxisNames{axes}}}, {a});
}
Value pmax(const Value& a, const AxisSet& axes) {
  return bind1(pmax_op, {{"axes", AxisNames{axes}}}, {a});
}
Value pmin(const Value& a, const AxisSet& axes) {
  return bind1(pmin_op, {{"axes", AxisNames{axes}}}, {a});
}

Value all_gather(const Value& a, AxisName axis, std::int64_t size, std::int64_t dim, bool tiled) {
  Params params = axis_params(axis, size);
  params.set("all_gather_dimension", dim);
  params.set("tiled", tiled);
  return bind1(all_gather_op, params, {a});
}

Value psum_scatter(const Value& a, AxisName axis, std::int64_t size, std::int64_t dim, bool tiled) {
  Params params = axis_params(axis, size);
  params.set("scatter_dimension", dim);
  params.set("tiled", tiled);
  return bind1(psum_scatter_op, params, {a});
}

Value ppermute(const Value& a, AxisName axis, std::int64_t size, const Ints& pairs) {
  Params params = axis_params(axis, size);
  params.set("perm", pairs);
  return bind1(ppermute_op, params, {a});
}

Value all_to_all(const Value& a, AxisName axis, std::int64_t size, std::int64_t split_dim,
                 std::int64_t concat_dim, bool tiled) {
  Params params = axis_params(axis, size);
  params.set("split_axis", split_dim);
  params.set("concat_axis", concat_dim);
  params.set("tiled", tiled);
  return bind1(all_to_all_op, params, {a});
}

Value axis_index(AxisName axis, std::int64_t size) {
  return bind1(axis_index_op, axis_params(axis, size), {});
}

}  // namespace shardax::ops
