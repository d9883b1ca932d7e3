// analysis/device_sets.cpp - devices of arguments and of programs, compared.
#include "analysis/device_sets.h"

#include <algorithm>

#include "analysis/shardings.h"
#include "ir/regions.h"
#include "ir/sharding_given.h"

namespace shardax {

namespace {

std::vector<int> device_set(const Sharding& sharding) {
  std::vector<int> out = sharding.devices;
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::string ids_text(const std::vector<int>& devices) {
  std::string text;
  for (const int id : devices) text += concat(text.empty() ? "" : ", ", id);
  return text;
}

std::pair<std::size_t, std::string> placed(std::string_view user, const Values& arrays,
                                           std::size_t i) {
  const std::string ids = ids_text(device_set(*as_array(arrays[i]).sharding()));
  return {i, concat(" of ", user, " with shape ", to_string(arrays[i]->type()), " and device ids [",
                    ids, "] on platform CPU")};
}

std::vector<std::string> positions(const Values& arrays) {
  if (arrays.size() == 2) return {"x", "y"};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arrays.size(); ++i) names.push_back(concat("args[", i, "]"));
  return names;
}

std::string misplaced_text(const std::vector<std::pair<std::size_t, std::string>>& arguments,
                           const std::string& rest, const std::vector<std::string>& names) {
  std::string text = "Received incompatible devices for jitted computation. Got";
  for (const auto& [i, said] : arguments)
    text += concat(&said == &arguments[0].second ? " argument " : " and argument ", names[i], said);
  return text + rest;
}

}  // namespace

Misplaced::Misplaced(std::vector<std::pair<std::size_t, std::string>> arguments, std::string rest,
                     const std::vector<std::string>& names)
    : UserError(ErrorKind::value_error, misplaced_text(arguments, rest, names)),
      arguments_(std::move(arguments)),
      rest_(std::move(rest)) {}

AskedDevices devices_asked(const ShardingPtr& mesh) {
  if (!mesh || !mesh->named) return {};
  return {device_set(*mesh), "shard_map"};
}

AskedDevices devices_asked(const Program& program) {
  const ShardingGiven asked_already;
  for (const Equation& eqn : program.equations) {
    const ShardingPtr given = given_sharding(eqn.params);
    if (given && given->named && !given->devices.empty())
      return {device_set(*given), "sharding_constraint"};
    if (!eqn.op->regions) continue;
    const Regions regions = eqn.op->regions(eqn.params);
    if (regions.runs == ExecutionKind::mapped) continue;
    if (regions.runs == ExecutionKind::mesh) {
      const AskedDevices own = devices_asked(*mesh_program(*eqn.op, eqn.params));
      if (!own.ids.empty()) return {own.ids, eqn.op->name};
      continue;
    }
    for (const ProgramPtr& body : regions.programs) {
      if (AskedDevices within = devices_asked(*body); !within.ids.empty()) return within;
    }
  }
  return {};
}

void require_devices(std::string_view user, const Values& arrays, const AskedDevices& asked) {
  for (std::size_t i = 0; i < arrays.size() && !asked.ids.empty(); ++i) {
    const ShardingPtr& own = as_array(arrays[i]).sharding();
    if (!own || own->axis_types.starts_with('p') || device_set(*own) == asked.ids) continue;
    throw Misplaced({placed(user, arrays, i)},
                    concat(" and ", asked.by, " inside jit with device ids [", ids_text(asked.ids),
                           "] on platform CPU. Bring the argument there with shardax.device_put."),
                    positions(arrays));
  }
}

void require_same_devices(std::string_view user, const Values& arrays) {
  std::size_t first = arrays.size();
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const ShardingPtr& own = as_array(arrays[i]).sharding();
    if (!own || own->axis_types.starts_with('p')) continue;
    if (first == arrays.size()) {
      first = i;
      continue;
    }
    const ShardingPtr& other = as_array(arrays[first]).sharding();
    if (own == other || own->devices == other->devices || device_set(*own) == device_set(*other))
      continue;
    throw Misplaced({placed(user, arrays, first), placed(user, arrays, i)},
                    ". Bring them to the same devices with shardax.device_put.", positions(arrays));
  }
}

}  // namespace shardax
