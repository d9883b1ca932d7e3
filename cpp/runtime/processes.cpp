// runtime/processes.cpp - messages between processes: pairs of sends, sums made here.
#include "runtime/processes.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <numeric>

#include "base/errors.h"
#include "base/index.h"
#include "runtime/mpi.h"
#include "runtime/node_window.h"
#include "runtime/scratch.h"

namespace shardax::runtime {
namespace {

std::atomic<bool> at_message = false;
std::atomic<bool> failed = false;

// One message, from its first to its last byte.
class Message {
 public:
  explicit Message(const MessageLabel& label) {
    if (is_forked()) {
      fail(ErrorKind::runtime_error, "message: '", label.text, "' is to be sent by a child that a ",
           "process made by fork; only the process itself can.");
    }
    if (failed) {
      fail(ErrorKind::runtime_error, "message: '", label.text, "' comes after a message that ",
           "failed or was interrupted; the processes may be at different steps. Start the program ",
           "again.");
    }
    if (at_message.exchange(true)) {
      fail(ErrorKind::runtime_error, "message: '", label.text, "' comes while another thread of ",
           "this process sends one; let one thread run programs that exchange messages.");
    }
  }
  ~Message() {
    if (std::uncaught_exceptions() > exceptions_) failed = true;
    end_step();
    at_message = false;
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

 private:
  int exceptions_ = std::uncaught_exceptions();
};

std::size_t position_in(ProcessGroup group) {
  return static_cast<std::size_t>(std::find(group.begin(), group.end(), process_index()) -
                                  group.begin());
}

// Receives block k at `to(k)` from each other process k, to which block `from(k)` goes.
template <class From, class To>
void exchange_blocks(std::size_t bytes, ProcessGroup group, const MessageLabel& label, From&& from,
                     To&& to) {
  const std::size_t count = group.size(), own = position_in(group);
  Exchange exchange(label, group);
  for (std::size_t k = 1; k < count; ++k) {
    const std::size_t other = (own + k) % count;
    exchange.receive(to(other), bytes, group[other]);
  }
  for (std::size_t k = 1; k < count; ++k) {
    const std::size_t other = (own + count - k) % count;
    exchange.send(from(other), bytes, group[other]);
  }
  exchange.wait();
}

void gather_pairs(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                  const MessageLabel& label) {
  std::memmove(to + position_in(group) * bytes, from, bytes);
  exchange_blocks(
      bytes, group, label, [&](std::size_t) { return from; },
      [&](std::size_t k) { return to + k * bytes; });
}

void scatter_pairs(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                   ProcessGroup group, const MessageLabel& label) {
  const std::size_t bytes = n * reduction.itemsize, own = position_in(group);
  Scratch<std::byte> room(bytes * group.size());
  exchange_blocks(
      bytes, group, label, [&](std::size_t k) { return from + k * bytes; },
      [&](std::size_t k) { return room.data() + k * bytes; });
  std::vector<const std::byte*> terms;
  for (std::size_t k = 0; k < group.size(); ++k) {
    terms.push_back(k == own ? from + own * bytes : room.data() + k * bytes);
  }
  reduction.combine(to, terms.data(), terms.size(), n);
}

// Below, every process combines all terms; above, each one a share.
constexpr std::size_t small_message = 32768;

void reduce_pairs(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                  ProcessGroup group, const MessageLabel& label) {
  const std::size_t count = group.size(), bytes = n * reduction.itemsize;
  if (bytes <= small_message || n < count) {
    Scratch<std::byte> room(bytes * count);
    gather_pairs(from, room.data(), bytes, group, label);
    std::vector<const std::byte*> terms;
    for (std::size_t k = 0; k < count; ++k) terms.push_back(room.data() + k * bytes);
    return reduction.combine(to, terms.data(), count, n);
  }
  // Equal shares; every process combines the few elements behind them.
  const std::size_t share = n / count, even = share * count;
  std::byte* own = to + position_in(group) * share * reduction.itemsize;
  scatter_pairs(from, own, share, reduction, group, label);
  if (even < n) {
    const std::size_t at = even * reduction.itemsize;
    reduce_pairs(from + at, to + at, n - even, reduction, group, label);
  }
  gather_pairs(own, to, share * reduction.itemsize, group, label);
}

std::vector<int> all_processes() {
  std::vector<int> all(index(process_count()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

bool messages_failed() { return failed; }

void all_gather(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                const MessageLabel& label) {
  const Message message(label);
  gather_pairs(from, to, bytes, group, label);
}

void reduce_scatter(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                    ProcessGroup group, const MessageLabel& label) {
  const Message message(label);
  scatter_pairs(from, to, n, reduction, group, label);
}

void all_reduce(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                ProcessGroup group, const MessageLabel& label) {
  const Message message(label);
  if (share_window(group)) return reduce_in_window(from, to, n, reduction, group, label);
  reduce_pairs(from, to, n, reduction, group, label);
}

void all_to_all(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                const MessageLabel& label) {
  const Message message(label);
  const std::size_t own = position_in(group);
  std::memcpy(to + own * bytes, from + own * bytes, bytes);
  exchange_blocks(
      bytes, group, label, [&](std::size_t k) { return from + k * bytes; },
      [&](std::size_t k) { return to + k * bytes; });
}

void permute(const std::byte* from, std::byte* to, std::size_t bytes,
             std::span<const int> destinations, int source, const MessageLabel& label) {
  const Message message(label);
  std::vector<int> peers(destinations.begin(), destinations.end());
  if (std::find(peers.begin(), peers.end(), source) == peers.end()) peers.push_back(source);
  std::erase_if(peers, [](int rank) { return rank < 0 || rank == process_index(); });
  Exchange exchange(label, peers);
  if (source < 0) {
    std::memset(to, 0, bytes);
  } else if (source == process_index()) {
    std::memcpy(to, from, bytes);
  } else {
    exchange.receive(to, bytes, source);
  }
  for (const int destination : destinations) {
    if (destination != process_index()) exchange.send(from, bytes, destination);
  }
  exchange.wait();
}

void barrier(const MessageLabel& label) {
  const Message message(label);
  const std::vector<int> all = all_processes();
  if (share_window(all)) return meet_in_window(all, label);
  std::vector<std::byte> arrived(all.size());
  const std::byte own{};
  gather_pairs(&own, arrived.data(), 1, all, label);
}

std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> own,
                                                 const MessageLabel& label) {
  const Message message(label);
  const std::vector<int> all = all_processes();
  std::vector<std::uint64_t> lengths(all.size());
  const std::uint64_t length = own.size();
  gather_pairs(reinterpret_cast<const std::byte*>(&length),
               reinterpret_cast<std::byte*>(lengths.data()), sizeof length, all, label);
  std::vector<std::vector<std::byte>> gathered;
  for (const std::uint64_t bytes : lengths) gathered.emplace_back(bytes);
  Exchange exchange(label, all);
  for (const int other : all) {
    if (other != process_index())
      exchange.receive(gathered[index(other)].data(), lengths[index(other)], other);
  }
  for (const int other : all) {
    if (other != process_index()) exchange.send(own.data(), own.size(), other);
  }
  exchange.wait();
  std::copy(own.begin(), own.end(), gathered[index(process_index())].begin());
  return gathered;
}

}  // namespace shardax::runtime
