// analysis/device_sets.h - device sets of arguments, checked against those that programs want.
#pragma once

#include "base/errors.h"
#include "ir/program.h"

namespace shardax {

// Arguments that lie on different devices, or on others than a program asks for.
class Misplaced final : public UserError {
 public:
  // `arguments`: their positions in the call, with a description of each; `rest` follows them.
  Misplaced(std::vector<std::pair<std::size_t, std::string>> arguments, std::string rest,
            const std::vector<std::string>& names);
  // The same of arguments that are called so.
  Misplaced named(const std::vector<std::string>& names) const {
    return {arguments_, rest_, names};
  }

 private:
  std::vector<std::pair<std::size_t, std::string>> arguments_;
  std::string rest_;
};

// Throws Misplaced where arrays that were placed lie on different devices; `user` is the op or
// function that takes them.
void require_same_devices(std::string_view user, const Values& arrays);
struct AskedDevices {
  std::vector<int> ids;  // sorted; none: operands may lie anywhere
  std::string_view by;   // the op or function that asks
};
// The devices of the first sharding_constraint or shard_map in a program.
AskedDevices devices_asked(const Program& program);
// The devices of a sharding, as shard_map asks for them; none if it is null.
AskedDevices devices_asked(const ShardingPtr& mesh);
// Throws Misplaced where an array that was placed lies on other devices than those.
void require_devices(std::string_view user, const Values& arrays, const AskedDevices& asked);

}  // namespace shardax
