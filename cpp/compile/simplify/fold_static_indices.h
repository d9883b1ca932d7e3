// compile/simplify/fold_static_indices.h - gathers and scatters at constant places become slices.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// The elements of an array of few integers, in order, if constants say them.
std::optional<Ints> static_integers(const PatternContext& m, Var v);
// The clamped start of a dynamic_slice of inputs[0], or of an update of it, from inputs[first] on;
// none unless they are constants.
std::optional<Ints> static_starts(const PatternContext& m, const Vars& inputs, const Ints& sizes,
                                  std::size_t first);
// The end of a window that begins there.
Ints end_of(Ints start, const Ints& sizes);

// x.at[2].set(y) is a dynamic_update_slice, or y where it is all of x.
std::optional<Vars> static_scatter(const PatternContext& m);
// A gather of one window is a slice: it is seen where it lies.
std::optional<Vars> static_gather(const PatternContext& m);
// So is a dynamic_slice.
std::optional<Vars> static_slice(const PatternContext& m);
// A dynamic_update_slice that is all of its operand is the update.
std::optional<Vars> update_all(const PatternContext& m);
// A slice of an array that is updated at a known place: it is the update, or has none of it.
std::optional<Vars> slice_of_update(const PatternContext& m);

}  // namespace shardax
