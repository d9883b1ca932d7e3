// compile/fusion/tiled_step.h - the step that runs a tile group.
//
// The group's equations become a program over a block of rows, compiled by itself. The step runs it
// block by block on windows of the operands and results. Its temporaries take the memory of one
// block for each part of the rows; parts run on several threads. Sums over the rows are added up
// block by block, then part by part. Blocks and parts are fixed by shapes.
#pragma once

#include "base/function_ref.h"
#include "compile/fusion/tile_groups.h"
#include "compile/plan.h"

namespace shardax {

// `windows`: the place of each variable that the group reads; `results`: the group's values that
// others need. `taken`: for each the variable whose memory it may take over, or -1; `place` gives
// its window, and is told whether it does.
std::unique_ptr<Step> row_step(const Program& program, const TileGroup& group,
                               const std::vector<std::unique_ptr<Window>>& windows,
                               const std::vector<Var>& results, const std::vector<Var>& taken,
                               FunctionRef<Window(std::size_t, bool)> place);

// Does the group read `v` by the rows of `result`, which it makes, and no later?
bool may_take_over(const Program& program, const TileGroup& group, Var result, Var v);

}  // namespace shardax
