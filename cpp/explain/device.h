// explain/device.h - simulated cost of one device with its own memory: work and messages.
#pragma once

#include "explain/sources.h"

namespace shardax {

// Equations that a device runs as one kernel, a message, or a loop.
struct DeviceUnit {
  enum class Kind : std::uint8_t { compute, collective, loop } kind = Kind::compute;
  std::vector<int> sources;
  std::vector<int> needs;  // positions of the units whose results it takes
  double flops = 0, transcendentals = 0, bytes = 0;
  bool product = false;  // does it run at the speed of matrix products?
  AxisSet varying;       // over which axes its work differs between devices
  // Collectives.
  std::string_view op;
  AxisSet axes;
  std::int64_t group = 1;    // number of devices that act together
  std::int64_t operand = 0;  // bytes of one device's operand
  std::int64_t result = 0;   // and of its result
  std::int64_t hops = 0;     // ppermute: the longest way between source and destination, in order
  // Loops: the units of one iteration, and the bytes that it holds.
  double times = 1;
  std::int64_t workspace = 0;
  std::vector<DeviceUnit> body;
};

struct DeviceProgram {
  std::vector<DeviceUnit> units;
  std::int64_t arguments = 0;  // bytes of what it holds of the arguments
  std::int64_t results = 0;
  std::int64_t temporaries = 0;  // the most at one time
};
DeviceProgram device_program(const TaggedProgram& tagged, const Program& program);

}  // namespace shardax
