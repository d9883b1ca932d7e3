// runtime/processes.cpp - kinds of messages between processes: pairs of sends, sums made here.
#include "runtime/processes.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/index.h"
#include "runtime/mpi.h"
#include "runtime/node_sums.h"
#include "runtime/scratch.h"
#include "runtime/transfer.h"

namespace shardax::runtime {
namespace {

std::size_t position_in(ProcessGroup group) {
  return index(std::find(group.begin(), group.end(), process_index()) - group.begin());
}

// Receives block k at `to(k)` from each other process k, to which block `from(k)` goes.
template <class From, class To>
void exchange_blocks(Exchange& exchange, std::size_t bytes, ProcessGroup group, From&& from,
                     To&& to) {
  const std::size_t count = group.size(), own = position_in(group);
  for (std::size_t k = 1; k < count; ++k) {
    const std::size_t other = (own + k) % count;
    exchange.receive(to(other), bytes, group[other]);
  }
  for (std::size_t k = 1; k < count; ++k) {
    const std::size_t other = (own + count - k) % count;
    exchange.send(from(other), bytes, group[other]);
  }
}

// The reduction of `count` terms that lie one after the other.
void combine_rows(const Reduction& reduction, std::byte* to, const std::byte* rows,
                  std::size_t count, std::size_t n) {
  std::vector<const std::byte*> terms;
  for (std::size_t k = 0; k < count; ++k) terms.push_back(rows + k * n * reduction.itemsize);
  reduction.combine(to, terms.data(), count, n);
}

// A message that one exchange with its peers is all, or the start, of.
class ByPairs : public Transfer {
 public:
  ByPairs(const MessageLabel& label, ProcessGroup peers, bool has_parts = false)
      : Transfer(label, peers, has_parts),
        exchange_(Exchange::Part::first, label_, this->peers(), counts_) {}
  void progress() override { exchange_.progress(); }

 protected:
  void complete() override { exchange_.wait(); }

  Exchange exchange_;
};

class Gather final : public ByPairs {
 public:
  Gather(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
         const MessageLabel& label)
      : ByPairs(label, group) {
    std::memmove(to + position_in(group) * bytes, from, bytes);
    exchange_blocks(
        exchange_, bytes, group, [&](std::size_t) { return from; },
        [&](std::size_t k) { return to + k * bytes; });
  }
};

class AllToAll final : public ByPairs {
 public:
  AllToAll(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
           const MessageLabel& label)
      : ByPairs(label, group) {
    const std::size_t own = position_in(group);
    std::memcpy(to + own * bytes, from + own * bytes, bytes);
    exchange_blocks(
        exchange_, bytes, group, [&](std::size_t k) { return from + k * bytes; },
        [&](std::size_t k) { return to + k * bytes; });
  }
};

class Permute final : public ByPairs {
 public:
  Permute(const std::byte* from, std::byte* to, std::size_t bytes,
          std::span<const int> destinations, int source, ProcessGroup peers,
          const MessageLabel& label)
      : ByPairs(label, peers) {
    if (source < 0) {
      std::memset(to, 0, bytes);
    } else if (source == process_index()) {
      std::memcpy(to, from, bytes);
    } else {
      exchange_.receive(to, bytes, source);
    }
    for (const int destination : destinations) {
      if (destination != process_index()) exchange_.send(from, bytes, destination);
    }
  }
};

// The own one of as many blocks as processes: the others' come here, and theirs go there.
class ReduceScatter : public ByPairs {
 public:
  ReduceScatter(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                ProcessGroup group, const MessageLabel& label, bool has_parts = false)
      : ByPairs(label, group, has_parts),
        from_(from),
        to_(to),
        block_(n),
        reduction_(reduction),
        room_(n * reduction.itemsize * group.size()) {
    const std::size_t bytes = n * reduction.itemsize;
    exchange_blocks(
        exchange_, bytes, group, [&](std::size_t k) { return from + k * bytes; },
        [&](std::size_t k) { return room_.data() + k * bytes; });
  }

 protected:
  void complete() override {
    ByPairs::complete();
    const std::size_t bytes = block_ * reduction_.itemsize, own = position_in(peers());
    std::vector<const std::byte*> terms;
    for (std::size_t k = 0; k < peers().size(); ++k)
      terms.push_back(k == own ? from_ + own * bytes : room_.data() + k * bytes);
    reduction_.combine(to_, terms.data(), terms.size(), block_);
  }

  const std::byte* from_;
  std::byte* to_;
  std::size_t block_;
  Reduction reduction_;
  Scratch<std::byte> room_;
};

// All terms come to every process, which combines them.
class ReduceAll final : public ByPairs {
 public:
  ReduceAll(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
            ProcessGroup group, const MessageLabel& label)
      : ByPairs(label, group, true),
        to_(to),
        n_(n),
        reduction_(reduction),
        room_(n * reduction.itemsize * group.size()) {
    const std::size_t bytes = n * reduction.itemsize;
    std::memcpy(room_.data() + position_in(group) * bytes, from, bytes);
    exchange_blocks(
        exchange_, bytes, group, [&](std::size_t) { return from; },
        [&](std::size_t k) { return room_.data() + k * bytes; });
  }

 private:
  void complete() override {
    ByPairs::complete();
    combine_rows(reduction_, to_, room_.data(), peers().size(), n_);
  }

