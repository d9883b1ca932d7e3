// runtime/processes.h - the processes of one program, and the messages between them.
//
// MPI starts processes and moves bytes (runtime/mpi.h); within a machine the terms of sums lie in
// shared memory (runtime/node_window.h). The receiver of a sum adds its terms, in the order of
// processes, so that its bits depend on no library. A message is sent by all processes of a group
// at the same step of the same program. Its label names the step, and a process at another one gets
// an error in place of that step's bytes. Waits poll: signals get through.
//
// One thread at a time sends messages. After an error in one, which may have left processes at
// different steps, further ones raise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shardax::runtime {

struct MessageTimes;  // runtime/message_times.h

int process_index();  // 0 where this is the only process
int process_count();  // 1 where this is the only process

// Has a message failed? Then the others may wait for this process.
bool messages_failed();

// Devices of process p have the ids most_devices * p, most_devices * p + 1, ...
inline constexpr int most_devices = 2048;
inline int first_device() { return most_devices * process_index(); }
inline bool is_local_device(int id) {
  return process_count() == 1 || id / most_devices == process_index();
}

// Ranks of the processes that take part in a message, in the order of their positions. This
// process is one of them.
using ProcessGroup = std::span<const int>;

// The step of a program that sends a message.
struct MessageLabel {
  std::uint32_t hash = 0;  // of the step's op, types and params, and of its place in the program
  std::string text;        // for errors: the op, its types, its line
  MessageTimes* times = nullptr;  // storage for its times
};

// Waits until all processes are here.
void barrier(const MessageLabel& label);

// The bytes of each process, of any length, in the order of processes.
std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> own,
                                                 const MessageLabel& label);
// The same of a group's processes.
std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> own, ProcessGroup group,
                                                 const MessageLabel& label);

// Messages below are begun by these functions, and end when the Transfer (runtime/transfer.h) that
// they give is finished: the process may compute meanwhile. Until then the memory and the label are
// left alone.
class Transfer;
using TransferPtr = std::unique_ptr<Transfer>;

// The bytes of each process in turn, group.size() * bytes in all.
TransferPtr all_gather(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                       const MessageLabel& label);

// Adds (or multiplies, or takes the greatest of) the `count` terms, n elements each, in order. The
// result may be one of the terms.
struct Reduction {
  std::size_t itemsize;
  void (*combine)(std::byte* out, const std::byte* const* terms, std::size_t count, std::size_t n);
};
// The reduction over the group of the n elements at `from`, which may be `to`.
TransferPtr all_reduce(const std::byte* from, std::byte* to, std::size_t n,
                       const Reduction& reduction, ProcessGroup group, const MessageLabel& label);
// Reduces group.size() blocks of n elements at `from`, and gives the own one.
TransferPtr reduce_scatter(const std::byte* from, std::byte* to, std::size_t n,
                           const Reduction& reduction, ProcessGroup group,
                           const MessageLabel& label);

// The k-th block of `bytes` at `from` goes to the k-th process; the block from there is the k-th
// one at `to`.
TransferPtr all_to_all(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                       const MessageLabel& label);

// Sends `bytes` to the ranks `destinations`, each once, and receives as many from `source`. -1:
// there is none, and `to` is filled with zeros.
TransferPtr permute(const std::byte* from, std::byte* to, std::size_t bytes,
                    std::span<const int> destinations, int source, const MessageLabel& label);

}  // namespace shardax::runtime
