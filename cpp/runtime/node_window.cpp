// runtime/node_window.cpp - posts and texts in the processes' shared segments.
#include "runtime/node_window.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/errors.h"
#include "runtime/mpi.h"
#include "runtime/node_segment.h"

namespace shardax::runtime {

std::vector<Segment> segments;
std::size_t own_rank = 0;

namespace {

std::vector<std::uint32_t> posted;  // to each process
std::uint64_t begun = 0;

void keep_text(const StepLabel& label) {
  Segment::Header& header = own_segment().header();
  const std::uint32_t latest = header.latest.load(std::memory_order_relaxed);
  const PostedText& last = header.texts[latest];
  const std::size_t length = std::min(label.text.size(), sizeof last.text - 1);
  if (last.hash.load(std::memory_order_relaxed) == label.hash &&
      std::memcmp(last.text, label.text.data(), length) == 0 && last.text[length] == 0)
    return;
  const auto next = static_cast<std::uint32_t>((latest + 1) % Segment::text_count);
  PostedText& text = header.texts[next];
  std::memcpy(text.text, label.text.data(), length);
  text.text[length] = 0;
  text.hash.store(label.hash, std::memory_order_release);
  header.latest.store(next, std::memory_order_release);
}

// The latest one of that hash, which several texts may have. Texts are read when their process is
// stuck, or to tell a user about where it is.
std::string text_of(const Segment& segment, std::uint64_t hash) {
  const Segment::Header& header = segment.header();
  const std::size_t latest = header.latest.load(std::memory_order_acquire);
  for (std::size_t ago = 0; ago < Segment::text_count; ++ago) {
    const std::size_t place = (latest + Segment::text_count - ago) % Segment::text_count;
    const PostedText& text = header.texts[place];
    if (hash_bits(text.hash.load(std::memory_order_acquire)) == hash) return text.text;
  }
  return "";
}

}  // namespace

std::size_t segment_bytes(int process_count) { return Segment::bytes(process_count); }

void open_window(int rank, const std::vector<std::byte*>& starts) {
  own_rank = index(rank);
  Segment::process_total = starts.size();
  posted.assign(starts.size(), 0);
  for (std::byte* start : starts) segments.push_back({start});
  if (own_segment().start) own_segment().header().process_id.store(getpid());
}

bool share_window(ProcessGroup group) {
  return std::all_of(group.begin(), group.end(),
                     [](int rank) { return segments[index(rank)].start != nullptr; });
}

PostCounts post_step(const StepLabel& label, ProcessGroup peers) {
  ++begun;
  PostCounts counts(peers.size());
  if (!own_segment().start) return counts;
  keep_text(label);
  own_segment().header().messages.store(begun, std::memory_order_relaxed);
  for (std::size_t k = 0; k < peers.size(); ++k) {
    if (!is_here(peers[k])) continue;
    const auto peer = index(peers[k]);
    counts[k] = ++posted[peer];
    own_segment()
        .post(peer, counts[k])
        .store(make_post(counts[k], hash_bits(label.hash)), std::memory_order_release);
  }
  return counts;
}

std::uint64_t messages_begun() { return begun; }

void begin_waiting(const StepLabel& label, std::uint64_t message) {
  if (!own_segment().start) return;
  keep_text(label);
  own_segment().header().messages.store(message, std::memory_order_relaxed);
  own_segment().header().state.store(PeerState::waiting, std::memory_order_relaxed);
}

void end_waiting() {
  if (own_segment().start)
    own_segment().header().state.store(PeerState::computing, std::memory_order_relaxed);
}

bool is_same_step(const StepLabel& label, std::uint64_t post) {
  return hash_bits(static_cast<std::uint32_t>(post)) == hash_bits(label.hash);
}

void fail_at_post(const StepLabel& label, int peer, std::uint64_t post) {
  const std::uint64_t hash = hash_bits(static_cast<std::uint32_t>(post));
  fail_at_other_step(label, peer, text_of(segments[index(peer)], hash));
}

void check_peers(const StepLabel& label, ProcessGroup peers, const PostCounts& counts) {
  for (std::size_t k = 0; k < peers.size(); ++k) {
    if (!is_here(peers[k])) continue;
    const int peer = peers[k];
    const Segment& theirs = segments[index(peer)];
    const std::uint64_t post = theirs.post(own_rank, counts[k]).load(std::memory_order_acquire);
    if (count_of(post) == counts[k] && !is_same_step(label, post)) fail_at_post(label, peer, post);
    const int id = theirs.header().process_id.load(std::memory_order_relaxed);
    if (id > 0 && kill(id, 0) != 0 && errno == ESRCH) {
      fail(ErrorKind::runtime_error, "message: process ", peer, " has ended, for which process ",
           own_rank, " waits at '", label.text, "'. Its own output says why.");
    }
  }
}

std::string whereabouts(int process) {
  if (!is_here(process)) return "";
  const Segment::Header& header = segments[index(process)].header();
  const std::uint64_t messages = header.messages.load(std::memory_order_relaxed);
  if (messages == 0) return "which has sent no message yet";
  const bool waits = header.state.load(std::memory_order_relaxed) == PeerState::waiting;
  const PostedText& latest = header.texts[header.latest.load(std::memory_order_acquire)];
  return concat(waits ? "which waits at its message " : "which computes after its message ",
                messages, ", '", latest.text, "'");
}

void fail_at_other_step(const StepLabel& label, int process, const std::string& theirs) {
  fail(ErrorKind::runtime_error, "message: process ", own_rank, " is at '", label.text,
       "', but process ", process, " is at ", theirs.empty() ? "another step" : "'" + theirs + "'",
       "; all processes send the same messages in the same order. Look for programs, shapes or "
       "branches that differ between processes.");
}

void meet_in_window(const StepLabel& label, ProcessGroup group, const PostCounts& counts) {
  Waiting waiting(label, group, counts);
  for (std::size_t k = 0; k < group.size(); ++k) {
    if (!is_here(group[k])) continue;
    const Post& post = segments[index(group[k])].post(own_rank, counts[k]);
    for (;; waiting.turn()) {
      const std::uint64_t now = post.load(std::memory_order_acquire);
      if (!reaches(count_of(now), counts[k])) continue;
      // One that is too far ahead has not waited for this process: that was another step.
      if (count_of(now) != counts[k] || !is_same_step(label, now))
        fail_at_post(label, group[k], now);
      break;
    }
  }
}

}  // namespace shardax::runtime