  std::byte* to_;
  std::size_t n_;
  Reduction reduction_;
  Scratch<std::byte> room_;
};

// Each process combines a share of the elements, and sends it to the others. The few elements
// behind equal shares all of them combine.
class ReduceShares final : public ReduceScatter {
 public:
  ReduceShares(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
               ProcessGroup group, const MessageLabel& label)
      : ReduceScatter(from, to + position_in(group) * (n / group.size()) * reduction.itemsize,
                      n / group.size(), reduction, group, label, true),
        result_(to),
        n_(n) {}

 private:
  void complete() override {
    ReduceScatter::complete();
    const std::size_t count = peers().size(), bytes = block_ * reduction_.itemsize;
    Exchange shares(Exchange::Part::later, label_, peers(), counts_);
    exchange_blocks(
        shares, bytes, peers(), [&](std::size_t) { return to_; },
        [&](std::size_t k) { return result_ + k * bytes; });
    shares.wait();
    const std::size_t rest = n_ - block_ * count, rest_bytes = rest * reduction_.itemsize;
    if (rest == 0) return;
    std::memcpy(room_.data() + position_in(peers()) * rest_bytes, from_ + count * bytes,
                rest_bytes);
    Exchange rests(Exchange::Part::later, label_, peers(), counts_);
    exchange_blocks(
        rests, rest_bytes, peers(), [&](std::size_t) { return from_ + count * bytes; },
        [&](std::size_t k) { return room_.data() + k * rest_bytes; });
    rests.wait();
    combine_rows(reduction_, result_ + count * bytes, room_.data(), count, rest);
  }

  std::byte* result_;
  std::size_t n_;
};

class ReduceInWindow final : public Transfer {
 public:
  ReduceInWindow(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                 ProcessGroup group, const MessageLabel& label)
      : Transfer(label, group, true), sum_(from, to, n, reduction, peers(), label_, counts_) {}

 private:
  void complete() override { sum_.finish(); }
  WindowReduction sum_;
};

class MeetInWindow final : public Transfer {
 public:
  MeetInWindow(const MessageLabel& label, ProcessGroup group) : Transfer(label, group, false) {}

 private:
  void complete() override { meet_in_window(label_, peers(), counts_); }
};

// Gathers the bytes of every process, given the lengths, which all of them know.
class GatherLengths final : public ByPairs {
 public:
  GatherLengths(std::span<const std::byte> own, std::vector<std::vector<std::byte>>& all,
                ProcessGroup group, const MessageLabel& label)
      : ByPairs(label, group) {
    for (std::size_t k = 0; k < group.size(); ++k) {
      if (group[k] != process_index()) exchange_.receive(all[k].data(), all[k].size(), group[k]);
    }
    for (const int other : group) {
      if (other != process_index()) exchange_.send(own.data(), own.size(), other);
    }
  }
};

// Below, every process combines all terms; above, each one a share.
constexpr std::size_t small_message = 32768;

std::vector<int> all_processes() {
  std::vector<int> all(index(process_count()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

TransferPtr all_gather(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                       const MessageLabel& label) {
  return std::make_unique<Gather>(from, to, bytes, group, label);
}

TransferPtr reduce_scatter(const std::byte* from, std::byte* to, std::size_t n,
                           const Reduction& reduction, ProcessGroup group,
                           const MessageLabel& label) {
  return std::make_unique<ReduceScatter>(from, to, n, reduction, group, label);
}

TransferPtr all_reduce(const std::byte* from, std::byte* to, std::size_t n,
                       const Reduction& reduction, ProcessGroup group, const MessageLabel& label) {
  if (share_window(group))
    return std::make_unique<ReduceInWindow>(from, to, n, reduction, group, label);
  if (n * reduction.itemsize <= small_message || n < group.size())
    return std::make_unique<ReduceAll>(from, to, n, reduction, group, label);
  return std::make_unique<ReduceShares>(from, to, n, reduction, group, label);
}

TransferPtr all_to_all(const std::byte* from, std::byte* to, std::size_t bytes, ProcessGroup group,
                       const MessageLabel& label) {
  return std::make_unique<AllToAll>(from, to, bytes, group, label);
}

TransferPtr permute(const std::byte* from, std::byte* to, std::size_t bytes,
                    std::span<const int> destinations, int source, const MessageLabel& label) {
  std::vector<int> peers(destinations.begin(), destinations.end());
  if (std::find(peers.begin(), peers.end(), source) == peers.end()) peers.push_back(source);
  std::erase_if(peers, [](int rank) { return rank < 0 || rank == process_index(); });
  return std::make_unique<Permute>(from, to, bytes, destinations, source, peers, label);
}

void barrier(const MessageLabel& label) {
  if (process_count() == 1) return;
  const std::vector<int> all = all_processes();
  if (share_window(all)) return MeetInWindow(label, all).finish();
  std::vector<std::byte> arrived(all.size());
  const std::byte own{};
  Gather(&own, arrived.data(), 1, all, label).finish();
}

std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> own, ProcessGroup group,
                                                 const MessageLabel& label) {
  if (group.size() == 1) return {{own.begin(), own.end()}};
  std::vector<std::uint64_t> lengths(group.size());
  const std::uint64_t length = own.size();
  Gather(reinterpret_cast<const std::byte*>(&length), reinterpret_cast<std::byte*>(lengths.data()),
         sizeof length, group, label)
      .finish();
  std::vector<std::vector<std::byte>> gathered;
  for (const std::uint64_t bytes : lengths) gathered.emplace_back(bytes);
  GatherLengths(own, gathered, group, label).finish();
  std::copy(own.begin(), own.end(), gathered[position_in(group)].begin());
  return gathered;
}

std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> own,
                                                 const MessageLabel& label) {
  return gather_bytes(own, all_processes(), label);
}

}  // namespace shardax::runtime
