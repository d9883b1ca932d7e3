// runtime/node_window.h - memory that the processes of one machine share: sums, and who is where.
//
// Each process has a segment, which it alone writes: its number, a post for each other process that
// says at which step of the program it is, the texts of its latest steps, and two buffers for the
// terms of sums. A post is written after the buffer, and read before it: no lock is needed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/processes.h"

namespace shardax::runtime {

// Bytes of a segment, where there are that many processes in all.
std::size_t segment_bytes(int process_count);

// `segments` are those of all processes; null: one that runs on another machine. They are zero.
void open_window(int rank, const std::vector<std::byte*>& segments);

// Do all of the group's processes run on this machine?
bool share_window(ProcessGroup group);

// Posts to the peers on this machine that this process is at a step.
void post_step(const MessageLabel& label, ProcessGroup peers);
// Notes that the step is over: this process computes.
void end_step();
// Throws where a peer on this machine has ended, or has posted another step than the label's.
void check_peers(const MessageLabel& label, ProcessGroup peers);
// "it computes since its message 12, at 'psum f32[3]'"; of another machine's: "".
std::string whereabouts(int process);

[[noreturn]] void fail_at_other_step(const MessageLabel& own, int process,
                                     const std::string& theirs);

// As all_reduce and a barrier of runtime/processes.h, for a group that shares the window.
void reduce_in_window(const std::byte* from, std::byte* to, std::size_t n,
                      const Reduction& reduction, ProcessGroup group, const MessageLabel& label);
void meet_in_window(ProcessGroup group, const MessageLabel& label);

}  // namespace shardax::runtime
