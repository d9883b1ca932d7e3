// runtime/node_segment.h - layout of a process's segment of the machine's shared window.
//
// Its process alone writes a segment. The segment holds the process's number, its present step, its
// latest texts, and two buffers. For each other process it holds the latest posts, the parts of
// sums in the buffers, and the number of that process's parts read. A post says that a message has
// begun. It is written after the buffer, and read before it: no lock is needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/index.h"
#include "runtime/processes.h"

namespace shardax::runtime {

// A term of this length is added in parts: one is added while the next is written. It stays in a
// core's second-level cache, with those of a few others.
inline constexpr std::size_t buffer_bytes = 128 * 1024;

enum class PeerState : std::uint32_t { computing, waiting };

// A text of a message, for errors of others.
struct PostedText {
  std::atomic<std::uint32_t> hash;
  char text[252];
};

// A number, counted up for each pair of processes, above a hash.
using Post = std::atomic<std::uint64_t>;
static_assert(Post::is_always_lock_free && sizeof(Post) == 8);

inline std::uint32_t count_of(std::uint64_t post) { return static_cast<std::uint32_t>(post >> 32); }
inline std::uint64_t make_post(std::uint32_t count, std::uint32_t low) {
  return std::uint64_t{count} << 32 | low;
}
// The low half of a post: a hash, of which one bit says in which buffer a part lies.
constexpr std::uint32_t hash_bits(std::uint32_t hash) { return hash & ~std::uint32_t{1}; }
// Is count a at least count b, of which it is not 2^31 ahead?
inline bool reaches(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) >= 0;
}

// A process may be this many messages ahead of another one, whose posts are kept so long.
inline constexpr std::size_t kept_posts = 8;
// Parts of sums go in turns: who writes the next one may be one ahead of a reader.
inline constexpr std::size_t kept_parts = 2;

struct Segment {
  static constexpr std::size_t text_count = 8;
  struct Header {
    std::atomic<std::int32_t> process_id;
    std::atomic<PeerState> state;
    std::atomic<std::uint64_t> messages;  // begun by it
    std::atomic<std::uint32_t> latest;    // the place of the text of what it is at
    PostedText texts[text_count];
  };

  std::byte* start = nullptr;

  Header& header() const { return *reinterpret_cast<Header*>(start); }
  Post& post(std::size_t to, std::uint32_t count) const { return table(count % kept_posts)[to]; }
  Post& part(std::size_t to, std::uint32_t count) const {
    return table(kept_posts + count % kept_parts)[to];
  }
  // Up to which part of another process's it has read the buffers.
  Post& read(std::size_t of) const { return table(kept_posts + kept_parts)[of]; }
  std::byte* buffer(std::size_t i) const { return start + start_of_buffers() + i * buffer_bytes; }

  static std::size_t bytes(int processes) {
    process_total = index(processes);
    return start_of_buffers() + 2 * buffer_bytes;
  }
  static inline std::size_t process_total = 1;

 private:
  static constexpr std::size_t table_count = kept_posts + kept_parts + 1;
  // Tables start on cache lines of their own.
  static constexpr std::size_t rounded(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
  }
  static std::size_t bytes_of_table() { return rounded(process_total * sizeof(Post), 128); }
  static std::size_t start_of_tables() { return rounded(sizeof(Header), 128); }
  static std::size_t start_of_buffers() {
    return rounded(start_of_tables() + table_count * bytes_of_table(), 4096);
  }
  Post* table(std::size_t i) const {
    return reinterpret_cast<Post*>(start + start_of_tables() + i * bytes_of_table());
  }
};

// All processes' segments, of those on other machines without memory, and the own one among them.
extern std::vector<Segment> segments;
extern std::size_t own_rank;
inline const Segment& own_segment() { return segments[own_rank]; }

// Does another process of this machine have that rank?
inline bool is_here(int rank) {
  return index(rank) != own_rank && index(rank) < segments.size() && segments[index(rank)].start;
}

}  // namespace shardax::runtime
