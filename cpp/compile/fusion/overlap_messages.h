// compile/fusion/overlap_messages.h - the order of fusion groups around messages.
#pragma once

#include "compile/fusion/fuse.h"

namespace shardax {

// Does the group begin a message that may end later?
bool begins_message(const Program& program, const FusionGroup& group);

// The group before which a message of that group is to end: the first that reads its results.
std::size_t end_of_message(const Program& program, const std::vector<FusionGroup>& groups,
                           std::size_t message);

// Messages begin as soon as their operands are there, and groups that need their results come late.
// The groups between them run while bytes travel.
//   a; b; m = message a; c = f m; d   ->   a; m = message a; b; d; c = f m
// A group moves behind the next messages at most, those that begin together, so that memory is
// needed little longer. Messages, and other effects, keep their order.
std::vector<FusionGroup> overlap_messages(const Program& program, std::vector<FusionGroup> groups);

}  // namespace shardax
