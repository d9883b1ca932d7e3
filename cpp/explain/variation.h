// explain/variation.h - mapped axes over which each value of a program varies.
#pragma once

#include "explain/sources.h"

namespace shardax {

// An argument or a result of the whole program, and one device's part of it.
struct Boundary {
  Type whole;
  Type device;                   // one device's part; the whole, where nothing maps it
  std::vector<MappedAxis> axes;  // those in scope where it is used, or was made
  AxisSet split;                 // the axes along which it is cut into devices' parts
  AxisSet varying;               // of `axes`: those over which the devices' values differ
  AxisSet dropped;               // results: varies over these, and only the first device's is taken
  int source = -1;               // results: the equation that gives it
  Ints equal;                    // dimensions whose slices are all equal
};

struct Variation {
  std::vector<Boundary> inputs, outputs;
  std::vector<MappedAxis> axes;  // all, in the order in which they appear
};

// Fills the open fields of the sources. `equal`: per input, the dimensions along which its slices
// are known to be equal.
Variation find_variation(TaggedProgram& program, const std::vector<Ints>& equal);

}  // namespace shardax
