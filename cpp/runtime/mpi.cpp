// runtime/mpi.cpp - the MPI library's functions, waits that poll, and what ends them early.
#include "runtime/mpi.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/errors.h"
#include "base/index.h"

namespace shardax::runtime {
namespace {

MpiLibrary mpi;
double message_timeout = 300;
bool forked = false;

// A request's count of bytes is an int.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

// Room for any library's MPI_Status: 20 bytes in MPICH, 24 in Open MPI, 32 in MPI 5's ABI.
struct alignas(16) Status {
  std::byte room[64];
  int tag() const {
    int value;
    std::memcpy(&value, room + mpi.tag_at, sizeof value);
    return value;
  }
};

int tag_of(const StepLabel& label) {
  return static_cast<int>(label.hash % (static_cast<std::uint32_t>(mpi.most_tag) + 1));
}

void check(int code, const StepLabel& label) {
  if (code == 0) return;
  char text[8192] = "";  // more than any library's MPI_MAX_ERROR_STRING
  int length = 0;
  mpi.error_string(code, text, &length);
  fail(ErrorKind::runtime_error, "message: at '", label.text, "' MPI fails: ", text, ".");
}

constexpr std::size_t text_bytes = 256;

// Asks a process of another machine, which is at another step, for its text. If it has seen so too,
// both send theirs; if not within two seconds: "".
std::string text_from(int source, const StepLabel& label) {
  static char own[text_bytes], theirs[text_bytes];  // requests may stay under way
  const std::size_t length = std::min(label.text.size(), text_bytes - 1);
  std::memcpy(own, label.text.data(), length);
  own[length] = 0;
  MpiHandle sent = 0, received = 0;
  mpi.irecv(theirs, text_bytes, mpi.byte, source, 0, mpi.texts, &received);
  mpi.isend(own, text_bytes, mpi.byte, source, 0, mpi.texts, &sent);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  Status status;
  int done = 0;
  while (!done && std::chrono::steady_clock::now() < end) {
    mpi.test(&received, &done, &status);
    sched_yield();
  }
  return done ? theirs : "";
}

}  // namespace

void join_processes(const MpiLibrary& library) {
  mpi = library;
  open_window(mpi.rank, mpi.segments);
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

int process_index() { return mpi.rank; }
int process_count() { return mpi.size; }
bool is_forked() { return forked; }
void set_message_timeout(double seconds) { message_timeout = seconds; }

void abort_processes(int code) {
  if (mpi.abort && !forked) mpi.abort(mpi.communicator, code);
  std::_Exit(code);
}

// ---- waits -----------------------------------------------------------------------------------

void Waiting::look_around() {
  using namespace std::chrono_literals;
  const Clock::time_point now = Clock::now();
  if (start_ == Clock::time_point()) start_ = now, next_check_ = now + 50ms;
  const Clock::duration waited = now - start_;
  // Handing the lock over takes 1 to 3 us, and a message that is on its way less than this.
  if (!released_ && waited < 20us) {
    if (mpi.yields) sched_yield();
    return;
  }
  if (!released_) released_.emplace();
  poll_clock();
  if (now >= next_check_) {
    next_check_ = now + 50ms;
    check_peers(label_, peers_, counts_);
    if (message_timeout > 0 && waited > std::chrono::duration<double>(message_timeout))
      time_is_over();
  }
  // A process that is this late costs others' cores nothing.
  if (waited > 100ms) {
    std::this_thread::sleep_for(20us);
  } else if (mpi.yields || waited > 200us) {
    sched_yield();
  }
}

void Waiting::time_is_over() const {
  std::string missing;
  for (const int peer : peers_) {
    if (peer == mpi.rank) continue;
    const std::string place = whereabouts(peer);
    missing += concat(missing.empty() ? "" : ", ", "process ", peer);
    if (!place.empty()) missing += concat(" (", place, ")");
  }
  fail(ErrorKind::runtime_error, "message: process ", mpi.rank, " has waited ", message_timeout,
       " s at '", label_.text, "' for ", missing, '.',
       " Raise the limit with shardax.config.update(\"jax_message_timeout\", seconds).");
}

// ---- sends and receives ----------------------------------------------------------------------

Exchange::Exchange(Part part, const StepLabel& label, ProcessGroup peers, const PostCounts& counts)
    : communicator_(part == Part::first ? mpi.communicator : mpi.later),
      label_(label),
      peers_(peers),
      counts_(counts) {}

Exchange::~Exchange() {
  for (std::size_t i = ended_; i < pending_.size(); ++i) {
    if (pending_[i].source >= 0) mpi.cancel(&pending_[i].request);
  }
  // A send ends when its process takes it. One that does not would read memory of others' later.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (; ended_ < pending_.size(); ++ended_) {
    Status status;
    for (int done = 0; !done; sched_yield()) {
      if (mpi.test(&pending_[ended_].request, &done, &status) != 0) break;
      if (!done && std::chrono::steady_clock::now() > end) abort_processes(1);
    }
  }
}

void Exchange::receive(std::byte* to, std::size_t bytes, int source) {
  std::size_t at = 0;
  do {
    const int count = static_cast<int>(std::min(bytes - at, most_bytes));
    Pending& next = pending_.emplace_back(Pending{0, source});
    const int code =
        mpi.irecv(to + at, count, mpi.byte, source, mpi.any_tag, communicator_, &next.request);
    if (code != 0) pending_.pop_back(), check(code, label_);
    at += most_bytes;
  } while (at < bytes);
}

void Exchange::send(const std::byte* from, std::size_t bytes, int destination) {
  std::size_t at = 0;
  do {
    const int count = static_cast<int>(std::min(bytes - at, most_bytes));
    Pending& next = pending_.emplace_back();
    const int code = mpi.isend(from + at, count, mpi.byte, destination, tag_of(label_),
                               communicator_, &next.request);
    if (code != 0) pending_.pop_back(), check(code, label_);
    at += most_bytes;
  } while (at < bytes);
}

bool Exchange::test_next() {
  Pending& pending = pending_[ended_];
  Status status;
  int done = 0;
  const int code = mpi.test(&pending.request, &done, &status);
  if (!done && code == 0) return false;
  ++ended_;
  if (pending.source >= 0 && status.tag() != tag_of(label_)) {
    check_peers(label_, peers_, counts_);
    fail_at_other_step(label_, pending.source, text_from(pending.source, label_));
  }
  check(code, label_);
  return true;
}

// Receives stand first: any failure shows in them.
void Exchange::wait() {
  Waiting waiting(label_, peers_, counts_);
  while (ended_ < pending_.size()) {
    if (!test_next()) waiting.turn();
  }
}

void Exchange::progress() {
  while (ended_ < pending_.size() && test_next()) {
  }
}

}  // namespace shardax::runtime
