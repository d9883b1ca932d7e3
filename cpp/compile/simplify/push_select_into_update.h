// compile/simplify/push_select_into_update.h - selects between an array and its update.
#pragma once

#include "compile/simplify/pattern_driver.h"

namespace shardax {

// select(p, scatter(x, i, u), x) is scatter(x, i, select(p, u, gather(x, i))), which touches the
// window only and can be written in place. `p` repeats along all dimensions of x but those along
// which the update has one window per element. Loops over a batch whose slices end at different
// times select like that. The same of dynamic_update_slice, of scatter-add, and of several updates
// one after the other.
std::optional<Vars> push_select_into_update(const PatternContext& m);

}  // namespace shardax
