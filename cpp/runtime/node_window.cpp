// runtime/node_window.cpp - posts, texts and buffers in the processes' shared segments.
#include "runtime/node_window.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/errors.h"
#include "base/index.h"
#include "runtime/mpi.h"

namespace shardax::runtime {
namespace {

// Of a term that is this long, one part is added while the next is written. It stays in a core's
// second-level cache, with those of a few others.
constexpr std::size_t buffer_bytes = 128 * 1024;
// Up to here each process adds all of a sum; above, three or more add a share each.
constexpr std::size_t shared_sum_bytes = 16 * 1024;

enum class State : std::uint32_t { computing, at_message, ended };

struct Text {
  std::atomic<std::uint32_t> hash;
  char text[252];
};
constexpr std::size_t text_count = 8;

struct Header {
  std::atomic<std::int32_t> process_id;
  std::atomic<State> state;
  std::atomic<std::uint64_t> messages;  // that it has begun
  std::atomic<std::uint32_t> latest;    // the place of its latest text
  Text texts[text_count];
};

// A post: its number among those to another process, a hash, and which buffer holds the terms. The
// latest two are kept: a process may be at the next step before the other has read this one's.
using Post = std::atomic<std::uint64_t>;
static_assert(Post::is_always_lock_free && sizeof(Post) == 8);

constexpr std::uint64_t hash_bits(std::uint32_t hash) { return hash & ~std::uint32_t{1}; }

constexpr std::size_t in_pages(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

struct Segment {
  std::byte* start = nullptr;

  Header& header() const { return *reinterpret_cast<Header*>(start); }
  Post& post(std::size_t to, std::uint64_t count) const { return posts(count % 2)[to]; }
  // How many posts of another process's are behind it: their buffers have been read.
  Post& read(std::size_t of) const { return posts(2)[of]; }
  std::byte* buffer(std::size_t i) const { return start + start_of_buffers() + i * buffer_bytes; }

  static std::size_t start_of_posts() { return in_pages(sizeof(Header)); }
  static std::size_t start_of_buffers() { return start_of_posts() + 3 * bytes_of_posts(); }
  static std::size_t bytes_of_posts() { return in_pages(process_total * sizeof(Post)); }
  static inline std::size_t process_total = 1;

 private:
  Post* posts(std::size_t table) const {
    return reinterpret_cast<Post*>(start + start_of_posts() + table * bytes_of_posts());
  }
};

std::vector<Segment> segments;
std::size_t own_rank = 0;
std::vector<std::uint32_t> posted;  // to each process
// Who may still read each of the own buffers: up to which of the posts to them.
struct Reader {
  std::size_t rank;
  std::uint32_t count;
};
std::vector<Reader> readers[2];
std::size_t next_buffer = 0;
std::vector<const std::byte*> terms;  // of the part of a sum that is at work

Segment& own() { return segments[own_rank]; }

bool is_here(int rank) {
  return index(rank) != own_rank && index(rank) < segments.size() && segments[index(rank)].start;
}

// Is count a at least count b, of which it is not 2^31 ahead?
bool reaches(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) >= 0; }
std::uint32_t count_of(std::uint64_t post) { return static_cast<std::uint32_t>(post >> 32); }

void keep_text(const MessageLabel& label) {
  Header& header = own().header();
  const std::uint32_t latest = header.latest.load(std::memory_order_relaxed);
  if (header.texts[latest].hash.load(std::memory_order_relaxed) == label.hash) return;
  const std::uint32_t next = (latest + 1) % text_count;
  Text& text = header.texts[next];
  const std::size_t length = std::min(label.text.size(), sizeof text.text - 1);
  std::memcpy(text.text, label.text.data(), length);
  text.text[length] = 0;
  text.hash.store(label.hash, std::memory_order_release);
  header.latest.store(next, std::memory_order_release);
}

// Texts are read when their process is stuck, or to tell a user about where it is.
std::string text_of(const Segment& segment, std::uint64_t hash) {
  for (const Text& text : segment.header().texts) {
    if (hash_bits(text.hash.load(std::memory_order_acquire)) == hash) return text.text;
  }
  return "";
}

void post(const MessageLabel& label, ProcessGroup peers, std::size_t buffer) {
  for (const int peer : peers) {
    if (!is_here(peer)) continue;
    const std::uint64_t count = ++posted[index(peer)];
    own()
        .post(index(peer), count)
        .store(count << 32 | hash_bits(label.hash) | buffer, std::memory_order_release);
  }
}

[[noreturn]] void fail_at_post(const MessageLabel& label, int peer, std::uint64_t post) {
  const std::uint64_t hash = hash_bits(static_cast<std::uint32_t>(post));
  fail_at_other_step(label, peer, text_of(segments[index(peer)], hash));
}

bool is_same_step(const MessageLabel& label, std::uint64_t post) {
  return hash_bits(static_cast<std::uint32_t>(post)) == hash_bits(label.hash);
}

// The buffer of the peer's that it has posted for this step.
std::size_t wait_for_post(const MessageLabel& label, int peer, Waiting& waiting) {
  const std::uint32_t wanted = posted[index(peer)];
  const Post& post = segments[index(peer)].post(own_rank, wanted);
  for (;; waiting.turn()) {
    const std::uint64_t now = post.load(std::memory_order_acquire);
    const std::uint32_t count = count_of(now);
    if (!reaches(count, wanted)) continue;
    // A peer that is two ahead has not waited for this process: that was another step.
    if (count != wanted || !is_same_step(label, now)) fail_at_post(label, peer, now);
    return now & 1;
  }
}

// The own buffer that is free next.
std::size_t take_buffer(Waiting& waiting) {
  next_buffer ^= 1;
  for (const Reader& reader : readers[next_buffer]) {
    const Post& read = segments[reader.rank].read(own_rank);
    while (!reaches(static_cast<std::uint32_t>(read.load(std::memory_order_acquire)), reader.count))
      waiting.turn();
  }
  readers[next_buffer].clear();
  return next_buffer;
}

// Tells the peers that this process has read their buffers, and notes that they may read its own.
void end_reading(ProcessGroup group, std::size_t buffer) {
  for (const int peer : group) {
    if (!is_here(peer)) continue;
    own().read(index(peer)).store(posted[index(peer)], std::memory_order_release);
    readers[buffer].push_back({index(peer), posted[index(peer)]});
  }
}

// A part of a sum that fits the buffers: n elements at `from`.
void reduce_part(const std::byte* from, std::byte* to, std::size_t n, const Reduction& reduction,
                 ProcessGroup group, const MessageLabel& label) {
  const std::size_t bytes = n * reduction.itemsize;
  Waiting waiting(label, group);
  const std::size_t buffer = take_buffer(waiting);
  std::memcpy(own().buffer(buffer), from, bytes);
  post(label, group, buffer);
  terms.clear();
  for (const int rank : group) {
    const bool other = index(rank) != own_rank;
    const std::size_t theirs = other ? wait_for_post(label, rank, waiting) : buffer;
    terms.push_back(segments[index(rank)].buffer(theirs));
  }
  if (group.size() == 2 || bytes <= shared_sum_bytes) {
    reduction.combine(to, terms.data(), group.size(), n);
    return end_reading(group, buffer);
  }
  // The own share goes into the own buffer, where nobody else reads it before the next post.
  const auto start_of = [&](std::size_t k) { return n * k / group.size() * reduction.itemsize; };
  const auto self = std::find(group.begin(), group.end(), static_cast<int>(own_rank));
  const auto position = index(self - group.begin());
  const std::size_t start = start_of(position), end = start_of(position + 1);
  for (const std::byte*& term : terms) term += start;
  reduction.combine(own().buffer(buffer) + start, terms.data(), group.size(),
                    (end - start) / reduction.itemsize);
  post(label, group, buffer);
  for (std::size_t k = 0; k < group.size(); ++k) {
    if (k != position) wait_for_post(label, group[k], waiting);
    std::memcpy(to + start_of(k), terms[k] - start + start_of(k), start_of(k + 1) - start_of(k));
  }
  end_reading(group, buffer);
}

}  // namespace

std::size_t segment_bytes(int process_count) {
  Segment::process_total = index(process_count);
  return Segment::start_of_buffers() + 2 * buffer_bytes;
}

void open_window(int rank, const std::vector<std::byte*>& starts) {
  own_rank = index(rank);
  Segment::process_total = starts.size();
  posted.assign(starts.size(), 0);
  for (std::byte* start : starts) segments.push_back({start});
  if (own().start) own().header().process_id.store(getpid());
}

bool share_window(ProcessGroup group) {
  return std::all_of(group.begin(), group.end(),
                     [](int rank) { return segments[index(rank)].start != nullptr; });
}

void post_step(const MessageLabel& label, ProcessGroup peers) {
  if (!own().start) return;
  keep_text(label);
  Header& header = own().header();
  header.messages.store(header.messages.load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
  header.state.store(State::at_message, std::memory_order_relaxed);
  post(label, peers, 0);
}

void end_step() {
  if (own().start) own().header().state.store(State::computing, std::memory_order_relaxed);
}

void check_peers(const MessageLabel& label, ProcessGroup peers) {
  for (const int peer : peers) {
    if (!is_here(peer)) continue;
    const Segment& theirs = segments[index(peer)];
    const std::uint32_t count = posted[index(peer)];
    const std::uint64_t post = theirs.post(own_rank, count).load(std::memory_order_acquire);
    if (count_of(post) == count && !is_same_step(label, post)) fail_at_post(label, peer, post);
    const int id = theirs.header().process_id.load(std::memory_order_relaxed);
    if (id > 0 && kill(id, 0) != 0 && errno == ESRCH) {
      fail(ErrorKind::runtime_error, "message: process ", peer, " has ended, for which process ",
           own_rank, " waits at '", label.text, "'. Its own output says why.");
    }
  }
}

std::string whereabouts(int process) {
  if (!is_here(process)) return "";
  const Segment& theirs = segments[index(process)];
  const Header& header = theirs.header();
  const std::uint64_t messages = header.messages.load(std::memory_order_relaxed);
  if (messages == 0) return "which has sent no message yet";
  const bool waits = header.state.load(std::memory_order_relaxed) == State::at_message;
  const Text& latest = header.texts[header.latest.load(std::memory_order_acquire)];
  return concat(waits ? "which waits at its message " : "which computes after its message ",
                messages, ", '", latest.text, "'");
}

void fail_at_other_step(const MessageLabel& label, int process, const std::string& theirs) {
  fail(ErrorKind::runtime_error, "message: process ", own_rank, " is at '", label.text,
       "', but process ", process, " is at ", theirs.empty() ? "another step" : "'" + theirs + "'",
       "; all processes send the same messages in the same order. Look for programs, shapes or "
       "branches that differ between processes.");
}

void reduce_in_window(const std::byte* from, std::byte* to, std::size_t n,
                      const Reduction& reduction, ProcessGroup group, const MessageLabel& label) {
  const std::size_t most = buffer_bytes / reduction.itemsize;
  post_step(label, {});
  std::size_t at = 0;
  do {
    reduce_part(from + at * reduction.itemsize, to + at * reduction.itemsize,
                std::min(most, n - at), reduction, group, label);
    at += most;
  } while (at < n);
}

void meet_in_window(ProcessGroup group, const MessageLabel& label) {
  post_step(label, group);
  Waiting waiting(label, group);
  for (const int peer : group) {
    if (index(peer) != own_rank) wait_for_post(label, peer, waiting);
  }
}

}  // namespace shardax::runtime
