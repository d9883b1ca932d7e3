// compile/ports.h - descriptions of loops that take or give something more.
#pragma once

#include "ir/bodies.h"

namespace shardax {

// Each chosen port twice, side by side.
inline std::vector<Port> doubled(const std::vector<Port>& ports, const std::vector<bool>& chosen) {
  std::vector<Port> out;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    out.push_back(ports[i]);
    if (!chosen[i]) continue;
    out.push_back(ports[i]);
    out.back().source = -1;
  }
  return out;
}

// Does the op repeat programs that may take and give something else?
inline bool is_open_loop(const Bodies& bodies) {
  return (bodies.runs == Runs::counted || bodies.runs == Runs::looped) && !bodies.fixed &&
         !bodies.devices;
}

}  // namespace shardax
