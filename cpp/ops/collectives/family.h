// ops/collectives/family.h - shared parts of collectives: axes, groups, the device dimension.
//
// A collective has no kernel. Its record holds a GroupRule: the op on an array whose dimension 0
// lists the devices of one group. Batching over its axes applies that rule; this file does the
// rest:
//
//   psum[axes=('i',)] a:f32[3]                          one device's program
//   psum[axes=('i',)] a:f32[8,3]  ->  reduce_sum[axes=(0,)] a     batched over 'i', one group
//
// - If there are several axes, those batched so far are leading dimensions ("stacked") until the
//   last comes. Then all are transposed into the user's order and seen as one.
// - Groups of one size are rows of a grid [devices, groups, ...], in which the rule sees the groups
//   as one more dimension of the operand. Groups of several sizes are one grid for each size.
#pragma once

#include "ops/collectives/collective.h"
#include "ops/family.h"

namespace shardax::ops {

using Groups = std::vector<Ints>;
Groups groups_of(const Params& params);  // empty: all devices are one group
// The axes that are still names: the param "axes" or "axis_name".
const AxisSet& collective_axes(const Params& params);
// For each leading dimension of a partly batched operand, its axis's position in the user's order.
Ints stacked_axes(const Params& params);

// One group of devices. If `varying`, dimension 0 of x lists them; else all have x.
struct GroupArgs {
  const Params& params;  // dimensions count from behind the devices
  const Value& x;
  bool varying;
  std::int64_t size;
};
struct GroupResult {
  Value value;  // with the devices as dimension 0 where varying
  bool varying;
};
using GroupRule = GroupResult (*)(const GroupArgs&);
inline Value with_devices(const GroupArgs& a) {
  return a.varying ? a.x : broadcast_leading(a.x, a.size);
}

Batched batch_collective(const BatchArgs& a, GroupRule rule);
template <GroupRule rule>
Batched batch_over(const BatchArgs& a) {
  return batch_collective(a, rule);
}

// The type rule of an op, from one for an operand without stacked dimensions.
Types type_behind_stacked(const Op& op, const Types& in, const Params& params, TypeRule rule);
template <TypeRule rule>
Types behind_stacked(const Op& op, const Types& in, const Params& params) {
  return type_behind_stacked(op, in, params, rule);
}
// The operand's type, where all devices of a group then have the same value.
Type shared_by_devices(Type type, const Params& params);
// The same, where that is not followed over checked axes, or each device has its own.
Type varying_over_checked(Type type, const Params& params);

// Does it change the state over checked axes alone (checked_sums.cpp)?
bool is_cast(const Op& op);

// Rows of `x` (slices along dimension 0) in another order; -1 stands for zeros. A view where the
// order is a run or a transposed grid, else one pass.
Value take_rows(const Value& x, const Ints& order);

// The rows at `indices`, int32 [n, 1]; those out of bounds are zeros.
Value rows_at(const Value& x, const Value& indices);

// The number of devices of the axes in scope. Throws unless the params' axes are among them, its
// groups share out their devices, and a param "axis_size" is that of a group. The check of all
// collectives, unless given; others begin with it.
struct DeviceCount {
  std::int64_t all, group;  // group: -1 where groups differ in size
  bool known;               // false: axes are bound outside
};
DeviceCount check_devices(const Op& op, const Params& params, const Types& in,
                          const AxesInScope& scope);

// Fills kind, show and check_axes, unless given.
OpSpec collective(OpSpec spec);
// As make_jaxpr prints them: "axis_index_groups=None"; an axis that is alone without parentheses.
std::string groups_text(const Params& params);
std::string axes_text(const Params& params);
// All that is shown of an op without groups.
std::vector<std::string> show_axes(const Params& params);

// Params of an op over `devices`, whose axes go by `axes_name`.
Params device_params(const Devices& devices, ParamName axes_name);
// The operand is made to vary over the checked axes among those of the op.
Value bind_checked(const Op& op, const Params& params, const Value& a);
// ValueError where the operand of `user` is unreduced or reduced over one of the axes.
void refuse_sums(std::string_view user, const Type& type, const AxisSet& axes);
// The params that say over which devices, for another op whose axes go by `axes_name`.
Params same_devices(const Params& params, ParamName axes_name);

}  // namespace shardax::ops
