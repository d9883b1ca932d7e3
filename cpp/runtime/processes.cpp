// runtime/processes.cpp - messages between processes: pairs of sends over MPI, sums made here.
#include "runtime/processes.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/index.h"
#include "runtime/interrupt.h"

namespace shardax::runtime {
namespace {

MpiLibrary mpi;

// A request's count of bytes is an int.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

// Room for any library's MPI_Status: 20 bytes in MPICH, 24 in Open MPI, 32 in MPI 5's ABI.
struct alignas(16) Status {
  std::byte room[64];
};

// Sends and receives that are under way; wait() ends them.
class Exchange {
 public:
  explicit Exchange(const MessageLabel& label) : tag_(static_cast<int>(label.hash & 0x7fff)) {}

  void receive(std::byte* to, std::size_t bytes, int source) {
    for (std::size_t at = 0; at < bytes; at += most_bytes) {
      mpi.irecv(to + at, count(bytes - at), mpi.byte, source, tag_, mpi.communicator, request());
    }
  }
  void send(const std::byte* from, std::size_t bytes, int destination) {
    for (std::size_t at = 0; at < bytes; at += most_bytes) {
      mpi.isend(from + at, count(bytes - at), mpi.byte, destination, tag_, mpi.communicator,
                request());
    }
  }
  void wait() {
    for (MpiHandle& pending : requests_) wait_for(&pending);
    requests_.clear();
  }

 private:
  static int count(std::size_t bytes) { return static_cast<int>(std::min(bytes, most_bytes)); }
  MpiHandle* request() { return &requests_.emplace_back(0); }

  static void wait_for(MpiHandle* pending) {
    Status status;
    for (int done = 0, tries = 0;; ++tries) {
      mpi.test(pending, &done, &status);
      if (done) return;
      poll();
      if (mpi.yields && tries > 20) sched_yield();
    }
  }

  int tag_;
  std::vector<MpiHandle> requests_;
};

std::size_t position_in(ProcessGroup group) {
  return static_cast<std::size_t>(std::find(group.begin(), group.end(), mpi.rank) - group.begin());
}

// Receives block k at `to(k)` from each other process k, to which block `from(k)` goes.
template <class From, class To>
void exchange_blocks(std::size_t bytes, ProcessGroup group, const MessageLabel& label, From&& from,
                     To&& to) {
  const std::size_t count = group.size(), own = position_in(group);
  Exchange exchange(label);
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

// Below, every process combines all terms; above, each one a share.
constexpr std::size_t small_message = 32768;

}  // namespace

void join_processes(const MpiLibrary& library) { mpi = library; }
int process_index() { return mpi.rank; }
int process_count() { return mpi.size; }

std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> own,
                                                 const MessageLabel& label) {
  std::vector<int> all(static_cast<std::size_t>(mpi.size));
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::uint64_t> lengths(all.size());
  const std::uint64_t length = own.size();
  all_gather(reinterpret_cast<const std::byte*>(&length),
             reinterpret_cast<std::byte*>(lengths.data()), sizeof length, all, label);
  std::vector<std::vector<std::byte>> gathered;
  for (const std::uint64_t bytes : lengths) gathered.emplace_back(bytes);
  Exchange exchange(label);
  for (const int other : all) {
    if (other != mpi.rank)
      exchange.receive(gathered[index(other)].data(), lengths[index(other)], other);
  }
  for (const int other : all) {
    if (other != mpi.rank) exchange.send(own.data(), own.size(), other);
  }
  exchange.wait();
  std::copy(own.begin(), own.end(), gathered[index(mpi.rank)].begin());
  return gathered;
}

void barrier(const MessageLabel& label) { gather_bytes({}, label); }

void all_gather(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                const MessageLabel& label) {
  std::memmove(to + position_in(group) * bytes, from, bytes);
  exchange_blocks(
      bytes, group, label, [&](std::size_t) { return from; },
      [&](std::size_t k) { return to + k * bytes; });
}

void reduce_scatter(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                    ProcessGroup group, const MessageLabel& label) {
  const std::size_t bytes = n * reduction.itemsize, own = position_in(group);
  std::vector<std::byte> room(bytes * group.size());
  exchange_blocks(
      bytes, group, label, [&](std::size_t k) { return from + k * bytes; },
      [&](std::size_t k) { return room.data() + k * bytes; });
  std::vector<const std::byte*> terms;
  for (std::size_t k = 0; k < group.size(); ++k) {
    terms.push_back(k == own ? from + own * bytes : room.data() + k * bytes);
  }
  reduction.combine(to, terms.data(), terms.size(), n);
}

void all_reduce(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                ProcessGroup group, const MessageLabel& label) {
  const std::size_t count = group.size(), bytes = n * reduction.itemsize;
  if (bytes <= small_message) {
    std::vector<std::byte> room(bytes * count);
    all_gather(from, room.data(), bytes, group, label);
    std::vector<const std::byte*> terms;
    for (std::size_t k = 0; k < count; ++k) terms.push_back(room.data() + k * bytes);
    return reduction.combine(to, terms.data(), count, n);
  }
  // Equal shares, the last of which may be short: its tail is combined by every process.
  const std::size_t share = n / count, even = share * count;
  reduce_scatter(from, to + position_in(group) * share * reduction.itemsize, share, reduction,
                 group, label);
  if (even < n) {
    const std::size_t at = even * reduction.itemsize;
    all_reduce(from + at, to + at, n - even, reduction, group, label);
  }
  all_gather(to + position_in(group) * share * reduction.itemsize, to, share * reduction.itemsize,
             group, label);
}

void all_to_all(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                const MessageLabel& label) {
  const std::size_t own = position_in(group);
  std::memcpy(to + own * bytes, from + own * bytes, bytes);
  exchange_blocks(
      bytes, group, label, [&](std::size_t k) { return from + k * bytes; },
      [&](std::size_t k) { return to + k * bytes; });
}

void permute(const std::byte* from, std::byte* to, std::size_t bytes,
             std::span<const int> destinations, int source, const MessageLabel& label) {
  Exchange exchange(label);
  if (source < 0) {
    std::memset(to, 0, bytes);
  } else if (source == mpi.rank) {
    std::memcpy(to, from, bytes);
  } else {
    exchange.receive(to, bytes, source);
  }
  for (const int destination : destinations) {
    if (destination != mpi.rank) exchange.send(from, bytes, destination);
  }
  exchange.wait();
}

}  // namespace shardax::runtime
