// runtime/spans.h - times of programs and steps, recorded while a trace is taken.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace shardax::runtime {

// The work of a span: an op by itself, a program, one of its steps, ...
struct SpanText {
  std::string name;
  const char* kind;        // "op", "program", "step", "chunk", "message", "tracing", "compilation"
  std::string place = {};  // the line in the user's source, "file.py:12 (f)", or ""
};

struct RecordedSpan {
  SpanText text;
  std::int64_t start_ns;  // of the steady clock
  std::int64_t duration_ns;
  std::uint64_t thread;  // as Python's threading.get_ident tells it
};

// Memory is bounded: later spans are counted only.
constexpr std::size_t most_spans = 1'000'000;

struct Recording {
  std::vector<RecordedSpan> spans;  // in the order in which they ended
  std::size_t dropped = 0;
};

// Spans are recorded, by all threads, between the two calls.
void start_recording();
Recording stop_recording();

inline constinit std::atomic<bool> recording_spans = false;
void add_span(SpanText text, std::chrono::steady_clock::time_point start) noexcept;

// The time from its construction to its destruction. `text` gives a SpanText, and is asked only
// while spans are recorded. Costs one load of an atomic otherwise.
template <class Text>
class Span {
 public:
  explicit Span(const Text& text)
      : text_(text), recorded_(recording_spans.load(std::memory_order_relaxed)) {
    if (recorded_) start_ = std::chrono::steady_clock::now();
  }
  ~Span() {
    if (recorded_) add_span(text_(), start_);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

 private:
  const Text& text_;
  bool recorded_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace shardax::runtime
