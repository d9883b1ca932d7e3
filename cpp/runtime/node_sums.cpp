// runtime/node_sums.cpp - parts of terms in shared buffers: who may write and who may read them.
#include "runtime/node_sums.h"

#include <algorithm>
#include <cstring>

#include "base/index.h"
#include "runtime/mpi.h"
#include "runtime/node_segment.h"

namespace shardax::runtime {
namespace {

// Up to here each process adds all of a sum; above, three or more add a share each.
constexpr std::size_t shared_sum_bytes = 16 * 1024;

std::vector<std::uint32_t> posted;  // parts, to each process
// The processes that may still read each of the own buffers, up to the given part posted to them.
struct Reader {
  std::size_t rank;
  std::uint32_t count;
};
std::vector<Reader> readers[2];
std::size_t next_buffer = 0;
std::vector<const std::byte*> terms;  // of the part of a sum that is at work

void post_part(const StepLabel& label, ProcessGroup peers, std::size_t buffer) {
  posted.resize(segments.size());
  for (const int peer : peers) {
    if (!is_here(peer)) continue;
    const std::uint32_t count = ++posted[index(peer)];
    const auto low = hash_bits(label.hash) | static_cast<std::uint32_t>(buffer);
    own_segment().part(index(peer), count).store(make_post(count, low), std::memory_order_release);
  }
}

// The buffer of the peer's that it has posted for this part.
std::size_t wait_for_part(const StepLabel& label, int peer, Waiting& waiting) {
  const std::uint32_t wanted = posted[index(peer)];
  const Post& part = segments[index(peer)].part(own_rank, wanted);
  for (;; waiting.turn()) {
    const std::uint64_t now = part.load(std::memory_order_acquire);
    const std::uint32_t count = count_of(now);
    if (!reaches(count, wanted)) continue;
    // A peer that is two ahead has not waited for this process: that was another step.
    if (count != wanted || !is_same_step(label, now)) fail_at_post(label, peer, now);
    return now & 1;
  }
}

// Tells the peers that this process has read their buffers, and notes that they may read its own.
void end_reading(ProcessGroup group, std::size_t buffer) {
  for (const int peer : group) {
    if (!is_here(peer)) continue;
    own_segment().read(index(peer)).store(posted[index(peer)], std::memory_order_release);
    readers[buffer].push_back({index(peer), posted[index(peer)]});
  }
}

bool is_read(const Reader& reader) {
  const Post& read = segments[reader.rank].read(own_rank);
  return reaches(static_cast<std::uint32_t>(read.load(std::memory_order_acquire)), reader.count);
}

}  // namespace

WindowReduction::WindowReduction(const std::byte* from, std::byte* to, std::size_t n,
                                 const Reduction& reduction, ProcessGroup group,
                                 const StepLabel& label, const PostCounts& counts)
    : from_(from),
      to_(to),
      n_(n),
      reduction_(reduction),
      group_(group),
      label_(label),
      counts_(counts) {
  begin_part();
}

void WindowReduction::finish() {
  for (;;) {
    end_part();
    if (at_ == n_) return;
    begin_part();
  }
}

// The next elements go into the buffer that is free next.
void WindowReduction::begin_part() {
  Waiting waiting(label_, group_, counts_);
  buffer_ = next_buffer ^= 1;
  for (const Reader& reader : readers[buffer_]) {
    while (!is_read(reader)) waiting.turn();
  }
  readers[buffer_].clear();
  part_ = std::min(buffer_bytes / reduction_.itemsize, n_ - at_);
  std::memcpy(own_segment().buffer(buffer_), from_ + at_ * reduction_.itemsize,
              part_ * reduction_.itemsize);
  post_part(label_, group_, buffer_);
}

void WindowReduction::end_part() {
  Waiting waiting(label_, group_, counts_);
  const std::size_t count = group_.size(), itemsize = reduction_.itemsize;
  std::byte* to = to_ + at_ * itemsize;
  at_ += part_;
  terms.clear();
  for (const int rank : group_) {
    const bool other = index(rank) != own_rank;
    const std::size_t theirs = other ? wait_for_part(label_, rank, waiting) : buffer_;
    terms.push_back(segments[index(rank)].buffer(theirs));
  }
  if (count == 2 || part_ * itemsize <= shared_sum_bytes) {
    reduction_.combine(to, terms.data(), count, part_);
    return end_reading(group_, buffer_);
  }
  // The own share goes into the own buffer, where nobody else reads it before the next post.
  const auto start_of = [&](std::size_t k) { return part_ * k / count * itemsize; };
  const auto self = std::find(group_.begin(), group_.end(), static_cast<int>(own_rank));
  const auto position = index(self - group_.begin());
  const std::size_t start = start_of(position), end = start_of(position + 1);
  for (const std::byte*& term : terms) term += start;
  reduction_.combine(own_segment().buffer(buffer_) + start, terms.data(), count,
                     (end - start) / itemsize);
  post_part(label_, group_, buffer_);
  for (std::size_t k = 0; k < count; ++k) {
    if (k != position) wait_for_part(label_, group_[k], waiting);
    std::memcpy(to + start_of(k), terms[k] - start + start_of(k), start_of(k + 1) - start_of(k));
  }
  end_reading(group_, buffer_);
}

}  // namespace shardax::runtime
