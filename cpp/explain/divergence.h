// explain/divergence.h - the equations at which equal devices become different.
#pragma once

#include "explain/variation.h"

namespace shardax {

// Two values meet in an equation: one of an argument, and one that is made elsewhere.
struct Meeting {
  int where = -1;  // the source in which they meet
  int other = -1;  // the source that gives the other value; -1: an argument is it
};

// Argument `input` is the same on all devices, and output `output`, which it becomes by elementwise
// work, is not. Gives the place at which it meets a value that differs. Without such a way `where`
// is -1.
Meeting where_it_diverges(const TaggedProgram& program, const Variation& found, std::size_t input,
                          std::size_t output);

// Argument `input` differs between devices, and becomes a result of the same type by elementwise
// work. The work takes a value that a collective has made the same for all. Such parameters are
// updated alike, but did not start alike. `other` is the collective; without such a way `where` is
// -1.
Meeting updated_alike(const TaggedProgram& program, const Variation& found, std::size_t input);

// The source that draws random numbers from a key that differs between devices, where nothing else
// makes output `output` differ; else -1.
int drawn_apart(const TaggedProgram& program, const Variation& found, std::size_t output);

}  // namespace shardax
