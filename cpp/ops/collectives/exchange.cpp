// ops/collectives/exchange.cpp - collectives that move data between devices.
#include "array/checked_axis.h"
#include "base/index.h"
#include "ir/core_ops.h"
#include "ops/collectives/family.h"
#include "ops/collectives/sum_groups.h"
#include "ops/elementwise/pairs.h"
#include "ops/indexing/index.h"
#include "ops/param_checks.h"

namespace shardax::ops {
namespace {

extern const Op all_gather_op, all_gather_invariant_op, all_gather_reduced_op, reduce_scatter_op,
    unreduced_reduce_scatter_op, all_to_all_op, ppermute_op;

struct Exchange {
  std::int64_t size;  // of the group
  bool tiled;
  Exchange(const Op& op, const Params& p)
      : size(p.integer(param::axis_size)), tiled(p.flag(param::tiled)) {
    if (size < 0) value_error(op.name, ": axis_size ", size, " is negative.");
  }
  // Has each device a part of as many elements? If there is no device, no device has a part.
  bool divides(std::int64_t extent) const { return size > 0 && extent % size == 0; }
};

// The params of an exchange over the same devices that acts on dimension `dim`.
Params exchange_like(const Params& params, ParamName dim_param, std::int64_t dim) {
  Params out = same_devices(params, "axis_name");
  out.set("axis_size", params.integer(param::axis_size));
  out.set(dim_param, dim);
  out.set("tiled", params.flag(param::tiled));
  return out;
}

Params exchange_params(const Devices& devices, bool tiled) {
  Params params = device_params(devices, "axis_name");
  params.set("axis_size", devices.group_size());
  params.set("tiled", tiled);
  return params;
}

// Dimensions `dim` and `dim + 1` become one.
Value merge_dims(const Value& a, std::int64_t dim) {
  Shape shape = a->shape();
  const auto d = index(dim);
  shape[d] *= shape[d + 1];
  shape.erase(d + 1);
  return reshape(a, shape);
}

// Dimension `dim` becomes `parts` x the rest.
Value split_dim(const Value& a, std::int64_t dim, std::int64_t parts) {
  Shape shape = a->shape();
  const auto d = index(dim);
  shape[d] = a->shape()[d] / parts;
  shape.insert(d, parts);
  return reshape(a, shape);
}

// Slice `position` of dimension `dim`, without it.
Value take_part(const Value& x, const Value& position, std::int64_t dim) {
  const auto d = index(dim);
  Values starts(x->shape().size(), scalar(DType::int32, 0));
  starts[d] = position;
  Shape sizes = x->shape(), shape = x->shape();
  sizes[d] = 1;
  shape.erase(d);
  return reshape(dynamic_slice(x, starts, sizes), shape);
}

// In a sum by groups (ops/collectives/sum_groups.h) each device makes all and keeps its part.
Value scattered_sum(const Params& params, const Value& x) {
  if (sum_groups() == 0) return bind_checked(reduce_scatter_op, params, x);
  const std::int64_t dim = params.integer(param::scatter_dimension),
                     size = params.integer(param::axis_size);
  infer_types(reduce_scatter_op, {x->type()}, params);
  const AxisSet& axes = collective_axes(params);
  const Value sum = reduce_devices(core_ops().psum, x, {axes, size, groups_of(params)});
  const Value parts = params.flag(param::tiled) ? split_dim(sum, dim, size) : sum;
  return take_part(parts, position_along(axes, "psum_scatter"), dim);
}

// ---- all_gather, reduce_scatter ----------------------------------------------------------------

Types gather_type(const Op& op, const Types& in, const Params& params) {
  const Exchange p(op, params);
  const std::size_t dim =
      checked_axis(op, params, "all_gather_dimension", in[0].rank() + (p.tiled ? 0 : 1));
  Type out = varying_over_checked(shared_by_devices(in[0], params), params);
  if (p.tiled) {
    if (__builtin_mul_overflow(out.shape[dim], p.size, &out.shape[dim]))
      value_error(op.name, ": the result of ", to_string(in[0]), " is too large.");
  } else {
    out.shape.insert(dim, p.size);
  }
  return {out};
}

const Op all_gather_op{collective(
    {.name = "all_gather",
     .operands = 1,
     .doc = "The values of all devices of an axis, along a dimension.",
     .type = behind_stacked<gather_type>,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(all_gather_op, a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values {
       const std::int64_t dim = a.params.integer(param::all_gather_dimension);
       return {scattered_sum(exchange_like(a.params, "scatter_dimension", dim), a.ct[0])};
     },
     .batch = batch_over<[](const GroupArgs& a) -> GroupResult {
       const std::int64_t dim = a.params.integer(param::all_gather_dimension);
       const Value moved = moveaxis(with_devices(a), 0, dim);
       return {a.params.flag(param::tiled) ? merge_dims(moved, dim) : moved, false};
     }>})};

Types gather_invariant_type(const Op& op, const Types& in, const Params& params) {
  Types out = gather_type(op, in, params);
  return {shared_by_devices(out[0], params)};
}

// Each device keeps its own part of the cotangent, which all share.
Values transpose_gather_invariant(const TransposeArgs& a) {
  const std::int64_t dim = a.params.integer(param::all_gather_dimension);
  const std::int64_t size = a.params.integer(param::axis_size);
  const Value parts = a.params.flag(param::tiled) ? split_dim(a.ct[0], dim, size) : a.ct[0];
  return {take_part(parts, position_along(collective_axes(a.params), "all_gather_invariant"), dim)};
}

const Op all_gather_invariant_op{collective(
    {.name = "all_gather_invariant",
     .operands = 1,
     .doc = "The values of all devices of an axis, along a dimension: a value that all share.",
     .type = behind_stacked<gather_invariant_type>,
     .jvp = [](const JvpArgs& a) -> Values {
       return {bind1(all_gather_invariant_op, a.params, a.t)};
     },
     .transpose = transpose_gather_invariant,
     .batch = all_gather_op.batch})};

Types scatter_type(const Op& op, const Types& in, const Params& params) {
  check_dtype(op, in[0].dtype);
  const Exchange p(op, params);
  Type out = varying_over_checked(in[0], params);
  const std::size_t d = checked_axis(op, params, "scatter_dimension", out.rank());
  if (p.tiled) {
    if (!p.divides(out.shape[d])) {
      value_error("psum_scatter: tiled reduce_scatter operand scatter dimension size ",
                  out.shape[d], " must be divisible by shard_count ", p.size, "; dimension ", d,
                  " of shape ", to_string(out.shape), " is shared out over the devices.");
    }
    out.shape[d] /= p.size;
  } else {
    if (out.shape[d] != p.size) {
      value_error("psum_scatter: reduce_scatter operand scatter dimension size ", out.shape[d],
                  " must match shard count ", p.size, "; dimension ", d, " of shape ",
                  to_string(out.shape), " has an element for each device (or pass tiled=True).");
    }
    out.shape.erase(d);
  }
  return {out};
}

// To a value that is reduced over the axes, and from one that is unreduced: each the other's
// transpose.
Types gather_reduced_type(const Op& op, const Types& in, const Params& params) {
  Type out = gather_type(op, in, params)[0];
  out.varying = with_state(out.varying, collective_axes(params), AxisState::reduced);
  return {out};
}

const Op all_gather_reduced_op{collective(
    {.name = "all_gather_reduced",
     .operands = 1,
     .doc = "The values of all devices of an axis, along a dimension: a value that is reduced.",
     .type = behind_stacked<gather_reduced_type>,
     .jvp = [](const JvpArgs& a) -> Values {
       return {bind1(all_gather_reduced_op, a.params, a.t)};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       const std::int64_t dim = a.params.integer(param::all_gather_dimension);
       return {bind1(unreduced_reduce_scatter_op, exchange_like(a.params, "scatter_dimension", dim),
                     a.ct)};
     },
     .batch = all_gather_op.batch})};

const Op reduce_scatter_op{collective(
    {.name = "reduce_scatter",
     .operands = 1,
     .doc = "The sum over an axis, of which each device keeps one part.",
     .dtypes = numbers,
     .type = behind_stacked<scatter_type>,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(reduce_scatter_op, a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values {
       const std::int64_t dim = a.params.integer(param::scatter_dimension);
       return {bind1(all_gather_op, exchange_like(a.params, "all_gather_dimension", dim), a.ct)};
     },
     .batch = batch_over<[](const GroupArgs& a) -> GroupResult {
       const std::int64_t dim = a.params.integer(param::scatter_dimension);
       const Value sum = a.varying ? reduce_sum(a.x, {0})
                                   : mul(a.x, scalar(a.x->dtype(), static_cast<double>(a.size)));
       const Value parts = a.params.flag(param::tiled) ? split_dim(sum, dim, a.size) : sum;
       return {moveaxis(parts, dim, 0), true};
     }>})};

const Op unreduced_reduce_scatter_op{collective(
    {.name = "unreduced_reduce_scatter",
     .operands = 1,
     .doc = "The sum that an unreduced value stands for, of which each device keeps one part.",
     .dtypes = numbers,
     .type = behind_stacked<scatter_type>,
     .jvp = [](const JvpArgs& a) -> Values {
       return {bind1(unreduced_reduce_scatter_op, a.params, a.t)};
     },
     .transpose = [](const TransposeArgs& a) -> Values {
       const std::int64_t dim = a.params.integer(param::scatter_dimension);
       return {bind1(all_gather_reduced_op, exchange_like(a.params, "all_gather_dimension", dim),
                     a.ct)};
     },
     .batch = reduce_scatter_op.batch})};

// ---- all_to_all --------------------------------------------------------------------------------

// Not weak, as in JAX.
Types all_to_all_type(const Op& op, const Types& in, const Params& params) {
  const Exchange p(op, params);
  const std::size_t split = checked_axis(op, params, "split_axis", in[0].rank());
  const std::size_t join_at = checked_axis(op, params, "concat_axis", in[0].rank());
  Type out = varying_over_checked(in[0], params);
  if (p.tiled) {
    if (!p.divides(out.shape[split])) {
      value_error("all_to_all: the size of split_axis ", split,
                  " must be divisible by the size of "
                  "the mapped axis when tiled, but they are ",
                  out.shape[split], " and ", p.size, " (shape ", to_string(out.shape), ").");
    }
    out.shape[split] /= p.size;
    out.shape[join_at] *= p.size;
  } else {
    if (out.shape[split] != p.size) {
      value_error(
          "all_to_all requires the size of the mapped axis axis_name to equal "
          "x.shape[split_axis], but they are ",
          p.size, " and ", out.shape[split], " respectively (split_axis ", split, " of shape ",
          to_string(out.shape), "). With tiled=True a multiple will do.");
    }
    out.shape.erase(split);
    out.shape.insert(join_at, p.size);
  }
  return {with_dtype(out, out.dtype)};
}

// The split dimension becomes the device axis, and the device axis the joined dimension.
GroupResult exchange_all(const GroupArgs& a) {
  const bool tiled = a.params.flag(param::tiled);
  const std::int64_t split = a.params.integer(param::split_axis);
  const std::int64_t join_at = a.params.integer(param::concat_axis);
  const Value x = with_devices(a);
  const Value parts = tiled ? split_dim(x, split + 1, a.size) : x;
  Ints order = iota_ints(parts->shape().size());
  order.erase(index(split) + 1);
  order.erase(0);
  order.insert(index(join_at), 0);
  order.insert(0, split + 1);
  const Value moved = transpose(parts, order);
  return {tiled ? merge_dims(moved, join_at + 1) : moved, true};
}

// The type rule has spoken for devices; an ordinary vmap keeps weak types.
Batched batch_exchange_all(const BatchArgs& a) {
  Batched out = batch_collective(a, exchange_all);
  Value& moved = out.out[0];
  if (a.axis.devices && moved->type().weak) moved = convert(moved, moved->dtype());
  return out;
}

const Op all_to_all_op{collective(
    {.name = "all_to_all",
     .operands = 1,
     .doc =
         "Each device splits a dimension over the axis and joins what it receives along another.",
     .type = behind_stacked<all_to_all_type>,
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(all_to_all_op, a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values {
       const Params back = a.params.with("split_axis", a.params.integer(param::concat_axis))
                               .with("concat_axis", a.params.integer(param::split_axis));
       return {bind1(all_to_all_op, back, a.ct)};
     },
     .batch = batch_exchange_all,
     .show = [](const Params& p) -> std::vector<std::string> {
       return {groups_text(p), axes_text(p), concat("concat_axis=", p.integer(param::concat_axis)),
               concat("split_axis=", p.integer(param::split_axis)),
               concat("tiled=", p.flag(param::tiled) ? "True" : "False")};
     }})};

// ---- ppermute ----------------------------------------------------------------------------------

void check_pairs(const Ints& pairs, std::int64_t size) {
  std::vector<bool> from(index(size)), to(index(size));
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    for (std::int64_t index : {pairs[i], pairs[i + 1]}) {
      if (index < 0 || index >= size) {
        value_error("ppermute: index ", index, " of perm ", pairs_text(pairs),
                    " is outside of the axis of size ", size,
                    "; sources and destinations run from 0 to ", size - 1, ".");
      }
    }
    if (from[index(pairs[i])] || to[index(pairs[i + 1])])
      value_error("ppermute sources and destinations must be unique, got ", pairs_text(pairs), ".");
    from[index(pairs[i])] = to[index(pairs[i + 1])] = true;
  }
}

Types permute_type(const Op& op, const Types& in, const Params& params) {
  if (params.ints(param::perm).size() % 2 != 0)
    value_error(op.name, ": perm ends with half a pair.");
  return {varying_over_checked(in[0], params)};
}

GroupResult permute(const GroupArgs& a) {
  const Ints& pairs = a.params.ints(param::perm);
  if (!a.varying && static_cast<std::int64_t>(pairs.size()) == 2 * a.size) return {a.x, false};
  Ints sources(index(a.size), -1);
  for (std::size_t i = 0; i < pairs.size(); i += 2) sources[index(pairs[i + 1])] = pairs[i];
  return {take_rows(with_devices(a), sources), true};
}

const Op ppermute_op{collective(
    {.name = "ppermute",
     .operands = 1,
     .doc = "Sends each source's value to its destination; devices that receive none have zeros.",
     .type = behind_stacked<permute_type>,
     .check_axes =
         [](const Op& op, const Params& params, const Types& in, const AxesInScope& scope) {
           const DeviceCount devices = check_devices(op, params, in, scope);
           if (devices.known) check_pairs(params.ints(param::perm), devices.all);
         },
     .jvp = [](const JvpArgs& a) -> Values { return {bind1(ppermute_op, a.params, a.t)}; },
     .transpose = [](const TransposeArgs& a) -> Values {
       Ints inverse = a.params.ints(param::perm);
       for (std::size_t i = 0; i < inverse.size(); i += 2) std::swap(inverse[i], inverse[i + 1]);
       return {bind1(ppermute_op, a.params.with("perm", inverse), a.ct)};
     },
     .batch = batch_over<permute>,
     .show = [](const Params& p) -> std::vector<std::string> {
       return {concat("axis_name=", to_string(*p.find("axis_name"))),
               "perm=" + pairs_text(p.ints(param::perm))};
     }})};

}  // namespace

Value all_gather(const Value& a, const Devices& devices, std::int64_t dim, bool tiled,
                 AxisState to) {
  Params params = exchange_params(devices, tiled);
  params.set("all_gather_dimension", dim);
  const bool reduced = to == AxisState::reduced && !checked_axes(devices.axes).empty();
  const Op& op = to == AxisState::shared ? all_gather_invariant_op
                 : reduced               ? all_gather_reduced_op
                                         : all_gather_op;
  return bind_checked(op, params, a);
}

Value psum_scatter(const Value& a, const Devices& devices, std::int64_t dim, bool tiled) {
  Params params = exchange_params(devices, tiled);
  params.set("scatter_dimension", dim);
  if (common_state(a, devices.axes, "psum_scatter") != AxisState::unreduced)
    return scattered_sum(params, a);
  infer_types(unreduced_reduce_scatter_op, {a->type()}, params);
  return bind1(unreduced_reduce_scatter_op, params, {a});
}

Value all_to_all(const Value& a, const Devices& devices, std::int64_t split_dim,
                 std::int64_t concat_dim, bool tiled) {
  Params params = exchange_params(devices, tiled);
  params.set("split_axis", split_dim);
  params.set("concat_axis", concat_dim);
  return bind_checked(all_to_all_op, params, a);
}

Value position_along(const AxisSet& axes, std::string_view user) {
  Value position;
  for (const AxisName name : axes) {
    const std::int64_t extent = axis_size(name, user);
    const Value own = axis_index(name, extent);
    position =
        position ? add(mul(position, scalar(DType::int32, static_cast<double>(extent))), own) : own;
  }
  return position;
}

Value ppermute(const Value& a, const Devices& devices, const Ints& pairs) {
  check_pairs(pairs, devices.size);
  Params params = device_params(devices, "axis_name");
  params.set("perm", pairs);
  return bind_checked(ppermute_op, params, a);
}

}  // namespace shardax::ops
