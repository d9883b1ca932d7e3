// ops/collectives/family.cpp - batching of collectives over their axes.
#include "ops/collectives/family.h"

#include <map>
#include <numeric>

#include "array/checked_axis.h"
#include "array/process_axis.h"
#include "base/index.h"
#include "ops/collectives/collective.h"
#include "ops/indexing/index.h"
#include "ops/param_checks.h"
#include "ops/permutations.h"

namespace shardax::ops {
namespace {

constexpr ParamName dimension_params[] = {"all_gather_dimension", "scatter_dimension", "split_axis",
                                          "concat_axis"};

// The same op on an operand with one more dimension in front.
Params one_dimension_on(Params params) {
  for (const ParamName name : dimension_params) {
    if (params.has(name)) params.set(name, params.get<std::int64_t>(name) + 1);
  }
  return params;
}

Value split_leading(const Value& x, const Shape& sizes) {
  Shape shape = sizes;
  shape.append(x->shape().begin() + 1, x->shape().end());
  return reshape(x, shape);
}

Value merge_leading(const Value& x, std::size_t count) {
  Shape shape{std::accumulate(x->shape().begin(), x->shape().begin() + count, std::int64_t{1},
                              std::multiplies<>())};
  shape.append(x->shape().begin() + count, x->shape().end());
  return reshape(x, shape);
}

// ---- groups ----------------------------------------------------------------------------------

// For each size the groups of that size, one after the other.
std::map<std::size_t, Ints> by_size(const Groups& groups) {
  std::map<std::size_t, Ints> out;
  for (const Ints& group : groups) out[group.size()].append(group.begin(), group.end());
  return out;
}

// Rows of equal groups, listed group by group, from `rule` on a grid of them.
Value rows_of_groups(const GroupArgs& a, GroupRule rule) {
  const std::int64_t count = a.x->shape()[0] / a.size;
  const Value grid = moveaxis(split_leading(a.x, {count, a.size}), 1, 0);
  GroupResult result = rule({one_dimension_on(a.params), grid, true, a.size});
  if (!result.varying) result.value = broadcast_leading(result.value, a.size);
  return merge_leading(moveaxis(result.value, 0, 1), 2);
}

GroupResult in_groups(const GroupArgs& a, const Groups& groups, GroupRule rule) {
  const std::map<std::size_t, Ints> sizes = by_size(groups);
  if (!a.varying && sizes.size() == 1) {
    const auto size = static_cast<std::int64_t>(sizes.begin()->first);
    const GroupResult result = rule({a.params, a.x, false, size});
    if (!result.varying) return result;
  }
  const Value x = with_devices(a);
  Ints order;
  Values parts;
  for (const auto& [size, members] : sizes) {
    order.append(members.begin(), members.end());
    parts.push_back(rows_of_groups(
        {a.params, take_rows(x, members), true, static_cast<std::int64_t>(size)}, rule));
  }
  return {take_rows(parts.size() == 1 ? parts[0] : concatenate(parts, 0), inverse_order(order)),
          true};
}

// ---- several axes ----------------------------------------------------------------------------

// The position in the user's order of the axis that is number `i` of those that are still names.
std::int64_t user_position(const Ints& stacked, std::size_t i) {
  for (std::int64_t position = 0;; ++position) {
    if (std::find(stacked.begin(), stacked.end(), position) != stacked.end()) continue;
    if (i-- == 0) return position;
  }
}

// All axes are leading dimensions of x, which stand for the positions `stacked`.
Value on_stacked(const Params& params, const Value& x, const Ints& stacked, GroupRule rule) {
  const std::size_t k = stacked.size();
  Ints to_user = inverse_order(stacked), to_stacked = stacked;
  for (std::size_t d = k; d < x->shape().size(); ++d)
    to_user.push_back(static_cast<std::int64_t>(d));
  const Value ordered = transpose(x, to_user);
  const Shape sizes(ordered->shape().begin(), ordered->shape().begin() + k);
  const Value devices = merge_leading(ordered, k);
  const std::int64_t count = devices->shape()[0];
  const Groups groups = groups_of(params);
  GroupResult result = groups.empty() ? rule({params, devices, true, count})
                                      : in_groups({params, devices, true, count}, groups, rule);
  if (!result.varying) result.value = broadcast_leading(result.value, count);
  const Value split = split_leading(result.value, sizes);
  for (std::size_t d = k; d < split->shape().size(); ++d)
    to_stacked.push_back(static_cast<std::int64_t>(d));
  return transpose(split, to_stacked);
}

std::vector<std::string> show_sorted(const Params& params) {
  std::vector<std::string> shown;
  for (const auto& [name, value] : params) {
    shown.push_back(name == "axis_index_groups" ? groups_text(params)
                                                : concat(name, "=", to_string(value)));
  }
  std::sort(shown.begin(), shown.end());
  return shown;
}

// ---- rows ------------------------------------------------------------------------------------

// The number of rows of the grid of which `order` is the transpose; 0 where it is none.
std::int64_t transposed_grid(const Ints& order, std::int64_t rows) {
  const auto n = static_cast<std::int64_t>(order.size());
  if (n != rows || n < 2 || order[0] != 0 || order[1] < 1 || n % order[1] != 0) return 0;
  const std::int64_t step = order[1], length = n / step;
  for (std::int64_t i = 0; i < n; ++i) {
    if (order[index(i)] != i % length * step + i / length) return 0;
  }
  return length;
}

struct RowRun {
  std::int64_t first;  // -1: zeros
  std::int64_t count;
};

std::vector<RowRun> runs_of(const Ints& order) {
  std::vector<RowRun> runs;
  for (std::int64_t row : order) {
    const bool goes_on =
        !runs.empty() &&
        (row < 0 ? runs.back().first < 0
                 : runs.back().first >= 0 && row == runs.back().first + runs.back().count);
    if (goes_on) {
      ++runs.back().count;
    } else {
      runs.push_back({row < 0 ? -1 : row, 1});
    }
  }
  return runs;
}

Value zero_rows(const Value& x, std::int64_t count) {
  Shape shape = x->shape();
  shape[0] = count;
  return zeros(with_shape(x->type(), shape));
}

// Slices are copied side by side; more than a few runs are one gather, whose index list is short
// beside the rows.
constexpr std::size_t max_slices = 16;

Value gather_rows(const Value& x, const Ints& order) {
  const ArrayPtr indices =
      empty_array(Type{DType::int32, false, {static_cast<std::int64_t>(order.size()), 1}, {}});
  auto* out = reinterpret_cast<std::int32_t*>(indices->data());
  const std::int64_t rows = x->shape()[0];
  // Rows out of bounds are filled with zeros.
  for (std::int64_t row : order) *out++ = static_cast<std::int32_t>(row < 0 ? rows : row);
  return rows_at(x, indices);
}

}  // namespace

Value rows_at(const Value& x, const Value& indices) {
  WindowDims dims;
  dims.window_dims = iota_ints(x->shape().size() - 1, 1);
  dims.collapsed = dims.index_map = {0};
  Ints sizes = x->shape();
  sizes[0] = 1;
  return gather(x, indices, dims, sizes, {"fill", false, false}, std::int64_t{0});
}

Value take_rows(const Value& x, const Ints& order) {
  const std::int64_t rows = x->shape()[0];
  if (const std::int64_t length = transposed_grid(order, rows); length > 0) {
    return merge_leading(moveaxis(split_leading(x, {length, rows / length}), 1, 0), 2);
  }
  const std::vector<RowRun> runs = runs_of(order);
  if (runs.empty()) return zero_rows(x, 0);
  if (runs.size() > max_slices) return gather_rows(x, order);
  Values parts;
  for (const RowRun& run : runs) {
    parts.push_back(run.first < 0 ? zero_rows(x, run.count)
                                  : slice_in_dim(x, run.first, run.first + run.count, 0));
  }
  return parts.size() == 1 ? parts[0] : concatenate(parts, 0);
}

Groups groups_of(const Params& params) {
  Groups groups;
  const ParamValue* given = params.find("axis_index_groups");
  const Ints* flat = given ? std::get_if<Ints>(given) : nullptr;
  if (!flat) return groups;
  groups.emplace_back();
  for (std::int64_t position : *flat) {
    if (position < 0) {
      groups.emplace_back();
    } else {
      groups.back().push_back(position);
    }
  }
  return groups;
}

const AxisSet& collective_axes(const Params& params) {
  return params.axes(params.has("axes") ? param::collective_axes : param::axis_name);
}

Ints stacked_axes(const Params& params) {
  return params.has("stacked") ? params.ints(param::stacked) : Ints{};
}

namespace {

// They are positions among all of the op's axes, and leading dimensions of the operand.
void check_stacked(const Op& op, const Types& in, const Params& params) {
  const Ints stacked = stacked_axes(params);
  check_dims(op, "stacked", stacked, stacked.size() + collective_axes(params).size());
  if (stacked.size() > in[0].rank())
    value_error(op.name, ": ", stacked.size(), " axes are dimensions of ", to_string(in[0]), ".");
}

}  // namespace

Batched batch_collective(const BatchArgs& a, GroupRule rule) {
  const AxisSet& axes = collective_axes(a.params);
  Ints stacked = stacked_axes(a.params);
  const auto own = std::find(axes.begin(), axes.end(), a.axis.name);
  if (own == axes.end()) {
    if (!a.batched[0]) return {{bind1(a.op, a.params, a.in)}, {false}};
    // The new dimension goes behind the stacked ones.
    const auto at = static_cast<std::int64_t>(stacked.size());
    const Value out = bind1(a.op, one_dimension_on(a.params), {moveaxis(a.in[0], 0, at)});
    return batched1(moveaxis(out, at, 0));
  }
  if (axes.size() == 1 && stacked.empty()) {
    const GroupArgs all{a.params, a.in[0], bool(a.batched[0]), a.axis.size};
    const Groups groups = groups_of(a.params);
    const GroupResult result = groups.empty() ? rule(all) : in_groups(all, groups, rule);
    return {{result.value}, {result.varying}};
  }
  const Value x = a.batched[0] ? a.in[0] : broadcast_leading(a.in[0], a.axis.size);
  stacked.insert(0, user_position(stacked, index(own - axes.begin())));
  if (axes.size() == 1) return batched1(on_stacked(a.params, x, stacked, rule));
  const auto& key = a.params.has("axes") ? param::collective_axes : param::axis_name;
  return batched1(bind1(
      a.op, a.params.with(key, AxisNames{without(axes, a.axis.name)}).with("stacked", stacked),
      {x}));
}

Types type_behind_stacked(const Op& op, const Types& in, const Params& params, TypeRule rule) {
  check_stacked(op, in, params);
  const std::size_t k = stacked_axes(params).size();
  if (k == 0) return rule(op, in, params);
  Types inner = in;
  inner[0].shape = Shape(in[0].shape.begin() + k, in[0].shape.end());
  Types out = rule(op, inner, params);
  Shape shape(in[0].shape.begin(), in[0].shape.begin() + k);
  shape.append(out[0].shape.begin(), out[0].shape.end());
  out[0].shape = shape;
  return out;
}

Type shared_by_devices(Type type, const Params& params) {
  if (groups_of(params).empty()) {
    for (AxisName name : collective_axes(params)) type.varying = without(type.varying, name);
  }
  return type;
}

Type varying_over_checked(Type type, const Params& params) {
  type.varying =
      with_state(type.varying, checked_axes(collective_axes(params)), AxisState::varying);
  return type;
}

namespace {

std::string known_axes(const AxesInScope& scope) {
  std::vector<std::string> names;
  for (const AxisExtent& axis : scope.axes) names.push_back(axis_text(axis.name));
  return names.empty() ? "none" : quoted(names);
}

// The number of devices of the axes that are names, and of those that are dimensions of the
// operand.
DeviceCount devices_of(const Op& op, const Params& params, const Types& in,
                       const AxesInScope& scope) {
  const AxisSet& axes = collective_axes(params);
  DeviceCount out{1, 1, true};
  for (std::size_t d = 0; d < stacked_axes(params).size(); ++d) out.all *= in[0].shape[d];
  for (auto name = axes.begin(); name != axes.end(); ++name) {
    if (std::find(axes.begin(), name, *name) != name)
      value_error(op.name, ": the axis '", axis_text(*name), "' is named twice.");
    const auto own = std::find_if(scope.axes.rbegin(), scope.axes.rend(),
                                  [&](const AxisExtent& axis) { return axis.name == *name; });
    if (own != scope.axes.rend()) {
      out.all *= own->size;
    } else if (is_process_axis(*name)) {
      out.all *= process_axis_size(*name);
    } else if (scope.closed) {
      value_error(op.name, ": the axis '", axis_text(*name), "' is not in scope; there are ",
                  known_axes(scope), ".");
    } else {
      out.known = false;
    }
  }
  return out;
}

void check_groups(const Op& op, const Groups& groups, std::int64_t devices) {
  Ints all;
  for (const Ints& group : groups) all.append(group.begin(), group.end());
  std::sort(all.begin(), all.end());
  if (all == iota_ints(index(devices)) &&
      std::none_of(groups.begin(), groups.end(), [](const Ints& g) { return g.empty(); }))
    return;
  value_error(op.name, ": axis_index_groups do not share out ", devices, " devices.");
}

}  // namespace

DeviceCount check_devices(const Op& op, const Params& params, const Types& in,
                          const AxesInScope& scope) {
  DeviceCount out = devices_of(op, params, in, scope);
  if (!out.known) return out;
  const Groups groups = groups_of(params);
  if (!groups.empty()) check_groups(op, groups, out.all);
  out.group = Devices{{}, out.all, groups}.group_size();
  if (params.has("axis_size") && params.integer(param::axis_size) != out.group) {
    value_error(op.name, ": axis_size is ", params.integer(param::axis_size), "; the axis has ",
                out.group, " devices.");
  }
  return out;
}

OpSpec collective(OpSpec spec) {
  spec.kind = Kind::collective;
  if (!spec.check_axes) {
    spec.check_axes = [](const Op& op, const Params& params, const Types& in,
                         const AxesInScope& scope) { check_devices(op, params, in, scope); };
  }
  spec.half_native = true;
  if (!spec.show) spec.show = show_sorted;
  return spec;
}

std::string axes_text(const Params& params) {
  const AxisSet& axes = collective_axes(params);
  return concat("axis_name=", axes.size() == 1 ? axis_text(axes[0]) : to_string(AxisNames{axes}));
}

std::vector<std::string> show_axes(const Params& params) {
  return {concat("axes=", to_string(*params.find("axes")))};
}

std::string groups_text(const Params& params) {
  const Groups groups = groups_of(params);
  if (groups.empty()) return "axis_index_groups=None";
  std::string text;
  for (const Ints& group : groups) text += (text.empty() ? "" : ", ") + to_string(group);
  return concat("axis_index_groups=(", text, groups.size() == 1 ? ",)" : ")");
}

Params device_params(const Devices& devices, ParamName axes_name) {
  Params params{{"axis_index_groups", std::monostate{}}, {axes_name, AxisNames{devices.axes}}};
  if (devices.groups.empty()) return params;
  Ints flat;
  for (const Ints& group : devices.groups) {
    if (!flat.empty()) flat.push_back(-1);
    flat.append(group.begin(), group.end());
  }
  params.set("axis_index_groups", flat);
  return params;
}

void refuse_sums(std::string_view user, const Type& type, const AxisSet& axes) {
  for (const AxisName name : checked_axes(axes)) {
    const AxisState state = state_over(type.varying, name);
    if (state <= AxisState::varying) continue;
    value_error(user, " cannot accept args which are ",
                state == AxisState::reduced ? "reduced" : "unreduced", ". Got ", to_string(type),
                " and axes=('", axis_text(name), "',). Cast or sum it over that axis first.");
  }
}

Value bind_checked(const Op& op, const Params& params, const Value& a) {
  refuse_sums(op.name, a->type(), collective_axes(params));
  const AxisSet missing = lacking(a->type().varying, collective_axes(params));
  const Value value = missing.empty() ? a : pvary(a, missing);
  infer_types(op, {value->type()}, params);
  return bind1(op, params, {value});
}

Params same_devices(const Params& params, ParamName axes_name) {
  const ParamValue* groups = params.find("axis_index_groups");
  Params out{{"axis_index_groups", groups ? *groups : ParamValue()},
             {axes_name, AxisNames{collective_axes(params)}}};
  if (params.has("stacked")) out.set("stacked", params.ints(param::stacked));
  return out;
}

std::int64_t Devices::group_size() const {
  if (groups.empty()) return size;
  const std::size_t first = groups[0].size();
  for (const Ints& group : groups) {
    if (group.size() != first) return -1;
  }
  return static_cast<std::int64_t>(first);
}

}  // namespace shardax::ops
