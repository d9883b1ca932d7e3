// runtime/node_window.h - memory that the processes of one machine share: who is at which message.
//
// Its layout is in runtime/node_segment.h; sums in it are made by runtime/node_sums.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/small_vector.h"
#include "runtime/processes.h"

namespace shardax::runtime {

// Bytes of a segment, where there are that many processes in all.
std::size_t segment_bytes(int process_count);

// `segments` are those of all processes; null: one that runs on another machine. They are zero.
void open_window(int rank, const std::vector<std::byte*>& segments);

// Do all of the group's processes run on this machine?
bool share_window(ProcessGroup group);

// The step of a program that sends a message, as posts name it.
struct StepLabel {
  std::uint32_t hash;  // of the message's label, and of the program
  std::string_view text;
};

// The numbers that a message has among those to each of its peers.
using PostCounts = SmallVector<std::uint32_t, 8>;

// Posts to the peers on this machine that this process has begun a message.
PostCounts post_step(const StepLabel& label, ProcessGroup peers);
// Notes that this process waits in that message, the n-th; and that it computes on.
void begin_waiting(const StepLabel& label, std::uint64_t message);
void end_waiting();
std::uint64_t messages_begun();
// Throws where a peer on this machine has ended, or has posted another step than the label's.
void check_peers(const StepLabel& label, ProcessGroup peers, const PostCounts& counts);
// "which computes after its message 12, 'psum f32[3]'"; of another machine's: "".
std::string whereabouts(int process);

[[noreturn]] void fail_at_other_step(const StepLabel& own, int process, const std::string& theirs);
// The same, of a peer on this machine that has posted this.
[[noreturn]] void fail_at_post(const StepLabel& label, int peer, std::uint64_t post);
bool is_same_step(const StepLabel& label, std::uint64_t post);

// Waits until all of the group, which shares the window, have posted the message.
void meet_in_window(const StepLabel& label, ProcessGroup group, const PostCounts& counts);

}  // namespace shardax::runtime
